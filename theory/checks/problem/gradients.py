"""Gradients against values, the solution against its gradient, the gap against both.

Also the bounds of a loss against its own functions, near and far; and views of a problem, some of
its clients and several points at once, against the whole. Derivatives are by differences of order
eight, with an estimate of their own error.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.losses.base import Loss
from certibit.data.problem import Problem, is_strongly_convex
from certibit.solvers.runs.points import whole_gradient
from certibit.theory.verdict import Verdict, largest, searched, worst_of

_WIDER = 1.5
"""A bound that is more than so many times what is reached is none of the loss."""

_ROUNDING = 1e-9
_FAR = np.geomspace(1e-9, 1e9, 4001)
_AROUND = np.concatenate([-_FAR, [0.0], _FAR])
_TARGETS = 9


def _bounds_attained(problem: Problem, _seed: int = 0) -> Verdict | None:
    """Check that bounds of slopes and curvatures are the largest ones seen, or not far above them.

    None for a problem without a loss.
    """
    whole: Any = problem
    loss = getattr(problem, "loss", None)
    if not isinstance(loss, Loss):
        return None
    b = np.asarray(getattr(whole, "targets", [-1.0, 1.0]))
    b = np.quantile(b, np.linspace(0, 1, _TARGETS), method="nearest")[:, None]
    z = np.concatenate([b + _AROUND, 0 * b + _AROUND], axis=1)
    curvature = loss.curvature(z, b + 0 * z)
    found = []
    for name, bound, sizes in (
        ("smoothness", loss.smoothness, np.abs(curvature)),
        ("weak_convexity", loss.weak_convexity, -curvature),
        ("steepness", loss.steepness, np.abs(loss.slope(z, b + 0 * z))),
    ):
        if 0 < bound < np.inf:
            seen = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
            said = f"{name} of the loss {loss.name} is {bound:.6g}, and {seen:.6g} is the largest"
            ratio = bound / seen if 0 < seen <= bound * (1 + _ROUNDING) else np.inf
            found.append((ratio, f"{said} that is seen: give the least bound"))
    worst, advice = worst_of(found)
    return Verdict("bounds of the loss", worst, _WIDER, advice=f"{advice}.", **searched(found))


def _refused_together(problem: Problem, _seed: int = 0) -> Verdict | None:
    """Check that predictions and targets that a loss refuses alone are refused among others."""
    loss: Any = getattr(problem, "loss", None)
    if not isinstance(loss, Loss):
        return None
    both = np.array([-_FAR[-1], _FAR[-1]])
    wrong = [
        ask.__name__
        for ask in (loss.accepts, loss.holds_at)
        if bool(ask(both)) != any(bool(ask(both[i : i + 1])) for i in range(2))
    ]
    advice = f"{' and '.join(wrong)} of the loss {loss.name} answers for one number only."
    return Verdict("refusals of the loss", float(len(wrong)), 0.0, advice=advice, **searched(both))


_EXACT = 1e-9
_CLIENTS = 8


def _clients_apart(problem: Problem, seed: int = 0) -> Verdict:
    """Check that each client's gradient is that at its own point.

    All clients at points of their own, in one and in several runs, against each client's gradient
    at a shared point.
    """
    generator = np.random.default_rng(seed)
    n, d = problem.n, problem.d
    chosen = np.unique([0, n - 1, *generator.integers(n, size=_CLIENTS)])
    points = generator.standard_normal((n, d, 2))
    together = problem.grad(points)
    scale = float(np.max(np.abs(together))) + 1e-300
    found = []
    for run in range(2):
        right = together[chosen, :, run]
        shared = np.moveaxis(points[chosen, :, run], 0, 1)[None]
        alone = problem.grad(shared)[chosen, :, np.arange(len(chosen))]
        single = problem.grad(points[:, :, run : run + 1])[chosen, :, 0]
        off = np.maximum(np.abs(alone - right), np.abs(single - right)).max(axis=1)
        found += [(x, f"client {client + 1} of {n}") for client, x in zip(chosen, off, strict=True)]
    worst, where = worst_of(found)
    advice = (
        f"The gradient of {where} depends on whether it is asked for alone or with others (off by "
        f"{worst:.3g}): look at grad for points (n, d, R) and (1, d, R)."
    )
    value = worst / scale
    return Verdict("clients alone and together", value, _EXACT, advice=advice, **searched(found))


def _views_agree(problem: Problem, seed: int = 0) -> Verdict:
    """Check that the plain and the composite view are one problem, and that the plain has no g."""
    x = np.random.default_rng(seed).standard_normal((1, problem.d, 2))
    plain = problem.plain
    views = [("plain", plain), ("given", problem)]
    with suppress(Refusal):
        views.append(("composite", problem.composite))
    value, gradient, gap = plain.value(x), whole_gradient(plain, x), plain.gap(x)
    scale = float(np.max(np.abs(gradient)) + np.max(np.abs(value))) + 1e-300
    apart = [("g of the plain", plain.grad_g(x))]
    for name, view in views:
        apart += [
            (f"the value of the {name}", view.value(x) - value),
            (f"the gap of the {name}", view.gap(x) - gap),
            (f"the gradient of f + g of the {name}", whole_gradient(view, x) - gradient),
        ]
        if is_strongly_convex(view):
            g = view.constants.ridge * x
            apart.append((f"the modulus of g of the {name}", view.grad_g(x) - g))
            apart.append((f"a client of the {name}", view.grad(x) + g - plain.grad(x)))
    worst, where = worst_of((np.max(np.abs(off)), name) for name, off in apart)
    advice = (
        f"The views are not one problem: {where} view is off by {worst:.3g}. Look at what moves "
        "the ridge between the f_i and g."
    )
    return Verdict("views", worst / scale, _EXACT, advice=advice, **searched(apart))


def _starts_as_told(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check that a problem starts where it is told to; None if it cannot be told."""
    if not hasattr(problem, "started_at"):
        return None
    x = np.random.default_rng(seed).standard_normal(problem.d)
    off = float(np.max(np.abs(np.ravel(problem.started_at(x).x_0) - x)))
    return Verdict("starts where it is told to", off, 0.0, advice="Look at started_at and x_0.")


