"""The bits to an accuracy: proved by theorem, certificate and chain, beside those measured."""

import math
from dataclasses import dataclass

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.theory.certificates.certified_theorem import CertifiedTheorem
from certibit.theory.chains.certify_steps import MOST_STEPS, certify_steps
from certibit.theory.checks.method.promise import (
    Promise,
    mean_at_start,
    promise,
    require_covered,
    value_at_start,
)
from certibit.theory.checks.method.round_cost import round_cost
from certibit.theory.potential import LocalPotential
from certibit.theory.proofs.proof import Proof
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting
from certibit.theory.theorem import ContractionPromise, Theorem

FIRST_STEPS = 1000
"""For how many steps a chain is made where nothing else is promised."""

SEEDS = 3
"""Runs that are measured."""


@dataclass(frozen=True)
class _PromisedBits:
    """Bits per client until E[f - f*] is at most the target; infinite if nothing is proved.

    They are uplink bits, with a weight of the downlink total bits.

    Attributes
    ----------
    target : float
        The accuracy.
    theorem, certificate, chain : float
        Proved: by the best theorem, by the certificate of one step, by a chain of certificates.
    measured : float
        The median of a few runs; NaN where they do not reach it.
    downlink_weight : float
        Of a bit received.
    """

    target: float
    theorem: float
    certificate: float
    chain: float
    measured: float
    downlink_weight: float = 0.0


def promised_bits(
    experiment: ConvexExperiment,
    theorem: Theorem | None,
    once: Proof,
    target: float,
    downlink: float = 0.0,
) -> _PromisedBits:
    """Compute the proved bits of whole runs from x = 0, and measure them.

    Raises
    ------
    Refusal
        If the problem is outside of the class of the certificate, or the run begins outside of the
        region where it holds.
    """
    by_once = promise_by(once, experiment)
    by_theorem = math.inf
    if theorem:
        by_theorem = promise(theorem, experiment).bits_to(target, downlink)
    steps = _steps_by_chain(once, experiment, target, by_once)
    cost = by_once.cost.bits(downlink)
    bits = by_once.cost.bits_of(steps / by_once.steps_per_round, downlink)
    least = min(by_theorem, by_once.bits_to(target, downlink), bits)
    rounds = least / cost if math.isfinite(least) else FIRST_STEPS
    budget = Budget(gap=target, rounds=int(min(2 * rounds + 100, MOST_STEPS)))
    trace = simulate(experiment, seeds=SEEDS, budget=budget)
    measured = float(np.median(trace.bits_to(target, downlink)))
    return _PromisedBits(
        target, by_theorem, by_once.bits_to(target, downlink), bits, measured, downlink
    )


def promise_by(once: Proof, experiment: ConvexExperiment) -> Promise:
    """Evaluate what a certificate promises, where it holds in a region from a start inside."""
    theorem, region = CertifiedTheorem(once), once.region
    if region is None or not isinstance(once.potential, LocalPotential):
        return promise(theorem, experiment)
    once.require_kept("what bits of whole runs follow from")
    require_covered(theorem, once.method, Setting.at(experiment))
    start = value_at_start(theorem, experiment, once.functions)
    if start > region.level:
        raise Refusal(
            f"a run of {experiment.method.name} begins with Psi = {start:.6g}, outside of the "
            f"region Psi <= {region.level:.6g} of its certificate; leave --alpha out"
        )
    constant = once.potential.accuracy(once.functions, once.weights)
    of = ContractionPromise(once.factor)
    return Promise(of, constant * start, 1.0, round_cost(experiment))


def _steps_by_chain(
    once: Proof, experiment: ConvexExperiment, target: float, guess: Promise
) -> float:
    """Return the fewest steps after which a chain of certificates proves the target.

    It is made for the steps that are promised by one step, then for those that it promises itself.
    """
    psi = Reweighted(once.potential, once.weights)
    constants = once.functions if once.region else None
    start = mean_at_start(psi, experiment, constants=constants)
    steps = guess.steps_to(target)
    for _ in range(2):
        first = int(min(steps, MOST_STEPS)) if math.isfinite(steps) else FIRST_STEPS
        try:
            chain = certify_steps(once.method, once.functions, max(first, 1), psi, "gap")
        except Refusal:
            break
        steps = min(steps, chain.steps_to(target / start))
    return steps
