"""A method does with arrays, and again, what it does on symbols."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from attacks_on_numbers import (
    IN_A_COHORT,
    IN_THE_MIDDLE,
    TOSSED_AT_FIRST,
    Drowned,
    Looking,
    LookingAtChances,
    OfChannel,
    OfProblem,
    OfProperty,
    OfStart,
)
from attacks_on_premises import Remembering
from promises_of_attacks import CONVEX, NONCONVEX, N, contraction, slope
from small_methods import Memory, Psi

from certibit import Needs, Refusal, Squares, certify, masked, mean

BESIDE = Psi(lambda m, s, star, f, n: (Squares(1.0, s.x - star.x), Squares(1e16, s.v - star.v)))
"""The distance, and many times the square of what is 0 in all runs."""
OF_ARRAYS = Psi(
    lambda m, s, star, f, n: (
        Squares(1.0, m.of(s.x) * (s.x - star.x)), Squares(1.0, s.h - star.h)
    )
)  # fmt: skip
"""The distance, of arrays another one."""


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("size", [1e-3, 0.5, 1e7])
@pytest.mark.parametrize("numbers", [(0.1, 0.2, 0.3), (1.1, 2.2, 3.3)])
def test_a_method_that_asks_what_its_numbers_are_has_no_certificate(numbers, size):
    with pytest.raises(Refusal, match=r"what its numbers are|fixed point"):
        certify(Looking(0.01, *numbers, size), CONVEX, potential=BESIDE, weights="free")


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("size", [1.0, 1e16, 1e30])
@pytest.mark.parametrize("what", ["floats", "arrays"])
def test_no_difference_is_overlooked_beside_large_numbers(what, size):
    with pytest.raises(Refusal, match=r"what its numbers are|does not do on numbers"):
        certify(Drowned(size=size, what=what), CONVEX, potential="search")


@pytest.mark.parametrize(
    ("base", "n"), [(IN_THE_MIDDLE, N), (IN_A_COHORT, N), (IN_A_COHORT, 200_001)]
)
def test_a_likely_outcome_is_tried_on_arrays(base, n):
    with pytest.raises(Refusal, match="does not do on numbers"):
        certify(base(), replace(CONVEX, n=n), potential="search")


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [N, 1000])
def test_a_start_may_draw_other_than_steps(n):
    assert certify(TOSSED_AT_FIRST(), replace(CONVEX, n=n), potential="search").decrease > 0.1


@pytest.mark.parametrize("base", [OfProblem, OfStart, OfChannel])
def test_a_memory_beside_the_state_has_no_certificate(base):
    for promise in (contraction, slope):
        with pytest.raises(Refusal, match="depends on what was done before it"):
            promise(base())


def test_what_a_property_keeps_does_not_change():
    with pytest.raises(Refusal, match="steps of of property is list"):
        contraction(OfProperty())


@pytest.mark.parametrize("chance", ["a coin", "coins of clients", "a round"])
def test_probabilities_of_floats_are_those_of_fractions(chance):
    for promise in (contraction, slope):
        with pytest.raises(Refusal, match=r"what its numbers are"):
            promise(LookingAtChances(0.05, chance=chance))


@dataclass(frozen=True)
class OfWhat(Remembering):
    """Gradient descent, of which one part asks what its arrays are."""

    part: str = ""

    name, needs = "of what", Needs(nonconvex=True)

    def of(self, x, part="lyapunov"):
        return 100.0 if part == self.part and isinstance(x, np.ndarray) else 1.0

    def communicate(self, s, problem, channel):
        away = 0 * mean(masked(channel.cohort(1), s.h)) if self.part == "step" else 0 * s.x
        x = s.x - self.gamma * self.of(s.x, "step") * mean(channel.send(problem.grad(s.x))) + away
        return Memory(channel.broadcast(x), problem.grad(x))

    def model(self, s):
        return s.x + (self.of(s.x, "model") - 1) * (s.x - mean(s.h))

    def fixed_point(self, problem):
        h = self.of(problem.x_star, "fixed point") * problem.grad(problem.x_star)
        return Memory(problem.x_star, h)


@pytest.mark.parametrize("n", [N, 1000])
@pytest.mark.parametrize("part", ["step", "model", "lyapunov", "fixed point"])
def test_no_part_of_a_method_asks_what_its_arrays_are(part, n):
    with pytest.raises(Refusal, match="does not do on numbers"):
        certify(OfWhat(part=part), replace(CONVEX, n=n), potential=OF_ARRAYS)
    if part != "lyapunov":
        with pytest.raises(Refusal, match="does not do on numbers"):
            certify(OfWhat(part=part), replace(NONCONVEX, n=n))
    assert certify(OfWhat(), replace(CONVEX, n=n), potential=OF_ARRAYS).factor < 10
