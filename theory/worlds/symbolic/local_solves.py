"""K gradient steps on every client as one inequality, so that the programme does not grow with K.

k steps of size s on a function with curvatures in [a, b] shorten its gradient by the factor
max{|1 - s a|, |1 - s b|}^k, since a step multiplies it by I - s H with a mean Hessian H. The last
point is then an unknown, with an inequality for the gradient there.
"""

from collections.abc import Callable
from dataclasses import dataclass
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
    """

    kind: int
    unknown: int
    before: Blocks
    after: Blocks
    step: Any
    count: int
    pull: Any = 0

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
) -> Array:
    """Return where gradient steps end as an unknown, the same for steps that begin the same."""
    before = frame.expression(slope(start), active)
    known: dict[int, dict[int, LocalSolve]] = {}
    for one in solves:
        if (one.step, one.count, one.pull) == (step, count, 0):
            known.setdefault(one.unknown, {})[one.kind] = one
    fitting = (
        unknown
        for unknown, found in known.items()
        if all(same_point(found[kind].before, before[kind]) for kind in before if kind in found)
    )
    unknown = next(fitting, None)
    if unknown is None:
        unknown = basis.index("local", len(solves), every_client=True)
    end = frame.unknown(basis, unknown)
    after = frame.expression(slope(end), active)
    for kind, blocks in after.items():
        if kind not in known.get(unknown, {}):
            require_no_noise(blocks, basis)
            solves.append(LocalSolve(kind, unknown, before[kind], blocks, step, count))
    return end


def require_no_noise(blocks: Blocks, basis: Basis) -> None:
    """Refuse gradients that local steps end with if they depend on the noise of this step."""
    if any(np.any(part[basis.noise] != 0) for part in blocks):
        raise Refusal("local steps depend on the noise of this very step")
