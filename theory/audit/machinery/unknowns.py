"""Unknown vectors and their inner products: identities of these hold in every dimension.

A vector is an expansion in named unknowns, a quadratic form an expansion in pairs of names, both
with polynomials as coefficients. An identity is true if both sides have the same expansion.

A `Nonnegative` is made from hypotheses, squares, sums and products, and is nonnegative wherever its
hypotheses are true. An inequality is proved by one with the same expansion as right - left; exact
arithmetic decides their equality.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from certibit.theory.audit.machinery.polynomial import Polynomial

NOISE = "noise"
"""With what the names of unknowns begin whose mean is 0."""

ONE = ("1",)
"""The name under which a form has its constant."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """A sum of names with polynomials as coefficients, none of them 0."""

    terms: Mapping[Hashable, Polynomial]

    @classmethod
    def of(cls, value: Any) -> "Expansion":
        """Return an expansion as it is, and a polynomial as a constant form."""
        return value if isinstance(value, Expansion) else cls({ONE: value} if value else {})

    def __add__(self, other: Any) -> "Expansion":
        terms = dict(self.terms)
        for name, value in Expansion.of(other).terms.items():
            terms[name] = terms[name] + value if name in terms else value
        return Expansion({name: value for name, value in terms.items() if value.terms})

    def __mul__(self, factor: Any) -> "Expansion":
        products = {name: value * factor for name, value in self.terms.items()}
        return Expansion({name: value for name, value in products.items() if value.terms})

    def __truediv__(self, monomial: Any) -> "Expansion":
        return Expansion({name: value / monomial for name, value in self.terms.items()})

    def __neg__(self) -> "Expansion":
        return self * -1

    def __sub__(self, other: Any) -> "Expansion":
        return self + -Expansion.of(other)

    def __rsub__(self, other: Any) -> "Expansion":
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def dot(self, other: "Expansion") -> "Expansion":
        """Return the inner product of two vectors as a form."""
        products = (
            Expansion({tuple(sorted((str(a), str(b)))): x * y})
            for a, x in self.terms.items()
            for b, y in other.terms.items()
        )
        return reduce(add, products, Expansion({}))

    def mean(self) -> "Expansion":
        """Return the expectation of a vector or a form over the noise.

        A product of two noises becomes an unknown of its own, their covariance.
        """
        terms = {}
        for name, value in self.terms.items():
            names = name if isinstance(name, tuple) else (name,)
            noises = sum(str(part).startswith(NOISE) for part in names)
            if noises != 1:
                terms[("mean", *names) if noises else name] = value
        return Expansion(terms)


@dataclass(frozen=True, eq=False)
class Joint:
    """Vectors of n clients and the server: the clients' mean, the server's, the deviations.

    The rests sum to 0. The server counts n times in the inner product, and n is a variable.
    """

    n: Polynomial
    clients: Expansion
    server: Expansion
    own: Expansion

    @classmethod
    def unknown(cls, n: Polynomial, name: str) -> "Joint":
        """Return vectors of which nothing is known."""
        one = n / n
        parts = (Expansion({f"{name} {part}": one}) for part in ("clients", "server", "own"))
        return cls(n, *parts)

    def _each(self, other: Any, operation: Callable[[Any, Any], Expansion]) -> "Joint":
        mine, its = (
            (x.clients, x.server, x.own) if isinstance(x, Joint) else (x,) * 3
            for x in (self, other)
        )
        return Joint(self.n, *map(operation, mine, its))

    def __add__(self, other: "Joint") -> "Joint":
        return self._each(other, lambda x, y: x + y)

    def __sub__(self, other: "Joint") -> "Joint":
        return self._each(other, lambda x, y: x - y)

    def __mul__(self, factor: Any) -> "Joint":
        return self._each(factor, lambda x, y: x * y)

    __rmul__ = __mul__

    def inner(self, other: "Joint") -> Expansion:
        """Return sum_i <x_i, y_i> + n <x_server, y_server>."""
        products = self._each(other, lambda x, y: x.dot(y))
        return (products.clients + products.server + products.own) * self.n

    def mean(self) -> "Joint":
        """Return the expectation over the noise."""
        return Joint(self.n, self.clients.mean(), self.server.mean(), self.own.mean())


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
