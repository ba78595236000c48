"""A proof of one step: multipliers that prove E[Psi+] <= Psi - c M, and their check."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, Self

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.libraries import host
from certibit.solvers.method import Every, Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import simulated_world
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import (
    ClassConstants,
    Gap,
    LocalPotential,
    Potential,
    Region,
    Squares,
    Terms,
    value,
)
from certibit.theory.proofs.psi_text import potential_text
from certibit.theory.proofs.rational_algebra import ZERO, Rationals, ldl
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.quadratic_potential import AtModel, QuadraticPotential, Reweighted
from certibit.theory.theorem import ContractionPromise, DescentPromise
from certibit.theory.verdict import subtracted, times_psi, written
from certibit.theory.worlds.fixed_points import AboutModel, fixed_point
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational, rationals

MeasureName = Literal["squared_gradient", "gap", "potential"]


@dataclass(frozen=True)
class Measure:
    """The squared norm of the gradient of f at the model, f - inf f there, or Psi."""

    name: MeasureName = "squared_gradient"

    @property
    def contracts(self) -> bool:
        """Whether it is Psi, so that a descent of c M is a factor 1 - c."""
        return self.name == "potential"

    @property
    def symbol(self) -> str:
        """The measure as a formula."""
        names = {"squared_gradient": "|grad f(x)|^2", "gap": "(f(x) - f*)", "potential": "Psi"}
        return names[self.name]

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the one term of the measure at a state; f - f* in the place of Psi."""
        if self.name != "squared_gradient":
            return (Gap(1.0, m.model(s)),)
        slope = mean(problem.grad(m.model(s)))
        if m.needs.composite:
            slope = slope + problem.grad_g(m.model(s))
        return (Squares(1.0, slope),)


PSI = Measure("potential")
"""Psi itself, of which a factor is proved."""


_ROUNDING = 1e-13
"""A coefficient of a state at rest that is not written, relative to those that it is made of."""

NO_GROWTH = Fraction(0)
"""No growth of Psi."""


@dataclass(frozen=True, eq=False)
class Start:
    """|x - x*|^2, and the terms of Psi at the state at rest about the model x.

    Attributes
    ----------
    distance : RationalForm
        |x - x*|^2.
    terms : tuple of RationalForm
        Those of Psi, with weight 1, where gradient estimates are the gradients at x, and all points
        are x.
    """

    distance: RationalForm
    terms: tuple[RationalForm, ...]

    def weighted(self, step: RationalStep) -> "Start":
        """Return the start with terms of their own weights in a step."""
        pairs = zip(step.symbols.weights, self.terms, strict=True)
        return replace(self, terms=tuple(combination([rational(w)], [one]) for w, one in pairs))


