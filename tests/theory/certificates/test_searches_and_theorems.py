"""A search proves no less than theorems, whatever n is."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pytest
from by_rule import by_rule

from certibit import METHODS, SCAFFOLD, FunctionClass, Refusal
from certibit.data.problem import Constants
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.catalogue.catalogue import CARDS, SHARED_MINIMISER
from certibit.theory.certificates.certify import best_decrease, certify, searched_potential
from certibit.theory.certificates.summary import class_setting


def methods_by_rule(card, where):
    """Yield a method with the parameters of each rule that gives some."""
    for rule in card.rules:
        with suppress(Refusal):
            yield card.at(where, rule)


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("point", [(3, 100.0, 4.0), (10, 1000.0, 9.0), (10, 100.0, 4.0)], ids=str)
@pytest.mark.parametrize(
    "name", [name for name, card in METHODS.items() if card.about("potential")]
)
def test_a_search_never_gives_less_than_the_stated_potential(name, point):
    method, where = by_rule(name, *point)
    try:
        stated = certify(method, where)
    except Refusal:
        pytest.skip("the stated potential is not certified here")
    found = certify(method, where, potential="search")
    assert found.decrease >= stated.decrease
    assert found.verify()


CERTIFIED = [
    (name, theorem)
    for name, card in CARDS.items()
    for theorem in card.theorems
    if theorem.status == "certificate"
]


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(("name", "theorem"), CERTIFIED, ids=lambda one: getattr(one, "title", one))
def test_a_certificate_proves_what_a_theorem_with_this_status_promises(name, theorem):
    card, n = CARDS[name], 1 if name in SHARED_MINIMISER else 10
    sent = 1.0 if card.method.needs.compressor else None
    where = class_setting(card.method, n, 100.0, sent, None, 20)
    if theorem.measure != "potential":
        mu = 0.0 if theorem.measure == "gap" else -100.0
        where = replace(where, constants=Constants(mu, np.full(n, 100.0), 100.0))
    functions = FunctionClass.of(where)
    if name == "local-sgd":
        functions = replace(functions, assumptions=(BoundedDissimilarity(1.0, 1.0),))
    method = next(
        method for method in methods_by_rule(card, where) if not theorem.unmet(method, where)
    )
    proof, promise = certify(method, functions, theorem), theorem.promise(method, where)
    promised = promise.c if hasattr(promise, "c") else 1 - promise.factor
    assert proof.verify()
    assert proof.c >= promised * (1 - 1e-6) > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("locodl", (2, 10.0, 99.0)),
        ("locodl", (10, 1e5, 0.0)),
        ("ef21", (10**6, 1e5, 9.0)),
        ("ef21", (2, 1000.0, 4.0)),
        ("scaffnew", (10, 10.0, None)),
    ],
)
def test_a_search_gives_no_less_than_the_best_of_all_theorems(name, point):
    """It is not the first theorem's potential that proves the most here."""
    method, where = by_rule(name, *point)
    found = certify(method, where, potential="search")
    first, *others = (
        certify(method, where, potential=one) for one in METHODS[name].about("potential")
    )
    assert found.decrease >= max(one.decrease for one in (first, *others)) * (1 - 1e-7)
    assert any(one.decrease > first.decrease for one in others)


@pytest.mark.long
def test_very_near_points_lose_nothing():
    """Those of SCAFFOLD's local steps are so near that floats proved nothing here."""
    method, where = by_rule("scaffold", 10**5, 100.0, None)
    assert certify(method, where).decrease == pytest.approx(2.468892e-4, rel=1e-6)
    assert certify(method, where, potential="search").decrease >= 2.46889e-4


