"""The search for a potential: the quadratic form of the state with the best certified decrease."""

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product

import numpy as np
import scipy.linalg

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.decrease import CENTRES, StepProgramme
from bitbound.theory.certificates.potentials import QuadraticPotential
from bitbound.theory.certificates.symbolic_step import symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.worlds.orbits import Nothing, OrbitChannel
from bitbound.theory.worlds.symbols import Matrix

MOST_FIELDS = 4
"""Up to so many parts of a state have their own unit at the start."""

MOST_SPREADS = 12
"""How often the form is spread at most."""

INDEPENDENT = 1e-7
"""Relative length of what is left of a part that does not follow from others."""

GAIN = 1e-3
"""Relative gain of the decrease below which the search ends."""


def searched_potential(method: Method, functions: FunctionClass) -> QuadraticPotential:
    """Search the quadratic form of a state, with f - f* or without, whose decrease is the best.

    Its squares are spread to all sums and differences, the best nonnegative weights of these are
    found, and what comes out is the next form to be spread. Every form is at least as good as the
    one before; that the last is the best of all is not proved.

    Raises
    ------
    Refusal
        If no such form can be certified; with the reason of the first.
    """
    found: list[tuple[float, QuadraticPotential]] = []
    reason: Refusal | None = None
    for values, gradients in ((False, False), (True, False), (True, True)):
        try:
            found.append(_best(method, functions, values, gradients))
        except Refusal as refusal:
            reason = reason or refusal
    if not found:
        raise reason or Refusal(f"{method.name} has no state to make a potential of")
    return max(found, key=lambda pair: pair[0])[1]


def _best(
    method: Method, functions: FunctionClass, values: bool, gradients: bool
) -> tuple[float, QuadraticPotential]:
    starts = [
        _independent(method, functions, start)
        for start in _starts(method, functions, values, gradients)
    ]
    tried = [(_programme(method, functions, start).decrease("fixed"), start) for start in starts]
    (_, solution), potential = max(tried, key=lambda pair: pair[0][1].value)
    value = solution.value
    for _ in range(MOST_SPREADS):
        wide = potential.spread()
        try:
            weights, solution = _programme(method, functions, wide).decrease("free")
        except Refusal:  # the solver gives up: what was found so far stays
            break
        if not solution.value > value + GAIN * abs(value):
            break
        value, potential = solution.value, wide.collapsed(weights, functions.n)
    return value, potential


def _programme(
    method: Method, functions: FunctionClass, potential: QuadraticPotential
) -> StepProgramme:
    step = symbolic_step(method, functions, potential)
    return StepProgramme(step, functions, "clarabel", CENTRES[0])


def _independent(
    method: Method, functions: FunctionClass, start: QuadraticPotential
) -> QuadraticPotential:
    """Leave out the parts that follow from others, such as a mean that the server keeps."""
    step = symbolic_step(method, functions, start)
    squares = step.now[int(start.values > 0) :]
    count = len(start.mean_rows)
    kept = []
    for block, forms in enumerate((squares[:count], squares[count:])):
        vectors = [_root(form.blocks[block]) @ step.kernels[block] for form in forms]
        kept.append(_basis(np.array(vectors)))
    return replace(start, mean_rows=start.mean_rows[kept[0]], apart_rows=start.apart_rows[kept[1]])


def _root(form: Matrix) -> Matrix:
    """Return the vector v of a form v v'."""
    place = int(np.argmax(np.diag(form)))
    root: Matrix = form[place] / np.sqrt(form[place, place])
    return root


def _basis(vectors: Matrix) -> list[int]:
    """Return the places of vectors that all others are combinations of."""
    if not vectors.size:
        return []
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    _, r, order = scipy.linalg.qr(
        (vectors / np.where(lengths > 0, lengths, 1.0)).T, mode="economic", pivoting=True
    )
    rank = int(np.sum(np.abs(np.diag(r)) > INDEPENDENT))
    return sorted(order[:rank].tolist())


def _starts(
    method: Method, functions: FunctionClass, values: bool, gradients: bool
) -> Iterator[QuadraticPotential]:
    """Yield sums of squares of the parts, each in the unit of the points or of the gradients."""
    n = functions.n
    state = method.start(np.zeros((1, 1, 1)), Nothing(n), OrbitChannel(n, 1))
    shapes = [getattr(state, field.name) for field in fields(state)]
    own = [x.shape[0] == n > 1 for x in shapes if x.dtype != bool]
    free = min(len(own), MOST_FIELDS)
    for units in product((1.0, 1 / functions.L), repeat=free):
        sizes = [*units, *(1.0,) * (len(own) - free)]
        clients = [size for size, of_clients in zip(sizes, own, strict=True) if of_clients]
        if gradients:
            sizes.append(1 / functions.L)
            clients += [1 / functions.L] * (n > 1)
        apart = np.diag(clients) if clients else np.zeros((0, 0))
        yield QuadraticPotential(np.diag(sizes), apart, gradients, values / functions.L)
