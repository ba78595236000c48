"""All checks of a problem.

A check is a function of a problem and a seed. The files of this folder list theirs in
``PROBLEM_CHECKS``, where they are found.
"""

from importlib import import_module
from pkgutil import iter_modules

import numpy as np

from certibit.data.problem import Problem
from certibit.solvers.state import narrow
from certibit.theory.checks import problem as room
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
    files = sorted(module.name for module in iter_modules(room.__path__))
    checks = [
        check
        for name in files
        for check in getattr(import_module(f"{room.__name__}.{name}"), "PROBLEM_CHECKS", ())
    ]
    with np.errstate(all="ignore"):
        verdicts = [check(problem, seed) for check in checks]
    return tuple(verdict for verdict in verdicts if verdict)
