"""Quadratic forms with function values, and the inequalities that hold for a class of functions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.theory.assumptions.assumption import Infimum, labels
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.opaque.exact_numbers import Exact, congruent, factor_of, rationals
from certibit.theory.worlds.symbolic.frames import Basis, Blocks, Matrix, same_point
from certibit.theory.worlds.symbolic.local_solves import LocalSolve
from certibit.theory.worlds.symbolic.symbols import Evaluation, MessageError

MANY_POINTS = 8
"""Above so many points of one function, only neighbours and the solution are paired."""


@dataclass(frozen=True)
class Form:
    """A quadratic form in the unknowns plus a combination of function values.

    Attributes
    ----------
    blocks : (basis, basis) matrices
        The part of equal clients, and for every kind that of zero sum, which counts n - 1 times
        where n clients are of the kind.
    values : (basis,)
        Coefficients of the values at the evaluations, in their order: the mean over the clients of
        f_i(x) - f_i(x*) - <grad f_i(x*), x - x*> - (mu/2) |x - x*|^2, or the same of g. For
        mu < 0 the last term is left out, and f - inf f is meant where there is no solution.
        The last one, that of no evaluation, is the coefficient of sigma^2, the variance of
        stochastic gradients; where clients differ by zeta, the one before that of zeta^2.
    """

    blocks: Blocks
    values: Matrix

    def __add__(self, other: "Form") -> "Form":
        blocks = tuple(a + b for a, b in zip(self.blocks, other.blocks, strict=True))
        return Form(blocks, self.values + other.values)

    def __sub__(self, other: "Form") -> "Form":
        return self + other * -1

    def __mul__(self, factor: Any) -> "Form":
        factor = factor_of(self.values, factor)
        return Form(tuple(factor * block for block in self.blocks), factor * self.values)

    __rmul__ = __mul__


def lost(error: MessageError, functions: FunctionClass, value: Form | None = None) -> Form:
    """(1 - alpha) |v|^2 - |C(v) - v|^2 >= 0, summed over the clients of a kind; omega for noise.

    That of the server, whose kind is -1, counts for every client. Of a sampled gradient v it is
    sigma^2 + relative |v|^2 - |noise|^2, and of one sample at two points with the distance v
    difference^2 |v|^2 - |change of the noise|^2. The variance of sampled gradients grows with
    ``value``, f(x) - f* at the point of the sample; by expected smoothness so does the change of
    the noise from the solution to this point.

    Raises
    ------
    Refusal
        If one sample is taken at two points, and nothing is assumed of the change of its noise.
    """
    unit, kind = _unit(error.unknown, error.vector[0]), error.kind
    values = 0 * unit
    if error.law == "contraction":
        part = 1 - functions.contraction(kind)
    elif error.law == "noise":
        part = functions.omega_down if kind < 0 else functions.kinds[kind].omega
    elif error.law == "difference":
        part = 0 if value is not None else _change_of_noise(functions) ** 2
    else:
        part = functions.noise.relative if functions.noise else 0.0
        values[-1] += functions.kinds[kind].count
    blocks = [
        factor * (part * np.outer(v, v) - np.outer(e, e))
        for factor, v, e in zip(
            shares_of(kind, functions), error.vector, _own(unit, kind, error.vector), strict=True
        )
    ]
    whole = Form(tuple(blocks), values)
    if functions.noise and value is not None:
        growth: Any = functions.noise.gap if error.law == "sample" else functions.noise.expected
        whole = whole + value * (growth * (2 * functions.n))
    return whole


def expected_change(first: int, second: int, kind: int, A: Any, bregman: Form, n: int) -> Form:
    """2 A n (f(x) - f(y) - <grad f(y), x - y>) - sum_i |xi_i(x) - xi_i(y)|^2 >= 0.

    ``first`` and ``second`` are the unknown noises of one sample at x and y, less that at the
    solution.
    """
    change = _unit(first, bregman.values) - _unit(second, bregman.values)
    shares = n, *(int(other == kind) for other in range(len(bregman.blocks) - 1))
    blocks = (share * np.outer(change, change) for share in shares)
    return bregman * (2 * n * A) - Form(tuple(blocks), 0 * bregman.values)


def _change_of_noise(functions: FunctionClass) -> Any:
    if functions.noise is None or functions.noise.difference is None:
        raise Refusal(
            "a sample is taken at two points, and nothing is assumed of the change of its noise; "
            "give such as GradientNoise(difference=1.0)"
        )
    if len(functions.kinds) > 1:
        raise Refusal(
            "a sample is taken at two points, and what is assumed of the change of its noise is of "
            "the mean over all clients, not of a class of them; give clients of one class"
        )
    return functions.noise.difference


def of_noise(
    error: MessageError,
    basis: Basis,
    functions: FunctionClass,
    evaluations: Sequence[Evaluation] = (),
) -> dict[str, Form]:
    """Return what is 0 for a noise in the mean, by name.

    It is orthogonal to all that was known before it was drawn, in all blocks, and those of several
    clients to each other: E sum_i |xi_i|^2 = E |sum_i xi_i|^2. Where clients share their
    randomness, only E |mean xi|^2 <= omega_joint mean |v_i|^2 is known of them. Two noises of one
    sample need not be orthogonal, except those of different clients.
    """
    number, kind = error.unknown, error.kind
    unit = _unit(number, error.vector[0])
    noise = _own(unit, kind, error.vector)
    nothing = [0 * np.outer(unit, unit) for _ in noise]
    named = {}
    first = number - max(kind, 0)
    independent = functions.omega_joint is None or error.law in {"sample", "difference"}
    others = [*range(number if independent else first)]
    if error.beside is not None:
        others = _before(error.beside - max(kind, 0), first, evaluations)
    for other in others:
        known = _unit(other, unit)
        for place in range(len(noise)):
            own = place == 0 or (kind == place - 1 == basis.kind[other])
            if own and (place == 0 or functions.kinds[kind].count > 1):
                blocks = [*nothing]
                blocks[place] = _product(unit, known)
                named[f"noise {number}: unknown {other}, block {place}"] = Form(
                    tuple(blocks), 0 * unit
                )
    count = 1 if kind < 0 else functions.kinds[kind].count
    if count > 1 and independent:
        square = np.outer(unit, unit)
        blocks = [(count - count * count) * square, *nothing[1:]]
        blocks[1 + kind] = square
        named[f"noise {number}: of clients"] = Form(tuple(blocks), 0 * unit)
    if count > 1 and error.beside is not None:
        both = _product(unit, _unit(error.beside, unit))
        blocks = [(count - count * count) * both, *nothing[1:]]
        blocks[1 + kind] = both
        named[f"noise {number}: with {error.beside} of clients"] = Form(tuple(blocks), 0 * unit)
    return named


def _before(drawn: int, end: int, evaluations: Sequence[Evaluation]) -> list[int]:
    """Return the unknowns below ``end`` that do not depend on a sample with its first noise."""
    later = {
        one.gradient
        for one in evaluations
        if drawn < one.gradient < end and not any(part[drawn:].any() for part in one.point)
    }
    return [*range(drawn), *sorted(later)]


def joint_noise(error: MessageError, functions: FunctionClass) -> Form:
    """omega_joint sum_i |v_i|^2 - n |mean noise|^2 >= 0, where clients share their randomness."""
    unit, joint = _unit(error.unknown, error.vector[0]), functions.omega_av
    shares = shares_of(error.kind, functions)
    blocks = [joint * share * np.outer(v, v) for share, v in zip(shares, error.vector, strict=True)]
    blocks[0] = blocks[0] - functions.n * np.outer(unit, unit)
    return Form(tuple(blocks), 0 * unit)


def local_progress(
    solve: LocalSolve, evaluations: Sequence[Evaluation], functions: FunctionClass
) -> Form:
    """Return ratio |v|^2 - |w|^2 >= 0 for the gradients v, w before and after local steps."""
    end = end_of(solve, evaluations)
    ratio = solve.ratio(end.gradient, *functions.curvature(solve.kind))
    blocks = [
        share * (ratio * np.outer(v, v) - np.outer(w, w))
        for share, v, w in zip(
            shares_of(solve.kind, functions), solve.before, solve.after, strict=True
        )
    ]
    return Form(tuple(blocks), 0 * solve.before[0])


def end_of(solve: LocalSolve, evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return the evaluation where local steps end.

    Raises
    ------
    Refusal
        If there is none.
    """
    own = (e for e in evaluations if e.kind == solve.kind and solve.after[0][e.gradient])
    found = next((e for e in own if e.point[0][solve.place] == 1), None)
    if found is None:
        raise Refusal("local steps that evaluate no gradient where they end are not certified")
    return found


