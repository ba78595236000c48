"""Extensions: who is asked, that runs without them are the same, and that the core needs none."""

import json
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import certibit
from certibit import METHODS, Budget, Experiment, compressor
from certibit.solvers import registry
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.iteration import simulated_world, world_of_runs

PROBLEM = certibit.problem("breast-cancer@9", kappa=1e3)


def experiment_of(name, selector):
    sent = compressor(selector) if selector else None
    return Experiment.of(METHODS[name].parameters(PROBLEM, sent), PROBLEM, sent)


WITHOUT = """
import json, sys

class Removed:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("certibit.solvers.fast", "certibit.data.passes", "numba")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Removed())
import certibit

problem = certibit.problem("breast-cancer@9", kappa=1e3)
sent = certibit.compressor("rand-k:2")
method = certibit.parameters("diana", problem, sent)
trace = certibit.run(method, problem, sent, seeds=2, budget=certibit.Budget(iterations=40))
assert not any(name.startswith("certibit.solvers.fast") for name in sys.modules)
print(json.dumps([trace.final("gap").tolist(), trace.final("uplink_bits").tolist()]))
"""


def test_the_core_runs_where_the_fast_room_is_removed():
    command = [sys.executable, "-c", WITHOUT]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    gap, bits = json.loads(answer.stdout)
    trace = simulate(experiment_of("diana", "rand-k:2"), seeds=2, budget=Budget(iterations=40))
    np.testing.assert_allclose(gap, trace.final("gap"), rtol=1e-9)
    np.testing.assert_array_equal(bits, trace.final("uplink_bits"))


def asked():
    """Return the world that the core gets for runs of GD, and that of the core."""
    world = simulated_world(experiment_of("gd", None), range(2))
    return world_of_runs(*world), world


def test_the_front_door_registers_the_fast_room():
    world, plain = asked()
    assert [extension.__name__ for extension in registry.registered()] == [
        "certibit.solvers.fast.fast_world"
    ]
    assert world != plain


def test_the_registry_is_empty_where_it_is_switched_off(monkeypatch):
    monkeypatch.setenv("CERTIBIT_FAST", "0")
    world, plain = asked()
    assert list(registry.registered()) == []
    assert [type(x) for x in world] == [type(x) for x in plain]


def test_a_part_of_a_program_may_use_no_extension_or_all_of_it():
    assert not registry.are_forced()
    with registry.use_extensions("never"):
        assert list(registry.registered()) == []
        with registry.use_extensions("always"):
            assert registry.are_forced()
            assert list(registry.registered())
        assert list(registry.registered()) == []
    assert list(registry.registered())
    assert not registry.are_forced()


@pytest.fixture
def names(monkeypatch):
    monkeypatch.setattr(registry, "_NAMES", [])
    return registry._NAMES


@pytest.mark.parametrize("name", ["certibit.solvers.slow.extension", "certibit.solvers.absent"])
def test_an_extension_that_is_not_installed_is_left_out(name, names):
    registry.register(name)
    assert names == [name]
    assert list(registry.registered()) == []


def test_the_last_extension_is_asked_first_and_may_decline(names, monkeypatch):
    calls = []

    def toy(name, answer):
        module = ModuleType(name)
        module.__spec__ = registry  # what is loaded has one
        module.world = lambda channel, oracle: calls.append(name) or answer
        monkeypatch.setitem(sys.modules, name, module)
        registry.register(name)

    mine = object(), object()
    toy("first", mine)
    toy("second", None)
    registry.register("second")
    world, _ = asked()
    assert calls == ["second", "first"]
    assert world is mine
