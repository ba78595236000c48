"""Local solves, client by client, compiled by numba; imported when first needed.

The W runs of a client are the lanes of a vector register, as in ``row_passes``; all its steps are
done while its rows and vectors are in a cache. A run that has ended goes on, unseen, until the last
one of the client has.
"""

from typing import Any

from bitbound.data.files.compilation import compiled
from bitbound.data.passes.local_passes import add_dot
from bitbound.data.passes.row_passes import add_row, slopes


@compiled
def _evaluate(
    lanes: Any, data: Any, i: Any, factors: Any, y: Any, fixed: Any, room: Any, out: Any
) -> None:  # pragma: no cover
    """Set ``out`` to scale A_i' (1 / (1 + exp(A_i y))) + a y + fixed, all (d, W), read through."""
    rows, features, (_, m, d) = data
    (scale, a), (s, powers), width = factors, room, len(lanes)
    starts, columns, values = rows
    places, clients, t_starts, t_columns, t_values = features
    for q in range(m * width):  # an assignment of arrays takes longer to compile
        s[q] = 0.0
    for k in range(m):
        begin, end = starts[i * m + k], starts[i * m + k + 1]
        add_row(lanes, values, columns, begin, end, y, 0, width, width, s, k * width)
    slopes(s, powers, scale)
    for q in range(d * width):
        out[q] = a * y[q] + fixed[q]
    for k in range(clients[i], clients[i + 1]):
        begin, end, at = t_starts[k], t_starts[k + 1], (places[k] - i * d) * width
        add_row(lanes, t_values, t_columns, begin, end, s, -i * m * width, width, width, out, at)


@compiled
def _solve(
    lanes: Any, data: Any, i: Any, factors: Any, rule: Any, vectors: Any, left: Any, ends: Any,
    evaluated: Any, rooms: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Do the steps of client i in the runs that are left."""
    (centre, fixed, z), (last_z, last_gradient) = vectors, ends
    (y, before, after, gradient, slope, squares, others), room = rooms
    (step, mu, hasty, accuracy, most), (_, _, (_, _, d)), width = rule, data, len(lanes)
    count = 0
    for w in range(width):
        count += left[w]
    for q in range(z.size):
        before[q] = z[q]
    for number in range(2 * (most + 1)):
        if count == 0:
            return
        momentum = hasty if number <= most else 0.0
        for q in range(z.size):
            y[q] = z[q] + centre[q]
        _evaluate(lanes, data, i, factors, y, fixed, room, gradient)
        for q in range(z.size):
            slope[q] = gradient[q] + mu * z[q]
        for w in range(width):
            squares[w], others[w] = 0.0, 0.0
            evaluated[w] += left[w]
        add_dot(lanes, slope, 0, slope, d, squares, 0)
        add_dot(lanes, gradient, 0, gradient, d, others, 0)
        for w in range(width):
            enough = squares[w] <= accuracy * others[w] or number == 2 * most + 1
            if left[w] and enough:
                left[w] = 0
                count -= 1
                for q in range(w, z.size, width):
                    last_z[q], last_gradient[q] = z[q], gradient[q]
        for q in range(z.size):
            after[q] = z[q] - step * slope[q]
        for q in range(z.size):
            z[q] = after[q] + momentum * (after[q] - before[q]) if number != most else 0.0
        before, after = after, before


@compiled
def local_solves(
    lanes: Any, data: Any, factors: Any, rule: Any, centre: Any, fixed: Any, z: Any, left: Any,
    ends: Any, evaluated: Any, rooms: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Minimise functions plus (mu/2) |y - centre|^2, from y = centre + z, where runs are left.

    ``data`` are the rows, the features and the shape (n, m, d), as in ``row_passes``, and the
    gradients of the functions are scale A_i' (1 / (1 + exp(A_i y))) + a y + fixed_i, with scale and
    a in ``factors``. ``rule`` are the step size, mu, the momentum, the accuracy and the most steps
    from one start. Vectors are (n, d W), the fixed ones may be (1, d W), the centre is (d W,), and
    ``left`` (n, W). Where the solves end is written to ``ends``, y - centre and the gradients
    there, and for each run the number of gradients to ``evaluated``; the rest is used up.
    """
    for i in range(z.shape[0]):
        vectors, last = (centre, fixed[i % fixed.shape[0]], z[i]), (ends[0][i], ends[1][i])
        _solve(lanes, data, i, factors, rule, vectors, left[i], last, evaluated, rooms)
