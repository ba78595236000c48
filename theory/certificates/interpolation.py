"""Quadratic forms with function values, and the inequalities that hold for a class of functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from bitbound.theory.function_class import FunctionClass
from bitbound.theory.worlds.symbols import Blocks, Evaluation, Matrix

MANY_POINTS = 8
"""Above so many points of one function, only neighbours and the solution are paired."""


@dataclass(frozen=True)
class Form:
    """A quadratic form in the unknowns plus a combination of function values.

    Attributes
    ----------
    blocks : two (basis, basis) matrices
        The parts of equal clients and of zero sum, which counts n - 1 times.
    values : (basis,)
        Coefficients of the values at the evaluations, in their order: the mean over the clients of
        f_i(x) - f_i(x*) - <grad f_i(x*), x - x*> - (mu/2) |x - x*|^2, or the same of g.
    """

    blocks: Blocks
    values: Matrix

    def __add__(self, other: "Form") -> "Form":
        first, second = (a + b for a, b in zip(self.blocks, other.blocks, strict=True))
        return Form((first, second), self.values + other.values)

    def __mul__(self, factor: float) -> "Form":
        first, second = self.blocks
        return Form((factor * first, factor * second), factor * self.values)


def zero(size: int) -> Form:
    """Return the form that is 0."""
    return Form((np.zeros((size, size)), np.zeros((size, size))), np.zeros(size))


def combination(weights: Iterable[float], forms: Sequence[Form]) -> Form:
    """Return the weighted sum of at least one form."""
    first, *others = (form * w for w, form in zip(weights, forms, strict=True))
    return sum(others, start=first)


def contraction(alpha: float, error: int, vector: Blocks, every_client: bool = True) -> Form:
    """(1 - alpha) |v|^2 - |C(v) - v|^2 >= 0, summed over the clients, or of what all share."""
    unit = np.zeros(len(vector[0]))
    unit[error] = 1.0
    first, second = ((1 - alpha) * np.outer(v, v) - np.outer(unit, unit) for v in vector)
    return Form((first, second if every_client else 0 * second), 0 * unit)


def interpolation(evaluations: Sequence[Evaluation], functions: FunctionClass) -> dict[str, Form]:
    """Return what holds between the evaluations of a function, each at least 0, by name.

    For every two points a and b of a mu-strongly convex, L-smooth function f, the convex function
    h(x) = f(x) - (mu/2) |x - x*|^2, with gradients u and v there, satisfies::

        h(a) - h(b) - <v, a - b> - |u - v|^2/(2 (L - mu)) >= 0

    The solution, where all are 0, is one of the points. It is summed over the clients. If the
    average of the f_i is smoother than they are, the same holds for it where the points are shared.
    For all pairs this is all that can be said. Source: Taylor, Hendrickx, Glineur,
    arXiv:1502.05666, Theorem 4.
    """
    named: dict[str, Form] = {}
    for function, share, smoothness in (
        ("f", 1 / functions.n, functions.L),
        ("g", 1.0, functions.L),
        ("average", 1.0, functions.L_f),
    ):
        if smoothness is None:
            continue
        points = list(_points(function, evaluations, functions.n))
        for a, b in permutations([-1, *range(len(points))], 2):
            if len(points) > MANY_POINTS and -1 not in {a, b} and abs(a - b) > 1:
                continue
            name = f"{function}: {_place(points, a)} to {_place(points, b)}"
            named[name] = _pair(points, a, b, functions.mu, smoothness, share)
    return named


Point = tuple[int, Blocks, Blocks]
"""The number of an evaluation, its point and its gradient."""


def _points(function: str, evaluations: Sequence[Evaluation], n: int) -> Iterable[Point]:
    for number, evaluation in enumerate(evaluations):
        gradient = np.zeros_like(evaluation.point[0])
        gradient[evaluation.gradient] = 1.0
        if function == evaluation.function:
            own = gradient if function == "f" else 0 * gradient
            yield number, evaluation.point, (gradient, own)
        elif function == "average" and evaluation.function == "f":
            equal, different = evaluation.point
            if not different.any():
                yield number, (equal * n**-0.5, different), (gradient * n**-0.5, different)


def _place(points: Sequence[Point], place: int) -> str:
    return "solution" if place < 0 else f"point {points[place][0]}"


def _pair(points: Sequence[Point], a: int, b: int, mu: float, L: float, share: float) -> Form:
    size = len(points[0][1][0])
    nothing = (np.zeros(size), np.zeros(size))
    values = np.zeros(size)
    ends = []
    for place, sign in ((a, 1.0), (b, -1.0)):
        if place >= 0:
            values[points[place][0]] = sign
        ends.append(points[place][1:] if place >= 0 else (nothing, nothing))
    blocks = []
    for block in range(2):
        (u, x), (v, y) = ((g[block] - mu * at[block], at[block]) for at, g in ends)
        blocks.append(-share * (_product(v, x - y) + _product(u - v, u - v) / (2 * (L - mu))))
    return Form((blocks[0], blocks[1]), values)


def _product(u: Matrix, v: Matrix) -> Matrix:
    """Return the matrix of <u, v>."""
    return (np.outer(u, v) + np.outer(v, u)) / 2
