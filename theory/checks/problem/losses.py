"""The bounds of a loss against its own functions, near and far."""

from typing import Any

import numpy as np

from certibit.data.losses.base import Loss
from certibit.data.problem import Problem
from certibit.theory.verdict import Verdict, searched, worst_of

_WIDER = 1.5
"""A bound that is more than so many times what is reached is none of the loss."""

_ROUNDING = 1e-9
_FAR = np.geomspace(1e-9, 1e9, 4001)
_OFFSETS = np.concatenate([-_FAR, [0.0], _FAR])
_TARGETS = 9


def _bounds_attained(problem: Problem, _seed: int = 0) -> Verdict | None:
    """Check that bounds of slopes and curvatures are the largest ones seen, or not far above them.

    None for a problem without a loss.
    """
    whole: Any = problem
    loss = getattr(problem, "row_loss", None)
    if not isinstance(loss, Loss):
        return None
    b = np.asarray(getattr(whole, "targets", [-1.0, 1.0]))
    b = np.quantile(b, np.linspace(0, 1, _TARGETS), method="nearest")[:, None]
    z = np.concatenate([b + _OFFSETS, 0 * b + _OFFSETS], axis=1)
    curvature = loss.curvature(z, b + 0 * z)
    found = []
    for name, bound, sizes in (
        ("smoothness", loss.smoothness, np.abs(curvature)),
        ("weak_convexity", loss.weak_convexity, -curvature),
        ("steepness", loss.steepness, np.abs(loss.slope(z, b + 0 * z))),
    ):
        if 0 < bound < np.inf:
            seen = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
            said = f"{name} of the loss {loss.name} is {bound:.6g}, and {seen:.6g} is the largest"
            ratio = bound / seen if 0 < seen <= bound * (1 + _ROUNDING) else np.inf
            found.append((ratio, f"{said} that is seen: give the least bound"))
    worst, advice = worst_of(found)
    return Verdict("bounds of the loss", worst, _WIDER, advice=f"{advice}.", **searched(found))


def _refused_together(problem: Problem, _seed: int = 0) -> Verdict | None:
    """Check that predictions and targets that a loss refuses alone are refused among others."""
    loss: Any = getattr(problem, "row_loss", None)
    if not isinstance(loss, Loss):
        return None
    both = np.array([-_FAR[-1], _FAR[-1]])
    wrong = [
        ask.__name__
        for ask in (loss.accepts, loss.holds_at)
        if bool(ask(both)) != any(bool(ask(both[i : i + 1])) for i in range(2))
    ]
    advice = f"{' and '.join(wrong)} of the loss {loss.name} answers for one number only."
    return Verdict("refusals of the loss", float(len(wrong)), 0.0, advice=advice, **searched(both))


PROBLEM_CHECKS = (_bounds_attained, _refused_together)
