"""Theorems as objects: hypotheses with margins, the potential, and what is promised of it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.potential import ClassConstants, Gap, Terms
from certibit.theory.setting import Setting
from certibit.theory.verdict import readable, readable_factor, written

SLACK = 1e-12
"""Relative slack of a condition that is met with equality in exact arithmetic."""

EXACT = "gradients are exact: sigma <= 0"
"""The last hypothesis of a theorem without noise: where it fails, all others hold."""

STATUSES = "kernel", "certificate", "by hand"
"""What stands behind a theorem, the strongest first."""

MEASURES = "potential", "gap", "squared_gradient", "gradient_norm"
"""What a theorem may be about: Psi itself, f - f*, |grad f|^2, or |grad f|."""

MOST_STEPS = 1e18
"""No bound on a run is followed further."""


@dataclass(frozen=True)
class Condition:
    """One hypothesis ``left <= right`` (or ``<``) of a theorem, evaluated.

    Attributes
    ----------
    statement : str
        The inequality in symbols, such as "gamma < 2/L".
    left, right : float
        Its two sides.
    strict : bool
        Whether equality fails.

    Examples
    --------
    >>> from certibit import Condition
    >>> condition = Condition("gamma < 2/L", left=0.1, right=0.2, strict=True)
    >>> condition.holds, condition.used
    (True, 0.5)
    """

    statement: str
    left: float
    right: float
    strict: bool = False

    @property
    def holds(self) -> bool:
        """Whether the inequality holds, up to rounding where it is not strict."""
        if self.strict:
            return self.left < self.right
        slack = SLACK * max(abs(self.left), abs(self.right))
        return self.left <= self.right + slack

    def then(self, value: Callable[[], float], otherwise: float) -> float:
        """Return a value that makes sense only where the condition holds, or another one."""
        return value() if self.holds else otherwise

    @property
    def used(self) -> float:
        """The ratio left/right, 1 at the limit (for positive sides)."""
        return self.left / self.right if self.right else math.inf * (self.left > 0)


@dataclass(frozen=True)
class ContractionPromise:
    """E[Psi+] <= factor Psi + e sigma^2.

    sigma^2 is the variance of stochastic gradients; e = 0 if they are exact. Then E[Psi] after T
    steps is at most factor^T Psi_0 + e sigma^2/(1 - factor).

    Examples
    --------
    >>> round(ContractionPromise(0.5).rounds_to(1 / 1024), 9)
    10.0
    >>> round(ContractionPromise(0.5, e=0.25).rounds_to(3 / 1024, variance=1 / 256), 9)
    10.0
    """

    factor: float
    e: float = 0.0

    measure: ClassVar[str] = "potential"

    def rounds_to(self, accuracy: float, start: float = 1.0, variance: float = 0.0) -> float:
        """Return how many steps bring E[Psi] from ``start`` to an accuracy.

        It is infinite if the noise of gradients with a variance sigma^2 alone is larger.
        """
        if self.factor >= 1:
            return math.inf
        if self.e:
            accuracy -= self.e * variance / (1 - self.factor)
        if accuracy <= 0:
            return math.inf
        if self.factor <= 0:
            return 1.0
        return math.log(start / accuracy) / -math.log(self.factor) if start > accuracy else 0.0

    def __str__(self) -> str:
        noise = f", plus {_shown(self.e, up=True)} sigma^2" if self.e else ""
        decrease = 1 - self.factor
        if abs(decrease - float(f"{decrease:.6g}")) > _ROUNDING:
            return f"factor {readable_factor(Fraction(decrease), 6)}{noise}"
        return f"factor {readable_factor(decrease, 6)}{noise}"


@dataclass(frozen=True)
class DescentPromise:
    """E[Psi+] <= (1 + growth) Psi - c M + e sigma^2, for a measure M of the model before the step.

    Where clients differ, ``dissimilarity`` times zeta^2 is added, with a bound zeta^2 of
    (1/n) sum_i |grad f_i(x) - grad f(x)|^2 at the model.

    sigma^2 is the variance of stochastic gradients; e = 0 if they are exact. Without growth the
    mean of E[M] over T steps is at most Psi_0/(c T) + (e/c) sigma^2. With growth it is the
    mean with weights (1 + growth)^-t, and T is the sum of the (1 + growth)^-(t + 1) (Khaled,
    Richtarik, arXiv:2002.03329, Theorem 2); it stays below 1/growth.

    Examples
    --------
    >>> DescentPromise(0.25).rounds_to(0.01, start=2.0)
    800.0
    >>> DescentPromise(0.25, e=0.001).rounds_to(0.01, start=2.0, variance=1.0)
    1333.3333333333333
    """

    c: float
    e: float = 0.0
    growth: float = 0.0
    measure: str = "squared_gradient"
    dissimilarity: float = 0.0

    def rounds_to(
        self,
        accuracy: float,
        start: float = 1.0,
        variance: float = 0.0,
        zeta_squared: float = math.inf,
    ) -> float:
        """Return how many steps bring the mean of M to an accuracy, from Psi = ``start``.

        It is infinite if the noise of gradients with a variance sigma^2 alone is larger, or what
        clients differ, of which no bound may be known.
        """
        left = self.c * accuracy - (self.e * variance if self.e else 0.0)
        left -= self.dissimilarity * zeta_squared if self.dissimilarity else 0.0
        if not (self.c > 0 and left > 0):
            return math.inf
        if not self.growth:
            return start / left
        part = self.growth * start / left  # T is -log(1 - part)/log(1 + growth)
        return -math.log1p(-part) / math.log1p(self.growth) if part < 1 else math.inf

    def __str__(self) -> str:
        grown = f"(1 + {_shown(self.growth, up=True)}) " if self.growth else ""
        noise = f" + {_shown(self.e, up=True)} sigma^2" if self.e else ""
        if self.dissimilarity:
            noise += f" + {_shown(self.dissimilarity, up=True)} zeta^2"
        measure = "(f - f*)" if self.measure == "gap" else "|grad f|^2"
        return f"E[Psi+] <= {grown}Psi - {_shown(self.c)} {measure}{noise}"


@dataclass(frozen=True)
class RunPromise:
    """E[f(x_T)] - f* <= Psi_0/w(T) after T >= 1 steps, for a polynomial w that increases.

    Attributes
    ----------
    weight : tuple of float
        The coefficients of w, that of T^0 first; none is negative.

    Examples
    --------
    >>> promise = RunPromise((2.0, 4.0))  # gradient descent with gamma = 1/L, L = 1
    >>> promise.bound(2, start=1.0), promise.rounds_to(0.1), promise.rounds_to(0.001)
    (0.1, 2.0, 250.0)
    """

    weight: tuple[float, ...]

    measure: ClassVar[str] = "gap"

    def bound(self, steps: float, start: float = 1.0) -> float:
        """Return the bound on E[f(x_T)] - f* after T steps from Psi = ``start``."""
        return start / sum(w * steps**k for k, w in enumerate(self.weight))

    def rounds_to(self, accuracy: float, start: float = 1.0, variance: float = 0.0) -> float:
        """Return the fewest steps after which the bound is at most an accuracy."""
        low, high = 0.0, 1.0
        while self.bound(high, start) > accuracy:
            low, high = high, 2 * high
            if high > MOST_STEPS:
                return math.inf
        while high > low + 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.bound(middle, start) <= accuracy else (middle, high)
        return high

    def __str__(self) -> str:
        powers = ("", " T", *(f" T^{k}" for k in range(2, len(self.weight))))
        pairs = zip(self.weight, powers, strict=False)
        terms = (f"{_shown(w)}{power}" for w, power in pairs if w)
        return f"E[f(x_T)] - f* <= Psi_0/({' + '.join(terms)})"


@dataclass(frozen=True)
class NormPromise:
    """E[Psi+] <= Psi - c H(|grad f(x)|) with H(G) = max {s G - s^2/(4 eta): least <= s <= most}.

    ``eta`` is a step size and s a length. With least = 0, H is Huber's function: eta G^2 up to
    G = most/(2 eta), and a line beyond. As H is convex, the mean of E|grad f| over T iterates, G,
    has c T H(G) <= Psi_0. Above 0, ``least`` is what the noise of gradients costs: H may be
    negative.

    Examples
    --------
    >>> promise = NormPromise(c=0.5, eta=0.25, most=0.25)  # clipped gradient descent, eta = gamma
    >>> promise.decrease(0.1) == 0.5 * 0.25 * 0.1**2, promise.decrease(2.0)
    (True, 0.21875)
    >>> round(promise.rounds_to(0.1**2, start=1.0))
    800
    """

    c: float
    eta: float
    most: float
    least: float = 0.0

    measure: ClassVar[str] = "squared_gradient"
    e: ClassVar[float] = 0.0
    """The noise is part of what is promised."""

    def decrease(self, norm: float) -> float:
        """Return c H(G), the least mean decrease of Psi where |grad f(x)| = ``norm`` = G."""
        s = max(self.least, min(2 * self.eta * norm, self.most))
        return self.c * (s * norm - s**2 / (4 * self.eta))

    def rounds_to(self, accuracy: float, start: float = 1.0, variance: float = 0.0) -> float:
        """Return how many iterates have a mean of E|grad f| whose square is at most an accuracy.

        It is infinite if the noise alone is larger.
        """
        left = self.decrease(math.sqrt(accuracy))
        return start / left if left > 0 else math.inf

    def __str__(self) -> str:
        least, most = _shown(self.least, up=True), _shown(self.most)
        line = f"s |grad f| - s^2/{_shown(4 * self.eta)}"
        return f"E[Psi+] <= Psi - {_shown(self.c)} ({line}) for every s from {least} to {most}"


_ROUNDING = 4e-16
"""Of 1 - factor."""


def _shown(x: float, *, up: bool = False) -> str:
    """Write what is promised with six digits, rounded so that no more is said, but for rounding."""
    near = readable(x, 6)
    if not math.isfinite(x) or abs(float(near) - x) <= SLACK * abs(x):
        return near
    return written(Fraction(x), 6, up=up)


AnyPromise = ContractionPromise | DescentPromise | NormPromise | RunPromise
"""What a theorem promises: of one step, a factor or a descent; or a bound after a whole run."""


class Theorem(ABC):
    """A theorem about the convergence of a method, published or proved by us.

    By its measure it is about one step: E[Psi+] <= tau Psi + e sigma^2 for "potential"; for the
    others E[Psi+] <= Psi - c M + e sigma^2, with M = f(x) - f* for "gap", where the f_i are convex,
    and M = |grad f(x)|^2 for "squared_gradient", where f need not be convex and f - inf f at the
    model has weight 1 in Psi. x is the model before the step; sigma^2 bounds the variance of
    stochastic gradients and is 0 where they are exact.

    Examples
    --------
    >>> from certibit import METHODS, Quadratic, Setting
    >>> card, problem = METHODS["gd"], Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> setting = Setting.of(card.method, problem)
    >>> theorem, method = card.theorems[0], card.at(setting, "optimal")
    >>> all(condition.holds for condition in theorem.conditions(method, setting))
    True
    >>> theorem.promise(method, setting).factor == theorem.rate(method, setting) < 1
    True
    >>> [theorem.title for theorem in METHODS["marina"].about("squared_gradient")]
    ['MARINA, nonconvex']
    """

    method: ClassVar[type[Method]]
    title: ClassVar[str]
    measure: ClassVar[str] = "potential"
    """What decreases: one of ``MEASURES``."""
    published: ClassVar[bool] = True
    """Whether its promise is in a paper; otherwise the docstring says "Proved by us"."""
    rocq: ClassVar[str] = ""
    """The theorem in ``theory/rocq/methods``, as FILE.NAME; a subclass does not inherit it."""
    certified: ClassVar[bool] = True
    """Whether ``certify`` proves its promise, at given constants, in rational numbers."""
    noise_at_solution: ClassVar[bool] = False
    """Whether samples are smooth in expectation, and sigma^2 bounds the variance at x* only."""

    @property
    def kernel(self) -> str:
        """The theorem in Rocq that is this one, FILE.NAME; empty if there is none."""
        return vars(type(self)).get("rocq", "")

    def __repr__(self) -> str:
        return f"Theorem {self.title!r}" if hasattr(self, "title") else super().__repr__()

    @property
    def status(self) -> str:
        """What stands behind it: *kernel*, *certificate* or *by hand*.

        *kernel*: the kernel of Rocq has checked a proof from definitions, for all parameters.
        *certificate*: ``certify`` proves the promise for given parameters, in rational numbers; the
        tests do so for every such theorem of the package. *by hand*: the paper or the docstring has
        a proof, and no program has checked it.
        """
        if self.kernel:
            return "kernel"
        own = type(self).__module__.startswith("certibit.")
        return "certificate" if self.certified and own else "by hand"

    def require_promise(self) -> None:
        """Refuse a theorem that no check would look at, or that promises nothing.

        Raises
        ------
        Refusal
            If its measure is none, or it does not define what its measure asks for.
        """
        if self.measure not in MEASURES:
            raise Refusal(
                f"{self.title} has the measure {self.measure!r}; take {' or '.join(MEASURES)}"
            )
        own, asked = type(self), "rate" if self.measure == "potential" else "descent"
        if own.promise is Theorem.promise and getattr(own, asked) is getattr(Theorem, asked):
            raise Refusal(
                f"{self.title} has the measure {self.measure!r} and no {asked}; define {asked}, or "
                "give the measure that it is about"
            )

    @abstractmethod
    def conditions(self, m: Any, setting: Setting) -> tuple[Condition, ...]:
        """Return the hypotheses on the parameters of a method, evaluated."""

    @abstractmethod
    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms of the Lyapunov function Psi at a state.

        ``star`` is the fixed point; where the measure is "squared_gradient", the state at rest
        about the model, so that a gradient estimate is compared with the gradient there.
        ``problem`` is there for gradients at points of the state.
        """

    def rate(self, m: Any, setting: Setting) -> float:
        """Return tau, the promised factor of the Lyapunov function per step."""
        raise Refusal(f"{self.title} has no rate: it promises another thing than a factor")

    def descent(self, m: Any, setting: Setting) -> float:
        """Return c, the promised constant, where the measure is not "potential"."""
        raise Refusal(f"{self.title} has no descent: it promises another thing than a constant c")

    def noise(self, m: Any, setting: Setting) -> float:
        """Return e; 0 if gradients are exact, or their variance is reduced."""
        return 0.0

    def growth(self, m: Any, setting: Setting) -> float:
        """Return the part of itself by which Psi may grow in the mean, of a descent; often 0."""
        return 0.0

    def dissimilarity(self, m: Any, setting: Setting) -> float:
        """Return the coefficient of zeta^2, of a descent; 0 where clients may differ by any."""
        return 0.0

    def promise(self, m: Any, setting: Setting) -> Any:
        """Return what is promised, with ``rounds_to(accuracy, start, variance)``."""
        if self.measure == "potential":
            return ContractionPromise(self.rate(m, setting), self.noise(m, setting))
        parts = self.descent(m, setting), self.noise(m, setting), self.growth(m, setting)
        return DescentPromise(*parts, self.measure, self.dissimilarity(m, setting))

    def allows_noise(self, m: Any, setting: Setting) -> bool:
        """Whether it is about stochastic gradients, too: of samples that m names, or with an e."""
        return m.needs.samples or self.noise(m, setting) > 0

    def unmet(self, m: Any, setting: Setting) -> tuple[Condition, ...]:
        """Return the hypotheses that fail.

        One may be that gradients are exact, one of the measure "gap" that the f_i are convex.
        """
        broken = tuple(c for c in self.conditions(m, setting) if not c.holds)
        if not broken and setting.sigma and not self.allows_noise(m, setting):
            broken = (Condition(EXACT, setting.sigma, 0.0),)
        if not broken and self.measure == "gap" and setting.constants.mu < 0:
            broken = (Condition("0 <= mu", 0.0, setting.constants.mu),)
        return broken

    def solved(self, m: Any, s: Any, y: Array, gradient: Array) -> Array | None:
        """Return which local solves may end at points y, (n, 1, R); None if none is asked for.

        ``s`` is the state before the round; y and the gradients of the f_i there are (n, d, R).
        """
        return None


