"""The decrease of one step as a floating-point solver reports it, used in searches only."""

from typing import Literal

from certibit.solvers.method import Method
from certibit.theory.certificates.coordinates import Coordinates
from certibit.theory.certificates.form_programme import best_weights
from certibit.theory.certificates.programme import margin_form, maximise, psi
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.symbolic_step import symbolic_step

Weights = Literal["fixed", "free"]


def solver_decrease(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
) -> float:
    """Return 1 - factor as the solver reports it, without a proof; with free weights, proved.

    What is ``trusted`` is as in :func:`~certibit.theory.proofs.symbolic_step.symbolic_step`.

    Raises
    ------
    Refusal
        If the method cannot be certified, or the solver gives up.
    """
    if weights == "free":
        return best_weights(RationalStep.of(method, functions, potential, trusted=trusted))[0]
    step = symbolic_step(method, functions, potential, trusted=trusted)
    now, _ = psi(step, step.weights)
    forms = [*step.inequalities.values()]
    coordinates = Coordinates.of(step, now)
    return maximise(margin_form(step, step.weights, 0.0), now, forms, coordinates).value
