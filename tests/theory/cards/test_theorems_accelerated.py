"""Theorems of the accelerated and gradient-difference methods: exact worst cases, parameters."""

from dataclasses import replace
from itertools import product
from math import ceil, log, sqrt

import numpy as np
import pytest

from certibit import METHODS, Experiment, Quadratic, Setting
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.theory.cards.adiana import Acceleration
from certibit.theory.cards.five_gcs_cc import enough_steps
from certibit.theory.certificates import search
from certibit.theory.checks.method.written_formulas import written_hypotheses, written_rules
from certibit.theory.worlds.linear_maps import worst_case

VARIANTS = [
    ("agd", "classical", {}),
    *(("adiana", *v) for v in product(["published", "refined", "best"], [{}, {"variant": "II"}])),
    ("ef21", "published", {}),
    ("marina", "published", {}),
    ("dasha", "published", {}),
    ("5gcs-cc", "ours", {}),
    ("5gcs-cc", "ours", {"cohort": 1}),
    ("5gcs-cc", "ours", {"cohort": 2}),
    ("5gcs-cc", "5gcs", {}),
]


def rate_and_worst_case(name, rule, options, problem, compressor):
    """Return a theorem's rate and the exact worst case, at parameters that meet the theorem."""
    card = METHODS[name]
    method = card.parameters(problem, compressor, rule, **options)
    experiment = Experiment.of(method, problem, compressor)
    setting = Setting.at(experiment)
    theorem = card.holding(method, setting)[0]
    return theorem.rate(method, setting), worst_case(experiment, theorem)


def suitable(name, rule, compressor):
    """Return a compressor that a method can use, made of the given one."""
    if name == "agd":
        return Identity()
    return Scaled(compressor) if name == "ef21" and compressor.unbiased else compressor


@pytest.mark.parametrize("changes", [{"shared": True}, {"L": [3.0, 40.0]}], ids=str)
@pytest.mark.parametrize(("name", "rule", "options"), VARIANTS)
def test_worst_case_with_shared_draws_and_unequal_smoothness(name, rule, options, changes):
    problem = Quadratic.random(2, 3, 1.0, changes.get("L", 40.0), seed=5)
    compressor = suitable(name, rule, RandK(1, shared=changes.get("shared", False)))
    rate, worst = rate_and_worst_case(name, rule, options, problem, compressor)
    assert worst <= rate * (1 + 1e-9)


class FirstWeights(Acceleration):
    """Variant II with the Lyapunov function of variant I: a known mistake."""

    def lyapunov(self, m, s, star, setting, problem):
        return super().lyapunov(replace(m, variant="I"), s, star, setting, problem)


def test_weights_of_the_other_variant_are_seen_to_fail():
    problem = Quadratic.random(2, 3, 1.0, 50.0, seed=0)
    method = METHODS["adiana"].parameters(problem, RandK(1), "published", variant="II")
    experiment = Experiment.of(method, problem, RandK(1))
    assert worst_case(experiment, Acceleration()) < 1
    assert worst_case(experiment, FirstWeights()) > 1.001


COMPRESSORS = [Identity(), RandK(1), RandK(5), Natural(), RandK(4, shared=True), TopK(3)]


@pytest.mark.parametrize(("name", "rule", "options"), VARIANTS)
def test_every_rule_meets_its_hypotheses(name, rule, options):
    card = METHODS[name]
    for chosen, n, kappa in product(COMPRESSORS, [2, 60], [1, 1.5, 1e4]):
        if chosen.unbiased or name == "ef21":
            compressor = suitable(name, rule, chosen)
            where = search.setting(n, 2.0, 2.0 * kappa, 10, compressor)
            method = card.at(where, rule, **options)
            holding = card.holding(method, where)
            assert holding
            assert all(0 <= theorem.rate(method, where) < 1 for theorem in holding)


def unlike_clients(name, n=6, d=10, k=2, kappa=400.0):
    problem = Quadratic.random(n, d, 3.0, 3.0 * np.geomspace(kappa / 8, kappa, n), seed=4)
    method = METHODS[name].method
    sent = {"contractive": Scaled(RandK(k)), "unbiased": RandK(k)}.get(method.needs.compressor)
    return problem, sent, Setting.of(method, problem, sent)


@pytest.mark.parametrize(
    "name", [name for name, card in METHODS.items() if not card.method.needs.downlink]
)
def test_parameters_and_rates_are_as_written(name):
    (_, _, where), card = unlike_clients(name), METHODS[name]
    theorems = (written_hypotheses(one, card.with_values(where), where) for one in card.theorems)
    assert all(verdict.holds for verdict in (written_rules(card, where), *theorems) if verdict)


