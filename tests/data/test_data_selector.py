"""Problems by one string."""

import pytest

from certibit.data.errors import Refusal
from certibit.data.problems.selector import problem


def test_bundled_set():
    made = problem("breast-cancer@9")
    assert (made.name, made.n, made.d, made.view) == ("breast-cancer@9", 9, 30, "composite")
    assert made.constants.kappa == pytest.approx(1e4)


def test_a_path(tmp_path):
    path = tmp_path / "a@b"
    path.write_text("1 1:1\n2 1:2\n1 2:1\n2 1:1\n")
    made = problem(f"{path}@2", mu=0.5, seed=3, split="similarity:0", storage="sparse")
    assert (made.name, made.n, made.d, made.constants.mu) == ("a@b@2", 2, 2, 0.5)
    assert (made.seed, made.split, made.storage) == (3, "similarity:0", "sparse")


@pytest.mark.parametrize(
    ("choice", "mu", "L"),
    [({}, 1.0, 1e4), ({"kappa": 50.0}, 1.0, 50.0), ({"mu": 0.1}, 0.1, 1.0)],
)
def test_quadratics(choice, mu, L):
    made = problem("quadratic:d=20@10", seed=7, **choice)
    assert (made.name, made.n, made.d, made.view) == ("quadratic:d=20@10", 10, 20, "plain")
    assert (made.constants.mu, made.constants.L, made.seed) == (mu, L, 7)


@pytest.mark.parametrize(
    ("selector", "choice", "sentence"),
    [
        ("a5a", {}, "the problem 'a5a' cannot be read; expected <data>@<clients>"),
        ("a5a@", {}, "the problem 'a5a@' cannot be read; expected <data>@<clients>"),
        ("@5", {}, "the problem '@5' cannot be read; expected <data>@<clients>"),
        ("a5a@x", {}, "the problem 'a5a@x' cannot be read; expected <data>@<clients>"),
        ("a5a@-1", {}, "the problem 'a5a@-1' cannot be read; expected <data>@<clients>"),
        ("breast-cancer@570", {}, "570 clients for 569 rows; choose from 1 to 569 clients"),
        ("breast-cancer@0", {}, "0 clients for 569 rows; choose from 1 to 569 clients"),
        ("breast-cancer@9", {"mu": 1.0, "kappa": 2.0}, "mu = 1.0 and kappa = 2.0; give exactly"),
        ("quadratic@10", {}, "the quadratic 'quadratic' cannot be read; expected quadratic:d="),
        ("quadratic:d=@10", {}, "the quadratic 'quadratic:d=' cannot be read; expected"),
        ("quadratic:d=3@10", {"mu": 1.0, "kappa": 2.0}, "mu = 1.0 and kappa = 2.0; give at most"),
        ("quadratic:d=3@10", {"mu": 0.0}, "mu = 0 and L = 1.0; expected 0 < mu <= L_i"),
        ("quadratic:d=3@10", {"kappa": 0.5}, "mu = 1 and L = 0.5; expected 0 < mu <= L_i"),
        ("breast-cancer@9", {"kappa": "10"}, "kappa = '10' is no number; give such as kappa=1000"),
    ],
)
def test_refusals(selector, choice, sentence):
    with pytest.raises(Refusal) as refusal:
        problem(selector, download=False, **choice)
    assert str(refusal.value).startswith(sentence)
