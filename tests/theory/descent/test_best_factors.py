"""The form with the largest factor, e = 0 where none is needed, and the time that both take."""

from dataclasses import replace
from time import process_time

import pytest
from flint import fmpq, fmpq_mat

from certibit import (
    CARDS,
    GD,
    LSVRG,
    SCAFFOLD,
    BoundedDissimilarity,
    FunctionClass,
    GradientNoise,
    PolyakLojasiewicz,
    QuasiStrongConvexity,
    certify,
)
from certibit.figures.certified.classes.rule_point import L, RulePoint
from certibit.theory.certificates.forms import form_of_factor
from certibit.theory.cones.central_path import strictly_inside
from certibit.theory.proofs.programme import factor_programme

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
    follow = factor_programme.follow
    monkeypatch.setattr(
        factor_programme,
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
