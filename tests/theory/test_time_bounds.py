"""Promised seconds of the event world hold: the schedules exactly, the accuracy in the mean."""

import math
from dataclasses import replace

import numpy as np
import pytest

from certibit import Network, Quartics, compressor, problem
from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.theory.asynchronous.measured_time import measured_time
from certibit.theory.asynchronous.rules import RULES, EventSetting
from certibit.theory.asynchronous.time_bounds import (
    Stationarity,
    first_time,
    optimal_order,
    rennala,
    ringmaster,
    synchronous,
)

PROBLEM = problem("quadratic:d=6@5:nonconvex:noise=1.5")
EPSILON, SENT = 0.5, compressor("rand-k:2")
BOUNDS = {"rennala-sgd": rennala, "ringmaster-asgd": ringmaster}
NETWORKS = {
    "equal": Network(uplink=1e6, downlink=1e7, latency=1e-3, gradient=1e-2),
    "lognormal": Network(1e6, 1e7, 1e-3, 1e-2, spread="lognormal:1.5", links="lognormal:0.5"),
    "one is fast": Network(1e9, 1e9, 0.0, spread=(50.0, 1.0, 45.0, 40.0, 60.0)),
}


def bound(name, network):
    c = Stationarity.of(PROBLEM, EPSILON)
    return RULES[name](c, EventSetting.of(network, PROBLEM, SENT))


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("name", RULES)
def test_no_method_takes_longer_than_promised(name, network):
    """All promised steps are made in time, which is exact; the mean has a margin of 5 errors."""
    promised = bound(name, NETWORKS[network])
    few = promised.steps < 4000
    made = measured_time(
        promised, PROBLEM, NETWORKS[network], EPSILON, SENT, seeds=6, all_steps=few
    )
    assert made.holds
    slopes = made.trace.columns["squared_gradient"].reshape(6, -1)[:, : promised.steps]
    means = slopes.mean(axis=1)
    if few:
        assert means.mean() + 5 * means.std(ddof=1) / math.sqrt(6) <= EPSILON


@pytest.mark.parametrize("network", NETWORKS)
def test_a_bound_that_is_too_low_is_a_fault(network):
    """The time of synchronous steps is exact, so a hundredth less is too little."""
    promised = bound("synchronous-sgd", NETWORKS[network])
    low = replace(promised, seconds=0.99 * promised.seconds)
    # the first model is known, so the first round takes less by one broadcast
    right = measured_time(promised, PROBLEM, NETWORKS[network], EPSILON, seeds=2, all_steps=True)
    wrong = measured_time(low, PROBLEM, NETWORKS[network], EPSILON, seeds=2, all_steps=True)
    assert right.holds
    assert not wrong.holds


def test_the_first_time_of_so_many_gradients():
    """Against every multiple of every tau."""
    draws = np.random.default_rng(0)
    for _ in range(50):
        tau = np.sort(draws.random(4) + 0.05)
        for late in (0, 1):
            wanted = int(draws.integers(1, 30))
            grid = np.sort(np.outer(np.arange(1, wanted + 2), tau).ravel())
            count = np.maximum(0, np.floor(grid[:, None] / tau * (1 + 1e-12)) - late).sum(axis=1)
            expected = grid[count >= wanted][0]
            assert first_time(tau, wanted, late) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", BOUNDS)
def test_optimal_methods_have_the_optimal_order(name):
    """Their bounds are within a constant of the optimal order, whatever the times and noise."""
    draws = np.random.default_rng(1)
    for _ in range(40):
        tau = np.sort(np.exp(3 * draws.standard_normal(20)))
        sigma2, epsilon = 10 ** draws.uniform(-3, 3), 10 ** draws.uniform(-3, 0)
        c = Stationarity(1.0, 10.0, sigma2, epsilon)
        assert BOUNDS[name](c, tau).seconds <= 96 * optimal_order(c, tau)
    slow = np.array([1.0, 1e6])
    c = Stationarity(1.0, 10.0, 1.0, 0.1)
    assert synchronous(c, slow).seconds > 1e3 * optimal_order(c, slow)


def test_the_command(capsys):
    words = ["asynchronous", "quadratic:d=4@3:nonconvex:noise=1", "--until-gradient", "0.5"]
    words += ["--compressor", "rand-k:2", "--seeds", "3"]
    assert main([*words, "rennala-sgd", "shadowheart-sgd"]) == 0
    out = capsys.readouterr().out
    assert "promised" in out
    assert "rennala-sgd" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_command_fails_with_a_bound_that_fails(capsys, monkeypatch):
    low = replace(bound("rennala-sgd", NETWORKS["equal"]), seconds=1e-6)
    monkeypatch.setitem(RULES, "rennala-sgd", lambda c, setting: low)
    assert main(["asynchronous", PROBLEM.name, "rennala-sgd", "--seeds", "2"]) == 1
    assert "FAILS: it takes longer than promised" in capsys.readouterr().out


def test_misfits_are_refused():
    with pytest.raises(Refusal, match="give a positive accuracy"):
        Stationarity.of(PROBLEM, 0.0)
    with pytest.raises(Refusal, match="is not smooth"):
        Stationarity.of(Quartics.of(H=8), 0.1)
