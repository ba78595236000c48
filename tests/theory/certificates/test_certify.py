"""Certificates: exact on both sides, proved in rational numbers, independent of n in cost."""

import math
from dataclasses import replace
from fractions import Fraction
from time import process_time

import numpy as np
import pytest
from small_methods import Psi

from certibit import DIANA, GD, METHODS, Experiment, Quadratic, Refusal, certify, compressor
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.theory.certificates.search import setting
from certibit.theory.cones.cone_programme import rational_of
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.worlds.linear_maps import worst_case
from certibit.theory.worlds.opaque.exact_numbers import rational
from certibit.theory.worlds.outcomes import Scripted, outcomes

SLACK = 1e-6
"""Relative slack on 1 - factor, for what is given up to have a proof."""

NEAR = 2e-2
"""The same where what is left of a proof all but vanishes in two directions."""

LINEAR = [name for name, card in METHODS.items() if card.about("potential") and name != "5gcs-cc"]
CLASSES = {"unbiased": "rand-k:1", "contractive": "scaled(rand-k:1)", None: "identity"}


def by_rule(name: str, n: int, kappa: float, d: int = 2, rule: str | None = None):
    """Return a method with the parameters of a rule, and the setting they are for."""
    card = METHODS[name]
    where = setting(n, 1.0, kappa, d, compressor(CLASSES[card.method.needs.compressor]))
    where = replace(where, by_variance=card.method.needs.by_variance)
    return card.at(where, rule), where


def decreases(method, where):
    """Return 1 - factor: of the best published theorem or -inf, certified, and attained."""
    card = METHODS[method.name]
    theorem = card.best_theorem(method, where, published=True)
    promised = 1 - theorem.rate(method, where) if theorem else -math.inf
    potential = theorem or card.theorems[0]
    certified = certify(method, where, potential=potential).decrease
    return promised, certified, attained(method, where, potential)


def attained(method, where, potential):
    """Return 1 - factor on the worst of some quadratics with curvatures mu and L only."""
    extra = where.mu if method.needs.composite else 0.0  # plain curvature of a composite view
    client, feature = np.indices((where.n, where.d))
    factors = []
    for steep in (feature == 0, (client + feature) % 2 == 0, (client == 0) & (feature == 0)):
        curvatures = np.where(steep, where.L, where.mu) + extra
        matrices = curvatures[:, :, None] * np.eye(where.d)
        problem = Quadratic.from_arrays(matrices, np.zeros((where.n, where.d)))
        sent = where.compressor if method.needs.compressor else None
        factors.append(worst_case(Experiment.of(method, problem, sent), potential))
    return 1 - max(factors)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("n", "kappa"), [(2, 50.0), (3, 3.0)])
@pytest.mark.parametrize("name", LINEAR)
def test_theorem_certificate_lower_bound(name, n, kappa):
    for rule in METHODS[name].rules:
        promised, certified, reached = decreases(*by_rule(name, n, kappa, rule=rule))
        slack = NEAR if (name, rule) == ("ef21", "best") else SLACK
        assert promised <= certified * (1 + slack)
        assert certified <= reached + SLACK * abs(reached)


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("omega_k", [1, 2])
@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("name", ["locodl", "scaffnew", "compressed-scaffnew"])
def test_theorem_certificate_lower_bound_over_p(name, p, omega_k):
    method, where = by_rule(name, 3, 10.0)
    if name == "locodl":
        where = setting(3, 1.0, 10.0, 3, compressor(f"rand-k:{omega_k}"))
        method = METHODS[name].at(where, "published")
    promised, certified, reached = decreases(replace(method, p=p), where)
    assert promised <= certified * (1 + SLACK)
    assert certified <= reached * (1 + SLACK)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("rule", ["published", "refined", "best"])
def test_adiana_of_both_variants_keeps_its_promise(rule):
    """Variant II is certified in steps that begin with the coin."""
    card = METHODS["adiana"]
    where = setting(3, 1.0, 100.0, 4, compressor("rand-k:1"))
    for variant in ("I", "II"):
        method = card.at(where, rule, variant=variant)
        proved = certify(method, where)
        assert proved.verify()
        assert proved.decrease >= 1 - card.theorems[0].rate(method, where)


def test_adiana_is_the_same_where_its_steps_are_cut():
    """The models have the same means over all outcomes of three steps, and second moments."""
    problem = Quadratic.random(2, 2, mu=1.0, L=10.0, seed=0)
    method = METHODS["adiana"].parameters(problem, compressor("rand-k:1"), variant="II")
    cut, _ = METHODS["adiana"].cut(method)
    means = []
    for one in (method, cut):
        oracle = Oracle(problem, np.arange(1), Ledger(1))
        first = one.start(np.ones((1, 2, 1)), oracle, Scripted(2, 2))

        def steps(channel, one=one, first=first, oracle=oracle):
            s = first
            for _ in range(3):
                s = one.communicate(s, oracle, channel)
            return np.outer(s.y, s.y) + s.y[0]

        pairs = outcomes(steps, lambda script: Scripted(2, 2, script))
        moments = sum(probability * moment for probability, moment in pairs)
        means.append(moments)
    np.testing.assert_allclose(*means, rtol=1e-12)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("n", [87, 288])
