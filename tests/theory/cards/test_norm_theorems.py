"""Theorems about |grad f| on (L0, L1)-smooth functions: their promise on steps and on runs."""

from dataclasses import fields, replace

import numpy as np
import pytest

from certibit import (
    CELGC,
    Experiment,
    Quartics,
    Refusal,
    Setting,
    Uniform,
    check,
    compressor,
    parameters,
    plan,
)
from certibit.data.problem import RelaxedConstants
from certibit.data.relaxed.families import Cosh, Extremal, Multiples, Tilted, stalemate
from certibit.theory.cards.clipped_sgd import ClippedGD
from certibit.theory.cards.episode import FORMS, GENERAL, MAIN, Theorem1
from certibit.theory.cards.normalised_ef21 import NormalisedFeedback
from certibit.theory.catalogue.catalogue import CARDS, CLIPPING
from certibit.theory.checks.method.one_step import steps_along_a_run
from certibit.theory.theorem import NormPromise

STATED = [name for name, card in CLIPPING.items() if card.about("gradient_norm")]
NOISE = Uniform(0.05)
PROBLEMS = {
    "tilted": Tilted.of(Cosh(), [[1.0], [-1.0]], 3.0),
    "multiples": Multiples.of(Extremal(1.0, 1.0), (0.5, 1.5), 2.0),
    "quartics": Quartics.of(H=1),
    "equal": Multiples.of(Extremal(1.0, 1.0), (1.0, 1.0), 2.0),
}


def made(name, problem, I=1):  # noqa: E741
    """The method with the largest step of its theorem, and the theorem."""
    card = CARDS[name]
    setting = Setting.of(card.method, problem)
    method = card.at(setting, I=I)
    (theorem,) = card.about("gradient_norm")
    return Experiment.of(method, problem), theorem, theorem.unmet(method, setting)


def holds(theorem, experiment, **asked):
    return steps_along_a_run(theorem, experiment, **asked).holds


def test_what_is_promised_is_the_best_of_its_lines():
    promise = NormPromise(c=0.3, eta=0.5, most=0.8, least=0.1)
    s = np.linspace(0.1, 0.8, 7001)
    for norm in (0.0, 0.05, 0.3, 0.8, 5.0):
        lines = 0.3 * (s * norm - s**2 / 2)
        assert promise.decrease(norm) == pytest.approx(lines.max(), abs=1e-8)
    assert promise.rounds_to(0.04**2) == np.inf, "below the noise"
    assert promise.rounds_to(1.0, start=2.0) == 2.0 / promise.decrease(1.0)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("sigma", [0.0, 0.05, 2.0])
def test_the_promise_of_episode_is_that_of_its_theorem(form, sigma):
    """R = 4 Delta/(eps^2 eta I) rounds to 3 eps, for the eps of its step or any larger one."""
    c = RelaxedConstants(2.0, 1.0, 1.0, 1.0, sigma, Delta=10.0)
    setting = replace(Setting.of(CARDS["episode"].method, PROBLEMS["tilted"]), constants=c)
    for epsilon in (0.3, 1.0):
        chosen = form.parameters(c, 2, 4, epsilon)
        method = CARDS["episode"].method(chosen.eta, chosen.gamma, 4)
        assert form.unmet(method, setting) == ()
        promise = form.promise(method, setting)
        length = 8 * 4 * chosen.eta * epsilon
        assert promise.least <= length * (1 + 1e-12)
        alone = replace(promise, least=length, most=length)
        rounds = 4 * c.Delta / (epsilon**2 * chosen.eta * 4)
        assert alone.rounds_to(9 * epsilon**2, c.Delta) == pytest.approx(rounds, rel=1e-12)
        assert promise.rounds_to(9 * epsilon**2, c.Delta) <= rounds * (1 + 1e-12)
        beyond = replace(method, eta=2 * method.eta, gamma=2 * method.gamma)
        assert form.unmet(beyond, setting) or form.promise(beyond, setting).least > length
        assert form.unmet(replace(method, gamma=0.99 * method.gamma), setting)
        assert form.unmet(replace(method, S=1), setting)


@pytest.mark.long(keep=8)
@pytest.mark.parametrize("name", STATED)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_each_step_of_a_run_keeps_the_promise(name, problem):
    """At the largest step that the theorem allows."""
    experiment, theorem, unmet = made(name, PROBLEMS[problem])
    if name == "celgc" and problem != "equal":
        assert unmet, "its clients clip different gradients"
        return
    assert not unmet
    assert holds(theorem, experiment)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("x_0", [3.0, 0.02])
def test_noise_is_allowed_for(x_0):
    noisy = Tilted.of(Cosh(), [[1.0], [-1.0]], x_0, NOISE)
    experiment, theorem, unmet = made("episode", noisy, I=4)
    assert not unmet
    assert holds(theorem, experiment, steps=(0, 5))
    assert made("clipped-sgd", noisy)[2], "that of clipped gradient descent is without noise"


