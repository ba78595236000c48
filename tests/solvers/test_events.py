"""The event world: schedules by hand, identities of its methods, and their bits."""

import numpy as np
import pytest

from certibit import GD, Budget, Network, Quadratic, Record, problem, run
from certibit.data.errors import Refusal
from certibit.solvers.events.asynchronous_sgd import AsynchronousSGD
from certibit.solvers.events.event_run import simulate_events
from certibit.solvers.events.minibatch_sgd import MinibatchSGD
from certibit.solvers.events.rennala_sgd import RennalaSGD
from certibit.solvers.events.ringmaster_asgd import RingmasterASGD

PLAIN = Quadratic.random(2, 4, mu=1.0, L=10.0)
NOISY = problem("quadratic:d=4@3:nonconvex:noise=0.5")
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


@pytest.mark.parametrize("method", [
    AsynchronousSGD(GAMMA), RingmasterASGD(GAMMA, R=3), RennalaSGD(GAMMA, S=4),
    MinibatchSGD(GAMMA, m=2, b=2),
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


def test_misfits_are_refused():
    with pytest.raises(Refusal, match="needs an accuracy, or a limit of rounds"):
        simulate_events(AsynchronousSGD(GAMMA), PLAIN, network="lan", budget=Budget(iterations=9))
    with pytest.raises(Refusal, match="9 of 2 clients cannot take part; give m from 1 to 2"):
        steps(MinibatchSGD(GAMMA, m=9), times(1.0, 1.0), 1)
