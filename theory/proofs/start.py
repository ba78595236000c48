"""Measures M, what is proved of a descent, and Psi at the start of a run.

Where functions have a solution, Psi at the start is at most |x - x*|^2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Literal

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.arrays import Array
from certibit.solvers.backend import mean
from certibit.solvers.libraries import host
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import simulated_world
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Gap, Potential, Squares, Terms, value
from certibit.theory.proofs.rational_algebra import ZERO, Rationals, ldl
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.worlds.fixed_points import AboutModel, fixed_point
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational, rationals

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


ZERO_PART = 1e-9
"""A coefficient of a state at rest that is not written."""

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
        parts = {
            "x": number,
            "grad f_i(x)": of_own[name],
            "grad f(x)": of_mean[name] - of_own[name],
        }
        sizes = {unit: f"{size:.4g} " for unit, size in parts.items() if abs(size) > ZERO_PART}
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
