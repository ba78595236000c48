"""What a certificate ranges over: all functions of a class and all compressors of a class."""

from dataclasses import dataclass, replace
from fractions import Fraction

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.selection import RandK
from bitbound.theory.setting import Setting


@dataclass(frozen=True)
class FunctionClass:
    """All problems with n clients and all compressors of a class, in every dimension.

    Attributes
    ----------
    n : int
        Number of clients.
    mu, L : float
        Every f_i (and g, if there is one) is mu-strongly convex and L-smooth, 0 <= mu < L.
    omega : float
        Unbiased compressors: E|C(x) - x|^2 <= omega |x|^2.
    omega_joint : float, optional
        If the clients do not draw independently: E|mean noise|^2 <= omega_joint mean|x_i|^2.
    alpha : float, optional
        Contractive compressors: E|C(x) - x|^2 <= (1 - alpha) |x|^2.
    alpha_down : float, optional
        The same of the server's compressor; without it, what it broadcasts is not compressed.
    L_f : float, optional
        The average of the f_i is L_f-smooth; without it, L-smooth, which the f_i imply.

    Examples
    --------
    >>> from bitbound import DIANA, FunctionClass, Quadratic, Setting, compressor
    >>> problem = Quadratic.random(4, 6, mu=1.0, L=10.0)
    >>> FunctionClass.of(Setting.of(DIANA, problem, compressor("rand-k:2"))).omega
    2.0
    """

    n: int
    mu: float
    L: float
    omega: float = 0.0
    omega_joint: float | None = None
    alpha: float | None = None
    L_f: float | None = None
    alpha_down: float | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.n, int) and self.n >= 1):
            raise Refusal(f"n = {self.n!r} is no number of clients; give an integer of at least 1")
        if not 0 <= self.mu < self.L:
            raise Refusal(
                f"mu = {self.mu:g} and L = {self.L:g} describe no class of functions; "
                "give 0 <= mu < L"
            )
        if not self.omega >= 0:
            raise Refusal(f"omega = {self.omega:g} must be at least 0")
        if self.alpha is not None and not 0 < self.alpha <= 1:
            raise Refusal(f"alpha = {self.alpha:g} must be above 0 and at most 1")
        if self.alpha_down is not None and not 0 < self.alpha_down <= 1:
            raise Refusal(f"alpha_down = {self.alpha_down:g} must be above 0 and at most 1")
        if self.L_f is not None and not self.mu < self.L_f:
            raise Refusal(f"L_f = {self.L_f:g} must be above mu = {self.mu:g}")

    @classmethod
    def of(cls, setting: Setting) -> "FunctionClass":
        """Return the family that a setting belongs to; all clients get the largest L_i."""
        compressor, d = setting.compressor, setting.d
        L_f = setting.constants.L_f
        omega, joint, alpha = 0.0, None, None
        if compressor.unbiased:
            omega = compressor.omega(d)
            joint = compressor.omega_av(d, setting.n) if compressor.shared else None
            alpha = 1 - omega if omega < 1 else None
        else:
            alpha = compressor.alpha(d)
        return cls(
            setting.n,
            setting.mu,
            setting.L,
            omega=omega,
            omega_joint=joint,
            alpha=alpha,
            L_f=L_f if setting.mu < L_f < setting.L else None,
            alpha_down=setting.alpha_down if setting.alpha_down < 1 else None,
        )

    def in_units(self) -> "FunctionClass":
        """Return the class of the functions divided by L."""
        L_f = None if self.L_f is None else self.L_f / self.L
        return replace(self, mu=self.mu / self.L, L=1.0, L_f=L_f)

    @property
    def omega_av(self) -> float:
        """Relative variance of the mean of n compressed vectors: omega/n, or the joint one."""
        return self.omega / self.n if self.omega_joint is None else self.omega_joint

    @property
    def average_smoothness(self) -> float:
        """Smoothness of the average of the f_i."""
        return self.L if self.L_f is None else self.L_f


def rand_k_of(omega: float, least: int = 1) -> tuple[RandK, int]:
    """Return a rand-k with a relative variance, and the number d >= least of features it is for.

    omega = d/k - 1 is met to three decimal places; E|C(x) - x|^2 is omega |x|^2 for every x.
    """
    if not 0 <= omega < 1e6:
        raise Refusal(f"omega = {omega:g} is no relative variance; give one from 0 to 1e6")
    ratio = Fraction(1 + omega).limit_denominator(1000)
    k = -(-least // ratio.numerator) * ratio.denominator
    return RandK(k), int(k * ratio)
