"""LoCoDL with a compressed broadcast: its theorem, proved by us, and the parameters of it."""

import math

from certibit.data.errors import Refusal
from certibit.solvers.method import Functions
from certibit.solvers.methods.locodl import LoCoDL
from certibit.solvers.methods.locodl_both_ways import LoCoDLBothWays, State
from certibit.theory.card import Card, Orders, Role, compressed_up
from certibit.theory.formulas.coupling import message_variances
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem

BOUNDS = 10
"""Bounds of rho from below and above take turns, each from the last; an even number ends below."""


class _LocalTrainingBothWays(Theorem):
    """LoCoDL with a compressed broadcast converges as LoCoDL does; proved by us.

    L and mu are those of the f_i and of g, omega' is the server's, tau = max{(1 - gamma mu)^2,
    (1 - gamma L)^2, 1 - p^2 chi/(1 + 2 omega)}, theta = chi/(rho (1 + 2 omega)), phi = 2 - theta -
    (1 - tau)/(p theta), h^2 = omega' theta/phi and K = (omega' + h^2)/(1 - h) (omega_av + 1/(1 -
    h)). If 0 < gamma < 2/L, 0 < rho, phi > 0, h < 1 and theta (1 + b) <= 2 - rho (1 + a + K) for
    the pairs (a, b) of :func:`message_variances` without weights, then E[Psi+] <= tau Psi. Without
    compression down this is :class:`UnevenLoCoDL` for nu = 0.

    Psi = (1/gamma) (sum_i |x_i - x*|^2 + n |y - x*|^2) + (gamma (1 + 2 omega)/(p^2 chi)) (sum_i
    |u_i - u_i* - e/2|^2 + n |v - v* - e/2|^2) + (gamma m/p^2) (n/2) |e|^2 with m = (1 +
    sqrt(omega' phi/theta))/((1 - h) theta phi).

    Notes
    -----
    Proof. Let z be the models and w the control variates, all relative to the solution, in the
    space with |z|^2 = sum_i |z_i|^2 + n |z_y|^2; w = w' + a, where a = e/2 for all and w' has no
    mean; q = z - gamma (grad F(x* + z) - grad F(x*)), |q|^2 <= max{(1 - gamma mu)^2, (1 - gamma
    L)^2} |z|^2; s = q' + gamma w' the disagreement of q + gamma w. What the server compresses has
    the mean -s_y - (gamma/(p rho)) a. So what the models have in common becomes q_0 + gamma a with
    probability 1 - p, else q_0 + gamma a - (gamma/p) a, plus noise; without it the mean of its
    square is |q_0|^2 + (1/p - 1) gamma^2 |a|^2: q_0 and a have no product. Let D be the second
    moment of what is compressed and B = (gamma/p)^2 2 n |a|^2. As 2 n |s_y|^2 <= |s|^2 and
    sum_i |x_i - y|^2 <= 2 |s|^2,

        2 n D <= (|s| + sqrt(B)/rho)^2 + omega_av |s|^2,
        gamma E[Psi+] <= |q|^2 + gamma^2 ((1 + 2 omega)/(p^2 chi) - 1) |w'|^2
            + p (theta rho (1 + b) - 2 rho + rho^2 (1 + a)) |s|^2 + p (1 - p) B
            + m (1 - p (2 theta - theta^2)) B + p rho^2 G 2 n D,   G = omega' (1 + m theta^2).

    With T = m theta phi - 1 this is at most tau gamma Psi if (2 - theta (1 + b))/rho >= 1 + a +
    G omega_av + 1/(1/G - 1/T), since S |s|^2 + T B/rho^2 >= G (|s| + sqrt(B)/rho)^2 for (S - G)
    (T - G) >= G^2. The m of the theorem is where 1/G - 1/T is largest.
    """

    method = LoCoDLBothWays
    title = "LoCoDL with a compressed broadcast"
    published = False

    def conditions(self, m: LoCoDLBothWays, setting: Setting) -> tuple[Condition, ...]:
        theta, phi = _error_rates(m, setting)
        noise = server_noise(theta, phi, setting.omega_av, setting.omega_down)
        variances = message_variances(setting)
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True),
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < chi", 0.0, m.chi, strict=True),
            Condition("0 < rho", 0.0, m.rho, strict=True),
            Condition("0 < phi", 0.0, phi, strict=True),
            Condition("omega' theta < phi", setting.omega_down * theta, phi, strict=True),
            Condition(
                "theta (1 + b) + rho (1 + a + K) <= 2",
                max(theta * (1 + b) + m.rho * (1 + a + noise) for a, b in variances),
                2.0,
            ),
        )

    def lyapunov(
        self, m: LoCoDLBothWays, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        primal = 1 / m.gamma
        dual = m.gamma * (1 + 2 * m.omega) / (m.p**2 * m.chi)
        theta, phi = _error_rates(m, setting)
        error = m.gamma / m.p**2 * _error_weight(theta, phi, setting.omega_down)
        return (
            Squares(primal, s.x - star.x),
            Squares(primal * setting.n, s.y - star.y),
            Squares(dual, s.u - star.u - s.e / 2),
            Squares(dual * setting.n, s.v - star.v - s.e / 2),
            Squares(error * setting.n / 2, s.e),
        )

    def rate(self, m: LoCoDLBothWays, setting: Setting) -> float:
        return _factor(m, setting)


def server_noise(theta: float, phi: float, omega_av: float, omega_down: float) -> float:
    """Return K, what the compression of the broadcast adds to omega_av; infinite for h >= 1."""
    if not 0 <= omega_down * theta < phi:
        return math.inf
    h = math.sqrt(omega_down * theta / phi)
    return (omega_down + h**2) / (1 - h) * (omega_av + 1 / (1 - h))


def _error_weight(theta: float, phi: float, omega_down: float) -> float:
    """Return m; 1 where the theorem says nothing."""
    if not 0 <= omega_down * theta < phi:
        return 1.0
    h = math.sqrt(omega_down * theta / phi)
    return (1 + math.sqrt(omega_down * phi / theta)) / ((1 - h) * theta * phi)


def _error_rates(m: LoCoDLBothWays, setting: ClassConstants) -> tuple[float, float]:
    """Return theta, what a round takes of e, and phi, which part of its decrease is left."""
    theta = m.chi / (m.rho * (1 + 2 * m.omega))
    return theta, 2 - theta - (1 - _factor(m, setting)) / (m.p * theta)


def _factor(m: LoCoDLBothWays, setting: ClassConstants) -> float:
    gradient = gradient_step_factor(m.gamma, setting.mu, setting.L)
    return max(gradient, 1 - m.p**2 * m.chi / (1 + 2 * m.omega))


def _balanced(setting: Setting) -> LoCoDLBothWays:
    """Take gamma = 2/(L + mu), theta = 1/(1 + b + 2 omega') with one of the pairs, the largest rho.

    theta rho is then within 12 % of the largest for independent messages, 24 % for shared ones, at
    all points searched; with p = min{1, sqrt((1 - tau_0)/(theta rho))} both parts of the rate are
    equal, as for LoCoDL.
    """
    gamma = 2 / (setting.L + setting.mu)
    decrease = 1 - gradient_step_factor(gamma, setting.mu, setting.L)
    thetas = (1 / (1 + b + 2 * setting.omega_down) for _, b in message_variances(setting))
    pairs = ((theta, _largest_rho(theta, decrease, setting)) for theta in thetas)
    theta, rho = max(pairs, key=lambda pair: pair[0] * pair[1])
    p = min(1.0, math.sqrt(decrease / (theta * rho)))
    chi = theta * (1 + 2 * setting.omega) * rho
    return LoCoDLBothWays(gamma=gamma, chi=chi, rho=rho, p=p, omega=setting.omega)


def _largest_rho(theta: float, decrease: float, setting: Setting) -> float:
    """Return the largest rho of the theorem, with the p that goes with it."""
    omega_av, omega_down, variances = (
        setting.omega_av,
        setting.omega_down,
        message_variances(setting),
    )
    noise = (1 + omega_av) * omega_down
    for _ in range(BOUNDS):
        rho = min((2 - theta * (1 + b)) / (1 + a + noise) for a, b in variances)
        if not rho > 0:
            raise Refusal(
                f"no rho of the theorem is found for mu = {setting.mu!r} and L = {setting.L!r}, "
                "which are the same up to rounding; give a larger L/mu"
            )
        phi = 2 - theta - rho * min(1.0, math.sqrt(decrease / (theta * rho)))
        noise = server_noise(theta, phi, omega_av, omega_down)
    return rho


_NOISE = "(1 + omega/n)/alpha_down"

CARD = Card(
    LoCoDLBothWays,
    label="LoCoDL both ways",
    theorems=(_LocalTrainingBothWays(),),
    rules={"ours": _balanced},
    orders=Orders.of(
        f"sqrt((omega + 1/alpha_down)*{_NOISE}*kappa) + (omega + 1/alpha_down)*{_NOISE}",
        "sqrt((d + (1 + d/n)/alpha_down)*(1 + d/n)*kappa/alpha_down)"
        " + (d + (1 + d/n)/alpha_down)/alpha_down",
    ),
    bill=compressed_up,
    identities=(
        lambda c, n: (
            LoCoDLBothWays(0.9 / c.L, 0.8, 0.7, 0.4, 0.3),
            LoCoDL(0.9 / c.L, 0.8, 0.7, 0.4, 0.3),
        ),
    ),
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY, "omega": Role.CONSTANT},
    colour="#AA3377",
    marker="H",
)
