"""The potential that a certificate is about: that of a theorem, or one that is searched for."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import ClassConstants, Gap, Potential, Squares, Terms
from bitbound.theory.theorems.catalogue import card_of
from bitbound.theory.worlds.orbits import Nothing, OrbitChannel

MOST_FIELDS = 4
"""Up to so many fields of a state have their own unit in a search."""


@dataclass(frozen=True)
class SquaresOfState:
    """sum_f w_f |deviation of field f|^2 over the fields of a state, means over clients.

    Attributes
    ----------
    weights : tuple of float
        One for each field that is not of bool.
    values : bool
        Whether f(x) - f* at the model and (1/n) sum_i |f - grad f_i(model)|^2 for the fields of
        clients are terms too.
    """

    weights: tuple[float, ...]
    values: bool = False

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state."""
        names = [f.name for f in fields(s) if getattr(s, f.name).dtype != bool]
        terms: list[Squares | Gap] = []
        for name, weight in zip(names, self.weights, strict=True):
            vectors = getattr(s, name)
            share = weight / vectors.shape[0]
            terms.append(Squares(share, vectors - getattr(star, name)))
            if self.values and vectors.shape[0] == setting.n > 1:
                terms.append(Squares(share, vectors - problem.grad(m.model(s))))
        return (Gap(1.0, m.model(s)), *terms) if self.values else tuple(terms)


@dataclass(frozen=True)
class Reweighted:
    """A potential with other weights of its terms."""

    potential: Potential
    weights: tuple[float, ...]

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state."""
        terms = self.potential.lyapunov(m, s, star, setting, problem)
        pairs = zip(terms, self.weights, strict=True)
        return tuple(replace(term, weight=weight) for term, weight in pairs)


def theorem_potential(method: Method) -> Potential | None:
    """Return the potential of the first theorem on the method's card; None without theorems."""
    return next(iter(card_of(method).theorems), None)


def best_start(
    method: Method,
    functions: FunctionClass,
    decrease: Callable[[Method, FunctionClass, Potential], float],
) -> Potential:
    """Return the best of some weighted squares of the parts of the state.

    Every field is measured in the unit of the points or of the gradients, with function values and
    without; ``decrease`` judges. It is where a search for weights starts.

    Raises
    ------
    Refusal
        If none of them can be certified; with the reason of the first.
    """
    state = method.start(np.zeros((1, 1, 1)), Nothing(functions.n), OrbitChannel(functions.n, 1))
    sizes = sum(getattr(state, f.name).dtype != bool for f in fields(state))
    found: list[tuple[float, SquaresOfState]] = []
    reason: Refusal | None = None
    for tried in _starts(functions, sizes):
        try:
            found.append((decrease(method, functions, tried), tried))
        except Refusal as refusal:
            reason = reason or refusal
    if not found:
        raise reason or Refusal(f"{method.name} has no state to make a potential of")
    return max(found, key=lambda pair: pair[0])[1]


def _starts(functions: FunctionClass, sizes: int) -> Iterator[SquaresOfState]:
    units = (1.0, functions.L**-2)
    free = min(sizes, MOST_FIELDS)
    for values in (False, True):
        for weights in product(units, repeat=free):
            yield SquaresOfState((*weights, *(1.0,) * (sizes - free)), values)
