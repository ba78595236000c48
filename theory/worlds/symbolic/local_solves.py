"""Local solves on every client as one inequality: K gradient steps, or as many as a criterion asks.

k steps of size s on a function with curvatures in [a, b] shorten its gradient by the factor
max{|1 - s a|, |1 - s b|}^k, since a step multiplies it by I - s H with a mean Hessian H. The last
point is then an unknown, with an inequality for the gradient there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.theory.worlds.opaque.exact_numbers import Exact
from certibit.theory.worlds.symbolic.frames import Basis, Blocks, Frame, same_point

DIGITS = 12
"""Of the factor of all steps in rational numbers, which is rounded up."""


@dataclass(frozen=True, eq=False)
class LocalSolve:
    """Gradient steps of the clients of a kind.

    Attributes
    ----------
    kind : int
        Of the clients.
    unknown : int
        The number of the last point, the first of those of all kinds.
    before, after : Blocks
        The gradients at the first and at the last point.
    step : number
        The step size.
    count : int
        The number of steps.
    pull : number
        The weight of the quadratic that pulls to the first point, if a criterion ends the steps.
    start : Blocks
        The first point, less the centre if there is one, which identifies equal solves.
    """

    kind: int
    unknown: int
    before: Blocks
    after: Blocks
    step: Any
    count: int
    pull: Any = 0
    start: Blocks = ()

    @property
    def place(self) -> int:
        """The number of where the steps end, for the clients of this kind."""
        return self.unknown + self.kind

    @property
    def name(self) -> str:
        """That of its inequality."""
        return f"local steps {self.place}"

    def function(self, gradient: int) -> tuple[Any, Any]:
        """Return how often the steps are on a function of the class, and on |x|^2/2 with it.

        That is told by the gradient at the end, whose unknown is given.
        """
        return self.after[0][gradient], self.after[0][self.place]

    def ratio(self, gradient: int, mu: Any, L: Any) -> Any:
        """Return the factor of the squared length of the gradient, at most.

        The function is a multiple of one of a class, whose gradient at the end is an unknown, plus
        a quadratic.
        """
        return self.shortening(gradient, mu, L, 2 * self.count)

    def shortening(self, gradient: int, mu: Any, L: Any, count: int) -> Any:
        """Return the factor of the length of the gradient in so many steps, rounded up."""
        share, ridge = self.function(gradient)
        slowest = max(abs(1 - self.step * (share * curve + ridge)) for curve in (mu, L))
        if isinstance(slowest, Exact):
            power = slowest.value**count
            scale = 10**DIGITS * max(1, int(power.q) // max(int(power.p), 1))
            return Exact((power * scale).ceil()) / scale
        rounding = 1 + 2 * count * float(np.finfo(float).eps)
        return slowest**count * rounding


def local_solve(
    solves: list[LocalSolve],
    slope: Callable[[Array], Array],
    start: Array,
    active: NDArray[np.bool_],
    step: Any,
    count: int,
    frame: Frame,
    basis: Basis,
    evaluations: Iterable[Any],
) -> Array:
    """Return where gradient steps end as an unknown, the same for equal steps.

    They begin the same, and would have the same gradients at this end.
    """
    before, begin = frame.expression(slope(start), active), frame.expression(start, active)
    known: dict[int, dict[int, LocalSolve]] = {}
    for one in solves:
        if (one.step, one.count, one.pull) == (step, count, 0):
            known.setdefault(one.unknown, {})[one.kind] = one

    def same(ends: Mapping[int, LocalSolve], name: str, made: Mapping[int, Blocks]) -> bool:
        return all(same_point(getattr(ends[k], name), v) for k, v in made.items() if k in ends)

    fitting = (
        unknown
        for unknown, ends in known.items()
        if same(ends, "before", before) and same(ends, "start", begin)
    )
    new = (basis.index("local", len(solves), every_client=True) for _ in range(1))
    for unknown in chain(fitting, new):
        end = frame.unknown(basis, unknown)
        after = frame.expression(slope(end), active)
        found = known.get(unknown, {})
        if same(found, "after", after):
            break
    for kind, blocks in after.items():
        if kind not in found:
            solve = LocalSolve(kind, unknown, before[kind], blocks, step, count, start=begin[kind])
            _require_alone(solve, evaluations, frame, basis)
            solves.append(solve)
    return end


def _require_alone(
    solve: LocalSolve, evaluations: Iterable[Any], frame: Frame, basis: Basis
) -> None:
    """Refuse local steps that are not on the function of the client and a quadratic of its own.

    What moves with their end has numbers from that of the end on. Of the gradient there these parts
    are the end, and a gradient at a point that moves as it does, of the client itself.
    """
    if any(np.any(part[basis.noise] != 0) for part in solve.after):
        raise Refusal("local steps depend on the noise of this very step")
    kind, after, end = solve.kind, solve.after, solve.unknown
    own = 1 + kind if frame.counts[kind] > 1 else 0
    parts = {int(place) for place in end + np.flatnonzero(after[0][end:])}
    there = [e for e in evaluations if e.kind == kind and e.gradient in parts]
    point = 0 * after[0]
    point[solve.place] = point[solve.place] + 1
    pairs = [(after[0], after[own]), *((e.point[k], point) for e in there for k in (0, own))]
    alike = all(same_point((a[end:],), (b[end:],)) for a, b in pairs)
    if len(there) > 1 or parts - {solve.place, *(e.gradient for e in there)} or not alike:
        raise Refusal(
            "local steps are certified along one gradient of the client itself, at the point where "
            "they are, plus a multiple of this point and what stays; leave other parts out"
        )


@dataclass(frozen=True, eq=False)
class AccurateSolve(LocalSolve):
    """Local steps on F_i + (pull/2) |y - centre|^2 that end where they are accurate enough.

    That is where |after|^2 <= accuracy |before|^2: ``before`` is the gradient of F_i at the end,
    and ``after`` that of the sum. From the centre, ``count`` plain steps are enough.

    Attributes
    ----------
    accuracy : number
        Of the criterion.
    """

    accuracy: Any = 0

    def same(self, other: "AccurateSolve") -> bool:
        """Whether they end at the same point: they begin the same, on the same functions."""
        own, others = ((s.step, s.count, s.pull, s.accuracy) for s in (self, other))
        ends = (self.start, other.start), (self.before, other.before), (self.after, other.after)
        return own == others and all(same_point(a, b) for a, b in ends)

    def ratio(self, gradient: int, mu: Any, L: Any) -> Any:
        """Return the accuracy, having seen that the most steps are enough for it.

        Let s be the gradient of the sum, with curvatures in [a, b], after ``count`` plain steps
        from the centre, c_0 the one there, c that of F_i and z = (s - c)/pull the way from the
        centre; r = |s|/|c_0| is known. With e = s - a z, e - c_0 is the change of the gradient of a
        convex, (b - a)-smooth function, and <e - c_0, z> >= |e - c_0|^2/(b - a), so that
        |e - s| >= a |e - c_0|/(b - a) and b |e| >= a |c_0| - (b - a) |s|. From
        c = (pull e + (a - pull) s)/a follows |c|/|c_0| >= pull (a - (b - a) r)/(a b) -
        |a - pull| r/a.

        Raises
        ------
        Refusal
            If they are not: the criterion may never hold; or if the sum is not convex.
        """
        share, ridge = self.function(gradient)
        a, b = (share * curve + ridge for curve in (mu, L))
        if share < 0 or not (a > 0 and self.pull > 0):
            raise Refusal(
                "local steps that end by a criterion are on functions of which nothing is known; "
                "let them be on f_i, times a number above 0, and a convex quadratic"
            )
        r = self.shortening(gradient, mu, L, self.count)
        least = (
            self.pull * (a - (b - a) * r) - abs(a - self.pull) * b * r
        )  # of |c|/|c_0|, a b times
        if not (least > 0 and (r * a * b) ** 2 <= self.accuracy * least**2):
            raise Refusal(
                f"{self.count} local steps are not enough for their criterion to hold in the end, "
                "and nothing is certified without it; allow more"
            )
        return self.accuracy


def accurate_solve(
    solves: list[LocalSolve],
    gradient: Callable[[Array], Array],
    start: Array,
    active: NDArray[np.bool_],
    frame: Frame,
    basis: Basis,
    evaluations: Iterable[Any],
    *,
    accuracy: Any,
    L: Any,
    mu: Any,
    most: int,
) -> tuple[Array, Array]:
    """Return where steps that end by a criterion do, as an unknown, and the gradient there.

    It is the same for steps that begin the same on the same functions, called with y - centre.
    """
    begin = frame.expression(start, active)
    known: dict[int, dict[int, AccurateSolve]] = {}
    for one in solves:
        if isinstance(one, AccurateSolve):
            known.setdefault(one.unknown, {})[one.kind] = one

    def ends() -> Iterator[int]:
        yield from known
        yield basis.index("local", len(solves), every_client=True)

    for unknown in ends():
        end = frame.unknown(basis, unknown)
        change = gradient(end)
        before, after = (frame.expression(v, active) for v in (change, change + mu * end))
        asked = {
            kind: AccurateSolve(
                kind, unknown, before[kind], after[kind], 1 / L, most, mu, begin[kind], accuracy
            )
            for kind in after
        }
        found = known.get(unknown, {})
        if all(one.same(found[kind]) for kind, one in asked.items() if kind in found):
            break
    for kind, one in asked.items():
        if kind not in found:
            _require_alone(one, evaluations, frame, basis)
            solves.append(one)
    return end, change
