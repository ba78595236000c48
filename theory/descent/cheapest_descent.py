"""Search for the parameters with the fewest certified bits, rounds or gradients of a descent."""

import math
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.certificates.search import Objective, best_parameters, objective_value
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.descent.descent_forms import fewest_rounds, largest_constant
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting
from certibit.theory.worlds.orbits import StepCost, orbits

ACCURACY = 1e-2
"""Relative accuracy of the parameters that are searched for."""

MOST_TRIES = 60
"""How many parameters are tried at most."""


@dataclass(frozen=True)
class CheapestDescent:
    """A method with parameters found for the certified cost of a descent.

    Attributes
    ----------
    method : Method
        What to run.
    certificate : DescentCertificate
        The proof of its c.
    cost, before : StepCost
        Mean cost per client of T iterations with T = 1/c, certified, of the method and of the
        parameters that the search began with: times Psi_0/eps it is that of a mean of M of at most
        eps, where M is the measure of the certificate. With a known start T is Psi_0/c.
    from_start : bool
        Whether it is from the start of runs on a problem.
    """

    method: Method
    certificate: DescentCertificate
    cost: StepCost
    before: StepCost
    from_start: bool = False


@one_thread()
def cheapest_descent(
    start: Method,
    where: Setting,
    functions: FunctionClass,
    objective: Objective = "bits",
    *,
    downlink: float = 0.0,
    tries: int = MOST_TRIES,
    begin: Experiment[Any] | None = None,
) -> CheapestDescent:
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
        _, cost = orbits(method, where.n, where.d, where.compressor)
        return StepCost(**{name: value * iterations for name, value in asdict(cost).items()})

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
    first = certify_descent(start, functions)
    if first.descent.spent(functions) > 0:
        raise Refusal(
            "with stochastic gradients, or clients that differ, a cost depends on how much; leave "
            "noise and zeta out"
        )
    if first.c <= 0:
        raise Refusal(f"no descent is certified for {start}; begin with a smaller step size")
    method, least = best_parameters(start, price, tries, ACCURACY)
    if not least < price(start):
        method = start
    there = None if begin is None else replace(begin, method=method)
    proof = certify_descent(method, functions, begin=there)
    cost, before = (spent(one, iterations(one)) for one in (method, start))
    return CheapestDescent(proof.method, proof, cost, before, begin is not None)
