"""Whether method, problem, compressor, seeds and budget fit each other; a misfit is refused."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.data.problem import Problem, is_strongly_convex
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.method import Method

P = TypeVar("P", bound=Problem)


def fitting_compressor(
    method: Method | type[Method], compressor: Compressor | None, d: int
) -> Compressor:
    """Return the compressor that a method is run with; without one, the identity.

    Raises
    ------
    Refusal
        If the method needs another class of compressors, or the compressor another dimension.
    """
    compressor = Identity() if compressor is None else compressor
    compressor.check(d)
    need = method.needs.compressor
    if need is None and not isinstance(compressor, Identity):
        raise Refusal(
            f"{method.name} sends uncompressed vectors and cannot use {compressor.name}; "
            "leave the compressor out or choose a method with compression"
        )
    if need == "unbiased" and not compressor.unbiased:
        raise Refusal(
            f"{compressor.name} is biased and {method.name} needs an unbiased compressor, "
            "such as rand-k, natural or l1"
        )
    if need == "contractive":
        compressor.alpha(d)
    return compressor


def fitting_view(method: Method | type[Method], problem: P) -> P:
    """Return the view of a problem that a method solves, with a shared g or without.

    Raises
    ------
    Refusal
        If the method needs a strongly convex problem and mu is not positive.
    """
    view = problem.composite if method.needs.composite else problem.plain
    if method.needs.strongly_convex and not is_strongly_convex(view):
        raise Refusal(
            f"{method.name} needs a strongly convex problem and {problem.name} has "
            f"mu = {view.constants.mu:g}; add regularisation (mu > 0)"
        )
    return view


def fitting_seeds(seeds: int | Sequence[int], batch: int = 1) -> tuple[int, ...]:
    """Return the run seeds; a number R stands for the seeds 0, ..., R - 1.

    ``batch`` is the number of runs that method and problem are made for. If it is not 1, runs
    differ in their parameters too, and two may have the same seed.

    Raises
    ------
    Refusal
        If there is none, one is negative or not a whole number, two runs are the same, or their
        number is not that of the batch.
    """
    chosen = range(seeds) if isinstance(seeds, int | np.integer) else seeds
    if any(not isinstance(seed, int | np.integer) or seed < 0 for seed in chosen):
        raise Refusal(f"the seeds {seeds!r} are not all whole numbers >= 0; give such as 0, 1, 2")
    if batch != 1 and len(chosen) != batch:
        raise Refusal(
            f"there are {len(chosen)} seeds and parameters for {batch} runs; give one seed per run"
        )
    if not len(chosen) or (batch == 1 and len(set(chosen)) != len(chosen)):
        raise Refusal(f"the seeds {seeds!r} must be at least one and all different")
    return tuple(int(seed) for seed in chosen)
