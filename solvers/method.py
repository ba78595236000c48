"""The interface of a method: frozen parameters, a frozen state and pure steps.

A method has access to gradients and messages only through ``problem`` and ``channel``. The engine
owns the loop: it calls ``local_step`` at every iteration and ``communicate`` when the schedule says
so. The same class runs in simulation, on the wire and on symbols, without a change.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from certibit.data.arrays import Array, array_namespace, plain_numbers
from certibit.data.errors import Refusal


class Functions(Protocol):
    """The gradients of the f_i and of g; implemented by every problem.

    Examples
    --------
    >>> from certibit import Functions, Quadratic
    >>> functions: Functions = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> functions.n, functions.d
    (3, 4)
    """

    @property
    def n(self) -> int:
        """Number of clients."""

    @property
    def d(self) -> int:
        """Number of features."""

    def grad(self, x: Array) -> Array:
        """Gradients of all f_i at x, (n, d, R) or (1, d, R), as (n, d, R)."""

    def grad_g(self, y: Array) -> Array:
        """Gradient of the shared function g at y, (1, d, R)."""


class Sample:
    """A sample that is drawn already, on every client: data, or noise."""


class ExactGradients:
    """Gradients without noise, of which a sample is nothing."""

    def sample(self, slot: int | str) -> Sample:
        """Draw nothing."""
        return Sample()


Slot: TypeAlias = int | str | Sample
"""What a stochastic gradient is of: the next sample of a slot, or one that is drawn already."""


class Gradients(Functions, Protocol):
    """The part of a problem that a method may use.

    Where gradients are stochastic, those of a method that names no samples, as its ``needs`` say,
    are each of a new sample, wherever it asks for one: in ``start``, ``local_step`` and
    ``communicate``, also twice at the same point. A method that names samples gets exact gradients
    where it names none.

    Examples
    --------
    >>> from certibit import Gradients, Quadratic
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> problem.grad(problem.x_0).shape
    (3, 4, 1)
    """

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Gradients of all f_i at x, (n, d, R) or (1, d, R), as (n, d, R).

        With ``active`` only some clients evaluate their gradients: a mask (n, 1, R) bool, or the
        number of clients. The method must not use the gradients of the others. With ``sample``, the
        name of a slot such as ``"control"`` or the number of a local step, the gradients are
        stochastic if the problem has noise; each slot is used once in a round. With a sample of
        :meth:`sample` they are those of this sample, at as many points as are asked for.

        Raises
        ------
        Refusal
            If a sample is named by a method whose ``needs`` do not say so.
        """

    def sample(self, slot: int | str) -> Sample:
        """Draw the next sample xi_i of a slot on every client: grad(x, sample=xi) is of it."""


class Solution(Protocol):
    """The solution and its gradients, from which a method computes its fixed point.

    Examples
    --------
    >>> from certibit import DIANA, Quadratic, Solution
    >>> solution: Solution = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> DIANA(gamma=0.1, alpha=0.5).fixed_point(solution).h.shape
    (3, 4, 1)
    """

    @property
    def n(self) -> int:
        """Number of clients."""

    @property
    def d(self) -> int:
        """Number of features."""

    @property
    def x_star(self) -> Array:
        """The solution, (1, d, 1), or (1, d, R) where runs have different ones."""

    @property
    def grad_star(self) -> Array:
        """The gradients of the f_i at the solution, (n, d, 1) or (n, d, R)."""


class Messages(Protocol):
    """The network and the shared randomness, as a method uses them.

    A mask is a bool array (n, 1, R) of clients or (n, d, R) of their entries. Nothing is sent
    outside the mask, and 0 is received there.

    Examples
    --------
    >>> from certibit import Messages
    >>> sorted(name for name in vars(Messages) if name[0] != "_")
    ['broadcast', 'client_coins', 'cohort', 'coin', 'downlink', 'ownership', 'send', 'uplink']
    """

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i) from every client of the cohort; return the received vectors, (n, d, R)."""

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Send v_i uncompressed from every client; return the received vectors, (n, d, R)."""

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Send v from the server to all clients, or to those of a mask, uncompressed; (1, d, R)."""

    def downlink(self, v: Array) -> Array:
        """Send C(v), (1, d, R), from the server to all clients; return it."""

    def coin(self, p: float) -> Array:
        """Toss one coin per run, seen by all: (1, 1, R) bool, true with probability p."""

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss a coin on every client: (n, 1, R) bool, true with probability q_i."""

    def cohort(self, m: int) -> Array:
        """Draw m of the n clients uniformly: (n, 1, R) bool."""

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        """Draw s owners in the cohort for every entry: (n, d, R) bool."""


