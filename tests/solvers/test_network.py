"""Networks in words, and the seconds that the counts of a run take on one."""

import json

import numpy as np
import pytest

from certibit import Budget, Network, Quadratic, Refusal, Trace, run
from certibit.cli import main
from certibit.solvers.network import network_named

PROBLEM = Quadratic.random(2, 4, mu=1.0, L=10.0)
SLOW = Network(uplink=128.0, downlink=64.0, latency=0.25, gradient=3.0)
"""One message of four numbers takes a second up and two down."""


def test_two_rounds_by_hand(tmp_path):
    """Gradient, up, latency; down, latency; twice. The seconds are kept in a file, and drawn."""
    trace = run("gd", PROBLEM, seeds=1, budget=Budget(rounds=2)).timed(SLOW)
    assert trace.final("seconds").item() == 2 * (3.0 + 1.0 + 0.25 + 2.0 + 0.25)
    assert trace.cost_to(trace.final("gap").max(), "seconds") <= trace.final("seconds")
    trace.save(tmp_path / "trace.npz")
    kept = Trace.load(tmp_path / "trace.npz")
    np.testing.assert_array_equal(kept.columns["seconds"], trace.columns["seconds"])
    assert "seconds" in kept.plot("seconds").axes[0].get_xlabel()


def test_the_command_prints_them(capsys):
    words = ["run", "quadratic:d=4@2", "gd", "--kappa", "10", "--rounds", "5", "--seeds", "1"]
    assert main([*words, "--network", "up=128,down=64,latency=0.25,gradient=3", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    counts = (row[name] for name in ("uplink_bits", "downlink_bits", "rounds", "gradients"))
    assert row["seconds"] == pytest.approx(SLOW.seconds(*counts), rel=1e-12)


def test_a_network_in_words():
    found = network_named("up=1e6,down=100Mbit,latency=10ms,gradient=1e-3")
    assert found == Network(1e6, 1e8, 0.01, 1e-3)
    assert network_named("lan,gradient=2") == Network(1e9, 1e9, 1e-4, 2.0)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("lan,speed=3", "'speed=3' says nothing about a network; give KEY=VALUE of up, down"),
        ("up=0", "uplink = 0 of a network; expected a positive rate"),
        ("up=fast", "'fast' cannot be read; expected a number with its unit"),
    ],
)
def test_what_is_no_network_is_refused(words, reason):
    with pytest.raises(Refusal, match=reason):
        network_named(words)
