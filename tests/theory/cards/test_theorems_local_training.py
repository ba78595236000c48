"""The theorems about local training: exact worst cases, exact expectations, runs, parameters."""

import math
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from by_rule import by_rule

from certibit import METHODS, Experiment, GradSkip, Quadratic, Setting, copies, mean, parameters
from certibit.solvers.compressors.selection import RandK
from certibit.theory.cards.compressed_scaffnew import balanced_probability, fewest_bits, primal_gain
from certibit.theory.worlds.linear_maps import worst_case

ROUNDING = 1e-9
RAND_1, SHARED = RandK(1), RandK(1, shared=True)


def holding(experiment):
    """Return the theorems whose conditions the parameters satisfy, and the setting."""
    setting = Setting.at(experiment)
    method = experiment.method
    return METHODS[method.name].holding(method, setting), setting


class Case(NamedTuple):
    """A method on small problems with some rule, and whether its theorem is tight there."""

    method: str
    rule: str
    sizes: tuple[tuple[int, int], ...]
    compressors: tuple = (None,)
    options: tuple = ({},)
    tight: bool = True


MASKED = ((2, 2), (3, 2), (4, 2), (5, 2))
COHORTS = ({"s": 2, "m": 3}, {"s": 2, "m": 2}, {"s": 3, "m": 3}, {"s": 2, "m": 4})
STEPS = tuple({"K": K} for K in (1, 2, 7))
COMPRESSED = (RAND_1, SHARED, RandK(2), None)
CASES = [
    *(Case("scaffnew", rule, ((1, 2), (2, 2), (3, 3))) for rule in ("published", "best")),
    *(Case("compressed-scaffnew", rule, MASKED) for rule in ("published", "best")),
    *(
        Case("compressed-scaffnew", rule, ((3, 2), (4, 2)), options=({"s": 3},))
        for rule in ("published", "best")
    ),
    *(Case("tamuna", rule, ((4, 2),), options=COHORTS) for rule in ("published", "best")),
    Case("gradskip", "published", ((1, 2), (2, 2), (3, 2), (3, 3))),
    *(
        Case("scaffold", rule, ((1, 2), (2, 2), (3, 3)), options=STEPS, tight=False)
        for rule in ("published", "best")
    ),
    *(
        Case("scaffold", rule, ((3, 2), (4, 2)), options=({"m": 1}, {"K": 2, "m": 2}), tight=False)
        for rule in ("published", "best")
    ),
    Case("fedcomgate", "damped", ((1, 3), (2, 2), (2, 3)), COMPRESSED, STEPS, tight=False),
    *(
        Case("locodl", rule, ((1, 3), (2, 2), (2, 3)), (RAND_1, SHARED))
        for rule in ("published", "ours")
    ),
]


def problems(n: int, d: int):
    """Return quadratics of many condition numbers: alike, with shared eigenvectors, and unlike."""
    for kappa in (2.0, 30.0, 2000.0):
        yield Quadratic.random(n, d, 1.0, kappa, seed=0)
        yield Quadratic.random(n, d, 1.0, kappa, shared_eigenvectors=True, seed=1)
        yield Quadratic.random(n, d, 1.0, np.geomspace(kappa, math.sqrt(kappa), n), seed=2)


def label(case: Case) -> str:
    return f"{case.method}-{case.rule}-{case.options[0]}"


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("case", CASES, ids=label)
def test_worst_case_is_within_the_rate(case):
    """No state of a small quadratic problem has E[Psi+] > tau Psi, and tight theorems are met."""
    largest = 0.0
    for (n, d), chosen, options in product(case.sizes, case.compressors, case.options):
        if isinstance(chosen, RandK) and chosen.k > d:
            continue
        for problem in problems(n, d):
            method = METHODS[case.method].parameters(problem, chosen, case.rule, **options)
            experiment = Experiment.of(method, problem, chosen)
            theorems, setting = holding(experiment)
            assert theorems, (method, n, d)
            for theorem in theorems:
                worst = worst_case(experiment, theorem)
                largest = max(largest, worst / theorem.rate(method, setting))
    assert largest <= 1 + ROUNDING
    if case.tight:
        assert largest >= 1 - 1e-6
    else:
        assert largest >= 0.99


