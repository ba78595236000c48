"""The regimes of one step: intervals of G = |grad f(x)|, and the step on each of them."""

import math
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Every, ExactGradients, Method, Sample, slot_of
from certibit.theory.proofs.positivity import RationalFunction, Span
from certibit.theory.relaxed.growth_bounds import exponential_above
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.relaxed.slope_world import (
    NOT_A_STEP,
    SLOPE,
    ZERO,
    Clipped,
    Cut,
    Fork,
    G,
    Moved,
    OwnUnit,
    Parts,
    SlopeVector,
    SlopeWorld,
    Turned,
    X,
)
from certibit.theory.worlds.opaque.exact_numbers import (
    Rational,
    exact_parameters,
    fraction,
    rational,
    same_up_to_rounding,
)
from certibit.theory.worlds.opaque.letters import FEATURES, refuse, watched

NEAR = rational(1e-3)
"""How near to the ends of a regime floats are compared, as a part of its length."""

MOST = 200
"""Regimes of a step at most."""

C = rational(1) / 2
"""Length of a step, times L1, at which gradients are evaluated at most."""


@dataclass(frozen=True)
class Regime:
    """The step D = x+ - x for G in a span, with some answers that the noise gives.

    D is -along grad f(x), noise of which no answer depends and of which the mean is 0, noise on
    which some answer depends, and -(unit vectors), each of which has at least the inner product
    sqrt(G^2 - radius^2) with grad f(x).

    Attributes
    ----------
    span : Span
        The values of G.
    answers : tuple of bool
        Those of the comparisons that the noise decides.
    along : RationalFunction
        The step in gradients.
    fresh : RationalFunction
        The mean squared length of the noise of mean 0.
    known : RationalFunction
        The largest length of the noise on which answers depend.
    turned : RationalFunction
        The sum of the factors of the unit vectors.
    toward : RationalFunction
        The least inner product with grad f(x)/G of what clients clip on their own, less its sign.
    spread : RationalFunction
        The largest length of that.
    radius : RationalFunction
        See above; 0 without unit vectors.
    length : RationalFunction
        The largest length of D.
    assumed : tuple of RationalFunction
        What has to be nonnegative on the span for the bounds above.
    """

    span: Span
    answers: tuple[bool, ...]
    along: RationalFunction
    fresh: RationalFunction
    known: RationalFunction
    turned: RationalFunction
    toward: RationalFunction
    spread: RationalFunction
    radius: RationalFunction
    length: RationalFunction
    assumed: tuple[RationalFunction, ...] = ()

    @property
    def square(self) -> RationalFunction | None:
        """The mean of |D|^2, or a bound; None where D is a multiple of the gradient."""
        apart = self.known or self.turned or self.spread
        if not (self.fresh or apart):
            return None
        if apart:
            return self.length**2
        return (self.along * SLOPE) ** 2 + self.fresh

    @property
    def longest(self) -> Rational | None:
        """The larger length of D of those at the ends of the span; None if it is infinite."""
        high = self.span.high
        last = self.length.at_infinity if high is None else self.length.at(high)
        return None if last is None else max(self.length.at(self.span.low), last)


