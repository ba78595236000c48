"""Checks of methods that name no samples, on problems with stochastic gradients."""

import warnings
from dataclasses import dataclass

import pytest

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
from certibit.theory.checks.method.along_a_run import noise_at_the_solution

UNNAMED = {name: card.method for name, card in CARDS.items() if not card.method.needs.samples}
SENT = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: "identity"}
ROWS = problem("breast-cancer@4:batch=8", kappa=100)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", [name for name in UNNAMED if CARDS[name].rules])
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
