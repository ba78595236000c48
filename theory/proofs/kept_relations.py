"""The relations of a state that hold at a start and are kept by a step, of those that are found.

Relations are found by runs in floats with exact gradients. Here what the start and a step make of
them is computed on symbols, where gradients have their noise.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from flint import fmpq_mat

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.orbits import cells_of_kinds
from certibit.theory.worlds.symbolic.exact_numbers import rational
from certibit.theory.worlds.symbolic.frames import Basis, Frame, Matrix
from certibit.theory.worlds.symbolic.kernels import ROUNDING
from certibit.theory.worlds.symbolic.symbols import (
    MessageErrors,
    SymbolicChannel,
    SymbolicProblem,
)
from certibit.theory.worlds.units import MethodInUnits

Groups = list[Matrix]
"""The rows of a relation in the directions of each group of a frame."""


Step = tuple[list[Groups], list[Groups]]
"""The relations before and after an outcome of a step."""


def relations_of_step(
    method: MethodInUnits, states: tuple[Any, Any], problem: SymbolicProblem
) -> Step | None:
    """Return the relations before and after an outcome of a step.

    There are none where gradients after it depend on who else took part. Gradients that only
    relations ask for are not kept: they prove nothing more.
    """
    asked, found = len(problem.evaluations), None
    with suppress(Refusal):
        before, after = (
            [*map(problem.frame.groups, invariants(method, s, problem))] for s in states
        )
        found = before, after
    del problem.evaluations[asked:]
    return found


def hold_at_start(
    method: MethodInUnits, run: Method, functions: FunctionClass, size: int, exact: bool
) -> list[int]:
    """Return which relations hold at the start of runs with stochastic gradients.

    Without noise all do. A start that is drawn otherwise than by noise shows of none that it holds.

    Parameters
    ----------
    run : Method
        The method with the parameters that it is run with, in rational numbers if ``exact``.
    size : int
        The number of unknowns at most.
    """
    basis = Basis(size, len(functions.kinds), exact)
    frame = Frame(cells_of_kinds(functions.counts), functions.counts, exact)
    errors = MessageErrors(basis, frame, [], functions)
    about = functions.noise is not None and functions.noise.expected is not None
    problem = SymbolicProblem(
        basis, frame, [], solution=functions.has_solution, samples=errors, about_solution=about
    )
    channel = SymbolicChannel(run, functions, problem, errors, kept=True)
    x = frame.unknown(basis, basis.index("start", every_client=False))
    s = run.start(x, problem.of_step(method), channel)
    if channel.options:
        return []
    sizes = [np.abs(frame.rows(v)).max() for v in vars(s).values() if v.dtype != bool]
    least = 0 if exact else ROUNDING * max(sizes)
    found = [frame.rows(relation) for relation in invariants(method, s, problem)]
    return [k for k, rows in enumerate(found) if np.abs(rows).max() <= least]


def really_kept(steps: Iterable[Step | None], held: Sequence[int], *, noise: bool) -> list[int]:
    """Return the relations that every outcome of a step keeps, if they hold before it.

    What a step makes of each must follow from the others, in rational numbers where the step is.
    Where it is not known what an outcome makes of them, they are kept without noise only.

    Parameters
    ----------
    steps : pairs of lists
        For each outcome the relations before and after it; None where these are not known.
    held : sequence of int
        The relations that hold at the start.
    """
    known = [*steps]
    held, outcomes = [*held], [one for one in known if one is not None]
    if noise and len(outcomes) < len(known):
        return []
    while True:
        left = [
            k
            for k in held
            if all(
                are_combinations(own, [before[j][group] for j in held])
                for before, after in outcomes
                for group, own in enumerate(after[k])
            )
        ]
        if left == held:
            return held
        held = left


def are_combinations(rows: Matrix, others: Sequence[Matrix]) -> bool:
    """Whether rows are combinations of others; in floats, up to rounding."""
    known = np.concatenate(others)
    if rows.dtype != object:
        rest = rows - rows @ np.linalg.pinv(known) @ known
        return bool(np.abs(rest).max(initial=0) <= ROUNDING * np.abs(rows).max(initial=0))
    ranks = [
        fmpq_mat([list(map(rational, row)) for row in own]).rank()
        for own in (known, np.concatenate([known, rows]))
    ]
    return ranks[0] == ranks[1]
