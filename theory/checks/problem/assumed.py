"""Whether a problem satisfies an assumption of a function class."""

from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.runs.passages import whole_gradient
from certibit.theory.assumptions.assumption import Assumption
from certibit.theory.assumptions.points_in_numbers import Points, amounts, forms_of_quadratics
from certibit.theory.checks.problem.gradients import sample_points
from certibit.theory.verdict import Known, Verdict

EXACT = 1e-9
"""Relative excess that counts as rounding."""

_MOST_FEATURES = 40
_STEPS, _SCALES = 10, (1e-3, 1.0, 1e3)


def check_assumption(assumption: Assumption, problem: Problem, seed: int = 0) -> Verdict:
    """Check an assumption on the f_i of a problem, without its g.

    It is proved if the constants of the problem imply it, or, of quadratics of up to 40 features,
    by the eigenvalues of its inequalities; it is refuted so, too. Otherwise the inequalities are
    measured at points of gradient descent and around them, far and near.

    Raises
    ------
    Refusal
        If the assumption is about a minimiser, and none is known.

    Examples
    --------
    >>> from certibit import MeanSmoothness, Quadratic, check_assumption
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> [check_assumption(MeanSmoothness(L), problem).outcome for L in (10.0, 0.5)]
    ['holds', 'FAILS']
    """
    whole: Any = problem.plain
    known = bool(np.all(np.isfinite(whole.x_star)))
    if assumption.needs_solution and not known:
        raise Refusal(
            f"{assumption!r} is about a minimiser, and none of {problem.name} is known; take an "
            "assumption without one"
        )
    name = assumption.name
    constants = whole.constants
    if isinstance(constants, Constants) and assumption.follows_from(constants):
        note = "by the constants of the problem"
        return Verdict(name, 0.0, EXACT, note, known=Known.PROVED)
    if isinstance(whole, Quadratic | NonconvexQuadratic) and whole.d <= _MOST_FEATURES:
        forms = forms_of_quadratics(assumption, whole)
        worst = -min((float(np.linalg.eigvalsh(form)[0]) for form in forms), default=0.0)
        note, evidence = "by eigenvalues", Known.PROVED
    else:
        x, y = _pairs(whole, seed)
        parts = [
            -one.values / np.where(one.sizes > 0, one.sizes, 1.0)
            for one in amounts(assumption, whole, x, y)
        ]
        worst = float(np.max(parts, initial=-np.inf))
        note, evidence = f"at {x.shape[2]} pairs of points", Known.MEASURED
        note += "" if known else ", with a lower bound in the place of inf f"
    advice = (
        f"{assumption!r} fails on {problem.name}: an inequality is exceeded by {worst:.3g} "
        "of the size of its terms. Take other constants, or leave the assumption out."
    )
    return Verdict(name, max(worst, 0.0), EXACT, note, advice, known=evidence)


def _pairs(problem: Any, seed: int) -> tuple[Points, Points]:
    """Return pairs of points along gradient descent and around it; (1, d, R) each."""
    generator = np.random.default_rng(seed)
    x, *others = sample_points(problem, seed)
    path = [x]
    for _ in range(_STEPS):
        path.append(path[-1] - whole_gradient(problem, path[-1]) / problem.constants.L_f)
    starts = np.concatenate([*path, *others], axis=2)
    ends = [
        starts + scale * generator.standard_normal(starts.shape) / np.sqrt(problem.d)
        for scale in _SCALES
    ]
    later = np.roll(starts, 1, axis=2)
    return np.concatenate([starts] * (len(_SCALES) + 1), axis=2), np.concatenate([later, *ends], 2)
