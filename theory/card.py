"""The card of a method: its theorems, rules for parameters, leading orders and published bits.

The leading orders are those of Tables 1 and 2 of the LoCoDL paper (arXiv:2403.04348): rounds and
reals per client to an accuracy, without the factor log(1/epsilon) and without constants;
compressors are independent. Rounds are for any compressor in U(omega); reals are those of the best
compressor. For methods that share masks omega stands for n/s - 1, the variance of the rand-k that
sends as much. The tables have DIANA, EF21, 5GCS-CC, ADIANA, CompressedScaffnew, FedCOMGATE and
LoCoDL; the orders of the others are those of their own papers.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from inspect import signature
from math import sqrt
from types import CodeType
from typing import Any, ClassVar, Protocol

from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method
from certibit.theory.potential import Potential
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem


@dataclass(frozen=True)
class Order:
    """A leading order, by its formula in n, d, kappa, omega and alpha_down, in Python's syntax.

    Examples
    --------
    >>> Order("d*sqrt(kappa)")(n=10, d=3, kappa=100)
    30.0
    """

    formula: str

    @cached_property
    def _code(self) -> CodeType:
        return compile(self.formula, self.formula, "eval")

    def __call__(
        self, n: float, d: float, kappa: float, omega: float = 0.0, alpha_down: float = 1.0
    ) -> float:
        """Evaluate at numbers of clients and features, condition number, variance, contraction.

        The contraction is that of the server's compressor; 1 if it does not compress.
        """
        names = {"sqrt": sqrt, "n": n, "d": d, "kappa": kappa, "omega": omega}
        names["alpha_down"] = alpha_down
        return float(eval(self._code, {"__builtins__": {}}, names))


@dataclass(frozen=True)
class Orders:
    """Rounds and reals to an accuracy."""

    rounds: Order
    reals: Order

    @classmethod
    def of(cls, rounds: str, reals: str) -> "Orders":
        """Make both of their formulas."""
        return cls(Order(rounds), Order(reals))


LOWER_BOUND = Orders.of(
    "omega + (1 + omega/sqrt(n))*sqrt(kappa)", "(1 + d/sqrt(n))*sqrt(kappa) + d"
)
"""No method needs less with independent unbiased compressors: He, Huang, Yuan, arXiv:2305.16297.

The bound is on rounds, for the worst compressor in U(omega); reals are those of rand-1, the rand-k
for which k times the bound is the least.
"""

ORIGINAL_ADIANA = Order(
    "(1 + sqrt(omega*sqrt(omega))/sqrt(sqrt(n)) + omega/sqrt(n))*sqrt(kappa) + omega"
)
"""Rounds of ADIANA as first analysed: Li, Kovalev, Qian, Richtarik, arXiv:2002.11364."""

LOCAL_REALS = "(sqrt(d) + d/sqrt(n))*sqrt(kappa) + d"
"""The reals of methods with local training and compression."""


Bill = Callable[[Any, int, float, float], tuple[float, float]]
"""Of a method m, n, the bits of an uncompressed vector and of a message: uplink and downlink bits,
the mean over clients and coins. Where the server compresses, the vector stands for its message."""


def uncompressed_both_ways(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of uncompressed vectors both ways."""
    return vector, vector


