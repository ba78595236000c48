"""The semidefinite programme of a certificate, in coordinates of order one, and its solvers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
import scipy.sparse

from bitbound.data.errors import Refusal
from bitbound.theory.certificates.interpolation import Form, end_of, weighted_sum
from bitbound.theory.certificates.symbolic_step import SymbolicStep
from bitbound.theory.worlds.symbolic.frames import Blocks, Matrix
from bitbound.theory.worlds.symbolic.local_solves import LocalSolve

Solver = Literal["clarabel", "scs"]

LIFTS = 61
"""How many multiples of gradient bounds are tried."""

ROUNDED = 1e-25
"""Relative size of an entry of Psi that is the rounding of 0, a square of 1e-16 and a little."""

SMALLEST_CURVATURE = 1e-9
"""Relative curvature below which a form counts as flat when coordinates are chosen."""

LEAST_CURVATURE = 0.1
"""Relative curvature that is still made 1 in coordinates."""

NEAR = 0.1
"""How far away local solves end, in the farthest that they may."""

SMALLEST_REST = 1e-4
"""The least part of a gradient that local solves are taken to leave in coordinates."""

SMALLEST_LEVEL = 1e-14
"""Relative size of an entry of a diagonal that is still made 1."""

SMALL = 1e-6
"""Size of the fixed part of a programme below which the solver's tolerances are too coarse."""


@dataclass(frozen=True)
class SolverResult:
    """What a solver gives back.

    Attributes
    ----------
    value : float
        The largest t.
    multipliers : (K,)
        How often each form is added.
    dual : (k, k) matrices
        The Gram matrices of a worst case, in coordinates: of the part that all clients share, and
        of the parts of zero sum of every kind together.
    residual, gap : float
        The solver's residual and its duality gap.
    """

    value: float
    multipliers: Matrix
    dual: Blocks
    residual: float
    gap: float


@dataclass(frozen=True)
class Coordinates:
    """Coordinates in which forms are of order one.

    Attributes
    ----------
    kernels : (basis, k) matrices
        Bases of what the unknowns of each block can be.
    unit : float
        What values of functions are measured in: the largest coefficient of Psi.
    """

    kernels: Blocks
    unit: float

    @classmethod
    def of(
        cls,
        step: SymbolicStep,
        psi: Form,
        centre: float = 0.0,
        least: float = LEAST_CURVATURE,
    ) -> "Coordinates":
        """Choose states in which Psi is the identity, and gradients as long as their points.

        Psi is smaller where it is below its ``least`` part of the largest: longer coordinates would
        cost digits of all that is large in them. Gradients are measured from those at the nearest
        point that is known already, or the solution.

        Where Psi has gradients, that is the identity from which what is known of them is taken.
        The gradient is that of f - (c/2) |x|^2, c = mu + centre (L - mu), in units of L - c: with
        centre 0 that of a convex function, with 1/2 no longer than the point. Where Psi is above 1
        at gradients of this length, they are shorter. Where local solves end, the gradient is
        measured from where that of their sum is 0, in units of the most that they leave: it is far
        smaller than the point.
        """
        unit = max(float(np.abs(x).max()) for x in (*psi.blocks, psi.values)) or 1.0
        psi = _lifted(step, psi)
        kernels, functions, psi = [], step.functions, psi * (1 / unit)
        solves = {end_of(one, step.evaluations).gradient: one for one in step.solves}
        for block, kernel in enumerate(step.kernels):
            seen = psi.blocks[block].copy()
            steep = seen.copy()
            for evaluation, value in zip(step.evaluations, psi.values, strict=False):
                point = evaluation.point[block]
                steep += (
                    value * functions.curvature(evaluation.kind)[1] / 2 * np.outer(point, point)
                )
            diagonal = np.diag(steep)
            seen_at_all = diagonal > ROUNDED * diagonal.max(initial=0.0)
            scale = 1 / np.sqrt(np.where(seen_at_all, diagonal, 1.0))
            new = np.diag(scale)
            if block == 0:  # where all evaluate at one point, it is as long as there
                shared = scale
            elif block == 1:
                shared = shared * functions.n**0.5
            known: list[tuple[int, Matrix, Matrix, Matrix]] = []
            for evaluation in step.evaluations:
                number = evaluation.gradient
                mu, L = functions.curvature(evaluation.kind)
                if number in solves:
                    _solve(new, solves[number], block, number, mu, L)
                    continue
                pulled = evaluation.point[block] @ new
                at = evaluation.point[0] * shared
                near = [(0 * pulled, 0 * at, 0 * pulled)]
                near += [(a, b, c) for kind, a, b, c in known if kind == evaluation.kind]
                start, place, gradient = min(near, key=lambda one: np.linalg.norm(at - one[1]))
                length = np.linalg.norm(pulled - start) or np.linalg.norm(at - place)
                reach = (L - mu) * (length or 1.0)
                own = min(1.0, scale[number] / reach) if seen_at_all[number] else 1.0
                new[number] = gradient + (mu + own * centre * (L - mu)) * (pulled - start)
                new[number, number] += own * (1 - centre) * reach
                known.append((evaluation.kind, pulled, at, new[number].copy()))
            for number, vector in step.errors:
                new[number, number] = np.linalg.norm(vector[block] @ new) or 1.0
            basis, _ = np.linalg.qr(np.linalg.inv(new) @ kernel)
            kernels.append(_whitened(new @ basis, seen, least) / unit**0.5)
        return cls(tuple(kernels), unit)

    def blocks(self, form: Form) -> Blocks:
        """Return the blocks of a form in these coordinates."""
        pairs = zip(self.kernels, form.blocks, strict=True)
        return tuple(_symmetric(kernel.T @ block @ kernel) for kernel, block in pairs)

    def levelled(self, form: Form) -> "Coordinates":
        """Return the same axes, as long as makes the diagonal of a form 1 in size."""
        kernels = []
        for kernel, block in zip(self.kernels, self.blocks(form), strict=True):
            sizes = np.abs(np.diag(block))
            largest = float(sizes.max(initial=0.0)) or 1.0
            kernels.append(kernel / np.sqrt(np.maximum(sizes, SMALLEST_LEVEL * largest)))
        return replace(self, kernels=tuple(kernels))


