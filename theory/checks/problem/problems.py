"""All checks of a problem."""

import numpy as np

from certibit.data.problem import Problem, is_strongly_convex
from certibit.solvers.state import narrow
from certibit.theory.checks.problem.curvature import (
    constants_by_eigenvalues,
    hessian_of_gradient,
    relaxed_constants,
)
from certibit.theory.checks.problem.gradients import (
    gap_of_value,
    gradient_of_value,
    solution_by_gradient,
    stated_gradients,
)
from certibit.theory.checks.problem.views import clients_apart, views_agree
from certibit.theory.verdict import Verdict


def problem_checks(problem: Problem, seed: int = 0) -> tuple[Verdict, ...]:
    """Check a problem of either protocol, on numpy arrays; of one for many runs, the first.

    Its constants and its solution are compared with its values and gradients at random points, so
    that a problem of your own needs only the protocol.

    Examples
    --------
    >>> from certibit import Quadratic
    >>> from certibit.theory.checks.problem.problems import problem_checks
    >>> all(v.holds for v in problem_checks(Quadratic.random(3, 4, mu=1.0, L=10.0)))
    True
    """
    problem = narrow(problem, np.array([0]))
    with np.errstate(all="ignore"):
        verdicts = [
            gradient_of_value(problem, seed),
            solution_by_gradient(problem),
            stated_gradients(problem),
            gap_of_value(problem, seed),
            clients_apart(problem, seed),
            views_agree(problem, seed),
            relaxed_constants(problem, seed),
            constants_by_eigenvalues(problem, seed),
        ]
        if is_strongly_convex(problem):
            verdicts.append(hessian_of_gradient(problem, seed))
    return tuple(verdict for verdict in verdicts if verdict)
