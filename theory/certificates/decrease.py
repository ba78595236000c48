"""The proved decrease of one step, without the search for a proof with few digits."""

from collections.abc import Sequence
from math import inf
from typing import Literal

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.form_programme import best_weights
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.best_proof import ProofProgramme
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational

Weights = Literal["fixed", "free"]


def best_decrease(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
    least: float | None = None,
) -> float:
    """Return the decrease that :func:`~certibit.theory.certificates.certify.certify` proves.

    With ``least`` the result only says whether that decrease is above or below it. ``trusted`` is
    explained in :func:`~certibit.theory.proofs.symbolic_step.symbolic_step`.

    Raises
    ------
    Refusal
        If the method cannot be certified.
    """
    step = RationalStep.of(method, functions, potential, trusted=trusted)
    if weights == "free":
        return best_weights(step, least)[0]
    return ProofProgramme(step, exact_weights(step.symbols.weights)).decrease(least)


def exact_weights(weights: Sequence[float]) -> tuple[Rational, ...]:
    """Return the weights of a Lyapunov function as rational numbers.

    Raises
    ------
    Refusal
        If a weight is negative, infinite or NaN.
    """
    if not all(0 <= weight < inf for weight in weights):
        raise Refusal(
            f"the weights {tuple(weights)} of the Lyapunov function are not all at least 0 and "
            "finite; take parameters for which it is defined"
        )
    return tuple(map(rational, weights))
