"""The form with the largest factor, e = 0 where none is needed, and the time that both take."""

from dataclasses import replace
from time import process_time

import pytest
from flint import fmpq, fmpq_mat

from certibit import (
    CARDS,
    GD,
    LSVRG,
    METHODS,
    PAGE,
    SCAFFOLD,
    SGD,
    BoundedDissimilarity,
    FunctionClass,
    GradientNoise,
    PolyakLojasiewicz,
    QuasiStrongConvexity,
    Refusal,
    certify,
    cheapest_descent,
    compressor,
)
from certibit.figures.certified.classes.rule_point import L, RulePoint
from certibit.theory.certificates.certify import form_of_factor
from certibit.theory.certificates.summary import class_setting
from certibit.theory.cones.central_path import strictly_inside
from certibit.theory.proofs.programme import descent_programme

UNDER = (PolyakLojasiewicz(0.1),)
FORMS = [
    (GD(0.7), FunctionClass(3, -1.0, 1.0, assumptions=UNDER)),
    (LSVRG(0.1, 0.3), FunctionClass(2, 0.1, 1.0, noise=GradientNoise(expected=0.5))),
]


def is_proved(programme, c):
    """Whether a form has this c: one linear programme without the path of the search."""
    (above, below), (lines, slopes) = programme.matrices, programme.rows

    def at(pair):
        a, b = (fmpq_mat([[row[0], *row[2:]] for row in one.tolist()]) for one in pair)
        return a - c * b

    blocks = [at(pair) for pair in zip(above, below, strict=True)]
    return strictly_inside(blocks, at((fmpq_mat(lines), fmpq_mat(slopes))).tolist()) is not None


@pytest.mark.parametrize(("method", "functions"), FORMS, ids=["PL", "noise"])
def test_no_form_has_a_larger_factor(method, functions):
    _, programme = form_of_factor(method, functions)
    c, _ = programme.best_form(1e-7)
    assert is_proved(programme, c * (1 - fmpq(1, 10**6)))
    assert not is_proved(programme, c * (1 + fmpq(1, 10**6)))


def test_a_search_that_ends_too_early_is_seen(monkeypatch):
    follow = descent_programme.follow
    monkeypatch.setattr(
        descent_programme,
        "follow",
        lambda programme, start, close, **more: follow(programme, start, 0.5, **more),
    )
    _, programme = form_of_factor(*FORMS[0])
    c, _ = programme.best_form(1e-7)
    assert is_proved(programme, c * (1 + fmpq(1, 10**6)))


def test_no_dissimilarity_is_left_where_none_is_needed():
    """SCAFFOLD descends for any zeta: e' is exactly 0, and c the largest without an e'."""
    functions = FunctionClass(10, -1.0, 1.0)
    unlike = replace(functions, assumptions=(BoundedDissimilarity(1.0, 1.0),))
    method = SCAFFOLD(K=2, eta_l=0.05, eta_g=1.0, m=10)
    proof = certify(method, unlike)
    assert proof.exact_dissimilarity == 0
    assert proof.c >= certify(method, functions).c * (1 - 2e-6)
    assert proof.verify()


SLOW = [
    ("ef21-sgdm", "PL", 0.6),
    ("adiana", "any", 1.9),
    ("scaffold", "quasi", 3.2),
    ("scaffold", "convex", 1.9),
    ("scaffold", "dissimilarity", 1.7),
    ("dasha-page", "quasi", 2.8),
    ("dasha-page", "dissimilarity", 1.9),
    ("dasha-mvr", "factor", 3.1),
    ("dasha-page", "factor", 1.9),
    ("vr-diana", "factor", 2.2),
    ("local-sgd", "bounded", 2.2),
]
"""Certificates that take long, and times in units of two 60 x 60 matrices of fractions multiplied,
of which 2.9 are a second where they were measured."""

ROOM = 3.0
"""Times what a certificate may take: other machines, and what else they do."""


def seconds(computation):
    """Return the seconds of the processor that a computation takes."""
    start = process_time()
    computation()
    return process_time() - start


def slow(name, label):
    """Return a method at n = 10 and omega = 9, its class, and the measure."""
    card = CARDS[name]
    at = RulePoint.of(card, 10, 9.0)
    functions, strongly = FunctionClass.of(at.smooth), FunctionClass.of(at.strongly)
    method = at.method
    classes = {
        "any": functions,
        "convex": replace(functions, mu=0.0),
        "quasi": replace(functions, assumptions=(QuasiStrongConvexity(1.0),)),
        "dissimilarity": replace(functions, assumptions=(BoundedDissimilarity(1.0, 1.0),)),
        "PL": replace(functions, assumptions=(PolyakLojasiewicz(1.0),)),
        "factor": replace(strongly, noise=GradientNoise(expected=L)),
        "bounded": replace(strongly, noise=GradientNoise()),
    }
    measure = "potential" if label in {"PL", "factor", "bounded"} else None
    return method, classes[label], measure


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("name", "label", "longest"), SLOW)
def test_a_certificate_takes_no_longer_than_it_did(name, label, longest, unit):
    """A search by bisection took 6 to 16 units."""
    method, functions, measure = slow(name, label)
    taken = seconds(lambda: certify(method, functions, measure=measure))
    print(f"{name} {label}: {taken:.2f} s, {taken / unit:.2f} units")
    assert taken <= ROOM * longest * unit


def subject(name, sent=None, d=20):
    card = METHODS[name]
    where = class_setting(card.method, 10, None, None, sent and compressor(sent), d)
    return card.at(where, card.default_rule(where)), where, FunctionClass.of(where)


@pytest.mark.long
@pytest.mark.parametrize("name", ["marina", "dasha"])
def test_fewer_bits_are_proved(name):
    method, where, functions = subject(name, "rand-k:2")
    found = cheapest_descent(method, where, functions, tries=25)
    assert found.cost.uplink_bits < found.before.uplink_bits
    assert found.certificate.verify()
    assert found.certificate.c > 0


@pytest.mark.long
@pytest.mark.parametrize("tries", [2, 15])
def test_variance_reduction_has_parameters_with_fewer_rounds(tries):
    _, where, functions = subject("gd")
    noisy = replace(functions, noise=GradientNoise(difference=1.0))
    found = cheapest_descent(PAGE(0.3, 0.2), where, noisy, "rounds", tries=tries)
    assert found.cost.rounds < found.before.rounds
    assert found.certificate.e == 0


@pytest.mark.long
def test_bits_received_change_the_parameters():
    """A larger p has fewer rounds, in each of which all features are received."""
    method, where, functions = subject("marina", "rand-k:2")
    light, heavy = (
        cheapest_descent(method, where, functions, downlink=weight, tries=25).method.p
        for weight in (0.0, 10.0)
    )
    assert heavy > light


def test_misfits_are_refused():
    method, where, functions = subject("gd")
    noisy = replace(functions, noise=GradientNoise(difference=1.0))
    with pytest.raises(Refusal, match="depends on how much; leave noise"):
        cheapest_descent(SGD(0.1), where, noisy)
    with pytest.raises(Refusal, match="are not alike"):
        cheapest_descent(PAGE(0.1, 0.1), where, noisy, "gradients")
    with pytest.raises(Refusal, match="smaller step"):
        cheapest_descent(replace(method, gamma=3.0), where, functions)
