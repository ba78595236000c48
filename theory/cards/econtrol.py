"""EControl: a theorem for a small share of the error, and its step sizes."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.econtrol import EControl, State
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


def if_positive(b: float, value: Callable[[], float]) -> float:
    """Return a value where b > 0, and 0 elsewhere."""
    return value() if b > 0 else 0.0


@dataclass(frozen=True)
class _Errors:
    """How p_i = b e_i - (h_i - grad f_i(x)) and the errors e_i shrink, for a share b.

    The message is of u_i = p_i + grad f_i(x+) - grad f_i(x), and with C_i(u_i) = u_i + r_i there is
    p_i+ = -b^2 e_i - (1 + b) r_i, e_i+ = (1 - b) e_i - r_i and h_i - grad f_i(x) = b e_i - p_i. So
    in the mean, with s = sqrt(1 - alpha), v = (1 - s)/2 (0 if b = 0) and N = (1 + b)^3 + v,
    |p+|^2 + v b |e+|^2 is at most q_p |p|^2 + q_e v b |e|^2 + s^2 N/(1 - s) |change of the
    gradient|^2, and |h - grad f(x)|^2 at most (1 + b) (|p|^2 + b |e|^2).
    """

    b: float
    alpha: float | None

    @property
    def s(self) -> float:
        if self.alpha is None:
            raise Refusal("the potential of EControl needs contractive compressors; give alpha")
        return math.sqrt(1 - self.alpha)

    @property
    def v(self) -> float:
        return if_positive(self.b, lambda: (1 - self.s) / 2)

    @property
    def q_p(self) -> float:
        return self.s * ((1 + self.b) ** 3 + self.v)

    @property
    def q_e(self) -> float:
        """The factor of |e|^2; nothing depends on it if b = 0."""
        return if_positive(self.b, lambda: 1 - self.b + (1 + self.b) * self.b**2 / self.v)

    @property
    def a(self) -> float:
        """The weight, divided by gamma, that pays for |h - grad f(x)|^2."""
        paid = if_positive(self.b, lambda: 1 / (self.v * (1 - self.q_e)))
        return (1 + self.b) * max(1 / (1 - self.q_p), paid)

    @property
    def noise(self) -> float:
        """The factor sqrt(2 a s^2 N/(1 - s))."""
        return math.sqrt(2 * self.a * self.s * self.q_p / (1 - self.s))


class _ErrorControl(Theorem):
    """EControl when f is L_f-smooth with |grad f|^2 >= 2 mu (f - f*), each f_i L_i-smooth.

    With s = sqrt(1 - alpha), v = (1 - s)/2, N = (1 + b)^3 + v, q_p = s N, q_e = 1 - b + (1 + b)
    b^2/v and a = (1 + b) max{1/(1 - q_p), 1/(v (1 - q_e))}, where v and all that has q_e is left
    out if b = 0: q_p < 1, q_e < 1, gamma <= 1/(L_f + L_tilde sqrt(2 a s^2 N/(1 - s))) and gamma <=
    (1 - max{q_p, q_e})/(2 mu) give tau = 1 - gamma mu. Psi = f(x) - f* + a gamma (1/n) sum_i
    (|b e_i - (h_i - grad f_i(x))|^2 + v b |e_i|^2), per round. Proved by us, by f(x+) <= f(x) -
    (gamma/2) |grad f(x)|^2 - (1/(2 gamma) - L_f/2) |x+ - x|^2 + (gamma/2) |h_mean - grad f(x)|^2;
    at b = 0 it is the theorem of EF21.
    """

    method = EControl
    title = "EControl, Polyak-Lojasiewicz"
    rocq = "EControl.accuracy"
    published = False

    def conditions(self, m: EControl, setting: Setting) -> tuple[Condition, ...]:
        errors = _Errors(m.b, setting.alpha)
        shrinking = _shrinking(m, setting, errors)
        if not all(condition.holds for condition in shrinking):
            return shrinking
        smooth, shrinks = _largest_steps(errors, setting)
        return (
            *shrinking,
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma <= 1/(L_f + L_tilde sqrt(2 a s^2 N/(1 - s)))", m.gamma, smooth),
            Condition("gamma <= (1 - max{q_p, q_e})/(2 mu)", m.gamma, shrinks),
        )

    def lyapunov(
        self, m: EControl, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return _terms(m, s, setting, problem, m.gamma)

    def rate(self, m: EControl, setting: Setting) -> float:
        return 1 - m.gamma * setting.mu


class _ErrorControlNonconvex(Theorem):
    """EControl when f is L_f-smooth and bounded from below, each f_i L_i-smooth.

    With the symbols of the theorem about a factor, q_p < 1, q_e < 1 and gamma <= 1/(L_f + L_tilde
    sqrt(a s^2 N/(1 - s))) give c = gamma/2. Psi = f(x) - inf f + (a gamma/2) (1/n) sum_i
    (|b e_i - (h_i - grad f_i(x))|^2 + v b |e_i|^2), per round. Proved by us: f(x+) has the bound of
    that theorem, (gamma/2) |h_mean - grad f(x)|^2 is paid by what the errors shrink, and
    |x+ - x|^2 by what f loses; at b = 0 it is the nonconvex theorem of EF21. Gao, Islamov, Stich,
    arXiv:2311.05645, treat the case with other constants.
    """

    method = EControl
    title = "EControl, nonconvex"
    rocq = "EControl.nonconvex_accuracy"
    measure = "squared_gradient"
    published = False

    def conditions(self, m: EControl, setting: Setting) -> tuple[Condition, ...]:
        errors = _Errors(m.b, setting.alpha)
        shrinking = _shrinking(m, setting, errors)
        if not all(condition.holds for condition in shrinking):
            return shrinking
        return (
            *shrinking,
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition(
                "gamma <= 1/(L_f + L_tilde sqrt(a s^2 N/(1 - s)))",
                m.gamma,
                _largest_nonconvex(errors, setting),
            ),
        )

    def lyapunov(
        self, m: EControl, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return _terms(m, s, setting, problem, m.gamma / 2)

    def descent(self, m: EControl, setting: Setting) -> float:
        return m.gamma / 2


def _terms(
    m: EControl, s: State, setting: ClassConstants, problem: Functions, part: float
) -> Terms:
    """Return f - f*, and the errors with the weight a times ``part``."""
    errors = _Errors(m.b, setting.alpha)
    weight = errors.a * part / setting.n
    return (
        Gap(1.0, s.x),
        Squares(weight, m.b * s.e - (s.h - problem.grad(s.x))),
        Squares(weight * errors.v * m.b, s.e),
    )


def _shrinking(m: EControl, setting: Setting, errors: _Errors) -> tuple[Condition, ...]:
    """Return the conditions for errors that shrink."""
    return (
        Condition("0 < alpha", 0.0, setting.alpha, strict=True),
        Condition("0 <= b", 0.0, m.b),
        Condition("q_p < 1", errors.q_p, 1.0, strict=True),
        Condition("q_e < 1", errors.q_e, 1.0, strict=True),
    )


def _largest_nonconvex(errors: _Errors, setting: Setting) -> float:
    """Return 1/(L_f + L_tilde sqrt(a s^2 N/(1 - s)))."""
    constants = setting.constants
    return 1 / (constants.L_f + constants.L_tilde * errors.noise / math.sqrt(2))


def _largest_steps(errors: _Errors, setting: Setting) -> tuple[float, float]:
    """Return the largest step sizes for which f decreases and the errors shrink as fast."""
    constants, slowest = setting.constants, max(errors.q_p, errors.q_e)
    smooth = 1 / (constants.L_f + constants.L_tilde * errors.noise)
    return smooth, (1 - slowest) / (2 * setting.mu)


def _largest(setting: Setting) -> EControl:
    """Take b = (1 - sqrt(1 - alpha))/12 and the largest step of the theorem."""
    b = (1 - math.sqrt(1 - setting.alpha)) / 12
    return EControl(min(_largest_steps(_Errors(b, setting.alpha), setting)), b)


def _nonconvex(setting: Setting) -> EControl:
    """Take b = (1 - sqrt(1 - alpha))/12 and the largest step of the theorem for nonconvex f."""
    b = (1 - math.sqrt(1 - setting.alpha)) / 12
    return EControl(_largest_nonconvex(_Errors(b, setting.alpha), setting), b)


CARD = Card(
    EControl,
    label="EControl",
    theorems=(_ErrorControl(), _ErrorControlNonconvex()),
    rules={"largest": _largest, "nonconvex": _nonconvex},
    orders=Orders.of("(1 + omega)*kappa", "d*kappa"),
    bill=compressed_up,
    identities=(
        lambda c, n: (EControl(0.9 / c.L, 0.0), EF21(0.9 / c.L)),
        lambda c, n: (EControl(0.9 / c.L, 0.3), GD(0.9 / c.L)),  # nothing is left out, no error
    ),
    roles={"gamma": Role.STEP_SIZE},
    colour="#3A0A1A",
    marker="v",
)
