"""Methods whose certificate, if they had one, would not be true of their runs.

Each does on functions, clients, dimensions or messages that nobody tried what it does not do on
those that were tried. Most change the direction of gradient descent, x <- x - gamma v.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from certibit import EF21, Method, Needs, copies, everyone, masked, mean, squared_norm, total, where
from certibit.data.errors import Refusal
from certibit.solvers.libraries import like
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef21p_diana import EF21PDIANA
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.relaxed.certify_clipped import certify_clipped
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions

THREE = FunctionClass(3, 1.0, 10.0)
Step = Callable[[Any, Any, Any, Any, Any], Any]
"""Of the method, state, problem, channel and the mean gradient: the direction."""


@dataclass(frozen=True)
class State:
    x: Any  # (1, d, R), the model
    v: Any  # (1, d, R), the last direction
    flag: Any  # (n, 1, R) bool


@dataclass(frozen=True)
class Descent(Method):
    """Gradient descent, but for its direction."""

    gamma: float = 0.01
    weights: tuple[float, ...] = ()

    needs = Needs()

    def start(self, x, problem, channel):
        return State(x, 0 * x, everyone(copies(x, problem.n)))

    def direction(self, s, f, c, g):
        return g

    def flag(self, s, f, c):
        return s.flag

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        v = self.direction(s, problem, channel, g)
        return State(channel.broadcast(s.x - self.gamma * v), v, self.flag(s, problem, channel))

    def fixed_point(self, problem):
        x = problem.x_star
        return State(x, 0 * x, everyone(copies(x, problem.n)))

    def invariants(self, s, problem):
        return ()


@dataclass(frozen=True)
class Attack:
    """A method, the class it is certified over, and what is said of it.

    ``sentence`` is that of the refusal; without one, the certificate has to be true: its c is at
    most ``most``. The mean of |grad f|^2 over a run stays above ``noise`` sigma^2, so that e is
    above c times it.
    """

    method: Method
    functions: FunctionClass | RelaxedFunctions = THREE
    sentence: str = ""
    most: float = 0.0
    noise: float = 0.0

    def answer(self) -> tuple[str, bool]:
        """Return what is said of it, and whether that is not as it should be."""
        relaxed = isinstance(self.functions, RelaxedFunctions)
        try:
            found = (certify_clipped if relaxed else certify)(self.method, self.functions)
        except Refusal as refusal:
            said = str(refusal)
            return said, not (self.sentence and re.search(self.sentence, said))
        false = found.c > self.most or found.e < self.noise * found.c
        return f"c = {found.c:.6g}, e = {found.e:.6g}", bool(self.sentence) or false


LINEAR = "is not linear and has no certificate: it "
ALIKE = "does not treat all clients alike and has no certificate: it "
DIMENSION = "depends on the dimension and has no certificate: it "
MASK = "looks at who takes part and has no certificate: it "
MANY = FunctionClass(1000, 1.0, 50.0)


@cache
def kind(name: str, base: type = Descent, **members: Any) -> type[Method]:
    return dataclass(frozen=True)(type(base.__name__, (base,), {"name": name, **members}))


def descent(
    name: str, direction: Step, sentence: str = "", functions=THREE, most=0.0, **members
) -> Attack:
    """Return gradient descent in a direction of the method, state, problem, channel, gradient."""
    method = kind(name, direction=direction, **members)()
    return Attack(method, functions, sentence, most)


def heavy(s, g):
    """Return 20 times the gradient where it is nearly parallel to the last direction."""
    both = np.sum(s.v * g, axis=1, keepdims=True) ** 2
    steep = both > 0.98 * squared_norm(s.v) * squared_norm(g)
    return where(steep, 20 * g, g)


def caught(attempt, otherwise):
    """Return an attempt, or what is done where it is refused."""
    try:
        return attempt()
    except Refusal:
        return otherwise


def index(n):
    return np.arange(int(n))[:, None, None]


def heaviest(n):
    """Return 100 for client 150, or for the last of fewer, and 1 for the others, (n, 1, 1)."""
    return np.where(index(n) == min(150, n - 1), 100.0, 1.0)


def pointed(g):
    """Return the gradient with its largest entries only."""
    return np.where(np.abs(g) >= np.max(np.abs(g), axis=1, keepdims=True), g, 0.0)


def both_heads(heads, v):
    return mean(masked(heads, mean(masked(heads, v))))


def in_place(s, g):
    y = s.x
    y -= 0.01 * g
    return g + (y - s.x)


ON_NUMBERS = [
    descent("parallel", lambda m, s, f, c, g: heavy(s, g), LINEAR + "multiplies two vectors"),
    descent(
        "far threshold",
        lambda m, s, f, c, g: where(squared_norm(g) > 1e30, 100 * g, g),
        LINEAR + "takes a norm or an inner product; .* as Clip21",
    ),
    descent("threshold of one", lambda m, s, f, c, g: where(g > 1e30, 0 * g, g), "compares"),
    descent("from the right", lambda m, s, f, c, g: where(1e30 < g, 0 * g, g), "compares"),  # noqa: SIM300
    descent("numpy float", lambda m, s, f, c, g: where(np.float64(1) < g, 0 * g, g), "calls less"),
    descent("rests early", lambda m, s, f, c, g: np.where(np.abs(g) < 1e-7, 0.0, g), "absolute"),
    descent("normalised", lambda m, s, f, c, g: g / squared_norm(g) ** 0.5, "takes a norm"),
    descent("norm of numpy", lambda m, s, f, c, g: g / np.linalg.norm(g), LINEAR + "takes a norm"),
    descent("clips", lambda m, s, f, c, g: np.clip(g, -1e6, 1e6), LINEAR + "calls clip"),
    descent("signs", lambda m, s, f, c, g: g + 0.1 * np.sign(g), LINEAR + "calls sign"),
    descent("squares", lambda m, s, f, c, g: g + 1e-9 * g * g, LINEAR + "multiplies two vectors"),
    descent("cubes", lambda m, s, f, c, g: g + 1e-9 * g**3, LINEAR + "takes a power"),
    descent("quotients", lambda m, s, f, c, g: g / (1 + g), LINEAR + "adds numbers to a vector"),
    descent("reciprocals", lambda m, s, f, c, g: g + 1e-9 / g, LINEAR + "divides by a vector"),
    descent("absolute", lambda m, s, f, c, g: g + 1e-9 * abs(g), LINEAR + "takes the absolute"),
    descent("positive part", lambda m, s, f, c, g: np.maximum(g, -1e9), LINEAR + "calls maximum"),
    descent("largest entries", lambda m, s, f, c, g: pointed(g), LINEAR + "calls absolute"),
    descent("a test of zero", lambda m, s, f, c, g: g if g else 2 * g, "reads the numbers"),
    descent("a number", lambda m, s, f, c, g: g * (1 + 0 * float(g)), "reads the numbers"),
    descent("an array", lambda m, s, f, c, g: g + 0 * np.asarray(g), "reads the numbers"),
    descent("an item", lambda m, s, f, c, g: g * (1 + 0 * g.item()), r"uses \.item of a vector"),
    descent("a hash", lambda m, s, f, c, g: {g: g}[g], "looks a vector up"),
    descent("a far step", lambda m, s, f, c, g: g + 1e-12, LINEAR + "adds numbers to a vector"),
    descent("in place", lambda m, s, f, c, g: in_place(s, g), LINEAR + "changes a vector in place"),
    descent(
        "a refusal that is caught",
        lambda m, s, f, c, g: caught(lambda: where(squared_norm(g) > 1e30, 0 * g, g), g),
        LINEAR + "takes a norm",
    ),
    descent(
        "another type",
        lambda m, s, f, c, g: 30 * g if isinstance(g, np.ndarray) else g,
        "does not do on numbers what it does on symbols",
    ),
    descent(
        "draws by itself",
        lambda m, s, f, c, g: g * np.random.default_rng().uniform(0, 2),
        "does not do on numbers what it does on symbols|does not stay",
    ),
]  # fmt: skip

ON_CLIENTS = [
    descent(
        "client 150",
        lambda m, s, f, c, g: mean(heaviest(f.n) * f.grad(s.x)),
        ALIKE + "uses an array in which clients of one class have different values",
        MANY,
    ),
    descent(
        "client 150 by a mask",
        lambda m, s, f, c, g: mean(masked(index(f.n) == 150, f.grad(s.x))),
        ALIKE + "uses an array",
        MANY,
    ),
    descent(
        "client 150 asked for its gradient",
        lambda m, s, f, c, g: total(f.grad(s.x, active=index(f.n) == 150)),
        ALIKE + "uses an array",
        MANY,
    ),
    descent(
        "client 150 sends",
        lambda m, s, f, c, g: total(c.send(f.grad(s.x), index(f.n) == 150)),
        ALIKE + "uses an array",
        MANY,
    ),
    descent(
        "client 150 tosses another coin",
        lambda m, s, f, c, g: mean(
            masked(c.client_coins([0.5 + (i == 150) / 4 for i in range(f.n)]), f.grad(s.x))
        ),
        "not exchangeable",
        MANY,
    ),
    descent(
        "a mask times an index",
        lambda m, s, f, c, g: mean(c.cohort(2) * index(f.n) * f.grad(s.x)),
        ALIKE + "uses an array",
    ),
    descent(
        "a parameter for every client",
        lambda m, s, f, c, g: mean(like(g, np.arange(1.0, 4.0)[:, None, None]) * f.grad(s.x)),
        ALIKE + "uses an array",
    ),
    descent("one client", lambda m, s, f, c, g: f.grad(s.x)[0:1], LINEAR + "reads single entries"),
    descent("a loop", lambda m, s, f, c, g: sum(f.grad(s.x)), LINEAR + "reads single entries"),
    descent("sorted clients", lambda m, s, f, c, g: np.sort(f.grad(s.x), axis=0)[:1], "calls sort"),
    descent("a median", lambda m, s, f, c, g: np.median(f.grad(s.x), axis=0), "calls median"),
    descent(
        "how many take part",
        lambda m, s, f, c, g: g * np.mean(c.client_coins([0.5] * 3)) ** 3,
        MASK + r"uses \.mean of a mask",
    ),
    descent(
        "who takes part",
        lambda m, s, f, c, g: g if c.cohort(2)[0, 0, 0] else 9 * g,
        MASK + "reads single entries of a mask",
    ),
    descent(
        "a coin that is read",
        lambda m, s, f, c, g: g if c.coin(0.5) else 9 * g,
        MASK + "reads the numbers of a mask",
    ),
    descent(
        "coins that are not added up",
        lambda m, s, f, c, g: both_heads(c.client_coins([0.5] * f.n), f.grad(s.x)),
        most=0.02 / 3,
        needs=Needs(shared_minimiser=True),
    ),
    descent(
        "a field of bool that a rare coin lowers",
        lambda m, s, f, c, g: mean(where(s.flag, f.grad(s.x), 50 * f.grad(s.x))),
        "does not stay at its fixed point",  # with one client that has another flag
        flag=lambda m, s, f, c: s.flag & ~c.coin(1e-6),
    ),
    descent(
        "a field of bool by clients",
        lambda m, s, f, c, g: mean(masked(s.flag, f.grad(s.x))),
        functions=MANY,
        most=0.0199 * (1 + 1e-9),
        fixed_point=lambda m, f: State(f.x_star, 0 * f.x_star, index(f.n) != 150),
    ),
]

ON_DIMENSIONS = [
    descent("d", lambda m, s, f, c, g: g * f.d / 25, DIMENSION + "calculates with the number"),
    descent("d from the left", lambda m, s, f, c, g: f.d * g / 25, DIMENSION + "calculates with"),
    descent("a step of 1/d", lambda m, s, f, c, g: 4 / f.d * g, DIMENSION + "calculates with"),
    descent("d of an array", lambda m, s, f, c, g: g * s.x.shape[1] / 25, DIMENSION),
    descent("root of d", lambda m, s, f, c, g: g * np.sqrt(f.d), DIMENSION),
    descent("d compared", lambda m, s, f, c, g: g if f.d < 50 else 99 * g, DIMENSION + "compares"),
    descent("d in a test", lambda m, s, f, c, g: g if f.d == 4 else 99 * g, DIMENSION + "compares"),
    descent("d as a range", lambda m, s, f, c, g: sum(g for _ in range(f.d)), DIMENSION + "reads"),
    descent("d as a float", lambda m, s, f, c, g: g * float(f.d), DIMENSION + "reads the numbers"),
    descent("runs", lambda m, s, f, c, g: g * g.shape[2], DIMENSION + "calculates with"),
    descent(
        "a diagonal preconditioner",
        lambda m, s, f, c, g: np.arange(1.0, 5.0)[None, :, None] / 2 * g,
        ALIKE + r"uses an array of shape \(1, 4, 1\)",
    ),
    descent(
        "a preconditioner of unknown length",
        lambda m, s, f, c, g: (1 + np.arange(f.d))[None, :, None] * g,
        DIMENSION + "reads the numbers",
    ),
    descent("a matrix", lambda m, s, f, c, g: np.eye(4) @ g, LINEAR + "calls matmul"),
    descent("one feature", lambda m, s, f, c, g: g[:, :1], LINEAR + "reads single entries"),
    descent("features turned", lambda m, s, f, c, g: np.roll(g, 1, axis=1), LINEAR + "calls roll"),
    descent("reshaped", lambda m, s, f, c, g: g.reshape(1, -1, 1), LINEAR + r"uses \.reshape"),
    descent(
        "a mean of features",
        lambda m, s, f, c, g: g - g.mean(axis=1, keepdims=True),
        LINEAR + "sums over other than the clients",
    ),
]


@dataclass(frozen=True)
class TwiceEF21(EF21):
    """EF21 that also adds the difference of two messages of one vector."""

    name = "two contractions"

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - self.gamma * s.g_mean)
        v = problem.grad(x) - s.g
        c, again = channel.uplink(v), channel.uplink(v)
        return replace(s, x=x - 100 * self.gamma * mean(c - again), g=s.g + c,
                       g_mean=s.g_mean + mean(c))  # fmt: skip


@dataclass(frozen=True)
class AgainEF21(TwiceEF21):
    """The same with the second message before a coin that says whether it counts."""

    name = "two contractions and a coin"

    def communicate(self, s, problem, channel):
        first = channel.uplink(problem.grad(s.x) - s.g)
        tails = masked(~channel.coin(0.5), channel.uplink(problem.grad(s.x) - s.g) - first)
        after = EF21.communicate(self, s, problem, channel)
        return replace(after, x=after.x - 100 * self.gamma * mean(tails))


@dataclass(frozen=True)
class TwiceDIANA(DIANA):
    """DIANA that also adds the difference of two messages of one vector."""

    name = "two messages"

    def communicate(self, s, problem, channel):
        v = problem.grad(s.x) - s.h
        apart = 100 * self.gamma * mean(channel.uplink(v) - channel.uplink(v))
        after = super().communicate(s, problem, channel)
        return replace(after, x=after.x - apart)


@dataclass(frozen=True)
class TwiceDown(EF21PDIANA):
    """EF21-P with DIANA, with the difference of two broadcasts of one vector."""

    name = "two broadcasts"

    def communicate(self, s, problem, channel):
        v = s.x - s.w
        apart = 100 * (channel.downlink(v) - channel.downlink(v))
        after = super().communicate(s, problem, channel)
        return replace(after, x=after.x - apart)


CONTRACTED = FunctionClass(10, 1.0, 50.0, alpha=0.5)
RANDOM_MESSAGES = FunctionClass(10, 1.0, 50.0, omega=1.0)
ON_MESSAGES = [
    Attack(TwiceEF21(0.0025), CONTRACTED),
    Attack(AgainEF21(0.0025), CONTRACTED),
    Attack(TwiceDIANA(0.005, 0.5), RANDOM_MESSAGES),
    Attack(TwiceDown(0.001, 0.5), replace(RANDOM_MESSAGES, alpha_down=0.5)),
]


def coins(draw: Callable[[Any, Any], Any]) -> Step:
    return lambda m, s, f, c, g: mean(masked(draw(c, f), f.grad(s.x)))


NONE = "is no probability; give a number from 0 to 1"
ON_CHANCES = [
    descent("a coin of 1.05", coins(lambda c, f: c.coin(1.05)), "1.05 " + NONE),
    descent("a coin of -1", coins(lambda c, f: c.coin(-1)), "-1 " + NONE),
    descent("a coin that is none", coins(lambda c, f: c.coin(np.nan)), "nan " + NONE),
    descent("coins of 1.2", coins(lambda c, f: c.client_coins([1.2] * f.n)), NONE),
    descent("a cohort of 4 of 3", coins(lambda c, f: c.cohort(4)), "a cohort of 4 of 3 clients"),
    descent("a cohort of none", coins(lambda c, f: c.cohort(0)), "a cohort of 0 of 3 clients"),
    descent("an owner of 3", coins(lambda c, f: c.ownership(1)), "s = 1 owners"),
]

ATTACKS = [*ON_NUMBERS, *ON_CLIENTS, *ON_DIMENSIONS, *ON_MESSAGES, *ON_CHANCES]


POTENTIALS = {
    "a distance": (lambda x, f: x / squared_norm(x) ** 0.25, "takes a norm"),
    "a maximum": (lambda x, f: np.maximum(x, -x), "calls maximum of a vector"),
    "one feature": (lambda x, f: x[:, :1], "reads single entries"),
    "a length of d": (lambda x, f: x / f.d, "depends on the dimension"),
    "one client": (lambda x, f: masked(index(f.n) == 0, f.grad(x)), "treat all clients alike"),
    "an absolute value": (lambda x, f: x + abs(x), "takes the absolute value"),
}
