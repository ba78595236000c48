"""Networks that read docstrings: the text, the clients, and what the networks may look at."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from certibit import EF21, Refusal, check, compressor  # noqa: E402
from certibit.data.deep.docstring_text import (  # noqa: E402
    ALPHABET,
    CharacterReader,
    docstring_text,
)

LENGTH = 8


def reader():
    return CharacterReader(width=6)


def text_of(codes):
    return "".join(ALPHABET[code] for code in codes.ravel().tolist())


def small(**options):
    return docstring_text(reader, length=LENGTH, clients=3, examples=5, batch=2, **options)


def test_labels_are_the_next_characters():
    problem = small()
    assert problem.inputs.shape == (3, 5, LENGTH)
    assert (problem.inputs[..., 1:] == problem.labels[..., :-1]).all()
    assert len({text_of(part) for part in problem.inputs}) == 3
    assert " " in text_of(problem.inputs)


def test_no_output_looks_ahead():
    torch.manual_seed(0)
    network, text = reader(), torch.randint(len(ALPHABET), (2, LENGTH))
    changed = text.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % len(ALPHABET)
    before, after = (network(x)[:, :5] for x in (text, changed))
    torch.testing.assert_close(before, after)
    assert (network(text)[:, 5:] != network(changed)[:, 5:]).any()


def test_starts_are_those_of_their_seeds():
    problem = small(seeds=(1, 0, 1))
    assert (problem.x_0[..., 0] == problem.x_0[..., 2]).all()
    assert (problem.x_0[..., 0] != problem.x_0[..., 1]).any()


def test_gradients_of_a_large_gain_explode():
    """With rectified states they grow with the gain to the power of the length."""
    sizes = []
    for gain in (1.0, 2.0):
        problem = docstring_text(lambda g=gain: CharacterReader(gain=g), length=24, examples=4)
        sizes.append(np.linalg.norm(problem.grad(4 * problem.x_0).mean(axis=0)))
    assert sizes[1] > 1e4 * sizes[0]


@pytest.mark.long
def test_more_text_than_there_is_is_refused():
    with pytest.raises(Refusal, match="take fewer clients, examples or characters"):
        docstring_text(reader, examples=10**6)


@pytest.mark.long
@pytest.mark.parametrize("batch", [None, 2])
def test_check_makes_no_claim_about_unknown_constants(batch):
    """Of single precision, with gradients that are counted in examples."""
    problem = docstring_text(reader, length=LENGTH, clients=3, examples=5, batch=batch)
    found = check(EF21(gamma=0.1), problem, compressor("top-k:40"))
    assert found.holds
    assert "its constants are not known, and no check of constants is made" in found.unpromised
    assert "L0, L1, kappa and rho" not in [verdict.check for verdict in found.sound]
