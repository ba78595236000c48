"""What makes the steps of a method linear where it is tested: local solves, and compressors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from certibit.data.arrays import Array
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
    number of gradient steps at most ``most`` are done.
    """

    inner: Any
    most: float = 2

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
        """Return where the first of many steps end."""
        for _ in range(int(min(count, self.most))):
            start = start - step * slope(start)
        return start

    def minimise(
        self, gradient: Callable[..., Array], start: Array, centre: Array, *where: Any,
        L: float, mu: float, **criterion: Any,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return where the step ends, and the gradient there."""
        z = -1 / L * gradient(centre + 0 * start, *where, self.inner)
        return z, gradient(centre + z, *where, self.inner)


def linear_compressor(method: Method | type[Method]) -> Compressor | None:
    """Return a compressor of the class that a method needs, linear for every draw."""
    classes = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: None}
    up, down = classes[method.needs.compressor], classes[method.needs.downlink]
    return up if down is None else TwoWay(up or Identity(), down)
