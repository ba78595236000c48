"""A run that goes on is the same run, and a compiled pass gives what plain arrays give."""

import pytest
from tool.compiled import compiled_as_plain
from tool.resumed import goes_on

from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.fast import fast_world
from certibit.solvers.runs.checkpoint import Carried
from certibit.solvers.simulation import randomness
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS

LOGISTIC = problem("breast-cancer@5", kappa=30)
EXPERIMENT = Experiment.of(METHODS["diana"].parameters(LOGISTIC, RandK(4)), LOGISTIC, RandK(4))


def lost(carried, name):
    """Return what is written without one of its numbers."""
    return {key: 0 * x if key == name else x for key, x in Carried.kept(carried).items()}


def test_a_run_that_goes_on_is_the_same():
    assert goes_on(EXPERIMENT).holds


@pytest.mark.parametrize("name", ["stream.compressor", "ledger.uplink_bits", "state.h", "rounds"])
def test_what_is_not_kept_is_missed(name, monkeypatch):
    monkeypatch.setattr(Carried, "kept", Carried.write, raising=False)
    monkeypatch.setattr(Carried, "write", lambda carried: lost(carried, name))
    assert not goes_on(EXPERIMENT).holds


def test_a_stream_that_goes_on_elsewhere_is_seen(monkeypatch):
    monkeypatch.setattr(randomness, "WORDS", 3)
    verdict = goes_on(EXPERIMENT)
    assert not verdict.holds
    assert "look at what a checkpoint keeps of a run, at its random streams" in verdict.advice


def test_a_method_that_remembers_outside_of_its_state_is_seen():
    calls = []

    class Remembers(METHODS["gd"].method):
        def communicate(self, s, problem, channel):
            calls.append(s)
            after = super().communicate(s, problem, channel)
            return type(s)(after.x * (1 + 0.01 * len(calls)))

    assert not goes_on(Experiment.of(Remembers(gamma=0.01), LOGISTIC)).holds


def test_compiled_passes_agree():
    verdict = compiled_as_plain(LOGISTIC)
    assert verdict.holds
    assert verdict.points == 4


def changed(name, change):
    right = getattr(fast_world.FusedGradients, name)
    return fast_world.FusedGradients, name, lambda self, *words: change(right(self, *words))


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        changed("at", lambda x: x * (1 + 1e-6)),
        changed("at", lambda x: x[::-1]),
        (fast_world, "_WAYS", {RandK: lambda sent, x, uniforms: 0 * x}),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_a_wrong_pass_is_seen(owner, name, wrong, monkeypatch):
    monkeypatch.setattr(owner, name, wrong)
    assert not compiled_as_plain(LOGISTIC).holds


def test_without_a_compiler_there_is_nothing_to_compare(monkeypatch):
    monkeypatch.setenv("CERTIBIT_FAST", "0")
    assert compiled_as_plain(LOGISTIC) is None
