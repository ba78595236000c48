"""The local steps until the next round at once, where they are linear but for a gradient.

Every run goes on alone until its own next round; then all communicate together, each after its own
number of steps. What a local step does is found by letting the method do one with symbols.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitbound.data.files.compilation import can_compile
from bitbound.data.passes.fused_steps import FusedSteps, Numbers
from bitbound.data.problems.logistic import LogisticRegression
from bitbound.solvers.method import Method
from bitbound.solvers.state import S, number_of_runs
from bitbound.solvers.world.channel import Oracle
from bitbound.solvers.world.randomness import AHEAD

Term = tuple[str, bool]
"""A field of a state, or the gradients at it."""


@dataclass(frozen=True, eq=False)
class LinearCombination:
    """A linear combination of the fields of a state and of the gradients at them.

    Nothing can be done with it but to scale it, by a number or by one for every run, and to add
    others to it.
    """

    factors: Mapping[Term, Any]

    __array_ufunc__: ClassVar[None] = None
    __eq__: ClassVar[None] = None  # type: ignore[assignment]
    __hash__: ClassVar[None] = None  # type: ignore[assignment]
    __bool__: ClassVar[None] = None

    def __add__(self, other: "LinearCombination") -> "LinearCombination":
        both = dict(self.factors)
        for term, factor in other.factors.items():
            both[term] = both[term] + factor if term in both else factor
        return LinearCombination(both)

    def __sub__(self, other: "LinearCombination") -> "LinearCombination":
        return self + other * -1.0

    def __mul__(self, number: Any) -> "LinearCombination":
        if np.shape(number)[:2] not in ((), (1, 1)):
            raise TypeError("a combination is scaled by numbers only")
        return LinearCombination({term: number * factor for term, factor in self.factors.items()})

    __rmul__ = __mul__


class SymbolicGradients:
    """What a method sees of a problem when its state is made of symbols."""

    def __init__(self, problem: LogisticRegression) -> None:
        self.n, self.d = problem.n, problem.d
        self.counted = 0
        """Gradients that all clients together have evaluated."""
        self._ridge_f, self.grad_g = problem.ridge_f, problem.grad_g

    def grad(self, x: LinearCombination, active: int | None = None) -> LinearCombination:
        """Return the gradients at a field, in which the ridge is apart from the losses."""
        (((name, of_losses), factor),) = x.factors.items()
        if of_losses or factor != 1:
            raise TypeError("gradients are taken at a field of the state only")
        self.counted += self.n if active is None else operator.index(active)
        return LinearCombination({(name, False): self._ridge_f, (name, True): 1.0})


@dataclass(frozen=True, eq=False)
class Recursion:
    """A step x <- a x + b u + c grad h(x), with one a, b and c for each run; u stays."""

    u: str
    a: Numbers
    b: Numbers
    c: Numbers | None

    @classmethod
    def of(cls, name: str, after: LinearCombination, runs: int) -> "Recursion":
        """Return what a step makes of the field x of that name; ValueError if it is another."""
        factors = {
            term: np.broadcast_to(np.ravel(factor), runs) + 0.0
            for term, factor in after.factors.items()
        }
        nothing = np.zeros(runs)
        a, c = factors.pop((name, False), nothing), factors.pop((name, True), None)
        (((u, of_losses), b),) = factors.items() if factors else (((name, False), nothing),)
        if of_losses:
            raise ValueError(f"it needs the gradients at {u}")
        return cls(u, a, b, c)


@dataclass(frozen=True, eq=False)
class LocalSteps:
    """Any number of local steps of every run at once.

    Parameters
    ----------
    recursions : mapping
        What a step makes of the fields that it changes.
    gradients : int
        What all clients together evaluate in a step.
    passes : FusedSteps
        The compiled steps.
    """

    ahead: ClassVar[int] = AHEAD
    together: ClassVar[bool] = False
    """How many are done at once, and whether by all runs as many."""

    recursions: Mapping[str, Recursion]
    gradients: int
    passes: FusedSteps

    @classmethod
    def of(cls, method: Method, state: Any, oracle: Oracle) -> "LocalSteps | None":
        """Return the local steps of a method; None where they are to be done one by one.

        That is for steps of another form, for other problems, other arrays than those of numpy
        with 64-bit floats, and where nothing is compiled or it does not pay.
        """
        problem = oracle.problem
        if not (oracle.lazy and can_compile() and isinstance(problem, LogisticRegression)):
            return None
        gradients = SymbolicGradients(problem)
        recursions = _recursions(method, state, gradients)
        passes = problem.rows.fused_steps if recursions else None
        if passes is None or not passes.pay(number_of_runs(state)):
            return None
        return cls(recursions, gradients.counted, passes)

    def after(self, steps: NDArray[np.int64], state: S) -> S:
        """Return a state after so many steps in every run, (R,)."""
        arrays = {
            name: self._after(steps, getattr(state, name), getattr(state, step.u), step)
            for name, step in self.recursions.items()
        }
        return replace(state, **arrays)

    def _after(self, steps: NDArray[np.int64], x: Any, u: Any, step: Recursion) -> Any:
        if step.c is not None:
            x, u = np.ascontiguousarray(x), np.ascontiguousarray(u)
            return self.passes.after(steps, x, u, step.a, step.b, step.c)
        powers, sums = self.passes.powers_and_sums(step.a, steps)
        return powers * x + step.b * sums * u


def _recursions(method: Method, state: Any, gradients: SymbolicGradients) -> dict[str, Recursion]:
    """Return what a local step makes of the fields that it changes; none if it is another."""
    symbols = {name: LinearCombination({(name, False): 1.0}) for name in vars(state)}
    runs = number_of_runs(state)
    problem: Any = gradients
    channel: Any = None
    try:
        after = vars(method.local_step(replace(state, **symbols), problem, channel))
        found = {
            name: Recursion.of(name, x, runs) for name, x in after.items() if x is not symbols[name]
        }
    except Exception:  # whatever a step says to symbols that it uses like arrays
        return {}
    for name, step in found.items():
        x, u = getattr(state, name), getattr(state, step.u)
        fits = all(type(array) is np.ndarray and array.dtype == np.float64 for array in (x, u))
        stays = step.u == name or step.u not in found
        n, of_u = x.shape[0], u.shape[0]
        of_clients = step.c is None or (n == gradients.n and of_u in (1, n))
        if not (fits and stays and of_clients and x.shape[1:] == u.shape[1:]):
            return {}
    return found
