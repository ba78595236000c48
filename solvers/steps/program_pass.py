"""Iterations of few kinds of operation in one compiled call; imported when first needed."""

from typing import Any

import numpy as np

from certibit.data.compiled.compilation import compiled
from certibit.data.passes.row_passes import combined
from certibit.solvers.column_pass import write_entries
from certibit.solvers.compressors.natural_pass import powers_of_two
from certibit.solvers.compressors.selection_pass import draw_by_size, draw_entries

ADD, SUBTRACT, MULTIPLY, DIVIDE, LESS, CHOOSE = range(6)
COPY, STRETCH, TOTAL, GRADIENT = range(6, 10)
IDENTITY, NATURAL, RAND_K, RAND_K_NATURAL, L1 = range(10, 15)


@compiled
def repeat(
    operations: Any, draws: Any, numbers: Any, losses: Any, powers: Any, memory: Any, counted: Any
) -> None:  # pragma: no cover
    """Do the operations in memory as often as there are rows of random numbers.

    Each operation is a kind, the shape (c, w, R) of its result, where that begins, and three
    arguments: where each begins, and how far the vectors of the next client are away. Of messages
    the third is k and a room. A draw is its place in a row, how many numbers, and where they go.
    ``losses`` are what ``combined`` needs before the points, and the factor of these. Gradients of
    some clients are ``counted``, (R,).
    """
    for t in range(len(numbers)):
        for q in range(len(draws)):
            first, size, at = draws[q]
            for k in range(size):
                memory[at + k] = numbers[t, first + k]
        for q in range(len(operations)):
            kind = operations[q, 0]
            if kind < CHOOSE:
                _arithmetic(operations[q], memory)
            elif kind == CHOOSE:
                _chosen(operations[q], memory)
            elif kind < GRADIENT:
                _moved(operations[q], memory)
            elif kind == GRADIENT:
                _gradient(operations[q], losses, memory, counted)
            else:
                _message(operations[q], powers, memory)


@compiled
def _arithmetic(operation: Any, memory: Any) -> None:  # pragma: no cover
    kind, n, d, runs, at, a, a_step, b, b_step, _, _ = operation
    size = d * runs
    if a_step == b_step == size:
        n, size = 1, n * size
    for i in range(n):
        one, other = memory[a + i * a_step :], memory[b + i * b_step :]
        out = memory[at + i * size :]
        if kind == ADD:
            for q in range(size):
                out[q] = one[q] + other[q]
        elif kind == SUBTRACT:
            for q in range(size):
                out[q] = one[q] - other[q]
        elif kind == MULTIPLY:
            for q in range(size):
                out[q] = one[q] * other[q]
        elif kind == DIVIDE:
            for q in range(size):
                out[q] = one[q] / other[q]
        elif kind == LESS:
            for q in range(size):
                out[q] = 1.0 if one[q] < other[q] else 0.0


@compiled
def _chosen(operation: Any, memory: Any) -> None:  # pragma: no cover
    _, n, d, runs, at, mask, masks, yes, yes_step, no, no_step = operation
    size = d * runs
    for i in range(n):
        for q in range(size):
            source = yes + i * yes_step if memory[mask + i * masks + q] else no + i * no_step
            memory[at + i * size + q] = memory[source + q]


@compiled
def _moved(operation: Any, memory: Any) -> None:  # pragma: no cover
    kind, n, d, runs, at, a, step, _, _, _, _ = operation
    size = d * runs
    out = memory[at : at + n * size]
    if kind == COPY:
        one = memory[a:]
        for q in range(n * size):
            out[q] = one[q]
    elif kind == STRETCH:
        for i in range(n):
            for q in range(size):
                out[i * size + q] = memory[a + i * step + q % runs]
    else:
        for q in range(size):
            out[q] = 0.0
        for i in range(step):
            one = memory[a + i * size :]
            for q in range(size):
                out[q] += one[q]


@compiled
def _gradient(operation: Any, losses: Any, memory: Any, counted: Any) -> None:  # pragma: no cover
    """Evaluate gradients; with a mask, (1 or n, 1, R), those of some clients are counted."""
    _, n, d, runs, at, a, step, mask, masks, _, _ = operation
    some = masks == 0
    for q in range(masks * runs):
        if memory[mask + q]:
            some = True
            counted[q % runs] += n // masks
    if some:
        lanes, rows, features, shape, block, scale, factor = losses
        x = memory[a:]
        terms = (lanes, rows, features, shape, block, scale, (x, step, factor), (x, step, 0.0))
        combined(terms, memory[at:])
    else:
        memory[at : at + n * d * runs] = 0.0


@compiled
def _message(operation: Any, powers: Any, memory: Any) -> None:  # pragma: no cover
    """Compress the vectors at ``a`` with the random numbers at ``b``."""
    kind, n, d, runs, at, a, _, b, _, k, room = operation
    size = n * d * runs
    x, out = memory[a : a + size].reshape(n, d, runs), memory[at : at + size].reshape(n, d, runs)
    if kind in (IDENTITY, NATURAL):
        for q in range(size):
            memory[at + q] = memory[a + q]
        if kind == NATURAL:
            count = min(d, 2)
            powers_of_two(out, memory[b : b + n * count * runs].reshape(n, count, runs), powers)
        return
    few = n * k * runs
    numbers = memory[room : room + few].reshape(n, k, runs)
    values = memory[room + few : room + 2 * few].reshape(n, k, runs)
    indices = memory[room + 2 * few : room + 3 * few].view(np.int64).reshape(n, k, runs)
    count = 2 * k if kind == RAND_K_NATURAL else k
    for i in range(n):
        for q in range(k * runs):
            memory[room + i * k * runs + q] = memory[b + i * count * runs + q]
    if kind == L1:
        draw_by_size(x, numbers, indices, values)
    else:
        draw_entries(x, numbers, indices, values)
        if kind == RAND_K_NATURAL:
            for i in range(n):
                for q in range(k * runs):
                    memory[room + i * k * runs + q] = memory[b + (i * count + k) * runs + q]
            powers_of_two(values, numbers, powers)
        for q in range(few):
            memory[room + few + q] *= d / k
    for q in range(size):
        memory[at + q] = 0.0
    write_entries(indices, values, out)
