"""The semidefinite programme of a search, solved in floating point; its result proves nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from certibit.data.errors import Refusal
from certibit.theory.certificates.coordinates import Coordinates, symmetric
from certibit.theory.cones.triangles import triangle
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.symbolic.frames import Matrix
from certibit.theory.worlds.symbolic.interpolation import Form, weighted_sum

SMALL = 1e-6
"""Size of the fixed part of a programme below which the solver's tolerances are too coarse."""


@dataclass(frozen=True)
class SolverResult:
    """The result of a solver.

    Attributes
    ----------
    value : float
        The largest t.
    multipliers : (K,)
        How often each form is added.
    """

    value: float
    multipliers: Matrix


def maximise(
    fixed: Form,
    gain: Form,
    forms: Sequence[Form],
    coordinates: Coordinates,
    *,
    lower: Matrix | None = None,
) -> SolverResult:
    """Maximise t such that fixed + t gain + sum_k y_k forms_k <= 0 for all unknowns, y >= lower.

    Where ``fixed`` is small, as for tiny step sizes, the solver gets a multiple of size 1.

    Parameters
    ----------
    lower : (K,), optional
        By default 0; minus infinity for no bound.

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
    count = len(forms)
    scales = np.ones(count + 1)
    for place in range(count + 1):
        entries = [m[place + 1] for m in blocks] + [values[:, place + 1]]
        scales[place] = max(np.abs(x).max(initial=0.0) for x in entries) or 1.0
    lower = np.zeros(count) if lower is None else lower
    bounded = np.flatnonzero(np.isfinite(lower))
    rows = [values[:, 1:] / scales, -np.eye(count + 1)[1 + bounded]]
    right = [-values[:, 0], -(lower * scales[1:])[bounded]]
    for matrices in blocks:
        vectors = triangle(matrices).T
        rows.append(vectors[:, 1:] / scales)
        right.append(-vectors[:, 0])
    sizes = [len(matrices[0]) for matrices in blocks]
    fixed_size = max((float(np.abs(matrices[0]).max()) for matrices in blocks), default=0.0)
    unit = fixed_size if 0 < fixed_size < SMALL else 1.0
    y = solve_cones(
        np.eye(1, count + 1)[0] * -1.0,
        np.concatenate(rows),
        np.concatenate(right) / unit,
        len(values),
        len(bounded),
        sizes,
    )
    y = unit * y / scales
    return SolverResult(float(y[0]), np.maximum(y[1:], lower))


def solve_cones(
    objective: Matrix, A: Matrix, b: Matrix, equalities: int, count: int, sizes: Sequence[int]
) -> Matrix:
    """Return the y with the least objective . y where b - A y is 0, >= 0, and triangles of >= 0.

    Raises
    ------
    Refusal
        If the solver finds none.
    """
    import clarabel  # noqa: PLC0415  (only where something is searched for)

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
    return np.array(found.x)


def psi(step: SymbolicStep, weights: Sequence[float]) -> tuple[Form, Form]:
    """Return Psi and E[Psi+] for some weights of the terms."""
    return weighted_sum(weights, step.now), weighted_sum(weights, step.after)


def margin_form(step: SymbolicStep, weights: Sequence[float], decrease: float) -> Form:
    """Return E[Psi+] - (1 - decrease) Psi."""
    now, after = psi(step, weights)
    return weighted_sum((1.0, -1.0, decrease), (after, now, now))
