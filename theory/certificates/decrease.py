"""The decrease of one step as a floating-point solver reports it, used in searches only."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.coordinates import Coordinates
from certibit.theory.certificates.programme import SolverResult, margin_form, maximise, psi
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.symbolic_step import SymbolicStep, symbolic_step

Weights = Literal["fixed", "free"]

SMALLEST_WEIGHT = 1e-6
"""How small a free weight may become, relative to the method's own."""

MOST_ROUNDS = 40
"""How often weights are improved at most."""

GAIN = 1e-7
"""Relative gain in the decrease below which weights are not improved again."""


def solver_decrease(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
) -> float:
    """Return 1 - factor as the solver reports it, without a proof.

    What is ``trusted`` is as in :func:`~certibit.theory.proofs.symbolic_step.symbolic_step`.

    Raises
    ------
    Refusal
        If the method cannot be certified, or the solver gives up.
    """
    step = symbolic_step(method, functions, potential, trusted=trusted)
    return StepProgramme(step).best(weights)[1].value


def best_weights(
    method: Method, functions: FunctionClass, potential: Potential
) -> tuple[float, ...] | None:
    """Return the weights of a potential with the largest decrease; None if the solver gives up."""
    step = symbolic_step(method, functions, potential)
    try:
        return StepProgramme(step).best("free")[0]
    except Refusal:
        return None


@dataclass(frozen=True)
class StepProgramme:
    """The programmes of one step."""

    step: SymbolicStep

    def at(self, weights: tuple[float, ...]) -> SolverResult:
        """Return the best decrease for some weights."""
        now, _ = psi(self.step, weights)
        forms = [*self.step.inequalities.values()]
        coordinates = Coordinates.of(self.step, now)
        return maximise(margin_form(self.step, weights, 0.0), now, forms, coordinates)

    def best(self, weights: Weights) -> tuple[tuple[float, ...], SolverResult]:
        """Return the weights and their decrease.

        Free ones alternate (Dinkelbach): the weights with most room at this factor, then their
        factor.
        """
        best = self.step.weights
        solution = self.at(best)
        rounds = MOST_ROUNDS if weights == "free" and len(best) > 1 else 0
        for _ in range(rounds):
            tried = self._roomier(best, solution.value)
            better = self.at(tried)
            if not better.value > solution.value + GAIN * abs(solution.value):
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
        room = maximise(
            now * 0.0,
            now,
            [*terms, *step.inequalities.values()],
            Coordinates.of(step, now),
            lower=np.concatenate([smallest, others]),
            normal=np.concatenate([np.full(count, 1 / count), others]),
        )
        return tuple((current * room.multipliers[:count]).tolist())
