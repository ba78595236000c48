"""What a certificate stands on is proved: the start, every outcome, all flags, and rest."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attacks import kind
from attacks_on_premises import (
    ATTACKS,
    FORGETFUL,
    HEADS,
    HONEST,
    RARE,
    RELATING,
    Alone,
    ChangingFlags,
    ChangingPotential,
    Counting,
    Late,
    Pushed,
    Rarely,
    RarelyFresh,
    Reclassed,
    Remembering,
    Stating,
    by_heads,
    rare,
    true_of_heads,
)
from promises_of_attacks import CONVEX, NEAR_THE_SOLUTION, PROMISES, N, contraction, descent
from small_methods import Memory, Psi

from certibit import GD, Chain, GradSkip, Method, Quadratic, Refusal, Setting, certify_run
from certibit.solvers.authoring import Needs, copies, masked, mean
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.certificates.certify import certify, proof_of_link
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Gap, Squares
from certibit.theory.proofs.premises import Premises
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", [name for name in ATTACKS if not name.startswith("rest")])
def test_nothing_is_promised_of_an_attack(name, promise):
    try:
        proved = promise(ATTACKS[name])
    except Refusal:
        proved = 0.0
    assert proved < 1e-6


@pytest.mark.long(keep=9)
@pytest.mark.parametrize("promise", NEAR_THE_SOLUTION, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", [name for name in ATTACKS if name.startswith("rest")])
def test_nothing_is_promised_of_a_method_that_rests_elsewhere(name, promise):
    with pytest.raises(Refusal, match=r"fixed point|not kept|declares|linear"):
        promise(ATTACKS[name])


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("method", FORGETFUL.values(), ids=list(FORGETFUL))
def test_what_is_remembered_of_some_is_certified_as_it_is(method):
    """Not faster than what second moments on quadratics do, and without the broken relation."""
    proof = certify(method, CONVEX, potential="search")
    assert 0 < proof.decrease <= slowest_decrease(method, CONVEX) * (1 + 1e-9)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("name", list(HONEST))
def test_an_honest_method_has_the_certificates_of_gradient_descent(name, promise):
    assert promise(HONEST[name]) == pytest.approx(promise(GD(0.05)), rel=1e-5)


@pytest.mark.parametrize(("n", "holds"), [(3, True), (101, False)])
def test_the_start_is_that_of_the_number_of_clients(n, holds):
    method = kind(
        "few",
        Remembering,
        first=lambda m, x, f, c: f.grad(x) if f.n <= 100 else 0 * f.grad(x),
    )()
    functions = FunctionClass(n, 1.0, 10.0)
    assert (certify(method, functions, potential="search").decrease > 0.01) == holds


@pytest.mark.long
def test_an_outcome_that_no_run_shows_and_no_gradient_follows_keeps_nothing():
    """All are heads in more than half of the rounds; seven fair coins in one of 128."""
    with pytest.raises(Refusal, match="does not keep what it declares"):
        certify(RarelyFresh(), CONVEX, potential="search")


STATED = HONEST["a stated memory"]
NO_POTENTIALS = {
    "x at rest": (STATED, lambda s, star: Squares(1.0, s.x), "is not 0 where"),
    "h at rest": (STATED, lambda s, star: Squares(1.0, s.h), "is not 0 where"),
    "flags": (HONEST["flags that stay"], lambda s, star: Squares(1.0, s.late * (s.x - star.x)),
              "depends on flags"),
    "values of clients": (Alone(), lambda s, star: Gap(1.0, s.h), "at a point of every client"),
}  # fmt: skip


@pytest.mark.parametrize(("method", "term", "why"), NO_POTENTIALS.values(), ids=NO_POTENTIALS)
def test_what_is_no_potential_is_refused(method, term, why):
    psi = Psi(lambda m, s, star, f, n: (term(s, star), Squares(1.0, s.x - star.x)))
    with pytest.raises(Refusal, match=why):
        certify(method, CONVEX, potential=psi)


def test_a_model_that_looks_at_flags_is_refused():
    method = kind("model", Late, model=lambda m, s: s.x + s.late * s.x)()
    with pytest.raises(Refusal, match=r"depends on flags|no descent"):
        certify(method, CONVEX)


@dataclass(frozen=True)
class Hidden(Stating):
    """Gradient descent with steps that are multiplied by what equality does not see."""

    boost: Any = field(default=1.0, compare=False)
    name = "hidden"

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - self.boost * self.gamma * mean_of(channel, s.h))
        return Memory(x, s.h + problem.grad(x) - problem.grad(s.x))


def mean_of(channel, h):
    return channel.send(h).mean(axis=0, keepdims=True)


@pytest.mark.parametrize("value", [[1.0], {"a": 1.0}, (1.0, [2.0]), object()])
def test_what_may_change_is_no_parameter(value):
    with pytest.raises(Refusal, match="a certificate cannot say that it stays as it is"):
        certify(Hidden(gamma=value), CONVEX)


def test_what_equality_does_not_see_is_no_parameter():
    with pytest.raises(Refusal, match="boost of hidden"):
        certify(Hidden(boost=40.0), CONVEX)


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("q", [0.0, 0.34, 0.9, 1.0])
def test_gradskip_keeps_its_relation_whoever_stops(n, q):
    method, functions = GradSkip(0.04, 0.3, (q,) * n), FunctionClass(n, 1.0, 10.0)
    outcomes = outcomes_of(method, functions)
    natural = outcomes.natural.without_units()
    assert Premises(natural, functions, outcomes.patterns).relations == (0,)
    assert len(outcomes.patterns) == 1 + (q < 1) * min(n, 3)  # of one sum, and two more


@dataclass(frozen=True)
class Restless(GradSkip):
    """GradSkip whose clients that stop keep their old control variates."""

    def local_step(self, s, problem, channel):
        stepped = super().local_step(s, problem, channel)
        return replace(stepped, h=s.h)


def test_gradskip_without_its_relation_is_refused():
    with pytest.raises(Refusal, match=r"declares to be invariant|field of bool"):
        certify(Restless(0.04, 0.3, (0.9,) * N), CONVEX)


WHOLE = Psi(
    lambda m, s, star, f, n: tuple(
        Squares(1.0, x - y) for x, y in zip(*(vars(one).values() for one in (s, star)), strict=True)
    )
)
"""The squares of all parts of a state."""


def factor_of_squares(method, n):
    """Return the factor of free weights of the squares of all parts of a state, if any is found."""
    try:
        found = certify(method, FunctionClass(n, 1.0, 10.0), potential=WHOLE, weights="free")
    except Refusal:
        return np.inf
    assert found.verify()
    return found.factor


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [3, 8, 100, 1000])
@pytest.mark.parametrize("name", HEADS)
def test_no_number_of_heads_is_missed(name, n):
    method = kind(f"heads: {name}", Pushed, pushed=by_heads(*HEADS[name]))()
    assert factor_of_squares(method, n) >= true_of_heads(n, *HEADS[name])


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("name", RARE)
def test_no_outcome_is_too_rare(name):
    of, p, size = RARE[name]
    method = kind(f"rare: {name}", Rarely, pushed=rare(of))(p=p, size=size)
    assert factor_of_squares(method, 3) > 50


def test_owners_are_not_drawn_among_clients_with_heads():
    """Of a number that is no polynomial of the number of heads."""

    def pushed(m, v, f, c):
        drawn = c.ownership(1, c.cohort(1) | c.client_coins([0.3] * f.n))
        return mean(masked(drawn, copies(v, f.n)))

    with pytest.raises(Refusal, match="draw them from a cohort"):
        certify(kind("owners", Pushed, pushed=pushed)(), CONVEX, potential=WHOLE)


class Decaying(Remembering):
    """Gradient descent with a decay that is no parameter."""

    name, decay = "decaying", 0.0

    def communicate(self, s, problem, channel):
        x = channel.broadcast((1 - self.decay) * s.x - self.gamma * mean(channel.send(s.h)))
        return Memory(x, self.memory(s, x, problem, channel))


@pytest.mark.parametrize("promise", NEAR_THE_SOLUTION, ids=lambda promise: promise.__name__)
def test_a_method_that_has_changed_is_proved_anew(promise, monkeypatch):
    assert promise(Decaying()) > 0.01
    monkeypatch.setattr(Decaying, "decay", 0.25)
    with pytest.raises(Refusal, match="fixed point"):
        promise(Decaying())


def test_a_certificate_of_a_method_that_has_changed_is_none(monkeypatch):
    proof = certify(Decaying(), CONVEX, potential="search")
    monkeypatch.setattr(Decaying, "decay", 0.25)
    with pytest.raises(Refusal, match="fixed point"):
        proof.verify()


def test_a_value_is_at_a_point_that_all_clients_share():
    several = kind("several models", Alone, shown=lambda m, s: s.h)()
    for promise in (contraction, descent):
        with pytest.raises(Refusal, match="the model of several models"):
            promise(several)


def test_a_certificate_says_that_all_clients_have_one_minimiser():
    words = "one minimiser of all f_i"
    assert words in repr(certify(Alone(), CONVEX, potential="search"))
    assert words not in repr(certify(GD(0.05), CONVEX))


def test_a_state_stays_of_one_class():
    for promise in PROMISES:
        with pytest.raises(Refusal, match="not Pair as its start does"):
            promise(Reclassed())


@dataclass(frozen=True)
class Halved(Memory):
    """A state whose memory is halved whenever a state is made of it."""

    def __post_init__(self):
        object.__setattr__(self, "h", self.h / 2)


@dataclass(frozen=True)
class Halving(GD):
    """A method whose step size is halved whenever a method is made of it."""

    def __post_init__(self):
        object.__setattr__(self, "gamma", self.gamma / 2)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_what_is_made_of_itself_is_the_same(promise):
    method = kind("halved", Remembering, start=lambda m, x, f, c: Halved(x, f.grad(x)))()
    with pytest.raises(Refusal, match="Halved of halved has a __post_init__"):
        promise(method)
    with pytest.raises(Refusal, match="made with its own parameters has others"):
        promise(Halving(0.1))


def test_a_certificate_names_g():
    functions = FunctionClass(3, 1.0, 10.0)

    def communicate(m, s, f, c):
        step = mean(c.send(f.grad(s.x))) + f.grad_g(s.x)
        return replace(s, x=c.broadcast(s.x - m.gamma * step))

    method = kind("with g", GD, needs=Needs(composite=True), communicate=communicate)(0.05)
    assert "g with the same mu and L" in repr(certify(method, functions))
    assert "g with the same mu and L" not in repr(certify(GD(0.05), functions))


@dataclass(frozen=True)
class Unprinted:
    a: float = field(default=1.0, repr=False)


@dataclass(frozen=True)
class WithUnprinted(GD):
    """Gradient descent with a number of its potential that is not printed."""

    inner: Unprinted = Unprinted()


def test_what_is_not_printed_counts_for_a_chain():
    steps = [WithUnprinted(0.05), WithUnprinted(0.05, Unprinted(5.0))]
    psi = Psi(lambda m, s, star, f, n: (Squares(1.0, m.inner.a * (s.x - star.x)),))
    with pytest.raises(Refusal, match="made of other vectors"):
        certify_run(steps, CONVEX, psi, "distance")


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_gradients_are_not_bounded_by_those_less_what_they_are_at_the_solution(mu):
    functions = FunctionClass(2, mu, 10.0, assumptions=(BoundedDissimilarity(1.0, 1.0),))
    with pytest.raises(Refusal, match="only their differences"):
        certify(HONEST["a stated memory"], functions)


def hiding(size):
    """Return a Psi with a parameter in a place that is small beside a vector that stays 0."""
    return Psi(
        lambda m, s, star, f, n: (
            Squares(1.0, size * (s.early - star.early) + m.a * (s.x - star.x)),
        )
    )


CHAINS = [
    (ChangingFlags, AtModel("distance"), 2.0),
    *((ChangingPotential, hiding(size), a) for size in (1e6, 1e12) for a in (2.0, 100.0)),
]


@pytest.mark.parametrize(("changing", "potential", "a"), CHAINS)
def test_steps_of_other_flags_or_potentials_make_no_chain(changing, potential, a):
    steps = [changing(), changing(a=a)]
    for step in steps:
        certify(step, CONVEX, potential=AtModel("distance"))
    with pytest.raises(Refusal, match="made of other vectors"):
        certify_run(steps, CONVEX, potential, "distance")


@dataclass(frozen=True)
class Unset(GD):
    """A step with a number that no new instance has."""

    decay: float = field(default=0.0, init=False)


def test_what_a_new_instance_does_not_have_is_no_parameter():
    method = Unset(0.05)
    object.__setattr__(method, "decay", -5e-7)
    with pytest.raises(Refusal, match="decay of gd"):
        certify(method, CONVEX)


@dataclass(frozen=True)
class ErrorInState(Method):
    """A method that keeps the errors of its messages, with a Psi of its model and their mean."""

    gamma: float
    name, needs = "error in state", Needs(compressor="unbiased", shared_minimiser=True)

    def start(self, x, problem, channel):
        return Memory(x, copies(0 * x, problem.n))

    def communicate(self, s, problem, channel):
        g = problem.grad(s.x)
        x = channel.broadcast(s.x - self.gamma * mean(channel.send(g)))
        return Memory(x, g - channel.uplink(g))

    def lyapunov(self, m, s, star, setting, problem):
        return Squares(1.0, s.x - star.x), Squares(1.0, mean(s.h))


@pytest.mark.parametrize("weight", [-1.0, 0.0])
@pytest.mark.parametrize("named", [False, True])
def test_no_certificate_is_made_by_hand(weight, named):
    proof = certify(GD(2.5), FunctionClass(3, 0.1, 1.0), potential=AtModel("distance"))
    weights = {"weights": (weight,), **({"following": (weight,)} if named else {})}
    assert not replace(proof, **weights, exact=Fraction(1), multipliers={}).verify()


@pytest.mark.parametrize("counts", [(2.5,), (True,), (0,), (-1,), ("2",), (np.float64(2),)])
def test_no_chain_has_steps_that_are_no_number(counts):
    link = certify(GD(0.1), CONVEX, potential=AtModel("distance"))
    assert Chain((link,), (2,)).verify()
    assert not Chain((link,), counts).verify()


def test_no_chain_is_about_a_potential_below_0():
    """The negative distance grows less than it, whatever the step."""
    proof = certify(GD(2.5), FunctionClass(3, 0.1, 1.0), potential=AtModel("distance"))
    down = {"exact": Fraction(1), "multipliers": {}}
    ends = ((-1.0,), (-2.0,)), ((-2.0,), (-1.0,))
    links = tuple(replace(proof, weights=a, following=b, **down) for a, b in ends)
    assert all(link.holds_for(*link.step_and_start, linked=True) for link in links)
    assert not any(link.verify() for link in links)
    assert not Chain(links, (1, 1)).verify()


@pytest.mark.parametrize("joint", [None, 1.0])
def test_no_link_alone_bounds_a_negative_variance(joint):
    """A bound of E|mean h+|^2 from above bounds -E|mean h+|^2 from below."""
    functions = FunctionClass(2, 1.0, 4.0, omega=1.0, omega_joint=joint)
    method, potential = ErrorInState(0.1), ErrorInState(0.1)
    step = RationalStep.of(method, functions, potential)
    link = proof_of_link(step, method, functions, potential, (1.0, 0.0), (0.0, -1.0))
    assert link.holds_for(step, linked=True) == (joint is None)  # else of one law each
    assert not link.verify()


@pytest.mark.parametrize("excess", [0, 1, 2**-60])
def test_a_factor_is_not_below_what_is_proved(excess):
    proof = certify(GD(0.1), CONVEX, potential=AtModel("distance"))
    made = replace(proof, exact=-Fraction(excess))
    assert made.factor >= 1 + Fraction(excess)
    assert (made.factor == 1) == repr(made).endswith("<= Psi")


PRYING = {
    "evaluations": lambda inner: 0.01 if getattr(inner, "evaluations", ()) else 1.0,
    "cells": lambda inner: len(getattr(getattr(inner, "frame", None), "members", "x")) ** -3.0,
    "methods": lambda inner: 0.01 if getattr(inner, "evaluations", ()) else 1.0,
}


@dataclass(frozen=True)
class Prying:
    """A potential that is smaller where a step has been done."""

    name: str

    def lyapunov(self, m, s, star, setting, problem):
        problem = getattr(problem.grad, "__self__", problem) if self.name == "methods" else problem
        inner = getattr(problem, "inner", problem)
        return (Squares(1.0, PRYING[self.name](inner) * (s.x - star.x)),)


@pytest.mark.parametrize("name", PRYING)
def test_a_potential_does_not_see_the_outcome(name):
    def communicate(m, s, f, c):
        drawn = masked(c.cohort(1), copies(s.x, f.n))
        step = 2.5 * mean(c.send(f.grad(s.x))) / 10
        return Memory(c.broadcast(s.x - step + 0 * mean(drawn)), s.h)

    method = kind(
        "diverging",
        Remembering,
        start=lambda m, x, f, c: Memory(x, 0 * f.grad(x)),
        communicate=communicate,
        fixed_point=lambda m, f: Memory(f.x_star, 0 * f.grad_star),
    )()
    with pytest.raises(Refusal, match="asks for inner"):
        certify(method, CONVEX, potential=Prying(name))


LOSSY = Needs(compressor="unbiased", downlink="contractive", nonconvex=True)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_server_that_loses_is_not_taken_for_exact(promise):
    method = kind("a lossy server", GD, needs=LOSSY)(0.05)
    with pytest.raises(Refusal, match="give the function class an alpha_down"):
        promise(method)


@pytest.mark.parametrize(
    ("loss", "given"), [("contractive", "alpha_down = 1"), ("unbiased", "omega_down = 0")]
)
def test_a_certificate_says_that_a_server_is_exact(loss, given):
    method = kind("an exact server", GD, needs=replace(LOSSY, downlink=loss))(0.05)
    setting = Setting.of(method, Quadratic.random(2, 3, mu=1.0, L=10.0))
    assert given in repr(certify(method, FunctionClass.of(setting)))


@pytest.mark.parametrize("drawn", [2, 3])
def test_as_many_flags_are_tried_as_a_step_sums_over_clients(drawn):
    with pytest.raises(Refusal, match="depends on a field of bool"):
        certify(Counting(drawn), CONVEX, potential=AtModel("distance"))


@pytest.mark.parametrize("method", RELATING.values(), ids=list(RELATING))
def test_what_is_kept_holds_with_all_flags(method):
    with pytest.raises(Refusal, match=r"fields of bool|declares"):
        certify(method, CONVEX, potential=AtModel("distance"))
