"""Certified factors: the worst case of a method over all functions and all compressors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np
import scipy.linalg

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.interpolation import Form
from bitbound.theory.certificates.potentials import best_start, theorem_potential
from bitbound.theory.certificates.programme import Coordinates, Solver, SolverResult, maximise, psi
from bitbound.theory.certificates.proof import Certificate, margin_form, proves
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import Potential
from bitbound.theory.setting import Setting
from bitbound.theory.worlds.symbols import Blocks

Weights = Literal["fixed", "free"]

SMALLEST_WEIGHT = 1e-6
"""How small a free weight may become, relative to the method's own."""

RETREATS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)
"""Parts of the solver's decrease that are given up, one after the other, for a proof."""

CENTRES = (0.0, 0.25, 0.5)
"""Centres of the coordinates that are tried, one after the other, until a proof is good."""

SMALL_LOSS = 1e-3
"""Part of the solver's decrease that may be given up without trying another centre."""

RANK = 1e-7
"""Relative size below which an eigenvalue of the dual is taken to be 0."""

MOST_ROUNDS = 40
"""How often weights are improved at most."""


def certify(
    method: Method,
    functions: FunctionClass | Setting,
    weights: Weights = "fixed",
    solver: Solver = "clarabel",
    potential: Potential | None = None,
) -> Certificate:
    """Return the smallest provable factor of a method's Lyapunov function over a function class.

    The programme: maximise the decrease rho such that E[Psi+] - (1 - rho) Psi plus nonnegative
    multiples of what holds for all functions of the class (interpolation conditions) and all
    compressors is <= 0 for all vectors.

    Parameters
    ----------
    weights : "fixed" or "free"
        Whether the terms of the Lyapunov function keep their weights, or get those with the best
        factor. What is found is the best by alternating between factor and weights.
    potential : Potential, optional
        Whose Lyapunov function; by default that of the method's first theorem. Without a theorem
        one is searched for among the weighted squares of the parts of the state.

    Raises
    ------
    Refusal
        If the method cannot be certified, or if nothing is proved for these parameters: not even
        that Psi grows by no more than a finite factor.

    Examples
    --------
    >>> from bitbound import DIANA, FunctionClass
    >>> proof = certify(DIANA(gamma=0.02, alpha=0.1), FunctionClass(n=10, mu=1, L=10, omega=9))
    >>> proof.factor < 1 and proof.verify() == proof.factor
    True
    """
    start = perf_counter()
    if isinstance(functions, Setting):
        functions = FunctionClass.of(functions)
    if potential is None:
        potential, weights = chosen_potential(method, functions, weights)
    step = symbolic_step(method, functions, potential)
    found: Certificate | None = None
    for centre in CENTRES:
        programme = _Programme(step, functions, solver, centre)
        try:
            own, solution = programme.decrease(weights)
            decrease, multipliers = programme.proof(own, solution)
        except Refusal:
            if centre == CENTRES[-1] and found is None:
                raise
            continue
        if found is None or decrease > found.decrease:
            found = Certificate(
                method,
                functions,
                potential,
                decrease,
                own,
                multipliers,
                solution.value,
                solution.residual,
                solution.gap,
                solver,
                perf_counter() - start,
            )
        if solution.value - decrease <= SMALL_LOSS * abs(solution.value):
            break
    assert found is not None
    return found


def chosen_potential(
    method: Method, functions: FunctionClass, weights: Weights = "fixed"
) -> tuple[Potential, Weights]:
    """Return the potential of a method's first theorem, or where a search for one starts.

    A searched potential has free weights.
    """
    stated = theorem_potential(method)
    if stated is not None:
        return stated, weights
    return best_start(method, functions, solver_decrease), "free"


@dataclass(frozen=True)
class _Programme:
    """The programmes of one step, in coordinates of some centre."""

    step: SymbolicStep
    functions: FunctionClass
    solver: Solver
    centre: float

    def maximise(
        self, fixed: Form, now: Form, forms: Sequence[Form] = (), **options: Any
    ) -> SolverResult:
        coordinates = Coordinates.of(self.step, now, self.functions, self.centre)
        everything = [*forms, *self.step.inequalities.values()]
        return maximise(fixed, now, everything, coordinates, solver=self.solver, **options)

    def at(self, weights: tuple[float, ...]) -> SolverResult:
        """Return the best decrease for fixed weights."""
        now, _ = psi(self.step, weights)
        return self.maximise(margin_form(self.step, weights, 0.0), now)

    def decrease(self, weights: Weights) -> tuple[tuple[float, ...], SolverResult]:
        """Return the weights and their decrease.

        Free ones alternate (Dinkelbach): the weights with most room at this factor, then their
        factor.
        """
        own = self.step.weights
        best, solution = own, self.at(own)
        rounds = MOST_ROUNDS if weights == "free" and len(own) > 1 else 0
        for _ in range(rounds):
            tried = self._roomier(best, solution.value)
            better = self.at(tried)
            if not better.value > solution.value + 1e-7 * abs(solution.value):
                break
            best, solution = tried, better
        return best, solution

    def _roomier(self, weights: tuple[float, ...], decrease: float) -> tuple[float, ...]:
        step, current = self.step, np.array(weights)
        now, _ = psi(step, weights)
        terms = [
            (after + before * (decrease - 1)) * weight
            for before, after, weight in zip(step.now, step.after, weights, strict=True)
        ]
        count, others = len(terms), np.zeros(len(step.inequalities))
        smallest = np.minimum(SMALLEST_WEIGHT * np.array(step.weights) / current, 1.0)
        room = self.maximise(
            now * 0.0,
            now,
            terms,
            lower=np.concatenate([smallest, others]),
            normal=np.concatenate([np.full(count, 1 / count), others]),
        )
        return tuple((current * room.multipliers[:count]).tolist())

    def proof(
        self, weights: tuple[float, ...], solution: SolverResult
    ) -> tuple[float, dict[str, float]]:
        """Return up a little of the decrease, so that all inequalities hold strictly."""
        now, _ = psi(self.step, weights)
        for retreat in RETREATS:
            decrease = solution.value - retreat * abs(solution.value)
            strict = self.maximise(margin_form(self.step, weights, decrease), now, margin=True)
            values = strict.multipliers.tolist()
            multipliers = dict(zip(self.step.inequalities, values, strict=True))
            if proves(self.step, self.functions, weights, decrease, multipliers):
                return decrease, multipliers
        raise Refusal(
            "the solver's multipliers are too inexact to prove a factor; take a smaller kappa"
        )


