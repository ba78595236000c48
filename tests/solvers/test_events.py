"""The event world: schedules by hand, identities of its methods, and their bits."""

from itertools import pairwise

import numpy as np
import pytest

from certibit import GD, Budget, Network, Quadratic, Record, compressor, problem, run
from certibit.data.errors import Refusal
from certibit.solvers.events.asynchronous_sgd import AsynchronousSGD
from certibit.solvers.events.event_run import simulate_events
from certibit.solvers.events.minibatch_sgd import MinibatchSGD
from certibit.solvers.events.rennala_sgd import RennalaSGD
from certibit.solvers.events.ringmaster_asgd import RingmasterASGD
from certibit.solvers.events.shadowheart_sgd import ShadowheartSGD

PLAIN = Quadratic.random(2, 4, mu=1.0, L=10.0)
NOISY = problem("quadratic:d=4@3:nonconvex:noise=0.5")
QUIET = problem("quadratic:d=4@3:nonconvex")
EVERY = Record(1, 1)
GAMMA = 0.05


def times(*seconds):
    """Return a network on which only gradients take time."""
    return Network(uplink=1e300, downlink=1e300, latency=0.0, spread=seconds)


def steps(method, network, rounds, solved=PLAIN, seeds=1):
    """Return the trace of every step, and the models of every step, (rounds + 1, d, R)."""
    models = []
    trace = simulate_events(
        method, solved, network=network, seeds=seeds, budget=Budget(rounds=rounds), record=EVERY,
        callback=lambda point: models.append(point["x"][0].copy()),
    )  # fmt: skip
    return trace, np.array(models)


def gradient(x):
    return PLAIN.plain.grad(x[None])[:, :, :].mean(axis=0)


def test_asynchronous_descent_by_hand():
    """Two clients of 1 and 3 seconds: the fourth step, at 3 seconds, is the slow one's, at x^0."""
    trace, x = steps(AsynchronousSGD(GAMMA), times(1.0, 3.0), 6)
    assert trace.columns["seconds"].tolist() == [0, 1, 2, 3, 3, 4, 5]
    given = [0, 1, 2, 0, 3, 5]  # the slow one was given x^0; it gets x^4, the fast one x^3
    for k, j in enumerate(given):
        np.testing.assert_allclose(x[k + 1], x[k] - GAMMA * gradient(x[j]), rtol=1e-12)


def test_ringmaster_ignores_what_is_old_by_hand():
    trace, x = steps(RingmasterASGD(GAMMA, R=3), times(1.0, 3.0), 5)
    assert trace.columns["seconds"].tolist() == [0, 1, 2, 3, 4, 5]
    for k in range(5):
        np.testing.assert_allclose(x[k + 1], x[k] - GAMMA * gradient(x[k]), rtol=1e-12)
    assert trace.final("iteration").tolist() == [6]  # and the slow one's, which was ignored


def rennala():
    """Return the seconds of three steps of two gradients each."""
    return steps(RennalaSGD(GAMMA, S=2), times(1.0, 3.0), 3)[0].columns["seconds"].tolist()


def test_rennala_collects_at_one_model_by_hand():
    """At 3 seconds the slow client's gradient at x^0 is ignored; at 6 its second one counts."""
    assert rennala() == [0, 2, 4, 6]
    _, x = steps(RennalaSGD(GAMMA, S=2), times(1.0, 3.0), 3)
    for k in range(3):
        np.testing.assert_allclose(x[k + 1], x[k] - GAMMA * gradient(x[k]), rtol=1e-12)


def test_a_planted_fault_of_rennala_is_seen_by_hand(monkeypatch):
    """It takes gradients of any model."""
    right = RennalaSGD.on_arrival
    monkeypatch.setattr(
        RennalaSGD, "on_arrival", lambda m, s, g, k, channel: right(m, s, g, s.k, channel)
    )
    assert rennala() != [0, 2, 4, 6]


