"""Potentials that belong to no theorem: quadratic forms of a state, and changed weights."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import chain, combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.theory.potential import ClassConstants, Gap, Potential, Squares, Terms

Rows = NDArray[np.float64]
"""Linear forms of the parts of a state, (K, parts)."""


ROUNDING = 1e-12
"""Relative size below which the remainder of a square counts as 0."""


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


@dataclass(frozen=True)
class Joined:
    """The terms of several potentials, one after the other."""

    potentials: tuple[Potential, ...]

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state."""
        own = (one.lyapunov(m, s, star, setting, problem) for one in self.potentials)
        return tuple(term for terms in own for term in terms)


@dataclass(frozen=True)
class AtModel:
    """The measure of a model: f - f* there, or its squared distance to the solution."""

    measure: Literal["gap", "distance"]

    def __str__(self) -> str:
        return {"gap": "f(x) - f*", "distance": "|x - x*|^2"}[self.measure]

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the one term at a state."""
        if self.measure == "gap":
            return (Gap(1.0, m.model(s)),)
        return (Squares(1.0, m.model(s) - m.model(star)),)


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticPotential:
    """Any quadratic form of the parts of a state that treats all clients of a class alike.

    It is the sum of squares of linear forms: of the means of all parts over the clients, and of the
    deviations of the clients' parts from their means, averaged over the clients. If clients differ,
    each class has its own means, which share one form, and its own deviations.

    Attributes
    ----------
    mean_rows : (K, means)
        The forms of the means, one coefficient for each part, or for what each client has its own
        of as many as there are classes. Parts are every field that is not of bool, and with
        ``gradients`` the gradients at the model.
    apart_rows : (K', classes x client parts)
        The forms of the deviations from the means, each of one class.
    gradients : bool
        Whether the gradients at the model are a part; their mean, where there is no solution.
    values : float
        The weight of f(x) - f* at the model.
    gap_weights : tuple of float
        The weights of f - f* at other points of the state.
    points : tuple of str
        The fields that are these points.
    mean_weights, apart_weights : tuple of float
        The weights of the squares; by default 1.
    names : tuple of str
        Of the parts, and whether each client has its own.
    counts : tuple of int
        How many clients each class has; without them all are of one.
    """

    mean_rows: Rows
    apart_rows: Rows
    gradients: bool = False
    values: float = 0.0
    gap_weights: tuple[float, ...] = ()
    points: tuple[str, ...] = ()
    mean_weights: tuple[float, ...] = ()
    apart_weights: tuple[float, ...] = ()
    names: tuple[tuple[str, bool], ...] = ()
    counts: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """Return Psi as a formula; parts are deviations from the fixed point."""
        kinds = [f"mean_{k}" for k, _ in enumerate(self.counts, start=1)] or ["mean"]
        means = [
            f"{kind} {name}" if own else name
            for name, own in self.names
            for kind in (kinds if own else kinds[:1])
        ]
        own_names = [name for name, own in self.names if own]
        apart = [f"({name} - {kind} {name})" for kind in kinds for name in own_names]
        averages = [kinds[place] for place in self._kinds_of(self.apart_rows)]
        terms = [f"{self.values:.4g} (f - f*)"] if self.values else []
        for weight, point in zip(self.gap_weights, self.points, strict=True):
            terms += [f"{weight:.4g} (f({point}) - f*)"] if weight else []
        for weights, rows, names, forms in (
            (self.mean_weights, self.mean_rows, means, ["{} |{}|^2"] * len(self.mean_rows)),
            (
                self.apart_weights,
                self.apart_rows,
                apart,
                [f"{{}} {average} |{{}}|^2" for average in averages],
            ),
        ):
            for (weight, row), form in zip(_weighted(weights, rows), forms, strict=True):
                parts = [
                    f"{'-' if a < 0 else '+'} " + (f"{abs(a):.4g} " if abs(a) != 1 else "") + name
                    for a, name in zip(row, names, strict=True)
                    if a
                ]
                terms.append(form.format(f"{weight:.4g}", " ".join(parts).removeprefix("+ ")))
        return "Psi = " + " + ".join(terms).replace("+ -", "- ")

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state: f - f* at the model if it counts, squares, other f - f*."""
        names = [one.name for one in fields(s) if getattr(s, one.name).dtype != bool]
        parts = [getattr(s, name) - getattr(star, name) for name in names]
        for name, part in zip(names, parts, strict=True):
            if part.shape[0] != getattr(s, name).shape[0]:
                raise Refusal(
                    f"{name} is a vector that all clients share, but of each where {m.name} is at "
                    "rest; let it be the same kind of vector in all states"
                )
        if self.gradients:
            gradients = problem.grad(m.model(s))
            if setting.has_solution:
                parts.append(gradients - problem.grad(m.model(star)))
            else:
                parts.append(mean(gradients))
        members = self._members(setting.n)
        means: list[Array] = []
        apart: list[list[Array]] = [[] for _ in members]
        for part in parts:
            if part.shape[0] != setting.n:
                means.append(part)
                continue
            for own, (count, member) in zip(apart, members, strict=True):
                middle = (
                    mean(part) if count == setting.n else mean(member * part) * setting.n / count
                )
                means.append(middle)
                own.append(member * (part - middle))
        squares = [
            *(
                Squares(weight, _combined(row, means))
                for weight, row in _weighted(self.mean_weights, self.mean_rows)
            ),
            *(
                Squares(weight / members[kind][0], _combined(row, list(chain(*apart))))
                for kind, (weight, row) in zip(
                    self._kinds_of(self.apart_rows),
                    _weighted(self.apart_weights, self.apart_rows),
                    strict=True,
                )
                if setting.n > 1 and apart[kind]
            ),
        ]
        gaps = [
            Gap(weight, getattr(s, point))
            for weight, point in zip(self.gap_weights, self.points, strict=True)
            if weight
        ]
        model = [Gap(self.values, m.model(s))] if self.values else []
        return (*model, *squares, *gaps)

    def weighted(self, weights: tuple[float, ...]) -> "QuadraticPotential":
        """Return the form with weights of f - f* at the model and of the squares only."""
        first = 1 + len(self.mean_rows)
        return replace(
            self,
            values=weights[0],
            mean_weights=weights[1:first],
            apart_weights=weights[first:],
            gap_weights=(),
            points=(),
        )

    def rounded(self, digits: int) -> "QuadraticPotential":
        """Return the form with numbers of so many significant digits."""

        def short(numbers: Iterable[float]) -> tuple[float, ...]:
            return tuple(float(f"{x:.{digits}g}") for x in numbers)

        def rows(own: Rows) -> Rows:
            return np.array(short(own.ravel())).reshape(own.shape)

        return replace(
            self,
            mean_rows=rows(self.mean_rows),
            apart_rows=rows(self.apart_rows),
            values=short((self.values,))[0],
            gap_weights=short(self.gap_weights),
            mean_weights=short(self.mean_weights),
            apart_weights=short(self.apart_weights),
        )

    def spread(self) -> "QuadraticPotential":
        """Return a potential with the sums of any two forms beside them.

        Combinations of these squares, of any signs, are all quadratic forms of the same parts.
        """
        apart = [with_pairs(rows) for rows in self.apart_by_kind]
        return replace(self, mean_rows=with_pairs(self.mean_rows), apart_rows=np.concatenate(apart))

    @property
    def apart_by_kind(self) -> list[Rows]:
        """The forms of the deviations of each class."""
        return [rows for rows, _ in self.squares_by_kind[1:]]

    @property
    def squares_by_kind(self) -> list[tuple[Rows, Any]]:
        """The forms of means, then of deviations of each class, with their weights."""
        kinds = self._kinds_of(self.apart_rows)
        apart = self._all(self.apart_weights, self.apart_rows)
        return [
            (self.mean_rows, self._all(self.mean_weights, self.mean_rows)),
            *(
                (self.apart_rows[kinds == kind], apart[kinds == kind])
                for kind in range(len(self.counts) or 1)
            ),
        ]

    def _members(self, n: int) -> list[tuple[int, Any]]:
        """Return for each class how many clients it has, and 1 where a client is one of them."""
        if not self.counts:
            return [(n, 1)]
        if sum(self.counts) != n:
            raise Refusal(f"the potential is one of {sum(self.counts)} clients, and there are {n}")
        return list(zip(self.counts, _members(self.counts), strict=True))

    def _kinds_of(self, rows: Rows) -> Any:
        """Return the class of every form of deviations."""
        size = max(1, rows.shape[1] // (len(self.counts) or 1))
        return np.argmax(rows != 0, axis=1) // size if rows.size else np.zeros(len(rows), dtype=int)

    @staticmethod
    def _all(weights: tuple[float, ...], rows: Rows) -> Any:
        return np.array(weights or (1.0,) * len(rows))


@lru_cache(maxsize=1)
def _members(counts: tuple[int, ...]) -> tuple[NDArray[np.intp], ...]:
    """Return 1 for the clients of each class and 0 for the others, (n, 1, 1)."""
    kinds = np.repeat(np.arange(len(counts)), counts)[:, None, None]
    return tuple((kinds == kind).astype(np.intp) for kind in range(len(counts)))


def _weighted(weights: tuple[float, ...], rows: Rows) -> list[tuple[float, Rows]]:
    return list(zip(weights or (1.0,) * len(rows), rows, strict=True))


def squares_of(form: Rows, *, signed: bool = False) -> tuple[tuple[float, ...], Rows]:
    """Return weights and rows with form = sum_k weights_k rows_k rows_k', each row led by a 1.

    Weights are positive, but for a form that may be ``signed``.
    """
    left, weights, rows = form.copy(), [], []
    for k in range(len(form)):
        pivot = abs(left[k, k]) if signed else left[k, k]
        if pivot > ROUNDING * abs(form[k, k]):
            row = left[k] / left[k, k]
            row[:k] = 0.0
            weights.append(float(left[k, k]))
            rows.append(row)
            left = left - left[k, k] * np.outer(row, row)
    return tuple(weights), np.array(rows).reshape(len(rows), len(form))


def _combined(row: Rows, parts: list[Array]) -> Array:
    terms = (float(a) * part for a, part in zip(row, parts, strict=True) if a)
    return sum(terms, start=0 * parts[0])


def with_pairs(rows: Rows) -> Rows:
    """Return rows and the sums of any two of them."""
    pairs = [a + b for a, b in combinations(rows, 2)]
    return np.array([*rows, *pairs]) if pairs else rows
