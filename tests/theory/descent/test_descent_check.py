"""Promised descents on nonconvex problems, by exact expectations along runs."""

from dataclasses import replace

import pytest

from certibit import (
    CARDS,
    EF21,
    Experiment,
    Setting,
    check,
    compressor,
    problem,
)
from certibit.theory.checks.method.descents import descents_along_a_run

SUBJECTS = [
    ("gd", "1/L", None),
    ("ef21", "nonconvex", "top-k:2"),
    ("marina", "nonconvex", "rand-k:2"),
    ("dasha", "nonconvex", "rand-k:2"),
]


@pytest.mark.parametrize("selector", ["breast-cancer@4:nonconvex", "quadratic:d=4@3:nonconvex"])
@pytest.mark.parametrize(("name", "rule", "sent"), SUBJECTS)
def test_runs_descend_as_promised(name, rule, sent, selector):
    functions, sent = problem(selector), sent and compressor(sent)
    card = CARDS[name]
    method = card.at(Setting.of(card.method, functions, sent), rule)
    verdict = descents_along_a_run(card.descents[0], Experiment.of(method, functions, sent))
    assert verdict.holds
    assert verdict.points > 1


def noisy_run(name, theorem=None):
    """Return the verdict on a theorem along a run with stochastic gradients."""
    functions = problem("quadratic:d=4@3:nonconvex:noise=3")
    card = CARDS[name]
    sent = compressor("top-k:2") if card.method.needs.compressor else None
    method = card.at(Setting.of(card.method, functions, sent), "nonconvex")
    return descents_along_a_run(
        theorem or card.descents[0],
        Experiment.of(method, functions, sent),
        steps=(0, 1, *range(10, 101, 10)),
    )


@pytest.mark.parametrize("name", ["sgd", "ef21-sgdm"])
def test_runs_with_stochastic_gradients_descend_as_promised(name):
    verdict = noisy_run(name)
    assert verdict.holds
    assert verdict.points > 1
    assert "standard errors" in verdict.note


class Quieter(type(CARDS["sgd"].descents[0])):
    """The theorem of SGD with a tenth of its noise; features differ in their curvature."""

    def noise(self, m, setting):
        return super().noise(m, setting) / 10


def test_too_little_noise_is_seen():
    assert not noisy_run("sgd", Quieter()).holds


def test_a_step_that_is_too_large_is_seen():
    functions, sent, card = (
        problem("breast-cancer@9:nonconvex"),
        compressor("rand-k:2"),
        CARDS["marina"],
    )
    method = card.at(Setting.of(card.method, functions, sent), "nonconvex")
    larger = Experiment.of(replace(method, gamma=3 * method.gamma), functions, sent)
    assert not descents_along_a_run(card.descents[0], larger).holds


class Faulty(EF21):
    """EF21 that adds its message twice."""

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        return replace(after, g=2 * after.g - s.g, g_mean=2 * after.g_mean - s.g_mean)


def test_check_sees_a_message_that_is_added_twice():
    functions, sent = problem("breast-cancer@9:nonconvex"), compressor("top-k:2")
    card = CARDS["ef21"]
    gamma = card.at(Setting.of(card.method, functions, sent), "nonconvex").gamma
    good, bad = (check(one, functions, sent, card=card) for one in (EF21(gamma), Faulty(gamma)))
    found = [
        next(v for v in one.verdicts if v.check == "descent along a run") for one in (good, bad)
    ]
    assert [verdict.holds for verdict in found] == [True, False]