@dataclass(frozen=True)
class _WithStart:
    """A measure, then |x - x*|^2 and a potential at the state at rest about the model."""

    measure: Potential
    potential: Potential

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms at a state."""
        rest = fixed_point(m, AboutModel(problem, m.model(s)))
        return (
            *self.measure.lyapunov(m, s, star, setting, problem),
            *AtModel("distance").lyapunov(m, s, star, setting, problem),
            *self.potential.lyapunov(m, rest, star, setting, problem),
        )


def step_and_start(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    measure: Measure,
    growth: Fraction = NO_GROWTH,
    **choices: Any,
) -> tuple[RationalStep, Start | None]:
    """Return a step with its measure, and its start where functions have a solution.

    Where Psi may grow by a part of itself, E[Psi+] is given less this part of Psi.
    """
    starts = functions.has_solution and not measure.contracts
    asked = _WithStart(measure, potential) if starts else measure
    step = RationalStep.of(method, functions, potential, measure=asked, **choices)
    first, *others = step.measured
    if measure.contracts:
        first = combination(list(map(rational, step.symbols.weights)), step.now)
    start = Start(others[0], tuple(others[1:])) if others else None
    if growth:
        pairs = zip(step.after, step.now, strict=True)
        part = rational(-growth)
        step = replace(step, after=tuple(after.plus(part, now) for after, now in pairs))
    return replace(step, measured=(first,)), start


def factor_step(
    method: Method, functions: FunctionClass, potential: Potential, *, trusted: bool = False
) -> RationalStep:
    """Return the step of a factor; where gradients are exact, without noises as unknowns."""
    if functions.has_solution and not functions.has_variance:
        return RationalStep.of(method, functions, potential, trusted=trusted)
    return step_and_start(method, functions, potential, PSI, trusted=trusted)[0]


def with_noises(
    step: RationalStep,
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Sequence[Rational],
) -> RationalStep:
    """Return the step of a factor with noises as unknowns, unless bounds of variances stand."""
    if step.measured or step.bounds_variances(weights):
        return step
    return step_and_start(method, functions, potential, PSI, trusted=True)[0]


def values_at_start(
    potential: Potential, experiment: Experiment[Any], functions: FunctionClass
) -> list[float]:
    """Return the terms of a potential where a run on a problem starts, at x = 0, with its weights.

    Parts of the state are compared with the state at rest about the model.
    """
    method, view = experiment.method, experiment.problem
    channel, oracle = simulated_world(experiment)
    state = method.start(channel.template, oracle, channel)
    rest = fixed_point(method, AboutModel(view, method.model(state)))
    terms = potential.lyapunov(method, state, rest, functions, view)
    return [float(host(value((term,), view))[0]) for term in terms]


@dataclass(frozen=True)
class _Affine:
    """n functions with given gradients everywhere, (n, 1, 1)."""

    n: int
    slopes: Array

    def grad(self, x: Array) -> Array:
        """Return the gradients, (n, d, R)."""
        return self.slopes + 0 * x


def _at_rest(method: Method, x: float, slopes: Array) -> dict[str, float]:
    """Return by field the number of the first client, at rest about x, with given gradients."""
    about = AboutModel(_Affine(len(slopes), slopes), np.full((1, 1, 1), x))
    rest = vars(fixed_point(method, about))
    return {name: float(field.flat[0]) for name, field in rest.items() if field.dtype != bool}


def rest_text(method: Method, n: int) -> str:
    """Say where the fields of a method on n clients are at rest about x, but those that are x."""
    one, differences = np.ones((n, 1, 1)), np.zeros((n, 1, 1))
    differences[:2, 0, 0] = (1.0, -1.0)[:n]
    of_x, of_mean = _at_rest(method, 1.0, 0 * one), _at_rest(method, 0.0, one)
    of_own = _at_rest(method, 0.0, differences) if n > 1 else dict.fromkeys(of_x, 0.0)
    texts = []
    for name, number in of_x.items():
        own, mean = of_own[name], of_mean[name]
        apart = mean - own
        if abs(apart) <= _ROUNDING * max(abs(own), abs(mean)):
            apart = 0.0
        parts = {"x": number, "grad f_i(x)": own, "grad f(x)": apart}
        sizes = {unit: f"{size:.4g} " for unit, size in parts.items() if size}
        text = " + ".join(("" if size == "1 " else size) + unit for unit, size in sizes.items())
        texts += [f"{name} = {text or 0}"] * (text != "x")
    return ", ".join(texts)


def movement(step: SymbolicStep, place: int) -> Rationals:
    """Return a movement that leaves most forms as they are, in the coordinates of a block, (k,).

    In the block of equal clients all points move; in the others, the gradients of the f_i at all
    points. The state is at rest. The coordinates are those of the forms of rational steps.
    """
    basis, kernel, n = step.basis, rationals(step.kernels[place]), step.functions.n
    moved = np.full(basis.size, ZERO, dtype=object)
    slopes = np.zeros((n, 1, 1))
    if place:
        slopes[:2, 0, 0] = (1.0, -1.0)[:n]
        moved[[one.gradient for one in step.evaluations if one.kind == place - 1]] = fmpq(1)
    lengths = [*map(rational, _at_rest(step.method, 0.0 if place else 1.0, slopes).values())]
    states = [number for name, number in basis.names.items() if name[0] == "state"]
    for number, length in zip(states, lengths, strict=True):
        own = bool(basis.every_client[number])
        if own or not place:
            moved[number : number + (basis.kinds if own else 1)] = length
    reduced, rank = fmpq_mat(np.hstack([kernel, moved[:, None]]).tolist()).rref()
    found = np.full(kernel.shape[1], ZERO, dtype=object)
    for i in range(rank):
        lead = next(j for j in range(reduced.ncols()) if reduced[i, j])
        if lead < len(found):
            found[lead] = reduced[i, reduced.ncols() - 1]
    return found


@dataclass(frozen=True)
class Descent:
    """A proof of E[Psi+] <= Psi - c M + e sigma^2 + e' zeta^2, in rational numbers.

    Attributes
    ----------
    c : rational
        The constant.
    weights : tuple of rational
        Those of the terms of Psi.
    multipliers, below : mapping
        The multipliers of the inequalities in the proof of the descent, and of Psi >= 0, by name.
    free : mapping
        The multipliers of the equalities in the proof of the descent, of any sign.
    starting : mapping
        The multipliers of the inequalities in the proof about the start, by name.
    e : rational
        The coefficient of sigma^2, 0 where gradients are exact.
    dissimilarity : rational
        e', the coefficient of zeta^2, 0 where clients do not differ by zeta.
    bound : float
        An upper bound on c for any multipliers, and any free weights within the limit.
    positive : bool
        Whether Psi >= 0 is proved, too.
    following : tuple of rational, optional
        The weights of the terms of Psi+, where they are others.
    """

    c: Rational
    weights: tuple[Rational, ...]
    multipliers: Mapping[str, Rational]
    below: Mapping[str, Rational]
    free: Mapping[str, Rational]
    starting: Mapping[str, Rational]
    e: Rational = ZERO
    dissimilarity: Rational = ZERO
    bound: float = float("inf")
    positive: bool = True
    following: tuple[Rational, ...] | None = None

    def spent(self, functions: FunctionClass) -> Rational:
        """Return e + zeta^2 e', the least of which is looked for."""
        return self.e + rational(functions.zeta) ** 2 * self.dissimilarity

    def holds(self, step: RationalStep, start: Start | None = None) -> bool:
        """Whether a step descends so: no sign fails, values cancel, matrices are at least 0."""
        used = self.multipliers, self.below, self.starting
        if not ({*chain(*used)} <= {*step.inequalities} and {*self.free} <= {*step.equalities}):
            return False  # of another step
        signs = [y for own in used for y in own.values()]
        return min(signs, default=ZERO) >= 0 and all(
            not any(form.values) and all(ldl(block) is not None for block in form.blocks)
            for form in self.left(step, start)
        )

    def left(self, step: RationalStep, start: Start | None = None) -> list[RationalForm]:
        """Return what multiples of the inequalities leave: of the descent, Psi and the start."""
        now, after = step.psi(self.weights, self.following)
        measure = combination([fmpq(1)] * len(step.measured), step.measured)
        left = now.plus(fmpq(-1), after).plus(-self.c, measure)
        spent = {"sigma^2": self.e, "zeta^2": self.dissimilarity}
        for name, scalar in step.scalars.items():
            left = left.plus(spent[name], scalar)
        for name, u in self.free.items():
            left = left.plus(-u, step.equalities[name])
        proved = [(self.multipliers, left)]
        if self.positive:
            proved.append((self.below, now))
        if start is not None:
            rest = combination(self.weights, start.terms)
            proved.append((self.starting, start.distance.plus(fmpq(-1), rest)))
        return [
            combination(
                [fmpq(1), *(-y for y in own.values())],
                [form, *(step.inequalities[name] for name in own)],
            )
            for own, form in proved
        ]


