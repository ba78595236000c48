"""A method of the catalogue on a small quadratic, or on a small (L0, L1)-smooth problem."""

import numpy as np

from certibit import CARDS, Experiment, Quadratic, compressor
from certibit.data.relaxed.families import Cosh, Tilted

SENT = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: "identity"}
BOTH_WAYS = {"unbiased": "two-way(rand-k:2;rand-k:2)", "contractive": "two-way(rand-k:2;top-k:2)"}


def small_experiment(name):
    """Return the card of a method, and the method with its first rule on three clients, or one."""
    card = CARDS[name]
    needs = card.method.needs
    n = 1 if name == "compressed-gd" else 3
    problem = Tilted.of(Cosh(), np.outer([1, -1, 0], np.ones(6)), np.ones(6))
    if not card.takes_relaxed:
        problem = Quadratic.random(n, 6, 1.0, 10.0, shared_minimiser=needs.shared_minimiser)
    sent = compressor(BOTH_WAYS[needs.downlink] if needs.downlink else SENT[needs.compressor])
    return card, Experiment.of(card.parameters(problem, sent), problem, sent)
