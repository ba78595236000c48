"""A ledger that counts one thing wrongly is seen by the accounts alone."""

from dataclasses import dataclass

import numpy as np
import pytest
from small_methods import Model, Pair

from certibit import Experiment, Quadratic, compressor, mean, parameters, total
from certibit.solvers.method import Every, Method, Needs
from certibit.solvers.simulation.ledger import Ledger
from certibit.theory.checks.channel.accounts import accounts

PROBLEM_OF_SOME = Quadratic.random(4, 3, 1.0, 10.0)


@dataclass(frozen=True)
class OfSome(Method):
    """A method whose counted gradients are those of m clients."""

    gamma: float = 0.01
    m: int = 2
    name, needs = "of some", Needs()

    def start(self, x, problem, channel):
        return Model(x)

    def communicate(self, s, problem, channel):
        return Model(channel.broadcast(s.x - self.gamma * self.step(s.x, problem, channel)))

    def step(self, x, problem, channel):
        g = problem.grad(x, active=self.m)
        return total(channel.send(g, channel.cohort(self.m))) / self.m


def of_some(**members):
    return Experiment.of(type("Own", (OfSome,), members)(), PROBLEM_OF_SOME)


def more(m, x, f, c):
    g = f.grad(x, active=m.m)
    return total(c.send(g - 0.1 * mean(g), c.cohort(m.m))) / m.m


UNCOUNTED = {
    "all, of whom one is counted": lambda m, x, f, c: mean(c.send(f.grad(x, active=1))),
    "a cohort, with the mean of all": more,
    "all, of heads only": lambda m, x, f, c: mean(c.send(f.grad(x, active=c.coin(0.5)))),
}


class Lazy(OfSome):
    """After a warm-up of ten rounds nothing is sent where the gradients are small."""

    def start(self, x, problem, channel):
        return Pair(x, 1 + 0 * x)

    def communicate(self, s, problem, channel):
        g, x = problem.grad(s.x), s.x
        if float(s.v.max()) > 2.0**-10 or float(np.abs(g).max()) > 1.0:
            x = x - 0.09 * mean(channel.send(g))
        return Pair(channel.broadcast(x), s.v / 2)


def test_silence_that_tells_of_gradients_is_seen_after_a_warm_up():
    verdict = accounts(Experiment.of(Lazy(), PROBLEM_OF_SOME))
    assert "whether there is a broadcast depends on gradients that were not sent" in verdict.advice


class ToOne(OfSome):
    """A broadcast to one client, whose vector all use."""

    def communicate(self, s, problem, channel):
        x = s.x - self.gamma * mean(channel.send(problem.grad(s.x)))
        return Model(channel.broadcast(x, channel.client_coins([1.0] + [0.0] * (problem.n - 1))))


def test_a_broadcast_is_to_those_who_take_part():
    advice = accounts(Experiment.of(ToOne(), PROBLEM_OF_SOME)).advice
    assert "broadcasts are to fewer clients than took part before" in advice


def test_local_steps_send_nothing():
    """Those here send and broadcast."""
    talking = {"schedule": Every(4), "local_step": lambda m, s, f, c: m.communicate(s, f, c)}
    advice = accounts(of_some(**talking)).advice
    assert "bits are sent in local steps, which may compute and toss coins only" in advice


@pytest.mark.parametrize("name", UNCOUNTED)
def test_gradients_are_of_clients_that_take_part(name):
    assert accounts(of_some()).holds
    verdict = accounts(of_some(step=UNCOUNTED[name]))
    assert not verdict.holds
    assert "gradients are used of more clients" in verdict.advice


PROBLEM, SENT = Quadratic.random(3, 4, 1.0, 10.0), compressor("rand-k:2")
EXPERIMENT = Experiment.of(parameters("diana", PROBLEM, SENT), PROBLEM, SENT)


def test_a_right_ledger_is_no_fault():
    assert accounts(EXPERIMENT).holds


@pytest.mark.parametrize(
    ("name", "told"),
    [("up", "bits up are counted"), ("down", "bits down are"), ("evaluate", "gradients are")],
)
@pytest.mark.parametrize("factor", [0, 2])
def test_what_is_counted_wrongly_is_told(monkeypatch, name, told, factor):
    right = getattr(Ledger, name)

    def wrong(ledger, runs, count, *others):
        right(ledger, runs, factor * count, *others)

    monkeypatch.setattr(Ledger, name, wrong)
    verdict = accounts(EXPERIMENT)
    assert not verdict.holds
    assert told in verdict.advice