def _solve(new: Matrix, solve: LocalSolve, block: int, gradient: int, mu: float, L: float) -> None:
    """Choose the coordinates of where a local solve ends, and of the gradient there."""
    share, _ = solve.function(gradient)
    way = solve.way(gradient, mu)[block] @ new
    new[solve.place, solve.place] = NEAR * np.linalg.norm(way) or 1.0
    exact = -solve.after[block] / share
    exact[gradient] = 0.0
    before = solve.before[block] + solve.before[block][gradient] * exact
    before[gradient] = 0.0
    rest = max(float(solve.ratio(gradient, mu, L)) ** 0.5, SMALLEST_REST)
    new[gradient] = exact @ new
    new[gradient, gradient] = rest * np.linalg.norm(before @ new) / share or 1.0


def gradient_bounds(step: SymbolicStep, psi: Form) -> list[Form]:
    """Return what is at least 0 of the gradients that a form has and of their points."""
    found = []
    for place, one in enumerate(step.evaluations):
        if any(block[one.gradient].any() for block in psi.blocks):
            ends = f"point {place}", "solution"
            pair = (step.inequalities[f"{one.function}: {a} to {b}"] for a, b in (ends, ends[::-1]))
            found.append(next(pair) + next(pair))
    return found


def seen_part(kernel: Matrix, forms: Sequence[Matrix]) -> Matrix:
    """Return a basis of what a kernel spans of the unknowns of forms, as long as it is there."""
    places = np.any([np.any(m, axis=1) for m in forms], axis=0)
    left, sizes, _ = np.linalg.svd(kernel[places], full_matrices=False)
    kept = sizes > SMALLEST_CURVATURE * sizes.max(initial=0.0)
    basis = np.zeros((len(kernel), int(kept.sum())))
    basis[places] = left[:, kept] * sizes[kept]
    return basis


def _lifted(step: SymbolicStep, psi: Form) -> Form:
    """Take from a form the multiple of its gradient bounds with the largest determinant left.

    |grad f|^2 sees the point, too, since it is not 0 elsewhere than at the solution.
    """
    bounds = gradient_bounds(step, psi)
    if not bounds:
        return psi
    bound = weighted_sum((1.0,) * len(bounds), bounds)
    size = np.abs(psi.blocks[0]).max() / np.abs(bound.blocks[0]).max()
    multiples = size * np.geomspace(1e-12, 1e3, LIFTS)
    volumes = np.zeros(LIFTS)
    for kernel, form, taken in zip(step.kernels, psi.blocks, bound.blocks, strict=True):
        basis = seen_part(kernel, (form, taken))
        if basis.shape[1]:
            own, most = (basis.T @ m @ basis for m in (form, taken))
            left = own - multiples[:, None, None] * most
            positive = np.linalg.eigvalsh(left)[:, 0] > 0
            volumes += np.where(positive, np.linalg.slogdet(left)[1], -np.inf)
    best = int(np.argmax(volumes))
    return psi + bound * -multiples[best] if np.isfinite(volumes[best]) else psi


