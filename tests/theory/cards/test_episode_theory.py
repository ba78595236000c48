"""EPISODE's theorem and clipped gradient descent: formulas, and runs of the promises."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from certibit.data.errors import Refusal
from certibit.theory.cards.episode import FORMS, MAIN
from certibit.theory.formulas.clipping_complexity import (
    episode_table,
    minibatch_lower_bound,
    partial_participation_table,
)
from certibit.theory.formulas.episode_round import PRINTED, Round, factor_A, factor_B


@dataclass(frozen=True)
class Constants:
    L0: float = 2.0
    L1: float = 1.0
    kappa: float = 1.0
    rho: float = 1.0
    sigma: float = 0.05
    Delta: float = 10.0


def test_factors_at_one():
    assert factor_A(1) == pytest.approx(2, abs=1e-15)
    assert factor_B(1) == pytest.approx(math.e - 1, abs=1e-15)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("sigma", [0.0, 0.05, 2.0])
def test_own_parameters_satisfy_all_conditions(form, sigma):
    c = Constants(sigma=sigma)
    chosen = form.parameters(c, N=2, I=4, epsilon=1.0)
    conditions = form.hypotheses(c, 2, 4, 1.0, chosen.eta, chosen.gamma, chosen.R)
    assert all(condition.holds for condition in conditions)
    assert form.mean_norm(c, 4, 1.0, chosen.eta, chosen.R) <= 3.0
    twice = form.hypotheses(c, 2, 4, 1.0, 2 * chosen.eta, 2 * chosen.gamma, chosen.R)
    assert not all(condition.holds for condition in twice)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize(("times", "less"), [(1.01, 0), (0.99, 0), (1.0, 1)])
def test_a_little_beside_its_own_parameters_one_condition_fails(form, times, less):
    c = Constants()
    chosen = form.parameters(c, N=2, I=4, epsilon=1.0)
    conditions = form.hypotheses(c, 2, 4, 1.0, chosen.eta, times * chosen.gamma, chosen.R - less)
    assert [one.holds for one in conditions].count(False) == 1


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_gamma_of_the_theorem_is_that_of_the_round(form):
    c = Constants()
    chosen = form.parameters(c, N=2, I=4, epsilon=0.5)
    assert math.ceil(4 * c.Delta / (0.5**2 * chosen.eta * 4)) == chosen.R
    episode = Round(c.L0, c.L1, c.kappa, c.rho, c.sigma, 2, 4, chosen.eta, chosen.tau)
    assert episode.Gamma == pytest.approx(form.Gamma(c), rel=1e-14)
    assert all(condition.holds for condition in episode.hypotheses())


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0, 30.0])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_lemma_4_gives_the_theorem_with_its_parameters(form, slope):
    c, epsilon, N, steps = Constants(), 0.7, 2, 4
    chosen = form.parameters(c, N, steps, epsilon)
    episode = Round(c.L0, c.L1, c.kappa, c.rho, c.sigma, N, steps, chosen.eta, chosen.tau)
    k = SimpleNamespace(**PRINTED)
    worst = max(episode.V(slope, k, form.general), episode.U(slope, k, form.general))
    assert worst <= chosen.eta * steps * epsilon * (2 * epsilon - slope) / 4


def test_largest_epsilon_is_refused_above():
    with pytest.raises(Refusal, match="epsilon"):
        MAIN.parameters(Constants(), 2, 4, MAIN.largest_epsilon(Constants()) * 1.01)


def test_without_l1_nothing_is_clipped():
    chosen = MAIN.parameters(Constants(L1=0.0), 2, 4, 0.5)
    assert math.isinf(chosen.gamma)
    assert math.isfinite(chosen.eta)


def test_tables():
    c = Constants(sigma=1.0)
    table = {row.method: row for row in episode_table(c, L=2.0, N=4, I=1, epsilon=0.01)}
    assert table["EPISODE"].iterations == table["CELGC"].rounds
    # At its largest I, EPISODE's two terms are equal.
    largest = table["EPISODE"].largest_I
    at = 10 * 2.0 / (4 * largest * 0.01**4)
    other = 10 * (2.0 + 1 * (1 + 1)) / 0.01**2 * (1 + 1 / 0.01)
    assert at == pytest.approx(other, rel=1e-12)
    slides = partial_participation_table(c, L=2.0, N=4, S=2, I=1, epsilon=0.01)
    talk = {row.method: row for row in slides}
    assert list(talk) == ["Local SGD", "SCAFFOLD", "CELGC", "EPISODE", "EPISODE++"]
    assert {name: row for name, row in talk.items() if table.get(name) == row} == {
        name: table[name] for name in ("Local SGD", "CELGC", "EPISODE")
    }
    assert talk["EPISODE++"].rounds > talk["EPISODE++"].iterations
    assert talk["EPISODE++"].iterations == 2 * talk["EPISODE"].iterations, "S = N/2"


def test_clipped_sgd_on_one_machine_needs_a_fourth_power_of_the_accuracy():
    c = Constants(sigma=1.0)
    coarse, fine = (
        {row.method: row for row in episode_table(c, L=2.0, N=4, I=1, epsilon=epsilon)}
        for epsilon in (0.1, 0.05)
    )
    assert fine["Clipped SGD"].rounds == pytest.approx(16 * coarse["Clipped SGD"].rounds)


def test_lower_bound_is_linear_in_the_largest_gradient_up_to_its_logarithm():
    one, ten = (minibatch_lower_bound(1000, 1, 1, M, 0.1) for M in (10.0, 100.0))
    assert 5 < ten / one < 10
