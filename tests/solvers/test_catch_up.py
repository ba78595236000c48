"""Broadcasts counted for their cohort, as in papers, or for all clients, which must catch up."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import GD, Budget, Experiment, Quadratic, Record, compressor, parameters
from certibit.cli import main
from certibit.solvers.authoring import mean, where
from certibit.solvers.runs.engine import simulate

QUADRATIC = Quadratic.random(7, 5, mu=1.0, L=30.0, seed=3)
N, D = QUADRATIC.n, QUADRATIC.d
ROUNDS = 6
VECTORS = {
    # the cohort's size, the compressor, and the mean numbers that a client receives in a round,
    # counted for its cohort and for all
    "tamuna": ({"m": 3, "s": 2}, None, 5 * D / N, D),  # entries go back to 2 owners: all have them
    "scaffold": ({"m": 3}, None, 2 * 3 * D / N, 2 * D),
    "5gcs-cc": ({"cohort": 3}, "rand-k:2", 3 * D / N, D),
    "fedcomgate": ({"S": 3}, "rand-k:2", 2 * 3 * D / N, 2 * D),
    "diana": ({}, "rand-k:2", D, D),
}


def runs(name, **more):
    sizes, words, *_ = VECTORS[name]
    sent = words and compressor(words)
    method = replace(parameters(name, QUADRATIC, sent), **sizes)
    experiment = Experiment.of(method, QUADRATIC, sent)
    options = {"seeds": 2, "budget": Budget(rounds=ROUNDS), "record": Record(every=1)} | more
    return simulate(experiment, **options), simulate(experiment, catch_up=True, **options)


@pytest.mark.parametrize("more", [{}, {"wire": True}])
@pytest.mark.parametrize("name", VECTORS)
def test_what_the_cohort_receives_and_what_all_do(name, more):
    published, caught_up = runs(name, **more)
    for trace, numbers in zip((published, caught_up), VECTORS[name][2:], strict=True):
        bits = 32 * numbers * trace.columns["rounds"]
        np.testing.assert_allclose(trace.columns["downlink_bits"], bits, rtol=1e-12)
    for column in set(published.columns) - {"downlink_bits"}:
        np.testing.assert_array_equal(published.columns[column], caught_up.columns[column])


@dataclass(frozen=True)
class Resting(GD):
    """A method whose model stays what it is in half of the rounds, and draws owners of some."""

    owning: bool = False
    name = "resting"

    def communicate(self, s, problem, channel):
        cohort, some = channel.cohort(3), channel.client_coins([0.7] * problem.n)
        g = problem.grad(s.x)
        owned = channel.ownership(2, some | cohort) if self.owning else cohort
        x = s.x - self.gamma * mean(channel.send(g, owned))
        return type(s)(channel.broadcast(where(channel.coin(0.5), x, s.x), cohort))


@pytest.mark.parametrize("owning", [False, True])
def test_a_run_depends_on_its_own_seed_only(owning):
    experiment = Experiment.of(Resting(0.01, owning), QUADRATIC)
    options = {"budget": Budget(rounds=20), "catch_up": True}
    together = simulate(experiment, seeds=(5, 0, 3), **options)
    for place, seed in enumerate((5, 0, 3)):
        alone = simulate(experiment, seeds=(seed,), **options)
        for name in ("gap", "uplink_bits", "downlink_bits"):
            assert alone.final(name)[0] == pytest.approx(together.final(name)[place], rel=1e-12)


def test_the_command_counts_so(capsys):
    words = ["run", "breast-cancer@9", "scaffold", "--set", "m=3", "--rounds", "4", "--seeds", "1"]
    bits = []
    for more in ([], ["--catch-up"]):
        assert main([*words, "--json", *more]) == 0
        bits.append(json.loads(capsys.readouterr().out)["runs"][0]["downlink_bits"])
    assert bits[1] == pytest.approx(3 * bits[0])
