"""Constants against eigenvalues of Hessians that are found from gradients alone."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.losses.losses import Logistic
from certibit.data.problem import (
    Constants,
    Problem,
    RelaxedConstants,
    is_strongly_convex,
    smoothness_is_known,
)
from certibit.data.problems.linear_model import LinearModel
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.data.problems.ridge_problem import RidgeProblem
from certibit.solvers.runs.points import whole_gradient
from certibit.theory.checks.problem.gradients import (
    Function,
    Points,
    jacobian_products,
    sample_points,
)
from certibit.theory.verdict import Verdict, largest, searched, worst_of

CURVATURE = 1e-5
"""Error of an eigenvalue found by differences, relative to the largest."""

_DENSE, _WIDTH, _ROUNDS = 40, 4, 6
_FAR = 1e6
_NEAR, _TURN = 1e-6, 1e-3
_ROUNDING = 1e-7
"""Of the smallest eigenvalue, relative to the largest."""


def eigenvalues(grad: Function, x: Points) -> Points:
    """Return the eigenvalues of the Hessians of m functions at a point, (m, d), or a few Ritz ones.

    Up to 40 features the Hessians are whole, beyond they are seen on a subspace that turns to the
    largest eigenvalues: what is found then lies between the true ones.

    Parameters
    ----------
    grad : callable
        Gradients at points (m, d, R).
    x : array (m, d, 1)
    """
    m, d, _ = x.shape
    if d <= _DENSE:
        basis: NDArray[Any] = np.broadcast_to(np.eye(d), (m, d, d))
        products = jacobian_products(grad, x, basis)
    else:
        basis = np.random.default_rng(0).standard_normal((m, d, _WIDTH))
        basis, _ = np.linalg.qr(basis)
        products = jacobian_products(grad, x, basis)
        for _ in range(_ROUNDS):
            basis, _ = np.linalg.qr(products)
            products = jacobian_products(grad, x, basis)
    reduced = np.matrix_transpose(basis) @ products
    symmetric = (reduced + np.matrix_transpose(reduced)) / 2
    return np.asarray(np.linalg.eigvalsh(symmetric), dtype=np.float64)


def _constants_by_eigenvalues(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check mu, L_i and L_f against eigenvalues at the start, at random points and far away.

    Of quadratics and logistic regression they are attained: at the origin, and at infinity. None
    where the constants are of another kind.
    """
    constants, n = problem.constants, problem.n
    if not isinstance(constants, Constants):
        return None
    L_i = np.asarray(constants.L_i)
    largest, smallest, average = np.zeros(n), np.inf, 0.0
    far = np.random.default_rng(seed + 1).standard_normal((1, problem.d, 1))
    points = [*sample_points(problem, seed), _FAR * far]  # there what is no ridge has no curvature
    for x in points:
        own = eigenvalues(problem.grad, np.repeat(x, n, axis=0))
        largest = np.maximum(largest, np.abs(own).max(axis=1))
        smallest = min(smallest, float(own.min()))
        together = eigenvalues(lambda y: np.mean(problem.grad(y), axis=0, keepdims=True), x)
        average = max(average, float(np.abs(together).max()))
    attained = isinstance(problem, RidgeProblem | NonconvexQuadratic)
    if isinstance(problem, LinearModel):
        attained = isinstance(problem.loss, Logistic)
    exact = attained and problem.d <= _DENSE
    above = int(np.argmax(largest / L_i))
    compared = [(f"L_{above + 1} of client {above + 1}", float(L_i[above]), float(largest[above]))]
    compared += [("L_f", constants.L_f, average)]
    if exact:
        below = int(np.argmin(largest / L_i))
        name = f"L_{below + 1} of client {below + 1}"
        compared.append((name, float(L_i[below]), float(largest[below])))
    off = [(found - said) / said for _, said, found in compared]
    compared.append(("mu", constants.mu, smallest))
    apart = constants.mu - smallest
    off.append(np.sign(apart) * max(0.0, abs(apart) - _ROUNDING * constants.L) / abs(constants.mu))
    sizes = np.nan_to_num(np.abs(off) if exact else np.array(off), nan=np.inf)
    worst = int(np.argmax(sizes))
    name, said, found = compared[worst]
    advice = (
        f"{name} is {said:.6g}, but the eigenvalue of the Hessian is {found:.6g}: "
        "look at constants, and at the share of the ridge in each f_i."
    )
    note = "" if exact else "as bounds"
    value, known = float(sizes[worst]), searched(points)
    return Verdict("L_i, L_f, mu and eigenvalues", value, CURVATURE, note, advice, **known)


