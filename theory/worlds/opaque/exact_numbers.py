"""Rational numbers with which a method's own step is computed without any rounding."""

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from certibit.data.errors import Refusal

T = TypeVar("T")

SIMPLE = 10**6
"""Largest denominator of the simple fraction that a float may stand for."""


Rational = Any
"""A rational number of python-flint, which takes a tenth of the time of a Fraction."""


def rational(x: Any) -> Rational:
    """Return the rational number that a number stands for: 1/10 for the float 0.1.

    It is a fraction with a small denominator if one rounds to this float, else the decimal number
    that Python prints.

    Raises
    ------
    Refusal
        If it is a number of another type that is not whole.
    """
    if isinstance(x, fmpq):
        return x
    if isinstance(x, Exact):
        return x.value
    if isinstance(x, float | np.floating):
        return _of_float(float(x))
    if isinstance(x, Fraction):
        return fmpq(x.numerator, x.denominator)
    if int(x) != x:
        raise Refusal(f"{x!r} would be rounded to {int(x)}; give a float or a fraction")
    return fmpq(int(x))


@lru_cache(maxsize=4096)
def _of_float(x: float) -> Rational:
    simple = Fraction(x).limit_denominator(SIMPLE)
    return rational(simple if float(simple) == x else Fraction(repr(x)))


def fraction(x: Rational) -> Fraction:
    """Return the same number of the standard library."""
    return Fraction(int(x.p), int(x.q))


