"""Local solves, client by client, compiled by numba; imported when first needed.

Up to W runs of a client are the lanes of a vector register, as in ``row_passes``. Steps are done on
the features that occur in the client's rows. On all other features the gradient is linear with one
slope, so that the distance to the solution shrinks by the same factor on all of them, and two
numbers describe any number of steps. A run that is done continues, without effect, until all runs
of the client are done.
"""

from typing import Any

from certibit.data.passes.compilation import compiled
from certibit.data.passes.local_passes import add_dot
from certibit.data.passes.row_passes import set_row, slopes


@compiled
def _begin(
    start: Any, centre: Any, vector: Any, factors: Any, mu: Any, left: Any, ends: Any, rest: Any
) -> None:  # pragma: no cover
    """Set the ends to the start and to the gradients there without losses; ``rest``, with mu z."""
    (_, a, b), (z, change), runs = factors, ends, left.size
    for q in range(z.size):
        z[q] = start[q]
    for q in range(z.size):
        change[q] = a * (start[q] + centre[q]) + b * vector[q]
    for q in range(z.size):
        rest[q] = change[q] + mu * start[q]
    for w in range(runs):
        if not left[w]:
            for q in range(w, z.size, runs):
                change[q] = 0.0


@compiled
def _begin_again(
    centre: Any, vector: Any, factors: Any, left: Any, ends: Any, rest: Any
) -> None:  # pragma: no cover
    """Do the same at z = 0 in the runs that are left, and let others alone."""
    (_, a, b), (z, change), runs = factors, ends, left.size
    for w in range(runs):
        if left[w]:
            for q in range(w, z.size, runs):
                z[q], change[q] = 0.0, a * centre[q] + b * vector[q]
                rest[q] = change[q]


