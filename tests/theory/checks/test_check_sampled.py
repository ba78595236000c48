"""Promised factors with stochastic gradients are held against drawn steps; wrong ones are seen."""

import pytest

import certibit
from certibit import CARDS, Experiment
from certibit.figures.text.examinations import describe_examination
from certibit.theory.cards.l_svrg import ReferencePoint
from certibit.theory.cards.sgd import BoundedVariance, ExpectedSmoothness
from certibit.theory.checks.method.along_a_run import (
    noise_at_the_solution,
    noise_of,
    steps_along_a_run,
)
from certibit.theory.checks.problem.mini_batches import sampling_constants

BATCHES = certibit.problem("breast-cancer@9:batch=1", kappa=20)
NAMES = ("sgd", "l-svrg", "vr-diana")


def experiment_of(name, rule=None):
    card = CARDS[name]
    sent = certibit.compressor("rand-k:3") if card.method.needs.compressor else None
    return Experiment.of(card.parameters(BATCHES, sent, rule), BATCHES, sent)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    "theorem",
    [one for name in NAMES for one in CARDS[name].about("potential")],
    ids=lambda one: one.title,
)
def test_promised_factors_are_kept(theorem):
    experiment = experiment_of(theorem.method.name)
    assert steps_along_a_run(theorem, experiment, steps=(0, 20, 100)).holds
    assert noise_at_the_solution(theorem, experiment).holds


class NoNoise(BoundedVariance):
    """SGD without e."""

    def noise(self, m, setting):
        return 0.0


class QuarterOfNoise(ExpectedSmoothness):
    """A quarter of e, of which a half is needed."""

    def noise(self, m, setting):
        return super().noise(m, setting) / 4


class Faster(ReferencePoint):
    """Ten times the decrease."""

    def rate(self, m, setting):
        return 1 - 10 * (1 - super().rate(m, setting))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("wrong", [NoNoise(), QuarterOfNoise()])
def test_too_little_noise_is_seen(wrong):
    assert not noise_at_the_solution(wrong, experiment_of("sgd")).holds


@pytest.mark.long
def test_too_small_a_factor_is_seen():
    assert not steps_along_a_run(Faster(), experiment_of("l-svrg"), steps=(0, 100)).holds


def test_the_variance_at_the_solution_is_the_smaller_one():
    experiment = experiment_of("sgd")
    everywhere, there = (noise_of(one, experiment) for one in CARDS["sgd"].about("potential"))
    assert 0 < there / 2 < everywhere
    gamma = experiment.method.gamma
    assert everywhere == gamma**2 / 9 * sampling_constants(BATCHES).variance


@pytest.mark.long
def test_check_says_what_is_checked():
    found = certibit.check(CARDS["sgd"].parameters(BATCHES), BATCHES)
    assert "has stochastic gradients; the promise of SGD" in found.unpromised
    assert "nothing is promised" not in repr(found)
    assert "No factor is promised" not in describe_examination(found, "plain")
    assert all(verdict.holds for verdict in found.verdicts)
    assert [one.check for one in found.verdicts].count("one step along a run") == 2
