"""The k of rand-k that theory recommends: the one with the fewest promised bits."""

import math
from functools import lru_cache

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import WithProbability
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.setting import Setting

CANDIDATES = 40
"""At most so many k are tried, in geometric progression from 1 to d."""
TIE = 0.01
"""Of all k within this fraction of the fewest bits, the smallest is recommended."""


@lru_cache
def recommended_k(method: str, rule: str, form: str, n: int, d: int, kappa: float) -> int:
    """Return the k with the fewest promised uplink bits per digit of accuracy.

    That is bits(k) p/(-ln tau) of the best theorem of the method, at the parameters of the rule
    for this k; p is 1 where every iteration communicates. All L_i are taken as equal, with
    L/mu = kappa in the composite view and (kappa + 1)/2 in the plain one.

    Parameters
    ----------
    method, rule : str
        A method of the catalogue that takes a compressor, and one of its rules.
    form : str
        Selector of the compressor with ``K`` for its number, such as ``rand-k:K+natural``.
    n, d : int
        Number of clients and of features.
    kappa : float
        Condition number of the problem in the composite view.
    """
    choices = sorted({round(k) for k in np.geomspace(1, d, CANDIDATES)})
    bits = [_bits(method, rule, form.replace("K", str(k)), n, d, kappa) for k in choices]
    return next(k for k, each in zip(choices, bits, strict=True) if each <= (1 + TIE) * min(bits))


def _bits(method: str, rule: str, selector: str, n: int, d: int, kappa: float) -> float:
    card = METHODS[method]
    mu, L = (1.0, kappa) if card.method.needs.composite else (2.0, kappa + 1)
    setting = Setting(Constants(mu, np.full(n, L), L), n, d, compressor(selector))
    chosen = card.at(setting, rule)
    theorem = card.best_theorem(chosen, setting)
    if theorem is None:
        raise Refusal(f"no theorem about {method} holds with the rule {rule!r}; choose another")
    schedule = chosen.schedule
    p = schedule.p if isinstance(schedule, WithProbability) else 1.0
    return setting.compressor.bits(d) * p / -math.log(theorem.rate(chosen, setting))
