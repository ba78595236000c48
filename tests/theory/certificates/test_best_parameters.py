"""The largest step, what a step costs, and the search for the best parameters."""

import math
from dataclasses import replace

import numpy as np
import pytest
from by_rule import by_rule

from certibit import GD, MARINA, SCAFFOLD, Budget, Experiment, Quadratic, Scaffnew, compressor
from certibit.solvers.runs.engine import simulate
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates import search as search_module
from certibit.theory.certificates.largest_step import largest_step
from certibit.theory.certificates.search import optimise, setting
from certibit.theory.certificates.summary import class_setting
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.orbits import orbits


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [1, 87])
def test_the_largest_step_is_the_theorem_s(n):
    family = FunctionClass(n, 1.0, 20.0)
    assert largest_step(GD, family, 1.0) == pytest.approx(2 / 20.0, rel=1e-3)
    step = largest_step(lambda gamma: Scaffnew(gamma, 0.3), family, 1.0)
    assert step == pytest.approx(2 / 20.0, rel=1e-3)


@pytest.mark.long
@pytest.mark.parametrize(("name", "kappa"), [("compressed-gd", 100.0), ("ef21", 100.0)])
def test_a_largest_step_is_found_where_rounding_hides_what_tiny_ones_do(name, kappa):
    """1e-9 of the largest decreases by too little for the solver to tell."""
    method, where = by_rule(name, 1, kappa, 4.0, "best")
    functions = FunctionClass.of(where)
    gamma, potential = method.gamma, CARDS[name].about("potential")[-1]

    def change(step):
        return replace(method, gamma=step)

    found = largest_step(change, functions, 100 * gamma, potential=potential)
    assert gamma < found < 1.5 * gamma


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ["scaffnew", "scaffold", "tamuna", "adiana", "locodl", "5gcs-cc"])
def test_the_cost_of_a_step_is_that_of_a_run(name):
    n, d = 4, 6
    options = {"scaffold": {"m": 2}, "tamuna": {"s": 2, "m": 3}, "5gcs-cc": {"cohort": 2}}
    options = options.get(name, {})
    problem = Quadratic.random(n, d, mu=1.0, L=4.0, seed=0)
    sent = None if METHODS[name].method.needs.compressor is None else compressor("rand-k:2")
    method = METHODS[name].parameters(problem, sent, **options)
    _, cost = orbits(method, n, d, sent)
    experiment = Experiment.of(method, problem, sent)
    trace = simulate(experiment, seeds=range(64), budget=Budget(iterations=200))
    last = {key: np.array([trace.run(i)[key][-1] for i in range(64)]) for key in trace.run(0)}
    steps = last["iteration"] / (method.schedule.iterations if name in {"scaffold"} else 1)
    for key, expected in (
        ("uplink_bits", cost.uplink_bits),
        ("downlink_bits", cost.downlink_bits),
        ("rounds", cost.rounds),
        ("gradients", cost.gradients),
    ):
        # 64 runs of 200 steps: a standard error of at most 1% or so, 5 of them
        assert np.mean(last[key] / steps) == pytest.approx(expected, rel=0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "objective"), [("locodl", "bits"), ("diana", "rounds"), ("locodl", "gradients")]
)
def test_optimised_parameters_are_no_worse(name, objective):
    where = class_setting(METHODS[name].method, 10, 100.0, None, compressor("rand-k:4"), 20)
    found = optimise(METHODS[name], where, objective, evaluations=15)
    key = {"bits": "uplink_bits"}.get(objective, objective)
    # a proof in floats gives up as much as 1e-5 of the decrease
    assert getattr(found.cost, key) <= getattr(found.before, key) * (1 + 2e-5)
    assert found.certificate.verify()


def test_what_only_a_search_believes_is_not_optimal(monkeypatch):
    """A search that ends at a step of no use: the best rule is certified in its place."""
    useless = MARINA(gamma=1.0, p=0.5), -100.0
    monkeypatch.setattr(search_module, "best_parameters", lambda *about: useless)
    sent = compressor("rand-k:5")
    where, card = setting(3, 1.0, 20.0, 10, sent), METHODS["marina"]
    found = optimise(card, where)
    assert found.method in [card.at(where, rule) for rule in card.rules]
    assert found.certificate.decrease > 0


def test_a_search_goes_along_the_limit_of_a_product(monkeypatch):
    """Where one step size may be larger the smaller the other one is, one simplex stops early."""

    def cost(method):
        product = method.K * method.eta_l * method.eta_g
        limit = 0.01 / method.eta_g**0.5
        return math.inf if product > limit or method.eta_l > 0.002 else -math.log(product)

    start, best = SCAFFOLD(5, 5e-5, 1.0, 10), -math.log(0.01)
    _, found = search_module.best_parameters(start, cost, 40)
    assert found < best + 0.2
    monkeypatch.setattr(search_module, "_along", lambda cost, begin, unit: begin)
    _, alone = search_module.best_parameters(start, cost, 40)
    assert alone > best + 0.5
