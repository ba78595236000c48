"""A method in natural units: gradients in units of L, every field of a state in its own unit.

Results in these units do not depend on the unit of L and mu, if the parameters of the method are
converted, too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.backend import where
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import Scaled, TwoWay
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.method import (
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Schedule,
    Solution,
)
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import simulated_world, theorem_step
from certibit.solvers.state import each
from certibit.theory.worlds.generic import FEATURES, generic_states
from certibit.theory.worlds.opaque.letters import OF_DIMENSION, watched


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


@dataclass(frozen=True)
class _Steeper:
    """A problem whose gradients are a multiple of another one's."""

    inner: Any
    factor: float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @property
    def grad_star(self) -> Array:
        """The gradients of the f_i at the solution."""
        return self.factor * self.inner.grad_star

    def grad(self, *where: Any, **options: Any) -> Array:
        """Gradients of all f_i."""
        return self.factor * self.inner.grad(*where, **options)

    def grad_g(self, y: Array) -> Array:
        """Gradient of g."""
        return self.factor * self.inner.grad_g(y)

    def minimise(
        self, gradient: Callable[..., Array], *where: Any, **options: Any
    ) -> tuple[Array, Array] | None:
        """Solve locally as the other problem does; None where it does not by itself."""
        solve = getattr(type(self.inner), "minimise", None)

        def steeper(*given: Any) -> Array:
            *state, inner = given
            return gradient(*state, replace(self, inner=inner))

        return solve and solve(self.inner, steeper, *where, **options)

    def at(self, runs: NDArray[np.intp]) -> "_Steeper":
        """Narrow to some of the runs."""
        return replace(self, inner=self.inner.at(runs))


@dataclass(frozen=True)
class MethodInUnits(Method):
    """A method with gradients in one unit and each field of its state in its own unit.

    Attributes
    ----------
    inner : Method
        The method itself.
    gradient : float
        The unit of gradients.
    sizes : tuple of float
        The units of the fields.
    """

    inner: Method
    gradient: float
    sizes: tuple[float, ...]

    @property
    def name(self) -> str:  # type: ignore[override]  # that of the method itself
        """Its name."""
        return self.inner.name

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        """The classes of compressors that it needs."""
        return self.inner.needs

    @property
    def per_run(self) -> tuple[str, ...]:
        """No parameter of its own."""
        return ()

    @property
    def schedule(self) -> Schedule:
        """When it communicates."""
        return self.inner.schedule

    def plain(self, s: Any) -> Any:
        """Return a state without units."""
        return self._changed(s, self.sizes)

    def of_plain(self, s: Any) -> Any:
        """Return a state without units in these units."""
        return self._changed(s, [1 / size for size in self.sizes])

    def without_units(self) -> "MethodInUnits":
        """Return the same method, in which no unit is changed."""
        return replace(self, gradient=1, sizes=(1,) * len(self.sizes))

    def steeper(self, problem: Any) -> _Steeper:
        """Return a problem with the gradients that the method itself sees."""
        return _Steeper(problem, self.gradient)

    def shown(self, problem: Any) -> Any:
        """Return what a potential sees of functions on symbols: nothing of the outcome."""
        seen = self.steeper(problem)

        def grad(x: Array) -> Array:
            return seen.grad(x)

        def grad_g(y: Array) -> Array:
            return seen.grad_g(y)

        return _Shown(
            n=seen.n, x_star=seen.x_star, grad_star=seen.grad_star, grad=grad, grad_g=grad_g
        )

    def _changed(self, s: Any, factors: Sequence[float]) -> Any:
        factor = iter(factors)
        return each(lambda x: _times(next(factor), x), s)

    def _step(self, step: Callable[..., Any], s: Any, problem: Any, channel: Any) -> Any:
        return self.of_plain(step(self.plain(s), self.steeper(problem), channel))

    def start(self, x: Array, problem: Gradients, channel: Messages) -> Any:
        """Return the first state."""
        return self.of_plain(self.inner.start(x, self.steeper(problem), channel))

    def local_step(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Do one step on every client."""
        return self._step(self.inner.local_step, s, problem, channel)

    def communicate(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Do what happens at a communication round."""
        return self._step(self.inner.communicate, s, problem, channel)

    def model(self, s: Any) -> Array:
        """Return the model."""
        with watched(self.name, is_step=False):
            return self.inner.model(self.plain(s))

    def fixed_point(self, problem: Solution) -> Any:
        """Return the state at the solution."""
        with watched(self.name, is_step=False):
            stated = self.inner.fixed_point(self.steeper(problem))
        return None if stated is None else self.of_plain(stated)

    def invariants(self, s: Any, problem: Functions) -> tuple[Array, ...] | None:
        """Return what is 0 in every state of a run."""
        with watched(self.name, is_step=False):
            return self.inner.invariants(self.plain(s), self.steeper(problem))


def in_units(method: Method, n: int, L: float) -> MethodInUnits:
    """Return a method in its natural units: the sizes of its fields on L-smooth functions.

    Sizes are taken at the start and after a step. A field that only a rare outcome changes gets its
    size in one of a few further steps with fair coins; these do not change the other sizes.
    """
    shared = method.needs.shared_minimiser
    problem = Quadratic.random(n, FEATURES, mu=L / 10, L=L, shared_minimiser=shared, seed=0)
    channel, oracle = simulated_world(Experiment.of(method, problem, linear_compressor(method)))
    start = method.start(np.ones((1, FEATURES, 1)), oracle, channel)
    after = theorem_step(method, start, oracle, channel)
    rarer = generic_states(method, OneStepSolves(oracle), 0, np.ones((1, FEATURES, 1)))
    return in_units_of(method, L, chain((start, after), rarer))


def in_units_of(method: Method, L: float, states: Iterable[Any]) -> MethodInUnits:
    """Return a method in the units of what its fields are in two states, or in the next if 0."""
    sizes: dict[str, float] = {}
    for place, s in enumerate(states):
        if place > 1 and all(sizes.values()):
            break
        for name, x in vars(s).items():
            size = sizes.get(name, 0.0)
            sizes[name] = max(size, _size(x)) if place < 2 else size or _size(x)
    usable = (size if 0 < size < np.inf else 1.0 for size in sizes.values())
    return MethodInUnits(method, L, tuple(usable))


def _size(x: Array) -> float:
    return float(np.max(np.abs(x)))


def _times(factor: float, x: Array) -> Array:
    return x if factor == 1 or x.dtype == bool else factor * x


class _Shown(SimpleNamespace):
    """Functions on symbols, of which a potential sees only what they are defined by."""

    def __getattr__(self, name: str) -> Any:
        asked = OF_DIMENSION if name == "d" else f"asks for {name} of the functions"
        raise Refusal(f"the Lyapunov function {asked}; let it use n, x_star, grad_star and grad")
