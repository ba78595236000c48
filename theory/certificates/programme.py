"""The semidefinite programme of a certificate, in coordinates of order one, and its solvers."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import scipy.sparse

from bitbound.data.errors import Refusal
from bitbound.theory.certificates.coordinates import Coordinates, symmetric
from bitbound.theory.certificates.symbolic_step import SymbolicStep
from bitbound.theory.worlds.symbolic.frames import Blocks, Matrix
from bitbound.theory.worlds.symbolic.interpolation import Form, weighted_sum

Solver = Literal["clarabel", "scs"]

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
        The solver's residual, and its duality gap in t.
    """

    value: float
    multipliers: Matrix
    dual: Blocks
    residual: float
    gap: float


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
        symmetric(kernel.T @ np.array([form.blocks[block] for form in everything]) @ kernel)
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
    gap *= unit / scales[0]
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
