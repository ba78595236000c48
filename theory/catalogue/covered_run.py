"""Runs that warn, or are refused, if no theorem covers their parameters."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem, RelaxedConstants, is_strongly_convex
from certibit.data.problems.ridge_problem import RidgeProblem
from certibit.solvers.backend import mean, squared_norm
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.libraries import host
from certibit.solvers.method import Method, require_positive
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import Progress, simulate
from certibit.solvers.runs.points import Callback, RecordedPotential
from certibit.solvers.runs.trace import MEASURES, Trace, require_no_negative_gap
from certibit.solvers.simulation.experiment import Experiment, is_convex
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import card_of, made
from certibit.theory.potential import Potential, value
from certibit.theory.setting import Setting
from certibit.theory.theorem import EXACT, Theorem
from certibit.theory.verdict import OutsideTheoremWarning
from certibit.theory.worlds.fixed_points import fixed_point

_SOLVED = 1e-30
"""An f - f* or |grad f|^2 that is rounding."""
_TARGET = 1e-6
"""The accuracy at which runs without a budget end."""


def run(
    method: Method | str,
    problem: Problem | str,
    compressor: Compressor | str | None = None,
    *,
    seeds: int | Sequence[int] = 5,
    budget: Budget | None = None,
    record: Record | None = None,
    wire: bool = False,
    library: str | None = None,
    dtype: str = "float64",
    progress: Progress | None = None,
    x_0: ArrayLike | None = None,
    callback: Callback | None = None,
    keep_model: bool = False,
    card: Card | None = None,
    strict: bool = False,
    catch_up: bool = False,
) -> Trace:
    """Run a method on a problem from its x_0; warn if no theorem covers the parameters.

    Parameters
    ----------
    method : Method or str
        With its parameters, numbers or arrays (1, 1, R) with one value per run; or the name of a
        method, with the parameters of its first rule.
    problem : Problem or str
        The problem min f + g, or its name.
    compressor : Compressor or str, optional
        The compressor of every client, or its name; without one, nothing is compressed.
    seeds : int or sequence of int
        The run seeds, or their number.
    budget : Budget, optional
        Limits of every run; by default f - f* <= 1e-6, or |grad f|^2 <= 1e-6 if the problem is
        not strongly convex.
    record : Record, optional
        Which rounds are recorded.
    wire : bool
        Send every message through its bytes, which rounds values to 32-bit floats.
    library, dtype : str
        Array library ("numpy", "cupy", "torch", "torch:cuda") and floating type of the run. By
        default cupy where there is a GPU and n d R is large, else numpy.
    progress : callable, optional
        Called with the fraction that is done.
    x_0 : array of d numbers, optional
        The starting point; by default that of the problem.
    callback : callable, optional
        Called at every recorded point with its columns and the models ``x``, (1, d, R). The runs
        end if it returns true.
    keep_model : bool
        Whether the trace stores the last model of every run as ``x``.
    card : Card, optional
        The card of the method; by default that of the catalogue, if there is one.
    strict : bool
        Whether parameters outside every theorem are refused, and methods without a theorem.
    catch_up : bool
        Count the bits of every broadcast for all clients: those that are away receive it, too, now
        or when they come back. By default, as papers do, a broadcast is counted for its cohort.

    Returns
    -------
    Trace
        With the Lyapunov function of a theorem that covers the parameters, or of the first one.

    Raises
    ------
    Refusal
        If method, problem, compressor and settings do not fit each other, or for ``strict``.

    Warns
    -----
    OutsideTheoremWarning
        Once a run, if no theorem covers the parameters and ``strict`` is off.

    Examples
    --------
    >>> from certibit import Budget, Quadratic, parameters, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = parameters("gd", problem, rule="optimal")
    >>> trace = run(method, problem, seeds=1, budget=Budget(gap=1e-6))
    >>> trace.ending
    ('gap',)
    >>> run("gd", problem, seeds=1).ending
    ('gap',)
    """
    method, given, compressor = made(method, problem, compressor, card=card)
    if x_0 is not None:
        if not isinstance(given, RidgeProblem):
            raise Refusal(f"{given.name} has a start of its own; leave x_0 out")
        given = given.started_at(x_0)
    experiment: Experiment[Problem] = Experiment.of(method, given, compressor)
    card = card_of(method) if card is None else card
    require_theorem(card, experiment, strict=strict)
    potential = None
    if is_convex(experiment):
        setting = Setting.at(experiment)
        theorem = card.potential(method, setting)
        potential = lyapunov_record(theorem, setting) if theorem else None
    return simulate(
        experiment,
        seeds=seeds,
        budget=Budget().aimed(_TARGET, usual_measure(given)) if budget is None else budget,
        record=record,
        wire=wire,
        library=library,
        dtype=dtype,
        potential=potential,
        progress=progress,
        callback=callback,
        keep_model=keep_model,
        catch_up=catch_up,
    )


def usual_measure(problem: Problem) -> str:
    """Return the measure of a target that names none: "gap" if mu > 0, or "squared_gradient"."""
    return "gap" if is_strongly_convex(problem) else "squared_gradient"


def measure_at_start(problem: Problem, measure: str) -> float:
    """Return f - f* or |grad f|^2 at the start of runs; the largest, if these differ.

    Raises
    ------
    Refusal
        If it is 0 up to rounding.
    """
    x = problem.x_0
    if measure == "squared_gradient":
        start = float(np.max(host(squared_norm(mean(problem.grad(x)) + problem.grad_g(x)))))
    else:
        gap = host(problem.gap(x))
        if (gap < 0).any():
            require_no_negative_gap(gap, str(gap.dtype), abs(float(problem.f_star)))
        start = float(np.max(gap))
    if start < _SOLVED:
        raise Refusal(
            f"{MEASURES[measure]} is {start:.3g} at the start of {problem.name}, which is its "
            "solution; give other data, or another start by started_at"
        )
    return start


def lyapunov_record(potential: Potential, setting: Setting) -> RecordedPotential:
    """Return a Lyapunov function as a trace records it: of method, state and problem, (R,)."""

    def measured(method: Method, state: Any, problem: Any) -> Array:
        star = fixed_point(method, problem)
        return value(potential.lyapunov(method, state, star, setting, problem), problem)

    return measured


def require_theorem(card: Card, experiment: Experiment[Problem], *, strict: bool = True) -> None:
    """Refuse, or only warn, if the parameters of a method are outside all of its theorems.

    Step sizes that are not positive, with which nothing would ever be reached, are refused in any
    case. Where the method has no theorem about a factor, the theorems are those for convex
    functions; without these, or where f is not strongly convex, those about descents, and those
    about |grad f| on (L0, L1)-smooth problems. Without
    ``strict``, a method that comes with no theorem, or none for a problem like
    this, is not warned of: nothing is claimed.

    Raises
    ------
    Refusal
        With ``strict``, also if there is no theorem.
    """
    method = experiment.method
    require_positive(method, *card.step_sizes)
    theorems: Sequence[Theorem] = ()
    constants = experiment.problem.constants
    if is_convex(experiment):
        theorems = card.about("potential") or card.about("gap") or card.about("squared_gradient")
    elif isinstance(constants, Constants):
        theorems = card.about("squared_gradient")
    elif isinstance(constants, RelaxedConstants) and constants.are_known:
        theorems = card.about("gradient_norm")
    broken = []
    if theorems:
        setting = Setting.at(experiment)
        for theorem in theorems:
            broken.append(theorem.unmet(method, setting))
            if not broken[-1]:
                return
    if not broken and strict:
        if card.about("potential"):
            raise Refusal(
                f"the theorems of {method.name} are about strongly convex functions, which those "
                f"of {experiment.problem.name} are not; leave strict out"
            )
        raise Refusal(f"{method.name} comes with no theorem; leave strict out")
    if not broken:
        return
    nearest = min(broken, key=lambda one: (len(one), one[0].statement != EXACT))
    reason = "; ".join(f"{c.statement} fails with {c.left:.6g} and {c.right:.6g}" for c in nearest)
    sentence = f"the parameters of {method.name} are outside every theorem of the method: {reason}"
    if strict:
        raise Refusal(sentence)
    warnings.warn(sentence, OutsideTheoremWarning, stacklevel=3)