def _unit(place: int, like: Matrix) -> Matrix:
    unit = 0 * like
    unit[place] = unit[place] + 1
    return unit


def _own(unit: Matrix, kind: int, blocks: Blocks) -> Blocks:
    """Return an unknown of the clients of a kind in all blocks."""
    return (unit, *(unit * (other == kind) for other in range(len(blocks) - 1)))


def _gradient_of(evaluation: Evaluation) -> Blocks:
    """Return the gradient of an evaluation in all blocks."""
    point = evaluation.point
    return _own(_unit(evaluation.gradient, point[0]), evaluation.kind, point)


def shares_of(kind: int, functions: FunctionClass) -> tuple[int, ...]:
    """Return how often each block counts in a sum over the clients of a kind, or over all (-1)."""
    count = functions.n if kind < 0 else functions.kinds[kind].count
    return (count, *(int(other == kind) for other in range(len(functions.kinds))))


def interpolation(evaluations: Sequence[Evaluation], functions: FunctionClass) -> dict[str, Form]:
    """Return the interpolation conditions between the evaluations of a function, by name.

    For every two points a and b of a mu-strongly convex, L-smooth function f, the convex function
    h(x) = f(x) - (mu/2) |x - x*|^2, with gradients u and v there, satisfies::

        h(a) - h(b) - <v, a - b> - |u - v|^2/(2 (L - mu)) >= 0

    The solution, with h, gradient and point 0, is one of the points, if there is one. The
    inequality is summed over the clients. If the average of the f_i is smoother than the f_i, it is
    also stated for the average at shared points. The inequalities for all pairs are necessary and
    sufficient. Source: Taylor, Hendrickx, Glineur, arXiv:1502.05666, Theorem 4.
    """
    named: dict[str, Form] = {}
    kinds = range(-1, len(functions.kinds))
    for kind in [*kinds[1:], -1]:
        points = [
            Point((number,), e.point, _gradient_of(e))
            for number, e in enumerate(evaluations)
            if e.kind == kind
        ]
        if points:
            label = evaluations[points[0].numbers[0]].function
            shares = shares_of(kind, functions)
            named |= _pairs(label, points, *functions.curvature(kind), shares, functions)
    if functions.L_f is not None:
        points = list(_averages(evaluations, functions))
        shares = shares_of(-1, functions)
        mu = functions.average_convexity
        named |= _pairs("average", points, mu, functions.L_f, shares, functions)
    return named


