"""The complexity that a theorem promises, with constants: iterations, rounds, reals and bits.

With E[Psi+] <= tau Psi and a constant c such that f(x) - f* <= c Psi at the model x, every point of
a run has E[f - f*] <= c tau^t Psi^0, which is an upper bound on what is measured. A descent bounds
the mean of its measure over the points of a run, a theorem about whole runs f - f* at the last one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array, common_if
from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.backend import mean
from certibit.solvers.libraries import host
from certibit.solvers.method import Every, Method, Slot, WithProbability
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment, fitted_view
from certibit.solvers.simulation.iteration import method_at, simulated_world
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import copied, number_of_runs
from certibit.solvers.total_bits import total_bits
from certibit.theory.potential import Gap, Potential, Squares, Terms, value
from certibit.theory.setting import Setting
from certibit.theory.theorem import AnyPromise, ContractionPromise, RunPromise, Theorem
from certibit.theory.worlds.fixed_points import at_rest, fixed_point
from certibit.theory.worlds.linear_maps import lyapunov_matrix, unit_deviations
from certibit.theory.worlds.outcomes import Scripted, outcomes


@dataclass(frozen=True)
class RoundCost:
    """Mean cost of one communication round, per client (mean over clients).

    Attributes
    ----------
    uplink_bits, downlink_bits : float
        Counted on the channel that the simulation uses.
    iterations : float
        Mean number of iterations from one round to the next: 1/p or K.
    gradients : float
        Gradients of the client's own function, in the round and its iterations; NaN where clients
        say by themselves when they evaluate one, so that the number depends on the state.
    begin : tuple of float
        Uplink bits, downlink bits and gradients of the start of a run, before the first round.
    """

    uplink_bits: float
    downlink_bits: float
    iterations: float
    gradients: float
    begin: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def bits(self, downlink: float = 0.0) -> float:
        """Return the bits sent plus ``downlink`` times the bits received."""
        return total_bits(self.uplink_bits, self.downlink_bits, downlink)

    def bits_of(self, rounds: float, downlink: float = 0.0) -> float:
        """Return the bits of a start and so many rounds."""
        return total_bits(*self.begin[:2], downlink) + rounds * self.bits(downlink)


def round_cost(experiment: ConvexExperiment) -> RoundCost:
    """Count the mean cost of a round on the channel; coins are enumerated, not sampled.

    The clients that a cohort or mask chooses do not change the total, so one draw is enough.

    Raises
    ------
    Refusal
        If the bits of a round are others after a few rounds, with other flags in the state, or for
        other coins of clients.
    """
    method, n = method_at(experiment.method, 1), experiment.n
    schedule = method.schedule
    iterations = float(schedule.iterations if isinstance(schedule, Every) else 1 / schedule.p)
    channel, oracle = simulated_world(experiment)
    shared = {name: getattr(oracle, name) for name in ("problem", "runs", "tape", "named")}
    state = method.start(channel.template, oracle, channel)
    first = channel.ledger
    begin = (
        float(first.uplink_bits[0]) / n,
        float(first.downlink_bits[0]) / n,
        float(first.gradients[0]) / n,
    )

    def spend(world: _CoinChannel, state: Any = state) -> NDArray[np.float64]:
        ledger = world.inner.ledger
        counted = _CountedOnce(ledger=ledger, masks=world.masks, **shared)
        state = copied(state)
        method.local_step(state, counted, world)
        local = float(ledger.gradients[0])
        method.communicate(state, counted, world)
        gradients = ledger.gradients[0] + (iterations - 1) * local
        if counted.unforeseen:
            gradients = np.nan
        return np.array([ledger.uplink_bits[0], ledger.downlink_bits[0], gradients]) / n

    def after(state: Any) -> Any:
        world = fresh(())
        counted = _CountedOnce(ledger=world.inner.ledger, masks=world.masks, **shared)
        state = method.local_step(copied(state), counted, world)
        return method.communicate(state, counted, world)

    def fresh(script: Sequence[int], seed: int = 0) -> _CoinChannel:
        return _CoinChannel(simulated_world(experiment, [seed])[0], script)

    up, down, gradients = sum(probability * cost for probability, cost in outcomes(spend, fresh))
    states = [second := after(state), after(second), *_with_other_flags(state), state, state]
    for seed, other in enumerate(states, start=1):
        pairs = outcomes(partial(spend, state=other), partial(fresh, seed=seed))
        if not np.allclose(sum(p * cost[:2] for p, cost in pairs), (up, down), rtol=1e-9):
            raise Refusal(
                f"the bits of a round of {method.name} depend on its state or on coins of clients, "
                "and no number of them is promised; send by cohorts, or whole vectors"
            )
    return RoundCost(float(up), float(down), iterations, float(gradients), begin)


def _with_other_flags(state: Any) -> Iterator[Any]:
    """Yield a state with all flags true, and with all flags false."""
    flags = {name: x for name, x in vars(state).items() if x.dtype == bool}
    for every in (True, False) if flags else ():
        yield replace(state, **{name: np.full(x.shape, every) for name, x in flags.items()})


class _CoinChannel(Scripted):
    """The simulation's channel, with its coins enumerated; it keeps the masks that it drew."""

    def __init__(self, inner: Channel, script: Sequence[int]) -> None:
        super().__init__(inner.n, inner.template.shape[1], script)
        self.inner, self.masks = inner, list[Array]()
        self.uplink = inner.uplink  # type: ignore[method-assign]
        self.send = inner.send  # type: ignore[method-assign]
        self.broadcast = inner.broadcast  # type: ignore[method-assign]
        self.downlink = inner.downlink  # type: ignore[method-assign]
        self.client_coins = inner.client_coins  # type: ignore[method-assign]
        self.ownership = inner.ownership  # type: ignore[method-assign]

    def coin(self, p: float) -> Array:
        self.masks.append(common_if((), super().coin(p)))
        return self.masks[-1]

    def cohort(self, m: int) -> Array:
        self.masks.append(self.inner.cohort(m))
        return self.masks[-1]


