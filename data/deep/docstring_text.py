"""Networks that read the docstrings of Python's standard library, or handwritten digits.

Every client has docstrings of modules of its own, so the clients differ as the modules do. The text
depends on the version of Python.
"""

import ast
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from certibit.data.deep.module_gradients import Tensor
from certibit.data.deep.neural_problem import NeuralProblem
from certibit.data.errors import Refusal

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))
"""The characters; any other one is read as a question mark."""


class CharacterReader(nn.Module):  # type: ignore[misc]
    """A recurrent layer over characters, and a linear layer on each of its states.

    The recurrent matrix starts at ``gain`` times an orthogonal one: with rectified states, and a
    gain above 1, gradients grow with the length of a text.
    """

    def __init__(self, width: int = 48, gain: float = 1.0) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(ALPHABET), width)
        self.recurrent = nn.RNN(width, width, batch_first=True, nonlinearity="relu")
        nn.init.orthogonal_(self.recurrent.weight_hh_l0, gain)
        self.last = nn.Linear(width, len(ALPHABET))

    def forward(self, text: Tensor) -> Tensor:
        """Return the outputs (m, length, characters) of texts (m, length)."""
        return self.last(self.recurrent(self.letters(text))[0])


def docstring_text(
    make: Callable[[], nn.Module],
    seeds: Sequence[int] = (0,),
    *,
    length: int = 64,
    clients: int = 4,
    examples: int = 64,
    batch: int | None = 8,
    name: str = "",
) -> NeuralProblem:
    """Return the problem of a network that predicts the next character of docstrings.

    The loss is the cross-entropy of a character, in nats. A tenth as many examples are for tests.

    Parameters
    ----------
    make : callable
        Makes the network, of outputs (m, length, characters), with parameters drawn by torch.
    seeds : sequence of int
        Of the initial parameters, one for each run.
    length : int
        Characters of an example.
    clients : int
        Number of clients; each has a part of the text.
    examples : int
        Of a client.
    batch : int, optional
        Examples of a stochastic gradient.
    name : str
        Of the problem.
    """
    held = max(1, examples // 10)
    size = clients * (examples + held) * (length + 1)
    codes = np.frombuffer(_codes(size), dtype=np.uint8).astype(np.int64)
    text = codes.reshape(clients, examples + held, length + 1)
    inputs, labels, tests = text[:, held:, :-1], text[:, held:, 1:], text[:, :held].reshape(
        clients * held, length + 1
    )  # fmt: skip
    starts = {seed: seeded(make, seed) for seed in set(seeds)}
    module = make()
    return NeuralProblem.of(
        module,
        _character_loss,
        inputs,
        labels,
        batch=batch,
        x_0=np.stack([starts[seed] for seed in seeds], axis=1)[None],
        test=(tests[:, :-1], tests[:, 1:]),
        name=name or f"docstrings:{type(module).__name__.lower()}@{clients}",
    )


def _character_loss(outputs: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of all characters."""
    return nn.functional.cross_entropy(outputs.flatten(0, 1), labels.flatten())


def seeded(make: Callable[[], nn.Module], seed: int) -> NDArray[np.float64]:
    """Return random initial parameters, (d,), without a change of torch's own generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vector = nn.utils.parameters_to_vector(make().parameters())
    found: NDArray[np.float64] = vector.detach().double().numpy()
    return found


@cache
def _codes(size: int) -> bytes:
    """Return the places in the alphabet of the first characters of all docstrings."""
    unknown, found = ALPHABET.index("?"), bytearray()
    places = {letter: place for place, letter in enumerate(ALPHABET)}
    for text in _docstrings():
        found += bytes(places.get(letter, unknown) for letter in f"{text}\n\n")
        if len(found) >= size:
            return bytes(found[:size])
    raise Refusal(
        f"the docstrings have {len(found):,} characters and {size:,} are asked for; take fewer "
        "clients, examples or characters"
    )


def _docstrings() -> Iterator[str]:
    """Yield the docstrings of the modules that are files, by name; nothing is imported."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        tree = ast.parse(file.read_bytes())
        found = (ast.get_docstring(x) for x in ast.walk(tree) if isinstance(x, kinds))
        yield from filter(None, found)


_TEST, _WIDTH, _ROW, _CLASSES = 360, 32, 8, 10


class _RowReader(nn.Module):  # type: ignore[misc]  # torch has no types here
    """A recurrent layer over the rows of an image, and a linear layer on its last state."""

    def __init__(self) -> None:
        super().__init__()
        self.recurrent = nn.GRU(_ROW, _WIDTH, batch_first=True)
        self.last = nn.Linear(_WIDTH, _CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        """Return the outputs (m, 10) of images (m, 8, 8)."""
        states, _ = self.recurrent(images)
        return self.last(states[:, -1])


def digit_sequences(
    similarity: float,
    seeds: Sequence[int] = (0,),
    *,
    clients: int = 8,
    batch: int | None = 16,
    images: int = 1437,
) -> NeuralProblem:
    """Return the problem of a recurrent network on scikit-learn's digits, read row by row.

    1,797 images of 8 times 8 pixels are sequences of 8 rows; 360 of them are test examples, the
    others are dealt to the clients. The loss is cross-entropy.

    Parameters
    ----------
    similarity : float
        Percent of the images of a client that are drawn from all; the rest is sorted by label.
    seeds : sequence of int
        Of the initial parameters, one for each run.
    clients : int
        Number of clients.
    batch : int, optional
        Images of a stochastic gradient.
    images : int
        How many are dealt to the clients.
    """
    from sklearn.datasets import load_digits  # noqa: PLC0415  (slow to import)

    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    inputs, labels = digits.images[order] / 16, digits.target[order]
    last = _TEST + images
    starts = {seed: seeded(_RowReader, seed) for seed in set(seeds)}
    return NeuralProblem.of(
        _RowReader(),
        nn.functional.cross_entropy,
        inputs[_TEST:last],
        labels[_TEST:last],
        clients=clients,
        rule=f"similarity:{similarity:g}",
        batch=batch,
        x_0=np.stack([starts[seed] for seed in seeds], axis=1)[None],
        test=(inputs[:_TEST], labels[:_TEST]),
        name=f"digits:gru:similarity={similarity:g}@{clients}",
    )
