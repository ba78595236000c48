"""Passes over sparse rows and over messages, compiled by numba; imported when first needed.

Runs of a pass over rows are the lanes of a vector register: one primitive, ``add_row``, adds a
sparse row times the vectors of up to W runs, W being the length of a tuple of lanes and so known to
the compiler. Clients are worked on in blocks, so that what a block needs stays in a cache between
the products.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from certibit.data.passes.compilation import compiled

WIDTHS = (8, 16)
"""Lanes; the smallest number that holds all runs is taken, or the largest many times."""

_LONG, _INT, _DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()


def _row_times(adds: bool) -> Any:
    """Make a primitive that works on all runs of a row at once.

    It sets out[at : at + runs] to the sum of values[e] y[base + columns[e] stride :], for all e in
    first:last, or adds that. At most as many runs as there are lanes; the rest is neither read nor
    written.
    """

    def row(
        typing_context: Any, lanes: Any, values: Any, columns: Any, first: Any, last: Any,
        y: Any, base: Any, stride: Any, runs: Any, out: Any, at: Any,
    ) -> Any:  # fmt: skip
        width = lanes.count
        vector, bits = ir.VectorType(_DOUBLE, width), ir.VectorType(ir.IntType(1), width)
        pointer = vector.as_pointer()
        align, nothing = ir.Constant(_INT, 8), ir.Constant(vector, [0.0] * width)
        long = types.int64
        signature = types.void(lanes, values, columns, long, long, y, long, long, long, out, long)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values, columns, y, out = (
                context.make_array(signature.args[k])(context, builder, arguments[k]).data
                for k in (1, 2, 5, 9)
            )
            first, last, base, stride, runs, at = (arguments[k] for k in (3, 4, 6, 7, 8, 10))

            def splat(number: Any, kind: Any) -> Any:
                unset = ir.Constant(ir.VectorType(kind, width), ir.Undefined)
                one = builder.insert_element(unset, number, ir.Constant(_INT, 0))
                zeros = ir.Constant(ir.VectorType(_INT, width), [0] * width)
                return builder.shuffle_vector(one, unset, zeros)

            def runs_at(array: Any, position: Any) -> Any:
                return builder.bitcast(builder.gep(array, [position]), pointer)

            def masked(name: str, result: Any, *kinds: Any) -> Any:
                kind = ir.FunctionType(result, kinds)
                name = f"llvm.masked.{name}.v{width}f64.p0"
                return cgutils.get_or_insert_function(builder.module, kind, name)

            load = masked("load", vector, pointer, _INT, bits, vector)
            store = masked("store", ir.VoidType(), vector, pointer, _INT, bits)
            numbers = ir.Constant(ir.VectorType(_LONG, width), list(range(width)))
            mask = builder.icmp_unsigned("<", numbers, splat(runs, _LONG))
            sums = cgutils.alloca_once(builder, vector)
            target = runs_at(out, at)
            begun = builder.call(load, [target, align, mask, nothing]) if adds else nothing
            builder.store(begun, sums)
            with cgutils.for_range_slice(builder, first, last, _LONG(1), inc=True) as (entry, _):
                column = builder.zext(builder.load(builder.gep(columns, [entry])), _LONG)
                source = runs_at(y, builder.add(base, builder.mul(column, stride)))
                factor = splat(builder.load(builder.gep(values, [entry])), _DOUBLE)
                there = builder.call(load, [source, align, mask, nothing])
                product = builder.fmul(factor, there, flags=("contract",))
                builder.store(builder.fadd(builder.load(sums), product, flags=("contract",)), sums)
            full = builder.icmp_unsigned("==", runs, _LONG(width))
            with builder.if_else(full, likely=True) as (whole, partly):
                with whole:
                    builder.store(builder.load(sums), target).align = 8
                with partly:
                    builder.call(store, [builder.load(sums), target, align, mask])
            return context.get_dummy_value()

        return signature, generate

    return intrinsic(row)


add_row, set_row = _row_times(adds=True), _row_times(adds=False)
"""The output is not read, since waiting for the numbers just written beside it takes long."""


_LOG2_E = 1.4426950408889634
_LN_2, _LN_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LARGEST = 708.0
_INTEGER = 6755399441055744.0 + 1023.0
"""1.5 2^52, to whose last bits an integer is added by rounding, and the bias of exponents."""


@compiled
def slopes(z: Any, powers: Any, scale: Any) -> None:  # pragma: no cover
    """Z <- scale / (1 + exp(z)), to about 4e-16; ``powers`` is room for as many numbers.

    exp(z) = 2^k exp(r) with |r| <= log(2)/2, exp(r) by its series to r^13 and 2^k by its exponent
    bits: plain loops, which the compiler makes vector code of.
    """
    exponents = powers.view(np.int64)
    for q in range(z.size):
        bounded = z[q]
        if bounded > _LARGEST:  # noqa: PLR1730  (not-a-number stays what it is)
            bounded = _LARGEST
        if bounded < -_LARGEST:  # noqa: PLR1730
            bounded = -_LARGEST
        k = np.floor(bounded * _LOG2_E + 0.5)
        r = (bounded - k * _LN_2) - k * _LN_2_REST
        p = 1 / 479001600 + r * (1 / 6227020800)
        p = 1 / 3628800 + r * (1 / 39916800 + r * p)
        p = 1 / 40320 + r * (1 / 362880 + r * p)
        p = 1 / 720 + r * (1 / 5040 + r * p)
        p = 1 / 24 + r * (1 / 120 + r * p)
        p = 1 / 2 + r * (1 / 6 + r * p)
        z[q] = 1.0 + r * (1.0 + r * p)
        powers[q] = k + _INTEGER
    for q in range(z.size):
        exponents[q] = exponents[q] << 52
    for q in range(z.size):
        z[q] = scale / (1.0 + z[q] * powers[q])


@compiled
def combined(gradients: Any, out: Any) -> None:  # pragma: no cover
    """Set out_i to -(1/m) A_i' (1 / (1 + exp(A_i x_i))) + ridge x_i for all clients, at once.

    ``gradients`` are the lanes, the rows, the features, the shape (n, m, d, R), the clients of a
    block, the points and the ridge. The points are read through; those of the next client are
    d R away, or 0 where clients share them. ``rows`` are all rows; ``features`` the transposed ones
    of every client that are not empty, with their places in (n, d) and where each client's begin.
    """
    (n, m, d, runs), block = gradients[3], gradients[4]
    room, size = np.empty((2, block * m * len(gradients[0]))), d * runs
    for first in range(0, n, block):
        _combined_block(gradients, first, min(n, first + block), room, out[first * size :])


@compiled
def _set_ridge(
    x: Any, ridge: Any, first: Any, last: Any, size: Any, kept: Any, out: Any
) -> None:  # pragma: no cover
    """Set the vectors of some clients to ridge x_i, or add that."""
    points, step = x
    for i in range(first, last):
        one, own = points[i * step :], out[(i - first) * size : (i + 1 - first) * size]
        if kept:
            for q in range(size):
                own[q] += ridge * one[q]
        else:
            for q in range(size):
                own[q] = ridge * one[q]


@compiled
def _combined_block(
    gradients: Any, first: Any, last: Any, room: Any, out: Any
) -> None:  # pragma: no cover
    """Set the vectors of some clients; ``room`` has two numbers for each of their rows and lane.

    Sums of most features that fill no register are set, and what is beside them is added after.
    """
    lanes, rows, features, (n, m, d, runs), _, (points, step), ridge = gradients
    width = len(lanes)
    starts, columns, values = rows
    places, clients, t_starts, t_columns, t_values = features
    s, powers = room[0], room[1]
    scattered = runs % width == 0 or 2 * places.size < n * d
    if scattered:
        _set_ridge((points, step), ridge, first, last, d * runs, 0.0, out)
    else:
        out[: (last - first) * d * runs] = 0.0
    count = (last - first) * m
    for r in range(0, runs, width):
        some = min(width, runs - r)
        for row in range(first * m, last * m):
            begin, end, at = starts[row], starts[row + 1], (row - first * m) * width
            base = row // m * step + r
            set_row(lanes, values, columns, begin, end, points, base, runs, some, s, at)
        slopes(s[: count * width], powers[: count * width], -1.0 / m)
        base = -first * m * width
        for k in range(clients[first], clients[last]):
            begin, end, at = t_starts[k], t_starts[k + 1], (places[k] - first * d) * runs + r
            if scattered:
                add_row(lanes, t_values, t_columns, begin, end, s, base, width, some, out, at)
            else:
                set_row(lanes, t_values, t_columns, begin, end, s, base, width, some, out, at)
    if not scattered:
        _set_ridge((points, step), ridge, first, last, d * runs, 1.0, out)


@compiled
def set_drawn_products(
    rows: Any, m: Any, drawn: Any, x: Any, step: Any, out: Any
) -> None:  # pragma: no cover
    """Set out, (n, b, R), to the products of drawn rows with x_i, which are read through.

    The next client's x_i are ``step`` further; each client has m of the rows.
    """
    starts, columns, values = rows
    n, b, runs = drawn.shape
    for i in range(n):
        for k in range(b):
            for r in range(runs):
                row, total = i * m + drawn[i, k, r], 0.0
                for e in range(starts[row], starts[row + 1]):
                    total += values[e] * x[i * step + columns[e] * runs + r]
                out[i, k, r] = total


@compiled
def add_drawn_rows(
    rows: Any, m: Any, drawn: Any, s: Any, step: Any, out: Any
) -> None:  # pragma: no cover
    """Add the drawn rows times s, (n, b, R), to out, whose clients are ``step`` apart."""
    starts, columns, values = rows
    n, b, runs = drawn.shape
    for i in range(n):
        for k in range(b):
            for r in range(runs):
                row = i * m + drawn[i, k, r]
                for e in range(starts[row], starts[row + 1]):
                    out[i * step + columns[e] * runs + r] += values[e] * s[i, k, r]


def lanes_for(runs: int) -> tuple[int, ...]:
    """Return the tuple of lanes that a number of runs is worked on with."""
    return (0,) * next((width for width in WIDTHS if width >= runs), WIDTHS[-1])


_SCALE, _SCALED_BACK = 2.0**-896, 2.0**896
_BITS = 2.0**52
_MANTISSA = (1 << 52) - 1
AT_ONCE = 80
"""Numbers whose bits are made at once: enough for vector registers, few beside a client's."""


