"""Methods and classes whose descent, if one with this c were certified, would not be true of runs.

Each is about what is drawn: messages that share their randomness, samples at two points.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from attacks import Attack

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

    name: ClassVar[str] = "noise of the server"
    needs = Needs(compressor="unbiased", downlink="unbiased")

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
class TwiceDownwards(CompressedGD):
    """Compressed gradient descent that also adds the difference of two broadcasts."""

    name: ClassVar[str] = "two biased broadcasts"
    needs = Needs(compressor="contractive", downlink="contractive")

    def communicate(self, s, problem, channel):
        g = mean(channel.uplink(problem.grad(s.x)))
        apart = 100 * (channel.downlink(g) - channel.downlink(g))
        return replace(s, x=s.x - self.gamma * g - apart)


@dataclass(frozen=True)
class Beside(BothWays):
    """PAGE whose clients take their samples at points of their own beside the model."""

    name: ClassVar[str] = "samples beside the model"
    needs = Needs(samples=True)

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
class WeightedPAGE(PAGE):
    """PAGE that takes its samples of the first client only, n times."""

    name: ClassVar[str] = "samples of one client"

    def communicate(self, s, problem, channel):
        n, x = int(problem.n), channel.broadcast(s.x - self.gamma * s.g)
        exact, xi = channel.coin(self.p), problem.sample(0)
        first = np.array([float(n), *[0.0] * (n - 1)])[:, None, None]
        change = first * (problem.grad(x, sample=xi) - problem.grad(s.x, sample=xi))
        sent = mean(channel.send(where(exact, problem.grad(x), change)))
        return replace(s, x=x, g=where(exact, sent, s.g + sent))


@dataclass(frozen=True)
class Chosen(PAGE):
    """A step of SGD whose sample is taken again where it has led to."""

    name: ClassVar[str] = "a sample at a point that depends on it"

    def communicate(self, s, problem, channel):
        xi = problem.sample(0)
        first = mean(channel.send(problem.grad(s.x, sample=xi)))
        x = channel.broadcast(s.x - self.gamma * first)
        return replace(s, x=x, g=mean(channel.send(problem.grad(x, sample=xi))))


@dataclass(frozen=True)
class Corrected(PAGE):
    """Steps along what is the gradient at the model as long as no sample has noise."""

    name: ClassVar[str] = "an invariant without noise"

    def communicate(self, s, problem, channel):
        old = mean(channel.send(problem.grad(s.x, sample=0)))
        x = channel.broadcast(s.x - self.gamma * s.g)
        new = mean(channel.send(problem.grad(x, sample=1)))
        return replace(s, x=x, g=new + (s.g - old) / 2)

    def invariants(self, s, problem):
        return None


@dataclass(frozen=True)
class TwiceClipped(ClippedSGD):
    """Clipped SGD that also adds the difference of two samples of one slot."""

    name: ClassVar[str] = "two samples of one slot"

    def communicate(self, s, problem, channel):
        g, again = (mean(problem.grad(s.x, sample=0)) for _ in range(2))
        return replace(s, x=s.x - self.clip(g) - 100 * (g - again))


@dataclass(frozen=True)
class TwiceClippedByClients(ClippedSGD):
    """Clipped steps of the clients, and the difference of those by two samples."""

    name: ClassVar[str] = "two clipped samples"

    def communicate(self, s, problem, channel):
        g, again = (self.clip(problem.grad(s.x, sample=k)) for k in (0, 1))
        return replace(s, x=s.x - mean(channel.send(g + 100 * (g - again))))


@dataclass(frozen=True)
class OtherDirection(ClippedSGD):
    """Clipping of gradients, in directions of noisy ones."""

    name: ClassVar[str] = "clipping in another direction"

    def communicate(self, s, problem, channel):
        g, noisy = problem.grad(s.x), problem.grad(s.x, sample=0)
        step = where(norm(g) > self.tau, self.gamma * unit(noisy), self.eta * g)
        return replace(s, x=s.x - mean(channel.send(step)))


@dataclass(frozen=True)
class NegativeNorm(ClippedSGD):
    """Gradient descent that steps up where a sampled -g is long."""

    name: ClassVar[str] = "the norm of -g"

    def communicate(self, s, problem, channel):
        g, noisy = (mean(channel.send(problem.grad(s.x, sample=k))) for k in (None, 0))
        return replace(s, x=where(norm(-noisy) > self.tau, s.x + 100 * g, s.x - self.clip(g)))


@dataclass(frozen=True)
class Silent(ClippedSGD):
    """Clipped SGD that sends its steps where they are long, which they never are."""

    name: ClassVar[str] = "steps that are not sent"

    def communicate(self, s, problem, channel):
        step = self.clip(mean(problem.grad(s.x)))
        return replace(s, x=s.x - channel.send(step, norm(step) > 2 * self.gamma))


@dataclass(frozen=True)
class Sideways(ClippedSGD):
    """Normalised gradient descent, and steps that clients clip by samples of their own.

    These may be at a right angle to grad f: c is that of the bound in any direction.
    """

    name: ClassVar[str] = "clipped steps to the side"

    def communicate(self, s, problem, channel):
        own = replace(self, gamma=self.gamma / 10).clip(mean(channel.send(problem.grad(s.x))))
        return replace(s, x=s.x - own - mean(self.clip(problem.grad(s.x, sample=0))))


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


ATTACKS_ON_DESCENTS = [
    Attack(BothWays(), smooth(4, omega=1.0, omega_joint=0.0, omega_down=9.0), "no descent is"),
    Attack(TwiceDownwards(0.1), smooth(1, bias=0.3, omega=0.1, alpha_down=0.5)),
    Attack(Beside(0.1), smooth(2, noise=SAMPLED), "points that differ from client to client"),
    Attack(WeightedPAGE(0.05, 0.4), replace(TWO, noise=SAMPLED), "not of a class of them"),
    Attack(MARINA(0.2, 0.4), replace(DRAWN, omega_joint=0.25), "for clients that differ"),
    Attack(Chosen(0.1, 0.4), smooth(2, noise=SAMPLED), "at a point that may depend on it"),
    Attack(Corrected(0.1, 0.4), smooth(1, noise=GradientNoise()), "", 1.0, 0.231),
    Attack(GD(0.5), smooth(2, assumptions=(BoundedGap(0.5),)), "multiple of the number 1"),
    Attack(TwiceClipped(0.2, 0.2), RelaxedFunctions(1.0, 1.0, sigma=0.1), "no decrease of f is"),
    Attack(TwiceClippedByClients(0.1, 0.1), UNLIKE, "moves along the direction of a gradient"),
    Attack(OtherDirection(0.1, 0.1), replace(UNLIKE, sigma=3.0), "choose by its own norm"),
    Attack(NegativeNorm(0.1, 0.1), RelaxedFunctions(1.0, 1.0, 2, 0.1), "bounded length at large"),
    Attack(Sideways(0.04, 0.04), RelaxedFunctions(0.1, 1.0, 2, 0.2, 0.4, 2.0), "", 0.64),
    Attack(Silent(0.1, 0.1), RelaxedFunctions(1.0, 1.0), "sends a part of a vector"),
]
