"""Methods and classes whose descent, if one with this c were certified, would not be true of runs.

Each is about what is drawn: messages that share their randomness, samples at two points.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from attacks import Attack, kind

from certibit import GD, MARINA, PAGE, Assumption, ClientClass, ClippedSGD, CompressedGD
from certibit.solvers.authoring import Method, Needs, copies, mean, where
from certibit.solvers.clipping import norm, unit
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.function_class import FunctionClass
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions


@dataclass(frozen=True)
class Estimates:
    x: Any  # (1, d, R), the model
    w: Any  # (1, d, R), what the clients know of it
    h: Any  # (n, d, R), estimates of gradients, or places beside the model


@dataclass(frozen=True)
class BothWays(Method):
    """DIANA whose server compresses the differences of models.

    The clients' model w is unstable where (1 - beta)^2 + beta^2 omega_down > 1.
    """

    gamma: float = 0.02
    beta: float = 0.5

    name, needs = "noise of the server", Needs(compressor="unbiased", downlink="unbiased")

    def start(self, x, problem, channel):
        return Estimates(x, x, copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        m = channel.uplink(problem.grad(s.w) - s.h)
        x = s.x - self.gamma * mean(s.h + m)
        return Estimates(x, s.w + self.beta * channel.downlink(x - s.w), s.h + m / 2)

    def fixed_point(self, problem):
        return Estimates(problem.x_star, problem.x_star, problem.grad_star)

    def invariants(self, s, problem):
        return ()


@dataclass(frozen=True)
class Beside(BothWays):
    """PAGE whose clients take their samples at points of their own beside the model."""

    name, needs = "samples beside the model", Needs(samples=True)

    def start(self, x, problem, channel):
        return Estimates(x, mean(channel.send(problem.grad(x))), copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        x, xi = channel.broadcast(s.x - self.gamma * s.w), problem.sample(0)
        change = problem.grad(x + s.h, sample=xi) - problem.grad(s.x + s.h, sample=xi)
        anew, more = mean(channel.send(problem.grad(x))), mean(channel.send(change))
        return Estimates(x, where(channel.coin(self.beta), anew, s.w + more), s.h / 2)

    def fixed_point(self, problem):
        return Estimates(problem.x_star, mean(problem.grad_star), 0 * problem.grad_star)


@dataclass(frozen=True)
class Corrected(PAGE):
    """Steps along what is the gradient at the model as long as no sample has noise."""

    name = "an invariant without noise"

    def communicate(self, s, problem, channel):
        old = mean(channel.send(problem.grad(s.x, sample=0)))
        x = channel.broadcast(s.x - self.gamma * s.g)
        new = mean(channel.send(problem.grad(x, sample=1)))
        return replace(s, x=x, g=new + (s.g - old) / 2)

    def invariants(self, s, problem):
        return None


def two_lossy_broadcasts(m, s, f, c):
    """Compressed gradient descent that also adds the difference of two broadcasts."""
    g = mean(c.uplink(f.grad(s.x)))
    return replace(s, x=s.x - m.gamma * g - 100 * (c.downlink(g) - c.downlink(g)))


def of_one_client(m, s, f, c):
    """PAGE that takes its samples of the first client only, n times."""
    n, x = int(f.n), c.broadcast(s.x - m.gamma * s.g)
    exact, xi = c.coin(m.p), f.sample(0)
    first = np.array([float(n), *[0.0] * (n - 1)])[:, None, None]
    change = first * (f.grad(x, sample=xi) - f.grad(s.x, sample=xi))
    sent = mean(c.send(where(exact, f.grad(x), change)))
    return replace(s, x=x, g=where(exact, sent, s.g + sent))


def where_it_led_to(m, s, f, c):
    """A step of SGD whose sample is taken again where it has led to."""
    xi = f.sample(0)
    x = c.broadcast(s.x - m.gamma * mean(c.send(f.grad(s.x, sample=xi))))
    return replace(s, x=x, g=mean(c.send(f.grad(x, sample=xi))))


def of_one_slot(m, s, f, c):
    """Clipped SGD that also adds the difference of two samples of one slot."""
    g, again = (mean(f.grad(s.x, sample=0)) for _ in range(2))
    return replace(s, x=s.x - m.clip(g) - 100 * (g - again))


def by_clients(m, s, f, c):
    """Clipped steps of the clients, and the difference of those by two samples."""
    g, again = (m.clip(f.grad(s.x, sample=k)) for k in (0, 1))
    return replace(s, x=s.x - mean(c.send(g + 100 * (g - again))))


def in_another_direction(m, s, f, c):
    """Clipping of gradients, in directions of noisy ones."""
    g, noisy = f.grad(s.x), f.grad(s.x, sample=0)
    step = where(norm(g) > m.tau, m.gamma * unit(noisy), m.eta * g)
    return replace(s, x=s.x - mean(c.send(step)))


def by_a_negative(m, s, f, c):
    """Gradient descent that steps up where a sampled -g is long."""
    g, noisy = (mean(c.send(f.grad(s.x, sample=k))) for k in (None, 0))
    return replace(s, x=where(norm(-noisy) > m.tau, s.x + 100 * g, s.x - m.clip(g)))


def silent(m, s, f, c):
    """Clipped SGD that sends its steps where they are long, which they never are."""
    step = m.clip(mean(f.grad(s.x)))
    return replace(s, x=s.x - c.send(step, norm(step) > 2 * m.gamma))


def sideways(m, s, f, c):
    """Normalised gradient descent, and steps that clients clip by samples of their own.

    These may be at a right angle to grad f: c is that of the bound in any direction.
    """
    own = replace(m, gamma=m.gamma / 10).clip(mean(c.send(f.grad(s.x))))
    return replace(s, x=s.x - own - mean(m.clip(f.grad(s.x, sample=0))))


@dataclass(frozen=True)
class BoundedGap(Assumption):
    """f(x) - inf f <= D, which does not say that it has a constant."""

    D: float

    def at(self, x):
        return self.D * x.unit - x.value


def smooth(n: int, **constants: Any) -> FunctionClass:
    return FunctionClass.nonconvex(n, L=1.0, **constants)


SAMPLED = GradientNoise(difference=1.0)
TWO = FunctionClass.of_classes([ClientClass(1, -1.0, 1.0), ClientClass(3, -1.0, 1.0)])
DRAWN = FunctionClass.of_classes([ClientClass(1, -1.0, 1.0, omega=1.0)] * 2)
UNLIKE = RelaxedFunctions(1.0, 1.0, 2, sigma=0.1, kappa=0.3)


def stepping(base, step, *parameters, **members):
    """Return a method with other rounds, which are named by their function."""
    return kind(step.__name__.replace("_", " "), base, communicate=step, **members)(*parameters)


def clipping(step, size):
    return stepping(ClippedSGD, step, size, size)


LOSSY = Needs(compressor="contractive", downlink="contractive")
ATTACKS_ON_DESCENTS = [
    Attack(BothWays(), smooth(4, omega=1.0, omega_joint=0.0, omega_down=9.0), "no descent is"),
    Attack(
        stepping(CompressedGD, two_lossy_broadcasts, 0.1, needs=LOSSY),
        smooth(1, bias=0.3, omega=0.1, alpha_down=0.5),
    ),
    Attack(Beside(0.1), smooth(2, noise=SAMPLED), "points that differ from client to client"),
    Attack(
        stepping(PAGE, of_one_client, 0.05, 0.4),
        replace(TWO, noise=SAMPLED),
        "not of a class of them",
    ),
    Attack(MARINA(0.2, 0.4), replace(DRAWN, omega_joint=0.25), "for clients that differ"),
    Attack(
        stepping(PAGE, where_it_led_to, 0.1, 0.4),
        smooth(2, noise=SAMPLED),
        "at a point that may depend on it",
    ),
    Attack(Corrected(0.1, 0.4), smooth(1, noise=GradientNoise()), "", 1.0, 0.231),
    Attack(GD(0.5), smooth(2, assumptions=(BoundedGap(0.5),)), "multiple of the number 1"),
    Attack(
        clipping(of_one_slot, 0.2), RelaxedFunctions(1.0, 1.0, sigma=0.1), "no decrease of f is"
    ),
    Attack(clipping(by_clients, 0.1), UNLIKE, "moves along the direction of a gradient"),
    Attack(
        clipping(in_another_direction, 0.1), replace(UNLIKE, sigma=3.0), "choose by its own norm"
    ),
    Attack(
        clipping(by_a_negative, 0.1), RelaxedFunctions(1.0, 1.0, 2, 0.1), "bounded length at large"
    ),
    Attack(clipping(sideways, 0.04), RelaxedFunctions(0.1, 1.0, 2, 0.2, 0.4, 2.0), "", 0.64),
    Attack(clipping(silent, 0.1), RelaxedFunctions(1.0, 1.0), "sends a part of a vector"),
]
