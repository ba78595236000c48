"""The certificate of Clip21: it is the best one in its ball, and runs of the class stay there."""

import json
import math
from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from worlds import world

from certibit import ClientClass, FunctionClass, Quadratic, Refusal, certify, certify_steps
from certibit.cli import main
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.methods.clip21 import Clip21, State
from certibit.theory.cards.clip21 import ErrorsInABall, contraction_from_start
from certibit.theory.formulas.error_feedback import best_feedback_factor, best_feedback_step
from certibit.theory.potential import value

TAU = 0.7
POINTS = [(10.0, 0.5), (100.0, 0.1), (2.0, 0.5)]
UNCHANGED = SimpleNamespace(send=lambda v: v, broadcast=lambda v: v)


def radius(alpha):
    return TAU / (1 - math.sqrt(1 - alpha))


def at_best_step(kappa, alpha, n, method=Clip21):
    functions = FunctionClass(n, 1.0, kappa, alpha=alpha)
    return method(best_feedback_step(1.0, kappa, alpha), TAU), functions


def psi(m, problem, s, alpha):
    """Return Psi of every run at a state, (R,)."""
    functions = FunctionClass(problem.n, 1.0, 2.0, alpha=alpha)
    return value(
        ErrorsInABall().lyapunov(m, s, m.fixed_point(problem), functions, problem), problem
    )


def worst_step(m, kappa, alpha):
    """Return the largest factor of one step from the edge of the ball, in one dimension."""
    slopes, found = np.linspace(-50, 50, 100_001)[None, None, :] * TAU, []
    for curvature in (1.0, kappa):
        problem = Quadratic.from_arrays(np.full((1, 1, 1), curvature), np.zeros((1, 1)))
        g = slopes - radius(alpha)
        s = State(slopes / curvature, g, g)
        after = m.communicate(s, problem, UNCHANGED)
        found.append(psi(m, problem, after, alpha) / psi(m, problem, s, alpha))
    return float(np.max(found))


@pytest.mark.parametrize("n", [1, 3, 10**6])
@pytest.mark.parametrize(("kappa", "alpha"), POINTS)
def test_the_factor_is_that_of_error_feedback_for_any_number_of_clients(kappa, alpha, n):
    found = certify(*at_best_step(kappa, alpha, n))
    promised = 1 - best_feedback_factor(1.0, kappa, alpha)
    assert float(found.decrease) == pytest.approx(promised, rel=1e-6)
    assert found.verify()
    assert found.region.level == pytest.approx(math.sqrt(1 - alpha) / n * radius(alpha) ** 2)
    assert f"|grad f_i(x) - g_i| <= {radius(alpha):.6g} for all i" in str(found)


@pytest.mark.parametrize(("kappa", "alpha"), POINTS)
def test_clipping_itself_attains_the_factor_at_the_edge_of_the_ball(kappa, alpha):
    m, functions = at_best_step(kappa, alpha, 1)
    proved = float(certify(m, functions).decrease)
    assert 1 - worst_step(m, kappa, alpha) == pytest.approx(proved, rel=1e-4)


@dataclass(frozen=True)
class Shortened(Clip21):
    """Clip21 that clips to half of its tau."""

    def send_clipped(self, v, channel):
        return replace(self, tau=self.tau / 2).sent(v, channel)

    def sent(self, v, channel):
        return Clip21.send_clipped(self, v, channel)


@dataclass(frozen=True)
class Longer(Clip21):
    """Clip21 whose steps are twice as long."""

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        return replace(after, x=s.x + 2 * (after.x - s.x))


@pytest.mark.parametrize("planted", [Shortened, Longer])
def test_a_planted_factor_is_worse_than_what_is_certified(planted):
    kappa, alpha = 10.0, 0.5
    m, functions = at_best_step(kappa, alpha, 1)
    wrong = planted(m.gamma, m.tau)
    assert worst_step(m, kappa, alpha) <= certify(m, functions).factor
    assert worst_step(wrong, kappa, alpha) > certify(m, functions).factor + 1e-2


def test_a_larger_alpha_is_no_contraction_of_the_clipping():
    """What holds in a smaller ball is false at the edge of this one."""
    m, functions = at_best_step(10.0, 0.5, 1)
    bolder = certify(m, replace(functions, alpha=0.6))
    assert worst_step(m, 10.0, 0.5) > bolder.factor


RUNS = [
    (Quadratic.random(4, 3, mu=1.0, L=10.0, seed=seed), tau) for seed in (0, 1) for tau in (0.3, 3)
]


