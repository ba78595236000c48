"""Where gradients are stochastic, those of a method that names no samples are each of a new one."""

from dataclasses import dataclass, fields, replace
from itertools import combinations, product

import numpy as np
import pytest
from comparisons import assert_same_columns
from small_methods import DrawsUndeclared, Undeclared

from certibit import CARDS, SCAFFOLD, Budget, MiniBatch, Refusal, Scaffnew, Setting, problem
from certibit.data.noise import Uniform
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import UNNAMED, Every, slot_of
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.solvers.simulation.oracle import Tape
from certibit.theory.checks.channel.walk import Wrapped, with_pace


def fits_nonconvex(needs):
    return needs.nonconvex or not needs.strongly_convex


PROBLEMS = {
    "noise": "quadratic:d=5@4:nonconvex:noise=0.3",
    "rows": "breast-cancer@4:nonconvex:batch=8",
    "rows, convex": "breast-cancer@4:batch=8",
}
SENT = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: "identity"}
BY_HAND = {"eta": 0.02, "gamma": 0.05, "beta": 0.5, "tau": 0.1, "I": 2}
TUNED_ON = Quadratic.random(4, 5, mu=1.0, L=30.0, shared_minimiser=True)
CASES = [
    (name, kind)
    for name, kind in product(CARDS, PROBLEMS)
    if kind == "rows, convex" or fits_nonconvex(CARDS[name].method.needs)
]

UNNAMED_CASES = [case for case in CASES if not CARDS[case[0]].method.needs.samples]


def compressor_of(needs):
    """Return a compressor that a method needs, perhaps with one of the server."""
    up, down = SENT[needs.compressor], SENT[needs.downlink]
    return compressor(f"two-way({up};{down})" if needs.downlink else up)


def experiment_of(name, kind):
    """Return a method of the catalogue, with parameters of a rule or by hand, on a problem."""
    card, sent = CARDS[name], compressor_of(CARDS[name].method.needs)
    if card.rules and not card.takes_relaxed:
        method = card.parameters(TUNED_ON, sent)
    else:
        names = {field.name for field in fields(card.method)}
        method = card.method(**{key: x for key, x in BY_HAND.items() if key in names})
    return Experiment.of(method, problem(PROBLEMS[kind]), sent)


class Recorder(Wrapped):
    """An oracle that notes every question, and by how much the answer is off the gradient."""

    def __init__(self, inner):
        super().__init__(inner)
        self.named, self.off = False, []

    def sample(self, slot):
        self.named = True
        return self.inner.sample(slot)

    def grad(self, x, active=None, sample=None):
        self.named |= sample is not None
        found = np.asarray(self.inner.grad(x, active, sample))
        self.off.append(found - self.inner.problem.grad(x))
        return found


def noted(experiment):
    """Return an oracle that has noted the questions of a start and six iterations."""
    channel, oracle = simulated_world(experiment, (0, 1, 2))
    recorder = Recorder(oracle)
    channel, method = with_pace(channel, Every(2)), experiment.method
    state = method.start(channel.template, recorder, channel)
    for iteration in range(1, 7):
        state, _ = advance(method, state, recorder, channel, iteration)
    return recorder


def all_new(recorder):
    """Whether no answer is exact, for any client of any run, and no two have the same noise."""
    moved = all(np.abs(off).max(axis=1).min() > 0 for off in recorder.off)
    return moved and not any(np.allclose(a, b) for a, b in combinations(recorder.off, 2))


@pytest.mark.long(keep=20)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_the_oracle_decides_unless_a_method_names_its_samples(name, kind):
    """What ``needs`` say of samples is what the code does, and what it gets."""
    experiment = experiment_of(name, kind)
    recorder, needs = noted(experiment), experiment.method.needs
    assert recorder.named == needs.samples
    if not needs.samples:
        assert all_new(recorder)
        view = experiment.problem
        drawn = recorder.tape.streams.drawn[f"noise {UNNAMED}"]
        assert set(drawn) == {len(recorder.off) * view.n * view.noise.numbers(view)}


@pytest.mark.long(keep=5)
@pytest.mark.parametrize(("name", "kind"), UNNAMED_CASES)
def test_runs_are_others_than_those_of_exact_gradients(name, kind):
    """As a user runs it, too, whatever is compiled or lazy there; and so are its gradients."""
    experiment = experiment_of(name, kind)
    exact = replace(experiment, problem=replace(experiment.problem, noise=None))
    ends = [simulate(one, seeds=2, budget=Budget(iterations=12)) for one in (experiment, exact)]
    noisy, plain = (trace.final("distance") for trace in ends)
    assert np.all(noisy != plain)
    if isinstance(experiment.problem.noise, MiniBatch) and name != "gradskip":
        spent, rows = (trace.final("gradients") for trace in ends)
        np.testing.assert_allclose(spent, 8 * rows, rtol=1e-12)