Points = NDArray[np.float64]
Function = Callable[[Points], Points]
"""Of points (m, d, R) to values with the runs on the last axis."""

_OFFSETS = np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
_WEIGHTS = np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / 840
_STEPS = 10.0 ** -np.arange(8.0)
"""Relative to 1 + the largest number of the point."""


def derivative(
    function: Function, x: Points, direction: Points, precision: float = 0.0
) -> tuple[Points, Points]:
    """Return the derivative of a function at a point along a direction, and its likely error.

    Of several steps the one is taken whose difference is nearest to that of the step before: it
    balances rounding and curvature, whatever the units of the function are.

    Parameters
    ----------
    function : callable
        Of points (m, d, R), to an array with R as its last axis.
    x, direction : arrays (m, d, 1)
        The point, and a vector of length about 1.
    precision : float
        Relative rounding error of the values, where it is more than that of 64 bits.

    Returns
    -------
    slope, error : arrays
        Without the last axis of the function's values; the error is absolute, one of each vector.
    """
    steps = _STEPS * (1 + np.max(np.abs(x)))
    places = x + direction * np.outer(steps, _OFFSETS).ravel()
    with np.errstate(all="ignore"):
        values = function(places)
        values = values.reshape(*values.shape[:-1], steps.size, _OFFSETS.size)
        slopes = (values @ _WEIGHTS) / steps
        errors = np.abs(np.diff(slopes, axis=-1))
        errors += precision * np.max(np.abs(values), axis=(-2, -1))[..., None] / steps[1:]
    errors = np.where(np.isfinite(errors), errors, np.inf)
    if errors.ndim > 1:  # one step for all entries of a vector: two may agree by chance
        errors = np.max(errors, axis=-2, keepdims=True)
    best = np.argmin(errors, axis=-1, keepdims=True)
    slope = np.take_along_axis(slopes, best + 1, axis=-1)[..., 0]
    return slope, np.take_along_axis(errors, best, axis=-1)[..., 0]


def jacobian_products(grad: Function, x: Points, vectors: Points) -> Points:
    """Return the products of every client's Hessian at x, (m, d, 1), with vectors, (m, d, K)."""
    columns = range(vectors.shape[2])
    slopes = [derivative(grad, x, vectors[:, :, column, None])[0] for column in columns]
    return np.stack(slopes, axis=2)


DIFFERENCES = 1e-6
"""Allowed distance of a gradient from a difference of values, relative to the gradients."""

_DIRECTIONS, _NEAR = 3, 1e-3
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)


def sample_points(problem: Problem, seed: int, count: int = 2) -> list[Points]:
    """Return the start of the runs, random points around it, and x*, (1, d, 1) each."""
    generator = np.random.default_rng(seed)
    start, star = np.asarray(problem.x_0)[:, :, :1], np.asarray(problem.x_star)[:, :, :1]
    points = [start + generator.standard_normal(start.shape) for _ in range(count)]
    return [start, *points, *([star] if np.all(np.isfinite(star)) else [])]


def _gradient_of_value(problem: Problem, seed: int = 0) -> Verdict:
    """Check the gradient of f + g against differences of its value, along some directions."""
    generator = np.random.default_rng(seed)
    found, likely, precision = [], 0.0, getattr(problem, "precision", 0.0)
    start, *_ = points = sample_points(problem, seed)
    for x in points:
        gradient, scale = whole_gradient(problem, x), _scale(problem, x, start)
        for number in range(_DIRECTIONS):
            direction = _direction(problem.d, number, generator)
            found_slope = derivative(problem.value, x, direction, precision)
            slope, error = (float(part) for part in found_slope)
            claimed = float(np.vdot(gradient, direction))
            off = max(0.0, abs(claimed - slope) - 10 * error) / scale
            found.append((off, f"{claimed:.6g} along a direction where the value has {slope:.6g}"))
            likely = max(likely, error / scale)
    worst, where = worst_of(found)
    advice = (
        f"The mean of the clients' gradients, with that of g, is not the slope of value: {where}. "
        "Look at grad and value: a factor such as 1/n or 1/m, a sign, the ridge."
    )
    note = f"differences good to {likely:.0e}"
    return Verdict("gradient of the value", worst, DIFFERENCES, note, advice, **searched(found))


