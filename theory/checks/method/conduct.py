"""Checks of a method without its theorem: fixed point, invariants, purity; exact up to rounding.

The value of a verdict is the largest error found, its limit what rounding allows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.noise import Noise, Uniform
from certibit.data.problem import Constants, RelaxedConstants
from certibit.data.problems.nonconvex_problem import NonconvexProblem
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.composition import downward
from certibit.solvers.method import Every, Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.simulation.iteration import advance, method_at, simulated_world
from certibit.solvers.state import each
from certibit.theory.card import Card
from certibit.theory.checks.channel.walk import (
    EXACT,
    RUNS,
    STEPS,
    Wrapped,
    difference,
    distance,
    size,
    walk,
)
from certibit.theory.checks.method.promise import round_cost
from certibit.theory.potential import Squares, value
from certibit.theory.setting import Setting
from certibit.theory.verdict import Verdict, largest, worst_of
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.linear_maps import left_in_the_long_run

NEAR = 1e-7
"""A small move, relative to 1 and to every number."""

_LONGEST_ROUND = 100
"""Iterations of a round that is still waited for."""

_PARTS = (1 / 4, 1 / 4000)
"""Of L_f: the curvatures of quadratics that are tried."""

_LATE = 10
"""The iteration whose parameters are looked at where they change."""

_FORGOTTEN = 1e-3
"""What may be left in the long run."""

_BEGIN = re.compile(r"At the start (.*?)\.(?: |$)")
"""What a docstring says of the start: a message, or a vector and its bits, or neither."""

_AWAY = 10.0
"""If the distance has grown by this factor, the run diverges."""

_UNLIKE = (
    "Two methods that the card calls identical at special parameters run differently: look at "
    "the step of either, and at the parameters in the card's identities."
)


def stays_at_solution(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a run that starts at the solution stays there, and that its model is x*.

    Rounding may grow as a small move away from the solution does: parameters with which a method
    diverges are not the fault of its fixed point.
    """
    method, view = experiment.method, experiment.problem
    try:
        star = fixed_point(method, view)
    except Refusal as refusal:
        return Verdict("stays at the solution", np.inf, EXACT, str(refusal))
    start = each(lambda x: np.repeat(x, RUNS, axis=2), star)
    near = each(lambda x: x if x.dtype == bool else x + NEAR * (1 + abs(x)), start)
    off = distance(method.model(star), view.x_star)
    found = [(off, f"The model of the fixed point is {off:.3g} away from x*: look at model")]
    growth, apart = 1.0, difference(near, start)
    walks = walk(experiment, seed, start), walk(experiment, seed, near)
    for iteration, ((state, *_), (beside, *_)) in enumerate(zip(*walks, strict=True), 1):
        growth = max(growth, difference(beside, state) / apart)
        for name, moved in _differences(_numbers(state), _numbers(start)):
            text = f"Started at its fixed point, {name} has moved by {moved:.3g} after {iteration}"
            text += f" iterations: look at the line that updates {name}"
            found.append((moved / growth, text))
        if worst_of(found)[0] > EXACT * (1 + size(start)):  # the first that moves is the one
            break
    worst, what = worst_of(found)
    advice = f"{what}. All gradients are those at x*; fixed_point may be wrong, too."
    return Verdict("stays at the solution", worst / (1 + size(start)), EXACT, advice=advice)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Paraboloids(NonconvexProblem):
    """Each f_i is |x|^2/2, in any dimension without a matrix."""

    clients: int
    name = "|x|^2/2"
    constants = RelaxedConstants(1.0, 0.0)
    per_run = ()

    @property
    def n(self) -> int:
        return self.clients

    @property
    def x_star(self) -> Array:
        return 0 * self.x_0

    def grad(self, x: Array) -> Array:
        return x + np.zeros((self.n, 1, 1))

    def value(self, x: Array) -> Array:
        return np.sum(x**2, axis=(0, 1)) / 2

    def gap(self, x: Array) -> Array:
        return self.value(x)


def _on_paraboloids(experiment: Experiment[Any], noise: Noise | None = None) -> Experiment[Any]:
    """Put functions with cheap gradients in the place of those of a problem."""
    x_0 = np.zeros((1, experiment.d, 1))
    return replace(experiment, problem=_Paraboloids(x_0=x_0, clients=experiment.n, noise=noise))


