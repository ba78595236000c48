"""Points at which all clients evaluate, and vectors of all clients there: what is assumed of them.

The vector of a client is given in the blocks of its kind; the form |v_i|^2 is averaged over the
clients.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.theory.assumptions.assumption import Infimum, labels
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.opaque.exact_numbers import factor_of
from certibit.theory.worlds.symbolic.frames import Blocks
from certibit.theory.worlds.symbolic.interpolation import (
    Form,
    gradient_of,
    shared_calls,
    shares_of,
)
from certibit.theory.worlds.symbolic.symbols import Evaluation


@dataclass(frozen=True, eq=False)
class _ClientVectors:
    """A vector of every client, by kinds: (basis,) each for equal clients, then of zero sum."""

    functions: FunctionClass
    kinds: tuple[Blocks, ...]

    def __add__(self, other: "_ClientVectors") -> "_ClientVectors":
        pairs = zip(self.kinds, other.kinds, strict=True)
        both = (tuple(a + b for a, b in zip(*pair, strict=True)) for pair in pairs)
        return _ClientVectors(self.functions, tuple(both))

    def __sub__(self, other: "_ClientVectors") -> "_ClientVectors":
        return self + -1 * other

    def __rmul__(self, factor: Any) -> "_ClientVectors":
        factor = factor_of(self.kinds[0][0], factor)
        scaled = (tuple(factor * part for part in own) for own in self.kinds)
        return _ClientVectors(self.functions, tuple(scaled))

    def mean(self) -> "_ClientVectors":
        """Return the mean over the clients."""
        shares = [one.count / self._n for one in self.functions.kinds]
        equal = sum(share * own[0] for share, own in zip(shares, self.kinds, strict=True))
        shared = (equal, *(0 * part for part in self.kinds[0][1:]))
        return _ClientVectors(self.functions, (shared,) * len(self.kinds))

    def square(self) -> Form:
        """Return (1/n) sum_i |v_i|^2."""
        nothing = 0 * self.kinds[0][0]
        blocks = [np.outer(nothing, nothing) for _ in self.kinds[0]]
        for kind, own in enumerate(self.kinds):
            for place, share in enumerate(shares_of(kind, self.functions)):
                blocks[place] = blocks[place] + np.outer(own[place], own[place]) * share / self._n
        return Form(tuple(blocks), nothing)

    def dot(self, other: "_ClientVectors") -> Form:
        """Return (1/n) sum_i <v_i, w_i>."""
        return 0.5 * ((self + other).square() - self.square() - other.square())

    @property
    def _n(self) -> Any:
        """The number of clients, in the numbers of the vectors."""
        entry = self.kinds[0][0][0]
        return self.functions.n + 0 * entry


@dataclass(frozen=True, eq=False)
class SharedEvaluation:
    """A point at which all clients evaluate, as an assumption sees it.

    Attributes
    ----------
    numbers : tuple of int
        The numbers of the evaluations, one for each kind of clients.
    point, gradients : ClientVectors
        The point, and the gradients of the f_i there.
    value : Form
        f(x) - inf f.
    unit : Form
        The number 1, where a promise is for every zeta.
    """

    numbers: tuple[int, ...]
    point: _ClientVectors
    gradients: _ClientVectors
    value: Form

    @property
    def unit(self) -> Form:
        """Return the number 1, the last but one of the values.

        Raises
        ------
        Refusal
            If no assumption has a constant: then this is the value of an evaluation.
        """
        if not self.point.functions.zeta:
            raise Refusal(
                "an assumption has a multiple of the number 1 and says that it has none; let its "
                "has_constant return True"
            )
        nothing = 0.0 * self.value
        values = nothing.values.copy()
        values[-2] = values[-2] + 1
        return Form(nothing.blocks, values)


def shared_evaluations(
    evaluations: Sequence[Evaluation], functions: FunctionClass
) -> Iterator[SharedEvaluation]:
    """Yield the points at which all clients evaluate."""
    for numbers in shared_calls(evaluations, functions):
        own = [evaluations[number] for number in numbers]
        point, gradients = (
            _ClientVectors(functions, tuple(parts))
            for parts in ([e.point for e in own], [gradient_of(e) for e in own])
        )
        values = 0 * own[0].point[0]
        values[numbers] = values[numbers] + 1
        value = 0 * point.square()
        if not functions.plain_values:
            value = functions.average_convexity / 2 * point.square()
        value = value + Form(tuple(0 * block for block in value.blocks), values)
        yield SharedEvaluation(tuple(numbers), point, gradients, value)


def assumed(evaluations: Sequence[Evaluation], functions: FunctionClass) -> dict[str, Form]:
    """Return the forms that are at least 0 by the assumptions of a class, by name."""
    assumptions = functions.assumptions
    if functions.mu < 0:
        assumptions = (Infimum(functions.average_smoothness), *assumptions)
    named: dict[str, Any] = {}
    points = list(shared_evaluations(evaluations, functions)) if assumptions else []
    for label, one in zip(labels(assumptions), assumptions, strict=True):
        for x in points:
            named[f"{label}: point {x.numbers[0]}"] = one.at(x)
        for x, y in permutations(points, 2):
            named[f"{label}: point {x.numbers[0]} to point {y.numbers[0]}"] = one.between(x, y)
    return {name: form for name, form in named.items() if form is not None}