def by_rule(name, which=None, **options):
    problem, compressor, setting = unlike_clients(name)
    method = METHODS[name].parameters(problem, compressor, which, **options)
    theorem = METHODS[name].theorems[0]
    return method, setting, 1 - theorem.rate(method, setting)


@pytest.mark.parametrize("rule", ["published", "refined"])
@pytest.mark.parametrize(("variant", "shorter"), [("I", 0), ("II", 1)])
def test_the_rate_of_adiana(rule, variant, shorter):
    m, s, progress = by_rule("adiana", rule, variant=variant)
    assert m == replace(by_rule("adiana", rule)[0], variant=variant)
    c = 1 - shorter * (m.theta_2 + m.theta_1 / 2)
    parts = (m.gamma * s.mu, m.theta_1 / (2 * c), m.p * m.theta_1 / (1 + m.theta_1), m.alpha / 4)
    assert progress == pytest.approx(min(parts), rel=1e-9)


@pytest.mark.parametrize("cohort", [1, 4, 6])
def test_formulas_of_5gcs_cc(cohort):
    m, s, progress = by_rule("5gcs-cc", "ours", cohort=cohort)
    n, omega, kappa = s.n, 4.0, s.kappa
    spread = n / cohort * (1 + omega)  # 1 + Omega
    gamma = 1 / sqrt(2 * s.mu * (s.L - s.mu) * spread * (1 + omega / cohort))
    assert m.gamma == pytest.approx(gamma, rel=1e-12)
    assert m.tau == pytest.approx(1 / (2 * gamma * n * (1 + omega / cohort)), rel=1e-12)
    assert m.L_F / m.tau == pytest.approx(
        sqrt(2 * (kappa - 1) * (1 + omega / cohort) / spread), rel=1e-12
    )
    assert 1 / progress == pytest.approx(
        spread + sqrt(2 * (kappa - 1) * spread * (1 + omega / cohort)), rel=0.05
    )
    assert progress >= 1 / (spread + sqrt(2 * (kappa - 1) * spread * (1 + omega / cohort))) - 1e-12
    tuned, _, _ = by_rule("5gcs-cc", "ours-adaptive", cohort=cohort)
    assert tuned == replace(m, adaptive=True)


@pytest.mark.parametrize("k", [1e-6, 0.05, 0.3, 1.0, 7.0, 200.0])
def test_enough_steps_are_the_fewest(k):
    def residual(K):  # largest |grad psi|/|r| that K steps allow, from their two bounds
        q = (k / (1 + k)) ** K
        return q * (1 + k) / (1 - q * k) if q * k < 1 else float("inf")

    K = enough_steps(k)
    assert residual(K) <= 1 / sqrt(2 * k) * (1 + 1e-12)
    assert K == 0 or residual(K - 1) > 1 / sqrt(2 * k)


def test_formulas_of_5gcs():
    problem, _, _ = unlike_clients("agd")
    m = METHODS["5gcs-cc"].parameters(problem, None, "5gcs", cohort=3)
    L, mu, n = problem.constants.L, problem.constants.mu, problem.n
    assert m.gamma == pytest.approx(3 / 16 * sqrt(3 / (L * mu * n)), rel=1e-12)
    assert m.tau == pytest.approx(8 / 3 * sqrt(L * mu / (n * 3)), rel=1e-12)
    assert ceil((3 / 4 * sqrt(3 / n * L / mu) + 2) * log(4 * L / mu)) == m.K
    sent = METHODS["5gcs-cc"].parameters(problem, RandK(1), "5gcs")
    assert enough_steps(sent.L_F / sent.tau) <= sent.K


@pytest.mark.parametrize(
    ("changes", "statement"),
    [({"K": 0.9}, "enough local steps <= K"), ({"cohort": 2}, "cohort <= n")],
)
def test_a_violated_hypothesis_of_a_whole_number_is_named(changes, statement):
    """The check at the boundary moves real parameters only."""
    method, setting, _ = by_rule("5gcs-cc")
    bad = replace(method, **{field: getattr(method, field) * v for field, v in changes.items()})
    theorem = METHODS["5gcs-cc"].theorems[0]
    assert not theorem.unmet(method, setting)
    assert statement in [c.statement for c in theorem.unmet(bad, setting)]
