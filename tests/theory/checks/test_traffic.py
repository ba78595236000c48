"""What the server may hold without a message of its own, and what it may not."""

from dataclasses import dataclass

import pytest
from small_methods import Memory

from certibit import GD, Experiment, Method, Needs, Quadratic, copies, mean, where
from certibit.solvers.compressors.selection import RandK
from certibit.theory.checks.channel.knowledge import unsent


@dataclass(frozen=True)
class Mirroring(Method):
    """DIANA whose server mirrors the shift of each client."""

    gamma: float
    alpha: float
    name, needs = "mirroring-diana", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return Memory(x, copies(0 * x, problem.n))

    def direction(self, s, m, gradient):
        return mean(s.h + m)

    def shift(self, s, m, gradient):
        return s.h + self.alpha * m

    def communicate(self, s, problem, channel):
        gradient = problem.grad(s.x)
        m = channel.uplink(gradient - s.h)
        x = channel.broadcast(s.x - self.gamma * self.direction(s, m, gradient))
        return Memory(x, self.shift(s, m, gradient))


@dataclass(frozen=True)
class Speaking(GD):
    """Gradient descent with one mean gradient that is sent in some way."""

    sent: str = ""

    needs = Needs(compressor="unbiased")

    def communicate(self, s, problem, channel):
        g = problem.grad(s.x)
        return type(s)(channel.broadcast(s.x - self.gamma * mean(SENT[self.sent](g, channel))))


def means(g):
    return copies(mean(g), len(g))


SENT = {
    "by all": lambda g, channel: channel.send(means(g)),
    "by one": lambda g, channel: len(g) * channel.send(means(g), channel.cohort(1)),
    "compressed by all": lambda g, channel: channel.uplink(means(g)),
    "compressed by one": lambda g, channel: len(g) * channel.uplink(means(g), channel.cohort(1)),
    "of its own": lambda g, channel: len(g) * channel.send(g, channel.cohort(1)),
    "of its own, others silent": lambda g, channel: channel.send(
        where(cohort := channel.cohort(1), len(g) * g, means(g)), cohort
    ),
}


class Starting(Speaking):
    """Its first message is sent in some way; then it is gradient descent."""

    def start(self, x, problem, channel):
        return type(super().start(x, problem, channel))(
            x - self.gamma * mean(SENT[self.sent](problem.grad(x), channel))
        )

    def communicate(self, s, problem, channel):
        return GD.communicate(self, s, problem, channel)


@pytest.mark.parametrize("method", [Speaking, Starting])
@pytest.mark.parametrize("sent", SENT)
def test_a_client_sends_what_it_knows(sent, method):
    experiment = Experiment.of(
        method(0.01, sent), Quadratic.random(3, 4, mu=1.0, L=10.0, seed=0), RandK(2)
    )
    assert unsent(experiment).holds is sent.startswith("of its own")


UNSENT = {
    "gradients": {"direction": lambda self, s, m, gradient: mean(gradient)},
    "shifts": {"shift": lambda self, s, m, gradient: gradient},
}


@pytest.mark.parametrize("what", ["nothing", *UNSENT])
def test_the_server_holds_what_messages_tell_and_nothing_else(what):
    method = type("Own", (Mirroring,), UNSENT.get(what, {}))(0.01, 0.5)
    problem = Quadratic.random(3, 4, mu=1.0, L=10.0, seed=0)
    assert unsent(Experiment.of(method, problem, RandK(2))).holds is (what == "nothing")
