"""Clip21: its card, and a theorem on convex smooth functions, proved by us."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.problem import Problem
from certibit.solvers.backend import mean, squared_norm
from certibit.solvers.libraries import host
from certibit.solvers.method import Functions, Messages, Method, Needs
from certibit.solvers.methods.clip21 import Clip21, State
from certibit.solvers.methods.gd import GD
from certibit.solvers.simulation.experiment import fitted_view
from certibit.theory.card import Card, Role, uncompressed_both_ways
from certibit.theory.formulas.error_feedback import error_root
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Potential, Region, Squares, Terms
from certibit.theory.theorem import Condition

ROUNDING = 1e-9
"""Relative room for rounding in the radius of a ball."""


@dataclass(frozen=True)
class ContractedClip21(Clip21):
    """Clip21 with any contraction in the place of the clipping."""

    name: ClassVar[str] = "clip21 in a ball"
    needs: ClassVar[Needs] = Needs(compressor="contractive", strongly_convex=False)

    def send_clipped(self, v: Array, channel: Messages) -> Array:
        """Send C_i(v_i) from every client; what is received, (n, d, R)."""
        return channel.uplink(v)


class ErrorsInABall:
    """Psi = |grad f(x)|^2 + (s/n) sum_i |grad f_i(x) - g_i|^2, from the start of a round.

    Where every f_i is mu-strongly convex and L-smooth and gamma <= gamma*, the factor is that of
    EF21, :func:`~certibit.theory.formulas.error_feedback.feedback_factor`. At gamma* clipping
    attains it at the edge of the ball, in one dimension.

    Notes
    -----
    Proof. With y = grad f(x), the messages leave the errors e_i = g_i+ - grad f_i(x), |e_i| <=
    s |grad f_i(x) - g_i|, so that s |y|^2 + (1/n) sum_i |e_i|^2, the Psi of EF21, is at most s
    times this one. Its proof bounds E[Psi+]/s by the next value of this one, before the message,
    and that by rho/s times its own Psi.
    """

    def lyapunov(
        self, m: Clip21, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        """Return the terms at a state."""
        gradients = problem.grad(s.x)
        slope = mean(gradients) - star.g_mean
        return Squares(1.0, slope), Squares(_root(setting.alpha) / setting.n, gradients - s.g)

    def region(self, m: Clip21, functions: FunctionClass, weights: tuple[float, ...]) -> Region:
        """Return the ball: |v_i|^2 <= Psi/weight <= B^2 for every client."""
        slope, weight = weights
        B = m.tau / (1 - _root(max(functions.contraction(k) for k in range(len(functions.kinds)))))
        return Region(
            f"|grad f_i(x) - g_i| <= {B:.6g} for all i, where clipping to {m.tau:g} is such a "
            "contraction",
            f"{slope:.4g} |grad f(x)|^2 + {weight:.4g} sum_i |grad f_i(x) - g_i|^2",
            weight * B**2,
        )

    def accuracy(self, functions: FunctionClass, weights: tuple[float, ...]) -> float:
        """Return c with f(x) - f* <= |grad f(x)|^2/(2 mu) <= c Psi."""
        slope, _ = weights
        return 1 / (2 * functions.mu * slope)


def contracted(m: Method) -> tuple[Method, Potential] | None:
    """Return Clip21 with contractions, and the Lyapunov function that keeps it where they are."""
    return (ContractedClip21(m.gamma, m.tau), ErrorsInABall()) if isinstance(m, Clip21) else None


def contraction_from_start(m: Clip21, problem: Problem) -> float:
    """Return alpha in the smallest ball that Psi keeps a run in from the start of a problem.

    With all g_i = 0 its radius B is the largest root of (B - tau) (B^2 - sum_i |grad f_i|^2) =
    n |grad f|^2 B.
    """
    view = fitted_view(m, problem)
    gradients, n = view.grad(view.x_0), view.n
    slope, own = (float(np.mean(host(squared_norm(v)))) for v in (mean(gradients), gradients))
    cubic: list[float] = [1.0, -m.tau, -n * (own + slope), n * own * m.tau]
    B = float(np.max(np.roots(cubic).real)) * (1 + ROUNDING)
    return 1 - (1 - m.tau / B) ** 2


def _root(alpha: float | None) -> float:
    """Return s = sqrt(1 - alpha)."""
    if alpha == 1:
        raise Refusal(
            "alpha = 1 is where nothing is clipped, and clip21 is gradient descent there; give "
            "alpha = 1 - (1 - tau/B)^2 of a B above tau"
        )
    return error_root(alpha)


@dataclass(frozen=True)
class ClippedDifferences:
    """Clip21 on convex L-smooth f_i clips in finitely many rounds and is gradient descent then.

    With G the largest |grad f_i(x_0)|: if gamma < 2/L and gamma <= tau/(4 L G), then from round
    ceil(2 G/tau) - 2 on, counted from 0, no message is clipped, and every step is one of gradient
    descent with gamma: what is proved of that holds from there, at any strong convexity.

    Notes
    -----
    Proof. Say that the first t steps are at most tau/(2 L) long. Then |grad f(x_t)| <= G + t tau/2.
    The estimates start at 0, a message brings one nearer by tau and a step moves the gradient by at
    most tau/2: what is left after message t is at most G - (t + 2) tau/2, or nothing. So |g| <=
    2 G - tau before the first round without clipping and <= 2 G in it, and gamma |g| <= tau/(2 L).
    From there on g = grad f(x), gradients of f get no longer, and they move by at most tau/2.
    The method is that of arXiv:2305.18929; the constants are our own.
    """

    title: ClassVar[str] = "Clip21, convex smooth functions"

    def conditions(self, L: float, G: float, gamma: float, tau: float) -> tuple[Condition, ...]:
        """Return the hypotheses, evaluated."""
        return (
            Condition("0 < gamma", 0.0, gamma, strict=True),
            Condition("gamma < 2/L", gamma, 2 / L, strict=True),
            Condition("gamma <= tau/(4 L G)", gamma, tau / (4 * L * G) if G else math.inf),
        )

    def clipped_rounds(self, G: float, tau: float) -> int:
        """Return the largest number of rounds in which a message is clipped."""
        return max(0, math.ceil(2 * G / tau) - 2)


CARD = Card(
    Clip21,
    label="Clip21",
    along_runs=(ClippedDifferences(),),
    bill=uncompressed_both_ways,
    cut=contracted,
    contraction=contraction_from_start,
    identities=(lambda c, n: (Clip21(0.9 / c.L, float("inf")), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "tau": Role.CONSTANT},
    threshold="tau",
    colour="#AA4499",
    marker="P",
)