def _direction(d: int, number: int, generator: np.random.Generator) -> Points:
    """Return a coordinate of R^d first, then random directions; (1, d, 1), of length 1."""
    random = generator.standard_normal(d)
    direction = random if number else np.eye(d)[generator.integers(d)]
    return (direction / np.linalg.norm(direction))[None, :, None]


def _scale(problem: Problem, *points: Points) -> float:
    """Return the mean size of the clients' gradients, and of that of g, summed over points."""
    sizes = [
        np.mean(np.linalg.norm(problem.grad(x), axis=1)) + np.linalg.norm(problem.grad_g(x))
        for x in points
    ]
    return float(sum(sizes)) + 1e-300


def _solution_by_gradient(problem: Problem, _seed: int = 0) -> Verdict | None:
    """Check that the gradient vanishes at x_star; None where the infimum is not attained."""
    x_star = np.asarray(problem.x_star)[:, :, :1]
    if not np.all(np.isfinite(x_star)):
        return None
    size = float(np.linalg.norm(whole_gradient(problem, x_star)))
    start = np.asarray(problem.x_0)[:, :, :1]
    scale = _scale(problem, x_star, start)
    advice = (
        f"The gradient at x_star has the norm {size:.3g}, and should be 0: x_star is not the "
        "minimiser. Look at how it is computed, or at the ridge in grad."
    )
    limit = DIFFERENCES / 10
    return Verdict("gradient at x*", size / scale, limit, advice=advice, **searched([size]))


def _stated_gradients(problem: Problem, _seed: int = 0) -> Verdict | None:
    """Check grad_star and f_star at x_star; None where the infimum is not attained."""
    x_star = np.asarray(problem.x_star)[:, :, :1]
    if not np.all(np.isfinite(x_star)):
        return None
    off = np.max(np.abs(np.asarray(problem.grad_star)[:, :, :1] - problem.grad(x_star)))
    value = float(problem.value(x_star)[0])
    size = _scale(problem, x_star, np.asarray(problem.x_0)[:, :, :1])
    worst = largest((off / size, abs(problem.f_star - value) / (1 + abs(value))))
    advice = (
        f"grad_star is not grad(x_star), off by {off:.3g}, or f_star = {problem.f_star:.6g} is not "
        f"value(x_star) = {value:.6g}: look at these two."
    )
    return Verdict("grad_star and f_star", worst, 1e-9, advice=advice, **searched([value]))


def _gap_of_value(problem: Problem, seed: int = 0) -> Verdict:
    """Check the gap against value - f_star, and near x* against the gradients on the way there."""
    found, f_star = [], problem.f_star
    for x in sample_points(problem, seed):
        gap, value = float(problem.gap(x)[0]), float(problem.value(x)[0])
        off = abs(gap - (value - f_star)) / (abs(value) + abs(f_star) + 1e-300)
        found.append((off, f"it is {gap:.6g} where value - f_star is {value - f_star:.6g}"))
    x_star = np.asarray(problem.x_star)[:, :, :1]
    if np.all(np.isfinite(x_star)):
        step = _NEAR * _direction(problem.d, 1, np.random.default_rng(seed))
        gap, climbed = float(problem.gap(x_star + step)[0]), _climbed(problem, x_star, step)
        rounding = 1e-13 * (1 + abs(f_star)) + 1e-12 * _scale(problem, x_star)
        off = max(0.0, abs(gap - climbed) - rounding) / (abs(climbed) + 1e-300) * _NEAR
        found.append((off, f"near x* it is {gap:.6g}, and the gradients add up to {climbed:.6g}"))
    worst, where = worst_of(found)
    advice = f"gap is not value - f_star: {where}. Look at gap, value and f_star."
    return Verdict("gap of the value", worst, 1e-9, advice=advice, **searched(found))


def _climbed(problem: Problem, x_star: Points, step: Points) -> float:
    """Return the integral of the gradient from x_star to x_star + step."""
    shares = (1 + _NODES) / 2
    slopes = np.sum(whole_gradient(problem, x_star + step * shares) * step, axis=(0, 1))
    return float(np.vdot(_NODE_WEIGHTS, slopes) / 2)


PROBLEM_CHECKS = (
    *(_gradient_of_value, _solution_by_gradient, _stated_gradients, _gap_of_value),
    *(_bounds_attained, _refused_together),
    *(_clients_apart, _views_agree, _starts_as_told),
)
