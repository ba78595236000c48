"""Every room makes all its checks: one that is left out would be missed by nobody else."""

import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.checks.compressor.compression import compressor_checks
from certibit.theory.checks.examination import examine
from certibit.theory.checks.problem.problems import problem_checks
from certibit.theory.checks.soundness import soundness
from certibit.theory.tool.draws.choices import channel_checks
from certibit.theory.tool.tool_checks import trace_checks

PROBLEM = problem("breast-cancer@9", kappa=100.0)
SENT = compressor("rand-k:2")
CONDUCT = [
    "pure steps",
    "alone as in a batch",
    "bits counted are bits sent",
    "the server uses only what was sent",
    "communicates as scheduled",
]


def of_method():
    experiment = Experiment.of(parameters("diana", PROBLEM, SENT), PROBLEM, SENT)
    return soundness(METHODS["diana"], experiment)


def of_traces():
    experiment = Experiment.of(parameters("diana", PROBLEM, SENT), PROBLEM, SENT)
    return trace_checks(experiment)


MANY = "long and many runs as plain ones"

ROOMS = {
    "method": (
        of_method,
        [
            "stays at the solution",
            "invariants",
            *CONDUCT,
            "clients use only what they received",
            "runs as plain ones",
            "Psi at the solution",
            "bits of a round as published",
            "no better than best",
        ],
    ),
    "traces": (of_traces, ["recorded as run", "stopped runs go on", MANY, "compiled as plain"]),
    "channel": (
        lambda: channel_checks(SENT, d=12, draws=2000),
        [
            "sizes of cohorts and masks",
            "frequencies of coins, cohorts, masks",
            "variance of the mean message",
            "choices are independent",
            "a device as the host",
            "bits through masks",
            "wire and simulation at every size",
        ],
    ),
    "problem": (
        lambda: problem_checks(PROBLEM),
        [
            "L_i, L_f, mu and eigenvalues",
            "Hessian of the gradient",
            "gradient of the value",
            "gradient at x*",
            "grad_star and f_star",
            "gap of the value",
            "clients alone and together",
            "views",
        ],
    ),
    "compressor": (
        lambda: compressor_checks(SENT, 12),
        [
            "mean of C(x)",
            "variance of C(x)",
            "moments of C(x) - constants",
            "C(x) of every client alone",
            "bytes of C(x)",
        ],
    ),
}


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_makes_all_its_checks(room):
    make, names = ROOMS[room]
    made = [verdict.check for verdict in make()]
    assert sorted(name for name in made if name in names) == sorted(names)


def test_a_check_has_every_room():
    small = Quadratic.random(3, 12, 1.0, 10.0)
    experiment = Experiment.of(parameters("diana", small, SENT), small, SENT)
    found = examine(METHODS["diana"], experiment, Budget(gap=1e-2), seeds=2, tool=True)
    made = {verdict.check for verdict in (*found.sound, *found.tool)}
    told = {name for _, names in ROOMS.values() for name in names}
    assert told - made <= {"compiled as plain", "Hessian of the gradient"}  # of data only
