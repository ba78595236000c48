"""The grammar of linear steps: what is sent, and how the parts of the state are updated.

In every round a client sends its gradient, or its model after local steps that end by a coin. It
sends this vector itself, or the difference from an estimate that both sides know. The fields of the
state are updated with linear combinations of the vectors known there. Every coefficient is 1 or a
free constant, in natural units. Most sentences of the grammar do not converge.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

Kind = Literal["unbiased", "contractive"]

VOCABULARY: dict[tuple[str, str], dict[str, tuple[int, ...]]] = {
    ("gradient", "x"): {"message": (0, 1), "memory": (1, 0), "estimate": (1, 1)},
    ("gradient", "h"): {"message": (1,)},
    ("model", "x"): {
        "back": (1, 0, 0),
        "mean": (0, 1, 0),
        "own": (0, 0, -1),
        "pull": (1, 1, 0),
        "swap": (0, 1, -1),
    },
    ("model", "h"): {"own": (0, -1), "mean": (1, 0), "apart": (1, -1)},
    ("model", "y"): {"mean": (1,)},
}
"""The vectors whose linear combinations update a field, by source of the messages and field.

If clients send gradients, x is updated with the mean memory and the mean message, and h_i with the
message of client i. If they send models, y - x_i, the broadcast vector and the message of client i
update x_i, the latter two update h_i, and the broadcast vector updates y."""

CONSTANTS = {
    ("gradient", "x"): {"memory": "beta"},
    ("gradient", "h"): {"message": "alpha"},
    ("model", "x"): {
        "back": "rho",
        "mean": "rho_mean",
        "own": "rho_own",
        "pull": "rho",
        "swap": "rho_swap",
    },
    ("model", "h"): {"own": "chi_own", "mean": "chi_mean", "apart": "chi"},
    ("model", "y"): {"mean": "sigma"},
}
"""The names of the free coefficients of these terms."""


@dataclass(frozen=True)
class Term:
    """A term of an update: a name of the vocabulary, and whether its coefficient is free or 1."""

    name: str
    free: bool = False


@dataclass(frozen=True)
class Sentence:
    """The structure of a method: everything but its constants.

    Attributes
    ----------
    source : "gradient" or "model"
        What a client sends: its gradient in every round, or its model after local steps.
    up, down : "unbiased", "contractive" or None
        The class of compressors on the way up and down.
    reference : bool
        Whether a difference is sent: gradients minus the memory h_i, models minus the common
        model y.
    memory : bool
        Whether clients keep a memory h_i; local steps go along grad f_i(x_i) - h_i then.
    x, h, y : tuples of Term
        The updates of model, memory and common model.
    correction : bool
        Whether the server adds a multiple of the mean memory to the mean message.
    damped : bool
        Whether what comes down is added with a free factor and not as a whole.
    change : bool
        Whether the message is grad f_i(x+) - grad f_i(x) - a (h_i - grad f_i(x)) with the next
        model x+ and a free a, and not the difference of a gradient from h_i.
    """

    source: Literal["gradient", "model"]
    up: Kind | None = None
    down: Kind | None = None
    reference: bool = False
    memory: bool = False
    x: tuple[Term, ...] = ()
    h: tuple[Term, ...] = ()
    y: tuple[Term, ...] = ()
    correction: bool = False
    damped: bool = False
    change: bool = False

    @property
    def local(self) -> bool:
        """Whether clients compute between rounds."""
        return self.source == "model"

    @property
    def constants(self) -> tuple[str, ...]:
        """The names of the free constants: step size, probability, then those of the terms."""
        names = ["gamma", "p"] if self.local else ["gamma"]
        for field in ("x", "h", "y"):
            symbols = CONSTANTS.get((self.source, field), {})
            names += [symbols[term.name] for term in getattr(self, field) if term.free]
        flags = {"tau": self.correction, "eta": self.damped, "a": self.change}
        return (*names, *(name for name, free in flags.items() if free))

    @property
    def kind(self) -> str:
        """The compressed directions, and whether there are local steps, in words."""
        ways = [f"{self.up} up"] * bool(self.up) + [f"{self.down} down"] * bool(self.down)
        return ", ".join(["local steps"] * self.local + (ways or ["uncompressed"]))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("x", "h", "y"):
            values[name] = [[term.name, term.free] for term in values[name]]
        return values


def sentences(most_constants: int) -> Iterator[Sentence]:
    """Yield all sentences with at most so many free constants, symmetry removed.

    If the terms of two updates span the same vectors and all coefficients are free, one of the two
    is yielded.
    Scales and signs of memories and common models are fixed, since messages are differences to
    them.
    """
    for one in (*_of_gradients(), *_of_models()):
        if len(one.constants) <= most_constants:
            yield one


def updates(source: str, field: str) -> Iterator[tuple[Term, ...]]:
    """Yield the updates of a field: one term, or two terms whose span no earlier two terms have.

    A single coefficient is 1 or free; of two both are free, but that the first of the model's is
    the step size in the direction of gradients.
    """
    vocabulary = VOCABULARY[source, field]
    stepped = (source, field) == ("gradient", "x")
    for name in vocabulary:
        yield (Term(name),)
        if not stepped:
            yield (Term(name, free=True),)
    seen: list[np.ndarray] = []
    for a, b in combinations(vocabulary, 2):
        plane = np.array([vocabulary[a], vocabulary[b]])
        if not any(np.linalg.matrix_rank(np.concatenate([plane, p])) == 2 for p in seen):
            seen.append(plane)
            yield (Term(a, free=not stepped), Term(b, free=True))


def _of_gradients() -> Iterator[Sentence]:
    ways: tuple[Kind | None, ...] = (None, "unbiased", "contractive")
    for up, down, damped in product(ways, ways, (False, True)):
        if damped and down != "unbiased":  # a contraction is added as a whole
            continue
        plain = Sentence("gradient", up, down, x=(Term("message"),), damped=damped)
        yield plain
        for x, h in product(updates("gradient", "x"), updates("gradient", "h")):
            yield Sentence("gradient", up, down, True, True, x, h, damped=damped)
    for up, h in product(ways, updates("gradient", "h")):
        yield Sentence("gradient", up, None, True, True, (Term("memory"),), h, change=True)


def _of_models() -> Iterator[Sentence]:
    ways: tuple[tuple[Kind | None, Kind | None], ...] = (
        (None, None),
        ("unbiased", None),
        ("contractive", None),
        (None, "unbiased"),
        ("unbiased", "unbiased"),
        (None, "contractive"),
        ("contractive", "contractive"),
    )
    for up, down in ways:
        for x, memory, correction in product(updates("model", "x"), (False, True), (False, True)):
            for h in updates("model", "h") if memory else ((),):
                if correction and not memory:
                    continue
                shared: Any = {"memory": memory, "x": x, "h": h, "correction": correction}
                if {term.name for term in x} == {"pull"}:
                    yield Sentence("model", up, down, **shared)
                for y in updates("model", "y"):
                    yield Sentence("model", up, down, reference=True, y=y, **shared)
