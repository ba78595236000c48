"""The asymptotic rate by symbols compared with the one by numbers, for a few clients."""

from contextlib import suppress

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.contradiction import ContradictionError
from certibit.theory.exact.second_moments import SecondMoments
from certibit.theory.exact.spectral_radius import spectral_radius
from certibit.theory.worlds.numbers.measured_moments import measured_moments
from certibit.theory.worlds.numbers.worst_states import ErrorLaw
from certibit.theory.worlds.symbolic.quadratics import ExtremeClass

APART, ROUNDED = 1e-5, 1e-10
"""Difference of two decreases that rounding does not explain: relative, and of factors."""


def measured_factor(method: Method, extreme: ExtremeClass) -> float | None:
    """Return the factor of second moments by the method's own step on numbers; None if it is none.

    It is none where compressors share their randomness, and for more than a few clients.
    """
    if any(extreme.common):
        return None
    functions, needs = extreme.functions, method.needs
    kinds = functions.kind_of_client
    if needs.compressor == "contractive":
        alphas = np.array([functions.contraction(kind) for kind in kinds])
        shares = 1 + extreme.sign * (1 - alphas) ** 0.5
        omegas = [0.0 if functions.bias is None else functions.kinds[k].omega for k in kinds]
        laws = list(map(ErrorLaw, shares, omegas))
    else:
        laws = [ErrorLaw(1.0, functions.kinds[kind].omega) for kind in kinds]
    down = ErrorLaw(1.0, functions.omega_down if needs.downlink == "unbiased" else 0.0)
    if needs.downlink == "contractive":
        down = ErrorLaw(1 + extreme.sign_down * (1 - functions.contraction(-1)) ** 0.5, 0.0)
    curvatures = np.repeat(extreme.curvatures, extreme.counts).tolist()
    with suppress(Refusal):
        moments = measured_moments(method, functions.L, curvatures, extreme.ridge, laws, down)
        return spectral_radius(moments)
    return None


def require_measured(method: Method, moments: SecondMoments) -> None:
    """Hold the long run of symbols against that of numbers, which shares nothing with them.

    Local solves that end by a criterion are as inexact as it allows in the one, and not in the
    other: they are not compared.

    Raises
    ------
    ContradictionError
        If symbols decrease by more.
    """
    factor, measured = moments.factor, None
    if not moments.solved:
        measured = measured_factor(method, moments.extreme)
    if measured is not None and measured > factor + APART * abs(1 - measured) + ROUNDED:
        raise ContradictionError(
            f"the long run of {method.name} on quadratics decreases by {1 - factor:.8g} in symbols "
            f"and by {1 - measured:.8g} in numbers"
        )
