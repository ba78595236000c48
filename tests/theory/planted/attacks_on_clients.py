"""Methods that use what clients did not give: of others, of other features, of other functions."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from attacks_on_premises import kind
from small_methods import Memory, Pair

from certibit import Method, Needs, copies, everyone, masked, mean, total, where
from certibit.solvers.local_solve import gradient_steps, minimise


@dataclass(frozen=True)
class Elsewhere(Method):
    """Gradient descent with gradients of clients that were not asked for theirs."""

    gamma: float = 0.1

    needs = Needs(shared_minimiser=True)

    def start(self, x, problem, channel):
        return Pair(x, x)

    def communicate(self, s, problem, channel):
        asked = self.asked(channel, problem.n)
        point = where(asked, copies(s.x, problem.n), copies(self.far(s), problem.n))
        g = self.taken(problem.grad(point, active=asked), asked)
        return Pair(channel.broadcast(s.x - self.gamma * mean(channel.send(g))), s.x)


ASKED = {
    "a cohort of 1": lambda c, n: c.cohort(1),
    "all but 1": lambda c, n: c.cohort(n - 1),
    "coins": lambda c, n: c.client_coins((0.3,) * int(n)),
    "owners": lambda c, n: c.ownership(2),
}


FAR = {"far away": lambda m, s: s.x + 1000 * (s.x - s.v), "at the model": lambda m, s: s.x}


TAKEN = {
    "of all": lambda m, g, asked: g,
    "of the others": lambda m, g, asked: masked(~asked, g),
    "of all and the others": lambda m, g, asked: g + masked(asked, g),
}
"""Who is asked for a gradient, where the others are, and whose gradients are taken."""


UNASKED: dict[str, Method] = {
    f"unasked: {who}, {where_}, {whose}": kind(
        f"unasked: {who}", Elsewhere, asked=staticmethod(asked), far=far, taken=taken
    )()
    for who, asked in ASKED.items()
    for where_, far in FAR.items()
    for whose, taken in TAKEN.items()
}


@dataclass(frozen=True)
class Remembered:
    x: Any
    h: Any
    a: Any  # (n, 1, R) bool: who is asked


@dataclass(frozen=True)
class Late(Method):
    """The gradients of those who are asked are taken of all, a step later."""

    needs = Needs()

    def start(self, x, problem, channel):
        return Remembered(x, problem.grad(x), everyone(copies(x, problem.n)))

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - 0.05 * mean(channel.send(s.h)))
        return Remembered(x, problem.grad(s.x, active=s.a), self.following(s.a, channel))


LATE = {
    name: kind(f"late: {name}", Late, following=staticmethod(following))()
    for name, following in {
        "rare coins": lambda a, channel: channel.client_coins([0.001] * a.shape[0]),
        "never again": lambda a, channel: a & ~a,
        "a common coin": lambda a, channel: a & channel.coin(0.5),
    }.items()
}
"""Who is asked in the step after."""


@dataclass(frozen=True)
class Asking(Method):
    """Gradient descent that first asks for what may be refused."""

    gamma: float = 0.05

    needs = Needs(compressor="unbiased", downlink="contractive", composite=True)

    def start(self, x, problem, channel):
        return Memory(x, copies(x, problem.n))

    def communicate(self, s, problem, channel):
        more = self.more(s, problem, channel)
        x = s.x - self.gamma * (mean(channel.send(problem.grad(s.x))) + problem.grad_g(s.x))
        return Memory(channel.broadcast(x + more), s.h / 2)

    def fixed_point(self, problem):
        return Memory(problem.x_star, 0 * problem.grad_star)


def caught(ask):
    def tried(m, s, f, c):
        try:
            return ask(m, s, f, c)
        except Exception:
            return 0 * s.x

    return tried


def with_noise(m, s, f, c):
    sent = f.grad(s.x)
    return mean(f.grad(s.x + 100 * mean(c.uplink(sent) - sent)) - sent)


REFUSED = {
    "a point with noise": with_noise,
    "a point of a cohort": lambda m, s, f, c: mean(
        f.grad(s.x + mean(masked(c.cohort(1), s.h))) - f.grad(s.x)
    ),
    "a message of a cohort": lambda m, s, f, c: c.downlink(mean(masked(c.cohort(1), s.h))),
    "g of clients": lambda m, s, f, c: mean(f.grad_g(s.x + s.h - mean(s.h)) - f.grad_g(s.x)),
    "the server's messages of clients": lambda m, s, f, c: mean(
        masked(c.coin(0.5), c.downlink(s.h - mean(s.h)))
    ),
    "single entries": lambda m, s, f, c: s.x[:1],
    "an uplink of one vector": lambda m, s, f, c: mean(c.uplink(s.x)) - s.x,
    "a message of one vector": lambda m, s, f, c: mean(c.send(s.x)) - s.x,
    "a broadcast of many": lambda m, s, f, c: mean(c.broadcast(s.h) - s.h),
    "the server's message of many": lambda m, s, f, c: mean(c.downlink(0 * s.h)),
    "g at many points": lambda m, s, f, c: total(f.grad_g(copies(s.x, f.n))) / f.n,
    "copies of many": lambda m, s, f, c: total(copies(masked(c.cohort(1), s.h), f.n)),
}
"""What a step asks for and is refused."""


ASKING: dict[str, Method] = {
    f"{way}: {name}": kind(f"{way}: {name}", Asking, more=changed(ask))()
    for name, ask in REFUSED.items()
    for way, changed in (("asking", lambda ask: ask), ("caught", caught))
}


FIRST = np.array([True, False, False])[:, None, None]
"""The only client of the first of two classes."""


@dataclass(frozen=True)
class OfTwoClasses(Method):
    """Gradient descent of clients of two classes, with other vectors in the place of gradients."""

    gamma: float = 0.2

    needs = Needs(compressor="unbiased", shared_minimiser=True)

    def start(self, x, problem, channel):
        return Memory(x, problem.grad(x))

    def communicate(self, s, problem, channel):
        g = self.taken(s, copies(s.x, problem.n), problem, channel)
        x = channel.broadcast(s.x - self.gamma * mean(channel.send(g)))
        return Memory(x, 0.7 * s.h + 0.3 * problem.grad(s.x))

    def fixed_point(self, problem):
        return Memory(problem.x_star, problem.grad_star)


def of_one_other(s, x, f, c):
    """Return x plus, on the first client, what one of the others is apart from their mean."""
    apart = masked(~FIRST, f.grad(s.x) - s.h)
    apart = apart - masked(~FIRST, copies(total(apart), f.n)) / 2
    return x + 10 * masked(FIRST, copies(total(masked(c.cohort(1), apart)), f.n))


def noise(v, channel):
    return channel.uplink(v) - v


ACROSS: dict[str, Method] = {
    name: kind(f"across: {name}", OfTwoClasses, taken=taken)()
    for name, taken in {
        "a point": lambda m, s, x, f, c: f.grad(of_one_other(s, x, f, c)),
        "a message": lambda m, s, x, f, c: f.grad(x) + noise(of_one_other(s, x, f, c) - x, c) / 99,
    }.items()
}
"""Vectors of a client that depend on which clients of another class take part."""


def remembered(x, f):
    return Memory(x, f.grad(x))


LEAKED: dict[str, Method] = {
    "a point": kind(
        "leaked: a point",
        OfTwoClasses,
        taken=lambda m, s, x, f, c: f.grad(where(FIRST, x, x + 100 * f.grad(x, active=FIRST))),
    )(),
    "a relation": kind(
        "leaked: a relation",
        OfTwoClasses,
        invariants=lambda m, s, f: (s.h - f.grad(s.x, active=FIRST),),
        communicate=lambda m, s, f, c: remembered(
            c.broadcast(s.x - m.gamma * mean(c.send(s.h - 100 * masked(~FIRST, s.h)))), f
        ),
    )(),
}
"""Gradients of the second class, of which only the first was asked for its own."""


def mixed(s, x, f, c):
    """Return the model and its memory feature by feature, as clients own features."""
    return where(c.ownership(2), x, x + 30 * s.h)


def owned_twice(s, x, f, c):
    own, g = c.ownership(2), f.grad(x)
    return g + 100 * masked(own & ~c.ownership(2, own), g)


MIXED: dict[str, Method] = {
    name: kind(f"mixed: {name}", OfTwoClasses, taken=taken)()
    for name, taken in {
        "a point": lambda m, s, x, f, c: f.grad(mixed(s, x, f, c)),
        "a message": lambda m, s, x, f, c: c.uplink(masked(c.ownership(2), f.grad(x))),
        "owners of owners": lambda m, s, x, f, c: owned_twice(s, x, f, c),
    }.items()
}
"""Vectors and owners that are others in every feature."""


class MixedModel(OfTwoClasses):
    """A model that is a mean over the owners of each feature."""

    name = "a mixed model"

    def communicate(self, s, problem, channel):
        own, g = channel.ownership(2), problem.grad(s.x)
        mixed = total(channel.send(s.x - self.gamma * g, own)) / 2
        return Memory(channel.broadcast(mixed), 0.7 * s.h + 0.3 * g)


@dataclass(frozen=True)
class Locally(Method):
    """The mean of where many local steps of clients end, after 40 of them or by a criterion."""

    accuracy: float = 0.0
    pull: float = 1.0
    L: float = 9.0

    needs = Needs(shared_minimiser=True)

    def start(self, x, problem, channel):
        return Memory(x, copies(x, problem.n))

    def communicate(self, s, problem, channel):
        x, on = copies(s.x, problem.n), everyone(s.h)
        slope = partial(self.slope, x=x, f=problem)
        if self.accuracy:
            sizes: Any = {"L": self.L, "mu": self.pull, "accuracy": self.accuracy, "most": 10**4}
            away, _ = minimise(lambda y, *_: slope(y), 0 * x, x, s, on, problem, **sizes)
            x = x + away
        else:
            x = gradient_steps(slope, x, on, problem, step=0.3, count=40)
            problem.grad(x)
        return Memory(channel.broadcast(mean(channel.send(x))), x)

    def fixed_point(self, problem):
        return Memory(problem.x_star, copies(problem.x_star, problem.n))


SLOPES = {
    "less the mean": lambda m, z, x, f: f.grad(z) + 5 * (z - mean(z)),
    "of other gradients": lambda m, z, x, f: 2 * mean(f.grad(z)) - f.grad(z),
    "of another point": lambda m, z, x, f: f.grad(z) + 2 * f.grad((z + x) / 2),
    "of two points": lambda m, z, x, f: f.grad(z) + 2 * f.grad(z + f.grad(x)),
    "of another class": lambda m, z, x, f: f.grad(z) + 5 * total(masked(FIRST, z - x)),
}


COUPLED: dict[str, Method] = {
    name: kind(f"coupled: {name}", Locally, slope=slope)() for name, slope in SLOPES.items()
}


COUPLED["by a criterion"] = replace(COUPLED["less the mean"], accuracy=0.1)
"""Local steps whose slope at a point is no multiple of the gradient there and of the point."""


@dataclass(frozen=True)
class Pulled(Locally):
    """As above, pushed by how far steps with a pull end from those without."""

    name, far = "pulled", 3.0

    def communicate(self, s, problem, channel):
        x, on = copies(s.x, problem.n), everyone(s.h)
        plain, pulled = (
            gradient_steps(
                lambda z, pull=pull: problem.grad(z) + pull * (z - x),
                x, on, problem, step=0.2, count=40,
            )
            for pull in (0.0, 1.0)
        )  # fmt: skip
        end = plain + self.far * (pulled - plain)
        return Memory(channel.broadcast(mean(channel.send(end))), x)


OWN: dict[str, Method] = {
    name: kind(f"own: {name}", Locally, slope=slope)()
    for name, slope in {
        "a gradient": lambda m, z, x, f: f.grad(z),
        "half a gradient and a pull": lambda m, z, x, f: f.grad(z) / 2 + (z - x),
        "and what stays": lambda m, z, x, f: f.grad(z) + f.grad(x) - mean(f.grad(x)),
    }.items()
}
"""Local steps that are certified."""
