"""Checks that need no theorem: of the method and its messages.

They apply to methods without a theorem, too. A method that does not need strong convexity must be
stationary where all gradients vanish.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment, is_convex
from certibit.theory.card import Card
from certibit.theory.checks.channel.accounts import accounts
from certibit.theory.checks.channel.unsent import unsent
from certibit.theory.checks.channel.untold import untold
from certibit.theory.checks.compressor.compression import small_dimension
from certibit.theory.checks.method.conduct import (
    begins_as_written,
    bill_check,
    independence,
    keeps_invariants,
    names_samples,
    potential_at_solution,
    purity,
    quadratic_twin,
    rests_at_the_solution_only,
    rests_without_gradients,
    schedule,
    stays_at_solution,
)
from certibit.theory.checks.method.solves_in_time import solves_in_time
from certibit.theory.verdict import Verdict

Check = Callable[[Any, int], Verdict | None]
"""Of an experiment and a seed."""

_CONDUCT: tuple[Check, ...] = (
    purity, independence, names_samples, begins_as_written, accounts, unsent, schedule
)  # fmt: skip
"""These need no solution."""


def soundness(card: Card, experiment: Experiment[Any], seed: int = 0) -> tuple[Verdict, ...]:
    """Run the checks that need no theorem, as far as they apply.

    Where a method rests and what it keeps is looked at with exact gradients of strongly convex
    functions; see :func:`quiet`. A method that does not need strong convexity may have other fixed
    points than the solution. Of a method on one machine, no messages are asked for.
    """
    is_exact = is_convex(experiment) and experiment.problem.noise is None
    convex = experiment.method.needs.strongly_convex
    alone = card.tunings and not any(tuning.federated for tuning in card.tunings)
    checks = [c for c in _CONDUCT if not alone or c not in (begins_as_written, accounts, unsent)]
    if is_exact and convex:
        checks += [
            untold,
            lambda experiment, _: bill_check(card, experiment),
            lambda experiment, seed: solves_in_time(card, experiment, seed),
        ]
    else:
        checks.insert(0, rests_without_gradients)
    of_rest: tuple[Check, ...] = (
        *((stays_at_solution,) if convex else ()),
        keeps_invariants,
        rests_at_the_solution_only,
        lambda experiment, _: potential_at_solution(card, experiment),
    )
    still: Any = experiment if is_exact else quiet(experiment)
    with np.errstate(all="ignore"):
        verdicts = [check(still, seed) for check in of_rest] if still else []
        verdicts += [check(experiment, seed) for check in checks]
    return tuple(verdict for verdict in verdicts if verdict)


def quiet(experiment: Experiment[Any]) -> ConvexExperiment | None:
    """Return an experiment without the noise of its gradients, on a strongly convex problem.

    In the place of functions that are not strongly convex, or have other minimisers than a method
    needs, are quadratics; None if the constants are not known.
    """
    if is_convex(experiment) and not experiment.method.needs.shared_minimiser:
        if experiment.problem.noise is None:
            return experiment
        problem: Any = experiment.problem
        return replace(experiment, problem=replace(problem, noise=None))
    return quadratic_twin(experiment, experiment.n, small_dimension(experiment.compressor))
