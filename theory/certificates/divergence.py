"""Runs of a method that diverge where no factor below 1 is certified."""

from collections.abc import Iterator

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.certificates.summary import Divergence
from certibit.theory.certificates.worst_instance import (
    fitting_compressor,
    posed_problem,
    worst_instance,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential

GROWTH = 1e3
"""A run has diverged when f - f* exceeds its first value by this factor."""

LONGEST_RUN = 20_000
"""Most iterations of a run; a run that takes so many has not diverged."""


def divergence(
    method: Method, functions: FunctionClass, potential: Potential | None = None, seed: int = 0
) -> Divergence | None:
    """Run a method on the worst case of the programme and on extreme quadratics until it diverges.

    Returns None if no run diverges; a factor above 1 does not imply divergence. The server
    broadcasts uncompressed vectors, which belong to every class.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, divergence
    >>> found = divergence(GD(gamma=0.3), FunctionClass(n=3, mu=1, L=10))
    >>> found.growth > 1e6
    True
    """
    if len({(one.omega, one.alpha) for one in functions.kinds}) > 1:
        raise Refusal(
            "no run is tried for clients whose compressors differ; give all the same omega or alpha"
        )
    for problem, sent in _candidates(method, functions, potential, seed):
        for iterations in (LONGEST_RUN // 20, LONGEST_RUN):
            with np.errstate(all="ignore"):
                trace = simulate(
                    Experiment.of(method, problem, sent),
                    seeds=(seed,),
                    budget=Budget(iterations=iterations),
                    record=Record(ratio=1.1),
                )
            gaps = trace.columns["gap"]
            growth = float(gaps[-1] / gaps[0]) if np.isfinite(gaps[-1]) else np.inf
            if trace.ending[0] == "diverged" or growth > GROWTH:
                done = int(trace.columns["iteration"][-1])
                return Divergence(problem, sent, growth, done)
            if growth < 1:
                break
    return None


def _candidates(
    method: Method, functions: FunctionClass, potential: Potential | None, seed: int
) -> Iterator[tuple[Quadratic, Compressor | None]]:
    """Yield the worst case of one step, then problems whose curvatures are mu and L_i only."""
    try:
        worst = worst_instance(method, functions, potential, seed)
        yield worst.problem, worst.compressor
    except Refusal:
        pass
    sent, d = fitting_compressor(method, functions, 3)
    bounds = np.array([functions.curvature(kind) for kind in functions.kind_of_client])
    ends = bounds[:, 1:], bounds[:, :1]
    clients, features = np.arange(functions.n)[:, None], np.arange(d)[None, :]
    for steep in (
        (features == 0) + 0 * clients > 0,
        (clients + features) % 2 == 0,
        (clients == 0) & (features == 0),
    ):
        curvatures = np.where(steep, *ends)
        matrices = curvatures[:, :, None] * np.eye(d)
        yield posed_problem(method, functions, matrices, "extreme", seed), sent
