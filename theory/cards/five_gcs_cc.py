"""5GCS-CC: the theorem with a checkable criterion for the local solves, and its parameters."""

import math
from collections.abc import Callable
from dataclasses import replace

from certibit.data.arrays import Array
from certibit.solvers.backend import squared_norm
from certibit.solvers.method import Functions
from certibit.solvers.methods.five_gcs_cc import FiveGCSCC, State
from certibit.theory.card import LOCAL_REALS, Card, Orders, Role
from certibit.theory.potential import ClassConstants, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.theorem import SLACK, Condition, Theorem


class _InexactSolves(Theorem):
    """5GCS-CC with full or partial participation; each f_i is mu-strongly convex and L-smooth.

    Let omega_av be the variance factor of the mean over a cohort, omega/C for independent
    compressors. If gamma tau n (1 + omega_av) <= 1/2 and every local solve meets the criterion of
    the method, which K >= :func:`enough_steps` ensures, then
    tau = max{1/(1 + gamma mu), 1 - (C/(n (1 + omega))) tau/(L_F + tau)} for Psi =
    (1/gamma) |x - x*|^2 + (n/C) (1 + omega) (1/tau + 1/L_F) sum_i |u_i - u_i*|^2, u_i* =
    grad F_i(x*). The method and the rate are those of Grudzien, Malinovsky, Richtarik,
    arXiv:2306.03240; proved by us with these constants.
    """

    method = FiveGCSCC
    title = "5GCS-CC, checkable criterion"
    published = False

    def conditions(self, m: FiveGCSCC, setting: Setting) -> tuple[Condition, ...]:
        noise = _cohort_noise(setting, m.cohort)
        return (
            Condition("0 < gamma", 0.0, m.gamma, strict=True),
            Condition("0 < tau", 0.0, m.tau, strict=True),
            Condition(
                "gamma tau n (1 + omega_av) <= 1/2", m.gamma * m.tau * setting.n * noise, 0.5
            ),
            Condition("0 < mu", 0.0, m.mu, strict=True),
            Condition("mu <= mu of every f_i", m.mu, setting.mu),
            Condition("(L - mu)/n <= L_F", (setting.L - m.mu) / setting.n, m.L_F),
            Condition("omega of the compressor <= omega", setting.omega, m.omega),
            Condition("1 <= cohort", 1, m.cohort),
            Condition("cohort <= n", m.cohort, setting.n),
            Condition("enough local steps <= K", enough_steps(m.L_F / m.tau), m.K),
        )

    def lyapunov(
        self, m: FiveGCSCC, s: State, star: State, setting: ClassConstants, problem: Functions
    ) -> Terms:
        dual = setting.n / m.cohort * (1 + m.omega) * (1 / m.tau + 1 / m.L_F)
        return Squares(1 / m.gamma, s.x - star.x), Squares(dual, s.u - star.u)

    def solved(self, m: FiveGCSCC, s: State, y: Array, gradient: Array) -> Array | None:
        if not m.adaptive:
            return None
        x = (s.x - m.gamma * s.v) / (1 + m.gamma * m.mu)
        change = (gradient - m.mu * y) / len(s.u) - s.u
        slope = change + m.tau * (y - x)
        return 2 * m.L_F * squared_norm(slope) <= m.tau * squared_norm(change)

    def rate(self, m: FiveGCSCC, setting: Setting) -> float:
        dual = m.cohort / setting.n / (1 + m.omega) * m.tau / (m.L_F + m.tau)
        return max(1 / (1 + m.gamma * m.mu), 1 - dual)


def enough_steps(k: float) -> int:
    """How many local steps ensure the criterion, for k = L_F/tau.

    ceil(ln((1 + k) sqrt(2 k) + k)/ln((1 + k)/k)), at least 0. It is proved where certificates ask
    the same of the curvatures of a class:
    :meth:`~certibit.theory.worlds.symbolic.local_solves.AccurateSolve.ratio`.
    """
    needed = math.log((1 + k) * math.sqrt(2 * k) + k) / math.log1p(1 / k)
    return max(0, math.ceil(needed))


def _cohort_noise(setting: Setting, cohort: int) -> float:
    return 1 + setting.compressor.omega_av(setting.d, cohort)


def _smoothness(setting: Setting) -> float:
    """Return (L - mu)/n, the smoothness of the F_i, kept above 0 for kappa = 1."""
    return max(setting.L - setting.mu, SLACK * setting.L) / setting.n


