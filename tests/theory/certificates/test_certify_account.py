"""What is said about one method: its theorem, certificate, largest step and worst case."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from certibit import GD, FunctionClass, Refusal, compressor
from certibit.figures.text.proofs import describe_optimum, describe_proof, optimum_summary
from certibit.theory.catalogue.catalogue import METHODS, find_card, read_settings
from certibit.theory.certificates import summary
from certibit.theory.certificates.largest_step import largest_step, limits
from certibit.theory.certificates.search import certified_cost, objective_value, optimise
from certibit.theory.certificates.summary import account, class_setting, verdict
from certibit.theory.verdict import ContradictionError

OWN = """
from dataclasses import dataclass
from typing import Literal

from certibit.solvers.methods.gd import GD

@dataclass(frozen=True)
class Mine(GD):
    steps: int
    kind: Literal["I", "II"] = "I"
    damped: bool = False
    name = "mine"
"""


def configured(card, where, rule, settings):
    """Return a method as the command line makes it, by a rule with words such as gamma=0.1."""
    return card.with_values(where, rule, read_settings(card.method, settings))


def test_the_account_of_gradient_descent_is_known():
    card = METHODS["gd"]
    where = class_setting(card.method, 5, 100.0, None, None, 1)
    found = account(card, configured(card, where, "1/L", []), where)
    assert found.verdict == "tight"
    assert found.largest_step == pytest.approx(2 / 100, rel=1e-3)
    assert found.attained.factor == pytest.approx((1 - 1 / 100) ** 2, rel=1e-9)
    assert found.divergence is None
    beyond = account(card, configured(card, where, None, ["gamma=0.03"]), where)
    assert beyond.title is None
    assert beyond.certificate.factor == pytest.approx((1 - 0.03 * 100) ** 2, rel=1e-6)
    assert beyond.divergence.growth > 1e3
    assert beyond.largest_step == pytest.approx(2 / 100, rel=1e-3)


def test_more_than_an_exact_step_allows_is_a_contradiction(monkeypatch):
    """What is attained is computed by the method itself, and not from the proof."""
    card, right = METHODS["gd"], summary.certify

    def greedy(*about, **options):
        return replace(right(*about, **options), exact=Fraction(1, 10))

    monkeypatch.setattr(summary, "certify", greedy)
    where = class_setting(card.method, 5, 100.0, None, None, 1)
    with pytest.raises(ContradictionError, match="believe neither"):
        account(card, GD(0.03), where)


@pytest.mark.parametrize("start", [0.6, 1e-3, 40.0])
def test_a_limit_is_between_what_works_and_what_does_not(start):
    low, high = limits(lambda step: step < 1, start, 1e-4)
    assert low < 1 <= high <= low * (1 + 1e-4)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("gamma", "largest"), [(1e-3, 0.2), (0.2 * (1 - 1e-3), 0.2), (5.0, 0.2)])
def test_the_step_limit_is_found_from_both_sides(gamma, largest):
    found = largest_step(GD, FunctionClass(3, 1.0, 10.0), gamma)
    assert found == pytest.approx(largest, rel=1e-3)


@pytest.mark.parametrize(
    ("published", "certified", "words"),
    [
        (0.1, 0.1, "tight"),
        (0.1, 0.1 * (1 + 1e-5), "tight"),
        (0.1, 0.2, "loose by a factor 2"),
        (0.1, 0.05, "only 0.5 of it"),
        (0.1, -1.0, "no decrease"),
        (math.nan, 0.1, "no theorem"),
    ],
)
def test_verdicts(published, certified, words):
    assert words in verdict(published, certified)


def test_settings_change_a_rule():
    card = METHODS["scaffold"]
    where = class_setting(card.method, 4, 10.0, None, None, 1)
    method = configured(card, where, "best", ["traffic=published", "K=3"])
    assert (method.traffic, method.K) == ("published", 3)
    assert method.eta_l == configured(card, where, "best", ["K=3"]).eta_l


@pytest.mark.parametrize(
    ("name", "kappa", "omega", "sent", "sentence"),
    [
        ("gd", 10.0, 3.0, None, "leave the compressor out"),
        ("diana", 10.0, 3.0, "rand-k:1", "one of the two"),
        ("diana", 1.0, 3.0, None, "condition number"),
        ("diana", 10.0, None, "rand-k:9", "9"),
    ],
)
def test_families_that_do_not_fit(name, kappa, omega, sent, sentence):
    chosen = compressor(sent) if sent else None
    with pytest.raises(Refusal, match=sentence):
        class_setting(METHODS[name].method, 3, kappa, omega, chosen, 4)


@pytest.mark.long
def test_a_method_of_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    card = find_card(str(path))
    where = class_setting(card.method, 3, 10.0, None, None, 1)
    settings = ["gamma=0.1", "steps=3", "kind=II", "damped=True"]
    method = configured(card, where, None, settings)
    assert (method.gamma, method.steps, method.kind, method.damped) == (0.1, 3, "II", True)
    found = account(card, method, where)
    assert found.verdict == "no theorem applies"
    assert found.certificate.factor == pytest.approx(0.81, rel=1e-6)
    for wrong, sentence in (
        (["gamma=0.1"], "give steps"),
        (["gamma=0.1", "steps=2.5"], "must be a finite int"),
        (["gamma=big", "steps=2"], "must be a finite float"),
    ):
        with pytest.raises(Refusal, match=sentence):
            configured(card, where, None, wrong)


def of_diana(k):
    return class_setting(METHODS["diana"].method, 10, 100.0, None, compressor(f"rand-k:{k}"), 20)


@pytest.mark.long
def test_few_starts_are_the_best_of_all():
    card, uplink = METHODS["diana"], partial(objective_value, objective="bits")
    where = of_diana(5)
    first = optimise(card, where, starts=1, evaluations=30)
    costs = [certified_cost(card.at(where, rule), where, uplink) for rule in card.rules]
    assert first.cost.uplink_bits <= math.exp(min(costs)) * (1 + 1e-6)
    assert first.certificate.verify()


@pytest.mark.long
def test_free_weights_promise_more_for_diana():
    fixed, free = (
        optimise(METHODS["diana"], of_diana(1), starts=1, evaluations=30, weights=weights)
        for weights in ("fixed", "free")
    )
    assert free.cost.uplink_bits < 0.9 * fixed.cost.uplink_bits
    wrong = replace(free.certificate, weights=fixed.certificate.weights)
    assert not wrong.verify()


@pytest.mark.long
def test_parameters_of_the_least_total_cost():
    """Where a received bit costs as much, rand-1 is not worth its rounds: k and gamma change."""
    card = METHODS["diana"]
    up, both = (
        min(
            (optimise(card, of_diana(k), starts=1, evaluations=12, downlink=c) for k in (1, 20)),
            key=lambda found, c=c: objective_value(found.cost, "bits", c),
        )
        for c in (0.0, 10.0)
    )
    totals = [objective_value(found.cost, "bits", 10.0) for found in (up, both)]
    assert totals[1] < 0.8 * totals[0]
    assert up.cost.uplink_bits < both.cost.uplink_bits
    assert (up.compressor.name, both.compressor.name) == ("rand-k:1", "rand-k:20")
    text = describe_optimum(both, "bits", 10.0)
    assert f"{totals[1]:,.0f} total" in " ".join(text.split())
    assert "total = up + 10 down" in " ".join(text.split())
    assert optimum_summary(both, 10.0)["cost"]["total"] == totals[1]


@pytest.mark.long
def test_a_step_that_is_too_large_is_told_where_no_compressor_is_drawn():
    """No run of EF-BV is tried for a bias and a variance; the certificate stands all the same."""
    card = METHODS["ef-bv"]
    where = class_setting(card.method, 3, 10.0, None, None, 1)
    found = account(card, configured(card, where, None, ["gamma=1"]), where)
    assert found.certificate.decrease < 0
    assert "no run is tried: no compressor" in " ".join(describe_proof(found).split())
