"""The checks of methods on nonconvex problems pass, and see a wrong trace and wrong constants."""

from dataclasses import replace

import pytest

import certibit
from certibit.solvers.runs import points

MODEL = certibit.problem("breast-cancer@9:nonconvex")
QUADRATIC = certibit.problem("quadratic:d=5@4:nonconvex")
RUNS, CONSTANTS = "runs as plain ones", "L_i, L_f, mu and eigenvalues"


def examined(name, solved, sent=None):
    compressor = certibit.compressor(sent) if sent else None
    method = certibit.parameters(name, solved, compressor)
    return certibit.check(method, solved, compressor)


def failing(found):
    return {verdict.check for verdict in found.verdicts if not verdict.holds}


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("solved", [MODEL, QUADRATIC], ids=["model", "quadratic"])
@pytest.mark.parametrize(
    ("name", "sent"), [("gd", None), ("ef21", "top-k:2"), ("marina", "rand-k:2")]
)
def test_no_check_fails(name, sent, solved):
    found = examined(name, solved, sent)
    assert failing(found) == set()
    assert {RUNS, CONSTANTS} <= {verdict.check for verdict in found.verdicts}


@pytest.mark.parametrize("solved", [MODEL, QUADRATIC], ids=["model", "quadratic"])
def test_a_wrong_squared_gradient_in_the_trace_is_caught(monkeypatch, solved):
    right = points._squared_gradient
    monkeypatch.setattr(points, "_squared_gradient", lambda *given: 1.001 * right(*given))
    assert failing(examined("gd", solved)) == {RUNS}


def test_constants_below_eigenvalues_are_caught():
    smaller = replace(MODEL, lam=MODEL.lam, bare=replace(MODEL.bare, L_i=0.9 * MODEL.bare.L_i))
    assert failing(examined("gd", smaller)) == {CONSTANTS}
