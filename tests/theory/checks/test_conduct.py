"""How a method conducts itself: what it is billed, that it comes back, and what is left out."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import EF21, METHODS, Experiment, Quadratic
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.theory.checks.examination import soundness
from certibit.theory.checks.method.conduct import bill_check, comes_back, schedule


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("cohort", [4, 9])
def test_leaving_out_clients_that_are_done_changes_no_account(cohort):
    """Of nine clients few go on for long; what is counted and the state are as for all together."""
    problem, compressor = Quadratic.random(9, 5, 1.0, 20.0, seed=1), RandK(2)
    card = METHODS["5gcs-cc"]
    method = card.parameters(problem, compressor, "ours-adaptive", cohort=cohort)
    experiment = Experiment.of(method, problem, compressor)
    assert all(verdict.holds for verdict in soundness(card, experiment))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_bill(name):
    """It is that of the ledger, to the bit."""
    card = METHODS[name]
    compressor = {"unbiased": RandK(2), "contractive": TopK(2), None: None}[
        card.method.needs.compressor
    ]
    problem = Quadratic.random(4, 5, 1.0, 20.0, seed=1)
    experiment = Experiment.of(card.parameters(problem, compressor), problem, compressor)
    assert bill_check(card, experiment).holds
    for more in ((1, 0), (0, 1)):
        wrong = replace(card, bill=lambda *of, more=more: np.add(card.bill(*of), more))
        assert not bill_check(wrong, experiment).holds
    assert bill_check(replace(card, bill=None), experiment) is None


SENT = {None: None, "unbiased": RandK(2), "contractive": TopK(2)}


@dataclass(frozen=True)
class Forgetting(EF21):
    """Its estimates of the gradients move away from them; f - f* does not show it at first."""

    name = "forgetting"

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        return replace(after, g=2 * s.g - after.g)


@pytest.mark.parametrize("name", ["scaffnew", "locodl", "gd"])
def test_coins_are_counted_per_iteration_of_a_run(name):
    """Within 7 standard errors of p, of 25 runs with 80 coins each."""
    card, problem = METHODS[name], Quadratic.random(3, 4, mu=1.0, L=10.0)
    sent = SENT[card.method.needs.compressor]
    experiment = Experiment.of(card.parameters(problem, sent), problem, sent)
    verdict = schedule(experiment)
    assert verdict.holds
    p = getattr(experiment.method, "p", 1.0)
    assert verdict.limit == pytest.approx(7 * (p * (1 - p) / 2000) ** 0.5, abs=1e-6)


def test_what_runs_away_is_named():
    problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    verdict = comes_back(Experiment.of(Forgetting(gamma=0.02), problem, TopK(2)))
    assert not verdict.holds
    assert "look at the line that updates g," in verdict.advice