def largest_step(
    change: Callable[[float], Method],
    functions: FunctionClass,
    largest: float,
    weights: Weights = "fixed",
    accuracy: float = 1e-4,
    potential: Potential | None = None,
) -> float:
    """Return the largest certified step size: the factor is below 1 up to there.

    Parameters
    ----------
    change : callable
        Makes the method with a step size, such as ``lambda gamma: replace(m, gamma=gamma)``.
    largest : float
        Where the search ends; the steps that work are taken to be an interval from 0.
    accuracy : float
        Relative.
    potential : Potential, optional
        As in :func:`certify`.

    Notes
    -----
    The solver's word is taken here; :func:`certify` proves what it finds.

    Raises
    ------
    Refusal
        If no step down to 1e-9 of the largest is certified.

    Examples
    --------
    >>> from bitbound import FunctionClass, GD
    >>> found = largest_step(lambda gamma: GD(gamma), FunctionClass(n=3, mu=1, L=10), largest=1.0)
    >>> round(found, 3)
    0.2
    """
    low, high = 1e-9 * largest, largest
    if not contracts(change(low), functions, weights, potential):
        raise Refusal(f"no step size from {low:g} on is certified; the other parameters forbid it")
    if contracts(change(high), functions, weights, potential):
        return high
    while high > low * (1 + accuracy):
        middle = (low * high) ** 0.5
        if contracts(change(middle), functions, weights, potential):
            low = middle
        else:
            high = middle
    return low


def contracts(
    method: Method,
    functions: FunctionClass,
    weights: Weights = "fixed",
    potential: Potential | None = None,
) -> bool:
    """Whether the solver finds a factor below 1."""
    try:
        if potential is None:
            potential, weights = chosen_potential(method, functions, weights)
        return solver_decrease(method, functions, potential, weights) > 0
    except Refusal:
        return False


def worst_vectors(
    method: Method, functions: FunctionClass, potential: Potential, *, ridge: bool = False
) -> tuple[SymbolicStep, float, Blocks]:
    """Return the step, its solver's decrease, and the unknowns at a worst case with Psi = 1.

    Their Gram matrices are the dual of the programme. An unknown is a row, (basis, D), of what all
    clients share, and of the parts of zero sum together.

    Parameters
    ----------
    ridge : bool
        Take g to be (mu/2) |x|^2 and not any function of the class.

    Raises
    ------
    Refusal
        If the method cannot be certified or no factor is finite.
    """
    step = symbolic_step(method, functions, potential)
    if ridge:
        step = _with_ridge(step, functions.mu)
    now, _ = psi(step, step.weights)
    for centre in CENTRES:
        try:
            solution = _Programme(step, functions, "clarabel", centre).at(step.weights)
            break
        except Refusal:
            if centre == CENTRES[-1]:
                raise
    kernels = Coordinates.of(step, now, functions, centre).kernels
    smallest = RANK * sum(float(np.trace(gram)) for gram in solution.dual)
    factors = []
    for gram in solution.dual:
        values, directions = np.linalg.eigh(gram)
        kept = values > smallest
        factors.append(directions[:, kept] * np.sqrt(values[kept]))
    first, second = (kernel @ factor for kernel, factor in zip(kernels, factors, strict=True))
    return step, solution.value, (first, second)


def _with_ridge(step: SymbolicStep, mu: float) -> SymbolicStep:
    """Add that every gradient of g is mu times its point."""
    relations = np.array(
        [
            mu * evaluation.point[0] - np.eye(step.basis.size)[evaluation.gradient]
            for evaluation in step.evaluations
            if evaluation.function == "g"
        ]
    ).reshape(-1, step.basis.size)
    first, second = step.kernels
    return replace(step, kernels=(first @ scipy.linalg.null_space(relations @ first), second))


def solver_decrease(
    method: Method, functions: FunctionClass, potential: Potential, weights: Weights = "fixed"
) -> float:
    """Return 1 - factor as the solver reports it, without a proof: for searches."""
    step = symbolic_step(method, functions, potential)
    return _Programme(step, functions, "clarabel", CENTRES[0]).decrease(weights)[1].value
