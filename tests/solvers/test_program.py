"""Replayed iterations by compiled code: the states of the method to 1e-13, and its costs."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_replay import PROBLEM, ROUNDS, SENT, experiment_of, stepped

from certibit import METHODS, Budget, Quadratic, Record, mean, problem, where
from certibit.solvers.runs.engine import simulate
from certibit.solvers.steps import replay as replays
from certibit.solvers.steps.program import Program
from certibit.solvers.steps.replay import MANY, Replay
from certibit.solvers.world.simulation import simulated_world

CASES = [
    (name, sent)
    for name in sorted(ROUNDS)
    for sent in SENT[METHODS[name].method.needs.compressor]
    if sent not in ("rand-k:1@shared", "top-k:2")
]
FEW_FEATURES = problem("breast-cancer@100", kappa=1e3)
STEPS = {
    "differences": lambda m, s, f, c: 0.5 * s.x - (1.0 - s.x),
    "coins": lambda m, s, f, c: s.x * 0.5 - c.coin(0.5) * m.gamma * s.x,
    "coins of clients": lambda m, s, f, c: s.x + mean(where(c.client_coins([0.5] * 9), s.h, s.x)),
    "fractions": lambda m, s, f, c: s.x / 3.0 + 1.0 / (3.0 + s.x * s.x),
}


def iterations_of(experiment, runs=3):
    """Return the iterations of an experiment, and a state whose numbers are all unlike."""
    channel, oracle = simulated_world(experiment, range(runs))
    state = experiment.method.start(channel.template, oracle, channel)
    rng = np.random.default_rng(1)
    fields = {name: rng.standard_normal(x.shape) for name, x in vars(state).items()}
    return Replay.of(experiment.method, state, oracle, channel), type(state)(**fields)


def assert_same_iterations(experiment, runs=3):
    """Compare what a program makes of a state, and pays and draws, with the method's iterations."""
    (one, state), (other, _) = (iterations_of(experiment, runs) for _ in range(2))
    assert other.program is not None
    expected = found = state
    for count in (1, 21, 3):
        expected, found = one.done(count, expected), other.done(count, found, MANY)
    for name, x in vars(expected).items():
        y = getattr(found, name)
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-13 * np.abs(x).max(), err_msg=name)
    for name, spent in one.ledger.spent.items():
        np.testing.assert_array_equal(other.ledger.spent[name], spent, err_msg=name)
    for purpose, drawn in one.streams.drawn.items():
        np.testing.assert_array_equal(other.streams.drawn[purpose], drawn)


@pytest.mark.parametrize("runs", [1, 3, 17])
@pytest.mark.parametrize(("name", "sent"), CASES)
def test_a_program_does_what_the_method_does(name, sent, runs):
    changes = {"p": 0.3} if name == "adiana" else {}
    assert_same_iterations(experiment_of(name, sent, **changes), runs)


@pytest.mark.parametrize("sent", ["rand-k:29", "rand-k:29+natural", "natural"])
def test_long_messages_of_many_clients(sent):
    assert_same_iterations(experiment_of("diana", sent, problem=FEW_FEATURES))


@pytest.mark.parametrize("step", STEPS)
def test_every_kind_of_operation(step):
    assert_same_iterations(stepped(STEPS[step]))


@pytest.mark.parametrize(
    ("name", "sent", "chosen"),
    [
        ("diana", "rand-k:1@shared", PROBLEM),
        ("ef21", "top-k:2", PROBLEM),
        ("diana", "rand-k:1", Quadratic.random(3, 4, 1.0, 10.0)),
    ],
)
def test_what_has_no_compiled_code_goes_on_as_before(name, sent, chosen):
    (one, state), (other, _) = (
        iterations_of(experiment_of(name, sent, problem=chosen)) for _ in range(2)
    )
    assert other.program is None
    expected, found = one.done(20, state), other.done(20, state, MANY)
    for field, x in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, field), x)


def test_flags_of_a_state_are_flags_after_it():
    memory = np.zeros(3)
    none = np.zeros((0, 8), dtype=np.int64)
    fields, counted = {"x": memory.reshape(1, 3, 1)}, np.zeros(1, dtype=np.int64)
    program = Program(none, none, (), np.zeros(0, dtype=np.uint64), memory, fields, counted)
    for x in ([True, False, True], [1.5, 0.0, 1.0]):
        state = SimpleNamespace(x=np.array(x).reshape(1, 3, 1))
        program.begin(state)
        after = program.end(state)["x"]
        assert after.dtype == state.x.dtype
        np.testing.assert_array_equal(after, state.x)


def test_nothing_is_compiled_where_that_is_switched_off(monkeypatch):
    monkeypatch.setenv("CERTIBIT_COMPILE", "0")
    assert iterations_of(experiment_of("gd"))[0].program is None


def test_runs_are_compiled_after_many_iterations(monkeypatch):
    """Until then every number is that of the method, and it is what it was to rounding."""
    experiment = experiment_of("adiana", "rand-k:2", p=0.3)
    options = {"seeds": 3, "budget": Budget(rounds=90, gap=0.05), "record": Record(1.1)}
    expected = simulate(experiment, **options).columns
    monkeypatch.setattr(replays, "MANY", 30)
    compiled, repeat = [], Program.repeat

    def counted(self, numbers):
        compiled.append(len(numbers))
        repeat(self, numbers)

    monkeypatch.setattr(Program, "repeat", counted)
    found = simulate(experiment, **options).columns
    early = expected["rounds"] <= 30
    for name, column in expected.items():
        np.testing.assert_array_equal(found[name][early], column[early], err_msg=name)
        np.testing.assert_allclose(found[name], column, rtol=1e-9, err_msg=name)
    assert 0 < sum(compiled) <= 60
