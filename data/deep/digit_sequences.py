"""A recurrent network that reads handwritten digits row by row; clients differ in labels."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from certibit.data.deep.module_gradients import Tensor
from certibit.data.deep.neural_problem import NeuralProblem

_TEST, _WIDTH, _ROW, _CLASSES = 360, 32, 8, 10


class RowReader(nn.Module):  # type: ignore[misc]  # torch has no types here
    """A recurrent layer over the rows of an image, and a linear layer on its last state."""

    def __init__(self, layer: type = nn.GRU, width: int = _WIDTH) -> None:
        super().__init__()
        self.recurrent = layer(_ROW, width, batch_first=True)
        self.last = nn.Linear(width, _CLASSES)

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
    layer: type = nn.GRU,
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
    layer : type
        ``torch.nn.GRU``, ``LSTM`` or ``RNN``.
    """
    from sklearn.datasets import load_digits  # noqa: PLC0415  (slow to import)

    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    inputs, labels = digits.images[order] / 16, digits.target[order]
    last = _TEST + images
    starts = {seed: _parameters(layer, seed) for seed in set(seeds)}
    return NeuralProblem.of(
        RowReader(layer),
        nn.functional.cross_entropy,
        inputs[_TEST:last],
        labels[_TEST:last],
        clients=clients,
        rule=f"similarity:{similarity:g}",
        batch=batch,
        x_0=np.stack([starts[seed] for seed in seeds], axis=1)[None],
        test=(inputs[:_TEST], labels[:_TEST]),
        name=f"digits:{layer.__name__.lower()}:similarity={similarity:g}@{clients}",
    )


def _parameters(layer: type, seed: int) -> Tensor:
    """Return random initial parameters, (d,), without a change of torch's own generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vector = nn.utils.parameters_to_vector(RowReader(layer).parameters())
    return vector.detach().double().numpy()
