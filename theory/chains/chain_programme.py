"""The programme of a chain, solved in floating point; its result proves nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certibit.theory.chains.coordinates import Coordinates, symmetric
from certibit.theory.chains.float_solver import solve_cones
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
    y, _ = solve_cones(
        np.eye(1, count + 1)[0] * -1.0,
        np.concatenate(rows),
        np.concatenate(right) / unit,
        len(values),
        len(bounded),
        sizes,
    )
    y = unit * y / scales
    return SolverResult(float(y[0]), np.maximum(y[1:], lower))


def psi(step: SymbolicStep, weights: Sequence[float]) -> tuple[Form, Form]:
    """Return Psi and E[Psi+] for some weights of the terms."""
    return weighted_sum(weights, step.now), weighted_sum(weights, step.after)
