"""ADIANA, variant II, with steps that begin with the coin, as certificates need them.

If the reference point moves to the y of the same step, the gradient there depends on the
compression noise of this step. With the boundary between steps before the coin the run is the same:
first the reference point moves to the known y, then the rest of the iteration follows.
"""

from dataclasses import dataclass, fields, replace

from certibit.solvers.backend import where
from certibit.solvers.method import Functions, Gradients, Messages, Method
from certibit.solvers.methods.adiana import ADIANA, State
from certibit.theory.potential import ClassConstants, Gap, Potential, Squares, Terms


@dataclass(frozen=True)
class _CoinFirst(ADIANA):
    """ADIANA whose step begins with the coin that moves the reference point to y."""

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        """Move the reference point, then do a step in which it stays."""
        moves = channel.coin(self.p)
        w = where(moves, s.y, s.w)
        gradient = where(moves, problem.grad(w, active=moves), s.gradient)
        stays = replace(self, p=0.0, variant="I")
        return ADIANA.communicate(stays, replace(s, w=w, gradient=gradient), problem, channel)


class _BeforeTheCoin:
    """The Lyapunov function of ADIANA, variant II, in the mean over the coin.

    The values of f are those of the theorem's; h_i - grad f_i(w) keeps its weight.
    """

    def lyapunov(
        self, m: ADIANA, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        """Return the terms at a state."""
        reference = m.theta_2 + m.theta_1 / 2 if m.theta_2 else 0.0
        shifts = 8 * m.eta * setting.omega_av / m.alpha
        return (
            Squares(m.theta_1 / (2 * m.gamma * m.beta), s.z - star.z),
            Gap(1.0, s.y),
            Gap((1 - m.p) * reference / m.p, s.w),
            Squares(shifts / setting.n, s.h - s.gradient),
        )


def cut_before_the_coin(m: Method) -> tuple[Method, Potential] | None:
    """Return ADIANA of variant II in these steps, and their Lyapunov function."""
    if not (isinstance(m, ADIANA) and m.variant == "II"):
        return None
    return _CoinFirst(**{one.name: getattr(m, one.name) for one in fields(m)}), _BeforeTheCoin()
