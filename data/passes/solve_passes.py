"""Local solves, client by client, compiled by numba; imported when first needed.

Up to W runs of a client are the lanes of a vector register, as in ``row_passes``; all its steps are
done while its rows and vectors are in a cache. A run that has ended goes on, unseen, until the last
one of its register has.
"""

from typing import Any

import numpy as np

from bitbound.data.files.compilation import compiled
from bitbound.data.passes.local_passes import add_dot
from bitbound.data.passes.row_passes import add_row, slopes


@compiled
def _evaluate(
    lanes: Any, data: Any, i: Any, function: Any, y: Any, fixed: Any, out: Any, s: Any, powers: Any
) -> None:  # pragma: no cover
    """Set ``out`` to scale A_i' (1 / (1 + exp(A_i y))) + a y + fixed, all (d, W), read through."""
    rows, features, (_, m, d, _) = data
    (scale, a, _), width = function, len(lanes)
    starts, columns, values = rows
    places, clients, t_starts, t_columns, t_values = features
    for q in range(d * width):
        out[q] = a * y[q] + fixed[q]
    s[:] = 0.0
    for k in range(m):
        begin, end = starts[i * m + k], starts[i * m + k + 1]
        add_row(lanes, values, columns, begin, end, y, 0, width, width, s, k * width)
    slopes(s, powers, scale)
    for k in range(clients[i], clients[i + 1]):
        begin, end, at = t_starts[k], t_starts[k + 1], (places[k] - i * d) * width
        add_row(lanes, t_values, t_columns, begin, end, s, -i * m * width, width, width, out, at)


@compiled
def _minimise(
    lanes: Any, data: Any, i: Any, function: Any, rule: Any, vectors: Any, rooms: Any,
    left: Any, asked: Any, ends: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Do the steps of client i in the runs that are left, from z, and leave where they end.

    ``vectors`` are the centre, what is added to the gradients, and z, (d, W) each and read through.
    """
    (_, _, (_, _, d, _)), width = data, len(lanes)
    (centre, fixed, z), (y, before, after, gradient, slope, s, powers) = vectors, rooms
    (step, mu, hasty, accuracy, most), (ends_z, ends_gradient) = rule, ends
    size = d * width
    large, small = np.empty(width), np.empty(width)
    for q in range(size):
        before[q] = z[q]
    for attempt in range(2):
        momentum = 0.0 if attempt else hasty
        for number in range(most + 1):
            for q in range(size):
                y[q] = z[q] + centre[q]
            _evaluate(lanes, data, i, function, y, fixed, gradient, s, powers)
            for q in range(size):
                slope[q] = gradient[q] + mu * z[q]
            large[:] = 0.0
            small[:] = 0.0
            add_dot(lanes, slope, 0, slope, d, large, 0)
            add_dot(lanes, gradient, 0, gradient, d, small, 0)
            asked += left
            last, count = attempt == 1 and number == most, 0
            for w in range(width):
                if left[w] and (last or large[w] <= accuracy * small[w]):
                    left[w] = 0
                    for q in range(w, size, width):
                        ends_z[q], ends_gradient[q] = z[q], gradient[q]
                count += left[w]
            if count == 0:
                return
            for q in range(size):
                after[q] = z[q] - step * slope[q]
            for q in range(size):
                z[q] = after[q] + momentum * (after[q] - before[q])
            before, after = after, before
        z[:] = 0.0


@compiled
def local_solves(
    lanes: Any, data: Any, function: Any, rule: Any, centre: Any, u: Any,
    going: Any, z: Any, change: Any, evaluated: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Minimise functions plus (mu/2) |y - centre|^2, from y = centre + z, on the clients ``going``.

    ``data`` are the rows, the features and the shape (n, m, d, R), as in ``row_passes``, and
    ``function`` the factors of its gradients scale A_i' (1 / (1 + exp(A_i y))) + a y + b u_i.
    ``rule`` are the step size, mu, the momentum, the accuracy and the most steps from one start.
    Where they end is left in z, the gradients there in ``change``, and for each run the number of
    gradients in ``evaluated``. Vectors are read through, u with the distance from one client to the
    next; ``going`` is (n, R).
    """
    (_, _, (n, m, d, runs)), (_, _, b), (vectors, apart), width = data, function, u, len(lanes)
    size = d * width
    middle, fixed, own = np.zeros(size), np.zeros(size), np.zeros(size)
    ends = np.zeros(size), np.zeros(size)
    rooms = (
        np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size),
        np.zeros(m * width), np.zeros(m * width),
    )  # fmt: skip
    left, asked = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for r in range(0, runs, width):
        some = min(width, runs - r)
        for q in range(d * some):
            middle[q // some * width + q % some] = centre[q // some * runs + r + q % some]
        left[:] = 0
        asked[:] = 0
        for i in range(n):
            for w in range(some):
                left[w] = going[i, r + w]
            if left.sum() == 0:
                continue
            for j in range(d):
                place, other = j * width, j * runs + r
                for w in range(some):
                    own[place + w] = z[i * d * runs + other + w]
                    fixed[place + w] = b * vectors[i * apart + other + w]
            _minimise(
                lanes, data, i, function, rule, (middle, fixed, own), rooms, left, asked, ends
            )
            for j in range(d):
                place, other = j * width, (i * d + j) * runs + r
                for w in range(some):
                    if going[i, r + w]:
                        z[other + w] = ends[0][place + w]
                        change[other + w] = ends[1][place + w]
        for w in range(some):
            evaluated[r + w] = asked[w]
