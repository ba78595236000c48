"""LoCoDL: Theorem 3.1 and the parameters that it recommends."""

import math
from dataclasses import replace

from certibit.solvers.compressors.selection import RandK
from certibit.solvers.method import Functions
from certibit.solvers.methods.locodl import LoCoDL, State
from certibit.theory.card import LOCAL_REALS, Card, Orders, Role, compressed_up
from certibit.theory.formulas.coupling import Coupling, best_coupling, message_variances, unevenness
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem

TURNS = 60
"""How often lambda and p are computed from each other; each turn is within the theorem."""


class Theorem31(Theorem):
    """LoCoDL, Theorem 3.1 of arXiv:2403.04348; tight.

    If 0 < gamma < 2/L, 2 rho - rho^2 (1 + omega_av) - chi >= 0 and the compressors are in
    U(omega), then tau = max{(1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2 chi/(1 + 2 omega)}.
    L and mu are those of the f_i and of g. Psi = (1/gamma) (sum_i |x_i - x*|^2 + n |y - x*|^2)
    + (gamma (1 + 2 omega)/(p^2 chi)) (sum_i |u_i - u_i*|^2 + n |v - v*|^2), u_i* = grad f_i(x*),
    v* = grad g(x*).
    """

    method = LoCoDL
    title = "LoCoDL, Theorem 3.1"
    rocq = "LoCoDL.accuracy"

    def conditions(self, m: LoCoDL, setting: Setting) -> tuple[Condition, ...]:
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("gamma < 2/L", m.gamma, 2 / setting.L, strict=True),
            Condition("0 < p", 0.0, m.p, strict=True),
            Condition("p <= 1", m.p, 1.0),
            Condition("0 < chi", 0.0, m.chi, strict=True),
            Condition(
                "chi <= 2 rho - rho^2 (1 + omega_av)",
                m.chi,
                2 * m.rho - m.rho**2 * (1 + setting.omega_av),
            ),
            Condition("omega of the compressor <= omega", setting.omega, m.omega),
        )

    def lyapunov(
        self, m: LoCoDL, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        primal = 1 / m.gamma
        dual = m.gamma * (1 + 2 * m.omega) / (m.p**2 * m.chi)
        return (
            Squares(primal, s.x - star.x),
            Squares(primal * setting.n, s.y - star.y),
            Squares(dual, s.u - star.u),
            Squares(dual * setting.n, s.v - star.v),
        )

    def rate(self, m: LoCoDL, setting: Setting) -> float:
        gradient = gradient_step_factor(m.gamma, setting.mu, setting.L)
        return max(gradient, 1 - m.p**2 * m.chi / (1 + 2 * m.omega))


class Section31(Theorem31):
    """Section 3.1: the theorem for a problem without g, in the constants of its f_i.

    With g = (mu/4) |.|^2 taken out of every f_i, all functions are L - mu/2 smooth and mu/2 convex:
    a statement about views in which g is such a ridge, and not about any g of the class.
    """

    title = "LoCoDL, section 3.1 (g = 0)"
    rocq = "LoCoDLPlain.plain_accuracy"
    certified = False

    def conditions(self, m: LoCoDL, setting: Setting) -> tuple[Condition, ...]:
        L, _ = _without_g(setting)
        limit = Condition("gamma < 2/(L - mu/2) of the plain view", m.gamma, 2 / L, strict=True)
        first, _, *others = super().conditions(m, setting)
        ridge = equal("the modulus of g", "mu of the f_i", setting.constants.ridge, setting.mu)
        return (first, limit, *others, *ridge)

    def rate(self, m: LoCoDL, setting: Setting) -> float:
        L, mu = _without_g(setting)
        return max(gradient_step_factor(m.gamma, mu, L), 1 - m.p**2 * m.chi / (1 + 2 * m.omega))


class Corollary32(Theorem31):
    """Corollary 3.2: independent rand-k with k = ceil(d/n), and the order of reals (10).

    Beside the hypotheses of the theorem: gamma between 1/(2 L) and 2/L, which stands for
    Theta(1/L), chi = rho = n/(n - 1 + d/k), and p of equation (9).
    """

    title = "LoCoDL, Corollary 3.2"
    rocq = "LoCoDLRandK.corollary_accuracy"

    def conditions(self, m: LoCoDL, setting: Setting) -> tuple[Condition, ...]:
        n, d = setting.n, setting.d
        k = ceiling(d, n)
        rho = n / (n - 1 + d / k)
        return (
            *super().conditions(m, setting),
            Condition("1/(2 L) <= gamma", 1 / (2 * setting.L), m.gamma),
            Condition("the compressor is rand-k", 1.0, float(type(setting.compressor) is RandK)),
            Condition("compressors are independent", float(setting.compressor.shared), 0.0),
            *equal("omega", "d/ceil(d/n) - 1", setting.omega, d / k - 1),
            *equal("chi", "n/(n - 1 + d/k)", m.chi, rho),
            *equal("rho", "n/(n - 1 + d/k)", m.rho, rho),
            *equal("p", "p of (9)", m.p, probability_for_rand_k(n, d, k, setting.kappa)),
        )


class UnevenLoCoDL(Theorem31):
    """LoCoDL with the rate of Theorem 3.1 for rarer rounds: control variates have other weights.

    With c = chi/(1 + 2 omega) and eta = p c the condition on chi and rho is c (1 + b) <= 2 rho -
    rho^2 (1 + a) for all pairs (a, b) of :func:`message_variances`, and the weights in Psi are
    those of Theorem 3.1 times 1 - nu for the u_i and 1 + nu for v, nu of :func:`unevenness`.
    Proved by us.

    Notes
    -----
    Proof. Let z be the models and q the control variates times gamma, relative to the solution,
    |z|^2 = sum_i |z_i|^2 + n |z_y|^2, and h = z - gamma (grad F(x* + z) - grad F(x*)); |h|^2 <=
    max{(1 - gamma mu)^2, (1 - gamma L)^2} |z|^2. The disagreement s of h + q is s_A + s_B, among
    the clients and of their mean with y; so is q, which has no mean: gamma Psi = |z|^2 + Q with
    Q = ((1 - nu) |q_A|^2 + |q_B|^2)/(p eta). R of ``message_noise`` is |s_A|^2 + 2 |s_B|^2: the
    noise of a round is at most V R, where 2 V = rho^2 omega_av + c (2 (1 - nu) omega - (1 - 2 nu)
    omega_av), or the same with 0 for omega_av. As |s|^2 = |h|^2 + 2 <h, q> + |q|^2 in each part,

        gamma E[Psi+] <= |h|^2 + (1 - p eta) Q - nu |h_A|^2 - (k_A - nu) |s_A|^2 - k_B |s_B|^2,
        k_A = p (2 rho - rho^2 - (1 - nu) c - V),  k_B = p (2 rho - rho^2 - c - 2 V).

    With this nu, k_A - nu = k_B/2, and k_B/p = (1 + lambda)(2 rho - rho^2 - c) - rho^2 omega_av -
    c (2 omega - omega_av), which is not negative by the condition.
    """

    title = "LoCoDL, uneven weights"
    published = False

    def conditions(self, m: LoCoDL, setting: Setting) -> tuple[Condition, ...]:
        c = m.chi / (1 + 2 * m.omega)
        variances = message_variances(setting, m.p * c)
        kept = (one for one in super().conditions(m, setting) if "omega" not in one.statement)
        return (
            *kept,
            Condition(
                "chi/(1 + 2 omega) (1 + b) <= 2 rho - rho^2 (1 + a)",
                max(c * (1 + b) + m.rho**2 * a for a, b in variances),
                2 * m.rho - m.rho**2,
            ),
        )

    def lyapunov(
        self, m: LoCoDL, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        x, y, u, v = super().lyapunov(m, s, star, setting, problem)
        nu = unevenness(m.p, m.rho, m.p * m.chi / (1 + 2 * m.omega))
        return x, y, replace(u, weight=(1 - nu) * u.weight), replace(v, weight=(1 + nu) * v.weight)


class CoupledLoCoDL(Theorem31):
    """LoCoDL with models and control variates coupled: at least as fast as Theorem 3.1, to twice.

    For 0 < gamma < 2/L, whatever rho and chi are: Psi = (1/gamma) (sum_i |x_i - x* - beta gamma
    (u_i - u_i*)|^2 + n |y - x* - beta gamma (v - v*)|^2) + gamma (C - beta^2) (sum_i |u_i - u_i*|^2
    + n |v - v*|^2), and tau, beta and C of :func:`best_coupling` with eta = p chi/(1 + 2 omega).
    For ProxSkip such a function was published by Hu and Huang, "Tighter Analysis for ProxSkip",
    ICML 2023 (PMLR 202:13469). Proved by us for compressed messages, with 2 omega - omega_av, which
    is (2 - 1/n) omega for independent ones, in the place of the 2 omega of Theorem 3.1.
    """

    title = "LoCoDL, coupled potential"
    published = False

    def conditions(self, m: LoCoDL, setting: Setting) -> tuple[Condition, ...]:
        decrease = _coupling(m, setting).decrease
        kept = (c for c in super().conditions(m, setting) if "omega" not in c.statement)
        return (*kept, Condition("0 < 1 - tau", 0.0, decrease, strict=True))

    def lyapunov(
        self, m: LoCoDL, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        coupling, u, v = _coupling(m, setting), s.u - star.u, s.v - star.v
        primal, dual = 1 / m.gamma, m.gamma * (coupling.C - coupling.beta**2)
        return (
            Squares(primal, s.x - star.x - coupling.beta * m.gamma * u),
            Squares(primal * setting.n, s.y - star.y - coupling.beta * m.gamma * v),
            Squares(dual, u),
            Squares(dual * setting.n, v),
        )

    def rate(self, m: LoCoDL, setting: Setting) -> float:
        return 1 - _coupling(m, setting).decrease


def _coupling(m: LoCoDL, setting: ClassConstants) -> Coupling:
    eta, ends = m.p * m.chi / (1 + 2 * m.omega), (m.gamma * setting.mu, m.gamma * setting.L)
    return best_coupling(*ends, m.p, m.rho, eta, message_variances(setting))


def ceiling(d: int, n: int) -> int:
    """Return d/n, rounded up."""
    return -(-d // n)


def equal(name: str, formula: str, left: float, right: float) -> tuple[Condition, Condition]:
    """Return an equation as two conditions; a rounding error is allowed."""
    return (
        Condition(f"{name} <= {formula}", left, right),
        Condition(f"{formula} <= {name}", right, left),
    )


def relaxation(omega_av: float) -> float:
    """Equation (6): chi = rho = 1/(1 + omega_av), the rho with the largest chi."""
    return 1 / (1 + omega_av)


def iterations(kappa: float, omega: float, omega_av: float, p: float) -> float:
    """Equation (7): kappa + (1 + omega_av)(1 + omega)/p^2 iterations in leading order."""
    return kappa + (1 + omega_av) * (1 + omega) / p**2


def probability(omega: float, omega_av: float, kappa: float) -> float:
    """Equation (8): p = min{sqrt((1 + omega_av)(1 + omega)/kappa), 1}."""
    return min(math.sqrt((1 + omega_av) * (1 + omega) / kappa), 1.0)


def probability_for_rand_k(n: int, d: int, k: int, kappa: float) -> float:
    """Equation (9): p = min{sqrt((d k (n - 1) + d^2)/(n k^2 kappa)), 1}, (8) for rand-k."""
    return min(math.sqrt((d * k * (n - 1) + d**2) / (n * k**2 * kappa)), 1.0)


def reals(n: int, d: int, kappa: float) -> float:
    """Equation (10): sqrt(d kappa) + d sqrt(kappa)/sqrt(n) + d reals in leading order."""
    return math.sqrt(d * kappa) + d * math.sqrt(kappa / n) + d


def without_g(L: float, mu: float) -> tuple[float, float]:
    """Section 3.1: L - mu/2 and mu/2, the constants of f_i - (mu/4) |.|^2 and (mu/4) |.|^2."""
    return L - mu / 2, mu / 2


def _without_g(setting: Setting) -> tuple[float, float]:
    return without_g(*_plain(setting))


def _plain(setting: Setting) -> tuple[float, float]:
    """Return L and mu of the plain view: g is put back into the f_i."""
    ridge = setting.constants.ridge
    return setting.L + ridge, setting.mu + ridge


def _published(setting: Setting) -> LoCoDL:
    """Corollary 3.2: gamma = 1/L, chi = rho of (6), p of (8), which is (9) for rand-k.

    The corollary asks for gamma = Theta(1/L); 1/L is taken.
    """
    rho = relaxation(setting.omega_av)
    p = probability(setting.omega, setting.omega_av, setting.kappa)
    return LoCoDL(gamma=1 / setting.L, chi=rho, rho=rho, p=p, omega=setting.omega)


def _balanced(setting: Setting) -> LoCoDL:
    """Take gamma = 2/(L + mu), and p such that both parts of the rate are equal.

    p = min{1, sqrt((1 - tau_0)(1 + a)(1 + b))} with tau_0 = (1 - gamma mu)^2, rho = 1/(1 + a) and
    chi = (1 + 2 omega)/((1 + a)(1 + b)), for a = omega_av/(1 + lambda), b = (2 omega -
    omega_av)/(1 + lambda): the rarest rounds of the theorem with uneven weights. lambda depends on
    p, and grows from 0 on. For shared messages the second pair of variances asks for no more.
    """
    gamma = 2 / (setting.L + setting.mu)
    decrease, eta = 1 - gradient_step_factor(gamma, setting.mu, setting.L), 0.0
    for _ in range(TURNS):
        a, b = message_variances(setting, eta)[0]
        p = min(1.0, math.sqrt(decrease * (1 + a) * (1 + b)))
        eta = p / ((1 + a) * (1 + b))
    chi = (1 + 2 * setting.omega) * eta / p
    return LoCoDL(gamma=gamma, chi=chi, rho=1 / (1 + a), p=p, omega=setting.omega)


CARD = Card(
    LoCoDL,
    label="LoCoDL",
    theorems=(UnevenLoCoDL(), Theorem31(), Section31(), Corollary32(), CoupledLoCoDL()),
    rules={"published": _published, "ours": _balanced},
    orders=Orders.of(
        "(1 + sqrt(omega) + omega/sqrt(n))*sqrt(kappa) + omega*(1 + omega/n)", LOCAL_REALS
    ),
    bill=compressed_up,
    roles={"gamma": Role.STEP_SIZE, "p": Role.PROBABILITY, "omega": Role.CONSTANT},
    colour="#D55E00",
    marker="o",
)
