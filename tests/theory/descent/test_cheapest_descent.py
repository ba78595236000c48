"""Parameters with the fewest certified bits to a small gradient."""

from dataclasses import replace

import pytest

from certibit import (
    METHODS,
    PAGE,
    SGD,
    FunctionClass,
    GradientNoise,
    Refusal,
    cheapest_descent,
    compressor,
)
from certibit.theory.certificates.summary import class_setting


def subject(name, sent=None, d=20):
    card = METHODS[name]
    where = class_setting(card.method, 10, None, None, sent and compressor(sent), d)
    return card.at(where, card.default_rule(where)), where, FunctionClass.of(where)


@pytest.mark.long
@pytest.mark.parametrize("name", ["marina", "dasha"])
def test_fewer_bits_are_proved(name):
    method, where, functions = subject(name, "rand-k:2")
    found = cheapest_descent(method, where, functions, tries=25)
    assert found.cost.uplink_bits < found.before.uplink_bits
    assert found.certificate.verify()
    assert found.certificate.c > 0


@pytest.mark.long
@pytest.mark.parametrize("tries", [2, 15])
def test_variance_reduction_has_parameters_with_fewer_rounds(tries):
    _, where, functions = subject("gd")
    noisy = replace(functions, noise=GradientNoise(difference=1.0))
    found = cheapest_descent(PAGE(0.3, 0.2), where, noisy, "rounds", tries=tries)
    assert found.cost.rounds < found.before.rounds
    assert found.certificate.e == 0


@pytest.mark.long
def test_bits_received_change_the_parameters():
    """A larger p has fewer rounds, in each of which all features are received."""
    method, where, functions = subject("marina", "rand-k:2")
    light, heavy = (
        cheapest_descent(method, where, functions, downlink=weight, tries=25).method.p
        for weight in (0.0, 10.0)
    )
    assert heavy > light


def test_misfits_are_refused():
    method, where, functions = subject("gd")
    noisy = replace(functions, noise=GradientNoise(difference=1.0))
    with pytest.raises(Refusal, match="depends on how much; leave noise"):
        cheapest_descent(SGD(0.1), where, noisy)
    with pytest.raises(Refusal, match="are not alike"):
        cheapest_descent(PAGE(0.1, 0.1), where, noisy, "gradients")
    with pytest.raises(Refusal, match="smaller step"):
        cheapest_descent(replace(method, gamma=3.0), where, functions)