def require_probability(name: str, p: Any) -> None:
    """Refuse a parameter, a number or an array over the runs, that is no probability.

    Raises
    ------
    Refusal
        Unless 0 <= p <= 1.
    """
    inside = (p >= 0) & (p <= 1)
    if not (array_namespace(inside).all(inside) if hasattr(inside, "shape") else inside):
        raise Refusal(f"{name} = {p} is no probability; give a number from 0 to 1")


@dataclass(frozen=True)
class WithProbability:
    """Communicate after each iteration with probability p, one coin per run.

    Examples
    --------
    >>> from certibit import Scaffnew, WithProbability
    >>> Scaffnew(gamma=0.1, p=0.2).schedule
    WithProbability(p=0.2)
    """

    p: float


@dataclass(frozen=True)
class Every:
    """Communicate after every so many iterations.

    Examples
    --------
    >>> from certibit import GD, Every
    >>> GD(gamma=0.1).schedule
    Every(iterations=1)
    """

    iterations: int = 1

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise Refusal(f"Every({self.iterations}) is no schedule; give a number from 1 on")


Schedule = WithProbability | Every


@dataclass(frozen=True)
class Needs:
    """The compressors and problems that a method can be run with.

    Attributes
    ----------
    compressor : "unbiased", "contractive" or None
        The class of its compressor; None for a method that sends uncompressed vectors.
    composite : bool
        Whether it solves min (1/n) sum_i f_i + g with a shared g (else everything is in the f_i).
    strongly_convex : bool
        Whether it is made for mu > 0.
    nonconvex : bool
        Whether such a method is one for nonconvex problems, too, where it aims at a small
        |grad f|^2.
    downlink : "unbiased", "contractive" or None
        The class of the server's compressor; None for a method that broadcasts uncompressed
        vectors.
    shared_minimiser : bool
        Whether it converges only if all f_i have the same minimiser (always true for one client).
        On other problems it can be run, and ends near the solution.
    by_variance : bool
        Whether a contractive compressor is taken by its bias and variance, and so an unbiased one,
        too, which need be no contraction.
    samples : bool
        Whether it names samples: ``grad(x, sample=...)`` is stochastic, and ``grad(x)`` exact.
        Otherwise it names none, and where gradients are stochastic every ``grad(x)`` is.

    Examples
    --------
    >>> from certibit import DIANA
    >>> DIANA.needs.compressor, DIANA.needs.composite, DIANA.needs.downlink
    ('unbiased', False, None)
    """

    compressor: Literal["unbiased", "contractive"] | None = None
    composite: bool = False
    strongly_convex: bool = True
    nonconvex: bool = False
    downlink: Literal["unbiased", "contractive"] | None = None
    shared_minimiser: bool = False
    by_variance: bool = False
    samples: bool = False


UNNAMED = "gradient"
"""The slot of the samples of a method that names none."""


def slot_of(sample: Slot | None, named: bool) -> Slot | None:
    """Return what a gradient is of; None if it is exact. ``named``: the method names its samples.

    Raises
    ------
    Refusal
        If it names one and its ``needs`` do not say so, or its slot is no whole number and no word.
    """
    if named:
        word = isinstance(sample, str) and sample.isidentifier()
        whole = isinstance(sample, int) and not isinstance(sample, bool)
        if not (word or whole or isinstance(sample, Sample | None)):
            raise Refusal(
                f"{sample!r} is no slot of samples; name one by a whole number or by a word, such "
                "as 0 or 'initial'"
            )
        return sample
    if sample is not None:
        name = "drawn already" if isinstance(sample, Sample) else repr(sample)
        raise Refusal(
            f"a gradient of the sample {name} is asked for by a method that names no samples; "
            "write samples=True in its Needs, or leave sample out: then every gradient is of a new "
            "sample"
        )
    return UNNAMED


