"""Proofs on unknown vectors: what is proved there, and what is not proved by a wrong argument."""

from dataclasses import replace
from fractions import Fraction

import pytest
from altered import step_at, with_constants, without

from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.unknowns import NOISE, Joint, assume, positive, same, squared
from certibit.theory.audit.machinery.verify import Auditor, hypotheses_of_proof
from certibit.theory.audit.proofs import PROOFS
from certibit.theory.verdict import Known

LOCODL = PROOFS["locodl"]
PLACES = [step.place for step in LOCODL.steps]
N, T = (Polynomial.variable(2, number) for number in range(2))


def proof_of(proof, place):
    return hypotheses_of_proof(step_at(proof, place), proof.constants)


@pytest.mark.parametrize("place", PLACES)
def test_every_step_of_locodl_is_proved(place):
    assert proof_of(LOCODL, place) is not None


def test_a_proof_names_what_it_relies_on():
    assert proof_of(LOCODL, "(18)") == set()
    assert proof_of(LOCODL, "l. 482") == {"E|C(x) - x|^2 <= omega |x|^2"}
    assert "f_i and g are mu-strongly convex and L-smooth" in proof_of(LOCODL, "l. 500")
    assert len(proof_of(LOCODL, "(19)")) == 6


@pytest.mark.parametrize(
    "place", [step.place for step in LOCODL.steps if not step.equality and step.place != "(5) rate"]
)
def test_an_argument_proves_its_own_step_only(place):
    step = step_at(LOCODL, place)
    for other in (
        replace(step, argument=None),
        replace(step, argument=lambda v: step.argument(v) + squared(v.x)),
        replace(step, left=step.right, right=step.left),
        replace(step, right=lambda v: 2 * step.right(v)),
    ):
        assert hypotheses_of_proof(other, LOCODL.constants) is None


@pytest.mark.parametrize("constant", ["19/10", "21/10"])
@pytest.mark.parametrize("place", ["(18)", "l. 488", "l. 493"])
def test_another_constant_is_not_proved(place, constant):
    assert proof_of(with_constants(LOCODL, peter_paul=Fraction(constant)), place) is None


def test_a_dropped_hypothesis_takes_its_proofs_with_it():
    dropped = without(LOCODL, "l. 499", "2 rho - rho^2 (1 + omega_av) - chi >= 0")
    assert proof_of(dropped, "l. 499") is None


def test_what_is_not_proved_is_searched_and_says_where():
    step = replace(step_at(LOCODL, "(18)"), argument=None)
    found = Auditor(LOCODL.constants, effort=0.02).judge(step)
    assert found.known == Known.SEARCHED
    assert found.words == f"holds at {found.points} points searched"
    proved = Auditor(LOCODL.constants, effort=0.02).judge(step_at(LOCODL, "(18)"))
    assert (proved.known, proved.words) == (Known.PROVED, "holds")


def test_squares_of_unknowns():
    a, b = Joint.unknown(N, "a"), Joint.unknown(N, "b")
    both = squared(a + T * b).value
    assert same(both, a.inner(a) + 2 * T * a.inner(b) + T**2 * b.inner(b))
    assert not same(both, a.inner(a) + T**2 * b.inner(b))


def test_the_mean_of_a_noise_is_zero_and_that_of_its_square_is_not():
    a, noise = Joint.unknown(N, "a"), Joint.unknown(N, NOISE)
    assert same(a.inner(noise).mean(), 0 * N)
    assert same(squared(a + noise).mean().value, a.inner(a) + noise.inner(noise).mean())
    assert not same(noise.inner(noise).mean(), noise.inner(noise))


def test_what_may_be_negative_is_not_positive():
    with pytest.raises(ValueError, match="not positive"):
        positive(-N)
    assert positive(2 * N / T).value.terms
    assert assume("t is large", T - 1).hypotheses == {"t is large"}
