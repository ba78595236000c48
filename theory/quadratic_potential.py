"""Potentials that are not those of a theorem: quadratic forms of a state, and other weights."""

from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array
from bitbound.solvers.backend import mean
from bitbound.theory.potential import ClassConstants, Gap, Potential, Squares, Terms

Rows = NDArray[np.float64]
"""Linear forms of the parts of a state, (K, parts)."""


ROUNDING = 1e-12
"""Relative size of what is left of a square that counts as none."""


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
    """What is wanted of a model: f - f* there, or its squared distance to the solution."""

    measure: Literal["gap", "distance"]

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the one term at a state."""
        if self.measure == "gap":
            return (Gap(1.0, m.model(s)),)
        return (Squares(1.0, m.model(s) - m.model(star)),)


@dataclass(frozen=True, eq=False, repr=False)
class QuadraticPotential:
    """Any quadratic form of the parts of a state that treats all clients alike.

    It is the sum of squares of linear forms: of the means of all parts over the clients, and of the
    deviations of the clients' parts from their means, averaged over the clients.

    Attributes
    ----------
    mean_rows : (K, parts)
        The forms of the means, one coefficient for each part: every field that is not of bool, and
        with ``gradients`` the gradients at the model.
    apart_rows : (K', client parts)
        The forms of the deviations from the means.
    gradients : bool
        Whether the gradients at the model are a part.
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

    def __repr__(self) -> str:
        """Return Psi as a formula; parts are deviations from the fixed point."""
        means = [f"mean {name}" if own else name for name, own in self.names]
        apart = [f"({name} - mean {name})" for name, own in self.names if own]
        terms = [f"{self.values:.4g} (f - f*)"] if self.values else []
        for weight, point in zip(self.gap_weights, self.points, strict=True):
            terms += [f"{weight:.4g} (f({point}) - f*)"] if weight else []
        for weights, rows, names, form in (
            (self.mean_weights, self.mean_rows, means, "{} |{}|^2"),
            (self.apart_weights, self.apart_rows, apart, "{} mean |{}|^2"),
        ):
            for weight, row in zip(weights or (1.0,) * len(rows), rows, strict=True):
                parts = [
                    f"{'-' if a < 0 else '+'} " + (f"{abs(a):.4g} " if abs(a) != 1 else "") + name
                    for a, name in zip(row, names, strict=True)
                    if a
                ]
                terms.append(form.format(f"{weight:.4g}", " ".join(parts).removeprefix("+ ")))
        return "Psi = " + " + ".join(terms)

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state: f - f* at the model if it counts, squares, other f - f*."""
        parts = [
            getattr(s, field.name) - getattr(star, field.name)
            for field in fields(s)
            if getattr(s, field.name).dtype != bool
        ]
        if self.gradients:
            parts.append(problem.grad(m.model(s)) - problem.grad(m.model(star)))
        means = [mean(part) if part.shape[0] == setting.n else part for part in parts]
        apart = [
            part - middle
            for part, middle in zip(parts, means, strict=True)
            if part.shape[0] == setting.n > 1
        ]
        squares = [
            *(
                Squares(weight, _combined(row, means))
                for weight, row in _weighted(self.mean_weights, self.mean_rows)
            ),
            *(
                Squares(weight / setting.n, _combined(row, apart))
                for weight, row in _weighted(self.apart_weights, self.apart_rows)
                if apart
            ),
        ]
        gaps = [
            Gap(weight, getattr(s, point))
            for weight, point in zip(self.gap_weights, self.points, strict=True)
            if weight
        ]
        model = [Gap(self.values, m.model(s))] if self.values else []
        return (*model, *squares, *gaps)

    def spread(self) -> "QuadraticPotential":
        """Return a potential with the sums of any two forms beside them.

        Combinations of these squares, of any signs, are all quadratic forms of the same parts.
        """
        return replace(
            self, mean_rows=with_pairs(self.mean_rows), apart_rows=with_pairs(self.apart_rows)
        )


def _weighted(weights: tuple[float, ...], rows: Rows) -> list[tuple[float, Rows]]:
    return list(zip(weights or (1.0,) * len(rows), rows, strict=True))


def squares_of(form: Rows) -> tuple[tuple[float, ...], Rows]:
    """Return weights and rows with form = sum_k weights_k rows_k rows_k', each row led by a 1."""
    left, weights, rows = form.copy(), [], []
    for k in range(len(form)):
        if left[k, k] > ROUNDING * form[k, k]:
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