@dataclass(frozen=True)
class _CountedOnce(Oracle):
    """The gradients, of which equal steps are done once and counted as often as they would be.

    Attributes
    ----------
    masks : list of (n, 1, R) or (1, 1, R) bool
        What the channel drew. How many clients are in them does not depend on the state.
    unforeseen : list
        Not empty once gradients were asked for with any other mask.
    """

    masks: list[Array] = field(default_factory=list)
    unforeseen: list[bool] = field(default_factory=list)

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        foreseen = active is None or isinstance(active, int)
        if not foreseen and not any(active is mask for mask in self.masks):
            self.unforeseen.append(True)
        return super().grad(x, active, sample)

    def minimise(
        self,
        gradient: Callable[..., Array],
        start: Array,
        centre: Array,
        given: Any,
        active: Array,
        **options: Any,
    ) -> tuple[Array, Array]:
        """Do no step of a local solve: how many it takes depends on the state."""
        self.unforeseen.append(True)
        return start, gradient(centre + start, given, active, self)

    def gradient_steps(
        self,
        slope: Callable[[Array], Array],
        start: Array,
        active: Array,
        step: float,
        count: int,
    ) -> Array:
        """Do one of the steps of :func:`~certibit.solvers.local_solve.gradient_steps`."""
        if not count:
            return start
        before = self.ledger.gradients[0]
        end = start - step * slope(start)
        self.ledger.evaluate(self.runs, (count - 1) * (self.ledger.gradients[0] - before), 0)
        return end


_SHIFT, _REFINEMENTS = 1e-11, 10

STARTS, NUMBERS = 64, 10_000_000
"""Seeds over which Psi^0 is averaged where a start is drawn: at most, and by memory."""

SURE = 3
"""Standard errors that are added to such a mean."""


@dataclass(frozen=True)
class Promise:
    """An upper bound on the mean accuracy of a run, and what follows from it.

    Attributes
    ----------
    of : ContractionPromise, DescentPromise or RunPromise
        What a theorem promises per step of the theorem.
    start : float
        Where it begins: the bound c Psi^0 on f - f*, if a factor is promised, else Psi^0. Where a
        start is drawn, as by a first message, Psi^0 is measured: its mean over ``STARTS`` seeds
        plus ``SURE`` standard errors.
    steps_per_round : float
        How many steps of the theorem a communication round takes in the mean: 1/p, or 1.
    cost : RoundCost
        Mean cost of a round.
    variance : float
        sigma^2 of stochastic gradients; c sigma^2 if a factor is promised.
    """

    of: AnyPromise
    start: float
    steps_per_round: float
    cost: RoundCost
    variance: float = 0.0

    @property
    def rate(self) -> float:
        """tau, the factor of the Lyapunov function per step; 1 if none is promised."""
        return self.of.factor if isinstance(self.of, ContractionPromise) else 1.0

    def steps_to(self, accuracy: float) -> float:
        """Return the fewest steps after which the bound is at most an accuracy."""
        steps = self.of.rounds_to(accuracy, self.start, self.variance)
        return math.ceil(steps) if math.isfinite(steps) else steps

    def rounds_to(self, accuracy: float) -> float:
        """Return the mean number of rounds to the accuracy."""
        return self.steps_to(accuracy) / self.steps_per_round

    def bits_to(self, accuracy: float, downlink: float = 0.0) -> float:
        """Return the mean uplink bits per client to the accuracy, or total bits; with the start."""
        return self.cost.bits_of(self.rounds_to(accuracy), downlink)

    def reals_to(self, accuracy: float, downlink: float = 0.0) -> float:
        """Return the same in reals of 32 bits."""
        return self.bits_to(accuracy, downlink) / 32


