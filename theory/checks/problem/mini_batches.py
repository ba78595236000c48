"""Mini-batches: their means and variances as drawn, and these against the constants."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from certibit.data.mini_batch import MiniBatch, sampling_constants
from certibit.data.problem import Problem
from certibit.solvers.simulation.oracle import Tape
from certibit.theory.checks.problem.gradients import Points, sample_points
from certibit.theory.verdict import Verdict, largest, searched

SURE = 7.0
"""Standard errors that a mean of drawn batches may differ from what it should be."""

_NUMBERS = 1 << 22
"""Uniform numbers that are drawn at most."""

_LEAST, _MOST = 50, 1000
_FAR = (1.0, 10.0, 1e3)


def batches_as_stated(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check that drawn batches have the gradient as their mean, and the stated variance.

    The value is the largest distance in standard errors, over the sample points. None for a problem
    without mini-batches.
    """
    batch: Any = problem.noise
    if not isinstance(batch, MiniBatch):
        return None
    whole: Any = problem
    each = problem.n * batch.numbers(whole)
    runs = min(max(_NUMBERS // each, _LEAST), _MOST)
    tape, found = Tape.of(batch, range(seed, seed + runs)), []
    for x in sample_points(problem, seed):
        uniforms = tape.uniforms(0, problem.n, batch.numbers(whole))
        drawn = batch.gradient(whole, x + np.zeros((1, 1, runs)), uniforms, problem.grad)
        error = drawn - problem.grad(x)
        variance = float(np.mean(batch.variance_at(whole, x)))
        squares = np.mean(np.sum(error**2, axis=1), axis=0)
        away = float(np.mean(np.sum(np.mean(error, axis=2) ** 2, axis=1)))
        found.append((away * runs / variance) ** 0.5 if variance else away)
        rounding = 1e-12 * variance
        apart = abs(float(np.mean(squares)) - variance)
        found.append(apart / (float(np.std(squares)) / runs**0.5 + rounding) if variance else apart)
    note = f"{runs} batches, {SURE:g} standard errors"
    advice = (
        "The mean or the variance of the gradients of batches is not the stated one. Look at how "
        "rows are drawn, at the factor m/b, and at the variance."
    )
    return Verdict("gradients of batches", largest(found), SURE, note, advice)


def batches_within_constants(problem: Problem, seed: int = 0) -> Verdict | None:
    """Check the exact variance of batches against their constants, at points near and far.

    The value is the largest of the variance over sigma^2, over 2 A f(x), and of the variance of the
    difference at two points over l^2 |x - y|^2; it is at most 1.
    """
    batch: Any = problem.noise
    if not isinstance(batch, MiniBatch):
        return None
    whole: Any = problem.plain
    constants, found = sampling_constants(whole), []
    for x, y in _pairs(problem, seed):
        variance = float(np.mean(batch.variance_at(whole, x)))
        change = batch.spread(whole, whole.row_slopes(x) - whole.row_slopes(y))
        apart = float(np.sum((x - y) ** 2))
        losses = float(np.mean(whole.value(x)))
        found += [
            _share(variance, constants.variance),
            _share(variance, 2 * constants.gap * losses),
            _share(float(np.mean(change)), constants.difference**2 * apart),
        ]
    note = "exact variances over sigma^2, 2 A f(x) and l^2 |x - y|^2"
    advice = "A variance of batches is larger than its constant allows. Look at sampling_constants."
    return Verdict(
        "variances of batches over their constants", largest(found), 1.0, note, advice,
        **searched(found),
    )  # fmt: skip


def _pairs(problem: Problem, seed: int) -> Iterator[tuple[Points, Points]]:
    """Yield pairs of points near and far."""
    start, *others = sample_points(problem, seed)
    for x in others:
        for size in _FAR:
            yield start + size * (x - start), start


def _share(part: float, whole: float) -> float:
    """Return a share of a bound; 0 where there is no bound, or nothing of it."""
    if part == 0 or np.isinf(whole):
        return 0.0
    return part / whole if whole else np.inf


PROBLEM_CHECKS = (batches_as_stated, batches_within_constants)