def test_synchronous_descent_is_gradient_descent_and_its_clock():
    """But for the last broadcast, which the event world does not wait for."""
    network = Network(uplink=1e4, downlink=1e5, latency=0.03, gradient=0.2, spread="lognormal:1")
    trace, _ = steps(MinibatchSGD(GAMMA, m=2), network, 7)
    synchronous = run(GD(GAMMA), PLAIN, seeds=1, budget=Budget(rounds=7), network=network,
                      record=EVERY)  # fmt: skip
    for name in ("gap", "uplink_bits", "downlink_bits", "gradients", "rounds"):
        np.testing.assert_allclose(trace.columns[name], synchronous.columns[name], rtol=1e-9)
    last = 128 / 1e5 + 0.03
    waited = trace.columns["seconds"][1:] + last
    np.testing.assert_allclose(waited, synchronous.columns["seconds"][1:], rtol=1e-12)


def test_ringmaster_with_a_large_delay_is_asynchronous():
    network, options = times(1.0, 2.5, 7.0), {"solved": NOISY, "seeds": 3}
    one, x = steps(AsynchronousSGD(GAMMA), network, 40, **options)
    other, y = steps(RingmasterASGD(GAMMA, R=1000), network, 40, **options)
    np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(one.columns["seconds"], other.columns["seconds"])
    few, _ = steps(RingmasterASGD(GAMMA, R=2), network, 40, **options)
    assert few.final("seconds")[0] > one.final("seconds")[0]


def test_rennala_of_one_client_is_minibatch():
    one = Quadratic.random(1, 4, mu=1.0, L=10.0)
    trace, x = steps(RennalaSGD(GAMMA, S=3), times(2.0), 5, solved=one)
    other, y = steps(MinibatchSGD(GAMMA, m=1, b=3), times(2.0), 5, solved=one)
    np.testing.assert_allclose(x, y, rtol=1e-12)
    assert trace.final("seconds") == other.final("seconds") == 5 * 3 * 2.0
    assert trace.final("uplink_bits") == 3 * other.final("uplink_bits")


HEART = ShadowheartSGD(GAMMA, b=(3, 2, 0), m=(1, 4, 0), w=(0.3, 0.2, 0.0))


def test_shadowheart_waits_for_its_work_by_hand():
    """Without noise and compression all weights give the gradient; the third client is out."""
    network = Network(uplink=128.0, downlink=64.0, latency=0.5, spread=(1.0, 2.0, 0.1))
    models = []
    trace = simulate_events(HEART, QUIET, network=network, seeds=1, budget=Budget(rounds=3),
                            record=EVERY, callback=lambda p: models.append(p["x"][0]))  # fmt: skip
    first = max(3 * 1.0 + 1 * 1.0, 2 * 2.0 + 4 * 1.0) + 0.5
    seconds = [0, first, 2 * first + 2.5, 3 * first + 5.0]  # 2 down and a latency
    np.testing.assert_allclose(trace.columns["seconds"], seconds, rtol=1e-12)
    for x, after in pairwise(models):
        step = GAMMA * QUIET.grad(x[None]).mean(axis=0)
        np.testing.assert_allclose(after, x - step, rtol=1e-10)
    assert 3 * trace.final("uplink_bits") == 3 * (1 + 4) * 128
    assert 3 * trace.final("gradients") == 3 * (3 + 2)


def test_a_step_of_shadowheart_has_the_variance_of_its_bound():
    """A |grad f|^2 + B, exactly for rand-k; 4000 runs, five standard errors."""
    sent, runs, d = compressor("rand-k:1"), 4000, 4
    b, m, w = (np.array(each[:2]) for each in (HEART.b, HEART.m, HEART.w))
    p = w * m * b / np.sum(w * m * b)
    omega, sigma2 = sent.omega(d), NOISY.noise.variance(d)
    A, B = omega * np.sum(p**2 / m), sigma2 * np.sum(p**2 * (omega / (m * b) + 1 / b))
    models = []
    simulate_events(HEART, NOISY, sent, network="lan", seeds=runs, budget=Budget(rounds=1),
                    record=EVERY, callback=lambda p: models.append(p["x"][0]))  # fmt: skip
    exact = NOISY.grad(models[0][None, :, :1]).mean(axis=0)
    errors = (models[0] - models[1]) / GAMMA - exact
    squares = np.sum(errors**2, axis=0)
    expected = A * np.sum(exact**2) + B
    assert abs(squares.mean() - expected) <= 5 * squares.std() / np.sqrt(runs)
    assert abs(errors.mean(axis=1)).max() <= 5 * errors.std(axis=1).max() / np.sqrt(runs)


