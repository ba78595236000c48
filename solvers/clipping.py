"""The base of the clipping methods: clipped and unclipped steps, cohorts, recorded quantities.

Conventions: a vector is clipped iff its norm exceeds the threshold tau = gamma/eta strictly; the
direction of the zero vector is zero; gamma = inf means no clipping.
"""

import math
from dataclasses import dataclass, make_dataclass, replace
from functools import cache
from typing import Any, ClassVar

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import copies, squared_norm, where
from certibit.solvers.method import Gradients, Messages, Method, Needs, require_positive


def norm(v: Array) -> Array:
    """Euclidean norm over the features: (n, d, R) to (n, 1, R)."""
    return squared_norm(v) ** 0.5


def unit(v: Array) -> Array:
    """Return the direction v/|v| of every vector, zero for the zero vector; (n, d, R)."""
    length = norm(v)
    return v / where(length > 0, length, 1 + 0 * length)


@dataclass(frozen=True)
class ModelState:
    """State of a method that keeps its model only: x, (1, d, R)."""

    x: Array


@dataclass(frozen=True)
class ClippedMethod(Method):
    """Base of the methods for nonconvex (L0, L1)-smooth functions, with the clipping parameters.

    A call of ``communicate`` is a round. The theorems bound |grad f(x)| at the model, which a trace
    records.

    Parameters
    ----------
    eta : float
        Step size.
    gamma : float
        Length of a clipped step; the threshold of the gradient norm is tau = gamma/eta.

    Raises
    ------
    Refusal
        If eta, gamma or the number I of local steps is not positive.
    """

    eta: float
    gamma: float

    needs: ClassVar[Needs] = Needs(strongly_convex=False, samples=True)
    steps_of_a_round: ClassVar[str] = "I"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "eta", "gamma", "I")

    @property
    def tau(self) -> float:
        """The threshold of the gradient norm, gamma/eta."""
        return self.gamma / self.eta

    def clip(self, q: Array) -> Array:
        """Return the step min(eta, gamma/|q|) q for every vector q; (n, d, R)."""
        return self.step(q, norm(q) > self.tau)

    def step(self, q: Array, clipped: Array) -> Array:
        """Return the step gamma q/|q| where ``clipped`` holds and eta q elsewhere; (n, d, R)."""
        return where(clipped, self.gamma * unit(q), self.eta * q)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> Any:
        """Return the state that holds x only."""
        return ModelState(x)


UNCLIPPED = math.inf
"""The gamma of a method without clipping."""


@dataclass(frozen=True)
class Trained(Method):
    """A method that clips, as networks are trained: momentum, weight decay, steps that decay.

    In round t = 0, 1, ... eta and gamma are those of the method times factor^k, where k of the
    given rounds are at most t; so the threshold gamma/eta stays. Every client passes the stochastic
    gradients g_i of its local steps, at y, through its momentum, before corrections and clipping::

        v_i <- momentum v_i + g_i + weight_decay y,   v_i = 0 at the start

    Parameters
    ----------
    method : ClippedMethod
        The method.
    momentum : float
        Memory of the v_i, 0 <= momentum < 1; with another than 0 all clients take part in rounds.
    weight_decay : float
        At least 0.
    factor : float
        Of eta and gamma, in (0, 1].
    rounds : tuple of int
        From which on the factor is multiplied in.

    Raises
    ------
    Refusal
        If a number is not possible, or only some clients take part and there is momentum.

    Notes
    -----
    No theorem is about it. Corrections of EPISODE are plain gradients, as in the authors' code, and
    the v_i tend to g_i/(1 - momentum): they take away a part of the difference of clients only.
    Corrections that are means over local steps, as those of EPISODE++, are means of the v_i. Weight
    decay is before corrections, as in the code of EPISODE++; that of EPISODE adds it after the norm
    for clipping is taken. Source: Crawshaw, Bao, Liu, ICLR 2023 (EPISODE), section 5 and appendix
    E, with epochs in the place of rounds: factor 0.5 at 15 and 20 of 25 (SNLI); factor 0.1 at 30,
    60 and 80 of 90, momentum 0.9, weight decay 5e-5 (ImageNet, out of reach here).

    Examples
    --------
    >>> from certibit import EPISODE, Budget, Quadratic, run
    >>> from certibit.solvers.clipping import Trained
    >>> method = Trained(EPISODE(eta=0.1, gamma=0.1, I=4), momentum=0.9, factor=0.5, rounds=(2, 4))
    >>> trace = run(method, Quadratic.random(3, 2, 1.0, 10.0), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    method: ClippedMethod
    momentum: float = 0.0
    weight_decay: float = 0.0
    factor: float = 1.0
    rounds: tuple[int, ...] = ()

    name: ClassVar[str] = "trained"
    needs: ClassVar[Needs] = ClippedMethod.needs

    def __post_init__(self) -> None:
        super().__post_init__()
        possible = 0 <= self.momentum < 1 and 0 <= self.weight_decay < math.inf
        if not (possible and 0 < self.factor <= 1):
            raise Refusal(
                f"momentum {self.momentum:g}, weight decay {self.weight_decay:g} and factor "
                f"{self.factor:g} are not possible; give 0 <= momentum < 1, a weight decay of at "
                "least 0 and a factor in (0, 1]"
            )
        if self.momentum and getattr(self.method, "S", None) is not None:
            raise Refusal("clients that are away have no momentum; leave S or momentum out")

    def start(self, x: Array, problem: Gradients, channel: Messages) -> Any:
        """Return the state of the method with v, (n, d, R), and the round t, (1, 1, R)."""
        s = self.method.start(x, problem, channel)
        return _joined(s, v=copies(0 * x, problem.n), t=0 * x[:, :1])

    def communicate(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Return the state after a round."""
        part = self.factor ** (0 * s.t + sum((s.t >= first) * 1.0 for first in self.rounds))
        method = replace(self.method, eta=part * self.method.eta, gamma=part * self.method.gamma)
        heavy: Any = _Gradients(problem, self, s.v)
        return _joined(method.communicate(s, heavy, channel), v=heavy.v, t=s.t + 1)

    def model(self, s: Any) -> Array:
        """Return the model of the method."""
        return self.method.model(s)


class _Gradients:
    """A problem whose stochastic gradients of local steps are the v_i."""

    def __init__(self, problem: Gradients, own: Trained, v: Array) -> None:
        self._problem, self._own, self.v = problem, own, v

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        g = self._problem.grad(x, active=active, sample=sample)
        if not isinstance(sample, int):
            return g
        self.v = self._own.momentum * self.v + g + self._own.weight_decay * x
        return self.v


def _joined(state: Any, **more: Array) -> Any:
    """Return a state with more arrays, of a class of its own."""
    if hasattr(state, "v"):
        return replace(state, **more)
    kind: Any = type(state)
    return _longer(kind, *more)(**vars(state), **more)


@cache
def _longer(kind: Any, *names: str) -> Any:
    return make_dataclass(kind.__name__, [(n, Array) for n in names], bases=(kind,), frozen=True)
