"""The networks that are trained, and where: similarity, local steps and cohorts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from certibit.data.deep.docstring_text import CharacterReader, digit_sequences, docstring_text
from certibit.data.deep.neural_problem import NeuralProblem


@dataclass(frozen=True)
class TrainingPlan:
    """What all trainings share.

    Parameters
    ----------
    steps : int
        Local steps of every client.
    etas, taus : tuple of float
        The grid.
    seeds : int
        Seeds of initial parameters and batches.
    points : int
        Recorded points, about.
    images : int
        Images of all clients together; a client of a text has an eighth as many examples.
    """

    steps: int = 400
    etas: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    taus: tuple[float, ...] = (0.5, 2.0)
    seeds: int = 3
    points: int = 10
    images: int = 1437


@dataclass(frozen=True)
class Case:
    """Where methods train: similarity in percent, local steps and clients of a round, network.

    The clients of a text have parts of their own, whatever the similarity is.
    """

    similarity: float
    I: int = 4  # noqa: E741  (the paper's symbol)
    S: int | None = None
    network: str = "digits"

    def __str__(self) -> str:
        where = f"{self.similarity:g} %" if self.network == "digits" else self.network
        return f"{where}, I = {self.I}" + ("" if self.S is None else f", S = {self.S}")


@dataclass(frozen=True)
class _TrainedNetwork:
    """A network with its data.

    Attributes
    ----------
    label : str
        What it is, in a few words.
    problem : callable
        Makes the problem of a case, the seeds of the runs and a plan.
    loss : float
        The training loss to which costs are counted.
    scale : float
        Of the step sizes.
    shorter : int
        The share of the steps of the plan, as 1/shorter.
    some : (first, last)
        Which step sizes of the plan are tried.
    """

    label: str
    problem: Callable[[Case, Sequence[int], TrainingPlan], NeuralProblem]
    loss: float
    scale: float = 1.0
    shorter: int = 1
    some: tuple[int, int] = (0, 4)


LENGTH = 32
"""Characters of an example."""


def _digits(case: Case, seeds: Sequence[int], plan: TrainingPlan) -> NeuralProblem:
    return digit_sequences(case.similarity, seeds, images=plan.images)


def _reader(case: Case, seeds: Sequence[int], plan: TrainingPlan) -> NeuralProblem:
    return docstring_text(
        CharacterReader, seeds, length=LENGTH, clients=8, examples=max(2, plan.images // 24)
    )


NETWORKS = {
    "digits": _TrainedNetwork("a GRU that reads digits", _digits, 0.1),
    "reader": _TrainedNetwork(
        "a recurrent network that reads characters", _reader, 2.5, 0.5, 2, (0, 3)
    ),
}
"""By name."""
