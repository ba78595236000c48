"""The checks of methods on nonconvex problems pass, and see a wrong trace and wrong constants."""

from dataclasses import replace

import pytest

import certibit
from certibit import CARDS, Experiment
from certibit.theory.checks.method.one_step import worst_like

MODEL = certibit.problem("breast-cancer@9:nonconvex")
QUADRATIC = certibit.problem("quadratic:d=5@3:nonconvex")
CONSTANTS = "L_i, L_f, mu and eigenvalues"
WORST = "worst descent on small quadratics"
CERTIFIED = "promise / certificate at the boundary"


def examined(name, solved, sent=None):
    compressor = certibit.compressor(sent) if sent else None
    method = certibit.parameters(name, solved, compressor)
    return certibit.check(method, solved, compressor)


def failing(found):
    return {verdict.check for verdict in found.verdicts if not verdict.holds}


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("solved", [MODEL, QUADRATIC], ids=["model", "quadratic"])
@pytest.mark.parametrize(
    ("name", "sent"),
    [("gd", None), ("ef21", "top-k:2"), ("marina", "rand-k:2"), ("dasha", "rand-k:2")],
)
def test_no_check_fails(name, sent, solved):
    found = examined(name, solved, sent)
    assert failing(found) == set()
    assert CONSTANTS in {verdict.check for verdict in found.verdicts}


def test_constants_below_eigenvalues_are_caught():
    smaller = replace(MODEL, lam=MODEL.lam, bare=replace(MODEL.bare, L_i=0.9 * MODEL.bare.L_i))
    assert failing(examined("gd", smaller)) == {CONSTANTS}


def too_much(theorem, factor):
    """Return a theorem that promises a multiple of c."""
    kind = type(theorem)

    def descent(self, m, setting):
        return factor * kind.descent(self, m, setting)

    return type(kind.__name__, (kind,), {"descent": descent})()


SENT = {"contractive": ["top-k:2", "scaled(rand-k:2)"], "unbiased": ["rand-k:2"], None: [None]}
DESCENDING = [
    (name, sent)
    for name, card in CARDS.items()
    for sent in SENT[card.method.needs.compressor]
    if card.about("squared_gradient")
    and name != "dasha"  # its theorem needs the omega that it is made for
]


@pytest.mark.parametrize(("name", "sent"), DESCENDING)
def test_a_descent_that_promises_too_much_is_caught_in_the_worst_case(name, sent):
    """EF21 with 2 c, which no quadratic allows, passed all checks: no run visits such states."""
    card, compressor = CARDS[name], sent and certibit.compressor(sent)
    method = card.parameters(QUADRATIC, compressor)
    experiment = Experiment.of(method, QUADRATIC, compressor)
    (theorem,) = card.about("squared_gradient")
    right, wrong = (worst_like(too_much(theorem, c), experiment) for c in (1.0, 2.0))
    assert right.holds
    assert right.points > 3
    assert not wrong.holds


@pytest.mark.long
def test_the_worst_descent_is_among_the_checks():
    card, sent = CARDS["ef21"], certibit.compressor("top-k:2")
    method = card.parameters(QUADRATIC, sent)
    wrong = replace(card, theorems=(too_much(card.about("squared_gradient")[0], 1.5),))
    assert failing(certibit.check(method, QUADRATIC, sent)) == set()
    assert failing(certibit.check(method, QUADRATIC, sent, card=wrong)) == {WORST, CERTIFIED}
