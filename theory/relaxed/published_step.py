"""What is published of methods that clip with one step a round: conditions, steps and promises."""

import math
from dataclasses import dataclass

from certibit.data.problem import RelaxedConstants
from certibit.solvers.methods.celgc import CELGC
from certibit.solvers.methods.clipped_minibatch_sgd import ClippedMinibatchSGD
from certibit.solvers.methods.clipped_sgd import ClippedSGD
from certibit.solvers.methods.episode import EPISODE
from certibit.solvers.methods.naive_parallel_clip import NaiveParallelClip
from certibit.solvers.methods.normalised_gd import NormalisedGD
from certibit.theory.cards.clipped_sgd import ClippedGD
from certibit.theory.cards.episode import MAIN
from certibit.theory.formulas.episode_round import factor_A, factor_B
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions, require_dissimilarity
from certibit.theory.theorem import Condition

CLIPPED_GD = ClippedGD()
SAME_STEP = (ClippedSGD, NaiveParallelClip, ClippedMinibatchSGD)
"""Methods whose round with I = 1 is one of clipped gradient descent, without noise."""


@dataclass(frozen=True)
class PublishedStep:
    """A theorem on a method, at some parameters.

    Attributes
    ----------
    title : str
        The theorem.
    conditions : tuple of Condition
        Its hypotheses on eta and gamma, evaluated.
    eta, gamma : float
        The largest that it allows.
    c : float
        The c of f(x+) <= f(x) - c M that it promises where its hypotheses hold; NaN if its promise
        is of another kind.
    promise : str
        What it promises.
    epsilon : float
        The largest accuracy of a theorem that is about one; NaN for others.
    """

    title: str
    conditions: tuple[Condition, ...]
    eta: float
    gamma: float
    c: float
    promise: str
    epsilon: float = math.nan

    @property
    def holds(self) -> bool:
        """Whether all hypotheses hold."""
        return all(condition.holds for condition in self.conditions)


def published_step(
    method: type,
    functions: RelaxedFunctions,
    eta: float,
    gamma: float,
    kappa: float = 0.0,
    rho: float = 1.0,
) -> PublishedStep | None:
    """Return the theorem on one step of a method, at eta and gamma of its M; None without one.

    ``kappa`` and ``rho`` are those of EPISODE, |grad f_i| <= kappa + rho |grad f|; the step that
    its theorem allows is largest at 0 and 1. Its accuracy epsilon is the largest that it allows.
    With I local steps, eta and gamma are I times those of one.
    """
    require_dissimilarity(kappa, rho)
    if issubclass(method, EPISODE):
        return _of_episode(functions, eta, gamma, kappa, rho)
    equal = issubclass(method, CELGC) and (functions.kappa, functions.rho) == (0, 1)
    if functions.sigma or not (equal or issubclass(method, (*SAME_STEP, NormalisedGD))):
        return None
    L0, L1 = functions.L0, functions.L1
    limits = CLIPPED_GD.limits(L0, L1, eta, gamma)
    least, *others = (float(condition.right) for condition in limits)
    longest = min(others)
    if issubclass(method, NormalisedGD):
        title = f"{CLIPPED_GD.title}, of whose steps these are at least the half"
        promise = "f(x+) <= f(x) - M/4"
        return PublishedStep(title, limits, least, longest, 0.25, promise)
    promise = "f(x+) <= f(x) - M/2"
    return PublishedStep(CLIPPED_GD.title, limits, least, longest, 0.5, promise)


def _of_episode(
    functions: RelaxedFunctions, eta: float, gamma: float, kappa: float, rho: float
) -> PublishedStep | None:
    """Return Theorem 1 of EPISODE for I = 1 and f that is (L0, L1)-smooth itself."""
    if not (functions.L0 and functions.L1):
        return None
    own = RelaxedConstants(functions.L0, functions.L1, kappa, rho, functions.sigma, Delta=1.0)
    epsilon = 3 * factor_A(1.0) * own.L0 / (5 * factor_B(1.0) * own.L1 * rho)
    chosen = MAIN.parameters(own, functions.n, 1, epsilon)
    limits = MAIN.hypotheses(own, functions.n, 1, epsilon, eta, gamma, chosen.R)
    return PublishedStep(
        f"{MAIN.title}, at epsilon = {epsilon:.4g}, kappa = {kappa:g}, rho = {rho:g}",
        tuple(one for one in limits if "eta" in one.statement and "R" not in one.statement),
        chosen.eta,
        chosen.gamma,
        math.nan,
        "the mean of |grad f(x)| over rounds r = 0..R is at most 3 epsilon from R = "
        "4 Delta/(epsilon^2 eta) on",
        epsilon,
    )
