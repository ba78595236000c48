"""A recurrent network that reads handwritten digits row by row; clients differ in labels."""

from collections.abc import Sequence

import numpy as np
from torch import nn

from certibit.data.deep.docstring_text import seeded
from certibit.data.deep.module_gradients import Tensor
from certibit.data.deep.neural_problem import NeuralProblem

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
