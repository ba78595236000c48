"""The clock: seconds by hand, as the sum of parts, and of the slowest of a cohort."""

import numpy as np
import pytest

from certibit import METHODS, Budget, Network, Quadratic, compressor, parameters, plan, run
from certibit.data.errors import Refusal
from certibit.solvers.clock import timed_ledger, timed_world
from certibit.solvers.clock.network import network_named
from certibit.solvers.clock.spread import read_spread
from certibit.solvers.clock.timed_ledger import TimedLedger
from certibit.solvers.methods.scaffold import SCAFFOLD
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.randomness import Streams
from certibit.solvers.store.store import Store

PROBLEM = Quadratic.random(2, 4, mu=1.0, L=10.0)
SLOW = Network(uplink=128.0, downlink=64.0, latency=0.25, gradient=9.0, spread=(1.0, 3.0))
"""One message of four numbers takes a second up and two down."""


def seconds(method="gd", problem=PROBLEM, network=SLOW, rounds=2, seeds=1):
    return run(method, problem, seeds=seeds, budget=Budget(rounds=rounds), network=network)


def of_two_clients():
    """Return the seconds of two rounds of gradient descent on two clients."""
    return seconds().final("seconds").item()


def by_hand():
    """The slower one: gradient, up, latency; down, latency; twice."""
    return 2 * (3.0 + 1.0 + 0.25 + 2.0 + 0.25)


def test_two_clients_by_hand():
    assert of_two_clients() == by_hand()


@pytest.mark.parametrize(
    ("place", "name", "fault"),
    [
        (timed_ledger, "last", lambda arrivals: arrivals.min(axis=1)),
        (TimedLedger, "received", lambda ledger, runs, bits: None),
        (TimedLedger, "sent", lambda ledger, runs, bits: None),
        (TimedLedger, "work", lambda ledger, runs, gradients: None),
        (timed_world, "_entries", lambda n, d, mask: np.full((n, 1), 1)),
    ],
)
def test_a_planted_fault_is_seen_by_hand(place, name, fault, monkeypatch):
    monkeypatch.setattr(place, name, fault)
    assert of_two_clients() != by_hand()


def test_links_differ_too():
    """Rates of clients are divided by the factor of the law; the last client is the slowest."""
    network = Network(uplink=128.0, downlink=64.0, latency=0.25, links="lognormal:1")
    factor = network.clients(2).uplink.max() / 128.0
    assert network.clients(2).uplink == pytest.approx([128 * factor, 128 / factor], rel=1e-12)
    assert seconds(network=network, rounds=1).final("seconds") == pytest.approx(3 * factor + 0.5)


EVERYONE = [
    *("gd", "agd", "nesterov", "scaffnew", "scaffold", "locodl", "diana", "adiana", "ef21p-diana"),
    *("locodl-both-ways", "fedcomgate"),
]
ANSWERED_LATER = ["ef21", "econtrol", "marina", "dasha"]
"""Methods that send something at the start; the server answers in the first round."""


@pytest.mark.parametrize("name", [*EVERYONE, *ANSWERED_LATER])
def test_seconds_of_equal_clients_are_the_sum_of_their_parts(name):
    problem = Quadratic.random(3, 6, mu=1.0, L=20.0)
    kinds = {None: None, "unbiased": compressor("rand-k:2"), "contractive": compressor("top-k:2")}
    sent = kinds[METHODS[name].method.needs.compressor]
    network = Network(uplink=1e3, downlink=3e3, latency=0.7, gradient=0.11)
    budget = Budget(rounds=5)
    method = parameters(name, problem, sent)
    trace = run(method, problem, sent, seeds=3, budget=budget, network=network)
    columns = ("uplink_bits", "downlink_bits", "synchronisations", "gradients")
    parts = network.seconds(*(trace.final(column) for column in columns))
    unanswered = network.latency if name in ANSWERED_LATER else 0.0
    np.testing.assert_allclose(trace.final("seconds"), parts - unanswered, rtol=1e-12)


def test_nothing_else_of_a_run_changes():
    problem = Quadratic.random(3, 6, mu=1.0, L=20.0)
    budget = Budget(rounds=40)
    with_clock = run("locodl", problem, "rand-k:2", seeds=2, budget=budget, network="lan")
    without = run("locodl", problem, "rand-k:2", seeds=2, budget=budget)
    for name, column in without.columns.items():
        np.testing.assert_allclose(with_clock.columns[name], column, rtol=1e-9, atol=1e-15)
    assert set(with_clock.columns) - set(without.columns) == {"seconds"}
    assert "network" not in without.specification


def test_a_slow_client_slows_every_round_down():
    fast, slow = (Network(latency=0.0, gradient=1.0, spread=(1.0, last)) for last in (1.0, 5.0))
    difference = seconds(network=slow, rounds=7).final("seconds") - seconds(
        network=fast, rounds=7
    ).final("seconds")
    assert difference == pytest.approx(7 * 4.0, rel=1e-12)


def test_a_round_waits_for_the_slowest_of_its_cohort():
    """The same cohorts are drawn again, from the same stream."""
    n, m, K, rounds, seeds = 5, 2, 3, 6, (4, 7)
    problem, times = Quadratic.random(n, 4, mu=1.0, L=10.0), np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    network = Network(uplink=256.0, downlink=256.0, latency=0.5, spread=tuple(times))
    method = SCAFFOLD(eta_l=0.01, eta_g=1.0, K=K, m=m)
    trace = simulate(Experiment.of(method, problem), seeds=seeds, network=network,
                     budget=Budget(rounds=rounds))  # fmt: skip
    streams, drawn = Streams(seeds), np.arange(len(seeds))
    parts = np.zeros(len(seeds))
    for _ in range(rounds):
        order = streams.uniform("cohort", drawn, (n, 1))[:, 0, :]
        members = order.argsort(axis=0).argsort(axis=0) < m
        slowest = np.where(members, times[:, None], 0.0).max(axis=0)
        parts += K * slowest + 1.0 + 0.5 + 1.0 + 0.5  # two vectors each way
    np.testing.assert_allclose(trace.final("seconds"), parts, rtol=1e-12)
    assert len(set(parts)) > 1


