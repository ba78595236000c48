"""A small calculus of proofs: a `Nonnegative` is made from hypotheses, squares, sums, products.

Such an expression is nonnegative wherever its hypotheses are true. An inequality is proved by an
expression with the same expansion as right - left; exact arithmetic decides their equality.
"""

from dataclasses import dataclass
from typing import Any

from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.unknowns import Expansion, Joint


@dataclass(frozen=True, eq=False)
class Nonnegative:
    """A number or a form that is at least 0, and from which hypotheses.

    It is made by :func:`assume`, :func:`positive` and :func:`squared`; sums, products, quotients
    by positive monomials and expectations of what is at least 0 are at least 0.
    """

    value: Polynomial | Expansion
    hypotheses: frozenset[str] = frozenset()

    def __add__(self, other: "Nonnegative") -> "Nonnegative":
        total = Expansion.of(self.value) + other.value
        return Nonnegative(total, self.hypotheses | other.hypotheses)

    def __mul__(self, other: "Nonnegative") -> "Nonnegative":
        return Nonnegative(self.value * other.value, self.hypotheses | other.hypotheses)

    def __truediv__(self, other: "Nonnegative") -> "Nonnegative":
        return Nonnegative(self.value / other.value, self.hypotheses | other.hypotheses)

    def mean(self) -> "Nonnegative":
        """Return its expectation over the noise."""
        return Nonnegative(Expansion.of(self.value).mean(), self.hypotheses)


def assume(words: str, value: Any) -> Nonnegative:
    """State as a hypothesis that something is at least 0."""
    return Nonnegative(value, frozenset({words}))


def positive(value: Any) -> Nonnegative:
    """Take a monomial, whose variables all stand for positive numbers."""
    ((_, coefficient),) = value.terms.items()
    if coefficient <= 0:
        raise ValueError(f"the monomial with the coefficient {coefficient} is not positive")
    return Nonnegative(value)


def squared(vectors: Joint) -> Nonnegative:
    """Return a squared norm."""
    return Nonnegative(vectors.inner(vectors))


def same(left: Any, right: Any) -> bool:
    """Whether two numbers, forms, vectors, or tuples of such are the same expansion."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, tuple):
        return all(same(a, right) for a in left)
    if isinstance(left, Joint):
        return all(
            same(getattr(left, part), getattr(right, part)) for part in ("clients", "server", "own")
        )
    return not (Expansion.of(left) - right).terms
