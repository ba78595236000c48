"""Promised factors with stochastic gradients are held against drawn steps; wrong ones are seen."""

import warnings
from dataclasses import dataclass

import pytest

import certibit
from certibit import (
    CARDS,
    GD,
    MARINA,
    SGD,
    Budget,
    Experiment,
    OutsideTheoremWarning,
    Refusal,
    Uniform,
    check,
    compressor,
    mean,
    plan,
    problem,
    run,
)
from certibit.figures.text.examinations import describe_examination
from certibit.theory.cards.l_svrg import ReferencePoint
from certibit.theory.cards.sgd import BoundedVariance, ExpectedSmoothness
from certibit.theory.checks.method.one_step import (
    noise_at_the_solution,
    noise_of,
    steps_along_a_run,
)
from certibit.theory.checks.problem.mini_batches import sampling_constants

BATCHES = certibit.problem("breast-cancer@9:batch=1", kappa=20)
NAMES = ("sgd", "l-svrg", "vr-diana")


def experiment_of(name, rule=None):
    card = CARDS[name]
    sent = certibit.compressor("rand-k:3") if card.method.needs.compressor else None
    return Experiment.of(card.parameters(BATCHES, sent, rule), BATCHES, sent)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    "theorem",
    [one for name in NAMES for one in CARDS[name].about("potential")],
    ids=lambda one: one.title,
)
def test_promised_factors_are_kept(theorem):
    experiment = experiment_of(theorem.method.name)
    assert steps_along_a_run(theorem, experiment, steps=(0, 20, 100)).holds
    assert noise_at_the_solution(theorem, experiment).holds


def changed(base, **members):
    return type(base.__name__, (base,), members)()


def quarter(theorem, m, setting):
    """A quarter of e, of which a half is needed."""
    return ExpectedSmoothness.noise(theorem, m, setting) / 4


def faster(theorem, m, setting):
    """Ten times the decrease."""
    return 1 - 10 * (1 - ReferencePoint.rate(theorem, m, setting))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("base", "noise"), [(BoundedVariance, lambda *given: 0.0), (ExpectedSmoothness, quarter)]
)
def test_too_little_noise_is_seen(base, noise):
    assert not noise_at_the_solution(changed(base, noise=noise), experiment_of("sgd")).holds


@pytest.mark.long
def test_too_small_a_factor_is_seen():
    wrong = changed(ReferencePoint, rate=faster)
    assert not steps_along_a_run(wrong, experiment_of("l-svrg"), steps=(0, 100)).holds


def test_the_variance_at_the_solution_is_the_smaller_one():
    experiment = experiment_of("sgd")
    everywhere, there = (noise_of(one, experiment) for one in CARDS["sgd"].about("potential"))
    assert 0 < there / 2 < everywhere
    gamma = experiment.method.gamma
    assert everywhere == gamma**2 / 9 * sampling_constants(BATCHES).variance


@pytest.mark.long
def test_check_says_what_is_checked():
    found = certibit.check(CARDS["sgd"].parameters(BATCHES), BATCHES)
    assert "has stochastic gradients; the promise of SGD" in found.unpromised
    assert "nothing is promised" not in repr(found)
    assert "No factor is promised" not in describe_examination(found, "plain")
    assert all(verdict.holds for verdict in found.verdicts)
    assert [one.check for one in found.verdicts].count("one step along a run") == 2


UNNAMED = {name: card.method for name, card in CARDS.items() if not card.method.needs.samples}
SENT = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: "identity"}
ROWS = problem("breast-cancer@4:batch=8", kappa=100)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    "name", [name for name in UNNAMED if CARDS[name].rules and not CARDS[name].takes_relaxed]
)
def test_no_check_fails(name):
    """Nor is a promise held against it that is about exact gradients."""
    needs = UNNAMED[name].needs
    sent = SENT[needs.compressor]
    sent = compressor(f"two-way({sent};{SENT[needs.downlink]})" if needs.downlink else sent)
    with warnings.catch_warnings(action="ignore"):
        method = CARDS[name].parameters(ROWS, sent)
    found = check(method, ROWS, sent, seeds=2)
    assert found.holds, found
    assert not found.promised
    assert "has stochastic gradients" in found.unpromised


@pytest.mark.long
def test_what_is_about_exact_gradients_is_named():
    """Held against the method, it would fail."""
    method = CARDS["gd"].parameters(ROWS)
    found = check(method, ROWS, seeds=2)
    assert "does not apply: gradient descent, classical" in found.unpromised
    assert "the descent of a certificate" in found.unpromised
    assert not noise_at_the_solution(CARDS["gd"].theorems[0], Experiment.of(method, ROWS)).holds


@pytest.mark.long
def test_noise_beyond_its_bound_is_seen(monkeypatch):
    """By the descent that a certificate proves, which holds for the true noise."""
    noisy, sent = problem("quadratic:d=5@4:nonconvex:noise=3"), compressor("rand-k:2")
    method, sample = MARINA(gamma=0.05, p=0.3), Uniform.sample
    found = check(method, noisy, sent, seeds=2)
    assert "the descent of a certificate" in found.unpromised
    assert found.holds
    monkeypatch.setattr(Uniform, "sample", lambda law, u, d: 1.5 * sample(law, u, d))
    failing = [one.check for one in check(method, noisy, sent, seeds=2).verdicts if not one.holds]
    assert "descent along a run" in failing


@dataclass(frozen=True)
class Exact(SGD):
    """SGD that forgets to name its sample."""

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return type(s)(channel.broadcast(s.x - self.gamma * g))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("selector", ["quadratic:d=5@4:nonconvex:noise=3", "breast-cancer@4"])
def test_a_method_that_says_it_names_samples_and_does_not_is_seen(selector):
    solved = problem(selector)
    checked, other = (check(method, solved, seeds=2) for method in (Exact(0.1), SGD(0.1)))
    assert [one.check for one in checked.verdicts if not one.holds] == ["names its samples"]
    assert "names its samples" in [one.check for one in other.verdicts]
    assert other.holds


def test_no_run_is_covered_and_no_plan_offers_it():
    noisy = problem("breast-cancer@9:nonconvex:noise=0.5")
    method = CARDS["gd"].parameters(noisy)
    with pytest.warns(
        OutsideTheoremWarning, match="gradients are exact: sigma <= 0 fails with 0.2"
    ):
        run(method, noisy, seeds=1, budget=Budget(rounds=2))
    with pytest.raises(Refusal, match="gradients are exact"):
        run(method, noisy, seeds=1, strict=True)
    with pytest.raises(Refusal, match="gradients are exact"):
        check(GD(0.1), ROWS, strict=True)
    offered = {
        offer.card.name
        for offer in plan(
            noisy, target=0.5, methods=["gd", "ef21", "sgd"], compressors=["top-k:2"]
        ).offers
    }
    assert "sgd" in offered
    assert not offered & UNNAMED.keys()
