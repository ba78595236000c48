"""The asymptotic rate of a method on quadratics: no certificate can prove a faster one.

On quadratics of one dimension the second moments of the state are multiplied by a linear map in
every iteration. The spectral radius of this map is the asymptotic contraction factor, which no
Lyapunov function of the same state can improve on. The clients have the extreme curvatures mu and L
of their class, all the same or some at each end. Local solves that end by a criterion are taken as
exact, and as just meeting the criterion on either side of the solution, because a certificate
covers every solve that meets it; the solver of the method may be better.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.exact.second_moments import SecondMoments
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.proof import Proof
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.worlds.symbolic.quadratics import ExtremeClass
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of

MOST_CLASSES = 4
"""With at most so many classes of clients all combinations of extreme curvatures are tried."""
RESTS = (1.0, -1.0)
"""Residual gradients of local solves, beside 0, relative to the largest that is allowed."""


def slowest_decrease(method: Method, functions: FunctionClass) -> float:
    """Return 1 - factor of the second moments on the slowest of the quadratics that are tried.

    This decrease is attained (rounding only makes it larger), so no certificate with a Lyapunov
    function of the whole state can prove a larger one. Whether the method treats all clients of a
    class alike is checked by `certify`, not here.

    Raises
    ------
    Refusal
        If a step is not linear, or it has too many unknowns.
    """
    return 1 - max(one.factor for one in long_runs(method, functions))


def limit_of_potentials(certificate: Proof) -> tuple[float, float] | None:
    """Return decreases that are attained on quadratics, of a part and of all, or None.

    The first is that of the part of the state that the Lyapunov function of the certificate
    contains: no Lyapunov function of as much of the state decreases by more. The second is
    :func:`slowest_decrease`; where it is smaller, the certificate says nothing of the rest of the
    state.
    """
    functions = certificate.functions
    psi = Reweighted(certificate.potential, certificate.weights)
    try:
        found = list(long_runs(certificate.method, functions))
        part = 1 - max(one.factor_of(one.form(psi, functions)) for one in found)
        return part, min(part, 1 - max(one.factor for one in found))
    except Refusal:
        return None


def long_runs(method: Method, functions: FunctionClass) -> Iterator[SecondMoments]:
    """Yield what a step does to second moments on all quadratics that are tried.

    Raises
    ------
    Refusal
        If there are none.
    """
    outcomes = outcomes_of(method, functions)
    refused, found = Refusal(), False
    for extreme in extremes(method, functions):
        try:
            moments = SecondMoments.of(outcomes.natural, outcomes.found, extreme)
        except Refusal as refusal:
            refused = refusal
            continue
        found = True
        yield moments
        for rest in RESTS if moments.solved else ():
            inexact = replace(extreme, rest=rest)
            yield SecondMoments.of(outcomes.natural, outcomes.found, inexact)
    if not found:
        raise refused


def extremes(method: Method, functions: FunctionClass) -> Iterator[ExtremeClass]:
    """Yield the quadratics and messages that are tried."""
    needs = method.needs
    up, down = (
        (1.0, -1.0) if need == "contractive" else (1.0,)
        for need in (needs.compressor, needs.downlink)
    )
    ridges = (functions.mu, functions.L) if needs.composite else (0.0,)
    scale, shared = _correlation(functions)
    for steep in _steep(functions):
        kinds, curvatures = [], []
        for one, count in zip(functions.kinds, steep, strict=True):
            for size, curvature in ((one.count - count, one.mu), (count, one.L)):
                if size:
                    kinds.append(replace(one, count=size))
                    curvatures.append(curvature)
        divided = replace(functions, classes=tuple(kinds))
        ends = _flattened(divided, curvatures)
        alone = _with_variance(divided, scale * (1 - shared))
        common = tuple(scale * shared * one.omega for one in kinds)
        for ridge, sign, sign_down in product(ridges, up, down):
            yield ExtremeClass(alone, ends, ridge, sign, sign_down, common)


def _correlation(functions: FunctionClass) -> tuple[float, float]:
    """Return by what to multiply variances, and how noises of two clients are correlated.

    If their factors have the correlation c >= 0, the variance of the mean of the noises is at most
    omega (c + (1 - c)/n) mean |x_i|^2, and as much where all x_i are one. It may be omega_joint
    mean |x_i|^2.
    """
    n, omega, joint = functions.n, functions.omega, functions.omega_joint
    if joint is None or omega == 0:
        return 1.0, 0.0
    ratio = n * joint / omega
    return min(ratio, 1.0), min(max(ratio - 1, 0.0) / max(n - 1, 1), 1.0)


def _with_variance(functions: FunctionClass, factor: float) -> FunctionClass:
    """Return the class with compressors of so many times the variance, drawn independently."""
    kinds = tuple(replace(one, omega=factor * one.omega) for one in functions.classes)
    omega = factor * functions.omega
    return replace(functions, omega=omega, omega_joint=None, classes=kinds)


def _steep(functions: FunctionClass) -> Iterator[tuple[int, ...]]:
    """Yield how many clients of each class have the curvature L; the others have mu."""
    counts = [one.count for one in functions.kinds]
    if len(counts) == 1:
        n = counts[0]
        yield from sorted({(k,) for k in (0, 1, n // 2, n - 1, n)})
    elif len(counts) <= MOST_CLASSES:
        yield from product(*((0, count) for count in counts))
    else:
        yield from ((0,) * len(counts), tuple(counts))


def _flattened(functions: FunctionClass, curvatures: list[float]) -> tuple[float, ...]:
    """Return the curvatures of classes, nearer to mu where their mean is above L_f."""
    least = functions.average_convexity
    shares = [one.count / functions.n for one in functions.kinds]
    mean = sum(share * curvature for share, curvature in zip(shares, curvatures, strict=True))
    if functions.L_f is None or mean <= functions.L_f:
        return tuple(curvatures)
    left = (functions.L_f - least) / (mean - least)
    pairs = zip(functions.kinds, curvatures, strict=True)
    return tuple(one.mu + left * (curvature - one.mu) for one, curvature in pairs)
