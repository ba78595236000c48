"""Bases of the unknowns that a step can have where the invariants are 0, and means of forms."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.linear_maps import null_space
from certibit.theory.worlds.opaque.exact_numbers import rational, zeros
from certibit.theory.worlds.symbolic.frames import Basis, Blocks, Frame, Matrix
from certibit.theory.worlds.symbolic.symbols import SymbolicChannel, SymbolicProblem

ROUNDING = 1e-9
"""Relative size below which a number of floats is rounding."""


def unknowns_met(basis: Basis, evaluated: set[int]) -> NDArray[np.bool_]:
    """Return the unknowns that occur: gradients and errors of the kinds that have them."""
    met = np.arange(basis.size) < basis.used
    for name, first in basis.names.items():
        if name[0] in {"gradient", "error"}:
            for number in range(first, first + (basis.kinds if basis.kind[first] >= 0 else 1)):
                met[number] = number in evaluated
    return met


def kernels_of_blocks(
    invariants: Iterable[Array], frame: Frame, basis: Basis, allowed: NDArray[np.bool_]
) -> Blocks:
    """Return for each block a basis of the allowed unknowns on which the invariants are 0.

    The cells of the frame are the kinds of clients.
    """
    relations = [frame.rows(x) for x in invariants]
    kernels = [_kernel_of([x[:, :, 0] for x in relations], allowed)]
    for kind, count in enumerate(frame.counts):
        inside = allowed & (basis.kind == kind) & (count > 1)
        run = frame.differences.get(kind, 0)
        kernels.append(_kernel_of([x[:, :, run] for x in relations if count > 1], inside))
    return tuple(kernels)


def _kernel_of(relations: list[Matrix], allowed: NDArray[np.bool_]) -> Matrix:
    """Return a basis of the vectors on allowed unknowns with no relation violated.

    That of floats is orthonormal, and its size is decided by a gap that is checked.
    """
    exact = any(x.dtype == object for x in relations)
    inside = np.eye(len(allowed))[:, allowed]
    if not relations or not inside.shape[1]:
        return inside
    if exact:
        return exact_kernel(np.concatenate(relations), allowed)
    rows = np.unique(np.concatenate(relations) @ inside, axis=0)
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    kernel: Matrix = inside @ null_space(rows)
    return kernel


def exact_kernel(rows: NDArray[Any], allowed: NDArray[np.bool_]) -> NDArray[Any]:
    """Return a basis, (basis, k), of the vectors on allowed places that are orthogonal to rows."""
    places = np.flatnonzero(allowed).tolist()
    reduced, rank = fmpq_mat([[rational(x) for x in row] for row in rows[:, places]]).rref()
    leads = [next(j for j in range(len(places)) if reduced[i, j]) for i in range(rank)]
    free = [j for j in range(len(places)) if j not in leads]
    kernel = zeros(len(allowed), len(free), exact=True)
    for column, j in enumerate(free):
        kernel[places[j], column] = fmpq(1)
        for i, lead in enumerate(leads):
            kernel[places[lead], column] = -reduced[i, j]
    return kernel


def expected_gram(
    gram: Matrix, functions: FunctionClass, problem: SymbolicProblem, channel: SymbolicChannel
) -> Matrix:
    """Return the grams of a form with the noises replaced by their variances."""
    for number, sent in reversed(channel.noises):
        count = 1  # unknowns, one for each kind of clients or one of the server
        if problem.basis.every_client[number]:
            count = problem.basis.kinds
            gram = gram + _variance(gram, number, sent, functions, problem.frame)
        else:
            gram = gram + gram[0, number, number] * functions.omega_down * problem.frame.gram(sent)
        own = slice(number, number + count)
        gram[:, own, :] = 0 * gram[:, own, :]
        gram[:, :, own] = 0 * gram[:, :, own]
    return gram


def _variance(
    gram: Matrix, number: int, sent: Array, functions: FunctionClass, frame: Frame
) -> Matrix:
    """Return the expected contribution of a noise to a form, by its variance."""
    if functions.omega_joint is None:
        omega = frame.layout.numbers([one.omega for one in functions.kinds])[frame.row_kinds]
        return frame.gram(sent, frame.diagonal(gram, number) * omega)
    zero = 0 * gram[0, number, number]
    equal = gram[0, number, number] / frame.n
    different = gram[2, number, number] / 2 if frame.n > 1 else zero
    factor = max(equal - different, zero) * functions.omega_joint + different * functions.omega
    return frame.gram(sent, frame.layout.numbers([factor] * len(frame.row_cells)))