@pytest.mark.parametrize("method", [
    AsynchronousSGD(GAMMA), RingmasterASGD(GAMMA, R=3), RennalaSGD(GAMMA, S=4),
    MinibatchSGD(GAMMA, m=2, b=2), HEART,
])  # fmt: skip
def test_a_run_depends_on_its_own_seed_only(method):
    network = Network(gradient=0.1, spread="lognormal:1")
    together, _ = steps(method, network, 30, NOISY, seeds=(3, 5, 9))
    alone, _ = steps(method, network, 30, NOISY, seeds=(5,))
    for name in set(alone.columns) - {"run"}:
        column = alone.columns[name]
        np.testing.assert_allclose(together.run(1)[name], column, rtol=1e-9, atol=1e-12)
    assert len(set(together.final("gap"))) == 3


def test_a_client_that_never_answers_stops_only_those_that_wait():
    """Two clients of a second each; of Rennala's steps every second one waits for an old one."""
    slow = times(1.0, 1.0, 1e9)
    for method, most in [(RennalaSGD(GAMMA, S=2), 15.0), (RingmasterASGD(GAMMA, R=9), 5.0),
                         (MinibatchSGD(GAMMA, m=2), 10.0)]:  # fmt: skip
        assert steps(method, slow, 10, NOISY)[0].final("seconds") == most
    assert steps(MinibatchSGD(GAMMA, m=3), slow, 10, NOISY)[0].final("seconds") == 1e10


def test_bits_and_gradients_are_those_of_the_arrivals():
    """Up: one message of every arrival; down: one of every reply; means over clients."""
    trace, _ = steps(RennalaSGD(GAMMA, S=5), times(1.0, 1.5, 4.0), 8, NOISY)
    arrivals = trace.columns["iteration"]
    np.testing.assert_allclose(3 * trace.columns["gradients"], arrivals, rtol=1e-12)
    np.testing.assert_allclose(3 * trace.columns["uplink_bits"], 128 * arrivals, rtol=1e-12)
    np.testing.assert_allclose(3 * trace.columns["downlink_bits"], 128 * arrivals, rtol=1e-12)


def test_runs_end_at_their_own_accuracy():
    network = Network(gradient=0.1, spread="lognormal:1")
    trace = simulate_events(AsynchronousSGD(GAMMA), NOISY, network=network, seeds=4,
                            budget=Budget(squared_gradient=1e-2))  # fmt: skip
    assert trace.ending == ("squared_gradient",) * 4
    costs = trace.cost_to(1e-2, "seconds")
    np.testing.assert_array_equal(costs, trace.final("seconds"))
    assert len(set(costs)) > 1


def test_runs_end_after_seconds_on_the_network():
    budget = Budget(network_seconds=3.5)
    trace = simulate_events(AsynchronousSGD(GAMMA), PLAIN, network=times(1.0, 3.0), budget=budget)
    assert set(trace.ending) == {"network_seconds"}
    assert set(trace.final("seconds")) == {4.0}


def test_misfits_are_refused():
    with pytest.raises(Refusal, match="needs an accuracy, or a limit of rounds, bits"):
        simulate_events(AsynchronousSGD(GAMMA), PLAIN, network="lan", budget=Budget(iterations=9))
    with pytest.raises(Refusal, match="9 of 2 clients cannot take part; give m from 1 to 2"):
        steps(MinibatchSGD(GAMMA, m=9), times(1.0, 1.0), 1)
    with pytest.raises(Refusal, match="sends uncompressed vectors; leave rand-k:1 out"):
        simulate_events(AsynchronousSGD(GAMMA), PLAIN, compressor("rand-k:1"), network="lan",
                        budget=Budget(rounds=1))  # fmt: skip
    with pytest.raises(Refusal, match="top-k:1 is biased and shadowheart-sgd needs an unbiased"):
        simulate_events(HEART, NOISY, compressor("top-k:1"), network="lan",
                        budget=Budget(rounds=1))  # fmt: skip
    with pytest.raises(Refusal, match="no client of shadowheart-sgd computes and sends"):
        steps(ShadowheartSGD(GAMMA, (1, 0), (0, 1), (1.0, 1.0)), times(1.0, 1.0), 1)
