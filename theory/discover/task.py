"""The task of a search: a class of problems, compressors, and the cost that is minimised."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, Protocol, get_args

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.two_way import TwoWay
from certibit.solvers.method import Method
from certibit.solvers.total_bits import require_weight, total_bits
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.potential_family import Family
from certibit.theory.discover.grammar import Kind, Sentence
from certibit.theory.discover.screen import Screen, Steps
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential

SCREENED_CLIENTS = 3
"""Most clients of the screened quadratics: the map of second moments grows with their number."""

GENTLE_KAPPA, GENTLE_ERROR = 4.0, 0.1
"""Condition number and relative errors at which structures that never converge are discarded."""

ENOUGH = 1e-3
"""Relative distance of a decrease to the best one at which the search for a potential ends."""

Fewest = Literal["bits", "rounds", "gradients"]
"""The cost for one client that is minimised."""


class ProvedStep(Protocol):
    """A certificate of one step of a method."""

    @property
    def method(self) -> Method:
        """The method, with parameters for the class."""
        ...

    @property
    def potential(self) -> Potential:
        """The Lyapunov function Psi."""
        ...

    def verify(self) -> float:
        """Run the method on symbols anew, and return the number that is proved."""
        ...


@dataclass(frozen=True)
class Task(ABC):
    """The problems and compressors for which methods are searched, and the cost.

    Attributes
    ----------
    n : int
        Number of clients.
    d : int
        Number of features, which the bits of messages depend on.
    unbiased, contractive : Compressor
        The compressors of the two classes, for clients and server.
    weight : float
        The weight of a received bit.
    fewest : "bits", "rounds" or "gradients"
        The cost for one client that is minimised; rounds are those in which clients send.
    """

    n: int
    d: int
    unbiased: Compressor
    contractive: Compressor
    weight: float = 0.0
    fewest: Fewest = "bits"

    def __post_init__(self) -> None:
        require_weight(self.weight)
        if self.fewest not in get_args(Fewest):
            raise Refusal(f"{self.fewest!r} is no cost; take {' or '.join(get_args(Fewest))}")
        if self.weight and self.fewest != "bits":
            raise Refusal(f"a weight of received bits is for fewest bits, not {self.fewest}")
        for compressor in (self.unbiased, self.contractive):
            compressor.check(self.d)
        if not self.unbiased.unbiased:
            raise Refusal(
                f"{self.unbiased.name} is biased; give an unbiased compressor such as rand-k:2"
            )
        self.contractive.alpha(self.d)

    @property
    @abstractmethod
    def unit(self) -> str:
        """The unit of the cost: what it is paid for."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """The smoothness of the f_i."""

    @property
    @abstractmethod
    def rarest(self) -> float:
        """The smallest probability of a round at which a search starts."""

    @abstractmethod
    def curvatures(self, clients: int) -> list[tuple[float, ...]]:
        """Return choices of curvatures of so many quadratics of the class."""

    @abstractmethod
    def attained(self, screen: Screen, method: Method, steps: Steps) -> float:
        """Return an upper bound on certified decreases: that of quadratics where it converges."""

    @abstractmethod
    def certified(self, method: Method, functions: FunctionClass, gradients: bool) -> float:
        """Return the decrease of the best quadratic Psi, perhaps with gradients at the model."""

    @abstractmethod
    def proof(self, method: Method, functions: FunctionClass) -> tuple[ProvedStep, float]:
        """Return the certificate of a method, and its decrease."""

    @abstractmethod
    def iterations(self, decrease: float) -> float:
        """Return the number of iterations per unit of the cost, at a decrease."""

    @abstractmethod
    def promise(self, decrease: float) -> str:
        """Return the promise of a decrease, as a formula."""

    @abstractmethod
    def proved(self, decrease: float) -> dict[str, float]:
        """Return the number that is proved, with its name."""

    @property
    @abstractmethod
    def described(self) -> dict[str, Any]:
        """The class of functions, by names of options."""

    def sent(self, kind: Kind | None) -> Compressor:
        """Return the compressor of a class."""
        known = {"unbiased": self.unbiased, "contractive": self.contractive, None: Identity()}
        return known[kind]

    @property
    def bounded(self) -> bool:
        """Whether screening bounds every certificate: only if all n clients are screened."""
        return self.n <= SCREENED_CLIENTS

    def compressor(self, one: Sentence) -> Compressor | None:
        """Return the compressor that a method is run with."""
        if one.down:
            return TwoWay(self.sent(one.up), self.sent(one.down))
        return self.sent(one.up) if one.up else None

    def constants(self, one: Sentence) -> dict[str, Any]:
        """Return the constants of the compressors for the function class of certificates."""
        sent = {"unbiased": self._omega, "contractive": self._alpha}
        up = {"unbiased": "omega", "contractive": "alpha"}
        given: dict[str, Any] = {up[one.up]: sent[one.up]} if one.up else {}
        return given | ({f"{up[one.down]}_down": sent[one.down]} if one.down else {})

    @abstractmethod
    def functions(self, one: Sentence) -> FunctionClass:
        """Return the function class of the certificates."""

    def screen(self, one: Sentence) -> Screen:
        """Return the quadratics and compressors that a method is screened with."""
        ways = (one.up, self.error(one.up)), (one.down, self.error(one.down))
        return Screen.of(self.curvatures(min(self.n, SCREENED_CLIENTS)), *ways)

    def gentle(self, one: Sentence) -> Screen:
        """Return well-conditioned quadratics and compressors with small errors; L is 1."""
        ways = (one.up, GENTLE_ERROR), (one.down, GENTLE_ERROR)
        return Screen.extreme(min(self.n, 2), GENTLE_KAPPA, *ways)

    def error(self, kind: Kind | None) -> float:
        """Return the relative error of a message, a root mean square, by its compressor's class."""
        errors = {"unbiased": self._omega**0.5, "contractive": (1 - self._alpha) ** 0.5}
        return errors[kind] if kind else 0.0

    def spent(self, one: Sentence, method: Method) -> float:
        """Return the mean cost of one iteration for one client."""
        p = getattr(method, "p", 1.0)
        bits = total_bits(
            self.sent(one.up).bits(self.d), self.sent(one.down).bits(self.d), self.weight
        )
        return {"bits": p * bits, "rounds": p, "gradients": 1.0}[self.fewest]

    def cost(self, one: Sentence, method: Method, decrease: float) -> float:
        """Return the cost in units of the task at a decrease."""
        return self.spent(one, method) * self.iterations(decrease) if decrease > 0 else math.inf

    @property
    def _omega(self) -> float:
        return self.unbiased.omega(self.d)

    @property
    def _alpha(self) -> float:
        return self.contractive.alpha(self.d)