def _ours(setting: Setting, cohort: int | None = None) -> FiveGCSCC:
    """Balance the two parts of the rate, with as many local steps as the theorem asks for.

    gamma = 1/sqrt(2 mu (L - mu) (n/C) (1 + omega) (1 + omega_av)),
    tau = 1/(2 gamma n (1 + omega_av)). Without a cohort size, all clients take part.
    """
    n, mu = setting.n, setting.mu
    cohort = n if cohort is None else cohort
    noise = _cohort_noise(setting, cohort)
    spread = 2 * mu * n * _smoothness(setting) * n / cohort * (1 + setting.omega) * noise
    gamma = 1 / math.sqrt(spread)
    return _with_steps(setting, gamma, 1 / (2 * gamma * n * noise), cohort)


def _of_5gcs(setting: Setting, cohort: int | None = None) -> FiveGCSCC:
    """Return the parameters of 5GCS, arXiv:2212.14370, carried over to compressed messages by us.

    gamma = (3/16) sqrt(C/(L mu n (1 + omega) (1 + omega_av))), tau = 1/(2 gamma n (1 + omega_av)),
    K >= (2 L/(n tau) + 2) ln(4 L/mu). For uncompressed messages these are the published ones, with
    2 L/(n tau) = (3/4) sqrt((C/n) L/mu); with a compressor gamma is 3/16 where the rule ``ours``
    has 1/sqrt 2. The constants of 5GCS-CC itself are not available here.
    """
    n, kappa = setting.n, setting.kappa
    cohort = n if cohort is None else cohort
    noise = _cohort_noise(setting, cohort)
    spread = setting.L * setting.mu * n / cohort * (1 + setting.omega) * noise
    gamma = 3 / 16 / math.sqrt(spread)
    tau = 1 / (2 * gamma * n * noise)
    K = math.ceil((2 * setting.L / (n * tau) + 2) * math.log(4 * kappa))
    return replace(_with_steps(setting, gamma, tau, cohort), K=K)


def _adaptive(rule: Callable[..., FiveGCSCC]) -> Callable[..., FiveGCSCC]:
    """Take the parameters of a rule; each client stops as soon as the criterion holds."""

    def adaptive(setting: Setting, cohort: int | None = None) -> FiveGCSCC:
        return replace(rule(setting, cohort), adaptive=True)

    return adaptive


def _convex(setting: Setting, cohort: int | None = None) -> FiveGCSCC:
    """Take nothing out of the f_i, mu = 0, for convex f_i.

    gamma = 1/(2 L (1 + omega_av)), tau = 4 L/n, and one local step, K = 1. These are of no paper:
    with them descents are certified for all n, omega and cohorts that were tried.
    """
    n = setting.n
    cohort = n if cohort is None else cohort
    return FiveGCSCC(
        gamma=1 / (2 * setting.L * _cohort_noise(setting, cohort)),
        tau=4 * setting.L / n,
        mu=0.0,
        L_F=setting.L / n,
        omega=setting.omega,
        cohort=cohort,
        K=1,
    )


def _with_steps(setting: Setting, gamma: float, tau: float, cohort: int) -> FiveGCSCC:
    L_F = _smoothness(setting)
    return FiveGCSCC(
        gamma=gamma,
        tau=tau,
        mu=setting.mu,
        L_F=L_F,
        omega=setting.omega,
        cohort=cohort,
        K=enough_steps(L_F / tau),
    )


CARD = Card(
    FiveGCSCC,
    label="5GCS-CC",
    theorems=(_InexactSolves(),),
    rules={
        "ours": _ours,
        "ours-adaptive": _adaptive(_ours),
        "5gcs": _of_5gcs,
        "5gcs-adaptive": _adaptive(_of_5gcs),
        "convex": _convex,
    },
    orders=Orders.of("(1 + sqrt(omega) + omega/sqrt(n))*sqrt(kappa) + omega", LOCAL_REALS),
    bill=lambda m, n, vector, message: (m.cohort * message / n, m.cohort * vector / n),
    roles={
        "gamma": Role.STEP_SIZE,
        "mu": Role.CONSTANT,
        "L_F": Role.CONSTANT,
        "omega": Role.CONSTANT,
        "cohort": Role.COUNT,
        "K": Role.COUNT,
    },
    colour="#009E73",
    marker="D",
)