@dataclass(frozen=True)
class Method(ABC):
    """Base of all methods: a subclass is a frozen dataclass of its parameters.

    It defines ``start`` and ``communicate``, ``local_step`` and ``schedule`` if clients compute
    between rounds, and ``model`` if the model is not the field x of the state. Its theorems are on
    its card, in ``theory/cards``.

    Examples
    --------
    >>> from certibit import GD
    >>> GD(gamma=0.1).per_run
    ('gamma',)
    """

    name: ClassVar[str]
    needs: ClassVar[Needs]
    steps_of_a_round: ClassVar[str | None] = None
    """The parameter, if any, that says how often ``communicate`` asks for gradients."""

    def __post_init__(self) -> None:
        plain_numbers(self)
        if isinstance(self.schedule, WithProbability):
            require_probability(f"the probability of a round of {self.name}", self.schedule.p)

    @property
    def per_run(self) -> tuple[str, ...]:
        """The parameters that may be arrays (1, 1, R), one value for each run: all."""
        return tuple(field.name for field in fields(self))

    @property
    def schedule(self) -> Schedule:
        """When the engine calls ``communicate``; by default, after every iteration."""
        return Every()

    @abstractmethod
    def start(self, x: Array, problem: Gradients, channel: Messages) -> Any:
        """Return the first state, from the initial point x, (1, d, R)."""

    def local_step(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Do one step on every client; by default, nothing. The channel is for coins only."""
        return s

    @abstractmethod
    def communicate(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Do what happens at a communication round."""

    def model(self, s: Any) -> Array:
        """Return the point that f - f* is measured at, (1, d, R); by default, the field x."""
        x: Array = s.x
        return x

    def fixed_point(self, problem: Solution) -> Any:
        """Return the state at the solution, fixed under every outcome; None: it is computed."""
        return None

    def invariants(self, s: Any, problem: Functions) -> tuple[Array, ...] | None:
        """Return vectors that are 0 in every state of a run, such as the sum of control variates.

        Each is linear in the deviation of the state from the fixed point. None: they are computed.
        """
        return None


@dataclass(frozen=True)
class Varying(Method):
    """A method whose parameters change: iteration t = 0, 1, ... is that of the method ``at(t)``.

    All these are of one class and have the same start, model, fixed point, schedule and bits of a
    round. The engine counts the iterations. A class with a step, start or model of its own, which
    runs would not take, is refused.

    Examples
    --------
    >>> from certibit import GD, Needs, Varying
    >>> class Slower(Varying):
    ...     name, needs = "slower", Needs()
    ...     def at(self, t):
    ...         return GD(gamma=0.1 / (t + 1))
    >>> Slower().at(4)
    GD(gamma=0.02)
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("start", "local_step", "communicate", "schedule", "model"):
            if getattr(cls, name) is not getattr(Varying, name):
                raise Refusal(
                    f"{cls.__name__} varies and has its own {name}, and runs take that of the "
                    "method at(t); write it there"
                )

    @abstractmethod
    def at(self, t: Any) -> Method:
        """Return the method of iteration t, a number or one for every run, (1, 1, R)."""

    @property
    def schedule(self) -> Schedule:
        """When the engine calls ``communicate``: that of step 0."""
        return self.at(0).schedule

    def start(self, x: Array, problem: Gradients, channel: Messages) -> Any:
        """Return the first state, from the initial point x, (1, d, R)."""
        return self.at(0).start(x, problem, channel)

    def communicate(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Refuse: there is no step without its number."""
        raise Refusal(
            f"the parameters of {self.name} change from step to step; give the method of one step, "
            "such as method.at(0), or certify a whole run with certify_run"
        )

    def model(self, s: Any) -> Array:
        """Return the point that f - f* is measured at, (1, d, R)."""
        return self.at(0).model(s)

    def fixed_point(self, problem: Solution) -> Any:
        """Return the state at the solution; None: it is computed."""
        return self.at(0).fixed_point(problem)

    def invariants(self, s: Any, problem: Functions) -> tuple[Array, ...] | None:
        """Return vectors that are 0 in every state of a run; None: they are computed."""
        return self.at(0).invariants(s, problem)


def require_positive(method: Method, *names: str) -> None:
    """Refuse parameters of a method, numbers or one for every run, that are not above 0."""
    for name in names:
        value = getattr(method, name)
        above = value > 0
        if not (array_namespace(above).all(above) if hasattr(above, "shape") else above):
            raise Refusal(f"{name} = {value} of {method.name}; give a number above 0")


def participants(S: int | None, n: int) -> int:
    """Return the size of a cohort; n if ``S`` is None.

    Raises
    ------
    Refusal
        If there are not so many clients.
    """
    if S is None:
        return n
    if not 1 <= S <= n:
        raise Refusal(f"a cohort of {S} out of {n} clients is not possible; give 1 to {n}")
    return S
