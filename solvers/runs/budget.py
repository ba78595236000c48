"""Limits of a run, and the points at which it is recorded."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.solvers.runs.trace import require_measure

ITERATIONS = 10_000_000
"""The bound on runs for which nothing else is said."""
LIMITS = ("bits", "rounds", "iterations", "gradients", "seconds")
"""The quantities that a budget limits; a run that one of them ends has its name as its ending."""
_SILENT_ROUNDS = 1000
PATIENCE = 100_000
"""Iterations, or gradients per client, before which no run is taken to stagnate."""
STAGNANT_SHARE = 0.5
"""The share of its work over which a run that stagnates has made no progress."""
PROGRESS = 0.01
"""By how much of itself the best f - f*, or |grad f|^2, has to fall to be progress."""
STAGNATION = (
    f"the best f - f*, or |grad f|^2, has not fallen by {100 * PROGRESS:g} % over the last"
    f" {100 * STAGNANT_SHARE:g} % of the work, from {PATIENCE:,} iterations or gradients on"
)
"""When a run that waits for an accuracy stagnates, in words."""


@dataclass(frozen=True)
class Budget:
    """The limits of a run, which ends as soon as one of them is reached.

    A run with a target accuracy and no other limit but iterations ends as "stagnated" if the best
    f - f*, or |grad f|^2, has not decreased by 1 % over the last half of the work. Work is counted
    in iterations or gradients per client, whichever is more, and is at least 100,000. A run with
    slower progress would not reach its target within 10,000,000 iterations either.

    Parameters
    ----------
    bits : float, optional
        Uplink bits per client.
    rounds : int, optional
        Communication rounds.
    gradients : float, optional
        Gradients evaluated per client.
    gap : float, optional
        Accuracy f - f*, tested at recorded points.
    squared_gradient : float, optional
        Accuracy |grad f|^2 instead, for nonconvex problems above all.
    seconds : float, optional
        Time on the clock for the runs that are computed together, tested at recorded points. Such
        a limit is not reproducible, so no store keeps the trace.
    iterations : int
        Upper bound on the iterations of every run.

    Raises
    ------
    Refusal
        If a limit is not a positive number, or there are two accuracies.

    Examples
    --------
    >>> from certibit import GD, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> run(GD(gamma=0.1), problem, seeds=2, budget=Budget(rounds=1000, gap=1e-6)).ending
    ('gap', 'gap')
    """

    bits: float | None = None
    rounds: int | None = None
    gradients: float | None = None
    gap: float | None = None
    squared_gradient: float | None = None
    seconds: float | None = None
    iterations: int = ITERATIONS

    def __post_init__(self) -> None:
        for field in fields(self):
            limit = getattr(self, field.name)
            if limit is not None and not 0 < limit < np.inf:
                raise Refusal(
                    f"a budget of {limit:g} {field.name} is not possible; give a positive number"
                )
        if self.gap is not None and self.squared_gradient is not None:
            raise Refusal(
                f"a budget of {self.gap:g} gap and {self.squared_gradient:g} squared_gradient; "
                "give one accuracy"
            )

    def aimed(self, accuracy: float, measure: str) -> "Budget":
        """Return the same limits with another accuracy, in a measure such as "gap"."""
        require_measure(measure)
        aims: dict[str, Any] = {"gap": None, "squared_gradient": None} | {measure: accuracy}
        return replace(self, **aims)

    @property
    def measure(self) -> str:
        """What the accuracy is one of: "gap", or "squared_gradient"."""
        return "gap" if self.squared_gradient is None else "squared_gradient"

    @property
    def accuracy(self) -> float | None:
        """The accuracy, if there is one."""
        return self.gap if self.squared_gradient is None else self.squared_gradient

    def within(self, limits: "Budget | None") -> "Budget":
        """Return the same budget, each of its limits at most as large as another one's.

        The accuracy stays.
        """
        if limits is None:
            return self
        smaller: dict[str, Any] = {}
        for name in LIMITS:
            pair = (getattr(self, name), getattr(limits, name))
            smaller[name] = min((each for each in pair if each is not None), default=None)
        return replace(self, **smaller)

    def lowered(self, limits: "Budget | None") -> frozenset[str]:
        """Return the names of the limits that are lower within those of another budget."""
        limited = self.within(limits)
        return frozenset(n for n in LIMITS if getattr(limited, n) != getattr(self, n))

    @property
    def described(self) -> dict[str, Any]:
        """Its fields as JSON values."""
        return asdict(self)

    def require_traffic(self, point: Mapping[str, NDArray[Any]]) -> None:
        """Refuse to wait for bits alone where a run has sent none in a thousand rounds."""
        others = self.rounds is not None or self.accuracy is not None
        if self.bits is None or others or self.iterations != ITERATIONS:
            return
        if ((point["rounds"] >= _SILENT_ROUNDS) & (point["uplink_bits"] == 0)).any():
            raise Refusal(
                f"the budget of {self.bits:g} bits can never be met: nothing was sent in "
                f"{_SILENT_ROUNDS} rounds; give a budget of rounds"
            )

    def stagnation(
        self, work: NDArray[np.float64], since: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the fraction used of the work without progress that ends a run, (R,).

        ``since`` is the work at which the measure last made progress.
        """
        others = (self.bits, self.rounds, self.gradients, self.seconds)
        if self.accuracy is None or any(limit is not None for limit in others):
            return np.zeros_like(work)
        end = np.maximum(since / (1 - STAGNANT_SHARE), PATIENCE)
        return (work - since) / (end - since)

    def used(
        self, point: Mapping[str, NDArray[Any]], first: NDArray[np.float64]
    ) -> dict[str, NDArray[np.float64]]:
        """Return the fraction of each limit that runs have used at a recorded point, (R,) each.

        A limit is reached from 1 on. ``point`` holds columns of a trace and the time ``elapsed``;
        ``first`` is the measure at the start.
        """
        used = {"iterations": point["iteration"] / self.iterations}
        if self.rounds is not None:
            used["rounds"] = point["rounds"] / self.rounds
        if self.bits is not None:
            used["bits"] = point["uplink_bits"] / self.bits
        if self.gradients is not None:
            used["gradients"] = point["gradients"] / self.gradients
        if self.seconds is not None:
            used["seconds"] = point["elapsed"] / self.seconds
        if self.accuracy is not None:
            now = point[self.measure]
            with np.errstate(divide="ignore", invalid="ignore"):
                way = np.log(first / now) / np.log(first / self.accuracy)
            near = np.fmin(np.fmax(way, 0.0), 0.999)
            used[self.measure] = np.where(now <= self.accuracy, 1.0, near)
        return used


