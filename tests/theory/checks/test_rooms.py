"""Every room makes all its checks: one that is left out would be missed by nobody else."""

import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.checks.compressor.compression import compressor_checks
from certibit.theory.checks.examination import examine, soundness
from certibit.theory.checks.problem.problems import problem_checks

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


ROOMS = {
    "method": (
        of_method,
        [
            "stays at the solution",
            "invariants",
            *CONDUCT,
            "clients use only what they received",
            "Psi at the solution",
            "bits of a round as published",
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
    found = examine(METHODS["diana"], experiment, Budget(gap=1e-2), seeds=2)
    made = {verdict.check for verdict in found.sound}
    told = {name for _, names in ROOMS.values() for name in names}
    assert told - made <= {"Hessian of the gradient"}  # of data only