@pytest.mark.long(keep=6)
@pytest.mark.parametrize(("name", "kind"), UNNAMED_CASES)
def test_a_device_draws_the_same(name, kind):
    experiment, options = experiment_of(name, kind), {"seeds": 2, "budget": Budget(rounds=8)}
    found = simulate(experiment, library="array-api-strict", **options)
    expected = simulate(experiment, **options)
    assert_same_columns(found.columns, expected.columns, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("law", [MiniBatch(1, True), Uniform(0.3)], ids=str)
def test_gradients_are_unbiased(law, monkeypatch):
    """Exactly, in the mean over numbers that make all batches, or each noise and its negative."""
    rows = np.random.default_rng(0).standard_normal((13, 3))
    owners = ["a"] * 4 + ["b"] * 4 + ["c"] * 5
    solved = replace(problem(rows, np.sign(rows[:, 0]), clients=owners, nonconvex=0.1), noise=law)
    _, oracle = simulated_world(Experiment.of(SCAFFOLD(2, 0.1, 1.0, 3), solved), range(20))
    levels = (np.arange(20) + 0.5) / 20
    monkeypatch.setattr(
        Tape, "uniforms", lambda self, slot, n, count: np.broadcast_to(levels, (n, count, 20))
    )
    x = np.repeat(np.random.default_rng(1).standard_normal((1, 3, 1)), 20, axis=2)
    found = oracle.grad(x)
    np.testing.assert_allclose(found.mean(axis=2), solved.grad(x[..., :1])[..., 0], atol=1e-12)
    assert np.ptp(found, axis=2).min() > 0


def test_runs_of_one_seed_with_other_rounds_have_their_own_samples(monkeypatch):
    """A run is what it is alone, although others of its seed draw at other times."""
    solved, shares = problem(PROBLEMS["rows, convex"]), np.array([0.2, 0.7])[None, None, :]
    options = {"budget": Budget(iterations=30)}

    def both():
        return simulate(Experiment.of(Late(0.05, shares), solved), seeds=[3, 3], **options)

    for run, p in enumerate((0.2, 0.7)):
        alone = simulate(Experiment.of(Late(0.05, p), solved), seeds=[3], **options)
        assert both().final("gap")[run] == pytest.approx(alone.final("gap")[0], rel=1e-9)
    make = Tape.of
    monkeypatch.setattr(Tape, "of", lambda noise, seeds, start, alike: make(noise, seeds, start))
    assert both().final("gap")[0] != pytest.approx(alone.final("gap")[0], rel=1e-6)


@dataclass(frozen=True)
class Late(Scaffnew):
    """Scaffnew that asks for a gradient in its rounds, too."""

    def communicate(self, s, problem, channel):
        return replace(super().communicate(s, problem, channel), h=s.h + 0 * problem.grad(s.x))


@pytest.mark.parametrize("selector", [*PROBLEMS.values(), "quadratic:d=5@4"])
@pytest.mark.parametrize("method", [Undeclared(0.1), DrawsUndeclared(0.1)], ids=lambda m: m.name)
def test_undeclared_samples_are_refused(method, selector):
    """In one sentence that says what to write, on problems without noise, too."""
    experiment = Experiment.of(method, problem(selector))
    with pytest.raises(Refusal, match="write samples=True in its Needs, or leave sample out"):
        simulate(experiment, budget=Budget(rounds=1), seeds=1)


def test_local_problems_are_not_solved_with_noise():
    card, sent = CARDS["5gcs-cc"], compressor("rand-k:2")
    method = replace(card.parameters(TUNED_ON, sent), adaptive=True)
    experiment = Experiment.of(method, problem(PROBLEMS["rows, convex"]), sent)
    with pytest.raises(Refusal, match="which stochastic gradients do not show; give a number of"):
        simulate(experiment, budget=Budget(rounds=1), seeds=1)


@pytest.mark.long(keep=16)
@pytest.mark.parametrize("kind", ["rows", "rows, convex"])
@pytest.mark.parametrize("name", [name for name in CARDS if CARDS[name].rules])
def test_theorems_about_exact_gradients_do_not_apply(name, kind):
    """But those with an e, and those of methods that name their samples."""
    card, solved = CARDS[name], problem(PROBLEMS[kind])
    sent = compressor_of(card.method.needs)
    theorems = (
        card.about("potential", "gap") if "convex" in kind else card.about("squared_gradient")
    )
    for rule, theorem in product(card.rules, theorems):
        try:
            method = card.parameters(solved, sent, rule)
        except Refusal:  # a rule for other functions
            continue
        noisy = Setting.of(method, solved, sent)
        met, broken = (
            not theorem.unmet(method, replace(noisy, sigma=0.0)),
            theorem.unmet(method, noisy),
        )
        about = method.needs.samples or theorem.noise(method, noisy) > 0
        if met and not about:
            (condition,) = broken
            assert condition.statement == "gradients are exact: sigma <= 0"
            assert condition.left == noisy.sigma > condition.right == 0
        else:
            assert met == (not broken)


def test_all_rows_are_no_sample():
    """With each row once in every batch, gradients are exact, and theorems about these hold."""
    (theorem, *_), solved = CARDS["gd"].about("potential"), problem("breast-cancer@9:batch=63")
    method = CARDS["gd"].parameters(solved)
    assert Setting.of(method, solved).sigma == 0
    assert not theorem.unmet(method, Setting.of(method, solved))
    again = problem("breast-cancer@9:batch=63:replacement")
    assert theorem.unmet(method, Setting.of(method, again))


SLOTS = {"xmdbafpu": "kshlarij", "hihmanxm": None, "jcwkaauk": None, "vwhhabss": None}
"""Names whose numbers, as noise, are those of another name, or of a coin, compressor or cohort."""


@pytest.mark.parametrize("slot", SLOTS)
def test_slots_with_the_numbers_of_another_purpose_are_refused(slot):
    tape, other = Tape.of(Uniform(1.0), [0]), SLOTS[slot]
    if other:
        tape.draw(other, 2, 3)
    with pytest.raises(Refusal, match="give the slot another name"):
        tape.draw(slot, 2, 3)


@pytest.mark.parametrize("slot", ["1", "", "two words", True, 1.0, ("a",)])
def test_slots_are_whole_numbers_or_words(slot):
    with pytest.raises(Refusal, match="is no slot of samples"):
        slot_of(slot, named=True)
