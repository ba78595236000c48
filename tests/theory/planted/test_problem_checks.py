"""What is checked of a problem: ours, and one that a user wrote without any base class."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from battery import PROBLEMS

from certibit import GD, Constants, Poisson, Quadratic, Refusal, check, problem
from certibit.theory.checks.problem.curvature import eigenvalues
from certibit.theory.checks.problem.gradients import derivative
from certibit.theory.checks.problem.problems import problem_checks


@dataclass(frozen=True, eq=False)
class Ridge:
    """f_i(x) = |A_i x - b_i|^2/(2 m) + (mu/2) |x|^2, by hand."""

    A: np.ndarray
    b: np.ndarray
    mu: float = 0.5

    name, view, noise, per_run, fingerprint = "own", "plain", None, (), "own"

    @property
    def n(self):
        return len(self.A)

    @property
    def d(self):
        return self.A.shape[2]

    @property
    def matrices(self):
        return self.A.mT @ self.A / self.A.shape[1] + self.mu * np.eye(self.d)

    @property
    def constants(self):
        spectra = np.linalg.eigvalsh(self.matrices)
        average = np.linalg.eigvalsh(self.matrices.mean(axis=0))
        return Constants(float(spectra.min()), spectra[:, -1], float(average[-1]))

    @property
    def x_0(self):
        return np.zeros((1, self.d, 1))

    @property
    def x_star(self):
        pull = (self.A.mT @ self.b).mean(axis=0) / self.A.shape[1]
        return np.linalg.solve(self.matrices.mean(axis=0), pull)[None]

    @property
    def grad_star(self):
        return self.grad(self.x_star)

    @property
    def f_star(self):
        return float(self.value(self.x_star)[0])

    @property
    def plain(self):
        return self

    @property
    def composite(self):
        raise Refusal("no other view")

    @property
    def specification(self):
        return {"name": self.name}

    def grad(self, x):
        return self.A.mT @ (self.A @ x - self.b) / self.A.shape[1] + self.mu * x

    def grad_g(self, y):
        return 0 * y

    def value(self, x):
        loss = ((self.A @ x - self.b) ** 2).mean(axis=(0, 1)) / 2
        return loss + self.mu / 2 * (x**2).sum(axis=(0, 1))

    def gap(self, x):
        step = x - self.x_star
        return (step * (self.matrices.mean(axis=0) @ step)).sum(axis=(0, 1)) / 2

    def hessian(self, x):
        return self.matrices.mean(axis=0)

    def hessian_product(self, x, v):
        return self.hessian(x) @ v


def own(**changes):
    """Return a ridge regression of which some members are others."""
    generator, kind = np.random.default_rng(0), type("Own", (Ridge,), changes)
    return kind(generator.standard_normal((3, 6, 2)), generator.standard_normal((3, 6, 1)))


def constants(**factors):
    """Return constants of which some are multiplied."""

    def changed(p):
        right = Ridge.constants.fget(p)
        return replace(right, **{name: x * getattr(right, name) for name, x in factors.items()})

    return {"constants": property(changed)}


HALF_GRADIENT = {"grad": lambda p, x: Ridge.grad(p, x) - p.mu / 2 * x}
UNPENALISED = {"value": lambda p, x: Ridge.value(p, x) - p.mu / 2 * (x**2).sum(axis=(0, 1))}
FIRST_POINT = {"grad": lambda p, x: Ridge.grad(p, x[:1] if x.shape[0] == p.n else x)}
WRONG = [
    (HALF_GRADIENT, "gradient of the value", "is not the slope of value"),
    (UNPENALISED, "gradient of the value", "the ridge"),
    ({"x_star": property(lambda p: Ridge.x_star.fget(p) + 1e-3)}, "gradient at x*",
     "x_star is not the minimiser"),
    (constants(L_i=0.9), "L_i, L_f, mu and eigenvalues", " of client "),
    (constants(L_f=0.99), "L_i, L_f, mu and eigenvalues", "L_f is"),
    (constants(mu=1.01), "L_i, L_f, mu and eigenvalues", "mu is"),
    (FIRST_POINT, "clients alone and together", "depends on whether it is asked for"),
    ({"hessian": lambda p, x: Ridge.hessian(p, x) / 2}, "Hessian of the gradient",
     "look at its factors"),
    ({"gap": lambda p, x: 0.9 * Ridge.gap(p, x)}, "gap of the value",
     "gap is not value - f_star"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "name", "words"), WRONG)
def test_what_is_wrong_with_an_own_problem_is_said(changes, name, words):
    failing = {v.check: v.advice for v in problem_checks(own(**changes)) if not v.holds}
    assert words in failing[name]


def test_a_correct_own_problem_passes():
    verdicts = problem_checks(own())
    assert [v for v in verdicts if not v.holds] == []
    assert len(verdicts) == 8
    assert all(v.advice for v in verdicts)


@pytest.mark.long
def test_check_examines_the_problem():
    found = check(GD(0.1), own(**HALF_GRADIENT), seeds=1)
    assert not found.holds
    assert "is not the slope of value" in str(found)


@pytest.mark.parametrize("make", PROBLEMS)
def test_every_problem_of_the_library_passes(make):
    assert [v for v in problem_checks(make(0), 0) if not v.holds] == []


@dataclass(frozen=True)
class LeastRefused(Poisson):
    """Asks whether the smallest prediction is too large."""

    def holds_at(self, z):
        return super().holds_at(z.min(keepdims=True))


def test_a_loss_that_refuses_for_one_number_only_is_named():
    rows, counts = np.random.default_rng(0).standard_normal((9, 2)), np.arange(9.0)
    kinds = {Poisson: [], LeastRefused: ["holds_at of the loss poisson answers for one number"]}
    for kind, said in kinds.items():
        made = problem(rows, counts, clients=3, loss=kind(bound=9.0), mu=1.0)
        failing = [verdict.advice for verdict in problem_checks(made) if not verdict.holds]
        assert [advice.removesuffix(" only.") for advice in failing] == said


def test_differences_are_good_to_rounding():
    slope, error = derivative(lambda x: np.sin(x[0, 0]), np.ones((1, 1, 1)), np.ones((1, 1, 1)))
    assert slope == pytest.approx(np.cos(1), rel=1e-12)
    assert error < 1e-11


def test_eigenvalues_are_those_of_the_matrix():
    problem = Quadratic.random(2, 3, 1.0, 7.0)
    found = eigenvalues(problem.grad, np.zeros((2, 3, 1)))
    assert found == pytest.approx(np.linalg.eigvalsh(problem.H), rel=1e-10)
    large = Quadratic.random(2, 60, 1.0, 7.0)
    ritz = eigenvalues(large.grad, np.zeros((2, 60, 1)))
    assert (ritz[:, -1] <= 7.0 + 1e-9).all()
    assert (ritz[:, -1] > 6.0).all()


def test_a_problem_of_many_runs_is_checked_at_the_first():
    problem = PROBLEMS[6](0)
    several = replace(problem, x_0=np.repeat(problem.x_0, 3, axis=2))
    assert all(v.holds for v in problem_checks(several))


def test_no_constants_of_a_kind_that_is_not_known():
    names = [{v.check for v in problem_checks(PROBLEMS[number](0))} for number in (0, 6)]
    assert ["L0, L1, kappa and rho" in found for found in names] == [False, True]