@compiled
def powers_of_two(x: Any, uniforms: Any, powers: Any) -> None:  # pragma: no cover
    """Round every number of x, (n, d, R), to a neighbouring power of two, at random, in place.

    The same numbers as of ``round_power_of_two`` with the ``spread_bits`` of uniforms, which are
    (n, d, R), or (n, 2, R) and spread by the first ``powers`` of the multiplier.
    """
    n, d, runs = x.shape
    bits = np.empty((2, max(1, AT_ONCE // runs), runs), np.int64)
    for i in range(n):
        if uniforms.shape[1] == d:
            for j in range(d):
                for r in range(runs):
                    x[i, j, r] = _near(x[i, j, r], np.int64(uniforms[i, j, r] * _BITS))
        else:
            _round_client(x[i].reshape(-1), uniforms[i], powers, bits)


@compiled
def _round_client(numbers: Any, uniforms: Any, powers: Any, bits: Any) -> None:  # pragma: no cover
    """Round the numbers of a client, read through, in place, with two uniforms for each run."""
    _, count, runs = bits.shape
    for r in range(runs):
        shift, factor = np.int64(uniforms[0, r] * _BITS), np.int64(uniforms[1, r] * _BITS)
        for j in range(count):
            bits[0, j, r], bits[1, j, r] = shift, factor * powers[j]
    shifts, moved, step = bits[0].reshape(-1), bits[1].reshape(-1), powers[count]
    for first in range(0, numbers.size, shifts.size):
        some = numbers[first : min(numbers.size, first + shifts.size)]
        for q in range(some.size):
            some[q] = _near(some[q], (shifts[q] + moved[q]) & _MANTISSA)
            moved[q] *= step


@compiled
def _near(number: Any, bits: Any) -> Any:  # pragma: no cover
    """Round a number to a power of two with 52 random bits, as ``round_power_of_two`` does."""
    pattern = np.float64(number * _SCALE).view(np.int64) + (_MANTISSA - bits)
    power = np.int64(pattern & ~_MANTISSA).view(np.float64) * _SCALED_BACK
    return np.inf if np.isnan(number) else power


@compiled
def keep_entries(x: Any, uniforms: Any, factor: Any, out: Any) -> bool:  # pragma: no cover
    """Draw k features of every client and run, and write the entries there times a factor to out.

    The features are those of ``subsets``; x and out, of zeros, are (n, d, R), uniforms (n, k, R).
    False where a number is not one of [0, 1): its feature would not be one of x.
    """
    n, d, runs = x.shape
    k = uniforms.shape[1]
    last = np.full(d, -1)  # who has drawn a feature last: nothing is searched, and k may be large
    for i in range(n):
        for r in range(runs):
            who = i * runs + r
            for a in range(k):
                j = d - k + a
                t = np.int64(uniforms[i, a, r] * (j + 1))
                if t < 0 or t > j:
                    return False
                if last[t] == who:
                    t = np.int64(j)
                last[t] = who
                out[i, t, r] = x[i, t, r] * factor
    return True
