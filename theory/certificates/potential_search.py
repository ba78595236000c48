"""The search for a potential: the quadratic form of the state with the best certified decrease."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from itertools import product

import numpy as np
import scipy.linalg

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.decrease import CENTRES, StepProgramme
from bitbound.theory.certificates.interpolation import combination
from bitbound.theory.certificates.potentials import QuadraticPotential, Rows, with_pairs
from bitbound.theory.certificates.symbolic_step import symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.worlds.frames import Matrix
from bitbound.theory.worlds.orbits import Nothing, OrbitChannel

MOST_FIELDS = 4
"""Up to so many parts of a state have their own unit at the start."""

MOST_ROUNDS = 40
"""How often the form is improved at most."""

SMALLEST = 1e-5
"""How small the form may be in any direction, against where it is largest."""

INDEPENDENT = 1e-7
"""Relative length of what is left of a part that does not follow from others."""

GAIN = 1e-3
"""Relative gain of the decrease below which the search ends."""


def searched_potential(method: Method, functions: FunctionClass) -> QuadraticPotential:
    """Search the quadratic form of a state, with f - f* or without, whose decrease is the best.

    Form and decrease are improved in turn: the form with the most room at a decrease, then its
    decrease. Every form is at least as good as the one before; that the last is the best of all is
    not proved.

    Raises
    ------
    Refusal
        If no such form can be certified; with the reason of the first.
    """
    found: list[tuple[float, QuadraticPotential]] = []
    reasons: list[Refusal] = []
    for values, gradients in ((False, False), (True, False), (True, True)):
        try:
            found.append(_best(method, functions, values, gradients))
        except Refusal as refusal:
            reasons.append(refusal)
    if not found:
        raise reasons[0]
    return max(found, key=lambda pair: pair[0])[1]


def _best(
    method: Method, functions: FunctionClass, values: bool, gradients: bool
) -> tuple[float, QuadraticPotential]:
    tried: list[tuple[float, QuadraticPotential]] = []
    reason: Refusal | None = None
    for candidate in _starts(method, functions, values, gradients):
        try:
            potential = _independent(method, functions, candidate)
            tried.append((_decrease(method, functions, potential), potential))
        except Refusal as refusal:
            reason = reason or refusal
    if not tried:
        raise reason or Refusal(f"{method.name} has no state to make a potential of")
    value, potential = max(tried, key=lambda pair: pair[0])
    start = potential
    for _ in range(MOST_ROUNDS):
        better = [*_improved(method, functions, start, potential, value)]
        best, form = max(better, key=lambda pair: pair[0], default=(value, potential))
        if not best > value + GAIN * abs(value):
            break
        value, potential = best, form
    return value, potential


def _improved(
    method: Method,
    functions: FunctionClass,
    start: QuadraticPotential,
    potential: QuadraticPotential,
    value: float,
) -> Iterator[tuple[float, QuadraticPotential]]:
    """Yield the forms with the most room at this decrease and somewhat beyond, with their own."""
    for aim in {max(value, 0.0), value, value + 0.2 * abs(value)}:
        with suppress(Refusal):  # the solver gives up
            form = _roomier(method, functions, start, potential, aim)
            yield _decrease(method, functions, form), form


def _decrease(method: Method, functions: FunctionClass, potential: QuadraticPotential) -> float:
    step = symbolic_step(method, functions, potential)
    return StepProgramme(step, functions, "clarabel", CENTRES[0]).at(step.weights).value


def _roomier(
    method: Method,
    functions: FunctionClass,
    start: QuadraticPotential,
    potential: QuadraticPotential,
    aim: float,
) -> QuadraticPotential:
    """Return the form with the most room at a decrease, relative to the present one.

    It is a combination, of any signs, of the squares of a spread form. In no direction is it
    smaller, against the form of the start, than ``SMALLEST`` of where it is largest: one that all
    but forgets a slow direction would decrease by more than the method.
    """
    step = symbolic_step(method, functions, potential.spread())
    programme = StepProgramme(step, functions, "clarabel", CENTRES[0])
    count = int(potential.values > 0)
    sizes = len(potential.mean_rows), len(potential.apart_rows)
    squares = [_squares(size) for size in sizes]
    first = [count, count + len(squares[0])]
    matrices = [np.zeros((len(step.now), size, size)) for size in sizes]
    for place, own, all_of_them in zip(first, squares, matrices, strict=True):
        all_of_them[place : place + len(own)] = own
    floors = [
        _floor(start.mean_rows, potential.mean_rows),
        _floor(start.apart_rows, potential.apart_rows),
    ]
    traces = sum(np.trace(m, axis1=1, axis2=2) for m in matrices)
    traces[:count] = 1.0
    now = [form * weight for form, weight in zip(step.now, step.weights, strict=True)]
    after = [form * weight for form, weight in zip(step.after, step.weights, strict=True)]
    present = [
        *range(count),
        *(p + i for p, size in zip(first, sizes, strict=True) for i in range(size)),
    ]
    gain = combination([1.0] * len(present), [now[place] for place in present])
    others = len(step.inequalities)
    free = len(now) - count
    room = programme.maximise(
        gain * 0.0,
        gain,
        [a + b * (aim - 1) for a, b in zip(after, now, strict=True)],
        lower=np.concatenate([np.full(count, SMALLEST), np.full(free, -np.inf), np.zeros(others)]),
        normal=np.concatenate([traces / (count + sum(sizes)), np.zeros(others)]),
        above=[
            (np.concatenate([m, np.zeros((others, *m.shape[1:]))]), least)
            for m, least in zip(matrices, floors, strict=True)
            if len(least)
        ],
    )
    found = [np.tensordot(room.multipliers[: len(now)], m, axes=1) for m in matrices]
    return replace(
        potential,
        mean_rows=_factor(found[0]) @ potential.mean_rows,
        apart_rows=_factor(found[1]) @ potential.apart_rows,
        values=potential.values * float(room.multipliers[0]) if count else 0.0,
    )


def _squares(size: int) -> Matrix:
    """Return the matrices of the squares of a spread form where it is the identity."""
    rows = with_pairs(np.eye(size))
    return rows[:, :, None] * rows[:, None, :]


def _floor(start: Rows, present: Rows) -> Matrix:
    """Return the least form, where the present one is the identity."""
    back = start @ np.linalg.pinv(present)
    form = back.T @ back
    least = np.linalg.eigvalsh(form)[0] if len(form) else 1.0
    floor: Matrix = SMALLEST / least * form
    return floor


def _factor(form: Matrix) -> Matrix:
    """Return F with F' F = form."""
    values, vectors = np.linalg.eigh(form)
    factor: Matrix = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return factor


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