@dataclass(frozen=True, eq=False)
class Point:
    """A point and the gradient there, and the numbers of the evaluations that it stands for."""

    numbers: tuple[int, ...]
    place: Blocks
    gradient: Blocks


def shared_calls(
    evaluations: Sequence[Evaluation], functions: FunctionClass
) -> Iterable[list[int]]:
    """Yield the numbers of the evaluations of all clients at one point, one of each kind."""
    calls: dict[int, list[int]] = {}
    for number, evaluation in enumerate(evaluations):
        if evaluation.kind >= 0:
            calls.setdefault(evaluation.unknown, []).append(number)
    for numbers in calls.values():
        own = [evaluations[number] for number in numbers]
        shared = all(
            same_point(e.point, own[0].point) and not any(map(np.any, e.point[1:])) for e in own
        )
        if len(own) == len(functions.kinds) and shared:
            yield numbers


def _averages(evaluations: Sequence[Evaluation], functions: FunctionClass) -> Iterable[Point]:
    """Yield the points at which all clients evaluate, with the average of their gradients."""
    for numbers in shared_calls(evaluations, functions):
        own = [evaluations[number] for number in numbers]
        gradient = 0 * own[0].point[0]
        for e in own:
            count = functions.kinds[e.kind].count
            gradient = gradient + _unit(e.gradient, gradient) * count / functions.n
        nothing = [0 * block for block in own[0].point[1:]]
        yield Point(tuple(numbers), own[0].point, (gradient, *nothing))


def _pairs(
    label: str,
    points: Sequence[Point],
    mu: float,
    L: float,
    shares: Sequence[int],
    functions: FunctionClass,
) -> dict[str, Form]:
    named, solution = {}, [-1] if points and functions.has_solution else []
    inner = _condition(mu, L, functions)
    for a, b in permutations([*solution, *range(len(points))], 2):
        if len(points) > MANY_POINTS and -1 not in {a, b} and abs(a - b) > 1:
            continue
        start, end = (points[place] if place >= 0 else None for place in (a, b))
        names = [f"point {one.numbers[0]}" if one else "solution" for one in (start, end)]
        named[f"{label}: {names[0]} to {names[1]}"] = _pair(start, end, inner, shares)
    return named


def _condition(mu: Any, L: Any, functions: FunctionClass) -> Matrix:
    """Return the form in the two points and the two gradients of an interpolation condition."""
    x, y, u, v = rationals(np.eye(4)) if isinstance(mu, Exact) else np.eye(4)
    u, v = u - mu * x, v - mu * y
    form = _product(v, x - y) + _product(u - v, u - v) / (2 * (L - mu))
    if functions.plain_values:
        form = form + (_product(x, x) - _product(y, y)) * mu / 2
    return form / -functions.n


def _pair(
    a: Point | None,
    b: Point | None,
    inner: Matrix,
    shares: Sequence[int],
) -> Form:
    some: Any = a or b
    nothing = tuple(0 * block for block in some.place)
    values = nothing[0].copy()
    ends = []
    for point, sign in ((a, 1), (b, -1)):
        if point:
            values[list(point.numbers)] = values[list(point.numbers)] + sign
        ends.append((point.place, point.gradient) if point else (nothing, nothing))
    (points, slopes), (others, bends) = ends
    blocks = (
        congruent(share * inner, np.stack(rows))
        for share, *rows in zip(shares, points, others, slopes, bends, strict=True)
    )
    return Form(tuple(blocks), values)


def _product(u: Matrix, v: Matrix) -> Matrix:
    """Return the matrix of <u, v>."""
    return (np.outer(u, v) + np.outer(v, u)) / 2


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
            for parts in ([e.point for e in own], [_gradient_of(e) for e in own])
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