def _whitened(kernel: Matrix, seen: Matrix, least: float) -> Matrix:
    """Return a basis of the same space in which a form is the identity, where it is not small."""
    if not kernel.shape[1]:
        return kernel
    values, vectors = np.linalg.eigh(_symmetric(kernel.T @ seen @ kernel))
    positive = values > SMALLEST_CURVATURE * values[-1]
    steep = np.maximum(values, least * values[-1])
    whitened: Matrix = kernel @ vectors / np.sqrt(np.where(positive, steep, 1.0))
    return whitened


def _symmetric(matrix: Matrix) -> Matrix:
    return (matrix + np.matrix_transpose(matrix)) / 2


def maximise(
    fixed: Form,
    gain: Form,
    forms: Sequence[Form],
    coordinates: Coordinates,
    *,
    lower: Matrix | None = None,
    normal: Matrix | None = None,
    above: Sequence[tuple[Matrix, Matrix]] = (),
    margin: bool = False,
    solver: Solver = "clarabel",
) -> SolverResult:
    """Maximise t such that fixed + t gain + sum_k y_k forms_k <= 0 for all unknowns, y >= lower.

    Where ``fixed`` is small, as for tiny step sizes, the solver gets a multiple of size 1.

    Parameters
    ----------
    lower : (K,), optional
        By default 0; minus infinity for no bound.
    normal : (K,), optional
        Also normal . y = 1.
    above : sequence of pairs of arrays
        Also sum_k y_k M_k >= M as symmetric matrices, of the M_k, (K, k, k), and M, (k, k).
    margin : bool
        Take the squared length of the coordinates in the place of ``gain``.

    Raises
    ------
    Refusal
        If the solver finds no solution.
    """
    everything = [fixed, gain, *forms]
    kept = [
        block for block in range(len(coordinates.kernels)) if coordinates.kernels[block].shape[1]
    ]
    blocks = [
        _symmetric(kernel.T @ np.array([form.blocks[block] for form in everything]) @ kernel)
        for block, kernel in ((block, coordinates.kernels[block]) for block in kept)
    ]
    values = np.array([form.values for form in everything]).T / coordinates.unit
    values = values[np.any(values != 0, axis=1)]
    if margin:
        for matrices in blocks:
            matrices[1] = np.eye(len(matrices[1]))
        values[:, 1] = 0.0
    count = len(forms)
    scales = np.ones(count + 1)
    for place in range(count + 1):
        entries = [m[place + 1] for m in blocks] + [values[:, place + 1]]
        entries += [shapes[place - 1] for shapes, _ in above if place]
        scales[place] = max(np.abs(x).max(initial=0.0) for x in entries) or 1.0
    lower = np.zeros(count) if lower is None else lower
    rows = [values[:, 1:] / scales]
    right = [-values[:, 0]]
    equalities = len(values)
    if normal is not None:
        rows.append(np.concatenate([[0.0], normal / scales[1:]])[None, :])
        right.append(np.ones(1))
        equalities += 1
    bounded = np.flatnonzero(np.isfinite(lower))
    rows.append(-np.eye(count + 1)[1 + bounded])
    right.append(-(lower * scales[1:])[bounded])
    for matrices in blocks:
        vectors = _triangle(matrices, solver).T
        rows.append(vectors[:, 1:] / scales)
        right.append(-vectors[:, 0])
    for shapes, least in above:
        vectors = _triangle(shapes, solver).T
        rows.append(np.concatenate([np.zeros((len(vectors), 1)), -vectors / scales[1:]], axis=1))
        right.append(-_triangle(least, solver))
    sizes = [len(matrices[0]) for matrices in blocks]
    fixed_size = max((float(np.abs(matrices[0]).max()) for matrices in blocks), default=0.0)
    unit = fixed_size if 0 < fixed_size < SMALL else 1.0
    y, dual, residual, gap = _SOLVERS[solver](
        np.eye(1, count + 1)[0] * -1.0,
        np.concatenate(rows),
        np.concatenate(right) / unit,
        equalities,
        len(bounded),
        [*sizes, *(len(least) for _, least in above)],
    )
    y = unit * y / scales
    grams = [np.zeros((kernel.shape[1],) * 2) for kernel in coordinates.kernels]
    end = equalities + len(bounded)
    for block, size in zip(kept, sizes, strict=True):
        begin, end = end, end + size * (size + 1) // 2
        grams[block] = _square(dual[begin:end], size, solver)
    return SolverResult(float(y[0]), np.maximum(y[1:], lower), tuple(grams), residual, gap)