def promise(
    theorem: Theorem, experiment: Experiment[Any], cost: RoundCost | None = None
) -> Promise:
    """Evaluate what a theorem promises about a method on a problem, started at x = 0.

    The cost of a round is counted here, if it has not been.

    Raises
    ------
    Refusal
        If a hypothesis of the theorem fails; it is named with both sides.
    """
    method, setting = experiment.method, Setting.at(experiment)
    _require_covered(theorem, method, setting)
    of, cost = theorem.promise(method, setting), cost or round_cost(experiment)
    start = mean_at_start(theorem, experiment, of.measure)
    steps = cost.iterations if isinstance(method.schedule, WithProbability) else 1.0
    noise = experiment.problem.noise
    sampled = not isinstance(of, RunPromise) and of.e
    variance = noise.largest_variance(experiment.problem) if noise and sampled else 0.0
    if isinstance(of, ContractionPromise):
        constant = accuracy_constant(theorem, experiment)
        start, variance = constant * start, constant * variance
    return Promise(of, start, steps, cost, variance)


def _require_covered(theorem: Theorem, method: Method, setting: Setting) -> None:
    """Refuse a method with parameters outside of a theorem."""
    for condition in theorem.unmet(method, setting):
        raise Refusal(
            f"{theorem.title} promises nothing here: {condition.statement} fails with "
            f"{condition.left:.6g} against {condition.right:.6g}; choose other parameters"
        )


def value_at_start(potential: Potential, experiment: Experiment[Any]) -> float:
    """Return a potential where the run of seed 0 begins."""
    return float(_values_at_start(potential, experiment, (0,))[0])


