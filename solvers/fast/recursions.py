"""Linear recursions of local steps, found by one step of the method on a state of symbols."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certibit.data.passes.fused_steps import Numbers
from certibit.data.problems.logistic import LogisticRegression

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
    """The problem that a method is given when its state consists of symbols."""

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