@pytest.mark.parametrize("option", ["I", "II"])
@pytest.mark.parametrize("eta_g", [1.0, 1.7])
def test_scaffold_with_either_option(option, eta_g):
    for problem in problems(2, 3):
        method = replace(parameters("scaffold", problem, rule="best", K=3), option=option,
                         traffic="published")  # fmt: skip
        method = replace(method, eta_g=eta_g, eta_l=method.eta_l / eta_g)
        experiment = Experiment.of(method, problem)
        (theorem,), setting = holding(experiment)
        assert worst_case(experiment, theorem) <= theorem.rate(method, setting) * (1 + ROUNDING)


def test_inequalities_in_the_proof_for_scaffold():
    """Both hold at the largest u, where they are tightest, for every w that cohorts can have."""
    w = np.linspace(0.0, 1.0, 10_001)
    b, u = 3 / 5 + 3 * w, 1 / (4 + 8 * w)
    model = u * (4 + 4 * w + 4 * b) + 8 / 3 * u**2 * (1 + u + b * u)
    control = 2 * w + 4 / 3 * u * (1 + u + b * u)
    assert (model <= 2).all()
    assert (control <= 7 / 8 * b).all()


class Uncorrected(GradSkip):
    """GradSkip that averages x_i without -(gamma/p) h_i, a mistake."""

    def communicate(self, s, problem, channel):
        x_mean = mean(s.x)
        h = s.h + self.p / self.gamma * (x_mean - s.x)
        return replace(s, x=copies(x_mean, problem.n), h=h)


def wrong_settings():
    """Return methods just outside their theorems, or wrong, with a problem where it shows."""
    problem = Quadratic.random(4, 2, 1.0, 30.0, shared_eigenvectors=True, seed=1)
    small = Quadratic.random(2, 3, 1.0, 30.0, seed=0)
    masked = parameters("compressed-scaffnew", problem, rule="best", s=2)
    yield "compressed-scaffnew: eta = 1 > nu", replace(masked, eta=1.0), problem, None
    cohort = parameters("tamuna", problem, rule="best", s=2, m=3)
    nu = primal_gain(3, 2)
    yield "tamuna: nu of m = 3 clients", replace(cohort, chi=nu), problem, None
    unlike = Quadratic.random(3, 2, 1.0, [30.0, 8.0, 3.0], seed=2)
    skipping = parameters("gradskip", unlike, rule="published")
    yield "gradskip: gamma twice the bound", replace(skipping, gamma=2.1 / 30), unlike, None
    uncorrected = Uncorrected(skipping.gamma, skipping.p, skipping.q)
    yield "gradskip: average without correction", uncorrected, unlike, None
    step = parameters("scaffold", small, rule="best", K=1)
    yield "scaffold: ten times the step", replace(step, eta_l=10 * step.eta_l), small, None
    undamped = parameters("fedcomgate", small, RAND_1, "published")
    yield "fedcomgate: published", undamped, small, RAND_1
    independent = parameters("locodl", small, RAND_1, "ours")
    yield "locodl: shared subset taken for independent ones", independent, small, SHARED


@pytest.mark.parametrize("wrong", [*wrong_settings()], ids=lambda w: w[0])
def test_worst_case_sees_a_mistake(wrong):
    _, method, problem, chosen = wrong
    experiment = Experiment.of(method, problem, chosen)
    setting, theorem = Setting.at(experiment), METHODS[method.name].theorems[0]
    if not isinstance(method, Uncorrected):
        assert theorem.unmet(method, setting)
    assert worst_case(experiment, theorem) > theorem.rate(method, setting) * (1 + 1e-3)