def _triangle(matrix: Matrix, solver: Solver) -> Matrix:
    """Return a triangle of symmetric matrices, (..., k, k), as vectors of the same length."""
    rows, columns = _places(matrix.shape[-1], solver)
    triangle: Matrix = matrix[..., rows, columns] * np.where(rows == columns, 1.0, 2**0.5)
    return triangle


def _square(triangle: Matrix, size: int, solver: Solver) -> Matrix:
    """Return the symmetric matrix of a triangle."""
    rows, columns = _places(size, solver)
    matrix = np.zeros((size, size))
    matrix[rows, columns] = triangle / np.where(rows == columns, 1.0, 2**0.5)
    matrix[columns, rows] = matrix[rows, columns]
    return matrix


def _places(size: int, solver: Solver) -> tuple[Any, Any]:
    """Return rows and columns of the entries of a triangle, in the order of a solver."""
    if solver == "scs":
        return np.triu_indices(size)
    columns, rows = np.tril_indices(size)
    return rows, columns


def _clarabel(
    objective: Matrix, A: Matrix, b: Matrix, equalities: int, count: int, sizes: Sequence[int]
) -> tuple[Matrix, Matrix, float, float]:
    clarabel = require_solver("clarabel")
    cones = [clarabel.ZeroConeT(equalities), clarabel.NonnegativeConeT(count)]
    cones += [clarabel.PSDTriangleConeT(size) for size in sizes]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.tol_infeas_abs = settings.tol_infeas_rel = 1e-12
    k = len(objective)
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix((k, k)), objective, scipy.sparse.csc_matrix(A), b, cones, settings
    )
    try:
        found = solver.solve()
    except BaseException as panic:  # what the solver's own language throws is no Exception
        if type(panic).__name__ != "PanicException":
            raise
        raise Refusal(f"the solver fails for these parameters ({panic})") from None
    status = str(found.status)
    residual = float(max(found.r_prim, found.r_dual))
    gap = abs(float(found.obj_val - found.obj_val_dual))
    near = residual <= 1e-6 and gap <= 1e-3 * abs(float(found.obj_val))
    if status not in {"Solved", "AlmostSolved"} and not near:
        raise Refusal(f"the solver finds no certificate for these parameters ({status})")
    return np.array(found.x), np.array(found.z), residual, gap


def _scs(
    objective: Matrix, A: Matrix, b: Matrix, equalities: int, count: int, sizes: Sequence[int]
) -> tuple[Matrix, Matrix, float, float]:
    scs = require_solver("scs")
    data = {"A": scipy.sparse.csc_matrix(A), "b": b, "c": objective}
    cone = {"z": equalities, "l": count, "s": list(sizes)}
    settings = {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 200_000, "verbose": False}
    found = scs.SCS(data, cone, **settings).solve()
    if found["info"]["status_val"] not in {1, 2}:
        raise Refusal(
            f"no certificate exists for these parameters (solver: {found['info']['status']})"
        )
    info = found["info"]
    residual = float(max(info["res_pri"], info["res_dual"]))
    return found["x"], found["y"], residual, abs(float(info["gap"]))


_SOLVERS = {"clarabel": _clarabel, "scs": _scs}


def require_solver(name: Solver = "clarabel") -> Any:
    """Import a solver, or refuse and say how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise Refusal(f"{name} is not installed; pip install {name}") from None


def psi(
    step: SymbolicStep, weights: Sequence[float], following: Sequence[float] | None = None
) -> tuple[Form, Form]:
    """Return Psi and E[Psi+] for some weights of the terms; those of Psi+ may be others."""
    after = weights if following is None else following
    return weighted_sum(weights, step.now), weighted_sum(after, step.after)
