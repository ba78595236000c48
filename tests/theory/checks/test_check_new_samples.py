"""Checks of methods that name no samples, on problems with stochastic gradients."""

import warnings

import pytest

from certibit import (
    CARDS,
    GD,
    Budget,
    OutsideTheoremWarning,
    Refusal,
    check,
    compressor,
    plan,
    problem,
    run,
)
from certibit.theory.theorem import ConvergenceTheorem

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


def test_what_is_about_exact_gradients_is_named(monkeypatch):
    """Held against the method, it would fail."""
    method = CARDS["gd"].parameters(ROWS)
    found = check(method, ROWS, seeds=2)
    assert "does not apply: gradient descent, classical" in found.unpromised
    monkeypatch.setattr(ConvergenceTheorem, "allows_noise", lambda *given: True)
    failing = [one.check for one in check(method, ROWS, seeds=2).verdicts if not one.holds]
    assert "noise at the solution" in failing


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