@dataclass(frozen=True)
class FactorTask(Task):
    """Methods with the least cost per digit of the squared error, over strongly convex functions.

    Attributes
    ----------
    kappa : float
        Condition number: mu = 1 and L = kappa.
    """

    kappa: float = field(kw_only=True)

    def __post_init__(self) -> None:
        if not 1 < self.kappa < math.inf:
            raise Refusal(f"kappa = {self.kappa:g} is no condition number; give one above 1")
        super().__post_init__()

    @property
    def unit(self) -> str:
        """One digit of the squared error."""
        return "digit"

    @property
    def smoothness(self) -> float:
        """The condition number."""
        return self.kappa

    @property
    def rarest(self) -> float:
        """Half of the probability of the best methods with local steps."""
        return 0.5 / self.kappa**0.5

    @property
    def described(self) -> dict[str, Any]:
        """The condition number."""
        return {"kappa": self.kappa}

    def functions(self, one: Sentence) -> FunctionClass:
        """Return the class of mu-strongly convex functions."""
        return FunctionClass(self.n, 1.0, self.kappa, **self.constants(one))

    def curvatures(self, clients: int) -> list[tuple[float, ...]]:
        """Return all choices of 1 and kappa."""
        return [*product((1.0, self.kappa), repeat=clients)]

    def attained(self, screen: Screen, method: Method, steps: Steps) -> float:
        """Return 1 - r for the spectral radius r of the map of second moments."""
        return 1 - steps.factor()

    def certified(self, method: Method, functions: FunctionClass, gradients: bool) -> float:
        """Return the certified decrease, 1 - factor."""
        return Family.of(method, functions, gradients=gradients).best(ENOUGH)[0]

    def proof(self, method: Method, functions: FunctionClass) -> tuple[ProvedStep, float]:
        """Return the certificate of the factor."""
        found = certify(method, functions, potential="search")
        return found, found.decrease

    def iterations(self, decrease: float) -> float:
        """Return the iterations for a digit of the squared error."""
        return math.log(10) / -math.log1p(-min(decrease, 1 - 1e-15))

    def promise(self, decrease: float) -> str:
        """Return the factor of Psi."""
        return f"E[Psi+] <= {1 - decrease:.6f} Psi"

    def proved(self, decrease: float) -> dict[str, float]:
        """Return the factor."""
        return {"factor": 1 - decrease}
