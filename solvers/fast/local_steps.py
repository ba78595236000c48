"""All local steps until the next round at once, if they are linear in state and gradient.

Every run does its own number of local steps until its next round; then all runs communicate
together. The coefficients of a local step are found by one step of the method on symbols.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.passes.dense_steps import DenseSteps
from certibit.data.passes.fused_steps import FusedSteps, fused_steps, powers_and_sums
from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.fast.recursions import LinearCombination, Recursion, SymbolicGradients
from certibit.solvers.method import Method
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import S, number_of_runs


@dataclass(frozen=True, eq=False)
class LocalSteps:
    """Any number of local steps of every run at once.

    Parameters
    ----------
    recursions : mapping
        The recursions of the fields that a step changes.
    gradients : int
        The gradients that all clients together evaluate in a step.
    passes : FusedSteps or DenseSteps
        The compiled steps.
    """

    recursions: Mapping[str, Recursion]
    gradients: int
    passes: FusedSteps | DenseSteps

    @classmethod
    def of(cls, method: Method, state: Any, oracle: Oracle) -> "LocalSteps | None":
        """Return the local steps of a method, or None.

        None for nonlinear steps, for stochastic gradients, for problems other than logistic
        regression, for arrays other than 64-bit numpy arrays, without numba, and if single steps
        are faster.
        """
        problem = oracle.problem
        if oracle.always_new or not isinstance(problem, LogisticRegression):
            return None
        gradients = SymbolicGradients(problem)
        recursions = _recursions(method, state, gradients)
        passes = fused_steps(problem.rows) if recursions else None
        if passes is None or not passes.pay(number_of_runs(state)):
            return None
        return cls(recursions, gradients.counted, passes)

    def after(self, steps: NDArray[np.int64], state: S) -> S:
        """Return a state after so many steps in every run, (R,)."""
        arrays = {
            name: self._after(steps, getattr(state, name), getattr(state, step.u), step)
            for name, step in self.recursions.items()
        }
        return replace(state, **arrays)

    def _after(self, steps: NDArray[np.int64], x: Any, u: Any, step: Recursion) -> Any:
        if step.c is not None:
            x, u = np.ascontiguousarray(x), np.ascontiguousarray(u)
            return self.passes.after(steps, x, u, step.a, step.b, step.c)
        powers, sums = powers_and_sums(step.a, steps)
        return powers * x + step.b * sums * u


def _recursions(method: Method, state: Any, gradients: SymbolicGradients) -> dict[str, Recursion]:
    """Return what a local step makes of the fields that it changes; none if it is another."""
    symbols = {name: LinearCombination({(name, False): 1.0}) for name in vars(state)}
    runs = number_of_runs(state)
    problem: Any = gradients
    channel: Any = None
    try:
        after = vars(method.local_step(replace(state, **symbols), problem, channel))
        found = {
            name: Recursion.of(name, x, runs) for name, x in after.items() if x is not symbols[name]
        }
    except Exception:  # whatever a step says to symbols that it uses like arrays
        return {}
    for name, step in found.items():
        x, u = getattr(state, name), getattr(state, step.u)
        fits = all(type(array) is np.ndarray and array.dtype == np.float64 for array in (x, u))
        stays = step.u == name or step.u not in found
        n, of_u = x.shape[0], u.shape[0]
        of_clients = step.c is None or (n == gradients.n and of_u in (1, n))
        if not (fits and stays and of_clients and x.shape[1:] == u.shape[1:]):
            return {}
    return found
