"""Local steps of all clients in the space of their rows, compiled; imported when first needed.

The clients of a group are the lanes of a vector register: they do the same number of steps in a
run, and the m products of each obey a recursion with the m times m products of its rows.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from certibit.data.passes.compilation import compiled
from certibit.data.passes.row_passes import add_row, set_row, slopes

_LONG, _DOUBLE = ir.IntType(64), ir.DoubleType()


@intrinsic  # type: ignore[untyped-decorator]
def add_dot(
    typing_context: Any, lanes: Any, x: Any, first: Any, y: Any, count: Any, stride: Any, out: Any,
    at: Any,
) -> Any:  # fmt: skip
    """Add to out[at :] the sum of the products of ``count`` registers from x[first :] and y.

    Each begins ``stride`` numbers after the one before.
    """
    vector = ir.VectorType(_DOUBLE, lanes.count)
    long = types.int64
    signature = types.void(lanes, x, long, y, long, long, out, long)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, y, out = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data
            for k in (1, 3, 6)
        )
        first, count, stride, at = (arguments[k] for k in (2, 4, 5, 7))

        def register(array: Any, position: Any) -> Any:
            return builder.bitcast(builder.gep(array, [position]), vector.as_pointer())

        sums = cgutils.alloca_once(builder, vector)
        builder.store(builder.load(register(out, at), align=8), sums)
        with cgutils.for_range(builder, count, intp=_LONG) as loop:
            place = builder.mul(loop.index, stride)
            one = builder.load(register(x, builder.add(first, place)), align=8)
            other = builder.load(register(y, place), align=8)
            product = builder.fmul(one, other, flags=("contract",))
            builder.store(builder.fadd(builder.load(sums), product, flags=("contract",)), sums)
        builder.store(builder.load(sums), register(out, at)).align = 8
        return context.get_dummy_value()

    return signature, generate


@compiled
def _steps_of_group(
    clients: Any, grams: Any, g: Any, a: Any, scale: Any, steps: Any, z: Any, w: Any, sums: Any
) -> None:  # pragma: no cover
    """Do steps z <- a z + w + G s with s = scale / (1 + exp(z)); sums <- the sum of a^k s^(t-k).

    z, w and sums are (m, clients), G is that of group g; all are read through.
    """
    group, size = len(clients), z.size
    m = size // group
    s, powers = np.empty(size), np.empty(size)
    sums[:] = 0.0
    for _ in range(steps):
        for q in range(size):  # an assignment of arrays takes 2 s more to compile
            s[q] = z[q]
        slopes(s, powers, scale)
        for q in range(size):
            sums[q] = a * sums[q] + s[q]
            z[q] = a * z[q] + w[q]
        for k in range(m):
            add_dot(clients, grams, (g * m + k) * size, s, m, group, z, k * group)


@compiled
def local_steps(
    lanes: Any, clients: Any, rows: Any, features: Any, grams: Any, shape: Any,
    x: Any, u: Any, a: Any, b: Any, c: Any, steps: Any, factors: Any, out: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Set out_i to x_i after steps x_i <- a x_i + b u_i - c A_i' (1 / (1 + exp(A_i x_i))).

    Each run has its own a, b, c and number of steps. ``factors`` are those of x and u in out, once
    for each feature, (d, R). Vectors are read through, x and u with the distance from one client to
    the next; ``rows`` and ``features`` are as in ``row_passes``, of grams there is one for a group.
    """
    (n, m, d, runs), width, group = shape, len(lanes), len(clients)
    (points, step), (vectors, other_step), (powers, totals) = x, u, factors
    starts, columns, values = rows
    places, bounds, t_starts, t_columns, t_values = features
    size = m * group
    zx, zu = np.zeros(size * runs), np.zeros(size * runs)
    z, w, sums = np.empty(size), np.empty(size), np.empty(size)
    for g in range((n + group - 1) // group):
        first, last = g * group, min(n, (g + 1) * group)
        for r in range(0, runs, width):
            some = min(width, runs - r)
            for row in range(first * m, last * m):
                i, begin, end, at = row // m, starts[row], starts[row + 1], row - first * m
                at = at * runs + r
                set_row(
                    lanes, values, columns, begin, end, points, i * step + r, runs, some, zx, at
                )
                base = i * other_step + r
                set_row(lanes, values, columns, begin, end, vectors, base, runs, some, zu, at)
        for r in range(runs):
            for k in range(m):
                for i in range(group):
                    z[k * group + i] = zx[(i * m + k) * runs + r]
                    w[k * group + i] = b[r] * zu[(i * m + k) * runs + r]
            _steps_of_group(clients, grams, g, a[r], c[r], steps[r], z, w, sums)
            for k in range(m):
                for i in range(group):
                    zx[(i * m + k) * runs + r] = sums[k * group + i]
        for i in range(first, last):
            one, two = points[i * step :], vectors[i * other_step :]
            own = out[i * d * runs : (i + 1) * d * runs]
            for q in range(d * runs):
                own[q] = powers[q] * one[q] + totals[q] * two[q]
        for r in range(0, runs, width):
            some, base = min(width, runs - r), r - first * m * runs
            for k in range(bounds[first], bounds[last]):
                begin, end, at = t_starts[k], t_starts[k + 1], places[k] * runs + r
                add_row(lanes, t_values, t_columns, begin, end, zx, base, runs, some, out, at)


@compiled
def _dense_step(
    lanes: Any, columns: Any, at: Any, x: Any, u: Any, a: Any, scale: Any, room: Any
) -> None:  # pragma: no cover
    """Do a step x <- a x + u + A' s with s = scale / (1 + exp(A x)), the rows of A being lanes."""
    (s, powers, sums), (size, d) = room, (room[0].size, x.size)
    for k in range(size):
        s[k] = 0.0
    for j in range(d):
        for k in range(size):
            s[k] += columns[at + j * size + k] * x[j]
    slopes(s, powers, scale)
    for j in range(d):
        for w in range(len(lanes)):
            sums[w] = 0.0
        add_dot(lanes, columns, at + j * size, s, size // len(lanes), len(lanes), sums, 0)
        total = 0.0
        for w in range(len(lanes)):
            total += sums[w]
        x[j] = a * x[j] + u[j] + total


@compiled
def dense_steps(
    lanes: Any, columns: Any, x: Any, u: Any, a: Any, b: Any, c: Any, steps: Any, room: Any,
    out: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Set out_i to x_i after steps x_i <- a x_i + b u_i - c A_i' (1 / (1 + exp(A_i x_i))).

    Each run has its own a, b, c and number of steps. ``columns`` are all columns of all clients,
    each as long as a number of registers, with zeros, and read through; x, u and out are (n, d, R),
    u may be (1, d, R).
    """
    n, d, runs = x.shape
    (own, added), others = room
    length = d * others[0].size
    for i in range(n):
        for r in range(runs):
            for j in range(d):
                own[j], added[j] = x[i, j, r], b[r] * u[i % u.shape[0], j, r]
            for _ in range(steps[r]):
                _dense_step(lanes, columns, i * length, own, added, a[r], c[r], others)
            for j in range(d):
                out[i, j, r] = own[j]
