"""Gradients, features, coins and functions are those that a client was asked for."""

from dataclasses import replace

import pytest
from attacks_on_clients import (
    ACROSS,
    ASKING,
    COUPLED,
    LATE,
    LEAKED,
    MIXED,
    OWN,
    REFUSED,
    UNASKED,
    Asking,
    MixedModel,
    Pulled,
)
from attacks_on_premises import kind
from promises_of_attacks import CONVEX, N
from small_methods import Psi

from certibit import ClientClass, FunctionClass, Needs, Refusal, Squares, certify
from certibit.theory.quadratic_potential import AtModel


@pytest.mark.long(keep=8)
@pytest.mark.parametrize("name", UNASKED)
def test_gradients_that_were_not_asked_for_are_not_taken(name):
    why = r"not active|does not fit|other clients take part|fixed point"
    with pytest.raises(Refusal, match=why):
        certify(UNASKED[name], CONVEX, potential="search")


@pytest.mark.parametrize("n", [1, 2, N])
@pytest.mark.parametrize("method", LATE.values(), ids=list(LATE))
def test_gradients_that_flags_leave_out_are_not_kept(method, n):
    with pytest.raises(Refusal, match="what it did not ask for"):
        certify(method, FunctionClass(n, mu=1.0, L=10.0), "search")


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("n", [N, 1000])
@pytest.mark.parametrize("name", [name for name in ASKING if name != "caught: copies of many"])
def test_what_is_refused_in_a_step_is_refused_though_it_is_caught(name, n):
    functions = replace(CONVEX, n=n, omega=1.0, alpha_down=0.5)
    why = r"noise|take part|do not share|reads single entries|one vector|senders|of shape|copies of"
    with pytest.raises(Refusal, match=why):
        certify(ASKING[name], functions, potential=AtModel("distance"))


def test_a_method_of_a_problem_without_g_does_not_ask_for_it():
    method = kind("g for nothing", Asking, needs=Needs(), more=REFUSED["g at many points"])()
    with pytest.raises(Refusal, match="composite = False"):
        certify(method, CONVEX, potential=AtModel("distance"))


TWO_CLASSES = FunctionClass.of_classes(
    [ClientClass(count, mu=1.0, L=4.0, omega=1.0) for count in (1, 2)]
)


OF_BOTH = Psi(lambda m, s, star, f, n: (Squares(1.0, s.x - star.x), Squares(0.01, s.h - star.h)))
"""The distances of the model and of the memory."""


@pytest.mark.parametrize("method", ACROSS.values(), ids=list(ACROSS))
def test_no_vector_depends_on_who_takes_part_in_another_class(method):
    with pytest.raises(Refusal, match="which other clients take part"):
        certify(method, TWO_CLASSES, potential=OF_BOTH)


@pytest.mark.parametrize("method", LEAKED.values(), ids=list(LEAKED))
def test_nothing_is_made_of_gradients_that_were_not_asked_for(method):
    with pytest.raises(Refusal, match=r"clients that are not active|gradients of some clients"):
        certify(method, TWO_CLASSES, potential=OF_BOTH)


SINGLE = FunctionClass.of_classes([ClientClass(1, mu=1.0, L=4.0, omega=1.0)] * 3)


@pytest.mark.parametrize("method", MIXED.values(), ids=list(MIXED))
def test_features_have_different_owners(method):
    """Not even where every client is a class of its own, and may differ from all others."""
    with pytest.raises(Refusal, match="feature by feature"):
        certify(method, SINGLE, potential=OF_BOTH)


def test_no_gap_is_at_a_mean_of_owners():
    assert certify(MixedModel(), SINGLE, potential=OF_BOTH).factor < 1
    with pytest.raises(Refusal, match="feature by feature"):
        certify(MixedModel(), SINGLE, potential=AtModel("gap"))


UNCOMPRESSED = FunctionClass.of_classes([ClientClass(count, mu=1.0, L=4.0) for count in (1, 2)])


@pytest.mark.parametrize("name", list(COUPLED))
def test_local_steps_are_on_the_function_of_a_client(name):
    with pytest.raises(Refusal, match="local steps are certified along one gradient"):
        certify(COUPLED[name], UNCOMPRESSED, potential=AtModel("distance"))


def test_local_steps_that_begin_the_same_end_where_their_own_function_says():
    """With h = 1 they end at 0, and with the pull at x/2: x is multiplied by 3/2."""
    proof = certify(Pulled(), UNCOMPRESSED, potential=AtModel("distance"))
    assert proof.factor == pytest.approx(9 / 4, rel=0.01)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("method", OWN.values(), ids=list(OWN))
def test_local_steps_of_clients_on_their_own_have_a_certificate(method):
    assert certify(method, UNCOMPRESSED, potential=AtModel("distance")).factor < 1
