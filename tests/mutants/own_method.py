"""A method of a user's own: three local steps with control variates between two rounds."""

from dataclasses import dataclass

from certibit import Every, Method, Needs, copies, mean


@dataclass(frozen=True)
class State:
    x: object  # (n, d, R)
    h: object  # (n, d, R)


@dataclass(frozen=True)
class LocalSteps(Method):
    gamma: float

    name, needs, schedule = "local-steps", Needs(), Every(3)

    def start(self, x, problem, channel):
        return State(copies(x, problem.n), 0 * problem.grad(x))

    def local_step(self, s, problem, channel):
        return State(s.x - self.gamma * (problem.grad(s.x) - s.h), s.h)

    def communicate(self, s, problem, channel):
        average = channel.broadcast(mean(channel.send(s.x)))
        h = s.h + (average - s.x) / (3 * self.gamma)
        return State(copies(average, s.x.shape[0]), h)

    def model(self, s):
        return mean(s.x)