@pytest.mark.long
def test_the_model_of_one_client_is_no_second_point_for_values():
    """f - f* there proves no more, and more than doubles the inequalities."""
    method, where = by_rule("locodl", 1, 1000.0, 4.0)
    found = certify(method, where, potential="search")
    assert found.potential.points == ()
    assert found.decrease >= 0.00108536476 * (1 - 1e-6)  # with the second point


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "point", "gain"),
    [
        ("adiana", (10, 100.0, 4.0), 1.35),
        ("marina", (10, 100.0, 4.0), 1.34),
        ("marina", (10, 1000.0, 9.0), 1.33),
        ("econtrol", (10, 1000.0, 9.0), 1.41),
        ("gradskip", (10, 1000.0, None), 1.62),
        ("agd", (10, 100.0, None), 1.11),
    ],
)
def test_a_search_proves_so_many_times_what_the_stated_potential_does(name, point, gain):
    method, where = by_rule(name, *point)
    stated = certify(method, where).decrease
    assert certify(method, where, potential="search").decrease >= gain * stated > 0


@pytest.mark.long
def test_values_at_other_points_of_the_state_are_printed():
    """ADIANA evaluates gradients at w, too, where no theorem is needed to say so."""
    method, where = by_rule("adiana", 10, 100.0, 4.0)
    assert "(f(w) - f*)" in repr(searched_potential(method, FunctionClass.of(where)))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [1, 10, 10**6])
def test_a_potential_with_tiny_parts_loses_no_digits(n):
    """EF21's first has weights of very different sizes where kappa is large."""
    theorem = METHODS["ef21"].theorems[0]

    def decrease(n, kappa):
        method, where = by_rule("ef21", n, kappa, 1.0)
        return best_decrease(method, FunctionClass.of(where), theorem)

    assert decrease(n, 1e5) == pytest.approx(decrease(1, 100.0) / 1000, rel=3e-3)
    assert decrease(n, 1e6) == pytest.approx(decrease(1, 100.0) / 10_000, rel=3e-2)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        *("locodl", "adiana", "diana", "scaffnew", "ef21", "econtrol", "marina", "dasha"),
        *("5gcs-cc", "scaffold", "compressed-scaffnew", "tamuna"),
    ],
)
def test_a_search_proves_the_same_for_any_number_of_clients(name):
    found = []
    method, _ = by_rule(name, 10**5, 100.0, 4.0)
    own = name in {"5gcs-cc", "scaffold", "compressed-scaffnew", "tamuna"}
    for n in (10**5, 10**6):
        rule, where = by_rule(name, n, 100.0, 4.0)
        method = rule if own else method  # whose parameters are for one n
        proved = certify(method, where, potential="search")
        found.append(proved.decrease)
        assert proved.decrease >= 1 - METHODS[name].theorems[0].rate(method, where) or not own
    if not own:
        assert found[0] == pytest.approx(found[1], rel=1e-3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "point", "least"),
    [
        ("5gcs-cc", (10, 1000.0, 9.0), 0.0072466),
        ("5gcs-cc", (10**6, 100.0, 4.0), 0.042216),
        ("5gcs-cc", (10**6, 1000.0, 9.0), 0.01046),
        ("adiana", (10**6, 1000.0, 9.0), 0.014052),
    ],
)
def test_nothing_of_a_search_is_given_up_for_its_proof(name, point, least):
    found = certify(*by_rule(name, *point), potential="search")
    assert found.decrease >= least * (1 - 2e-5)
    assert found.verify()


@dataclass(frozen=True)
class Favoured(SCAFFOLD):
    """SCAFFOLD whose first client counts more, or whose control variates are clipped."""

    clips: bool = False
    name = "favoured"

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        if self.clips:
            return replace(after, x=after.x + 0.01 * abs(after.x - s.x))
        weights = np.where(np.arange(problem.n) == 0, 0.5, 0.0)[:, None, None]
        return replace(after, c_i=after.c_i + weights * (after.c_i - s.c_i))


@pytest.mark.parametrize(("clips", "reason"), [(True, "not linear"), (False, "not treat all")])
def test_a_few_clients_of_many_show_what_a_method_is(clips, reason):
    method, where = by_rule("scaffold", 10**5, 100.0, None)
    for m in (method.m, 100):
        own = Favoured(**{**vars(method), "m": m}, clips=clips)
        with pytest.raises(Refusal, match=reason):
            certify(own, where, potential="search")