@dataclass(frozen=True)
class _Functions:
    """The gradients of the f_i at the model, with the noise of a sample: the next one of a slot.

    If the method has not ``named`` its samples, every gradient is of one of its own.
    """

    world: SlopeWorld
    L0: float
    L1: float
    named: bool
    d: Any = FEATURES

    @property
    def n(self) -> int:
        return self.world.n

    def grad(self, x: Any, active: Any = None, sample: Any = None) -> SlopeVector:
        world, sample = self.world, slot_of(sample, self.named)
        if active is not None and active != world.n:
            _only("asks some of the clients for gradients", "let all of them take part")
        if not isinstance(x, SlopeVector):
            _only("asks for the gradient at what is no vector", "ask at the model")
        one = RationalFunction.of(1)
        drawn = sample if isinstance(sample, Sample) else Sample()

        def parts() -> Parts:
            alike = Parts({}, {G: one}) if world.alike else Parts({G: one}, {})
            if x.value == Parts({}, {X: one}):
                noise = {drawn: one} if sample is not None and world.sigma else {}
                return alike.combined(1, Parts(noise, {}), 1)
            step = x.value.combined(1, Parts({}, {X: one}), -1)
            if {X} & {*step.own, *step.mean} or world.kappa is None or world.sigma:
                _only(
                    "asks for a gradient away from the model of the round",
                    "certify it with one step a round, I = 1, or without noise and with kappa and "
                    "rho of |grad f_i| <= kappa + rho |grad f|",
                )
            return alike.combined(1, Parts({self._moved(step): one}, {}), 1)

        return SlopeVector(world, parts, True)

    def sample(self, slot: Any) -> Sample:
        """Draw a sample, which is the name of its noise."""
        slot_of(slot, self.named)
        return Sample()

    def _moved(self, step: Parts) -> Moved:
        """Return what the gradients of the clients differ by, after a step from the model.

        |grad f_i(x + D) - grad f_i(x)| <= (L0 + L1 |grad f_i(x)|) ((e^C - 1)/C) |D| for L1 |D| <= C
        by Gronwall's inequality, as in :mod:`~certibit.theory.relaxed.growth_bounds`; here C = 1/2.
        """
        world = self.world
        for one in world.moved:
            if one.of == step:
                return one
        L0, L1, length = rational(self.L0), rational(self.L1), world.length(step)
        steep = world.largest_gradient() * L1 + L0
        world.assumed.append(C - length * L1)
        radius = steep * length * ((exponential_above(C) - 1) / C)
        world.moved.append(Moved(len(world.moved), radius, step))
        return world.moved[-1]

    def grad_g(self, y: Any) -> NoReturn:
        _only("uses a function g", "take one that minimises f")


class _Channel:
    """Everybody takes part, and vectors arrive as they are."""

    def __init__(self, n: int) -> None:
        self.n = n

    def send(self, v: Any, mask: Any = None) -> Any:
        if mask is not None:
            _only("sends a part of a vector", "send all of it")
        return v

    def broadcast(self, v: Any, mask: Any = None) -> Any:
        if mask is not None:
            _only("broadcasts a part of a vector", "send all of it")
        return v

    def cohort(self, m: int) -> Any:
        if m != self.n:
            _only("draws a cohort", "let all clients take part")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _only(f"calls {name} of the channel", "take a method that sends vectors as they are")


def _only(it: str, instead: str) -> NoReturn:
    refuse(NOT_A_STEP, it, instead)


def regimes(
    method: Method, functions: RelaxedFunctions, at: tuple[Rational, ...] = ()
) -> list[Regime]:
    """Run one step of a method on symbols for all G, and return its regimes.

    They are points and open intervals that cover all G >= 0, cut also at some given numbers.

    Raises
    ------
    Refusal
        If the step is not of the kind that is certified.

    Examples
    --------
    >>> from certibit import ClippedSGD, RelaxedFunctions
    >>> for one in regimes(ClippedSGD(eta=0.5, gamma=2.0), RelaxedFunctions(1.0, 1.0)):
    ...     print(one.span.low, one.span.high, one.along)
    0 0 1/2
    0 4 1/2
    4 4 1/2
    4 None (2)/(x)
    """
    exact = exact_parameters(method)
    if method.schedule != Every():
        raise Refusal(
            f"{method.name} does not communicate at every iteration, and its steps are not "
            "certified on (L0, L1)-smooth functions; take one that does"
        )
    zero = rational(0)
    ends = [zero, *at]
    waiting: list[tuple[Span, tuple[bool, ...]]] = [
        (span, ())
        for low, high in zip(ends, [*at, None], strict=True)
        for span in (Span(low, low), Span(low, high))
    ]
    found: list[Regime] = []
    while waiting:
        span, answers = waiting.pop()
        try:
            found.append(_regime(exact, span, answers, functions))
        except Cut as cut:
            parts = (
                Span(span.low, cut.place),
                Span(cut.place, cut.place),
                Span(cut.place, span.high),
            )
            waiting += [(part, answers) for part in parts]
        except Fork:
            waiting += [(span, (*answers, answer)) for answer in (False, True)]
        if len(found) + len(waiting) > MOST:
            raise Refusal(
                f"a step of {method.name} has more than {MOST} regimes; none is certified"
            )
    for one in found:
        for place in _places(one.span):
            _require_same(method, one, functions, place)
    return sorted(found, key=lambda one: (one.span.low, not one.span.is_point, one.answers))


def _places(span: Span) -> list[Rational]:
    """Return a few places inside of a span: in the middle, and near its ends."""
    if span.is_point:
        return []
    if span.high is None:
        return [span.low + part * (span.low + 1) for part in (1, NEAR, 1 / NEAR)]
    return [span.low + part * (span.high - span.low) for part in (rational(0.5), NEAR, 1 - NEAR)]


