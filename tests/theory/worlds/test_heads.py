"""A few numbers of heads have the means of all."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import pytest
from small_methods import Model

from certibit import Every, FunctionClass, GradSkip, Method, Needs, certify, copies, masked, total
from certibit.solvers.authoring import mean as mean_of_clients
from certibit.solvers.local_solve import minimise
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.worlds.orbits import numbers_of_heads, orbits

SIZES = [(1,), (2,), (3,), (7,), (50,), (1, 1), (1, 4), (3, 2), (1, 1, 1), (2, 1, 5, 1)]


def odds(size, p):
    return [comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)]


def mean(of, sizes, chances):
    """Return the mean over all numbers of heads."""
    laws = [list(enumerate(odds(size, p))) for size, p in zip(sizes, chances, strict=True)]
    return sum(prod(w for _, w in one) * of([k for k, _ in one]) for one in product(*laws))


def few(of, sizes, chances, **options):
    return sum(w * of(heads) for w, heads in numbers_of_heads(sizes, tuple(chances), **options))


@pytest.mark.parametrize("degree", [2, 3, 5])
@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(19, 20), Fraction(1)])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_means_of_all_polynomials_of_a_degree_are_exact(sizes, p, degree):
    chances = [p, *(Fraction(cell, 7) for cell in range(1, len(sizes)))]
    for powers in product(range(degree + 1), repeat=len(sizes)):
        if sum(powers) <= degree:

            def term(k, powers=powers):
                return prod(x**power for x, power in zip(k, powers, strict=True))

            assert few(term, sizes, chances, degree=degree) == mean(term, sizes, chances)


def test_they_are_few_and_no_larger_for_more_coins():
    for size in (10, 10**6):
        assert len(numbers_of_heads((size,), (0.5,))) == 3
        weights = [weight for weight, _ in numbers_of_heads((size,) * 3, (0.1, 0.5, 0.9))]
        assert len(weights) == 1 + 2 * 3 + 3
        assert sum(weights) == pytest.approx(1, abs=1e-14)
        assert max(map(abs, weights)) < 3
    assert len(numbers_of_heads((1,) * 9, (0.5,) * 9)) == 1 + 9 + 36


@dataclass(frozen=True)
class AverageOfHeads(GradSkip):
    """GradSkip whose clients with heads also move as these do in the mean."""

    name = "average-of-heads"

    def local_step(self, s, problem, channel):
        heads = channel.client_coins(self.q)
        step = self.gamma * (problem.grad(s.x) - s.h)
        return replace(s, x=s.x - step - masked(heads, mean_of_clients(masked(heads, step))))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [3, 1000])
def test_coins_that_are_not_added_up_have_true_numbers(n):
    """A quadratic form of what they do is of degree 4 in the number of heads."""
    method, family = AverageOfHeads(0.05, 0.3, (0.9,) * n), FunctionClass(n, 1.0, 20.0)
    assert certify(method, family, potential="search").decrease <= slowest_decrease(method, family)


class SolvingByHeads(Method):
    """A step that is a square of the number of clients that solve their local problems."""

    name, needs, schedule, place = "solving by heads", Needs(), Every(), 0

    def start(self, x, problem, channel):
        return Model(x)

    def communicate(self, s, problem, channel):
        coins, x = channel.client_coins((0.3,) * problem.n), copies(s.x, problem.n)
        sizes: Any = {"L": 2.0, "mu": 1.0, "accuracy": 0.1, "most": 9}
        solved = minimise(lambda y, *_: problem.grad(y), 0 * x, x, s, coins, problem, **sizes)
        twice = total(masked(coins, copies(total(solved[self.place]), problem.n)))
        return Model(s.x + twice)


class GradientsByHeads(SolvingByHeads):
    name, place = "gradients by heads", 1


@pytest.mark.parametrize("method", [SolvingByHeads(), GradientsByHeads()], ids=lambda m: m.name)
def test_local_solves_depend_on_the_coins_of_those_that_solve(method):
    assert {one.degree for one in orbits(method, 9)[0]} == {4}
