"""Descents with the least Psi_0/c at a start: fewer promised rounds, kept by runs."""

from functools import partial

import numpy as np
import pytest

from certibit import (
    CARDS,
    GD,
    Experiment,
    FunctionClass,
    GradientNoise,
    Refusal,
    Setting,
    certify,
    cheapest_descent,
    compressor,
    parameters,
    problem,
)
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.theory.certificates import certify as module
from certibit.theory.certificates.certified_theorem import CertifiedTheorem
from certibit.theory.certificates.certify import fewest_rounds
from certibit.theory.checks.method.promise import promise

PROBLEM = problem("breast-cancer@5:nonconvex")
TARGET = 0.05


def subject(name, sent=None):
    sent = compressor(sent) if sent else None
    begin = Experiment.of(parameters(name, PROBLEM, sent), PROBLEM, sent)
    return begin, FunctionClass.of(Setting.at(begin))


def rounds(proof, begin):
    return promise(CertifiedTheorem(proof), begin).steps_to(TARGET)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "sent"),
    [("ef21", "top-k:6"), ("marina", "rand-k:3"), ("dasha", "rand-k:6"), ("ef21", "top-k:2")],
)
def test_fewer_rounds_are_promised_than_by_the_theorem_and_the_largest_c(name, sent):
    begin, functions = subject(name, sent)
    largest = certify(begin.method, functions)
    found = certify(begin.method, functions, begin=begin)
    assert found.verify()
    assert found.c < largest.c
    (theorem,) = CARDS[name].about("squared_gradient")
    stated = promise(theorem, begin).steps_to(TARGET)
    assert rounds(found, begin) < min(stated, rounds(largest, begin))
    least = fewest_rounds(begin.method, functions, begin) / TARGET
    assert rounds(found, begin) == pytest.approx(least, rel=1e-4, abs=1)


def test_the_promise_is_kept():
    begin, functions = subject("ef21", "top-k:6")
    steps = int(rounds(certify(begin.method, functions, begin=begin), begin))
    record = Record(ratio=1, every=1)
    trace = simulate(begin, seeds=1, budget=Budget(rounds=steps), record=record)
    assert np.mean(trace.columns["squared_gradient"][:steps]) <= TARGET


def test_planted_a_start_whose_errors_are_forgotten_costs_rounds(monkeypatch):
    begin, functions = subject("ef21", "top-k:6")
    right = rounds(certify(begin.method, functions, begin=begin), begin)
    values = module.values_at_start

    def forgotten(*given):
        first, *rest = values(*given)
        return [first, *(0.0 for _ in rest)]

    monkeypatch.setattr(module, "values_at_start", forgotten)
    assert rounds(certify(begin.method, functions, begin=begin), begin) > 1.5 * right


@pytest.mark.long
def test_the_parameters_with_the_fewest_rounds_from_a_start():
    begin, functions = subject("ef21", "top-k:6")
    asked = partial(cheapest_descent, begin.method, Setting.at(begin), functions, "rounds", tries=8)
    found = asked(begin=begin)
    assert found.from_start
    assert found.cost.rounds <= found.before.rounds
    assert found.before.rounds == pytest.approx(
        fewest_rounds(begin.method, functions, begin), rel=1e-6
    )
    assert not asked().from_start


def test_misfits_are_refused():
    begin = Experiment.of(GD(0.01), PROBLEM)
    functions = FunctionClass.of(Setting.at(begin))
    with pytest.raises(Refusal, match="leave begin out"):
        certify(GD(0.01), FunctionClass(3, 0.0, 1.0), begin=begin)
    noisy = FunctionClass.nonconvex(5, functions.L, noise=GradientNoise())
    sampled = parameters("sgd", problem("breast-cancer@5:nonconvex:noise=0.1"), rule="nonconvex")
    with pytest.raises(Refusal, match="leave begin out"):
        certify(sampled, noisy, begin=begin)