@pytest.mark.parametrize("name", LINEAR)
def test_many_clients_are_no_slower(name, n, unit):
    method, where = by_rule(name, n, 100.0, d=10)
    start = process_time()
    proved = certify(method, where)
    assert process_time() - start < 2 * unit
    assert proved.verify()
    theorem = METHODS[name].potential(method, where)
    assert 1 - theorem.rate(method, where) <= proved.decrease * (1 + 1e-3)


def test_a_million_clients_are_tried_on_few():
    """What treats all alike is tried on a hundred numbers; on all it takes more than a minute."""
    functions = FunctionClass(n=10**6, mu=1.0, L=10.0, omega=9.0)
    assert certify(DIANA(gamma=0.02, alpha=0.1), functions).seconds < 10


@pytest.mark.parametrize("name", ["gd", "agd", "locodl", "ef21"])
def test_a_wrong_certificate_proves_nothing(name):
    method, where = by_rule(name, 3, 20.0)
    proved = certify(method, where)
    assert proved.verify()
    greedy = replace(proved, exact=proved.exact * Fraction(1001, 1000))
    assert not greedy.verify()
    assert not replace(proved, multipliers={"of another step": Fraction(1)}).verify()
    for factor in (-1, 0, Fraction(1, 2), 2):
        wrong = {name: factor * value for name, value in proved.multipliers.items()}
        assert not replace(proved, multipliers=wrong).verify()


@pytest.mark.parametrize("name", ["agd", "ef21", "marina", "dasha", "adiana"])
def test_function_values_are_balanced_exactly(name):
    method, where = by_rule(name, 3, 20.0)
    proved = certify(method, where)
    step = RationalStep.of(method, FunctionClass.of(where), proved.potential)
    rng = np.random.default_rng(0)
    programme = DescentProgramme.of_factor(step, proved.exact_weights)
    found = programme.at([x + rational(rng.random()) for x in map(rational_of, programme.inside)])
    assert not any(found.left(programme.step)[0].values)
    for used, form in step.inequalities.items():
        more = {**found.multipliers, used: found.multipliers.get(used, 0) + 1}
        left, *_ = replace(found, multipliers=more).left(programme.step)
        assert any(left.values) == any(form.values)


def test_many_local_steps_are_refused():
    method, where = by_rule("scaffold", 3, 10.0)
    with pytest.raises(Refusal, match="fewer local steps"):
        certify(replace(method, K=100), where)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("name", LINEAR)
def test_free_weights_are_no_worse(name):
    method, where = by_rule(name, 10, 30.0, d=10)
    fixed, free = certify(method, where), certify(method, where, weights="free")
    assert free.decrease >= fixed.decrease * (1 - 1e-2)
    assert free.verify()
    assert all(weight > 0 for weight in free.weights)


def test_free_weights_find_those_of_a_worse_lyapunov_function():
    method, where = by_rule("diana", 3, 10.0)
    own = certify(method, where, weights="free")
    first, second = own.weights
    wrong = Reweighted(own.potential, (first, 50 * second))
    assert certify(method, where, potential=wrong).decrease < 0.9 * own.decrease
    found = certify(method, where, weights="free", potential=wrong)
    assert found.decrease == pytest.approx(own.decrease, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 0, "mu": 1.0, "L": 2.0}, "number of clients"),
        ({"n": 2, "mu": 2.0, "L": 2.0}, "mu < L and L > 0"),
        ({"n": 2, "mu": 1.0, "L": 2.0, "omega": -1.0}, "at least 0"),
        ({"n": 2, "mu": 1.0, "L": 2.0, "alpha": 0.0}, "above 0"),
    ],
)
def test_families_that_are_none(arguments, sentence):
    with pytest.raises(Refusal, match=sentence):
        FunctionClass(**arguments)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"weights": "loose"}, "weights = 'loose' is no choice; take 'fixed' or 'free'"),
        ({"potential": "seek"}, "potential = 'seek' is none; take 'search'"),
        ({"potential": Psi(lambda *what: ())}, "without terms proves nothing"),
    ],
)
def test_what_is_no_potential_is_refused(options, told):
    with pytest.raises(Refusal, match=told):
        certify(GD(0.1), FunctionClass(2, 1.0, 10.0), **options)