def _hessian_of_gradient(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check hessian and hessian_product against differences of the gradient.

    Points where the gradient has a kink are left out; None if all have one, or if the problem is
    not strongly convex and has no hessian.
    """
    if not is_strongly_convex(problem):
        return None
    generator = np.random.default_rng(seed)
    off = []
    for x in sample_points(problem, seed, 1):
        v = generator.standard_normal((1, problem.d, 2)) / np.sqrt(problem.d)
        if _has_kink(problem, x, v):
            continue
        products = jacobian_products(partial(whole_gradient, problem), x, v)[0]
        scale = np.max(np.abs(products)) + 1e-300
        for claimed in (problem.hessian(x) @ v[0], problem.hessian_product(x, v)[0]):
            off.append(np.max(np.abs(claimed - products)) / scale)
    if not off:
        return None
    worst = largest(off)
    advice = (
        f"hessian, or hessian_product, is not the derivative of the gradient of f + g (off by "
        f"{worst:.3g}): look at its factors and at the ridge."
    )
    return Verdict("Hessian of the gradient", worst, CURVATURE, advice=advice, **searched(off))


def _has_kink(problem: Problem, x: Points, v: Points) -> bool:
    """Whether the slopes of the gradient on both sides of a point differ, along some vectors."""
    step = _NEAR * (1 + np.max(np.abs(x))) * v
    here, there, back = (whole_gradient(problem, y) for y in (x, x + step, x - step))
    turn = np.max(np.abs(there - 2 * here + back))
    return bool(turn > _TURN * np.max(np.abs(there - back)))


def _relaxed_constants(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check |Hess f_i| <= L0 + L1 |grad f_i| and |grad f_i| <= kappa + rho |grad f| at points.

    None where the constants are of another kind, or not known.
    """
    constants = problem.constants
    if not (isinstance(constants, RelaxedConstants) and smoothness_is_known(problem)):
        return None
    found = []
    for x in sample_points(problem, seed, 4):
        gradients = problem.grad(x)
        sizes = np.linalg.norm(gradients, axis=1)[:, 0]
        allowed = constants.L0 + constants.L1 * sizes
        spectra = eigenvalues(problem.grad, np.repeat(x, problem.n, axis=0))
        for client, hessian in enumerate(np.max(np.abs(spectra), axis=1)):
            bound = allowed[client]
            text = f"of client {client + 1} |Hess| = {hessian:.6g}, L0 + L1 |grad| = {bound:.6g}"
            found.append((hessian / bound - 1, text))
        bound = constants.kappa + constants.rho * np.linalg.norm(np.mean(gradients, axis=0))
        if np.isfinite(bound):
            text = f"|grad f_i| = {max(sizes):.6g} and kappa + rho |grad f| = {bound:.6g}"
            found.append(((max(sizes) - bound) / (bound + max(sizes) + 1e-300), text))
    worst, where = worst_of(found)
    advice = f"A constant is too small: {where}. Look at relaxed."
    return Verdict("L0, L1, kappa and rho", worst, CURVATURE, advice=advice, **searched(found))


PROBLEM_CHECKS = (_relaxed_constants, _constants_by_eigenvalues, _hessian_of_gradient)
