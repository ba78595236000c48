"""The methods for (L0, L1)-smooth functions by name, made from a step size and a threshold.

They have no parameter rule from theory but EPISODE's; figures tune the two numbers on a grid.
"""
# ruff: noqa: E741  (I is the paper's symbol)

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bitbound.solvers.clipping import UNCLIPPED
from bitbound.solvers.method import Method
from bitbound.solvers.methods.celgc import CELGC
from bitbound.solvers.methods.clipped_minibatch_sgd import ClippedMinibatchSGD
from bitbound.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
from bitbound.solvers.methods.clipped_sgd import ClippedSGD
from bitbound.solvers.methods.episode import EPISODE
from bitbound.solvers.methods.episode_plus_plus import EpisodePlusPlus
from bitbound.solvers.methods.momentum_clipping import MomentumClipping
from bitbound.solvers.methods.naive_parallel_clip import NaiveParallelClip
from bitbound.solvers.methods.normalised_gd import NormalisedGD

Make = Callable[[Any, Any, int, int | None], Method]
"""Makes a method from eta and tau (numbers or arrays (1, 1, R)), I and S."""


@dataclass(frozen=True)
class Entry:
    """A method of the comparison.

    Attributes
    ----------
    label : str
        How it is written.
    make : callable
        Makes it from eta, tau, I and S; a method on one machine does not use S.
    clips : bool
        Whether it uses tau.
    federated : bool
        Whether its clients communicate.
    """

    label: str
    make: Make
    clips: bool = True
    federated: bool = True


CLIPPING: dict[str, Entry] = {
    "episode": Entry("EPISODE", lambda eta, tau, I, S: EPISODE(eta, tau * eta, I, S)),
    "episode-plus-plus": Entry(
        "EPISODE++", lambda eta, tau, I, S: EpisodePlusPlus(eta, tau * eta, I, S)
    ),
    "celgc": Entry("CELGC", lambda eta, tau, I, S: CELGC(eta, tau * eta, I, S)),
    "clipped-scaffold": Entry(
        "SCAFFOLD (clipped)", lambda eta, tau, I, S: ClippedSCAFFOLD(eta, tau * eta, I, S)
    ),
    "naive-parallel-clip": Entry(
        "NaiveParallelClip", lambda eta, tau, I, S: NaiveParallelClip(eta, tau * eta, I, S)
    ),
    "clipped-minibatch-sgd": Entry(
        "clipped minibatch SGD", lambda eta, tau, I, S: ClippedMinibatchSGD(eta, tau * eta, I, S)
    ),
    "episode-unclipped": Entry(
        "EPISODE (unclipped)", lambda eta, tau, I, S: EPISODE(eta, UNCLIPPED, I, S), clips=False
    ),
    "fedavg": Entry("FedAvg", lambda eta, tau, I, S: CELGC(eta, UNCLIPPED, I, S), clips=False),
    "scaffold": Entry(
        "SCAFFOLD", lambda eta, tau, I, S: ClippedSCAFFOLD(eta, UNCLIPPED, I, S), clips=False
    ),
    "clipped-sgd": Entry(
        "clipped SGD", lambda eta, tau, I, S: ClippedSGD(eta, tau * eta, I), federated=False
    ),
    "normalised-gd": Entry(
        "normalised SGD", lambda eta, tau, I, S: NormalisedGD(eta * tau, tau, I), federated=False
    ),
    "momentum-clipping": Entry(
        "momentum clipping",
        lambda eta, tau, I, S: MomentumClipping(eta, tau * eta, I, beta=0.9),
        federated=False,
    ),
}
"""Every method by name: federated and clipped, federated and not clipped, on one machine."""

CLASSES: dict[str, type[Method]] = {
    method.name: method
    for method in (type(entry.make(1.0, 1.0, 1, None)) for entry in CLIPPING.values())
}
"""The algorithms themselves by name, whose parameters must be given."""
