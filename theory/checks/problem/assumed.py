"""Whether a problem satisfies an assumption of a function class, at points in numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.runs.points import whole_gradient
from certibit.theory.assumptions.assumption import Assumption
from certibit.theory.checks.problem.gradients import sample_points
from certibit.theory.verdict import Known, Verdict

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Amounts:
    """The values of an inequality at R points, and the sums of the sizes of its terms; (R,)."""

    values: Points
    sizes: Points

    def __add__(self, other: "_Amounts") -> "_Amounts":
        return _Amounts(self.values + other.values, self.sizes + other.sizes)

    def __sub__(self, other: "_Amounts") -> "_Amounts":
        return self + -1 * other

    def __rmul__(self, factor: float) -> "_Amounts":
        return _Amounts(factor * self.values, abs(factor) * self.sizes)


@dataclass(frozen=True, eq=False)
class _ClientNumbers:
    """A vector of every client at R points, (n, d, R), or one of all, (1, d, R)."""

    vectors: Points

    def __add__(self, other: "_ClientNumbers") -> "_ClientNumbers":
        return _ClientNumbers(self.vectors + other.vectors)

    def __sub__(self, other: "_ClientNumbers") -> "_ClientNumbers":
        return _ClientNumbers(self.vectors - other.vectors)

    def __rmul__(self, factor: float) -> "_ClientNumbers":
        return _ClientNumbers(factor * self.vectors)

    def mean(self) -> "_ClientNumbers":
        """Return the mean over the clients."""
        return _ClientNumbers(self.vectors.mean(axis=0, keepdims=True))

    def square(self) -> _Amounts:
        """Return (1/n) sum_i |v_i|^2."""
        return self.dot(self)

    def dot(self, other: "_ClientNumbers") -> _Amounts:
        """Return (1/n) sum_i <v_i, w_i>."""
        products = self.vectors * other.vectors
        return _Amounts(*(x.sum(axis=1).mean(axis=0) for x in (products, np.abs(products))))


@dataclass(frozen=True, eq=False)
class _NumericPoints:
    """R points of a problem, as an assumption sees them."""

    point: _ClientNumbers
    gradients: _ClientNumbers
    value: _Amounts
    unit: _Amounts

    @classmethod
    def of(cls, problem: Problem, x: Points, assumption: Assumption) -> "_NumericPoints":
        """Return points (1, d, R), less the solution if the assumption is about one."""
        gradients, gap = np.asarray(problem.grad(x)), np.asarray(problem.gap(x))
        if assumption.needs_solution:
            x, gradients = x - problem.x_star, gradients - problem.grad_star
        one = np.ones(x.shape[2])
        vectors = _ClientNumbers(x), _ClientNumbers(gradients)
        return cls(*vectors, _Amounts(gap, np.abs(gap)), _Amounts(one, one))


def amounts(assumption: Assumption, problem: Problem, x: Points, y: Points) -> list[_Amounts]:
    """Return what an assumption says is at least 0 at points x and y, (1, d, R), and between them.

    Nothing of what it does not state.
    """
    first, second = (_NumericPoints.of(problem, z, assumption) for z in (x, y))
    found: list[Any] = [
        assumption.at(first),
        assumption.at(second),
        assumption.between(first, second),
        assumption.between(second, first),
    ]
    return [one for one in found if one is not None]


def _forms_of_quadratics(assumption: Assumption, problem: Problem) -> list[tuple[Points, float]]:
    """Return the matrices of the inequalities in (1, x, y), (2 d + 1, 2 d + 1), on quadratics.

    An inequality is a quadratic function of x and y there: its values at 0, at unit vectors, their
    opposites and the sums of two determine it. x and y are written in the eigenvectors of f, and
    each coordinate is scaled by the size of its own terms, so that small curvatures count as much
    as large ones. Beside each matrix is its rounding.
    """
    d = problem.d
    points = np.stack([np.eye(d), np.zeros((d, d))])
    ahead, back = (np.asarray(whole_gradient(problem, x[None]))[0] for x in points)
    axes = np.linalg.eigh(ahead - back)[1]
    unit = np.kron(np.eye(2), axes.T)
    first, second = np.triu_indices(2 * d, 1)
    z = np.concatenate([np.zeros((1, 2 * d)), unit, -unit, unit[first] + unit[second]])
    found: list[tuple[Points, float]] = []
    for one in amounts(assumption, problem, z[:, :d].T[None], z[:, d:].T[None]):
        zero, ahead, back, both = np.split(one.values, np.cumsum([1, 2 * d, 2 * d]))
        form = np.zeros((2 * d + 1, 2 * d + 1))
        form[0, 0] = zero[0]
        form[0, 1:] = (ahead - back) / 4
        form[1 + first, 1 + second] = (both + zero - ahead[first] - ahead[second]) / 2
        form += np.triu(form, 1).T
        form[np.arange(1, 2 * d + 1), np.arange(1, 2 * d + 1)] = (ahead + back) / 2 - zero
        sizes = np.append(one.sizes[:1], np.maximum(*np.split(one.sizes[1 : 1 + 4 * d], 2)))
        scales = np.sqrt(np.where(sizes > 0, sizes, 1.0))
        rounding = _ROUNDINGS * np.finfo(float).eps * float(scales.max() / scales.min())
        found.append((form / np.multiply.outer(scales, scales), rounding))
    return found


EXACT = 1e-9
"""Relative excess that counts as rounding."""

_ROUNDINGS = 64
_MOST_FEATURES = 40
_STEPS, _SCALES = 10, (1e-3, 1.0, 1e3)


def check_assumption(assumption: Assumption, problem: Problem, seed: int = 0) -> Verdict:
    """Check an assumption on the f_i of a problem, without its g.

    It is proved if the constants of the problem imply it. Of quadratics of up to 40 features the
    eigenvalues of its inequalities are measured, for all points at once; otherwise the inequalities
    at points of gradient descent and around them, far and near.

    Raises
    ------
    Refusal
        If the assumption is about a minimiser, and none is known.

    Examples
    --------
    >>> from certibit import MeanSmoothness, Quadratic, check_assumption
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> [check_assumption(MeanSmoothness(L), problem).outcome for L in (10.0, 0.5)]
    ['holds', 'FAILS']
    """
    whole: Any = problem.plain
    known = bool(np.all(np.isfinite(whole.x_star)))
    if assumption.needs_solution and not known:
        raise Refusal(
            f"{assumption!r} is about a minimiser, and none of {problem.name} is known; take an "
            "assumption without one"
        )
    name = assumption.name
    constants = whole.constants
    if isinstance(constants, Constants) and assumption.follows_from(constants):
        note = "by the constants of the problem"
        return Verdict(name, 0.0, EXACT, note, known=Known.PROVED)
    if isinstance(whole, Quadratic | NonconvexQuadratic) and whole.d <= _MOST_FEATURES:
        forms = _forms_of_quadratics(assumption, whole)
        worst = -min((float(np.linalg.eigvalsh(form)[0]) for form, _ in forms), default=0.0)
        limit = max([EXACT, *(rounding for _, rounding in forms)])
        note, evidence = "by eigenvalues", Known.MEASURED
    else:
        x, y = _pairs(whole, seed)
        parts = [
            -one.values / np.where(one.sizes > 0, one.sizes, 1.0)
            for one in amounts(assumption, whole, x, y)
        ]
        worst, limit = float(np.max(parts, initial=-np.inf)), EXACT
        note, evidence = f"at {x.shape[2]} pairs of points", Known.MEASURED
        note += "" if known else ", with a lower bound in the place of inf f"
    advice = (
        f"{assumption!r} fails on {problem.name}: an inequality is exceeded by {worst:.3g} "
        "of the size of its terms. Take other constants, or leave the assumption out."
    )
    return Verdict(name, max(worst, 0.0), limit, note, advice, known=evidence)


def _pairs(problem: Any, seed: int) -> tuple[Points, Points]:
    """Return pairs of points along gradient descent and around it; (1, d, R) each."""
    generator = np.random.default_rng(seed)
    x, *others = sample_points(problem, seed)
    path = [x]
    for _ in range(_STEPS):
        path.append(path[-1] - whole_gradient(problem, path[-1]) / problem.constants.L_f)
    starts = np.concatenate([*path, *others], axis=2)
    ends = [
        starts + scale * generator.standard_normal(starts.shape) / np.sqrt(problem.d)
        for scale in _SCALES
    ]
    later = np.roll(starts, 1, axis=2)
    return np.concatenate([starts] * (len(_SCALES) + 1), axis=2), np.concatenate([later, *ends], 2)