def unit_of_step(method: Method) -> str:
    """Say what a step is where it is not one iteration: a round with its local steps."""
    schedule = method.schedule
    count = schedule.iterations if isinstance(schedule, Every) else 1
    return f"; a step is a round of {count} iterations" if count > 1 else ""


@dataclass(frozen=True, repr=False)
class Proof:
    """A proof that E[Psi+] <= (1 + growth) Psi - c M + e sigma^2 + e' zeta^2 over a class.

    With M = Psi it proves a factor, E[Psi+] <= (1 - c) Psi + e sigma^2. With another M and no
    growth, (1/T) sum_t E[M_t] <= Psi_0/(c T) + (e/c) sigma^2 + (e'/c) zeta^2 after T steps. e = 0
    for exact gradients, and e' = 0 where no zeta bounds how much clients differ.

    The proof is in rational numbers, without any tolerance. The floats in method, functions,
    potential and weights stand for the rational numbers that they are printed as: 0.1 for 1/10.

    Attributes
    ----------
    method, functions, potential
        The method, the class, and the Lyapunov function Psi.
    exact : Fraction
        The proved c.
    weights : tuple of numbers
        The weights of the terms of Psi, in their order.
    multipliers, below : mapping of Fraction
        The multipliers of the inequalities, by name, in the proofs of the decrease and of Psi >= 0;
        the latter has none where M = Psi is a sum of squares and function values.
    measure : Measure
        M.
    free : mapping of Fraction
        The multipliers of what is 0 in the mean, by name, in the proof of the decrease.
    starting : mapping of Fraction
        The multipliers of the inequalities, by name, in the proof that Psi at a start is at most
        |x - x*|^2, where functions have a solution and M is not Psi.
    bound : float
        An upper bound on the c that any multipliers prove with this Psi; proved by a dual point in
        interval arithmetic, infinite if there is none.
    exact_e, exact_dissimilarity : Fraction
        The proved e and e'.
    growth : Fraction
        The part of itself by which Psi may grow in the mean.
    scale : Fraction
        The factor of the potential that makes Psi: 1, but where ``starting`` is used.
    following : tuple of numbers, optional
        The weights of the terms of Psi+ in a link of a chain.
    seconds : float
        Time from the method to the proof.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify
    >>> certify(GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10))
    Certificate of GD(gamma=0.1)
    over all functions with n = 3, mu = 1, L = 10, omega = 0
    E[Psi+] <= (1 - 0.189999) Psi
    >>> proof = certify(GD(gamma=0.5), FunctionClass.nonconvex(3, L=1.0))
    >>> proof
    Certificate of GD(gamma=0.5)
    over all functions with n = 3, mu = -1, L = 1, omega = 0
    E[Psi+] <= Psi - 0.437499 |grad f(x)|^2
    >>> round(proof.promise.rounds_to(0.01))
    229
    """

    method: Method
    functions: FunctionClass
    potential: Potential
    exact: Fraction
    weights: tuple[Any, ...]
    multipliers: Mapping[str, Fraction]
    measure: Measure = PSI
    below: Mapping[str, Fraction] = field(default_factory=dict)
    free: Mapping[str, Fraction] = field(default_factory=dict)
    starting: Mapping[str, Fraction] = field(default_factory=dict)
    bound: float = float("inf")
    exact_e: Fraction = Fraction(0)
    exact_dissimilarity: Fraction = Fraction(0)
    growth: Fraction = NO_GROWTH
    scale: Fraction = Fraction(1)
    following: tuple[Any, ...] | None = None
    seconds: float = field(default=0.0, compare=False)

    @classmethod
    def of(
        cls,
        method: Method,
        functions: FunctionClass,
        potential: Potential,
        measure: Measure,
        found: Descent,
        weights: tuple[Any, ...],
        **more: Any,
    ) -> Self:
        """Return the proof with the multipliers of a programme."""
        multipliers, below, free, starting = (
            {name: fraction(y) for name, y in own.items()}
            for own in (found.multipliers, found.below, found.free, found.starting)
        )
        return cls(
            method,
            functions,
            potential,
            fraction(found.c),
            weights,
            multipliers,
            measure,
            below,
            free,
            starting,
            found.bound,
            fraction(found.e),
            fraction(found.dissimilarity),
            **more,
        )

    @property
    def c(self) -> float:
        """The proved constant, rounded to a float."""
        return float(self.exact)

    decrease = c
    """The proved 1 - factor, where M = Psi."""

    @property
    def factor(self) -> float:
        """The proved factor 1 - c, rounded up to a float, where M = Psi."""
        factor = float(1 - self.exact)
        return factor if factor >= 1 - self.exact else math.nextafter(factor, math.inf)

    @property
    def e(self) -> float:
        """The proved coefficient of sigma^2, rounded to a float."""
        return float(self.exact_e)

    @property
    def dissimilarity(self) -> float:
        """The proved coefficient of zeta^2, rounded to a float."""
        return float(self.exact_dissimilarity)

    @property
    def spent(self) -> Rational:
        """The sum e + zeta^2 e', of which the least is looked for."""
        zeta = rational(self.functions.zeta)
        return rational(self.exact_e) + zeta**2 * rational(self.exact_dissimilarity)

    @property
    def promise(self) -> ContractionPromise | DescentPromise:
        """What is proved, with the iterations that follow."""
        if self.measure.contracts:
            return ContractionPromise(self.factor, self.e)
        name, unlike = self.measure.name, self.dissimilarity
        return DescentPromise(self.c, self.e, float(self.growth), name, unlike)

    @property
    def region(self) -> Region | None:
        """The region in which the proof holds; None for all states."""
        potential = self.potential
        while isinstance(potential, Reweighted):
            potential = potential.potential
        if not isinstance(potential, LocalPotential):
            return None
        return potential.region(self.method, self.functions, self.weights)

    @property
    def proviso(self) -> str:
        """The region in words, and why runs stay there; "" if the proof holds everywhere."""
        region = self.region
        if region is None:
            return ""
        kept = f"kept from Psi = {region.psi} <= {region.level:.6g} on"
        return f"{region.where}; {kept if self.c >= 0 else 'not proved to be kept'}"

    def require_kept(self, what: str) -> None:
        """Refuse a use that assumes that runs stay in the region, if this is not proved."""
        if self.region is not None and self.c < 0:
            raise Refusal(
                f"what is certified of {self.method.name} holds in a region that a growing Psi "
                f"does not keep, and {what} takes a run that stays there; take a smaller step"
            )

    @property
    def reduces_variance(self) -> bool:
        """Whether it is about one sample at two points, whose noises nearly cancel."""
        return any(name.startswith("difference") for name in self.multipliers)

    def statement(self, digits: int = 6) -> str:
        """Return the inequality that is proved, rounded so that it stays true."""
        if self.following not in {None, self.weights}:
            return (
                f"E[Phi+] <= {times_psi(self.exact, digits)}, the terms of Phi with the weights "
                f"{self.following} and those of Psi with {self.weights}"
            )
        spent = (self.exact_e, "sigma^2"), (self.exact_dissimilarity, "zeta^2")
        added = "".join(f" + {written(x, 6, up=True)} {unit}" for x, unit in spent if x)
        if self.measure.contracts:
            return f"E[Psi+] <= {times_psi(self.exact, digits)}{added}"
        grown = f"(1 + {written(self.growth, 6, up=True)}) " if self.growth else ""
        least = subtracted(self.exact, digits)
        return f"E[Psi+] <= {grown}Psi {least} {self.measure.symbol}{added}"

    def __repr__(self) -> str:
        return (
            f"Certificate of {self.method}{unit_of_step(self.method)}\n"
            f"over {self.functions.described_for(self.method)}\n"
            + self.statement()
            + (f"\nwhile {self.proviso}" if self.proviso else "")
        )

    def verify(self) -> bool:
        """Return whether the multipliers prove it, after the method was run on symbols anew.

        See :meth:`~certibit.theory.proofs.proof.Descent.holds` for what is checked.
        """
        return self.holds_for(*self.step_and_start)

    @property
    def step_and_start(self) -> tuple[RationalStep, Start | None]:
        """The step of the method that the multipliers are about, on symbols, and its start."""
        about = self.method, self.functions, self.potential
        if self.following is not None:
            return RationalStep.of(*about), None
        if not self.measure.contracts:
            return step_and_start(*about, self.measure, self.growth)
        return with_noises(factor_step(*about), *about, self.exact_weights), None

    def holds_for(
        self, step: RationalStep, start: Start | None = None, *, linked: bool = False
    ) -> bool:
        """Whether the multipliers prove the decrease of a step, and that Psi >= 0.

        In a link of a chain the weights of Psi+, but for those of function values, may be negative,
        and so may be Psi. Where the step has no noises as unknowns, bounds of their variances stand
        for them; so Psi+ is a sum of squares and function values, or the end of another link, where
        the messages whose variance is the bound are the worst ones for all links.
        """
        descent = self.descent(step)
        now, _ = step.psi(descent.weights)
        following = descent.following
        signed = zip(following or (), step.now, strict=False)
        if any(y < 0 and any(form.values) for y, form in signed) or not any(now.entries):
            return False
        if not step.measured:
            one_law = linked and following is not None and self.functions.independent
            if not (one_law or step.bounds_variances(following or descent.weights)):
                return False
            step = replace(step, equalities={})
        if self.measure.contracts:
            step = replace(step, measured=(now,))
        return descent.holds(step, start)

    def descent(self, step: RationalStep) -> Descent:
        """Return the proof of a step, in the numbers of a programme."""
        multipliers, below, free, starting = (
            {name: rational(y) for name, y in own.items()}
            for own in (self.multipliers, self.below, self.free, self.starting)
        )
        weights = self.exact_weights
        following = None if self.following is None else tuple(map(rational, self.following))
        if following is None and not below:  # bounds of all f - f* prove Psi >= 0
            now, _ = step.psi(weights)
            below = {name: y for name, y in zip(step.bounding, now.values, strict=False) if y}
        return Descent(
            rational(self.exact),
            weights,
            multipliers,
            below,
            free,
            starting,
            rational(self.exact_e),
            rational(self.exact_dissimilarity),
            positive=following is None,
            following=following,
        )

    @property
    def formula(self) -> str | None:
        """Psi in the fields of a state; None where :func:`potential_text` has no words for it."""
        if isinstance(self.potential, QuadraticPotential):
            return str(self.potential)
        return potential_text(self.potential, self.weights, self.method, self.functions)

    @property
    def exact_weights(self) -> tuple[Rational, ...]:
        """The weights of Psi as rational numbers."""
        return tuple(map(rational, self.weights))
