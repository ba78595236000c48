"""Certificates of a method without a theorem: its potential is searched for, or given by hand."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from by_rule import by_rule
from small_methods import Memory, Psi

from certibit import (
    DIANA,
    EF,
    EF21,
    GD,
    METHODS,
    GradSkip,
    LoCoDL,
    Refusal,
    Scaffnew,
    Squares,
    certify,
)
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.certificates import certify as module
from certibit.theory.certificates.certify import best_decrease, proved_factor, searched_potential
from certibit.theory.certificates.worst_instance import worst_instance
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.function_class import ClientClass, FunctionClass
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.worlds.opaque.exact_numbers import fraction


@dataclass(frozen=True)
class MyDIANA(DIANA):
    name = "my-diana"


def without_theorem(n, kappa):
    """Return DIANA, the same as a user's own without a card, and the setting."""
    method, where = by_rule("diana", n, kappa, 3.0)
    own = MyDIANA(**vars(method))
    assert not card_of(own).about("potential")
    return method, own, where


@pytest.mark.long
@pytest.mark.parametrize(("n", "kappa"), [(1, 10.0), (5, 100.0)])
def test_the_search_is_as_good_as_the_published_potential(n, kappa):
    method, own, where = without_theorem(n, kappa)
    published, found = certify(method, where, weights="free"), certify(own, where)
    assert found.decrease >= 0.99 * published.decrease > 0
    assert found.verify()


@pytest.mark.long
@pytest.mark.parametrize("name", ["fedcomgate", "diana"])
def test_a_search_of_steps_takes_for_proved_what_is_proved(name):
    """Their forms subtract f - f*, so that no bound of a variance may take the place of a noise."""
    method, where = by_rule(name, 3, 20.0, 4.0)
    functions = FunctionClass.of(where)
    psi = searched_potential(method, functions)
    assert psi.values < 0
    proved = proved_factor(method, functions, psi).decrease
    assert best_decrease(method, functions, psi) == pytest.approx(proved, rel=1e-8)


@dataclass(frozen=True)
class MyLoCoDL(LoCoDL):
    name = "my-locodl"


@dataclass(frozen=True)
class MyScaffnew(Scaffnew):
    name = "my-scaffnew"


@pytest.mark.long
@pytest.mark.parametrize(
    ("own", "published", "setting", "least", "most"),
    [
        # the limit is the spectral radius of the second moments on quadratics of one dimension
        (MyLoCoDL, "locodl", (3, 100.0, 4.0), 1.75, 1.066e-2),
        (MyScaffnew, "scaffnew", (3, 20.0, None), 1.5, 0.1),
    ],
    ids=["locodl", "scaffnew"],
)
def test_cross_terms_show_a_faster_method(own, published, setting, least, most):
    method, where = by_rule(published, *setting)
    found = certify(own(**vars(method)), where)
    assert least * certify(method, where).decrease < found.decrease < most
    assert found.verify()
    assert worst_instance(found.method, found.functions, found.potential).step().factor <= (
        found.factor + 1e-7
    )


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("name", "n", "kappa", "least"),
    [
        ("compressed-scaffnew", 3, 100.0, 1.75),
        ("compressed-scaffnew", 10, 1000.0, 1.85),
        ("compressed-scaffnew", 10**4, 100.0, 1.0),
        ("tamuna", 10, 100.0, 1.6),
    ],
)
def test_forms_without_function_values_are_searched_for_masks(name, n, kappa, least):
    """Where entries are shared by a few, the next model depends on who they are."""
    method, where = by_rule(name, n, kappa)
    assert method.s < n
    found = certify(method, where, potential="search")
    assert found.potential.values == 0
    assert least * (1 - METHODS[name].theorems[0].rate(method, where)) <= found.decrease
    assert found.verify()
    if n <= 3:  # no potential proves more than what is attained
        functions = FunctionClass.of(where)
        assert found.decrease < slowest_decrease(method, functions)


