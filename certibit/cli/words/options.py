"""Options that name a problem, method or compressor, and functions that read them."""

import argparse
import sys
from pathlib import Path
from typing import Any

from certibit.cli.words.plain_options import read_output
from certibit.data.losses.losses import LOSSES
from certibit.data.problem import Problem
from certibit.data.problems.nonconvex_problem import NonconvexProblem
from certibit.data.problems.ridge_problem import RidgeProblem
from certibit.data.problems.selector import KAPPA, problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.network import NETWORKS
from certibit.solvers.runs.budget import ITERATIONS, STAGNATION, Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import require_weight
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import find_card, read_settings
from certibit.theory.catalogue.covered_run import usual_measure
from certibit.theory.setting import Setting

_ACCURACY = 1e-6
"""The default f - f* or |grad f|^2."""

PROBLEM_OPTIONS = f"""\
--kappa :float  condition number L/mu (default: {KAPPA:g})
--split RULE:text=shuffled  how the rows are split over the clients: shuffled, in-order,
    similarity:PERCENT or dirichlet:CONCENTRATION
--loss :text=logistic  loss: {", ".join(LOSSES)} or multinomial, some with a constant, such as
    huber:1"""
"""Complete a PROBLEM."""
EXPERIMENT = f"""\
METHOD  such as locodl, or path/to/file.py:Name of your own
COMPRESSOR?  such as rand-k:2+natural
{PROBLEM_OPTIONS}"""
"""What comes behind PROBLEM."""
PARAMETERS = """\
--parameters RULE  rule that chooses the parameters (default: the first that certibit list names)
--set NAME=VALUE:list  value of a parameter, such as p=1 or gamma=0.1"""
STRICT = "--strict  refuse parameters that no theorem covers"
DOWNLINK_WEIGHT = """\
--downlink-weight C:float=0.0  weight of a bit received: total = bits sent + C * bits received"""
UNTIL = """\
--until GAP:float  accuracy to reach: f - f* <= GAP (default: 1e-6 if mu > 0)
--until-gradient SQUARE:float  accuracy to reach: |grad f|^2 <= SQUARE (default: 1e-6 if f is not
    strongly convex)
"""
"""The accuracy at which runs end; one of them."""


def network_option(default: str = "") -> str:
    """Return ``--network``: a name, or rates, the latency one way and the time of a gradient."""
    return f"""\
--network :text{default and f"={default}"}  network whose time is modelled: {", ".join(NETWORKS)},
    or its rates and times, such as up=1Mbit,down=10Mbit,latency=50ms,gradient=2ms"""


def limits_of_runs(iterations: int = ITERATIONS) -> str:
    """Return ``--rounds``, ``--iterations``, ``--gradients``, ``--seconds``: they end every run.

    The help names the caps on runs without them; ``iterations`` is that of the iterations.
    """
    return f"""
[limits of every run] A run without a limit of bits, rounds, gradients or seconds also ends once it
    stagnates: {STAGNATION}.
--rounds :count  communication rounds
--iterations :count={iterations}  iterations, local steps included (default: {iterations:,})
--gradients :float  gradients per client
--seconds :float  wall-clock seconds for all seeds together
"""


def read_problem(chosen: argparse.Namespace) -> RidgeProblem | NonconvexProblem:
    """Return the problem that PROBLEM and its options name."""
    return problem(chosen.problem, **problem_options(chosen))


def problem_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the options that complete a PROBLEM."""
    return {"kappa": chosen.kappa, "split": chosen.split, "loss": chosen.loss}


def read_until(chosen: argparse.Namespace, problem: Problem) -> tuple[float, str]:
    """Return the accuracy at which runs end, and its measure."""
    if chosen.until_gradient is not None:
        return chosen.until_gradient, "squared_gradient"
    if chosen.until is not None:
        return chosen.until, "gap"
    return _ACCURACY, usual_measure(problem)


def read_limits(chosen: argparse.Namespace) -> Budget:
    """Return the limits of every run, without an accuracy."""
    names = ("rounds", "iterations", "gradients", "seconds")
    return Budget(**{name: getattr(chosen, name) for name in names})


def read_limited_output(
    chosen: argparse.Namespace, iterations: int = ITERATIONS
) -> tuple[Path, Budget | None]:
    """Return the folder of ``--output`` and the limits of every run, if there are any.

    ``iterations`` is that of :func:`limits_of_runs`, which is no limit of the user. With limits it
    is a folder ``limited`` inside, as the results are no finished ones; that is said on stderr.
    """
    limits = read_limits(chosen)
    if limits == Budget(iterations=iterations):
        return read_output(chosen), None
    chosen.output /= "limited"
    print(
        f"certibit: every run is limited: the results go to {chosen.output}, which no report "
        "reads, and what needs longer runs is not judged",
        file=sys.stderr,
    )
    return read_output(chosen), limits


def read_downlink_weight(chosen: argparse.Namespace) -> float:
    """Return the weight of a bit received, a number from 0 on."""
    weight: float = chosen.downlink_weight
    require_weight(weight)
    return weight


def read_compressor(selector: str | None) -> Compressor | None:
    """Return the compressor that a selector names, if there is one."""
    return None if selector is None else compressor(selector)


def read_experiment(chosen: argparse.Namespace) -> tuple[Card, Experiment[Problem]]:
    """Return the card of the method, and the experiment of method, problem and compressor."""
    card = find_card(chosen.method)
    sent = read_compressor(chosen.compressor)
    solved = read_problem(chosen)
    values = read_settings(card.method, chosen.set)
    setting = Setting.of(card.method, solved, sent)
    method = card.with_values(setting, chosen.parameters, values)
    return card, Experiment.of(method, solved, sent)
