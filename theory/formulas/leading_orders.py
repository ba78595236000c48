"""Leading orders as sums of monomials, without those that another one of a case exceeds.

Constants are dropped: sqrt(a + b) is of the order of sqrt(a) + sqrt(b). A monomial is dropped if it
is at most a constant times the largest of the others wherever a case holds, which is a linear
program in the logarithms of n, d, kappa, omega and 1/alpha_down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np

_NAMES = ("n", "d", "kappa", "omega", "alpha_down")
_AT_LEAST_ONE = ("n", "d", "kappa")
Powers = tuple[Fraction, ...]

CASES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "": (),
    "omega = O(n)": (("omega", "n"),),
    "omega = Theta(n)": (("omega", "n"), ("n", "omega")),
    "n = O(d)": (("n", "d"),),
}
"""What is at most a constant times what, by the name that papers give a case."""


@dataclass(frozen=True)
class Monomials:
    """A sum of monomials with unknown positive coefficients: the powers of each."""

    powers: frozenset[Powers]

    @classmethod
    def of(cls, number: Any) -> "Monomials":
        """Return a sum, or a number above 0 as one."""
        return number if isinstance(number, cls) else cls(frozenset({(Fraction(0),) * len(_NAMES)}))

    def __add__(self, other: Any) -> "Monomials":
        return Monomials(self.powers | Monomials.of(other).powers)

    def __mul__(self, other: Any) -> "Monomials":
        others = Monomials.of(other).powers
        return Monomials(
            frozenset(
                tuple(a + b for a, b in zip(one, two, strict=True))
                for one in self.powers
                for two in others
            )
        )

    def __truediv__(self, other: Any) -> "Monomials":
        (below,) = Monomials.of(other).powers
        return self * Monomials(frozenset({tuple(-a for a in below)}))

    def __rtruediv__(self, other: Any) -> "Monomials":
        return Monomials.of(other) / self

    def sqrt(self) -> "Monomials":
        """Return the root, of every monomial."""
        return Monomials(frozenset(tuple(a / 2 for a in one) for one in self.powers))

    __radd__, __rmul__ = __add__, __mul__


def leading_order(formula: str, case: str = "") -> str:
    """Return a leading order in one of ``CASES``, as a sum of as few monomials as it takes.

    Examples
    --------
    >>> leading_order("(1 + omega/n)*kappa + omega", "omega = O(n)")
    'kappa + omega'
    """
    letters: dict[str, Any] = {
        name: Monomials(frozenset({tuple(Fraction(name == other) for other in _NAMES)}))
        for name in _NAMES
    }
    if case.endswith("Theta(n)"):
        letters["n"] = letters["omega"]
    letters["sqrt"] = lambda x: x.sqrt() if isinstance(x, Monomials) else sqrt(x)
    left = sorted(Monomials.of(eval(formula, {"__builtins__": {}}, letters)).powers)
    for one in [*left]:
        others = [other for other in left if other != one]
        if others and not _exceeds(one, others, CASES[case]):
            left = others
    return " + ".join(map(_written, reversed(left)))


def _exceeds(one: Powers, others: list[Powers], case: tuple[tuple[str, str], ...]) -> bool:
    """Whether a monomial can be arbitrarily many times larger than each of the others."""
    from scipy.optimize import linprog  # noqa: PLC0415  (slow to import)

    rows = [[float(b - a) for a, b in zip(one, other, strict=True)] for other in others]
    limits = [-1.0] * len(rows)
    for small, large in case:
        rows.append([float(name == small) - float(name == large) for name in _NAMES])
        limits.append(0.0)
    bounds = [
        (0.0, None) if name in _AT_LEAST_ONE else (None, 0.0 if name == "alpha_down" else None)
        for name in _NAMES
    ]
    found = linprog(np.zeros(len(_NAMES)), np.array(rows), limits, bounds=bounds)
    return bool(found.status != 2)  # infeasible


def _written(powers: Powers) -> str:
    """Write a monomial in Python's syntax."""
    parts = {True: list[str](), False: list[str]()}
    for name, power in zip(_NAMES, powers, strict=True):
        size = abs(power)
        other = f"{name}**{size}" if size.denominator == 1 else f"{name}**({size})"
        word = {Fraction(1): name, Fraction(1, 2): f"sqrt({name})"}.get(size, other)
        parts[power > 0] += [word] * (power != 0)
    above, below = "*".join(parts[True]) or "1", parts[False]
    return f"{above}/{'/'.join(below)}" if below else above
