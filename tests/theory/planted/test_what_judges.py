"""What judges: a test for each, held against the fault that it is there for."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from faults import BY_PART
from planting import planted

from certibit import METHODS, FunctionClass, certify, compressor
from certibit.theory.certificates.search import setting
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.verdict import Verdict, largest, worst_of
from certibit.theory.worlds.opaque.exact_numbers import rational


def multipliers_of_either_sign_prove_nothing():
    """A tiny negative multiplier of a form that is 0 does no other harm."""
    method = METHODS["gd"].at(where := setting(3, 1.0, 20.0, 2, compressor("identity")))
    proved, functions = certify(method, where), FunctionClass.of(where)
    step = RationalStep.of(method, functions, proved.potential)
    nothing = step.now[0].plus(rational(-1), step.now[0])
    step = replace(step, inequalities={**step.inequalities, "nothing": nothing})
    for y in (Fraction(0), Fraction(1), Fraction(-1, 10**12)):
        told = replace(proved, multipliers={**proved.multipliers, "nothing": y})
        assert told.holds_for(step) == (y >= 0)


def what_is_not_a_number_does_not_hold():
    for value, limit in ((math.nan, 1.0), (1.0, math.nan), (math.nan, math.inf)):
        assert not Verdict("", value, limit).holds
    assert largest([1.0, math.nan, 2.0]) == largest([math.nan]) == math.inf
    assert worst_of([(1.0, "a number"), (math.nan, "none")]) == (math.inf, "none")


CASES = list(
    zip(
        (multipliers_of_either_sign_prove_nothing, *3 * (what_is_not_a_number_does_not_hold,)),
        BY_PART["what judges"],
        strict=True,
    )
)
"""Of what judges: on right code nothing is negative and all are numbers."""


@pytest.mark.parametrize(("test", "missed"), CASES, ids=[f.name for _, f in CASES])
def test_the_fault_is_seen_and_right_code_passes(test, missed):
    test()
    with planted(missed), pytest.raises(AssertionError):
        test()
