"""Heterogeneity of the clients of a problem."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.files.splits import Division
from certibit.data.problem import Problem
from certibit.data.problems.selector import problem as problem_named


@dataclass(frozen=True)
class Heterogeneity:
    """The heterogeneity of the clients; ``print`` shows it in a few lines.

    Attributes
    ----------
    at_solution, at_start : float
        zeta^2 = (1/n) sum_i |grad f_i(x) - grad f(x)|^2 at x* and at x_0; NaN without an x*.
    division : Division or None
        The rows of every client and class; None if the problem does not say.

    Examples
    --------
    >>> from certibit import Heterogeneity, Quadratic, heterogeneity
    >>> found: Heterogeneity = heterogeneity(Quadratic.random(3, 4, mu=1.0, L=10.0))
    >>> found.division is None
    True
    """

    at_solution: float
    at_start: float
    division: Division | None

    @property
    def shares(self) -> NDArray[np.float64] | None:
        """The share of every class among the rows of every client, (n, classes)."""
        if self.division is None or not self.division.classes:
            return None
        counts = np.array(self.division.counts, dtype=np.float64)
        shares: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def __str__(self) -> str:
        solved = "" if math.isnan(self.at_solution) else f"{self.at_solution:.3g} at x*, "
        told = f"zeta^2 = {solved}{self.at_start:.3g} at x_0"
        if self.division is None:
            return told
        sizes, left = self.division.sizes, self.division.discarded
        rows = f"{sum(sizes)} rows over {len(sizes)} clients, {_ends(sizes)} each"
        lines = [told, rows + (f"; {left} discarded" if left else "")]
        if self.shares is not None:
            for name, column in zip(self.division.classes, self.shares.T, strict=True):
                ends = _ends([round(share, 2) for share in column])
                lines.append(f"class {_name(name)}: {ends} of a client's rows")
        return "\n".join(lines)


def heterogeneity(problem: Problem | str) -> Heterogeneity:
    """Measure the heterogeneity of the clients of a problem, or of one by its name.

    Examples
    --------
    >>> from certibit import heterogeneity, problem
    >>> print(heterogeneity(problem("breast-cancer@4", kappa=100, split="similarity:0")))
    zeta^2 = 0.0054 at x*, 0.109 at x_0
    568 rows over 4 clients, 142 each; 1 discarded
    class 0: 0 to 1 of a client's rows
    class 1: 0 to 1 of a client's rows
    """
    problem = problem_named(problem) if isinstance(problem, str) else problem
    plain = problem.plain
    return Heterogeneity(
        _spread(plain.grad(plain.x_star)),
        _spread(plain.grad(plain.x_0)),
        getattr(problem, "division", None),
    )


def _spread(gradients: Array) -> float:
    """Mean squared distance of the gradients (n, d, R) to their mean; over runs, too."""
    away = np.asarray(gradients) - np.mean(gradients, axis=0)
    return float(np.mean(np.sum(away * away, axis=1)))


def _name(label: object) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def _ends(sizes: Any) -> str:
    return " to ".join(dict.fromkeys(f"{size:,g}" for size in (min(sizes), max(sizes))))
