"""Search for the parameters with the lowest certified cost."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.data.quiet_machine import one_thread
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import require_weight, total_bits
from certibit.theory.card import Card, Role
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.certificates.certify import (
    Weights,
    best_decrease,
    certify,
    default_measure,
    fewest_rounds,
    largest_constant,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.proof import Proof
from certibit.theory.setting import Setting
from certibit.theory.worlds.orbits import StepCost, orbits

APART = 0.2
"""Distance of the first points of a search, in logarithms."""

_ACCURACY, _MOST_TRIES = 1e-2, 60
"""Of a descent, the relative accuracy of the parameters, and how many are tried at most."""

Objective = Literal["bits", "rounds", "gradients"]

Price = Callable[[StepCost], float]
"""The price of a step, which is minimised."""


@dataclass(frozen=True)
class Optimum:
    """A method with parameters found for a certified cost.

    Attributes
    ----------
    method, compressor
        The method, with the parameters that were found, and its compressor.
    certificate : Proof
        The proof of its factor, or of its descent.
    cost : StepCost
        As certified, mean uplink bits per client, rounds and gradients per client: of a factor, to
        gain one decade in the Lyapunov function; of a descent, of T = 1/c iterations, so that times
        Psi_0/eps it is that of a mean of M of at most eps, or of Psi_0/c from a known start.
    before : StepCost
        The same for the best of the rules of theory, with its theorem's factor; or, certified, for
        the parameters that the search began with.
    from_start : bool
        Whether it is from the start of runs on a problem.
    """

    method: Method
    compressor: Compressor
    certificate: Proof
    cost: StepCost
    before: StepCost
    from_start: bool = False


def setting(n: int, mu: float, L: float, d: int, compressor: Compressor) -> Setting:
    """Return the setting in which all clients have the same constants."""
    return Setting(Constants(mu, np.full(n, L), L), n, d, compressor)


def per_decade(cost: StepCost, decrease: float) -> StepCost:
    """Return the cost of reducing a Lyapunov function by 10, at a factor 1 - decrease per step."""
    if decrease <= 0:
        return StepCost(*[math.inf] * len(fields(StepCost)))
    steps = math.log(10) / -math.log1p(-min(decrease, 1 - 1e-15))
    return StepCost(**{name: value * steps for name, value in asdict(cost).items()})


def objective_value(cost: StepCost, objective: Objective, downlink: float = 0.0) -> float:
    """Return the bits of a cost, up + downlink down, its rounds or its gradients."""
    bits = total_bits(cost.uplink_bits, cost.downlink_bits, downlink)
    return {"bits": bits, "rounds": cost.rounds, "gradients": cost.gradients}[objective]


@one_thread()
def optimise(
    card: Card,
    where: Setting,
    objective: Objective = "bits",
    *,
    downlink: float = 0.0,
    weights: Weights = "fixed",
    evaluations: int = 300,
    starts: int | None = None,
) -> Optimum:
    """Return the parameters with the least certified bits, rounds or gradients per decade.

    From every parameter rule of the method, all positive real parameters are varied on a
    logarithmic scale by the simplex method of Nelder and Mead; the best is certified with a proof.
    It is never worse than the rules themselves, but not proved to be the global minimum.

    Parameters
    ----------
    downlink : float
        The weight of a bit received in the bits that are minimised.
    weights : "fixed" or "free"
        As in :func:`~certibit.theory.certificates.certify.certify`; free ones take longer.
    evaluations : int
        Largest number of programmes per simplex; a start has two where another step size alone is
        better.
    starts : int, optional
        Search only from the best so many rules; by default, from all.

    Raises
    ------
    Refusal
        If nothing that was tried is certified.
    """
    require_weight(downlink)
    price = partial(objective_value, objective=objective, downlink=downlink)
    begun: list[Method] = []
    for rule in card.rules:
        with suppress(Refusal):
            begun.append(card.at(where, rule))
    cost_there = partial(certified_cost, where=where, price=price, weights=weights)
    tried = [(cost_there(start, trusted=False), start) for start in begun]
    tried.sort(key=lambda one: one[0])
    for _, start in tried[:starts]:
        tried.append(best_parameters(start, cost_there, evaluations)[::-1])
    for value, method in sorted(tried, key=lambda one: one[0]):
        if math.isfinite(value):
            with suppress(Refusal):
                proof = certify(method, where, weights=weights)
                if proof.decrease > 0:
                    before = min((_promise(one, where) for one in begun), key=price)
                    cost = per_decade(_cost_of(method, where), proof.decrease)
                    return Optimum(method, where.compressor, proof, cost, before)
    raise Refusal(f"nothing that was tried for {card.name} is certified; try another compressor")


def _cost_of(method: Method, where: Setting) -> StepCost:
    return orbits(method, where.n, where.d, where.compressor)[1]


def _promise(method: Method, where: Setting) -> StepCost:
    """Return the cost per decade as the best theorem promises it, infinite if none applies."""
    theorem = card_of(method).best_theorem(method, where)
    decrease = 1 - theorem.rate(method, where) if theorem else 0.0
    return per_decade(_cost_of(method, where), decrease)


@one_thread()
def cheapest_descent(
    start: Method,
    where: Setting,
    functions: FunctionClass,
    objective: Objective = "bits",
    *,
    downlink: float = 0.0,
    tries: int = _MOST_TRIES,
    begin: Experiment[Any] | None = None,
) -> Optimum:
    """Return the parameters with the least certified cost that a search finds, from a start.

    It is never more than that of the start, and not proved to be the global minimum.

    Parameters
    ----------
    objective : "bits", "rounds" or "gradients"
        What is minimised, per client: uplink bits + ``downlink`` times bits received, ...
    tries : int
        The largest number of parameters that are tried.
    begin : Experiment, optional
        The method on a problem: the cost is then that from the start of its runs, with the form
        that has nearly the least Psi_0/c.

    Raises
    ------
    Refusal
        If no descent is certified at the start, or gradients are stochastic.

    Examples
    --------
    >>> from certibit import GD, METHODS, FunctionClass, cheapest_descent
    >>> from certibit.theory.certificates.summary import class_setting
    >>> where = class_setting(GD, 3, None, None, None, 10)
    >>> found = cheapest_descent(GD(gamma=0.5), where, FunctionClass.of(where), "rounds")
    >>> 1.1 < found.method.gamma < 1.2
    True
    """

    def spent(method: Method, iterations: float) -> StepCost:
        cost = asdict(_cost_of(method, where))
        return StepCost(**{name: value * iterations for name, value in cost.items()})

    def iterations(method: Method) -> float:
        if begin is not None:
            return fewest_rounds(method, functions, replace(begin, method=method))
        c = largest_constant(method, functions)
        return 1 / c if c > 0 else math.inf

    def price(method: Method) -> float:
        with suppress(Refusal):
            return math.log(objective_value(spent(method, iterations(method)), objective, downlink))
        return math.inf

    if functions.noise is not None and objective == "gradients":
        raise Refusal(
            "gradients of samples and exact ones are not alike; minimise bits or rounds, or leave "
            "noise out"
        )
    measure = default_measure(functions).name
    first = certify(start, functions, measure=measure)
    if first.spent > 0:
        raise Refusal(
            "with stochastic gradients, or clients that differ, a cost depends on how much; leave "
            "noise and zeta out"
        )
    if first.c <= 0:
        raise Refusal(f"no descent is certified for {start}; begin with a smaller step size")
    method, least = best_parameters(start, price, tries, _ACCURACY)
    if not least < price(start):
        method = start
    there = None if begin is None else replace(begin, method=method)
    proof = certify(method, functions, measure=measure, begin=there)
    cost, before = (spent(one, iterations(one)) for one in (method, start))
    sent = where.compressor
    return Optimum(proof.method, sent, proof, cost, before, begin is not None)


def best_parameters(
    start: Method, cost: Callable[[Method], float], evaluations: int, accuracy: float = 1e-4
) -> tuple[Method, float]:
    """Return the parameters with the lowest cost found from a start, and this cost.

    All positive real parameters are varied on a logarithmic scale by the simplex method of Nelder
    and Mead, with so many ``evaluations`` at most. It stops where a product of step sizes is as
    large as it may be, far from the best of them; so it also begins from where the cost stops
    falling along one of the step sizes. ``accuracy`` is that of the logarithms.
    """
    names, values = _free_parameters(start)
    roles = card_of(start).roles
    known: dict[tuple[float, ...], float] = {}

    def made(x: NDArray[np.float64]) -> Method:
        logarithms = zip(names, x, strict=True)
        changes: Any = {name: _back(roles.get(name), value) for name, value in logarithms}
        return replace(start, **changes)

    def cost_at(x: NDArray[np.float64]) -> float:
        place = tuple(x.tolist())
        if place not in known:
            known[place] = math.inf
            with suppress(Refusal):
                known[place] = cost(made(x))
        return known[place]

    units, origin = APART * np.eye(len(names)), np.array(values)
    ends = [
        _along(cost_at, origin, unit)
        for name, unit in zip(names, units, strict=True)
        if roles.get(name) is Role.STEP_SIZE
    ]
    farthest = min(ends, key=cost_at, default=origin)
    begins = [origin] if farthest is origin else [origin, farthest]
    options: Any = {"maxfev": evaluations, "xatol": accuracy, "fatol": accuracy / 100}
    found = []
    for begin in begins:
        options["initial_simplex"] = begin + np.vstack([0 * origin, units])
        with np.errstate(invalid="ignore"):
            one = scipy.optimize.minimize(cost_at, begin, method="Nelder-Mead", options=options)
        found.append(one)
    best = min(found, key=lambda one: one.fun)
    return made(best.x), float(best.fun)


def _along(
    cost_at: Callable[[NDArray[np.float64]], float],
    start: NDArray[np.float64],
    unit: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return where the cost stops falling along a unit, or against it, in steps that double."""
    here, step = start, unit if cost_at(start + unit) < cost_at(start) else -unit
    while cost_at(here + step) < cost_at(here):
        here, step = here + step, 2 * step
    return here


