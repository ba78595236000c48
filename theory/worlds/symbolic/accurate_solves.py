"""Local solves that end by a criterion; the criterion is the inequality of the programme."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.theory.worlds.symbolic.frames import Basis, Blocks, Frame, same_point
from certibit.theory.worlds.symbolic.local_solves import LocalSolve, require_alone


@dataclass(frozen=True, eq=False)
class AccurateSolve(LocalSolve):
    """Local steps on F_i + (pull/2) |y - centre|^2 that end where they are accurate enough.

    That is where |after|^2 <= accuracy |before|^2: ``before`` is the gradient of F_i at the end,
    and ``after`` that of the sum. From the centre, ``count`` plain steps are enough.

    Attributes
    ----------
    accuracy : number
        Of the criterion.
    start : Blocks
        The first point minus the centre, which identifies equal solves.
    """

    accuracy: Any = 0
    start: Blocks = ()

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
                kind, unknown, before[kind], after[kind], 1 / L, most, mu, accuracy, begin[kind]
            )
            for kind in after
        }
        found = known.get(unknown, {})
        if all(one.same(found[kind]) for kind, one in asked.items() if kind in found):
            break
    for kind, one in asked.items():
        if kind not in found:
            require_alone(one, evaluations, frame, basis)
            solves.append(one)
    return end, change