def _require_same(method: Method, one: Regime, functions: RelaxedFunctions, at: Rational) -> None:
    """Refuse a method whose step at a place in a regime is another one with floats, or on arrays.

    Arrays are those of functions that all have one gradient.
    """
    point, alike = Span(at, at), replace(functions, sigma=0.0, kappa=0.0, rho=1.0)
    n, x = functions.n, np.zeros((1, 2, 1))
    slopes = np.full((n, 1, 1), float(fraction(at))) * np.eye(2)[:1, :, None]
    problem: Any = SimpleNamespace(n=n, d=2, sample=ExactGradients().sample)
    problem.grad = lambda *_, **__: 1 * slopes
    channel: Any = _Channel(n)
    pairs = []
    with suppress(Fork):
        rough = vars(_regime(method, point, one.answers, functions))
        ratios = [name for name, x in vars(one).items() if isinstance(x, RationalFunction)]
        pairs = [(rough[name].at(at), getattr(one, name).at(at)) for name in ratios]
        s = method.local_step(method.start(x, problem, channel), problem, channel)
        moved = method.model(method.communicate(s, problem, channel))[0, :, 0]
        step = _regime(exact_parameters(method), point, (), alike)
        pairs += zip(moved, (-step.along.at(at) * at - step.turned.at(at), 0), strict=True)
    found, known = np.array(pairs or [(1, 0)], dtype=float).T.reshape(2, -1, 1, 1, 1)
    if not same_up_to_rounding([*found], [*known]):
        raise Refusal(
            f"{method.name} does not do with floats, or arrays, what it does with the rational "
            "numbers that they stand for and has no certificate; it must not ask what they are"
        )


def _dissimilarity(functions: RelaxedFunctions) -> tuple[Rational | None, Rational]:
    if functions.kappa == math.inf:
        return None, rational(1)
    return rational(functions.kappa), rational(functions.rho)


def _regime(method: Method, span: Span, answers: tuple[bool, ...], of: RelaxedFunctions) -> Regime:
    """Return the step for some G, with some answers of the noise."""
    world = SlopeWorld(of.n, rational(of.sigma), span, answers, *_dissimilarity(of))
    functions: Any = _Functions(world, of.L0, of.L1, method.needs.samples)
    channel: Any = _Channel(world.n)
    model_parts = Parts({}, {X: RationalFunction.of(1)})
    x: Any = SlopeVector(world, lambda: model_parts, False)
    with watched(method.name):
        state = method.start(x, functions, channel)
        parts = [getattr(state, one.name) for one in fields(state)] if is_dataclass(state) else []
        if len(parts) != 1 or parts[0] is not x:
            _only("starts from a state with more than the model", "take one that keeps x only")
        after = method.communicate(method.local_step(state, functions, channel), functions, channel)
        model: Any = method.model(after)
        if type(after) is not type(state) or model is not getattr(after, fields(state)[0].name):
            _only(
                "ends in a state of another kind than it starts from", "let a state stay what it is"
            )
        if not isinstance(model, SlopeVector):
            _only("returns a model that is no vector", "return x")
        return _read(model.value, world)


def _read(model: Parts, world: SlopeWorld) -> Regime:
    """Return the parts of x+ - x."""
    step = dict(model.mean)
    if model.own or step.pop(X, ZERO) != RationalFunction.of(1):
        _only("moves the model by a multiple of itself, or leaves one of every client", "move x")
    along = -step.pop(G, ZERO)
    fresh = known = turned = toward = spread = radius = ZERO
    length = along * world.sign(along) * SLOPE
    for name, factor in step.items():
        size = factor * world.sign(factor)
        length = length + size * world.size(name)
        if isinstance(name, OwnUnit):
            _only("moves along the directions of the clients' gradients", "clip them")
        if isinstance(name, Turned | Clipped) and world.sign(factor) > 0:
            _only("moves along the direction of a gradient", "move against it")
        if isinstance(name, Turned):
            turned = turned + size
            radius = name.radius if world.sign(name.radius - radius) > 0 else radius
        elif isinstance(name, Clipped):
            toward = toward + size * name.toward
            spread = spread + size * name.length
        elif isinstance(name, Moved) or name in world.revealed:
            known = known + size * world.size(name)
        else:
            fresh = fresh + factor**2 * (world.sigma**2 / world.n)
    parts = along, fresh, known, turned, toward, spread, radius, length
    return Regime(world.span, world.answers, *parts, tuple(world.assumed))