def certified_cost(
    method: Method,
    where: Setting,
    price: Price,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
) -> float:
    """Return the logarithm of the certified cost per decade, infinite if nothing is certified."""
    try:
        functions = FunctionClass.of(where)
        decrease = best_decrease(method, functions, weights=weights, trusted=trusted)
    except Refusal:
        return math.inf
    return math.log(price(per_decade(_cost_of(method, where), decrease)))


def _free_parameters(method: Method) -> tuple[list[str], list[float]]:
    """Return the names of the free parameters, and their values on the scale of the search."""
    roles = card_of(method).roles
    pairs = [(field.name, getattr(method, field.name)) for field in fields(method)]
    free = [
        (name, value)
        for name, value in pairs
        if roles.get(name) is not Role.CONSTANT and isinstance(value, float) and value > 0
    ]
    return [name for name, _ in free], [_forth(roles.get(name), value) for name, value in free]


def _forth(role: Role | None, value: float) -> float:
    return math.log1p(-value) if role is Role.MOMENTUM else math.log(value)


def _back(role: Role | None, value: float) -> float:
    if role is Role.MOMENTUM:
        return -math.expm1(min(value, -1e-12))
    if role is Role.PROBABILITY:
        return min(math.exp(value), 1.0)
    return math.exp(min(value, 300.0))