def test_parameter_rules():
    """What no docstring has as a formula, at L = 40, mu = 2, kappa = 20, n = 5."""
    problem = Quadratic.random(5, 3, 2.0, [40.0, 20.0, 10.0, 2.0, 40.0], seed=1)
    kappa, n = 20.0, 5
    tau = (19 / 21) ** 2
    for s in (2, 3, 5):
        nu, c = n * (s - 1) / (s * (n - 1)), (s - 1) / (n - 1)
        made = parameters("compressed-scaffnew", problem, rule="published", s=s)
        assert (made.gamma, made.p, made.eta, made.s) == pytest.approx(
            (1 / 40, min(1.0, (n / (s * kappa)) ** 0.5), nu, s)
        )
        made = parameters("compressed-scaffnew", problem, rule="best", s=s)
        assert (made.gamma, made.p, made.eta, made.s) == pytest.approx(
            (2 / 42, min(1.0, ((1 - tau) / (nu * c)) ** 0.5), nu, s)
        )
        for rule in ("published", "best"):
            masked = parameters("compressed-scaffnew", problem, rule=rule, s=s)
            cohort = parameters("tamuna", problem, rule=rule, s=s, m=5)
            assert (cohort.gamma, cohort.p, cohort.chi, cohort.s) == (
                masked.gamma, masked.p, masked.eta, s,
            )  # fmt: skip
    assert parameters("compressed-scaffnew", problem).s == 2
    assert parameters("tamuna", problem).m == 5
    made = parameters("gradskip", problem)
    q = [(1 - 1 / k) / (1 - 1 / 20) for k in (20, 10, 5, 1, 20)]
    assert (made.gamma, made.p, *made.q) == pytest.approx((1 / 40, 20**-0.5, *q))
    made = parameters("scaffold", problem, K=4, m=2)
    assert (made.eta_g, made.eta_l, made.m) == pytest.approx(
        (2**0.5, min(1 / (81 * 40 * 4 * 2**0.5), 2 / (15 * 2 * 5 * 4 * 2**0.5)), 2)
    )
    made = parameters("scaffold", problem, rule="best", K=4)
    assert (made.eta_g, made.eta_l, made.m) == pytest.approx((1.0, 1 / 640, 5))
    for rule, times in (("damped", 5 + 8 * 0.4), ("published", 1 + 2)):
        made = parameters("fedcomgate", problem, RAND_1, rule, K=4)
        assert 4 * made.eta == pytest.approx(1 / (40 * times))


def test_balanced_probability_saves_rounds():
    """At n = 10, kappa = 1000, s = 2: 3.6 times p, and as many times fewer rounds."""
    problem = Quadratic.random(10, 2, 1.0, 1e3)
    paper, best = (
        METHODS["compressed-scaffnew"].parameters(problem, None, rule, s=2)
        for rule in ("published", "best")
    )
    setting = Setting.of(paper, problem)
    assert best.p / paper.p == pytest.approx(3.6, rel=0.01)
    (theorem,) = METHODS["compressed-scaffnew"].about("potential")
    iterations = [-1 / math.log(theorem.rate(m, setting)) for m in (paper, best)]
    assert paper.p * iterations[0] / (best.p * iterations[1]) == pytest.approx(3.6, rel=0.1)


@pytest.mark.parametrize(("n", "kappa"), [(2, 1e4), (10, 1e4), (100, 1e4), (300, 50.0), (300, 3.0)])
def test_best_number_of_owners(n, kappa):
    """The default s of "best" has the smallest promised uplink, s p/(1 - tau), of all."""
    problem = Quadratic.random(n, 2, 1.0, kappa)
    card = METHODS["compressed-scaffnew"]
    (theorem,), setting = card.about("potential"), Setting.of(card.method, problem)

    def uplink(s):
        p, tau = balanced_probability(setting, s)
        made = card.at(setting, "best", s=s)
        assert (made.p, theorem.rate(made, setting)) == pytest.approx((p, tau), rel=1e-12)
        return s * p / (1 - tau)

    chosen = fewest_bits(setting, n)
    assert parameters("compressed-scaffnew", problem, rule="best").s == chosen
    assert uplink(chosen) == min(uplink(s) for s in range(2, n + 1))
    if kappa == 1e4 and n >= 10:
        assert chosen == 3


@pytest.mark.parametrize("kappa", [1e4, 1e6, 3e10])
def test_gradskip_with_its_own_parameters_has_its_theorem(kappa):
    """1 - q (1 - p^2) was evaluated as it is printed, which loses the digits of p^2 at q = 1."""
    method, where = by_rule("gradskip", 3, kappa)
    assert METHODS["gradskip"].best_theorem(method, where).rate(method, where) < 1
