"""A solver of semidefinite programmes in floating point; its result proves nothing."""

from collections.abc import Sequence

import numpy as np
import scipy

from certibit.data.errors import Refusal
from certibit.theory.cones.direction_equations import Floats


def solve_cones(
    objective: Floats, A: Floats, b: Floats, equalities: int, count: int, sizes: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return the y with the least objective . y where b - A y is 0, >= 0, and triangles of >= 0.

    The dual point is returned, too.

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
    return np.array(found.x), np.array(found.z)
