"""The class of a certificate: all functions and all compressors with given constants."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import plain_numbers
from certibit.data.errors import Refusal
from certibit.data.numbers import exactly
from certibit.solvers.compressors.composition import downward
from certibit.solvers.method import Method
from certibit.theory.assumptions.assumption import Assumption, MeanSmoothness, is_constant
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.setting import Setting


@dataclass(frozen=True)
class ClientClass:
    """Clients with functions and compressors of the same class.

    Attributes
    ----------
    count : int
        The number of these clients.
    mu, L : float
        Their f_i are mu-strongly convex and L-smooth, mu < L; weakly convex where mu < 0.
    omega, alpha
        Of their compressors, as in :class:`FunctionClass`.

    Examples
    --------
    >>> from certibit import ClientClass, FunctionClass
    >>> rough, smooth = ClientClass(1, mu=1.0, L=100.0), ClientClass(9, mu=1.0, L=10.0)
    >>> FunctionClass.of_classes([rough, smooth]).n
    10
    """

    count: int
    mu: float
    L: float
    omega: float = 0.0
    alpha: float | None = None

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not (isinstance(self.count, int) and self.count >= 1):
            raise Refusal(
                f"a class of {self.count!r} clients is none; give an integer of at least 1"
            )
        _require_curvature(self.mu, self.L)
        _require_compression(omega=self.omega)
        _require_contraction(alpha=self.alpha)

    @property
    def described(self) -> str:
        """The class in words."""
        alpha = "" if self.alpha is None else f", alpha = {exactly(self.alpha)}"
        omega = f", omega = {exactly(self.omega)}" if self.omega else ""
        curves = f"mu = {exactly(self.mu)}, L = {exactly(self.L)}"
        return f"{self.count} of the f_i with {curves}{omega}{alpha}"


def _require_curvature(mu: Any, L: Any) -> None:
    """Refuse constants of no class of functions."""
    unbounded = isinstance(mu, float) and math.isinf(mu)
    if unbounded or not (mu < L and L > 0):
        raise Refusal(
            f"mu = {mu:g} and L = {L:g} describe no class of functions; give mu < L and L > 0"
        )


def _require_compression(**constants: Any) -> None:
    """Refuse relative variances of compressors, by name, that are negative."""
    for name, omega in constants.items():
        if not (omega is None or omega >= 0):
            raise Refusal(f"{name} = {omega:g} must be at least 0")


def _require_contraction(**constants: Any) -> None:
    """Refuse constants of contractions, by name, that are none."""
    for name, alpha in constants.items():
        if alpha is not None and not 0 < alpha <= 1:
            raise Refusal(f"{name} = {alpha:g} must be above 0 and at most 1")


def _ends_of_groups(sizes: Sequence[float], groups: int) -> tuple[int, ...]:
    """Return where groups of ascending sizes end so that the sum of the largest is the least.

    Every member counts as the largest of its group.

    Examples
    --------
    >>> _ends_of_groups([1.0, 1.0, 5.0, 6.0], 2)
    (2, 4)
    """
    none: tuple[int, ...] = ()
    best = [(0.0, none)] + [(math.inf, none)] * len(sizes)
    for _ in range(groups):  # best[k]: the least sum for the first k
        best = [
            min(
                ((best[j][0] + (k - j) * sizes[k - 1], (*best[j][1], k)) for j in range(k)),
                default=(math.inf, none),
            )
            for k in range(len(sizes) + 1)
        ]
    return best[-1][1]


@dataclass(frozen=True)
class FunctionClass:
    """All problems with n clients and all compressors of a class, in every dimension.

    Attributes
    ----------
    n : int
        Number of clients.
    mu, L : float
        Every f_i (and g, if there is one) is mu-strongly convex and L-smooth: f_i - (mu/2) |x|^2 is
        convex and (L - mu)-smooth, mu < L. With mu < 0 functions need not be convex nor have a
        solution, only an infimum; -L is no more than L-smoothness.
    omega : float
        Unbiased compressors: E|C(x) - x|^2 <= omega |x|^2.
    omega_joint : float, optional
        If the clients do not draw independently: E|mean noise|^2 <= omega_joint mean|x_i|^2.
    alpha : float, optional
        Contractive compressors: E|C(x) - x|^2 <= (1 - alpha) |x|^2.
    L_f : float, optional
        The average of the f_i is L_f-smooth; without it, L-smooth, which the f_i imply.
    alpha_down : float, optional
        The alpha of a contractive compressor of the server; 1 if its messages are exact.
    omega_down : float
        The omega of an unbiased compressor of the server.
    deterministic : bool
        Whether contractive compressors are deterministic, as top-k is, so that equal vectors have
        equal errors.
    classes : tuple of ClientClass
        The classes of clients that differ, as made by :meth:`of_classes`; mu, L, omega and alpha
        are then the worst over the classes, and apply to g.
    assumptions : tuple of Assumption
        What is assumed besides, such as similarity of the f_i.
    noise : GradientNoise, optional
        That of gradients; without it they are exact.
    bias : float, optional
        Compressors of a bias and a variance, where contractions are needed: |E C(x) - x| <=
        bias |x| and E|C(x) - E C(x)|^2 <= omega |x|^2 (Condat, Li, Richtarik, arXiv:2205.04180).
        Then alpha follows: 1 - bias^2 - omega if that is above 0.

    Examples
    --------
    >>> from certibit import DIANA, FunctionClass, Quadratic, Setting, compressor
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
    omega_down: float = 0.0
    deterministic: bool = False
    classes: tuple[ClientClass, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    noise: GradientNoise | None = None
    bias: float | None = None

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not (isinstance(self.n, int) and self.n >= 1):
            raise Refusal(f"n = {self.n!r} is no number of clients; give an integer of at least 1")
        _require_curvature(self.mu, self.L)
        _require_compression(
            omega=self.omega, omega_down=self.omega_down, omega_joint=self.omega_joint
        )
        _require_contraction(alpha=self.alpha, alpha_down=self.alpha_down)
        if self.bias is not None:
            object.__setattr__(self, "alpha", self._contraction_of(self.bias))
        if self.L_f is not None and not self.average_convexity < self.L_f:
            raise Refusal(f"L_f = {self.L_f:g} must be above mu = {self.average_convexity:g}")
        if not isinstance(self.assumptions, tuple):
            raise Refusal(
                f"assumptions = {self.assumptions!r} is no tuple; give one, such as "
                "(Similarity(0.1),)"
            )
        if not isinstance(self.noise, GradientNoise | None):
            raise Refusal(f"noise = {self.noise!r} is no GradientNoise; give GradientNoise()")
        self._require_all_in_classes()
        self._require_possible_assumptions()

    def _require_possible_assumptions(self) -> None:
        """Refuse what is no assumption, one that no function satisfies, and two zetas."""
        for one in self.assumptions:
            if not isinstance(one, Assumption):
                raise Refusal(
                    f"{one!r} is no assumption; give one, such as Similarity(0.1), or one of your "
                    "own with the base Assumption"
                )
            Assumption.__post_init__(one)  # which an own one may leave out
            one.require_possible(self.average_smoothness)
        if len(self._zetas) > 1:
            raise Refusal(
                f"assumptions with zeta = {', '.join(f'{zeta:g}' for zeta in sorted(self._zetas))} "
                "leave open which one e' zeta^2 is about; give all of them one zeta"
            )

    def _require_all_in_classes(self) -> None:
        """Refuse a number of clients, or constants, that are not those of the classes."""
        count = sum(one.count for one in self.classes)
        if self.classes and count != self.n:
            raise Refusal(
                f"n = {self.n} is not the number of clients of the classes, {count}; make the "
                "class with FunctionClass.of_classes"
            )
        for one in self.classes:
            kept = self.mu <= one.mu and one.L <= self.L and one.omega <= self.omega
            if self.alpha is not None and self.bias is None:
                kept = kept and one.alpha is not None and self.alpha <= one.alpha
            if not kept:
                raise Refusal(
                    f"{one!r} is not in the class with mu = {self.mu:g}, L = {self.L:g}, omega = "
                    f"{self.omega:g} and alpha = {self.alpha}; take FunctionClass.of_classes"
                )

    def _contraction_of(self, bias: float) -> float | None:
        """Return alpha of compressors of a bias and the variance omega; None if it is not above 0.

        Raises
        ------
        Refusal
            If the bias is none.
        """
        possible = is_constant(bias) and bias < 1
        if not possible:
            raise Refusal(f"bias = {bias!r} of compressors; give one of at least 0 and below 1")
        left = 1 - bias**2 - self.omega
        return left if left > 0 else None

    @classmethod
    def nonconvex(cls, n: int, L: float, L_tilde: float | None = None, **constants: Any) -> Self:
        """Return the family of n smooth functions whose average is bounded from below.

        Parameters
        ----------
        L : float
            The smoothness of the average.
        L_tilde : float, optional
            (1/n) sum_i |grad f_i(x) - grad f_i(y)|^2 <= L_tilde^2 |x - y|^2; without it, every f_i
            is L-smooth.
        constants
            Of the compressors, and further assumptions.

        Examples
        --------
        >>> from certibit import FunctionClass
        >>> FunctionClass.nonconvex(10, L=1.0, alpha=0.5).has_solution
        False
        """
        if L_tilde is None:
            return cls(n, -L, L, **constants)
        own = (math.isqrt(n) + 1) * L_tilde  # of every f_i
        more = (MeanSmoothness(L_tilde), *constants.pop("assumptions", ()))
        return cls(n, -own, own, L_f=min(L, own), assumptions=more, **constants)

    @property
    def _zetas(self) -> set[float]:
        """The zeta of the assumptions that bound something up to a constant."""
        return {getattr(one, "zeta", 1.0) for one in self.assumptions if one.has_constant}

    @property
    def has_solution(self) -> bool:
        """Whether the functions have a solution: convex ones, and those assumed to have one."""
        return self.mu >= 0 or any(one.needs_solution for one in self.assumptions)

    @property
    def zeta(self) -> float:
        """The zeta of the assumptions that bound something up to a constant; 0 if none."""
        return max(self._zetas, default=0.0)

    @property
    def has_variance(self) -> bool:
        """Whether a promise has a constant part: of noise, or of an assumption."""
        return self.noise is not None or bool(self.zeta)

    @property
    def plain_values(self) -> bool:
        """Whether unknown function values are of the f_i, not of the f_i - (mu/2) |x - x*|^2."""
        return self.mu < 0

    def require_solution(self) -> None:
        """Refuse functions without a solution, and noise, where an exact factor is asked for."""
        if not self.has_solution:
            raise Refusal(
                "functions that need not be convex, mu < 0, have no solution that this could be "
                "about; certify one step"
            )
        if self.has_variance:
            raise Refusal(
                "with stochastic gradients no factor is certified without sigma^2; certify one "
                "step, or leave noise and zeta out"
            )

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the family that a setting belongs to; all clients get the largest L_i."""
        compressor, down, d = setting.compressor, downward(setting.compressor), setting.d
        mu, L_f, L_tilde = (getattr(setting.constants, name) for name in ("mu", "L_f", "L_tilde"))
        omega, joint, alpha = 0.0, None, None
        omega_down = down.omega(d) if down.unbiased else 0.0
        alpha_down = 1 - omega_down if down.unbiased else down.alpha(d)
        bias = None
        if setting.by_variance:
            bias, omega, average = setting.bias_and_variance
            joint = average if compressor.shared else None
        elif compressor.unbiased:
            omega = compressor.omega(d)
            joint = compressor.omega_av(d, setting.n) if compressor.shared else None
            alpha = 1 - omega if omega < 1 else None
        else:
            alpha = compressor.alpha(d)
        smooth = (MeanSmoothness(L_tilde),) if mu < 0 and L_tilde < setting.L else ()
        return cls(
            setting.n,
            mu,
            setting.L,
            omega=omega,
            omega_joint=joint,
            alpha=alpha,
            L_f=L_f if mu < L_f < setting.L else None,
            alpha_down=alpha_down if alpha_down > 0 else None,
            omega_down=omega_down,
            deterministic=setting.deterministic,
            assumptions=smooth,
            bias=bias,
        )

    @classmethod
    def of_groups(cls, setting: Setting, groups: int) -> Self:
        """Return the family of a setting, its clients grouped by their L_i.

        Each group gets the largest L_i in it; the groups are those of the sorted L_i with the least
        sum of these. A method with a parameter of every client, such as GradSkip, is certified as
        made for the setting :meth:`~certibit.theory.setting.Setting.by_smoothness`.

        Raises
        ------
        Refusal
            If there are not so many clients, or their compressors share their randomness.

        Examples
        --------
        >>> from certibit import GD, FunctionClass, Quadratic, Setting
        >>> problem = Quadratic.random(6, 4, mu=1.0, L=10.0)
        >>> len(FunctionClass.of_groups(Setting.of(GD, problem), 2).kinds)
        2
        """
        alike, found = cls.of(setting), np.sort(np.asarray(setting.constants.L_i))
        if not 1 <= groups <= len(found):
            raise Refusal(f"{groups} groups of {len(found)} clients; give 1 to {len(found)}")
        if groups == 1:
            return alike
        if alike.omega_joint is not None:
            raise Refusal(
                f"{setting.compressor.name} shares its randomness between the clients, which "
                "cannot be certified for clients that differ; give 1 group"
            )
        ends = _ends_of_groups(found.tolist(), groups)
        return cls.of_classes(
            [
                ClientClass(b - a, alike.mu, float(found[b - 1]), alike.omega, alike.alpha)
                for a, b in zip((0, *ends), ends, strict=False)
                if b > a
            ],
            L_f=alike.L_f,
            alpha_down=alike.alpha_down,
            omega_down=alike.omega_down,
            deterministic=alike.deterministic,
        )

    @classmethod
    def of_classes(
        cls,
        classes: Iterable[ClientClass],
        L_f: float | None = None,
        alpha_down: float | None = None,
        omega_down: float = 0.0,
        deterministic: bool = False,
    ) -> Self:
        """Return the family of problems whose clients are of given classes."""
        given = tuple(classes)
        if not given:
            raise Refusal("no class of clients is given; give at least one")
        alphas = [one.alpha for one in given if one.alpha is not None]
        return cls(
            sum(one.count for one in given),
            min(one.mu for one in given),
            max(one.L for one in given),
            omega=max(one.omega for one in given),
            alpha=min(alphas) if len(alphas) == len(given) else None,
            L_f=L_f,
            alpha_down=alpha_down,
            omega_down=omega_down,
            deterministic=deterministic,
            classes=given,
        )

    @property
    def kinds(self) -> tuple[ClientClass, ...]:
        """The classes of the clients: one if they do not differ."""
        alike = ClientClass(self.n, self.mu, self.L, self.omega, self.alpha)
        return self.classes or (alike,)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of clients of each kind."""
        return tuple(int(one.count) for one in self.kinds)

    @cached_property
    def kind_of_client(self) -> NDArray[np.intp]:
        """The number of the class of every client, (n,)."""
        return np.repeat(np.arange(len(self.kinds)), self.counts)

    def contraction(self, kind: int) -> float:
        """Return alpha of the clients of a kind, or of the server, whose kind is -1."""
        alpha = self.alpha_down if kind < 0 else self.kinds[kind].alpha
        if kind >= 0 and self.bias is not None:
            alpha = 1 - self.bias**2
        return 1.0 if alpha is None else alpha

    def curvature(self, kind: int) -> tuple[float, float]:
        """Return mu and L of the clients of a kind, or of g, whose kind is -1."""
        return (self.mu, self.L) if kind < 0 else (self.kinds[kind].mu, self.kinds[kind].L)

    def contracting(self, alpha: float) -> Self:
        """Return the class with messages of B(alpha) in the place of its compressors."""
        classes = tuple(replace(one, omega=0.0, alpha=alpha) for one in self.classes)
        return replace(
            self,
            omega=0.0,
            omega_joint=None,
            alpha=alpha,
            deterministic=False,
            classes=classes,
            bias=None,
        )

    def in_units(self, unit: float) -> Self:
        """Return the class of the functions divided by a unit."""
        return replace(
            self,
            mu=self.mu / unit,
            L=self.L / unit,
            L_f=None if self.L_f is None else self.L_f / unit,
            classes=tuple(replace(one, mu=one.mu / unit, L=one.L / unit) for one in self.classes),
            assumptions=tuple(one.in_units(unit) for one in self.assumptions),
            noise=self.noise and self.noise.in_units(unit),
        )

    def described_for(self, method: Method) -> str:
        """Return the class over which a method is certified in words."""
        down = method.needs.downlink
        contracted = method.needs.compressor == "contractive"
        told = {"alpha_down": down == "contractive", "omega_down": down == "unbiased"}
        told |= {"alpha": contracted, "omega": not contracted or self.bias is not None}
        constants = ", ".join(
            f"{field.name} = {exactly(value)}"
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), int | float)
            and field.name != "deterministic"
            and told.get(field.name, True)
        )
        constants += ", deterministic contractions" * self.deterministic
        shared = method.needs.shared_minimiser and self.n > 1 and self.has_solution
        constants += ", one minimiser of all f_i" * shared
        constants += ", g with the same mu and L" * method.needs.composite
        classes = [one.described for one in self.classes]
        more = [*self.assumptions, *filter(None, [self.noise])]
        return ", ".join([f"all functions with {constants}", *classes, *map(repr, more)])

    @property
    def omega_av(self) -> float:
        """Relative variance of the mean of n compressed vectors: omega/n, or the joint one."""
        return self.omega / self.n if self.omega_joint is None else self.omega_joint

    @property
    def bias_and_variance(self) -> tuple[float, float, float]:
        """The eta, omega and omega_av of the compressors about their mean.

        Without a bias those of contractions, sqrt(1 - alpha) and 0.
        """
        if self.bias is not None:
            return self.bias, self.omega, self.omega_av
        return math.sqrt(1 - self.contraction(0)), 0.0, 0.0

    @property
    def expected(self) -> float:
        """Expected smoothness A of convex samples; 0 of exact gradients."""
        return (self.noise and self.noise.expected) or 0.0

    @property
    def independent(self) -> bool:
        """Whether the clients draw independently."""
        return self.n == 1 or self.omega_joint is None

    @property
    def average_convexity(self) -> float:
        """Strong convexity of the average of the f_i, at least minus its smoothness."""
        mean = self.mu
        if self.classes:
            mean = sum(one.count * one.mu for one in self.classes) / self.n
        return mean if mean >= 0 else max(mean, -self.average_smoothness)

    @property
    def average_smoothness(self) -> float:
        """Smoothness of the average of the f_i."""
        if self.L_f is not None:
            return self.L_f
        return sum(one.count * one.L for one in self.kinds) / self.n
