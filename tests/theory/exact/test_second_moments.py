"""The long run on quadratics: nothing that is certified may be faster, and little may be slower."""

import numpy as np
import pytest

from bitbound.data.errors import Refusal
from bitbound.solvers.methods.ef21 import EF21
from bitbound.solvers.methods.gd import GD
from bitbound.theory.cards.catalogue import METHODS
from bitbound.theory.certificates.certify import certify
from bitbound.theory.certificates.summary import class_setting
from bitbound.theory.exact.second_moments import slowest_decrease
from bitbound.theory.function_class import FunctionClass


@pytest.mark.parametrize("gamma", [0.05, 0.1, 0.15])
def test_gradient_descent_is_exact(gamma):
    functions = FunctionClass(2, 1.0, 10.0)
    expected = max((1 - gamma) ** 2, (1 - 10 * gamma) ** 2)
    assert 1 - slowest_decrease(GD(gamma), functions, (1.0, 10.0)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "rule", "setting", "gap"),
    [
        ("locodl", "paper", (3, 100.0, 4.0), 1.1),
        ("scaffnew", None, (3, 20.0, None), 1.1),
        ("diana", None, (2, 10.0, 3.0), 3.0),
    ],
)
def test_the_truth_lies_between_two_numbers(name, rule, setting, gap):
    card = METHODS[name]
    where = class_setting(card.method, *setting, None, 1)
    method, functions = card.at(where, rule), FunctionClass.of(where)
    found = certify(method, functions, potential="search").decrease
    attained = slowest_decrease(method, functions, np.geomspace(1.0, setting[1], 5))
    assert found <= attained <= gap * found


def test_what_is_not_computed_is_refused():
    with pytest.raises(Refusal, match="no unbiased messages"):
        slowest_decrease(EF21(0.01), FunctionClass(2, 1.0, 10.0, alpha=0.5), (1.0, 10.0))
    with pytest.raises(Refusal, match="fewer clients"):
        slowest_decrease(METHODS["diana"].method(0.01, 0.1), FunctionClass(50, 1.0, 2.0), (1.0,))