@dataclass(frozen=True)
class Record:
    """Record a run at its start, its end, and at geometrically spaced rounds in between.

    Parameters
    ----------
    ratio : float
        The next recorded round is ``max(r + every, ceil(ratio r))``; 1 gives equal spacing.
    every : int
        Smallest distance of two recorded rounds.
    accuracies : tuple of float
        Accuracies whose first round is recorded, too. Those of the powers of ten, and of the
        accuracy of the budget, always are.

    Raises
    ------
    Refusal
        If ``ratio < 1`` or ``every < 1``.

    Examples
    --------
    >>> from certibit import GD, Budget, Quadratic, Record, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> every = Record(ratio=1, every=2)
    >>> trace = run(GD(gamma=0.1), problem, seeds=1, budget=Budget(rounds=6), record=every)
    >>> trace.columns["rounds"]  # f - f* falls below powers of ten in rounds 3 and 5
    array([0, 2, 3, 4, 5, 6])
    """

    ratio: float = 1.01
    every: int = 1
    accuracies: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (1 <= self.ratio < np.inf and self.every >= 1):
            raise Refusal(
                f"the record spacing ratio = {self.ratio}, every = {self.every} is not possible; "
                "both must be at least 1"
            )

    @property
    def described(self) -> dict[str, Any]:
        """Its fields as JSON values; accuracies only if there are some."""
        spacing = {"ratio": self.ratio, "every": self.every}
        return spacing | ({"accuracies": list(self.accuracies)} if self.accuracies else {})

    def following(self, rounds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the round to be recorded after each of ``rounds``."""
        return np.maximum(rounds + self.every, np.ceil(self.ratio * rounds)).astype(np.int64)