class Exact:
    """A rational number; floats are converted to the fraction they stand for, never the reverse.

    Examples
    --------
    >>> Exact(0.1) + 1 / Exact(3)
    Exact(13/30)
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = rational(value)

    def __repr__(self) -> str:
        return f"Exact({self.value})"

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __array_ufunc__(self, ufunc: Any, way: str, *inputs: Any, **options: Any) -> Any:
        """Calculate with arrays of rational numbers as the rational number that this is."""
        if ufunc not in _OF_ARRAYS or not any(isinstance(x, np.ndarray) for x in inputs):
            raise TypeError(f"{ufunc.__name__} of a rational number")
        plain = (x.value if isinstance(x, Exact) else x for x in inputs)
        return getattr(ufunc, way)(*plain, **options)

    def __float__(self) -> float:
        raise Refusal(
            "a number of the step is rounded, by a square root or a function of floats, and has no "
            "exact proof; make it a parameter of the method"
        )

    def __index__(self) -> int:
        if self.value.q > 1:
            raise TypeError(f"{self.value} is no integer")
        return int(self.value.p)


def _exactly(operation: Callable[..., Any]) -> Callable[..., Any]:
    def operate(number: Exact, *others: Any) -> Any:
        if others and not isinstance(others[0], _NUMBERS):
            return NotImplemented
        result = operation(number.value, *map(rational, others))
        return _made(result) if isinstance(result, fmpq) else result

    return operate


def _arithmetic(operation: Callable[[Rational, Rational], Rational]) -> Callable[..., Any]:
    def operate(number: Exact, other: Any) -> Any:
        if type(other) is Exact:
            return _made(operation(number.value, other.value))
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        return _made(operation(number.value, rational(other)))

    return operate


def _swapped(operation: Callable[..., Rational]) -> Callable[[Rational, Rational], Rational]:
    return lambda a, b: operation(b, a)


def _made(value: Rational) -> Exact:
    made = _new(Exact)
    made.value = value
    return made


_new = object.__new__


def _power(number: Rational, power: Rational) -> Any:
    if power.q > 1:
        return float(fraction(number)) ** float(fraction(power))
    return number ** int(power.p)


def _rest(number: Rational, divisor: Rational) -> Rational:
    return number - divisor * (number / divisor).floor()


_OF_ARRAYS = (np.add, np.subtract, np.multiply, np.true_divide)
Real.register(Exact)
_NUMBERS = (Exact, int, float, Fraction, fmpq, np.integer, np.bool_)

for _name in ("neg", "pos", "abs", "eq", "lt", "le", "gt", "ge"):
    setattr(Exact, f"__{_name}__", _exactly(getattr(operator, f"__{_name}__")))
for _name, _operation in (("pow", _power), ("mod", _rest)):
    setattr(Exact, f"__{_name}__", _exactly(_operation))
for _name in ("add", "sub", "mul", "truediv"):
    _operation = getattr(operator, f"__{_name}__")
    setattr(Exact, f"__{_name}__", _arithmetic(_operation))
    setattr(Exact, f"__r{_name}__", _arithmetic(_swapped(_operation)))


def exact_parameters(owner: T) -> T:
    """Return a frozen dataclass with its floats as exact numbers; integers stay what they are.

    Examples
    --------
    >>> from certibit import GD
    >>> exact_parameters(GD(gamma=0.1)).gamma
    Exact(1/10)
    """
    whole: Any = owner
    numbers = {f.name: _exact(getattr(whole, f.name)) for f in fields(whole) if f.init}
    changed: T = replace(whole, **numbers)
    return changed


@contextmanager
def in_rational_numbers(name: str) -> Iterator[None]:
    """Refuse a method of that name if it calculates what rational numbers cannot."""
    try:
        yield
    except (AttributeError, TypeError) as error:
        raise Refusal(
            f"a step of {name} takes more than sums, products and quotients of numbers and has no "
            f"proof in rational numbers ({error}); make what it takes of a parameter one of its own"
        ) from error


def _exact(value: Any) -> Any:
    if isinstance(value, tuple):
        if set(map(type, value)) == {float}:  # of many clients, few of which differ
            made = {x: Exact(x) for x in set(value)}
            if len(made) == 1:
                return tuple(made.values()) * len(value)
            return tuple(map(made.__getitem__, value))
        return tuple(map(_exact, value))
    if is_dataclass(value) and not isinstance(value, type):
        return exact_parameters(value)
    return Exact(rational(value)) if isinstance(value, float) else value


def same_up_to_rounding(
    found: Sequence[NDArray[Any]], known: Sequence[NDArray[Any]], least: float = 1e-14
) -> bool:
    """Whether arrays (n, d, R) are those of another list up to rounding.

    That is 1e-9 of the largest number of each d, or ``least`` times the largest of the array, if it
    is not 0, else of all, and at most times 1: a large number is no reason to overlook others. Of
    what cancels in an array, some roundings of the numbers of all, at most of 1, may be left.
    """
    top = max((np.abs(y).max() for y in known), default=0.0)
    return [x.shape for x in found] == [y.shape for y in known] and all(
        bool((np.abs(x * 1.0 - y) <= np.maximum(1e-9 * sizes, rest)).all())
        for x, y in zip(found, known, strict=True)
        for sizes in [np.abs(y).max(axis=(0, 2), keepdims=True)]
        for rest in [max(least * min(sizes.max() or top, 1), 4e-15 * min(top, 1))]
    )


def same_chances(found: Sequence[Any], known: Sequence[Any]) -> bool:
    """Whether probabilities are those of another list: the nearest floats, or as near to 0 and 1.

    Examples
    --------
    >>> same_chances([0.1 + 0.2, 1.0], [0.3, 1 - Exact(1e-20)]), same_chances([1e-20], [0])
    (True, False)
    """
    pairs = [(rational(p), rational(q)) for p, q in zip(found, known, strict=False)]
    return len(found) == len(known) and all(
        abs(p - q) <= min(q, 1 - q) / 10**9 or float(fraction(p)) == float(fraction(q))
        for p, q in pairs
    )


def zeros(*shape: int, exact: bool = False) -> NDArray[Any]:
    """Return an array of zeros, of floats or of rational numbers."""
    return np.full(shape, fmpq(0), dtype=object) if exact else np.zeros(shape)


def rationals(numbers: Any) -> NDArray[Any]:
    """Return the rational numbers that the numbers of an array stand for."""
    result = zeros(*np.shape(numbers), exact=True)
    for place, entry in np.ndenumerate(numbers):
        if entry:
            result[place] = rational(entry)
    return result


def factor_of(array: NDArray[Any], number: Any) -> Any:
    """Return a number as one of the kind that the entries of an array are."""
    return rational(number) if array.dtype == object else number


def congruent(matrix: NDArray[Any], outer: NDArray[Any]) -> NDArray[Any]:
    """Return outer' matrix outer, of floats or of rational numbers, for a symmetric matrix.

    Rational numbers that are 0 are skipped, and the result is computed above its diagonal only.
    """
    if not outer.size or outer.dtype != object:
        return np.asarray(outer.T @ matrix @ outer)
    rows = outer.tolist()
    half = _combined(matrix.tolist(), rows)
    found = zeros(len(half), len(half), exact=True)
    for j, column in enumerate(_combined(list(zip(*half, strict=True)), rows, triangle=True)):
        found[j, : j + 1] = found[: j + 1, j] = column
    return found


def _combined(
    vectors: Sequence[Sequence[Rational]],
    factors: Sequence[Sequence[Rational]],
    *,
    triangle: bool = False,
) -> list[list[Rational]]:
    """Return sums of vectors, one with each column of factors, most of which are 0.

    Of a ``triangle`` only the first j + 1 entries of the sum j are computed.
    """
    nothing = [fmpq(0)] * len(vectors[0])
    found = [nothing[: j + 1] if triangle else nothing for j in range(len(factors[0]))]
    for vector, row in zip(vectors, factors, strict=True):
        for j, x in enumerate(row):
            if x:
                own = vector[: len(found[j])]
                added = own if x == 1 else [x * y for y in own]
                pairs = zip(found[j], added, strict=True)
                found[j] = [a + y if a and y else a or y for a, y in pairs]
    return found


def exact_product(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the product of two matrices of rational numbers."""
    return np.array((fmpq_mat(a.tolist()) * fmpq_mat(b.tolist())).tolist(), dtype=object)