def compressed_up(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of one message up and an uncompressed vector down."""
    return message, vector


Rule = Callable[..., Method]
"""Parameters from theory: a method made for a setting, with what is left open as options."""

Identity = Callable[[Constants, int], tuple[Method, Method]]
"""Two methods that are the same one, made for the constants of a problem and n clients."""

_CONVEX, _NONCONVEX = "convex", "nonconvex"
"""The names of rules for convex functions, and for functions that need not be convex."""
_STEP_SIZES = ("eta_l", "gamma", "eta")
"""Names of the step size of a method whose card does not name it."""


def _not_cut(method: Method) -> None:
    """Cut nothing off a method."""


class AlongRuns(Protocol):
    """A theorem about whole runs; the docstring of its class has statement and proof."""

    title: ClassVar[str]


class Role(StrEnum):
    """The kind of a parameter, used by searches for better parameters."""

    STEP_SIZE = "step size"
    PROBABILITY = "probability"
    MOMENTUM = "momentum"
    CONSTANT = "constant of the functions or the compressor"
    COUNT = "whole number"
    OWNERS = "owners of an entry"


@dataclass(frozen=True)
class Card:
    """A method with its theory; every table, check, page and figure reads it.

    Attributes
    ----------
    method : type
        The method's class.
    label : str
        The label in figures and tables; by default ``label`` of the method, or its name.
    theorems : tuple of Theorem
        Its theorems; each says its measure.
    along_runs : tuple of AlongRuns
        Other theorems about whole runs, for methods without a contraction factor.
    rules : mapping
        Named rules for its parameters; the first is the default, and where f is not strongly
        convex one that is named ``convex``, if f is, or ``nonconvex``.
    orders : Orders, optional
        Rounds and reals in leading order.
    bill : Bill, optional
        The published cost of a round.
    gradients : callable, optional
        Returns the published mean number of gradients of a client in a round, for a method whose
        clients decide when to evaluate one. For other methods it is counted.
    identities : tuple of Identity
        Parameters at which it is the same as another method.
    unstated : str
        A published theorem that is not among the theorems, and why.
    roles : mapping
        Kinds of parameters; parameters without a role are free real numbers.
    threshold : str
        The parameter by which it clips: "gamma", the longest step; "beta" of normalised gradients,
        whose steps are shorter than eta; "tau", the longest message.
    cut : callable
        Returns the same method with another boundary between steps, and a Lyapunov function for
        these, if a step as it is written cannot be certified; else None.
    contraction : callable, optional
        For a method that clips and a problem: the alpha of clipping in a ball that, by its
        certificate, runs from the start of the problem do not leave.
    colour, marker : str
        How it is drawn.

    Examples
    --------
    >>> from certibit import METHODS, Quadratic
    >>> card = METHODS["agd"]
    >>> card.label, list(card.rules)
    ('AGD', ['classical'])
    >>> card.parameters(Quadratic.random(3, 4, mu=1.0, L=4.0)).q > 0
    True
    """

    method: type[Method]
    label: str = ""
    theorems: tuple[Theorem, ...] = ()
    along_runs: tuple[AlongRuns, ...] = ()
    rules: Mapping[str, Rule] = field(default_factory=dict)
    orders: Orders | None = None
    bill: Bill | None = None
    gradients: Callable[[Any], float] | None = None
    identities: tuple[Identity, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    threshold: str = ""
    unstated: str = ""
    cut: Callable[[Method], tuple[Method, Potential] | None] = _not_cut
    contraction: Callable[[Any, Problem], float] | None = None
    colour: str = "#444444"
    marker: str = "+"

    def __post_init__(self) -> None:
        known = [parameter.name for parameter in fields(self.method)]
        for name in self.roles:
            if name not in known:
                raise Refusal(
                    f"the card of {self.name} gives {name!r} a role; "
                    f"its parameters are {', '.join(known)}"
                )
        for theorem in self.theorems:
            theorem.require_promise()
        if not self.label:
            own = getattr(self.method, "label", None)
            object.__setattr__(self, "label", own if isinstance(own, str) else self.name)

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.name

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of all theorems."""
        return tuple(theorem.title for theorem in self.stated)

    @property
    def statuses(self) -> tuple[str, ...]:
        """What stands behind each of them: *kernel*, *certificate* or *by hand*."""
        return tuple(getattr(theorem, "status", "by hand") for theorem in self.stated)

    @property
    def stated(self) -> tuple[Any, ...]:
        """All theorems."""
        return (*self.theorems, *self.along_runs)

    @property
    def takes_relaxed(self) -> bool:
        """Whether its theorems, and so its rules, are about (L0, L1)-smooth functions."""
        return any(getattr(one, "measure", "") == "gradient_norm" for one in self.stated)

    @property
    def needed(self) -> tuple[str, ...]:
        """The parameters without a default."""
        return tuple(one.name for one in fields(self.method) if one.default is MISSING)

    def without_rules(self, values: Iterable[str] = ()) -> Refusal:
        """Return why a method without rules has none, and what to write beside some values."""
        missing = ", ".join(name for name in self.needed if name not in values) or "each"
        why = self.unstated or "no theorem of it gives all of them"
        return Refusal(
            f"{self.name} has no rules for its parameters, as {why}; give {missing} with --set, "
            f"a method with its parameters, or in a comparison {self.name}["
            f"{','.join(f'{name}=...' for name in self.needed)}]"
        )

    @property
    def shares_masks(self) -> bool:
        """Whether clients send the entries of a shared mask, without indices."""
        return Role.OWNERS in self.roles.values()

    @property
    def step_sizes(self) -> tuple[str, ...]:
        """The names of the step sizes, that of the clients first."""
        return tuple(name for name, role in self.roles.items() if role is Role.STEP_SIZE)

    @property
    def step_size(self) -> str | None:
        """The parameter that is the step size, if there is one."""
        known = {parameter.name for parameter in fields(self.method)}
        names = (*self.step_sizes, *_STEP_SIZES)
        return next((name for name in names if name in known), None)

    @property
    def on_one_machine(self) -> bool:
        """Whether it clips and nobody communicates."""
        return bool(self.threshold) and "I" in self.roles and "S" not in self.roles

    def steps(self, eta: Any, tau: Any) -> dict[str, Any]:
        """Return the parameters of a step size eta and a threshold tau, numbers or arrays.

        A method clips gradients longer than tau, or messages; others have a step size alone.

        Raises
        ------
        Refusal
            If the method has no step size.
        """
        if self.step_size is None:
            raise Refusal(f"{self.name} has no step size; leave it out")
        match self.threshold:
            case "gamma":
                return {self.step_size: eta, "gamma": tau * eta}
            case "beta":
                return {self.step_size: tau * eta, "beta": tau}
            case "tau":
                return {self.step_size: eta, "tau": tau}
            case _:
                return {self.step_size: eta}

    def about(self, *measures: str) -> tuple[Any, ...]:
        """Return the theorems with one of some measures: "potential" are those about a factor."""
        return tuple(theorem for theorem in self.theorems if theorem.measure in measures)

    def holding(self, m: Method, setting: Setting) -> tuple[Theorem, ...]:
        """Return the theorems about a factor whose hypotheses all hold."""
        return tuple(one for one in self.about("potential") if not one.unmet(m, setting))

    def best_theorem(
        self, m: Method, setting: Setting, *, published: bool = False
    ) -> Theorem | None:
        """Return the theorem with the smallest factor of those whose hypotheses hold.

        With ``published``, of those whose rate is in a paper.
        """
        held = [one for one in self.holding(m, setting) if one.published or not published]
        return min(held, key=lambda theorem: theorem.rate(m, setting), default=None)

    def potential(self, m: Method, setting: Setting) -> Theorem | None:
        """Return the theorem whose Lyapunov function is recorded: one that applies, if any does."""
        return next(iter((*self.holding(m, setting), *self.about("potential"))), None)

    def at(self, setting: Setting, rule: str | None = None, **options: Any) -> Method:
        """Make the method with parameters from theory.

        ``options`` are what the rule leaves open, such as the number K of local steps.

        Raises
        ------
        Refusal
            If the rule or an option is unknown, there is none, or the setting does not fit it.
        """
        if not self.rules:
            raise self.without_rules()
        if self.takes_relaxed == isinstance(setting.constants, Constants):
            taken = "L0 and L1 of the problem" if self.takes_relaxed else "L_i of the clients"
            raise Refusal(
                f"the rules of {self.name} take the {taken}, which this problem does not state; "
                f"give {', '.join(self.needed)} with --set, or a method with its parameters"
            )
        if rule is None:
            rule = self.default_rule(setting)
        known = self.left_open(rule)
        for option in options:
            if option not in known:
                raise Refusal(
                    f"the rule {rule!r} of {self.name} has no option {option!r}; "
                    f"it leaves open {', '.join(known) or 'nothing'}"
                )
        return self.rules[rule](setting, **options)

    def default_rule(self, setting: Setting) -> str:
        """Return the first rule, or that for convex or nonconvex f if f is not strongly convex."""
        first = next(iter(self.rules))
        if setting.strongly_convex:
            return first
        fitting = (_CONVEX, _NONCONVEX) if setting.has_solution else (_NONCONVEX,)
        return next((rule for rule in fitting if rule in self.rules), first)

    def left_open(self, rule: str | None = None) -> tuple[str, ...]:
        """Return the parameters that a rule takes as options, such as the size of a cohort.

        Raises
        ------
        Refusal
            If the rule is unknown.
        """
        rule = next(iter(self.rules)) if rule is None else rule
        if rule not in self.rules:
            raise Refusal(
                f"{self.name} has no parameter rule {rule!r}; choose one of {', '.join(self.rules)}"
            )
        return tuple(signature(self.rules[rule]).parameters)[1:]

    def parameters(
        self,
        problem: Any,
        compressor: Compressor | None = None,
        rule: str | None = None,
        **options: Any,
    ) -> Method:
        """Make the method with parameters from theory, at the exact constants of a problem.

        See :meth:`at`; a compressor that does not fit is refused too.
        """
        if not self.rules:
            return self.at(Setting.of(self.method, problem))
        return self.at(Setting.of(self.method, problem, compressor), rule, **options)

    def with_values(
        self, setting: Setting, rule: str | None = None, values: Mapping[str, Any] | None = None
    ) -> Method:
        """Make the method by a rule with some parameters replaced, or without rules of all of them.

        Parameters that the rule leaves open are passed to it, so that its other parameters follow.

        Raises
        ------
        Refusal
            If a value is missing and there is no rule, or the rule does not fit.
        """
        values = values or {}
        missing = [name for name in self.needed if name not in values]
        stated = rule is None and not missing
        stated = stated and (self.takes_relaxed or not setting.strongly_convex)
        if self.rules and not stated:
            own = self.default_rule(setting) if rule is None else rule
            told = {name: values[name] for name in self.left_open(own) if name in values}
            try:
                return replace(self.at(setting, own, **told), **values)
            except Refusal:
                fits = setting.strongly_convex or own in {_CONVEX, _NONCONVEX}
                fits = fits or self.takes_relaxed
                unruled = rule is None and not fits
                if unruled and missing:
                    if self.method.needs.composite:
                        raise Refusal(
                            f"{self.name} solves min f + g with a strongly convex g, and not all "
                            "functions are convex; choose a method that minimises f alone, such as "
                            "ef21"
                        ) from None
                    raise Refusal(
                        f"{self.name} has no rule for functions that are not strongly convex; give "
                        f"{', '.join(missing)} with --set"
                    ) from None
                raise
        if rule is not None or missing:
            raise self.without_rules(values)
        return self.method(**values)
