"""Methods that would be certified by what their start, outcomes, flags or rest only seem to be.

All but the honest ones leave the solution, or never come to it, in a run that is possible: with a
coin that is rare, a number of clients that is large, or after some rounds.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod
from typing import Any

import numpy as np
from attacks import kind
from small_methods import Memory, Pair

from certibit import Method, Needs, copies, everyone, masked, mean, total, where


@dataclass(frozen=True)
class Remembering(Method):
    """Gradient descent with gradients that are remembered: h = grad f_i(x)."""

    gamma: float = 0.05

    needs = Needs()

    def start(self, x, problem, channel):
        return Memory(x, self.first(x, problem, channel))

    def first(self, x, problem, channel):
        return problem.grad(x)

    def memory(self, s, x, problem, channel):
        return s.h + problem.grad(x) - problem.grad(s.x)

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - self.gamma * mean(channel.send(s.h)))
        return Memory(x, self.memory(s, x, problem, channel))

    def fixed_point(self, problem):
        return Memory(problem.x_star, problem.grad_star)


class Stating(Remembering):
    def invariants(self, s, problem):
        return (s.h - problem.grad(s.x),)


@dataclass(frozen=True)
class Flagged:
    x: Any  # (1, d, R), the model
    early: Any  # a flag, or what is in the place of one
    late: Any  # (n or 1, 1, R) bool: the gradient counts 40 times


@dataclass(frozen=True)
class Late(Method):
    """Gradient descent with steps that a flag makes 40 times longer."""

    gamma: float = 0.05

    needs = Needs()

    def raised(self, x, problem, channel):
        return everyone(copies(x, problem.n))

    def start(self, x, problem, channel):
        up = self.raised(x, problem, channel)
        return Flagged(x, up & ~up, up & ~up)

    def flags(self, s, problem, channel):
        return s.early, s.late

    def factor(self, s):
        return where(s.late, 40.0, 1.0)

    def communicate(self, s, problem, channel):
        gradient = problem.grad(s.x)
        g = mean(channel.send(where(s.late, 40 * gradient, gradient)))
        return Flagged(channel.broadcast(s.x - self.gamma * g), *self.flags(s, problem, channel))

    def invariants(self, s, problem):
        return ()


class LateForAll(Late):
    def raised(self, x, problem, channel):
        return channel.coin(1.0)


@dataclass(frozen=True)
class Register:
    x: Any
    a: Any
    b: Any
    c: Any
    d: Any
    e: Any
    late: Any


@dataclass(frozen=True)
class ShiftRegister(Method):
    """Gradient descent with steps that are 40 times longer from round 6 on."""

    gamma: float = 0.05

    name, needs = "a shift register", Needs()

    def start(self, x, problem, channel):
        up = everyone(x)
        return Register(x, up, *5 * (up & ~up,))

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        x = s.x - self.gamma * where(s.late, 40 * g, g)
        return Register(channel.broadcast(x), s.a, s.a, s.b, s.c, s.d, s.e)


@dataclass(frozen=True)
class Stale(Stating):
    """Clients of a cohort step along what they remember, and never ask for a gradient again."""

    name, needs = "stale", Needs(shared_minimiser=True)

    def start(self, x, problem, channel):
        return Memory(copies(x, problem.n), problem.grad(x))

    def communicate(self, s, problem, channel):
        moved = s.x - self.gamma * channel.send(s.h)
        return Memory(where(channel.cohort(1), moved, s.x), s.h)

    def model(self, s):
        return mean(s.x)

    def fixed_point(self, problem):
        return Memory(copies(problem.x_star, problem.n), problem.grad_star)


class RarelyFresh(Stale):
    """As above, but with new gradients of the cohort unless all of a few likely coins are heads."""

    name = "rarely fresh"

    def communicate(self, s, problem, channel):
        cohort, heads = channel.cohort(1), channel.coin(0.92)
        for _ in range(6):
            heads = heads & channel.coin(0.92)
        moved = s.x - self.gamma * channel.send(s.h)
        fresh = where(cohort & ~heads, problem.grad(moved, active=cohort), s.h)
        return Memory(where(cohort, moved, s.x), fresh)


def gradient_times(factor):
    return lambda m, x, f, c: f.grad(x) * factor(m, x, f)


def by_heads(size, roots, chance=0.3):
    """Return what multiplies a vector by a polynomial of the part of the clients with heads."""

    def multiplied(m, v, f, c):
        coins, factor = c.client_coins([chance] * int(f.n)), size * v
        for root in roots:
            factor = mean(masked(coins, copies(factor, f.n))) - root * factor
        return v / 2 + factor

    return multiplied


STARTS = {
    "a rare coin": lambda m, x, f, c: where(c.coin(1e-3), 0 * f.grad(x), f.grad(x)),
    "coins of clients": lambda m, x, f, c: where(
        c.client_coins((1e-3,) * f.n), 0 * f.grad(x), f.grad(x)
    ),
    "a cohort": lambda m, x, f, c: where(c.cohort(f.n - 1), f.grad(x), 0 * f.grad(x)),
    "another point": lambda m, x, f, c: f.grad(2 * x),
    "half of the gradient": lambda m, x, f, c: 0.5 * f.grad(x),
    "up to 1e-13": gradient_times(lambda m, x, f: 1 + 1e-13),
    "of few clients": gradient_times(lambda m, x, f: 1.0 if f.n <= 3 else 0.0),
    "of arrays": gradient_times(lambda m, x, f: 0.0 if isinstance(x, np.ndarray) else 1.0),
    "of float32": gradient_times(lambda m, x, f: 1.0 if x.dtype == np.float32 else 0.0),
    "of large steps": gradient_times(lambda m, x, f: 1.0 if m.gamma > 0.1 else 0.0),
    "of floats": gradient_times(lambda m, x, f: 0.0 if isinstance(m.gamma, float) else 1.0),
    "of a whole n": gradient_times(lambda m, x, f: 0.0 if isinstance(f.n, int) else 1.0),
    "of heads": lambda m, x, f, c: f.grad(x) + by_heads(1e3, (0.0, 0.5, 1.0))(m, x, f, c) - x / 2,
    "of a solution": gradient_times(lambda m, x, f: 1.0 if hasattr(f, "x_star") else 0.0),
}
"""What is remembered at the start."""


OUTCOMES = {
    "coins of clients": lambda m, s, x, f, c: where(c.client_coins((0.34,) * f.n), f.grad(x), s.h),
    "a coin": lambda m, s, x, f, c: where(c.coin(1 - 1e-6), f.grad(x), s.h),
    "a cohort": lambda m, s, x, f, c: where(c.cohort(f.n - 1), f.grad(x), s.h),
    "a coin with the mean": lambda m, s, x, f, c: where(
        c.coin(1 - 1e-6), f.grad(x), copies(mean(f.grad(x)), f.n)
    ),
    "up to 1e-15": lambda m, s, x, f, c: f.grad(x) * (1 + 1e-15),
    "0": lambda m, s, x, f, c: 0 * f.grad(x),
}
"""What is remembered after a step."""


FLAGS = {
    "a coin": lambda m, s, f, c: (s.early, s.late | c.coin(1e-6)),
    "two coins": lambda m, s, f, c: (s.early | c.coin(1e-3), s.late | (s.early & c.coin(1e-3))),
    "the next round": lambda m, s, f, c: (s.early | True, s.early),
}


OF_CLIENTS = {
    "a coin of its own": lambda m, s, f, c: (s.early, c.client_coins((1e-6,) * f.n)),
    "a cohort": lambda m, s, f, c: (s.early, c.cohort(1)),
    "the last cohort": lambda m, s, f, c: (c.cohort(1), s.early),
    "two cohorts": lambda m, s, f, c: (c.cohort(1), s.early & c.cohort(1)),
}
"""What flags are after a step."""


FIELDS = {
    "an int": (0, lambda early: early + 1, lambda early: early >= 5),
    "a str": ("", lambda early: early + ".", lambda early: len(early) >= 5),
    "a tuple": ((), lambda early: (*early, 1), lambda early: len(early) >= 5),
    "None": (None, lambda early: 1, lambda early: early is not None),
    "a bool of Python": (False, lambda early: True, lambda early: early),
    "an array": (np.zeros((1, 1, 1)), lambda early: early + 1, lambda early: early.max() >= 5),
}
"""What is in the place of a flag: at the start, in the next step, and where a step is long."""


def with_field(name, first, later, long):
    def start(m, x, f, c):
        return Flagged(x, first, c.coin(0.0))

    def communicate(m, s, f, c):
        size = m.gamma * (40 if long(s.early) else 1)
        return Flagged(s.x - size * mean(c.send(f.grad(s.x))), later(s.early), s.late)

    return kind("a field: " + name, Late, start=start, communicate=communicate)()


def decaying(rate):
    def communicate(m, s, f, c):
        x = s.x - m.gamma * (mean(c.send(f.grad(s.x))) + rate * s.x)
        return Memory(c.broadcast(x), f.grad(x))

    return communicate


RESTS = {
    **{f"decay of {rate:g}": {"communicate": decaying(rate)} for rate in (0.1, 5e-7, 1e-15)},
    "a longer model": {"model": lambda m, s: 1.5 * s.x},
    "a model with a start": {"model": lambda m, s: 0 * s.x},
    "no memory at rest": {"fixed_point": lambda m, f: Memory(f.x_star, 0 * f.grad_star)},
    "elsewhere": {"fixed_point": lambda m, f: Memory(2 * f.x_star, f.grad_star)},
    "gradients elsewhere": {
        "communicate": lambda m, s, f, c: Memory(
            s.x - m.gamma * mean(c.send(f.grad(s.x) + f.grad(2 * s.x) - f.grad(2 * s.x))), s.h
        )
    },
    "a longer gradient": {
        "communicate": lambda m, s, f, c: Memory(
            s.x - m.gamma * mean(c.send(f.grad((1 + 1e-12) * s.x))), f.grad(s.x)
        )
    },
}
"""What a method that forgets its memory does besides, or says of itself."""


ATTACKS: dict[str, Method] = {
    **{
        f"start: {name}, {base.__name__}": kind(f"start: {name}", base, first=first)()
        for name, first in STARTS.items()
        for base in (Remembering, Stating)
    },
    **{
        f"outcome: {name}": kind(f"outcome: {name}", Stating, memory=memory)()
        for name, memory in OUTCOMES.items()
    },
    "outcome: a stale memory": Stale(),
    **{
        f"flags: {name}, {base.__name__}": kind(f"flags: {name}", base, flags=flags)()
        for base, some in ((Late, FLAGS | OF_CLIENTS), (LateForAll, FLAGS))
        for name, flags in some.items()
    },
    "flags: a shift register": ShiftRegister(),
    **{f"a field: {name}": with_field(name, *parts) for name, parts in FIELDS.items()},
    **{f"rest: {name}": kind(f"rest: {name}", Stating, **own)() for name, own in RESTS.items()},
}


FORGETFUL: dict[str, Method] = {
    name: kind(f"forgetful: {name}", Remembering, memory=OUTCOMES[name])()
    for name in ("coins of clients", "a coin", "a cohort")
}
"""Methods that remember old gradients and say nothing of it, which makes them slower."""


HONEST: dict[str, Method] = {
    "memory": kind("memory", Remembering)(),
    "a stated memory": kind("a stated memory", Stating)(),
    "a memory with 1.5-fold errors": kind(
        "1.5-fold",
        Remembering,
        memory=lambda m, s, x, f, c: f.grad(x) + 1.5 * (s.h - f.grad(s.x)),
    )(),
    "flags that stay": kind("flags that stay", Late)(),
    "flags that do nothing": kind(
        "flags that do nothing", Late, flags=lambda m, s, f, c: (c.cohort(1) | s.early, s.late)
    )(),
    "a flag of all that does nothing": kind(
        "a flag of all", LateForAll, flags=lambda m, s, f, c: (c.coin(0.5), s.late)
    )(),
}
"""Methods that are gradient descent."""


@dataclass(frozen=True)
class Pushed(Method):
    """Gradient descent that is pushed by what an outcome multiplies."""

    gamma: float = 0.1

    needs = Needs()

    def start(self, x, problem, channel):
        return Pair(x, x)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        x = channel.broadcast(s.x - self.gamma * g + s.v / 10)
        return Pair(x, self.pushed(s.v, problem, channel))

    def fixed_point(self, problem):
        return Pair(problem.x_star, 0 * problem.x_star)


def true_of_heads(n, size, roots, chance=Fraction(3, 10)):
    """Return the mean square of what multiplies a vector."""
    total = Fraction(0)
    for k in range(n + 1):
        factor = prod((Fraction(k, n) - Fraction(root) for root in roots), start=Fraction(size))
        odds = comb(n, k) * chance**k * (1 - chance) ** (n - k)
        total += odds * (Fraction(1, 2) + factor) ** 2
    return float(total)


HEADS = {
    "a third root": (30, (0.5,)),
    "a difference": (100, (0.0, 1.0)),
    "every count of three": (1e4, (0.0, 0.5, 1.0)),
    "every count of four": (1e4, (0.0, 0.5, 0.75, 1.0)),
    "every count of five": (1e5, (0.0, 0.25, 0.5, 0.75, 1.0)),
    "twice every count": (1e6, (0.0, 0.5, 1.0) * 2),
}
"""The size and the roots of polynomials of the part of the clients that have heads."""


def rare(of):
    """Return what multiplies a vector where rare coins are heads."""
    return lambda m, v, f, c: where(of(m, c), m.size * v, v / 2)


@dataclass(frozen=True)
class Rarely(Pushed):
    p: float = 0.0
    size: float = 0.0


RARE = {
    "the rest of a coin": (lambda m, c: ~c.coin(1 - m.p), 1e-17, 1e10),
    "the rest of two coins": (lambda m, c: ~(c.coin(1 - m.p) | c.coin(1 - m.p)), 1e-20, 1e22),
    "a coin": (lambda m, c: c.coin(m.p), 1e-10, 1e6),
    "two coins": (lambda m, c: c.coin(m.p) & c.coin(m.p), 1e-170, 1e200),
    "four coins": (
        lambda m, c: c.coin(m.p) & c.coin(m.p) & c.coin(m.p) & c.coin(m.p),
        1e-90,
        1e190,
    ),
}
"""Outcomes that floats lose, their parameter, and by what a vector is multiplied then."""


@dataclass(frozen=True)
class Subpair(Pair):
    """A state that knows that it is none of the start."""


class Reclassed(Pushed):
    """Gradient descent that ascends from the second step on, as the class of its state says."""

    name = "reclassed"

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return Subpair(s.x + (1 if type(s) is Subpair else -1) * self.gamma * g, s.v / 2)


@dataclass(frozen=True)
class Alone(Method):
    """Gradient descent on every client."""

    gamma: float = 0.1

    name, needs = "alone", Needs(shared_minimiser=True)

    def start(self, x, problem, channel):
        return Memory(x, copies(x, problem.n))

    def communicate(self, s, problem, channel):
        h = s.h - self.gamma * problem.grad(s.h)
        return Memory(channel.broadcast(mean(channel.send(h))), h)

    def model(self, s):
        return self.shown(s)

    def shown(self, s):
        return s.x


@dataclass(frozen=True)
class ChangingFlags(Method):
    """Gradient descent that ascends with flags that only its first step can have."""

    gamma: float = 0.1
    a: float = 1.0

    name, needs = "changing flags", Needs()

    def start(self, x, problem, channel):
        return Flagged(x, 0 * x, everyone(x) if self.a > 1 else ~everyone(x))

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        x = s.x - self.gamma * (where(s.late, g, -10 * g) if self.a > 1 else g)
        return Flagged(channel.broadcast(x), s.early, s.late)

    def fixed_point(self, problem):
        return Flagged(problem.x_star, 0 * problem.x_star, ~everyone(problem.x_star))

    def invariants(self, s, problem):
        return (s.early,)


@dataclass(frozen=True)
class ChangingPotential(ChangingFlags):
    """Gradient descent, whose potential changes with its parameter."""

    name = "changing potential"

    def start(self, x, problem, channel):
        return Flagged(x, 0 * x, everyone(x))

    def fixed_point(self, problem):
        return Flagged(problem.x_star, 0 * problem.x_star, everyone(problem.x_star))


@dataclass(frozen=True)
class Raised:
    x: Any  # (1, d, R), the model
    up: Any  # (n, 1, R) bool: clients that were drawn


@dataclass(frozen=True)
class Counting(Method):
    """Gradient descent that is far too long where as many flags are up as are drawn."""

    drawn: int = 2
    gamma: float = 0.2

    name, needs = "counting", Needs()

    def start(self, x, problem, channel):
        return Raised(x, ~everyone(copies(x, problem.n)))

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        more = g
        for number in range(self.drawn):  # times the number of flags, less this one
            more = total(masked(s.up, copies(more, problem.n))) - number * more
        x = channel.broadcast(s.x - self.gamma * g + more)
        return Raised(x, channel.cohort(self.drawn))


@dataclass(frozen=True)
class Waiting:
    x: Any  # (1, d, R), the model
    v: Any  # (1, d, R), which pushes it, and is 0 at the start
    w: Any  # (1, d, R)
    up: Any  # (n or 1, 1, R) bool: raised after the first step


@dataclass(frozen=True)
class Relating(Method):
    """Gradient descent that is pushed by what is 0 only as long as no flags are raised."""

    gamma: float = 0.2

    needs = Needs()

    def start(self, x, problem, channel):
        return Waiting(x, 0 * x, x, self.low(x, problem))

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        x = channel.broadcast(s.x - self.gamma * g + 10 * s.v)
        return Waiting(x, self.often * s.w, s.w, self.raised(s.up, channel))

    def fixed_point(self, problem):
        x = problem.x_star
        return Waiting(x, 0 * x, 0 * x, self.low(x, problem))

    def low(self, x, problem):
        return ~everyone(copies(x, problem.n))

    def raised(self, up, channel):
        return up | True


def with_flags(w, up, n):
    return total(masked(up, copies(w, n)))


RELATING: dict[str, Method] = {
    name: kind(f"relating: {name}", Relating, **members)()
    for name, members in {
        "a flag of all": {
            "often": 1,
            "low": lambda m, x, f: ~everyone(x),
            "invariants": lambda m, s, f: (s.v - masked(s.up, s.w),),
        },
        "the part with flags": {
            "often": 1,
            "invariants": lambda m, s, f: (s.v - with_flags(s.w, s.up, f.n) / f.n,),
        },
        "as many flags as are drawn": {
            "often": 2,
            "raised": lambda m, up, c: c.cohort(3),
            "invariants": lambda m, s, f: (
                with_flags(s.v, s.up, f.n) - 3 * s.v,
                with_flags(s.v - 2 * s.w, s.up, f.n),
            ),
        },
    }.items()
}
"""What is kept of a state depends on its flags."""
