"""Coordinates of the unknowns of a step in which the forms of its programme are of order one."""

from dataclasses import dataclass

import numpy as np

from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.symbolic.frames import Blocks, Matrix
from certibit.theory.worlds.symbolic.interpolation import Form, end_of
from certibit.theory.worlds.symbolic.local_solves import LocalSolve

ROUNDED = 1e-25
"""Relative size of an entry of Psi that is the rounding of 0, a square of 1e-16 and a little."""

SMALLEST_CURVATURE = 1e-9
"""Relative curvature below which a form counts as flat when coordinates are chosen."""

LEAST_CURVATURE = 0.1
"""Relative curvature that is still made 1 in coordinates."""

SMALLEST_LEVEL = 1e-14
"""Relative size of an entry of a diagonal that is still made 1."""


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
    ) -> "Coordinates":
        """Choose states in which Psi is the identity, and gradients as long as their points.

        Psi is smaller where it is below a part of the largest, :data:`LEAST_CURVATURE`: longer
        coordinates would cost digits of all that is large in them. Gradients are measured from
        those at the nearest point that is known already, or the solution.

        The gradient is that of the convex function f - (mu/2) |x|^2, in units of L - mu. Where Psi
        is above 1 at gradients of this length, they are shorter. Where local steps end, it is what
        they have left of the gradient that is as long as they allow.
        """
        unit = max(float(np.abs(x).max()) for x in (*psi.blocks, psi.values)) or 1.0
        kernels, functions, psi = [], step.functions, psi * (1 / unit)
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
            if block == 0:  # where all evaluate at one point, it is as long as there
                shared = scale
            elif block == 1:
                shared = shared * functions.n**0.5
            most = np.where(seen_at_all, scale, np.inf)
            new = _rows(step, block, scale, most, shared)
            basis, _ = np.linalg.qr(np.linalg.inv(new) @ kernel)
            kernels.append(_whitened(new @ basis, seen) / unit**0.5)
        return cls(tuple(kernels), unit)

    def blocks(self, form: Form) -> Blocks:
        """Return the blocks of a form in these coordinates."""
        pairs = zip(self.kernels, form.blocks, strict=True)
        return tuple(symmetric(kernel.T @ block @ kernel) for kernel, block in pairs)


def _rows(step: SymbolicStep, block: int, scale: Matrix, most: Matrix, shared: Matrix) -> Matrix:
    """Return the unknowns of a block in new coordinates, each by those that were met before.

    Those of the state are as long as ``scale``; gradients are not longer than ``most``. Points are
    near each other by what is ``shared``.
    """
    new, functions = np.diag(scale), step.functions
    gradients = {one.gradient: one for one in step.evaluations}
    lengths, ends = dict(step.errors), {}
    for solve in step.solves:
        end = end_of(solve, step.evaluations)
        ends[end.gradient] = solve
        lengths[solve.place] = solve.way(end.gradient, *functions.curvature(solve.kind))
    known: list[tuple[int, Matrix, Matrix, Matrix]] = []
    for number in sorted({*lengths, *gradients}):
        if number in lengths:
            new[number, number] = np.linalg.norm(lengths[number][block] @ new) or 1.0
            continue
        evaluation = gradients[number]
        mu, L = functions.curvature(evaluation.kind)
        pulled, at = evaluation.point[block] @ new, evaluation.point[0] * shared
        if number in ends and ends[number].after[block][number]:
            new[number] = _at_end(ends[number], number, block, new, (mu, L))
        else:
            near = [(0 * pulled, 0 * at, 0 * pulled)]
            near += [(a, b, c) for kind, a, b, c in known if kind == evaluation.kind]
            start, place, gradient = min(near, key=lambda one: np.linalg.norm(at - one[1]))
            length = np.linalg.norm(pulled - start) or np.linalg.norm(at - place)
            reach = (L - mu) * (length or 1.0)
            own = min(1.0, most[number] / reach)
            new[number] = gradient + mu * (pulled - start)
            new[number, number] += own * reach
        known.append((evaluation.kind, pulled, at, new[number].copy()))
    return new


def _at_end(
    solve: LocalSolve, number: int, block: int, new: Matrix, curvature: tuple[float, float]
) -> Matrix:
    """Return the gradient where local steps end, by what is left of that which they shorten."""
    before, after = solve.before[block], solve.after[block]
    share, ratio = after[number], solve.ratio(number, *curvature)
    others = after - share * np.eye(len(after))[number]
    length = float(np.linalg.norm((before - before[number] / share * after) @ new)) or 1.0
    row: Matrix = -others @ new
    row[number] += max(ratio, SMALLEST_LEVEL) ** 0.5 * length
    return row / share


def _whitened(kernel: Matrix, seen: Matrix) -> Matrix:
    """Return a basis of the same space in which a form is the identity, where it is not small."""
    if not kernel.shape[1]:
        return kernel
    values, vectors = np.linalg.eigh(symmetric(kernel.T @ seen @ kernel))
    positive = values > SMALLEST_CURVATURE * values[-1]
    steep = np.maximum(values, LEAST_CURVATURE * values[-1])
    whitened: Matrix = kernel @ vectors / np.sqrt(np.where(positive, steep, 1.0))
    return whitened


def symmetric(matrix: Matrix) -> Matrix:
    """Return the symmetric part of matrices."""
    return (matrix + np.matrix_transpose(matrix)) / 2