def test_parts_that_follow_from_others_are_left_out():
    """The mean shift that DIANA's server keeps is the mean of the shifts."""
    _, own, where = without_theorem(3, 10.0)
    found = searched_potential(own, FunctionClass.of(where))
    assert found.mean_rows.shape == (2, 3)
    assert found.apart_rows.shape == (1, 1)


def test_no_direction_is_forgotten():
    """A form that all but forgets a slow direction would decrease faster than the method."""
    _, own, where = without_theorem(3, 10.0)
    functions = FunctionClass.of(where)
    potential = searched_potential(own, functions)
    found = np.sqrt(potential.mean_weights)[:, None] * potential.mean_rows
    units = np.array([1.0, 1 / functions.L])
    values = np.linalg.svd(found[:, np.abs(found).max(axis=0) > 0] / units, compute_uv=False)
    assert values[-1] > 1e-6 * values[0]


def test_a_potential_by_hand():
    psi = Psi(lambda m, s, star, f, n: (Squares(1.0, s.x - star.x), Squares(1.0, s.h - star.h)))
    method, own, where = without_theorem(5, 10.0)
    published = METHODS["diana"].theorems[0]
    assert certify(own, where, potential=published).decrease == certify(method, where).decrease
    free = certify(own, where, weights="free", potential=psi)
    fixed = certify(own, where, potential=psi)
    assert fixed.decrease < 0.9 * free.decrease
    assert free.decrease == pytest.approx(certify(method, where, weights="free").decrease, rel=1e-3)


def test_the_reason_of_the_first_start_is_told():
    @dataclass(frozen=True)
    class Sloped(GD):
        name = "sloped"

        def communicate(self, s, problem, channel):
            after = super().communicate(s, problem, channel)
            return type(s)(after.x + 0.01 * abs(s.x - after.x))

    with pytest.raises(Refusal, match="the step of sloped is not linear"):
        certify(Sloped(0.1), FunctionClass(2, 1.0, 10.0))


def tight_rate(kappa, alpha):
    """Return the best step of EF and EF21 and their rate (arXiv:2506.05271, 2605.31594), mu = 1."""
    s = (1 - alpha) ** 0.5
    eta = 2 / (1 + kappa) * (1 - s) / (1 + s)
    root = ((1 - s) * (kappa - 1)) + (1 + s) * (
        (kappa - 1) ** 2 + 16 * kappa * s / (1 + s) ** 2
    ) ** 0.5
    return eta, s + (1 + s) * (kappa - 1) * eta * root / (4 * (kappa + 1))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("kappa", "alpha"), [(10.0, 0.5), (2.0, 0.5), (10.0, 0.9)])
@pytest.mark.parametrize("n", [1, 3, 100])
def test_the_tight_rate_of_ef21_is_found(n, kappa, alpha):
    eta, rate = tight_rate(kappa, alpha)
    found = certify(EF21(eta), FunctionClass(n, 1.0, kappa, alpha=alpha), potential="search")
    assert 1 - rate >= found.decrease * (1 - 1e-6)
    assert found.decrease >= (1 - rate) * (1 - 3e-3)
    assert found.verify()


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("n", "kappa", "alpha"), [(3, 1000.0, 0.5), (10**6, 200.0, 0.5)])
def test_the_tight_rate_is_found_where_it_is_slow(n, kappa, alpha):
    """By the solver's word to a part in a thousand, and proved up to a hundredth."""
    eta, rate = tight_rate(kappa, alpha)
    found = certify(EF21(eta), FunctionClass(n, 1.0, kappa, alpha=alpha), potential="search")
    assert found.decrease == pytest.approx(1 - rate, rel=3e-3)
    assert found.decrease >= 0.98 * (1 - rate)


@pytest.mark.parametrize(("kappa", "alpha"), [(10.0, 0.5), (2.0, 0.5)])
def test_the_tight_rate_of_ef_is_found(kappa, alpha):
    eta, rate = tight_rate(kappa, alpha)
    found = certify(EF(eta), FunctionClass(1, 1.0, kappa, alpha=alpha), potential="search")
    assert found.decrease == pytest.approx(1 - rate, rel=3e-3)


