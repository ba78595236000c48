"""Certified factors: the worst case of a method over all functions and all compressors."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Literal, get_args

import numpy as np
import scipy.linalg

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.cards.catalogue import card_of
from bitbound.theory.certificates.coordinates import Coordinates
from bitbound.theory.certificates.decrease import (
    Weights,
    best_proof,
    first_solved,
    largest_decrease,
    solver_decrease,
)
from bitbound.theory.certificates.potential_search import searched_potential
from bitbound.theory.certificates.programme import Solver, psi
from bitbound.theory.certificates.proof import Certificate
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import LocalPotential, Potential
from bitbound.theory.setting import Setting
from bitbound.theory.worlds.symbolic.frames import Blocks

SMALLEST_STEP = 1e-9
"""Part of the largest step at which a search for one that works ends."""

RANK = 1e-7
"""Relative size below which an eigenvalue of the dual is taken to be 0."""


def certify(
    method: Method,
    functions: FunctionClass | Setting,
    weights: Weights = "fixed",
    solver: Solver = "clarabel",
    potential: Potential | Literal["search"] | None = None,
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
    potential : Potential or "search", optional
        Whose Lyapunov function; by default that of the method's first theorem. Without a theorem,
        or with "search", a quadratic form of the state is searched for; where that of a theorem
        proves more, it is this one. A method whose card cuts
        its steps elsewhere is certified in these.

    Raises
    ------
    Refusal
        If the method cannot be certified, or if nothing is proved for these parameters: not even
        that Psi grows by no more than a finite factor.

    Examples
    --------
    >>> from bitbound import DIANA, FunctionClass, certify
    >>> proof = certify(DIANA(gamma=0.02, alpha=0.1), FunctionClass(n=10, mu=1, L=10, omega=9))
    >>> proof.factor < 1 and proof.verify() == proof.factor
    True
    """
    start = perf_counter()
    if weights not in get_args(Weights):
        raise Refusal(f"weights = {weights!r} is no choice; take 'fixed' or 'free'")
    if isinstance(potential, str) and potential != "search":
        raise Refusal(f"potential = {potential!r} is none; take 'search', or an object of your own")
    if isinstance(functions, Setting):
        functions = FunctionClass.of(functions)
    cut = card_of(method).cut(method) if potential is None or potential == "search" else None
    if cut is not None:
        if potential == "search" and isinstance(cut[1], LocalPotential):
            raise Refusal(
                f"{method.name} is certified where its own Lyapunov function keeps it, and one "
                "that is searched for may not; take the stated one"
            )
        method, potential = cut[0], potential or cut[1]
    if potential == "search":
        stated = card_of(method).theorems if cut is None else (cut[1],)
        proof = _searched(method, functions, stated, solver)
    else:
        if potential is None:
            potential, weights = chosen_potential(method, functions, weights)
        proof = _proof(method, functions, potential, weights, solver)
    return replace(proof, seconds=perf_counter() - start)


def _searched(
    method: Method, functions: FunctionClass, stated: Sequence[Potential], solver: Solver
) -> Certificate:
    """Return the proof for a potential that is searched for, or for a stated one if better.

    The one of which the solver says that it decreases the most is proved first, and the next only
    if it may prove more.
    """
    candidates: list[tuple[float, Potential]] = []
    for potential in stated:
        # where its hypotheses do not hold, a theorem may have no number for a weight, or no sense
        with suppress(Refusal, ArithmeticError, ValueError):
            step = symbolic_step(method, functions, potential)
            if all(0 <= weight < np.inf for weight in step.weights):
                candidates.append((largest_decrease(step), potential))
    reason: Refusal | None = None
    try:
        above = max((decrease for decrease, _ in candidates), default=-np.inf)
        candidates.insert(0, searched_potential(method, functions, above))
    except Refusal as refusal:
        reason = refusal
    found: list[Certificate] = []
    above = -np.inf
    for decrease, potential in sorted(candidates, key=lambda pair: -pair[0]):
        if decrease <= above:
            break
        with_more = -np.inf if potential in stated else above
        try:
            found.append(_proof(method, functions, potential, "fixed", solver, with_more))
            above = max(above, found[-1].decrease)
        except Refusal as refusal:  # this is why, and not that nothing better is found
            reason = refusal
    if not found:
        raise reason or Refusal("no potential is stated, and none is found")
    return max(found, key=lambda proof: proof.decrease)


def _proof(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights,
    solver: Solver,
    above: float = -np.inf,
) -> Certificate:
    return best_proof(
        method,
        functions,
        potential,
        symbolic_step(method, functions, potential),
        lambda programme: programme.decrease(weights),
        solver,
        above=above,
    )


def chosen_potential(
    method: Method, functions: FunctionClass, weights: Weights = "fixed"
) -> tuple[Potential, Weights]:
    """Return the potential of a method's first theorem, or one that is searched for.

    The weights of one that was searched for are good already.
    """
    theorem = next(iter(card_of(method).theorems), None)
    if theorem is not None:
        return theorem, weights
    return searched_potential(method, functions)[1], "fixed"


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
        Where the search begins, which halves it until a step works: those that do are taken to be
        an interval from 0, of which tiny ones decrease by too little to be told from rounding.
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
    >>> from bitbound import GD, FunctionClass, largest_step
    >>> found = largest_step(GD, FunctionClass(n=3, mu=1, L=10), largest=1.0)
    >>> round(found, 3)
    0.2
    """
    low = high = largest
    while not contracts(change(low), functions, weights, potential):
        if low <= SMALLEST_STEP * largest:
            raise Refusal(
                f"no step size from {low:g} on is certified; the other parameters forbid it"
            )
        low, high = low / 2, low
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
        step = _with_ridge(step, step.functions.mu)
    now, _ = psi(step, step.weights)
    centre, solution = first_solved(step, lambda one: (one.centre, one.at(step.weights)))
    kernels = Coordinates.of(step, now, centre).kernels
    smallest = RANK * sum(float(np.trace(gram)) for gram in solution.dual)
    factors = []
    for gram in solution.dual:
        values, directions = np.linalg.eigh(gram)
        kept = values > smallest
        factors.append(directions[:, kept] * np.sqrt(values[kept]))
    vectors = tuple(kernel @ factor for kernel, factor in zip(kernels, factors, strict=True))
    return step, solution.value, vectors


def _with_ridge(step: SymbolicStep, mu: float) -> SymbolicStep:
    """Add that every gradient of g is mu times its point."""
    relations = np.array(
        [
            mu * evaluation.point[0] - np.eye(step.basis.size)[evaluation.gradient]
            for evaluation in step.evaluations
            if evaluation.function == "g"
        ]
    ).reshape(-1, step.basis.size)
    first, *others = step.kernels
    return replace(step, kernels=(first @ scipy.linalg.null_space(relations @ first), *others))
