"""A run outside its theorem says so once, in Python as on the command line."""

from dataclasses import replace

import numpy as np
import pytest

import certibit
from certibit import METHODS, Experiment, Setting
from certibit.solvers.runs import engine
from certibit.theory.catalogue.covered_run import lyapunov_record

PROBLEM = certibit.Quadratic.random(3, 4, 1.0, 10.0)
BUDGET = certibit.Budget(rounds=5)


def by_theory(name):
    """Return a method with parameters from theory, and a compressor for it."""
    chosen = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: None}[
        METHODS[name].method.needs.compressor
    ]
    compressor = certibit.compressor(chosen) if chosen else None
    return certibit.parameters(name, PROBLEM, compressor), compressor


@pytest.mark.parametrize("name", METHODS)
def test_a_run_inside_its_theorem_is_that_of_the_engine(name):
    method, compressor = by_theory(name)
    trace = certibit.run(method, PROBLEM, compressor, budget=BUDGET, seeds=2, strict=True)
    if not METHODS[name].about("potential"):
        return
    experiment = Experiment.of(method, PROBLEM, compressor)
    setting = Setting.at(experiment)
    potential = lyapunov_record(METHODS[name].holding(method, setting)[0], setting)
    expected = engine.simulate(experiment, budget=BUDGET, seeds=2, potential=potential)
    for column, values in expected.columns.items():
        np.testing.assert_array_equal(trace.columns[column], values)


def test_a_run_outside_every_theorem_warns_once():
    method = replace(certibit.parameters("gd", PROBLEM), gamma=1.0)
    with pytest.warns(certibit.OutsideTheoremWarning, match="outside every theorem") as caught:
        certibit.run(method, PROBLEM, budget=BUDGET)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_strict_refuses_what_no_theorem_covers():
    method = replace(certibit.parameters("gd", PROBLEM), gamma=1.0)
    with pytest.raises(certibit.Refusal, match="gamma < 2/L_f fails with 1 and"):
        certibit.run(method, PROBLEM, budget=BUDGET, strict=True)


def test_where_only_exact_gradients_are_missing_that_is_said():
    """Another theorem of DIANA has a smaller step; a smaller step would not have helped."""
    batches = certibit.problem("breast-cancer@9:batch=8")
    with pytest.warns(certibit.OutsideTheoremWarning, match="method: gradients are exact"):
        certibit.run("diana", batches, "rand-k:10", budget=BUDGET)


def test_a_method_without_a_theorem_is_run_unless_strict():
    class Mine(METHODS["gd"].method):
        name = "mine"

    method = Mine(0.1)
    assert certibit.run(method, PROBLEM, budget=BUDGET).ending == ("rounds",) * 5
    with pytest.raises(certibit.Refusal, match="mine comes with no theorem"):
        certibit.run(method, PROBLEM, budget=BUDGET, strict=True)


STEPS = [(name, step) for name, card in METHODS.items() for step in card.step_sizes]
NOT_POSITIVE = [0.0, -1.0, np.nan, np.array([0.1, 0.0])[None, None]]


@pytest.mark.parametrize("value", NOT_POSITIVE, ids=str)
@pytest.mark.parametrize(("name", "step"), STEPS)
def test_a_step_size_with_which_nothing_is_reached_is_refused(name, step, value):
    method, compressor = by_theory(name)
    sentence = f"{step} = .* of {name}; give a number above 0"
    with pytest.raises(certibit.Refusal, match=sentence):
        certibit.run(replace(method, **{step: value}), PROBLEM, compressor, budget=BUDGET, seeds=2)


def test_every_method_with_a_theorem_has_a_step_size():
    assert {name for name, _ in STEPS} == set(METHODS)


def test_a_problem_may_be_named_wherever_one_is_taken():
    name, sent, quick = "quadratic:d=4@3", "rand-k:2", {"seeds": 1}
    made = certibit.problem(name)
    compressor = certibit.compressor(sent)
    method = certibit.parameters("diana", made, compressor)
    assert certibit.parameters("diana", name, sent) == method
    assert certibit.heterogeneity(name) == certibit.heterogeneity(made)
    assert certibit.run("diana", name, sent, **quick).specification == (
        certibit.run(method, made, compressor, **quick).specification
    )
    assert certibit.compare(name, ["gd"], **quick).table() == (
        certibit.compare(made, ["gd"], **quick).table()
    )
    few = {"methods": ["gd", "agd"]}
    assert repr(certibit.plan(name, **few)) == repr(certibit.plan(made, **few))
    assert repr(certibit.check("gd", name, rule="optimal", **quick)) == repr(
        certibit.check(
            certibit.parameters("gd", made, rule="optimal"), made, rule="optimal", **quick
        )
    )


def test_a_method_and_a_compressor_may_be_named():
    named = certibit.run("locodl", PROBLEM, "rand-k:2", seeds=1)
    sent = certibit.compressor("rand-k:2")
    method = certibit.parameters("locodl", PROBLEM, sent)
    made = certibit.run(method, PROBLEM, sent, seeds=1, budget=certibit.Budget(gap=1e-6))
    assert named.specification == made.specification
    assert named.ending == ("gap",)
    with pytest.raises(certibit.Refusal, match="another"):
        certibit.run("locodl", "another")
    with pytest.raises(certibit.Refusal, match="locodel"):
        certibit.run("locodel", PROBLEM)