FAULTS = {
    "c of clipped gradient descent too large": ("clipped-sgd", ClippedGD(c=0.9), 1.0),
    "c of normalised steps too large": ("normalised-gd", ClippedGD(c=0.75), 1.0),
    "a step that is too large": ("clipped-sgd", ClippedGD(), 4.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_theorem_with_a_fault_is_caught(fault):
    name, theorem, times = FAULTS[fault]
    experiment, _, _ = made(name, Multiples.of(Extremal(1.0, 1.0), (1.0,) * 2, 0.77))
    method = experiment.method
    larger = {key: times * getattr(method, key) for key in ("eta", "gamma") if times != 1}
    experiment = Experiment.of(replace(method, **larger), experiment.problem)
    assert not holds(theorem, experiment, steps=(0, 1, 2, 5))


def test_clients_that_clip_on_their_own_have_to_be_equal():
    """Planted: the theorem without that hypothesis, on the example where CELGC does not move."""
    problem, method = stalemate(2.0), CELGC(eta=0.25, gamma=0.5)
    setting = Setting.of(method, problem)
    assert not ClippedGD().unmet(method, setting)
    assert [one.statement for one in ClippedGD(equal=True).unmet(method, setting)] == ["kappa <= 0"]
    assert not holds(ClippedGD(), Experiment.of(method, problem))


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("fault", ["without 1/32", "limit of eta", "without what noise costs"])
def test_the_theorem_of_episode_with_a_fault_is_caught(fault, monkeypatch):
    problem, asked = PROBLEMS["multiples"], {}
    if fault == "without 1/32":
        right = Theorem1.promise
        monkeypatch.setattr(Theorem1, "promise", lambda *given: replace(right(*given), c=1.0))
    elif fault == "limit of eta":
        monkeypatch.setitem(vars(GENERAL), "limits", (0.01, 180, 16))
    else:
        problem = Tilted.of(Cosh(), [[1.0], [-1.0]], 1e-6, Uniform(2.0))
        monkeypatch.setattr(Theorem1, "least_epsilon", lambda *given: 0.0)
        asked = {"steps": (0,)}
    experiment, theorem, _ = made("episode", problem, I=2)
    assert not holds(theorem, experiment, **asked)
    monkeypatch.undo()
    experiment, theorem, _ = made("episode", problem, I=2)
    assert holds(theorem, experiment, **asked)


def test_check_and_plan_know_the_theorems():
    problem = PROBLEMS["tilted"]
    experiment, *_ = made("episode", problem, I=4)
    found = check(experiment.method, problem)
    (verdict,) = (one for one in found.verdicts if one.check == "descent along a run")
    assert verdict.holds
    assert "the descent of EPISODE, Theorem 1 is checked" in found.unpromised
    made_plan = plan(problem, target=1e-2)
    assert [offer.name for offer in made_plan.offers] == [
        "clipped-sgd[ours]",
        "naive-parallel-clip[ours]",
        "clipped-minibatch-sgd[ours]",
        "normalised-gd[ours]",
        "episode[ours]",
    ]
    for name, costs in made_plan.measured(best=4).items():
        (offer,) = (one for one in made_plan.offers if one.name == name)
        assert costs.rounds <= offer.promised.rounds


@pytest.mark.parametrize("name", [name for name in CLIPPING if CLIPPING[name].rules])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_rules_are_the_largest_steps_of_theorems(name, problem):
    """EPISODE's with an accuracy, in the printed form, equal without noise, and ours."""
    card, solved = CARDS[name], PROBLEMS[problem]
    sent = compressor("top-k:1") if card.method.needs.compressor else None
    method = parameters(name, solved, sent)
    for theorem in card.theorems:
        setting = Setting.of(method, solved)
        broken = {one.statement for one in theorem.unmet(method, setting)}
        assert broken <= {"kappa <= 0", "rho <= 1"}, "of f_i that are not equal"
        names = {"eta", "gamma"} & {field.name for field in fields(method)}
        longer = {key: 1.01 * getattr(method, key) for key in names}
        assert theorem.unmet(replace(method, **longer), setting)
    if name == "normalised-ef21":
        near = NormalisedFeedback().nearest(solved.constants, 1.0, 1.0)
        fine = parameters(name, solved, sent, epsilon=1e-3 * near * method.gamma)
        assert fine.gamma == pytest.approx(1e-3 * method.gamma)
    if name == "episode":
        largest = MAIN.largest_epsilon(solved.constants)
        assert method == parameters(name, solved, rule="published", epsilon=largest)
        noisy = replace(solved, noise=Uniform(0.3))
        ours, printed = (parameters(name, noisy, rule=rule, I=4) for rule in card.rules)
        assert ours.eta <= printed.eta < method.eta
        with pytest.raises(Refusal, match="outside Theorem 1"):
            parameters(name, solved, epsilon=2 * largest)


@pytest.mark.parametrize("name", ["episode-plus-plus", "momentum-clipping", "episode"])
def test_a_method_without_a_step_from_theory_is_refused(name):
    unknown = Setting.of(CARDS[name].method, PROBLEMS["tilted"])
    unknown = replace(unknown, constants=RelaxedConstants(1.0, 0.0, 1.0, 1.0))
    with pytest.raises(Refusal, match=r"give eta(,| and) gamma") as refusal:
        CARDS[name].at(unknown)
    assert CARDS[name].unstated in str(refusal.value)


def test_the_forms_differ_where_f_need_not_be_smooth():
    c = RelaxedConstants(1.0, 1.0, 5.0, 1.0, sigma=1.0)
    assert GENERAL.step_size_limits(c, 2, 1, 0.1)[2] < MAIN.step_size_limits(c, 2, 1, 0.1)[2]
