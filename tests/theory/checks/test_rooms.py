"""Every room makes all its checks: one that is left out would be missed by nobody else."""

from certibit import METHODS, Budget, Experiment, Quadratic, compressor, parameters, problem
from certibit.theory.checks.examination import examine
from certibit.theory.checks.problem.problems import problem_checks

OF_DATA = "Hessian of the gradient"
ROOMS = [
    # of methods
    "stays at the solution", "invariants", "pure steps", "alone as in a batch",
    "bits counted are bits sent", "the server uses only what was sent", "communicates as scheduled",
    "clients use only what they received", "Psi at the solution", "bits of a round as published",
    # of problems
    "L_i, L_f, mu and eigenvalues", "gradient of the value", "gradient at x*",
    "grad_star and f_star", "gap of the value", "clients alone and together", "views",
    # of compressors
    "mean of C(x)", "variance of C(x)", "moments of C(x) - constants", "C(x) of every client alone",
    "bytes of C(x)",
]  # fmt: skip


def test_a_check_has_every_room():
    small, sent = Quadratic.random(3, 12, 1.0, 10.0), compressor("rand-k:2")
    experiment = Experiment.of(parameters("diana", small, sent), small, sent)
    found = examine(METHODS["diana"], experiment, Budget(gap=1e-2), seeds=2)
    made = [verdict.check for verdict in found.sound]
    assert sorted(name for name in made if name in ROOMS) == sorted(ROOMS)
    data = problem("breast-cancer@9", kappa=100.0)
    assert OF_DATA in {verdict.check for verdict in problem_checks(data)}