def test_a_client_that_was_away_hears_the_last_answer_first():
    """Only the first client is answered; the second needs the same seconds when it is called."""
    ledger, everyone = TimedLedger(1, SLOW.clients(2)), np.array([0])
    ledger.sent(everyone, np.array([[128], [128]]))
    ledger.received(everyone, np.array([[64], [0]]))
    assert ledger.seconds.item() == (1 + 0.25) + (1 + 0.25)
    ledger.sent(everyone, np.array([[0], [128]]))
    assert ledger.server.item() == 2.5 + (1 + 0.25)
    assert ledger.client.tolist() == [[2.5, 3.5]]


def test_a_run_has_the_seconds_that_it_has_alone():
    problem = Quadratic.random(4, 6, mu=1.0, L=20.0)
    network = Network(gradient=1e-2, spread="lognormal:1")
    options = {"budget": Budget(rounds=30), "network": network}
    together = run("tamuna", problem, seeds=(3, 5, 9), **options)
    alone = run("tamuna", problem, seeds=(5,), **options)
    np.testing.assert_allclose(together.run(1)["seconds"], alone.run(0)["seconds"], rtol=1e-12)


def test_a_trace_with_seconds_is_kept_and_drawn(tmp_path):
    options = {"seeds": 2, "budget": Budget(rounds=9), "network": SLOW}
    experiment = Experiment.of(parameters("gd", PROBLEM), PROBLEM)
    store = Store(tmp_path)
    trace = store.trace(experiment, **options)
    found = store.find(experiment, **options)
    np.testing.assert_array_equal(found.columns["seconds"], trace.columns["seconds"])
    assert store.find(experiment, seeds=2, budget=Budget(rounds=9)) is None
    other = {**options, "network": Network()}
    assert store.find(experiment, **other) is None
    assert "seconds" in trace.plot("seconds").axes[0].get_xlabel()
    costs = trace.cost_to(trace.final("gap").max(), "seconds")
    assert (costs <= trace.final("seconds")).all()


def test_no_method_takes_longer_than_planned():
    """What plan promises of the slowest client bounds the clock: measured, with three seeds."""
    network = Network(uplink=1e4, downlink=1e5, latency=0.01, gradient=1e-3,
                      spread="lognormal:1", links="lognormal:0.5")  # fmt: skip
    problem = Quadratic.random(4, 12, mu=1.0, L=50.0)
    made = plan(problem, target=1e-3, network=network, compressors=["natural"],
                methods=["locodl", "agd", "diana", "tamuna"])  # fmt: skip
    for offer in made.offers:
        until = Budget(gap=1e-3)
        trace = simulate(offer.experiment, seeds=3, budget=until, network=network)
        promised = offer.promised.seconds(made.network)
        assert 0.05 * promised < np.median(trace.cost_to(1e-3, "seconds")) <= promised


def test_runs_end_after_seconds_on_the_network():
    """At the first round that reaches them; it is 6.5 seconds a round."""
    trace = run("gd", PROBLEM, seeds=2, budget=Budget(network_seconds=20.0), network=SLOW)
    assert trace.ending == ("network_seconds",) * 2
    assert trace.final("seconds").tolist() == [26.0, 26.0]
    assert trace.specification["budget"]["network_seconds"] == 20.0
    assert "network_seconds" not in seconds().specification["budget"]
    with pytest.raises(Refusal, match="20 seconds on a network, and there is none; give network="):
        run("gd", PROBLEM, budget=Budget(network_seconds=20.0))


def test_a_network_in_words():
    found = network_named("up=1e6,down=100Mbit,latency=10ms,gradient=1e-3,spread=lognormal:1")
    assert found == Network(1e6, 1e8, 0.01, 1e-3, spread="lognormal:1")
    assert network_named("lan,links=lognormal:0.5").links == "lognormal:0.5"
    assert network_named("lan,gradient=2").slowest(3) == network_named("lan,gradient=2")


@pytest.mark.parametrize("header", ["", "client,seconds\n"])
def test_measured_times_of_clients(header, tmp_path):
    file = tmp_path / "times.csv"
    file.write_text(f"{header}b,1.0\na,4\nb,3e0\n", encoding="utf-8")
    assert read_spread(str(file)) == (2.0, 4.0)
    assert network_named(f"lan,spread={file}").clients(2).gradient.tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("lan,spread=normal:1", "the spread 'normal:1' cannot be read"),
        ("lan,spread=lognormal:-1", "the spread 'lognormal:-1' is unknown; expected equal"),
        ("lan,links=times.csv", "the spread 'times.csv' is unknown"),
        ("lan,speed=3", "'speed=3' says nothing about a network; give KEY=VALUE of up, down"),
        ("up=0", "uplink = 0 of a network; expected a positive rate"),
        ("up=fast", "'fast' cannot be read; expected a number with its unit"),
    ],
)
def test_what_is_no_network_is_refused(words, reason):
    with pytest.raises(Refusal, match=reason):
        network_named(words)


def test_misfits_are_refused():
    with pytest.raises(Refusal, match="times of 2 clients and the problem has 3"):
        seconds(problem=Quadratic.random(3, 4, mu=1.0, L=10.0))
    with pytest.raises(Refusal, match="counted on the host; choose the library numpy"):
        run("gd", PROBLEM, network=SLOW, library="array-api-strict", budget=Budget(rounds=1))