def rests_without_gradients(experiment: Experiment[Any], seed: int = 0) -> Verdict:
    """Check that a run rests at a point where every client's gradient is 0.

    This must hold for any functions of the clients; here each of them is |x|^2/2.
    """
    resting = _on_paraboloids(experiment)
    channel, oracle = simulated_world(resting, range(seed, seed + RUNS))
    start = resting.method.start(0 * channel.template, oracle, channel)
    found = [(0.0, "")]
    for iteration, (state, _, _) in enumerate(walk(resting, seed, start), 1):
        moved = float(np.max(np.abs(resting.method.model(state))))
        found.append((moved, f"The model has moved by {moved:.3g} after {iteration} iterations"))
    worst, what = worst_of(found)
    advice = f"{what} where all gradients are 0: look at the terms added to it, and at x/|x| at 0."
    return Verdict("rests without gradients", worst, 0.0, advice=advice)


def names_samples(experiment: Experiment[Any], seed: int = 0) -> Verdict | None:
    """Check that a method whose needs say that it names samples names one, on |x|^2/2 with noise.

    None for other methods, which every run refuses if they name one.
    """
    if not experiment.method.needs.samples:
        return None
    noisy = _on_paraboloids(experiment, Uniform(1.0))
    named = any(oracle.tape.streams.drawn for _, oracle, _ in walk(noisy, seed))
    advice = (
        "Its needs say that it names samples, and no gradient is of one: all are exact. Write such "
        "as grad(x, sample=0), or leave samples=True out: then every gradient is of a new sample."
    )
    return Verdict("names its samples", float(not named), 0.0, advice=advice)


def potential_at_solution(card: Card, experiment: ConvexExperiment) -> Verdict | None:
    """Check that the Lyapunov functions are 0 at the solution and have no negative weight.

    None without a theorem.
    """
    method, view, setting = experiment.method, experiment.problem, Setting.at(experiment)
    if not card.about("potential"):
        return None
    star = fixed_point(method, view)
    worst = 0.0
    for theorem in card.about("potential"):
        terms = theorem.lyapunov(method, star, star, setting, view)
        sizes = [float(np.max(np.abs(t.vectors))) for t in terms if isinstance(t, Squares)]
        psi = float(np.max(np.abs(value(terms, view))))
        negative = (max(0.0, -float(term.weight)) for term in terms)
        worst = largest((worst, *sizes, psi, *negative))
    advice = (
        f"A potential is not 0 at the fixed point, or has a negative weight ({worst:.3g}): look at "
        "lyapunov and at fixed_point."
    )
    return Verdict("Psi at the solution", worst / (1 + size(star)), EXACT, advice=advice)


def bill_check(card: Card, experiment: ConvexExperiment) -> Verdict | None:
    """Check that a round costs what the published accounting says; None without a bill."""
    n, d, sent = experiment.n, experiment.d, experiment.compressor
    if card.bill is None:
        return None
    spent = round_cost(experiment)
    up, down = card.bill(experiment.method, n, downward(sent).bits(d), sent.bits(d))
    off = max(abs(spent.uplink_bits - up), abs(spent.downlink_bits - down))
    note = f"{up:,.6g} up, {down:,.6g} down"
    advice = (
        f"A round spends {spent.uplink_bits:,.6g} bits up and {spent.downlink_bits:,.6g} down per "
        "client, which is not the published bill: look at what communicate sends, and to whom."
    )
    return Verdict("bits of a round as published", off / (1 + max(up, down)), EXACT, note, advice)


def begins_as_written(experiment: Experiment[Any], seed: int = 0) -> Verdict | None:
    """Check that a start sends what the docstring of the method says; None if it says nothing."""
    said = _BEGIN.search(" ".join((type(experiment.method).__doc__ or "").split()))
    if not said:
        return None
    channel, oracle = simulated_world(experiment, [seed])
    experiment.method.start(channel.template, oracle, channel)
    message = "message" in said[1]
    sent = experiment.compressor if message else Identity()
    up = sent.bits(experiment.d) if message or "bits" in said[1] else 0
    spent = float(channel.ledger.uplink_bits[0]) / experiment.n
    advice = f"Of the start the docstring says {said[1]!r}, {up} bits; start sends {spent:.6g}."
    return Verdict("bits of the start as written", abs(spent - up), EXACT, advice=advice)


