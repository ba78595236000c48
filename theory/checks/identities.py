"""Methods that are the same method at special parameters: checks that are exact up to rounding.

A method that belongs to no identity, or whose sibling is wrong, is not protected by these.
"""

from collections.abc import Callable

import numpy as np

from bitbound.data.problem import Constants, StronglyConvexProblem
from bitbound.solvers.method import Method
from bitbound.solvers.methods.adiana import ADIANA
from bitbound.solvers.methods.agd import AGD
from bitbound.solvers.methods.compressed_scaffnew import CompressedScaffnew
from bitbound.solvers.methods.dasha import DASHA
from bitbound.solvers.methods.diana import DIANA
from bitbound.solvers.methods.ef21 import EF21
from bitbound.solvers.methods.fedcomgate import FedCOMGATE
from bitbound.solvers.methods.gd import GD
from bitbound.solvers.methods.gradskip import GradSkip
from bitbound.solvers.methods.marina import MARINA
from bitbound.solvers.methods.scaffnew import Scaffnew
from bitbound.solvers.methods.scaffold import SCAFFOLD
from bitbound.solvers.methods.tamuna import TAMUNA
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.engine import simulate
from bitbound.theory.verdict import Verdict

Pair = tuple[Method, Method]


def _gd(make: Callable[[float], Method]) -> Callable[[Constants, int], Pair]:
    """Pair a method with gradient descent of the same step."""
    return lambda c, n: (make(0.9 / c.L), GD(0.9 / c.L))


def _adiana(c: Constants, n: int) -> Pair:
    q = float(np.sqrt(c.mu / c.L_f))
    return ADIANA(
        theta_1=q / (1 + q), theta_2=0.0, eta=1 / c.L_f, gamma=1 / float(np.sqrt(c.mu * c.L_f)),
        alpha=0.7, beta=1 - q, p=0.4, omega_av=0.0,
    ), AGD(1 / c.L_f, q)  # fmt: skip


IDENTITIES: dict[str, tuple[Callable[[Constants, int], Pair], ...]] = {
    "diana": (_gd(lambda gamma: DIANA(gamma, 1.0, 0.0)),),
    "ef21": (_gd(lambda gamma: EF21(gamma, 1.0)),),
    "marina": (_gd(lambda gamma: MARINA(gamma, 0.4)),),
    "dasha": (_gd(lambda gamma: DASHA(gamma, 0.4, 0.0)),),
    "adiana": (_adiana,),
    "scaffnew": (_gd(lambda gamma: Scaffnew(gamma, 1.0)),),
    "compressed-scaffnew": (
        lambda c, n: (CompressedScaffnew(1 / c.L, 0.4, 1.0, n), Scaffnew(1 / c.L, 0.4)),
    ),
    "tamuna": (
        lambda c, n: (TAMUNA(1 / c.L, 0.4, 1.0, n, n), Scaffnew(1 / c.L, 0.4)),
        lambda c, n: (TAMUNA(1 / c.L, 0.4, 0.7, 2, n), CompressedScaffnew(1 / c.L, 0.4, 0.7, 2)),
    ),
    "gradskip": (lambda c, n: (GradSkip(1 / c.L, 0.4, (1.0,) * n), Scaffnew(1 / c.L, 0.4)),),
    "scaffold": (
        lambda c, n: (SCAFFOLD(1, 0.9 / c.L, 1.0, n), GD(0.9 / c.L)),
        lambda c, n: (SCAFFOLD(4, 0.1 / c.L, 1.0, n), FedCOMGATE(4, 0.1 / c.L, 1.0, 1.0, 0.0)),
    ),
    "fedcomgate": (_gd(lambda gamma: FedCOMGATE(1, gamma / 1.5, 1.5, 0.8, 0.0)),),
}
"""Pairs of equal methods, by the name of the first, for the constants of a problem and n."""


def identities(name: str, problem: StronglyConvexProblem, seed: int = 0) -> Verdict:
    """Check that every pair of a method runs alike, uncompressed; the value is the difference."""
    worst = 0.0
    for pair in IDENTITIES.get(name, ()):
        gaps = [
            simulate(
                method,
                problem,
                seeds=[seed, seed + 1],
                budget=Budget(rounds=8, iterations=500),
                record=Record(every=1),
            ).columns["gap"]
            for method in pair(problem.plain.constants, problem.n)
        ]
        if gaps[0].shape != gaps[1].shape or not np.isfinite(gaps[0]).all():
            return Verdict("identities", float("inf"), 1e-9)
        worst = max(worst, float(np.max(np.abs(gaps[0] - gaps[1])) / np.max(gaps[1])))
    return Verdict("identities", worst, 1e-9)