def mean_at_start(
    potential: Potential, experiment: Experiment[Any], measure: str = "potential"
) -> float:
    """Return the mean of a potential where runs begin, with a margin where starts are drawn."""
    few = _values_at_start(potential, experiment, (0, 1), measure)
    channel, oracle = simulated_world(experiment)
    experiment.method.start(channel.template, oracle, channel)
    is_drawn = any(numbers.any() for numbers in channel.streams.drawn.values())
    if few[0] == few[1] and not is_drawn:
        return float(few[0])
    count = min(max(2, NUMBERS // (experiment.n * experiment.d)), STARTS)
    drawn = _values_at_start(potential, experiment, range(count), measure)
    return float(np.mean(drawn) + SURE * np.std(drawn, ddof=1) / math.sqrt(count))


def _values_at_start(
    potential: Potential,
    experiment: Experiment[Any],
    seeds: Sequence[int],
    measure: str = "potential",
) -> Array:
    """Return a potential where runs of some seeds begin, (R,).

    The measure is that of what is promised; see
    :func:`~certibit.theory.worlds.fixed_points.at_rest`.
    """
    method, view = experiment.method, experiment.problem
    channel, oracle = simulated_world(experiment, seeds)
    state = method.start(channel.template, oracle, channel)
    star = at_rest(measure, method, state, view)
    terms = potential.lyapunov(method, state, star, Setting.at(experiment), view)
    return np.broadcast_to(host(value(terms, view)), len(seeds))


def accuracy_constant(potential: Potential, experiment: ConvexExperiment) -> float:
    """Return the least c that is known with f(x) - f* <= c Psi at the model x of every state.

    A term w (f(x) - f*) at the model gives 1/w, and a term w |grad f(x)|^2 gives 1/(2 mu w). The
    other squares without gradients bound w |x - x*|^2, with w = 1/(a P^+ a') for their matrix P and
    the row a of the model in the client space; smoothness gives c = L_f/(2 w). The best of these
    loses w (f(x) - f*) or, by |grad f(x)|^2 <= 2 L_f (f(x) - f*), 2 L_f w where a weight is -w.

    Raises
    ------
    Refusal
        If Psi bounds none of these.
    """
    constants = experiment.problem.constants
    worlds = [_UnitDeviations.of(experiment, scale) for scale in (1.0, 2.0)]
    terms, others = (world.terms(potential, experiment) for world in worlds)
    flat, steep = worlds
    gaps, slopes, lost, squares = 0.0, 0.0, 0.0, []
    for term, other in zip(terms, others, strict=True):
        if isinstance(term, Gap) and np.array_equal(term.point, flat.model):
            gaps += term.weight
        elif isinstance(term, Squares) and isinstance(other, Squares):
            if np.array_equal(term.vectors, other.vectors):
                squares.append(term)
            elif flat.is_slope(term.vectors) and steep.is_slope(other.vectors):
                slopes += term.weight
            elif term.weight < 0:
                lost = math.inf
        elif term.weight < 0:
            lost = math.inf
    lost += max(-gaps, 0.0)
    if slopes < 0:
        lost += math.inf if constants.ridge else -2 * constants.L_f * slopes
    known = [max(gaps, 0.0)]  # of w with Psi >= w (f(x) - f*)
    if not constants.ridge:  # else slopes are without the gradient of g
        known.append(2 * constants.mu * max(slopes, 0.0))
    row = flat.row
    matrix = np.zeros((len(row), len(row)))
    matrix += lyapunov_matrix(tuple(squares), np.zeros((1, 1)), np.zeros((1, 1, 1)))
    bound = _solution(matrix, row)
    if bound is None:
        lost = math.inf
    elif np.allclose(matrix @ bound, row):
        known.append(2 / float((constants.L_f + constants.ridge) * row @ bound))
    if not max(known) > lost:
        raise Refusal(
            f"no accuracy of {experiment.method.name} follows from this potential; give it f - f*, "
            "|grad f|^2 or |x - x*|^2 at the model"
        )
    return 1 / (max(known) - lost)


def _solution(matrix: Array, row: Array) -> Array | None:
    """Return a b with P b = a for a positive semidefinite P, if there is one; a'b is unique.

    None where P has negative eigenvalues.

    P is scaled to a unit diagonal and solved by the Cholesky factor of P + 1e-11 I with iterative
    refinement: with a thousand clients, eigenvectors take seconds.
    """
    diagonal = np.diagonal(matrix)
    scale = np.divide(1.0, np.sqrt(np.abs(diagonal)), np.zeros_like(diagonal), where=diagonal != 0)
    scaled = scale[:, None] * matrix * scale
    try:
        factor = scipy.linalg.cho_factor(scaled + _SHIFT * np.eye(len(row)))
    except np.linalg.LinAlgError:
        return None
    solution = np.zeros(len(row))
    for _ in range(_REFINEMENTS):
        solution += scipy.linalg.cho_solve(factor, scale * row - scaled @ solution)
    return scale * solution


@dataclass(frozen=True)
class _UnitDeviations:
    """The unit deviations of a state on quadratics of unlike clients in one dimension."""

    state: Any
    star: Any
    problem: Any
    model: Array

    @classmethod
    def of(cls, experiment: ConvexExperiment, scale: float) -> Self:
        method, n = experiment.method, experiment.n
        curvatures = scale * np.arange(1.0, n + 1)[:, None, None]
        quadratic = Quadratic.from_arrays(curvatures, np.ones((n, 1)), name="unit", seed=0)
        problem = fitted_view(method, quadratic)
        star = fixed_point(method, problem)
        state = unit_deviations(star)
        return cls(state, star, problem, method.model(state))

    @property
    def row(self) -> Array:
        """The deviation of the model."""
        return np.broadcast_to(
            self.model[0, 0] - self.problem.x_star[0, 0], number_of_runs(self.state)
        )

    def terms(self, potential: Potential, experiment: ConvexExperiment) -> Terms:
        setting = Setting.at(experiment)
        return potential.lyapunov(experiment.method, self.state, self.star, setting, self.problem)

    def is_slope(self, vectors: Array) -> bool:
        """Whether they are the gradients of f at the model."""
        slope = mean(self.problem.grad(self.model))
        return vectors.shape == slope.shape and np.allclose(vectors, slope)