def keeps_invariants(experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that what is invariant is 0 in every state of a run; None where nothing is.

    Invariants that the method does not state are tested after its rounds of K steps.
    """
    method, found, every = experiment.method, [(-1.0, "")], experiment.method.schedule
    round_ = every.iterations if isinstance(every, Every) else 1
    steps = walk(experiment, seed, steps=max(STEPS, min(round_, _LONGEST_ROUND)))
    for iteration, (state, oracle, before) in enumerate(steps, 1):
        if method.invariants(state, oracle) is None and iteration % round_:
            continue
        for number, kept in enumerate(invariants(method, state, oracle)):
            value = float(np.max(np.abs(kept)))
            off = value / max(1.0, size(state))
            found.append((off, ""))
            if not off <= EXACT:
                made = _made_of(method, number, before, state, oracle)
                text = (
                    f"After {iteration} iterations invariant {number + 1} is {value:.3g}, and was"
                )
                found.append((off, f"{text} 0: look at the line that updates {made}."))
        if found[-1][0] > EXACT:
            break
    worst = worst_of(found)[0]
    advice = "All invariants stay 0 after every iteration."
    advice = next((said for off, said in found if off == worst and said), advice)
    return Verdict("invariants", worst, EXACT, advice=advice) if worst >= 0 else None


def _made_of(method: Any, number: int, before: Any, after: Any, oracle: Any) -> str:
    """Name the fields of a state that an invariant changes with."""
    names = []
    for field in fields(before):
        changed = replace(before, **{field.name: getattr(after, field.name)})
        pair = [invariants(method, s, oracle)[number] for s in (before, changed)]
        if distance(*pair) > 0:
            names.append(field.name)
    return " and ".join(names) or "what does not change"


def does_not_grow(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that f - f* is not larger after 300 iterations than at the start."""
    trace = simulate(
        experiment, seeds=[seed, seed + 1], budget=Budget(iterations=300), record=Record(every=300)
    )
    first, last = trace.columns["gap"][trace.columns["iteration"] == 0], trace.final("gap")
    growth = np.max(np.where(np.isfinite(last), last, np.inf) / first)
    advice = "f - f* grows: look for a sign error in the step, or take a smaller step size."
    return Verdict("f - f* does not grow", float(growth), 1.0, "300 iterations", advice)


def comes_back(experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that no part of the state runs away from where it rests, with messages sent whole.

    Each part alone is moved, and the state followed for 90 iterations. None if it rests nowhere.
    """
    method, whole = experiment.method, replace(experiment, compressor=Identity())
    try:
        star = fixed_point(method, whole.problem)
    except Refusal:
        return None
    rest = each(lambda x: np.repeat(x, RUNS, axis=2), star)
    growth, own = 0.0, {}
    for field in fields(rest):
        kept = getattr(rest, field.name)
        if kept.dtype != bool:
            moved = np.random.default_rng(seed).standard_normal(kept.shape)
            if kept.shape[0] > 1:  # a sum over the clients stays as it is
                moved -= moved.mean(axis=0)
            start = replace(rest, **{field.name: kept + moved})
            states = [state for state, _, _ in walk(whole, seed, start, 90)]
            away = [difference(state, rest) for state in states]
            growth = largest((growth, max(away[60:]) / (max(away[:30]) or 1.0)))
            own[field.name] = distance(getattr(states[-1], field.name), kept)
    name = max(own, key=own.__getitem__)
    advice = (
        f"Moved away from the solution, the state is {growth:.2g} times further away 60 iterations "
        f"later, with messages sent whole, and {name} moved alone moves most: look at the line "
        f"that updates {name}, or take smaller parameters."
    )
    note = "90 iterations, messages sent whole"
    return Verdict("comes back to the solution", growth, _AWAY, note, advice)


def rests_at_the_solution_only(experiment: Experiment[Any], _: int = 0) -> Verdict | None:
    """Check that the model comes to x* in the mean from every state that ``start`` may give.

    A method that never moves, or that rests where something else than the gradient is 0, stays
    where it is. Tried on a quadratic with curvatures up to a quarter of L_f, messages sent whole,
    and with a thousandth of these if parameters are too large for them. None where the step is not
    linear or the parameters fit no 3 clients.
    """
    left, n = np.inf, min(experiment.n, 3)
    try:
        for small in (quadratic_twin(experiment, n, 2, part) for part in _PARTS):
            if small is None:
                return None
            if np.isinf(left):
                with np.errstate(all="ignore"):
                    left = left_in_the_long_run(small)
    except (Refusal, ValueError):  # such as one parameter for each of more clients
        return None
    note = "a quadratic, 7e10 steps in the mean, messages sent whole"
    advice = (
        f"Of a move away from the solution {left:.3g} is left in the long run: the method also "
        "rests, or runs away, elsewhere. Look at what the model is moved by, and at signs."
    )
    return Verdict("rests at the solution only", left, _FORGOTTEN, note, advice)


def identities(card: Card, problem: Any, seed: int = 0) -> Verdict:
    """Check that every pair of a card runs alike, uncompressed; the value is the difference.

    A method that belongs to no identity, or whose sibling is wrong, is not protected.
    """
    worst = 0.0
    for pair in card.identities:
        gaps = [
            simulate(
                Experiment.of(method, problem),
                seeds=[seed, seed + 1],
                budget=Budget(rounds=8, iterations=500),
                record=Record(every=1),
            ).columns["gap"]
            for method in pair(problem.plain.constants, problem.n)
        ]
        if gaps[0].shape != gaps[1].shape or not np.isfinite(gaps[0]).all():
            return Verdict("identities", np.inf, 1e-9, advice=_UNLIKE)
        worst = largest((worst, np.max(np.abs(gaps[0] - gaps[1])) / np.max(gaps[1])))
    return Verdict("identities", worst, 1e-9, advice=_UNLIKE)


def quadratic_twin(
    experiment: Experiment[Any], n: int, d: int, part: float = 1.0
) -> ConvexExperiment | None:
    """Return the experiment on quadratics without noise; None if its constants are not known.

    The average is strongly convex and its curvature at most L_f. With a smaller ``part`` of this
    all clients have the same curvatures, and messages are sent whole.
    """
    method, constants = experiment.method, experiment.problem.constants
    smooth = constants.L_f if isinstance(constants, Constants) else constants.L0
    if not smooth > 0:
        return None
    alike, most = part < 1, part * smooth
    least = min(constants.mu, most) if constants.mu > 0 else most / 100
    problem = Quadratic.random(
        n,
        d,
        least,
        most,
        shared_eigenvectors=alike,
        shared_minimiser=method.needs.shared_minimiser,
    )
    sent = None if alike else experiment.compressor
    return Experiment.of(method_at(method, _LATE), problem, sent)


def purity(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a step gives the same for the same random numbers."""
    found: list[tuple[float, str]] = []
    walks = walk(experiment, seed), walk(experiment, seed)
    for (state, *_), (again, *_) in zip(*walks, strict=True):
        for name, off in _differences(state, again):
            text = f"{name} differs when a step is repeated: look for random numbers that"
            found.append((off, f"{text} are not the channel's."))
    worst, advice = worst_of(found)
    return Verdict("pure steps", worst, 0.0, advice=advice)


def independence(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a run is the same alone and in a batch."""
    budget, record = Budget(rounds=6, iterations=500), Record(every=1)
    options: dict[str, Any] = {"budget": budget, "record": record}
    batch = simulate(experiment, seeds=[seed + 7, seed, seed + 3], **options).run(1)
    alone = simulate(experiment, seeds=[seed], **options).run(0)
    worst, name = worst_of(
        (_apart(column, batch[name]), name) for name, column in alone.items() if name != "run"
    )
    advice = (
        f"The {name} of a run changes with the other runs of its batch: look for a sum, mean or "
        "norm over the last axis, which is that of the runs."
    )
    return Verdict("alone as in a batch", worst, EXACT, advice=advice)


def schedule(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check how often a method communicates: exactly, or within 7 standard errors.

    That does not depend on the functions: in the place of nonconvex ones, such as the losses of a
    network, are paraboloids.
    """
    runs, iterations = 25, 80
    if isinstance(experiment.problem, NonconvexProblem):
        experiment = _on_paraboloids(experiment)
    trace = simulate(
        experiment,
        seeds=range(seed, seed + runs),
        budget=Budget(iterations=iterations),
        record=Record(every=iterations),
    )
    rounds, draws = float(np.mean(trace.final("rounds"))), float(np.sum(trace.final("iteration")))
    timing = experiment.method.schedule
    advice = (
        f"It communicates {rounds:.4g} times in {draws / runs:.4g} iterations, and its schedule is "
        f"{timing}: look at schedule."
    )
    if isinstance(timing, Every):
        off = abs(rounds - float(np.mean(trace.final("iteration") // timing.iterations)))
        return Verdict("communicates as scheduled", off, 0.0, advice=advice)
    off = abs(rounds * runs / draws - timing.p)
    allowed = 7 * float(np.sqrt(timing.p * (1 - timing.p) / draws)) + EXACT
    note = f"probability {timing.p:.4g}"
    return Verdict("communicates as scheduled", off, allowed, note, advice)


def _differences(state: Any, other: Any) -> list[tuple[str, float]]:
    """Return the largest difference of every field of two states."""
    return [
        (field.name, distance(getattr(state, field.name), getattr(other, field.name)))
        for field in fields(state)
    ]


def _apart(column: Array, other: Array) -> float:
    """Return the largest relative difference; infinity if they have not NaN at the same places."""
    if column.shape != other.shape or np.any(np.isnan(column) != np.isnan(other)):
        return np.inf
    return float(np.nanmax(np.abs(column - other) / (1 + np.abs(column)), initial=0.0))


def _numbers(state: Any) -> Any:
    """Replace what is true or false, such as who is active, by 0."""
    return each(lambda x: 0.0 * x if x.dtype == bool else x, state)


_ROUNDS = 4

Note = Callable[[Array, Array, Array], None]
"""Told of a point, of the clients that ask for their gradients there, and of these gradients."""


def solves_in_time(card: Card, experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that every local solve ends at the first point that a theorem finds exact enough.

    The value is how many points are asked for beyond that, and how many solves end before. None
    where no theorem has such a criterion.
    """
    method, beyond, before, points = experiment.method, 0, 0, 0
    channel, oracle = simulated_world(experiment, range(seed, seed + RUNS))
    state = method.start(channel.template, oracle, channel)
    for iteration in range(1, _ROUNDS + 1):
        solves = _Solves(card, method, state, experiment.n)
        noted = _Noted(oracle, solves.note)
        state, _ = advance(method, state, noted, channel, iteration)
        points += solves.points
        beyond += solves.beyond
        before += int((solves.asked & ~solves.solved).sum())
    if not points:
        return None
    advice = (
        f"In {_ROUNDS} rounds {before} local solves end before they are exact enough for the "
        f"theorem, and {beyond} gradients are evaluated by clients whose solve has ended: look "
        "at the criterion of the local solve."
    )
    return Verdict("local solves end in time", before + beyond, 0.0, f"{points} steps", advice)


class _Solves:
    """The local solves of a round: who asks for gradients, and who needs no more."""

    def __init__(self, card: Card, method: Method, s: Any, n: int) -> None:
        self.card, self.method, self.s = card, method, s
        self.asked, self.solved = np.zeros((2, n, 1, RUNS), dtype=bool)
        self.beyond = self.points = 0

    def note(self, y: Array, active: Array, gradient: Array) -> None:
        """Take note of gradients that some of the clients ask for."""
        for theorem in self.card.about("potential"):
            found = theorem.solved(self.method, self.s, y, gradient)
            if found is not None:
                self.points += 1
                self.beyond += int((active & self.solved).sum())
                self.asked |= active
                self.solved = np.where(active, found, self.solved)


class _Noted(Wrapped):
    """Gradients with a note of where they are asked for."""

    def __init__(self, inner: Any, note: Note) -> None:
        super().__init__(inner)
        self.note = note

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        gradient = self.inner.grad(x, active=active, sample=sample)
        n, runs = self.inner.n, x.shape[2]
        who = np.broadcast_to(True if active is None else active, (n, 1, runs))
        self.note(np.broadcast_to(x, (n, *x.shape[1:])), who, np.asarray(gradient))
        return gradient