def test_a_potential_is_printed_as_a_formula():
    eta, _ = tight_rate(2.0, 0.5)
    functions = FunctionClass(5, 1.0, 2.0, alpha=0.5)
    found = searched_potential(EF21(eta), functions)
    printed = "0.5858 |mean g - mean grad f|^2 + 0.414"
    assert printed in repr(found)
    with_model = np.array(found.mean_weights)[found.mean_rows[:, 0] != 0]
    assert np.all(with_model < 1e-3)


def test_no_signed_form_is_proved_by_bounds_of_variances():
    """E[Psi+] does not grow with the variance of a noise where Psi has a negative part."""
    proof = certify(*by_rule("diana", 3, 100.0, 4.0), potential="search")
    assert proof.potential.values < 0
    assert proof.free
    assert proof.verify()
    step = RationalStep.of(proof.method, proof.functions, proof.potential)
    bounded = DescentProgramme.of_factor(step, proof.exact_weights).best()
    multipliers, below = (
        {name: fraction(y) for name, y in own.items()}
        for own in (bounded.multipliers, bounded.below)
    )
    claimed = replace(
        proof, exact=fraction(bounded.c), multipliers=multipliers, below=below, free={}
    )
    for forged in (claimed, replace(claimed, below={}), replace(proof, free={}, below={})):
        assert not forged.verify()
        assert not forged.holds_for(step)
    for names in ("free", "below"):
        assert not replace(proof, **{names: {}}).verify()


def case(name, counts, kappa=100.0):
    """Return a method and a family of two classes whose L_i are ten times apart."""
    L = (kappa, kappa / 10, kappa / 3)[: len(counts)]
    omega, alpha = {"diana": (4.0, None), "ef21": (0.0, 0.3)}.get(name, (0.0, None))
    classes = [ClientClass(k, 1.0, top, omega, alpha) for k, top in zip(counts, L, strict=True)]
    q = [
        (1 - 1 / top) / (1 - 1 / kappa) for k, top in zip(counts, L, strict=True) for _ in range(k)
    ]
    method = {
        "diana": lambda: METHODS["diana"].method(gamma=0.002, alpha=0.2),
        "ef21": lambda: METHODS["ef21"].method(gamma=0.002),
        "scaffnew": lambda: METHODS["scaffnew"].method(1 / kappa, kappa**-0.5),
        "gradskip": lambda: GradSkip(1 / kappa, kappa**-0.5, tuple(q)),
    }[name]()
    return method, FunctionClass.of_classes(classes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "counts", "gain"),
    [
        ("diana", (1, 2), 1.0),
        ("ef21", (1, 2), 1.0),
        ("scaffnew", (1, 2), 1.003),
        ("gradskip", (1, 2), 1.13),
        ("gradskip", (1, 1, 1), 1.0),  # f - f* would have to be taken at 36 points
        ("gradskip", (200_000, 800_000), 1.0),
    ],
)
def test_forms_of_classes_prove_no_less_than_those_that_are_alike(name, counts, gain, monkeypatch):
    method, family = case(name, counts)
    found = certify(method, family, potential="search")
    monkeypatch.setattr(module, "MOST_CLASSES", 0)
    alike = certify(method, family, potential="search")
    assert not getattr(alike.potential, "counts", ())
    assert found.decrease >= gain * alike.decrease * (1 - 1e-5) > 0
    assert found.verify()


@pytest.mark.long
@pytest.mark.parametrize("name", ["scaffnew", "gradskip"])
def test_they_are_printed_by_class(name):
    counts = 1, 2
    method, family = case(name, counts, 20.0)
    found = certify(method, family, potential="search")
    assert found.potential.counts == counts
    assert "mean_2" in repr(found.potential)
    assert found.verify()


@dataclass(frozen=True)
class Clients:
    n: int


def test_a_form_of_other_clients_is_refused():
    potential = QuadraticPotential(np.eye(2), np.eye(2), names=(("h", True),), counts=(1, 1))
    state = Memory(np.zeros((3, 1, 1)), np.zeros((3, 1, 1)))
    with pytest.raises(Refusal, match="one of 2 clients, and there are 3"):
        potential.lyapunov(None, state, state, Clients(3), None)
