"""No result depends on the unit in which mu and L are given."""

import numpy as np
import pytest

from certibit import DIANA, METHODS, Experiment, Quadratic, certify, check, compressor
from certibit.theory.certificates.search import setting
from certibit.theory.certificates.worst_instance import worst_instance
from certibit.theory.function_class import FunctionClass
from certibit.theory.theorem import ContractionPromise
from certibit.theory.worlds.linear_maps import worst_case

UNITS = (1e-6, 1e6)
CLASSES = {"unbiased": "rand-k:1", "contractive": "scaled(rand-k:1)", None: "identity"}
NAMES = [name for name in METHODS if name != "5gcs-cc" and METHODS[name].about("potential")]
CERTIFIED = [name for name in NAMES if name not in {"econtrol", "locodl-both-ways"}]
"""Where the solver's last digits are seen; the scaling of EControl costs it three of them, and
that both parts of a rate are equal one."""
N, D, KAPPA = 3, 2, 20.0
LAST_DIGITS = 2e-9
"""Relative accuracy of the solver."""
GIVEN_UP = 1e-8
"""What is given up of a decrease to have a proof: 1e-9 of it, or 1e-8 if that is too close."""


def in_unit(name, unit):
    """Return a method by its rule and the setting where mu is the unit."""
    card = METHODS[name]
    where = setting(N, unit, KAPPA * unit, D, compressor(CLASSES[card.method.needs.compressor]))
    return card.at(where, None), where


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", CERTIFIED)
def test_a_certificate_has_no_unit(name, unit):
    (plain, where), (scaled, there) = in_unit(name, 1.0), in_unit(name, unit)
    one, other = certify(plain, where), certify(scaled, there)
    assert other.decrease == pytest.approx(one.decrease, rel=LAST_DIGITS)
    assert other.decrease == pytest.approx(one.decrease, rel=LAST_DIGITS + GIVEN_UP)


@pytest.mark.parametrize("unit", [2.2e-9, 1.234, 3.3e3])
def test_a_certificate_of_many_clients_has_no_unit(unit):
    """The decrease is small and its programme badly scaled: the proof must not get lost in it."""
    decreases = []
    for L in (100.0, 100 * unit):
        where = setting(87, L / 100, L, 10, compressor("top-k:1"))
        method = METHODS["econtrol"].at(where)
        decreases.append(certify(method, where).decrease)
        assert decreases[-1] > 1.4 * (1 - METHODS["econtrol"].theorems[0].rate(method, where))
    assert decreases[0] == pytest.approx(decreases[1], rel=1e-6)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", NAMES)
def test_a_theorem_has_no_unit(name, unit):
    pairs = (in_unit(name, 1.0), in_unit(name, unit))
    first, second = (METHODS[name].best_theorem(*pair) for pair in pairs)
    assert (first is None) == (second is None)
    if first is not None:
        one, other = (1 - first.rate(*pair) for pair in pairs)
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", NAMES)
def test_a_worst_case_has_no_unit(name, unit):
    found = []
    for scale in (1.0, unit):
        method, where = in_unit(name, scale)
        curvatures = scale * np.array([[1.0, KAPPA], [KAPPA, 1.0], [1.0, 1.0]])
        matrices = curvatures[:, :, None] * np.eye(D)
        problem = Quadratic.from_arrays(matrices, np.zeros((N, D)))
        sent = where.compressor if method.needs.compressor else None
        found.append(worst_case(Experiment.of(method, problem, sent), METHODS[name].theorems[0]))
    assert found[0] == pytest.approx(found[1], rel=1e-9)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("unit", [1e-6, 1e3])
@pytest.mark.parametrize("name", ["gd", "scaffnew", "diana", "locodl"])
def test_a_whole_check_has_no_unit(name, unit):
    """Its outcomes, factors, hypotheses and exact worst cases; f - f* has the unit of L."""
    curvatures = np.random.default_rng(0).uniform(1.0, KAPPA, (N, D, 1)) * np.eye(D)
    found = []
    for scale in (1.0, unit):
        problem = Quadratic.from_arrays(scale * curvatures, np.arange(6.0).reshape(N, D))
        sent = compressor("rand-k:1") if METHODS[name].method.needs.compressor else None
        method = METHODS[name].parameters(problem, sent)
        found.append(check(method, problem, sent, seeds=2, accuracy=1e-3 * scale))
    one, other = found
    assert one.holds
    told = [[(v.check, v.outcome) for v in each.verdicts] for each in found]
    assert told[0] == told[1]
    for first, second in zip(one.promised, other.promised, strict=True):
        if not isinstance(first.promise, ContractionPromise):
            continue  # of f - f*, with values in its unit
        assert second.promise.factor == pytest.approx(first.promise.factor, rel=1e-12)
        exact = [[v.value for v in each.verdicts if v.points] for each in (first, second)]
        assert exact[1] == pytest.approx(exact[0], rel=1e-6)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("unit", UNITS)
def test_a_searched_potential_is_as_good_in_any_unit(unit):
    """The search stops at a relative gain of 1e-3."""
    plain, scaled = (
        certify(
            DIANA(gamma=0.05 / u, alpha=0.4),
            FunctionClass(3, u, 20 * u, omega=1.0),
            potential="search",
        ).decrease
        for u in (1.0, unit)
    )
    assert plain == pytest.approx(scaled, rel=2e-3)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", ["gd", "diana", "locodl"])
def test_what_is_proved_is_attained_in_any_unit(name, unit):
    method, where = in_unit(name, unit)
    functions = FunctionClass.of(where)
    proof = certify(method, functions)
    step = worst_instance(method, functions, proof.potential).step()
    assert 1 - step.factor == pytest.approx(proof.decrease, rel=1e-5)
    assert proof.verify()
