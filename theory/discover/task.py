"""The task of a search: a class of problems, compressors, and the weight of the downlink."""

import math
from dataclasses import dataclass
from typing import Any

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.two_way import TwoWay
from certibit.solvers.method import Method
from certibit.solvers.total_bits import require_weight, total_bits
from certibit.theory.discover.grammar import Kind, Sentence
from certibit.theory.discover.screen import Screen
from certibit.theory.function_class import FunctionClass

SCREENED_CLIENTS = 3
"""Clients of the quadratics at most: the map of second moments grows with their number."""

GENTLE_KAPPA, GENTLE_ERROR = 4.0, 0.1
"""Condition number and relative errors on which structures that never converge are sorted out."""


@dataclass(frozen=True)
class Task:
    """The problems and compressors for which methods are searched.

    Attributes
    ----------
    n : int
        Number of clients.
    kappa : float
        Condition number: mu = 1 and L = kappa.
    d : int
        Number of features, which the bits of messages depend on.
    unbiased, contractive : Compressor
        The compressors of the two classes, for clients and server.
    weight : float
        The weight of a received bit.
    """

    n: int
    kappa: float
    d: int
    unbiased: Compressor
    contractive: Compressor
    weight: float = 0.0

    def __post_init__(self) -> None:
        if not 1 < self.kappa < math.inf:
            raise Refusal(f"kappa = {self.kappa:g} is no condition number; give one above 1")
        require_weight(self.weight)
        for compressor in (self.unbiased, self.contractive):
            compressor.check(self.d)
        if not self.unbiased.unbiased:
            raise Refusal(
                f"{self.unbiased.name} is biased; give an unbiased compressor such as rand-k:2"
            )
        self.contractive.alpha(self.d)

    def sent(self, kind: Kind | None) -> Compressor:
        """Return the compressor of a class."""
        known = {"unbiased": self.unbiased, "contractive": self.contractive, None: Identity()}
        return known[kind]

    @property
    def bounded(self) -> bool:
        """Whether screening bounds every certified factor: only if all n clients are screened."""
        return self.n <= SCREENED_CLIENTS

    def compressor(self, one: Sentence) -> Compressor | None:
        """Return what a method is run with."""
        if one.down:
            return TwoWay(self.sent(one.up), self.sent(one.down))
        return self.sent(one.up) if one.up else None

    def functions(self, one: Sentence) -> FunctionClass:
        """Return the function class of the certificates."""
        sent = {"unbiased": self._omega, "contractive": self._alpha}
        up = {"unbiased": "omega", "contractive": "alpha"}
        given: Any = {up[one.up]: sent[one.up]} if one.up else {}
        down: Any = {f"{up[one.down]}_down": sent[one.down]} if one.down else {}
        return FunctionClass(self.n, 1.0, self.kappa, **given, **down)

    def screen(self, one: Sentence) -> Screen:
        """Return the quadratics and compressors that a method is screened with."""
        ways = (one.up, self.error(one.up)), (one.down, self.error(one.down))
        return Screen.extreme(min(self.n, SCREENED_CLIENTS), self.kappa, *ways)

    def gentle(self, one: Sentence) -> Screen:
        """Return well-conditioned quadratics and compressors with small errors."""
        ways = (one.up, GENTLE_ERROR), (one.down, GENTLE_ERROR)
        return Screen.extreme(min(self.n, 2), GENTLE_KAPPA, *ways)

    def error(self, kind: Kind | None) -> float:
        """Return the relative error of a message, a root mean square, by its compressor's class."""
        errors = {"unbiased": self._omega**0.5, "contractive": (1 - self._alpha) ** 0.5}
        return errors[kind] if kind else 0.0

    def bits(self, one: Sentence, method: Method) -> tuple[float, float]:
        """Return the bits that a client sends and receives in one iteration in the mean."""
        p = getattr(method, "p", 1.0)
        return p * self.sent(one.up).bits(self.d), p * self.sent(one.down).bits(self.d)

    def cost(self, one: Sentence, method: Method, decrease: float) -> float:
        """Return the bits up plus weighted bits down per digit of a squared error."""
        if not decrease > 0:
            return math.inf
        bits = total_bits(*self.bits(one, method), self.weight)
        return bits / (-math.log1p(-min(decrease, 1 - 1e-15)) / math.log(10))

    @property
    def _omega(self) -> float:
        return self.unbiased.omega(self.d)

    @property
    def _alpha(self) -> float:
        return self.contractive.alpha(self.d)
