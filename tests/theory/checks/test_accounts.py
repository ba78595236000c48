"""A ledger that counts one thing wrongly is seen by the accounts alone."""

import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.ledger import Ledger
from certibit.theory.catalogue.catalogue import parameters
from certibit.theory.checks.channel.accounts import accounts

PROBLEM, SENT = Quadratic.random(3, 4, 1.0, 10.0), compressor("rand-k:2")
EXPERIMENT = Experiment.of(parameters("diana", PROBLEM, SENT), PROBLEM, SENT)


def test_a_right_ledger_is_no_fault():
    assert accounts(EXPERIMENT).holds


@pytest.mark.parametrize(
    ("name", "told"),
    [("up", "bits up are counted"), ("down", "bits down are"), ("evaluate", "gradients are")],
)
@pytest.mark.parametrize("factor", [0, 2])
def test_what_is_counted_wrongly_is_told(monkeypatch, name, told, factor):
    right = getattr(Ledger, name)

    def wrong(ledger, runs, count, *others):
        right(ledger, runs, factor * count, *others)

    monkeypatch.setattr(Ledger, name, wrong)
    verdict = accounts(EXPERIMENT)
    assert not verdict.holds
    assert told in verdict.advice
