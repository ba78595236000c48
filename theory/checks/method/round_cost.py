"""The mean cost of a communication round, counted for every outcome of coins."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, common_if
from certibit.data.errors import Refusal
from certibit.solvers.method import Every, Slot
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import method_at, simulated_world
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import copied
from certibit.solvers.total_bits import total_bits
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
    for value in (True, False) if flags else ():
        yield replace(state, **{name: np.full(x.shape, value) for name, x in flags.items()})


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
