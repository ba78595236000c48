"""Local solves against the criterion of a theorem: none ends before it is met, none goes on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.theory.card import Card
from certibit.theory.checks.channel.walk import RUNS, Wrapped
from certibit.theory.verdict import Verdict

_ROUNDS = 4

Note = Callable[[Array, Array, Array], None]
"""Told of a point, of the clients that ask for their gradients there, and of these gradients."""


def solves_in_time(card: Card, experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that every local solve ends at the first point that a theorem finds exact enough.

    The value is how many points are asked for beyond that, and how many solves end before. None
    where no theorem has such a criterion.
    """
    method, beyond, before, points = experiment.method, 0, 0, 0
    channel, oracle = simulated_world(experiment, range(seed, seed + RUNS))
    state = method.start(channel.template, oracle, channel)
    for iteration in range(1, _ROUNDS + 1):
        solves = _Solves(card, method, state, experiment.n)
        noted = _Noted(oracle, solves.note)
        state, _ = advance(method, state, noted, channel, iteration)
        points += solves.points
        beyond += solves.beyond
        before += int((solves.asked & ~solves.solved).sum())
    if not points:
        return None
    advice = (
        f"In {_ROUNDS} rounds {before} local solves end before they are exact enough for the "
        f"theorem, and {beyond} gradients are evaluated by clients whose solve has ended: look "
        "at the criterion of the local solve."
    )
    return Verdict("local solves end in time", before + beyond, 0.0, f"{points} steps", advice)


class _Solves:
    """The local solves of a round: who asks for gradients, and who needs no more."""

    def __init__(self, card: Card, method: Method, s: Any, n: int) -> None:
        self.card, self.method, self.s = card, method, s
        self.asked, self.solved = np.zeros((2, n, 1, RUNS), dtype=bool)
        self.beyond = self.points = 0

    def note(self, y: Array, active: Array, gradient: Array) -> None:
        """Take note of gradients that some of the clients ask for."""
        for theorem in self.card.about("potential"):
            found = theorem.solved(self.method, self.s, y, gradient)
            if found is not None:
                self.points += 1
                self.beyond += int((active & self.solved).sum())
                self.asked |= active
                self.solved = np.where(active, found, self.solved)


class _Noted(Wrapped):
    """Gradients with a note of where they are asked for."""

    def __init__(self, inner: Any, note: Note) -> None:
        super().__init__(inner)
        self.note = note

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        gradient = self.inner.grad(x, active=active, sample=sample)
        n, runs = self.inner.n, x.shape[2]
        who = np.broadcast_to(True if active is None else active, (n, 1, runs))
        self.note(np.broadcast_to(x, (n, *x.shape[1:])), who, np.asarray(gradient))
        return gradient
