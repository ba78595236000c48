"""Coordinates of the unknowns of a step in which the forms of its programme are of order one."""

from dataclasses import dataclass

import numpy as np

from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.symbolic.frames import Blocks, Matrix
from certibit.theory.worlds.symbolic.interpolation import Form

ROUNDED = 1e-25
"""Relative size of an entry of Psi that is the rounding of 0, a square of 1e-16 and a little."""

SMALLEST_CURVATURE = 1e-9
"""Relative curvature below which a form counts as flat when coordinates are chosen."""

LEAST_CURVATURE = 0.1
"""Relative curvature that is still made 1 in coordinates."""


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
    def of(cls, step: SymbolicStep, psi: Form) -> "Coordinates":
        """Choose states in which Psi is the identity, and gradients as long as their points.

        Where Psi is above 1 at gradients of this length, they are shorter.

        Psi is smaller where it is below a part of the largest, :data:`LEAST_CURVATURE`: longer
        coordinates would cost digits of all that is large in them. The gradient is that of the
        convex function f - (mu/2) |x|^2, in units of L - mu.
        """
        unit = max(float(np.abs(x).max()) for x in (*psi.blocks, psi.values)) or 1.0
        kernels = []
        for block, kernel in enumerate(step.kernels):
            seen = psi.blocks[block] / unit
            steep = seen.copy()
            for one, value in zip(step.evaluations, psi.values / unit, strict=False):
                point = one.point[block]
                steep += value * step.functions.curvature(one.kind)[1] / 2 * np.outer(point, point)
            new = _rows(step, block, np.diag(steep))
            basis, _ = np.linalg.qr(np.linalg.inv(new) @ kernel)
            kernels.append(_whitened(new @ basis, seen) / unit**0.5)
        return cls(tuple(kernels), unit)

    def blocks(self, form: Form) -> Blocks:
        """Return the blocks of a form in these coordinates."""
        pairs = zip(self.kernels, form.blocks, strict=True)
        return tuple(symmetric(kernel.T @ block @ kernel) for kernel, block in pairs)


def _rows(step: SymbolicStep, block: int, curvature: Matrix) -> Matrix:
    """Return the unknowns of a block in new coordinates: errors and gradients by their vectors."""
    visible = curvature > ROUNDED * curvature.max(initial=0.0)
    new = np.diag(1 / np.sqrt(np.where(visible, curvature, 1.0)))
    most = np.where(visible, np.diag(new), np.inf)
    for number, vector in sorted(step.errors, key=lambda one: one[0]):
        new[number, number] = np.linalg.norm(vector[block] @ new) or 1.0
    for one in sorted(step.evaluations, key=lambda one: one.gradient):
        mu, L = step.functions.curvature(one.kind)
        point = one.point[block] @ new
        new[one.gradient] = mu * point
        length = (L - mu) * (float(np.linalg.norm(point)) or 1.0)
        new[one.gradient, one.gradient] += min(length, most[one.gradient])
    return new


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