class RunTheorem(Theorem):
    """A theorem E[f(x_T)] - f* <= Psi_0/w(T) about whole runs over convex functions.

    Psi_0 is the Lyapunov function where a run starts, and x_T the model after T steps.

    Examples
    --------
    >>> from certibit import METHODS, Quadratic, Setting
    >>> theorem, *_ = METHODS["gd"].about("gap")
    >>> method = METHODS["gd"].method(gamma=0.1)
    >>> setting = Setting.of(method, Quadratic.random(3, 4, mu=1.0, L=10.0))
    >>> round(theorem.promise(method, setting).rounds_to(0.01, start=1.0))
    250
    """

    measure, certified = "gap", False

    @abstractmethod
    def weight(self, m: Any, setting: Setting) -> tuple[float, ...]:
        """Return the coefficients of the polynomial w, that of T^0 first."""

    def promise(self, m: Any, setting: Setting) -> RunPromise:
        """Return the promised bound."""
        return RunPromise(self.weight(m, setting))


class NormTheorem(Theorem):
    """A theorem E[Psi+] <= Psi - c H(|grad f(x)|) about a round, for (L0, L1)-smooth f_i.

    Psi is f(x) - inf f. H is that of the promise, which is about E|grad f|. The constants of its
    setting are L0, L1, kappa, rho and sigma.

    Examples
    --------
    >>> from certibit import EPISODE, METHODS, Quartics, Setting
    >>> from certibit.theory.catalogue.catalogue import CLIPPING
    >>> setting = Setting.of(EPISODE, Quartics.of(H=1))
    >>> method = CLIPPING["episode"].at(setting, I=4)
    >>> theorem, *_ = CLIPPING["episode"].theorems
    >>> theorem.unmet(method, setting), theorem.promise(method, setting).rounds_to(1.0) < 1e7
    ((), True)
    """

    measure, certified = "gradient_norm", False

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        return (Gap(1.0, m.model(s)),)

    def allows_noise(self, m: Any, setting: Setting) -> bool:
        """Return true: a bound of the noise is among the hypotheses, and e is 0."""
        return True

    @abstractmethod
    def largest(self, setting: Setting, I: int = 1) -> tuple[float, float]:  # noqa: E741
        """Return the largest step size eta that it allows, and the gamma for it.

        Raises
        ------
        Refusal
            If it allows none, as where a constant is not known.
        """

    def rule(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """Return a rule for parameters: ``make`` of the largest eta, its gamma, and I."""

        def largest_step(setting: Setting, I: int = 1) -> Any:  # noqa: E741
            """Take the largest eta and gamma of the theorem."""
            return make(*self.largest(setting, I), I)

        return largest_step

    @abstractmethod
    def promise(self, m: Any, setting: Setting) -> NormPromise:
        """Return the promised decrease."""