@compiled
def _take_own(
    lanes: Any, own: Any, base: Any, runs: Any, r: Any, a: Any, b: Any, fixed: Any, ends: Any,
    left: Any, rest: Any, vectors: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Take the entries of a client's own features out: z, the centre, a centre + b u, (k, W)."""
    (centre, vector), (z, change), width = fixed, ends, len(lanes)
    (_, point, before, _, middle, added, _, _), some = vectors, min(len(lanes), runs - r)
    for k in range(own.size):
        for w in range(width):
            q, at = k * width + w, (own[k] - base) * runs + r + w
            point[q], middle[q], added[q] = 0.0, 0.0, 0.0
            if w < some:
                point[q], middle[q], added[q] = z[at], centre[at], a * centre[at] + b * vector[at]
                if left[r + w]:
                    change[at], rest[at] = 0.0, 0.0
            before[q] = point[q]


@compiled
def _evaluate(
    lanes: Any, data: Any, i: Any, own: Any, scale: Any, a: Any, mu: Any, point: Any, vectors: Any,
    slots: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Set the gradients and the slopes of a client's own features, (k, W)."""
    rows, features, (_, m, d, _) = data
    starts, columns, values = rows
    _, clients, t_starts, t_columns, t_values = features
    (y, _, _, _, middle, added, gradient, slope), (s, powers), width = vectors, slots, len(lanes)
    first, size = clients[i], own.size * width
    for k in range(own.size):
        for w in range(width):
            y[(own[k] - i * d) * width + w] = point[k * width + w] + middle[k * width + w]
    for k in range(m):
        begin, end = starts[i * m + k], starts[i * m + k + 1]
        set_row(lanes, values, columns, begin, end, y, 0, width, width, s, k * width)
    slopes(s, powers, scale)
    for k in range(own.size):
        begin, end, base = t_starts[first + k], t_starts[first + k + 1], -i * m * width
        set_row(lanes, t_values, t_columns, begin, end, s, base, width, width, gradient, k * width)
    for q in range(size):
        gradient[q] += a * point[q] + added[q]
    for q in range(size):
        slope[q] = gradient[q] + mu * point[q]


@compiled
def _put_back(
    width: Any, own: Any, base: Any, runs: Any, run: Any, w: Any, a: Any, mu: Any, moved: Any,
    ends: Any, point: Any, gradient: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Write where a run ends: the rest of the features, and the client's own from lane w."""
    z, change = ends
    if moved != 0.0:
        for q in range(run, z.size, runs):
            slope = change[q] + mu * z[q]
            z[q] += moved * slope
            change[q] += a * moved * slope
    for k in range(own.size):
        at = (own[k] - base) * runs + run
        z[at], change[at] = point[k * width + w], gradient[k * width + w]


@compiled
def _descend(
    lanes: Any, data: Any, i: Any, r: Any, factors: Any, rule: Any, again: Any, fixed: Any,
    ends: Any, left: Any, evaluated: Any, rooms: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Do the steps of client i in the runs from r on that are left, and write where they end."""
    (_, _, d, runs), width, (scale, a, b) = data[2], len(lanes), factors
    step, mu, hasty, accuracy, most = rule
    momentum = 0.0 if again else hasty
    rest, vectors, (squares, others, of_rest, of_change, of_both), slots = rooms
    _, point, before, after, _, _, gradient, slope = vectors
    some, count = min(width, runs - r), 0
    for w in range(some):
        count += left[r + w]
    if count == 0:
        return
    places, clients, _, _, _ = data[1]
    own = places[clients[i] : clients[i + 1]]
    size = own.size * width
    _take_own(lanes, own, i * d, runs, r, a, b, fixed, ends, left, rest, vectors)
    for w in range(width):
        of_rest[w], of_change[w], of_both[w] = 0.0, 0.0, 0.0
    add_dot(lanes, rest, r, rest[r:], d, runs, of_rest, 0)
    add_dot(lanes, ends[1], r, ends[1][r:], d, runs, of_change, 0)
    add_dot(lanes, rest, r, ends[1][r:], d, runs, of_both, 0)
    # on the rest z is its start + moved * slope there, and the slope has shrunk by one factor
    moved, shrunk, moved_before, shrunk_before = 0.0, 1.0, 0.0, 1.0
    for number in range(most + 1):
        _evaluate(lanes, data, i, own, scale, a, mu, point, vectors, slots)
        for w in range(width):
            squares[w], others[w] = shrunk * shrunk * of_rest[w], of_change[w]
            if a * moved != 0.0:
                others[w] += a * moved * (2.0 * of_both[w] + a * moved * of_rest[w])
        add_dot(lanes, slope, 0, slope, own.size, width, squares, 0)
        add_dot(lanes, gradient, 0, gradient, own.size, width, others, 0)
        for w in range(some):
            evaluated[r + w] += left[r + w]
            enough = squares[w] <= accuracy * others[w] or (again and number == most)
            if left[r + w] and enough:
                left[r + w] = 0
                count -= 1
                _put_back(width, own, i * d, runs, r + w, w, a, mu, moved, ends, point, gradient)
        if count == 0:
            return
        for q in range(size):
            after[q] = point[q] - step * slope[q]
        for q in range(size):
            point[q] = after[q] + momentum * (after[q] - before[q])
        before, after = after, before
        one, other = moved - step * shrunk, shrunk - step * (a + mu) * shrunk
        moved, moved_before = one + momentum * (one - moved_before), one
        shrunk, shrunk_before = other + momentum * (other - shrunk_before), other


@compiled
def local_solves(
    lanes: Any, data: Any, factors: Any, rule: Any, start: Any, centre: Any, vectors: Any,
    left: Any, ends: Any, evaluated: Any, rooms: Any,
) -> None:  # fmt: skip  # pragma: no cover
    """Minimise functions plus (mu/2) |y - centre|^2, from y = centre + start, where runs are left.

    ``data`` are the rows, the features and the shape (n, m, d, R), as in ``row_passes``, and the
    gradients of the functions are scale A_i' (1 / (1 + exp(A_i y))) + a y + b u_i, with scale, a
    and b in ``factors``. ``rule`` are the step size, mu, the momentum, the accuracy and the most
    steps from one start. Vectors are (n, d R), the u_i may be (1, d R), the centre is (d R,), and
    ``left`` (n, R). The results are written to ``ends``: the last y - centre and the gradients
    there. The number of gradients of each run is written to ``evaluated``. After the second of the
    ends, and in the first of the rooms, W numbers more are read than there are.
    """
    runs, mu, rest = data[2][3], rule[1], rooms[0]
    for i in range(start.shape[0]):
        fixed, own = (centre, vectors[i % vectors.shape[0]]), (ends[0][i], ends[1][i])
        for again in range(2):
            if again:
                _begin_again(centre, fixed[1], factors, left[i], own, rest)
            else:
                _begin(start[i], centre, fixed[1], factors, mu, left[i], own, rest)
            for r in range(0, runs, len(lanes)):
                _descend(
                    lanes, data, i, r, factors, rule, again, fixed, own, left[i], evaluated, rooms
                )