@pytest.mark.parametrize(("problem", "tau"), RUNS)
def test_a_run_stays_in_its_ball_and_decreases_as_certified(problem, tau):
    L = problem.constants.L
    alpha = contraction_from_start(Clip21(1.0, tau), problem)
    m = Clip21(best_feedback_step(1.0, L, alpha), tau)
    found = certify(m, FunctionClass(problem.n, 1.0, L, alpha=alpha))
    B = tau / (1 - math.sqrt(1 - alpha))
    walked = list(world(m, problem).walk(300))
    values = [psi(m, problem, s, alpha).max() for s in walked]
    assert values[0] == pytest.approx(found.region.level, rel=1e-6)  # no smaller ball would do
    assert values[0] <= found.region.level
    errors = [np.linalg.norm(problem.grad(s.x) - s.g, axis=1).max() for s in walked]
    assert max(errors) <= B
    assert errors[0] > tau
    assert all(after <= found.factor * before * (1 + 1e-9) for before, after in pairwise(values))


def test_classes_of_clients_have_the_smallest_ball_of_theirs():
    classes = [ClientClass(2, 1.0, 10.0, alpha=0.5), ClientClass(3, 1.0, 5.0, alpha=0.4)]
    functions = FunctionClass.of_classes(classes)
    found = certify(Clip21(0.01, TAU), functions)
    assert f"<= {radius(0.5):.6g} for all i" in found.region.where
    assert {one.alpha for one in functions.contracting(0.3).kinds} == {0.3}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"alpha": None}, "needs contractive compressors; give the function class an alpha"),
        ({"alpha": 1.0}, "nothing is clipped"),
    ],
)
def test_a_class_without_a_ball_is_refused(change, sentence):
    m, functions = at_best_step(10.0, 0.5, 2)
    with pytest.raises(Refusal, match=sentence):
        certify(m, replace(functions, **change))


def test_what_would_leave_the_region_is_refused():
    m, functions = at_best_step(10.0, 0.5, 2)
    with pytest.raises(Refusal, match="its own Lyapunov function keeps it"):
        certify(m, functions, potential="search")
    with pytest.raises(Refusal, match="a chain of several steps takes a run that stays there"):
        certify_steps(replace(m, gamma=1.0), functions, 3)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("measure", ["potential", "gap"])
def test_several_steps_are_certified_where_one_step_keeps_a_run(measure):
    m, functions = at_best_step(10.0, 0.5, 2)
    once, chain = certify(m, functions), certify_steps(m, functions, 30, measure=measure)
    assert chain.proviso == once.proviso
    assert once.proviso in str(chain)
    assert chain.verify()
    assert not replace(chain, proviso="").verify()
    constant = 1 if measure == "potential" else once.potential.accuracy(functions, once.weights)
    assert chain.factor <= constant * once.factor**30 * (1 + 1e-9)


def test_the_constant_of_the_accuracy_is_the_smallest():
    """On (mu/2) |x|^2, without errors, f - f* is Psi/(2 mu)."""
    for mu in (0.3, 1.0):
        problem = Quadratic.from_arrays(np.full((2, 1, 1), mu), np.zeros((2, 1)))
        state = State(np.ones((1, 1, 1)), np.full((2, 1, 1), mu), np.full((1, 1, 1), mu))
        functions = FunctionClass(2, mu, 2.0, alpha=0.5)
        now = float(psi(Clip21(0.1, 1.0), problem, state, 0.5)[0])
        assert ErrorsInABall().accuracy(functions, (1.0, 0.35)) * now == pytest.approx(mu / 2)


def test_a_growing_psi_keeps_nothing():
    found = certify(Clip21(0.1, TAU), FunctionClass(3, 1.0, 10.0, alpha=0.5))
    assert found.factor > 1
    assert "not proved to be kept" in found.proviso


WORDS = ["certify", "clip21", "--set", "gamma=0.005", "--set", "tau=1"]
OWN = ["--problem", "breast-cancer@9", "--kappa", "50", "--groups", "1"]


@pytest.mark.long
def test_the_command_says_where_it_holds(capsys):
    assert main([*WORDS, "--n", "10", "--kappa", "10", "--alpha", "0.2"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "|grad f_i(x) - g_i| <= 9.47214 for all i" in told
    assert "0.08944 sum_i |grad f_i(x) - g_i|^2 <= 8.02492" in told
    assert "whose steps are those of clip21 by its card" in told
    assert main([*WORDS, "--n", "10", "--kappa", "10", "--alpha", "0.2", "--json"]) == 0
    assert "9.47214" in json.loads(capsys.readouterr().out)["where"]


@pytest.mark.long
def test_several_steps_by_the_command(capsys):
    assert main([*WORDS, *OWN, "--json", "--steps", "20"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["steps"]["proof_holds"]
    assert told["steps"]["attained_per_step"] is None


@pytest.mark.long
def test_the_ball_of_a_problem_is_that_of_its_start(capsys):
    assert main([*WORDS, *OWN, "--json"]) == 0
    problem = select_problem("breast-cancer@9", kappa=50.0)
    alpha = contraction_from_start(Clip21(0.005, 1.0), problem)
    assert json.loads(capsys.readouterr().out)["family"]["alpha"] == alpha
