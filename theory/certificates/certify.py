"""Certified contraction factors: the worst case over all functions and all compressors."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.certificates.factor_form import best_weights, searched_potential
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import LocalPotential, Potential
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.measure import Measure
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.setting import Setting
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational
from certibit.theory.worlds.symbolic.step_outcomes import as_used, outcomes_found_once

Weights = Literal["fixed", "free"]

GIVEN_UP = Fraction(1, 10**6)
"""Relative loss of decrease that is accepted for a potential that is stated."""


@one_thread()
@outcomes_found_once()
def certify(
    method: Method,
    functions: FunctionClass | Setting,
    weights: Weights = "fixed",
    potential: Potential | Literal["search"] | None = None,
) -> Certificate:
    """Return a proved contraction factor of a Lyapunov function over a class, searched for.

    This is performance estimation. The semidefinite programme maximises the decrease rho such that
    E[Psi+] - (1 - rho) Psi, plus nonnegative multiples of inequalities that all functions of the
    class (interpolation conditions) and all compressors satisfy, is <= 0 for all vectors. The step,
    the programme and the proof are in rational numbers, so that the result does not depend on the
    processor; floats only guide the search for a potential or for weights.

    Parameters
    ----------
    weights : "fixed" or "free"
        Whether the terms of the Lyapunov function keep their weights, or get the weights with the
        best factor, searched for by alternating between factor and weights.
    potential : Potential or "search", optional
        The Lyapunov function; by default that of the method's first theorem. Without a theorem, or
        with "search", a quadratic form of the state is searched for; a theorem's Lyapunov function
        is used unless the form proves more, by 1e-6 of it. If the card moves the boundary between
        steps, the certificate is about these steps.

    Raises
    ------
    Refusal
        If the method cannot be certified, or if no finite factor is proved for these parameters.

    Examples
    --------
    >>> from certibit import DIANA, FunctionClass, certify
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
    functions.require_solution()
    cut = card_of(method).cut(method) if potential is None or potential == "search" else None
    if cut is not None:
        if potential == "search" and isinstance(cut[1], LocalPotential):
            raise Refusal(
                f"{method.name} is certified where its own Lyapunov function keeps it, and one "
                "that is searched for may not; take the stated one"
            )
        method, potential = cut[0], potential or cut[1]
    functions = as_used(method, functions)
    if potential == "search":
        stated = card_of(method).about("potential") if cut is None else (cut[1],)
        proof = _searched(method, functions, stated)
    else:
        if potential is None:
            potential, weights = chosen_potential(method, functions, weights)
        proof = proof_of(method, functions, potential, weights)
    return replace(proof, seconds=perf_counter() - start)


def _searched(method: Method, functions: FunctionClass, stated: Sequence[Potential]) -> Certificate:
    """Return the best proof among a potential that is searched for and the stated potentials."""
    proofs: dict[Any, Certificate] = {}
    for potential in stated:
        # where its hypotheses do not hold, a theorem may have no number for a weight, or no sense
        with suppress(Refusal, ArithmeticError, ValueError):
            step = RationalStep.of(method, functions, potential)
            weights = step.symbols.weights
            key = weights, *(tuple(form.entries) for form in step.now)
            if key not in proofs:  # theorems share Lyapunov functions
                proofs[key] = proof_of_step(step, method, functions, potential, weights)
    best = max(proofs.values(), key=lambda proof: proof.exact, default=None)
    try:
        form = proof_of(method, functions, searched_potential(method, functions))
    except Refusal:
        if best is None:
            raise
        return best
    enough = best.exact + GIVEN_UP * abs(best.exact) if best else form.exact
    return form if best is None or form.exact > enough else best


def proof_of(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
) -> Certificate:
    """Return the best certificate of a method with a potential."""
    step, own = _step_and_weights(method, functions, potential, weights)
    return proof_of_step(step, method, functions, potential, own)


def _step_and_weights(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights,
    *,
    trusted: bool = False,
) -> tuple[RationalStep, tuple[float, ...]]:
    """Return a step and the weights of Psi, with noises as unknowns unless Psi is positive.

    A bound of variances bounds E[Psi+] only where Psi is a sum of squares and function values.
    """
    step = RationalStep.of(method, functions, potential, trusted=trusted)
    own = best_weights(step) if weights == "free" else step.symbols.weights
    if not step.psi(exact_weights(own, potential))[0].is_positive:
        measure = Measure("potential")
        step = RationalStep.of(method, functions, potential, trusted=True, measure=measure)
    return step, own


def proof_of_step(
    step: RationalStep,
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: tuple[float, ...],
    following: tuple[float, ...] | None = None,
) -> Certificate:
    """Return the best certificate of a step, for weights of Psi and perhaps others of Psi+."""
    now = exact_weights(weights, potential, linked=following is not None)
    then = None if following is None else tuple(map(rational, following))
    best = DescentProgramme.of_factor(step, now, then).best()
    multipliers, below, free = (
        {name: fraction(y) for name, y in own.items()}
        for own in (best.multipliers, best.below, best.free)
    )
    return Certificate(
        method,
        functions,
        potential,
        fraction(best.c),
        weights,
        multipliers,
        best.bound,
        following,
        below,
        free,
    )


def best_decrease(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
    least: float = -np.inf,
) -> float:
    """Return the decrease that :func:`certify` proves, or whether it is above the ``least``."""
    step, own = _step_and_weights(method, functions, potential, weights, trusted=trusted)
    return DescentProgramme.of_factor(step, exact_weights(own, potential)).constant(least)


def exact_weights(
    weights: Sequence[float], potential: Potential, *, linked: bool = False
) -> tuple[Rational, ...]:
    """Return the weights of a Lyapunov function as rational numbers.

    Those of a form that was searched for, and those in a link of a chain, may be negative.

    Raises
    ------
    Refusal
        If a weight is infinite or NaN, or is negative and may not be.
    """
    signed = linked or isinstance(potential, QuadraticPotential)
    if not all(np.isfinite(weight) and (signed or weight >= 0) for weight in weights):
        raise Refusal(
            f"the weights {tuple(weights)} of the Lyapunov function are not all at least 0 and "
            "finite; take parameters for which it is defined"
        )
    return tuple(map(rational, weights))


def chosen_potential(
    method: Method, functions: FunctionClass, weights: Weights = "fixed"
) -> tuple[Potential, Weights]:
    """Return the potential of a method's first theorem, or one that is searched for.

    A potential that was searched for keeps its weights, which the search has optimised.
    """
    theorem = next(iter(card_of(method).about("potential")), None)
    if theorem is not None:
        return theorem, weights
    return searched_potential(method, functions), "fixed"
