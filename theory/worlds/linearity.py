"""What makes the steps of a method linear where it is tested: local solves, and compressors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import where
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.compressors.two_way import TwoWay
from certibit.solvers.method import Method


@dataclass(frozen=True)
class OneStepSolves:
    """A problem on which a local solve is one gradient step from the centre, which is linear.

    The end of an actual local solve depends on the data; symbols represent it by an unknown point
    and an inequality. All other operations of a step are tested with this problem. Of a given
    number of gradient steps at most ``most`` are done; where they are ``repeated``, it is seen that
    the slopes of all of them are those of one function.
    """

    inner: Any
    most: float = 2
    repeated: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def gradient_steps(
        self,
        slope: Callable[[Array], Array],
        start: Array,
        active: Array,
        step: float,
        count: int,
    ) -> Array:
        """Return where the first of many steps end.

        Raises
        ------
        Refusal
            If slopes at the points of the steps, asked for again, are others.
        """
        points, slopes = [start], list[Array]()
        for _ in range(int(count if self.repeated else min(count, self.most))):
            slopes.append(slope(points[-1]))
            points.append(points[-1] - step * slopes[-1])
        if self.repeated and not all(
            (slope(x) == g).all() for x, g in zip(points[-2::-1], slopes[::-1], strict=True)
        ):
            raise Refusal(
                "the slope of local steps depends on what was asked for before, beside its point, "
                "and has no certificate; let it be that of one function"
            )
        return points[int(min(count, self.most))]

    def minimise(
        self, gradient: Callable[..., Array], start: Array, centre: Array, given: Any,
        active: Array, *, L: float, mu: float, **criterion: Any,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return where the step ends on active clients, and the gradient there."""
        slope = gradient(centre + 0 * start, given, active, self.inner)
        z = where(active, -1 / L * slope, start)
        there = gradient(centre + z, given, active, self.inner)
        return z, where(active, there, 0 * there)


def linear_compressor(method: Method | type[Method]) -> Compressor | None:
    """Return a compressor of the class that a method needs, linear for every draw."""
    classes = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: None}
    up, down = classes[method.needs.compressor], classes[method.needs.downlink]
    return up if down is None else TwoWay(up or Identity(), down)
