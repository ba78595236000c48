"""What a check says of the tool: it fails on planted faults, and on nothing that is right."""

from itertools import chain

import numpy as np
import pytest
from planting import fault, planted

from certibit.data.problems.quadratic import Quadratic
from certibit.data.relaxed.polynomials import Quartics
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.gd import GD
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.checks.examination import check
from certibit.theory.tool.draws.choices import channel_checks
from certibit.theory.tool.draws.masks import masks_counted
from certibit.theory.tool.refusals import refusals
from certibit.theory.tool.tool_checks import of_any_method, tool_checks
from certibit.theory.verdict import FAILS

SENT = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: "identity"}

FAULTS = [
    fault("three classes for two", "data.problems.selector",
          ("if loss is None or not classes:", "if loss is None or classes:"), on="gd"),
    fault("mu = 0", "data.problems.quadratic",
          ("if not (0 < mu <=", "if not (0 <= mu <="), on="gd"),
    fault("SCAFFOLD's options", "solvers.methods.scaffold",
          ('self.option == "I" and self.traffic == "minimal"',
           'self.option == "I" and self.traffic != "minimal"'), on="gd"),
    fault("memory of random numbers", "solvers.simulation.memory_of_runs",
          (" + stream_width(message)),", "),"), on="gd"),
    fault("names in a file", "theory.catalogue.from_file",
          ('f"no method {name}" if name else f"{len(methods)} methods and no CARD"',
           'f"no method {name}"'), on="gd"),
    fault("a server's compressor", "solvers.simulation.experiment",
          ('elif method.needs.downlink == "unb', 'elif method.needs.downlink != "unb'),
          on="diana"),
    fault("a biased compressor", "solvers.simulation.experiment",
          ('need == "unbiased" and not', 'need == "unbiased" and'), on="diana"),
    fault("a word for a number", "theory.catalogue.from_file",
          ("if not _is_of(value, kind):", "if _is_of(value, kind):"), on="diana"),
    fault("a class without L_f", "theory.function_class",
          ("L_f=None if self.L_f is None else self.L_f / unit", "L_f=self.L_f / unit"), on="gd"),
    fault("a unit left out", "theory.function_class",
          ("            mu=self.mu / unit,", "            mu=self.mu,"), on="gd"),
    fault("a square of weight 0", "theory.quadratic_potential",
          ("if pivot > ROUNDING * abs(form[k, k]):", "if pivot >= ROUNDING * abs(form[k, k]):"),
          on="gd"),
    fault("rows drawn with replacement", "data.files.splits",
          ("permutation(N)[: n * m]", "integers(N, size=n * m)"), on="gd"),
    fault("rows of a client again to the next", "data.files.splits",
          ("deck[:, mixed:].reshape(-1)", "deck[:, : m - mixed].reshape(-1)"),
          on="gd"),
    fault("proportions that leave rows out", "data.files.splits",
          ("np.split(rows, cuts)", "np.split(rows[:-1], cuts)"), on="gd"),
    fault("a seed used by two batches", "solvers.runs.engine",
          ("tuple(run_seeds[run] for run in some)", "tuple(run_seeds[: some.size])"), on="gd"),
    fault("everything verifies", "theory.proofs.certificate",
          ('if self.holds_for(step) else float("inf")', "if step else 0.0"), on="gd"),
]  # fmt: skip


def subject(name):
    card = CARDS[name]
    needs = card.method.needs
    n = 1 if name == "compressed-gd" else 3
    problem = Quadratic.random(n, 6, 1.0, 10.0, shared_minimiser=needs.shared_minimiser)
    both = {"unbiased": "two-way(rand-k:2;rand-k:2)", "contractive": "two-way(rand-k:2;top-k:2)"}
    sent = compressor(both[needs.downlink] if needs.downlink else SENT[needs.compressor])
    return card, Experiment.of(card.parameters(problem, sent), problem, sent)


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("planting", FAULTS, ids=lambda planting: planting.name)
def test_a_fault_of_the_tool_is_caught(planting):
    card, experiment = subject(planting.subject[0])
    with planted(planting), np.errstate(all="ignore"):
        found = chain([refusals(card, experiment)], of_any_method())
        failing = next((verdict for verdict in found if not verdict.holds), None)
    assert failing is not None
    assert failing.advice.endswith((".", "none."))


@pytest.mark.parametrize(
    ("module", "right", "wrong", "told"),
    [
        ("ledger", "times * xp.count_nonzero(mask, axis=(0, 1))", "times", "through a mask"),
        (
            "ledger",
            "return times * np.asarray(mask).sum(axis=(0, 1))",
            "return times",
            "through a mask",
        ),
        ("channel", "sent + told, n * bits)", "sent + told, 1)", "short"),
    ],
)
def test_masks_that_are_miscounted_are_seen(module, right, wrong, told):
    assert masks_counted().holds
    with planted(fault(told, f"solvers.simulation.{module}", (right, wrong), on="gd")):
        found = masks_counted()
    assert not found.holds
    assert told in found.advice


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.rules])
def test_no_misfit_goes_through(name):
    assert refusals(*subject(name)).holds


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.rules])
def test_nothing_fails_on_what_is_right(name):
    assert [verdict.advice for verdict in tool_checks(*subject(name)) if not verdict.holds] == []


@pytest.mark.long
def test_what_does_not_depend_on_the_method_is_checked_once():
    first, second = (tool_checks(*subject(name)) for name in ("gd", "diana"))
    of_any = len(list(of_any_method()))
    assert first[-of_any - 1] is not second[-of_any - 1]
    for one, other in zip(first[-of_any:], second[-of_any:], strict=True):
        assert one is other


def test_a_misfit_that_is_accepted_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr(GD, "needs", GD.needs.__class__(compressor="unbiased"))
    card, experiment = subject("gd")
    verdict = refusals(card, experiment)
    assert verdict.holds
    with planted(FAULTS[6]):
        verdict = refusals(card, experiment)
    assert (
        verdict.advice == "The compressor top-k:1 of gd is accepted: look at where it is refused."
    )


@pytest.mark.long
def test_only_a_check_that_asks_for_them_has_them():
    names = {
        "recorded as run",
        "choices are independent",
        "misfits refused",
        "misfits of the method refused",
        "certificates of what is known",
    }
    problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    whole, plain = (check(GD(0.1), problem, seeds=2, tool=tool) for tool in (True, False))
    assert names <= {verdict.check for verdict in whole.tool}
    assert whole.verdicts == (*plain.verdicts, *whole.tool)
    assert not plain.tool
    card = CARDS["clipped-sgd"]
    conducted = check(card.method(0.1, 0.1, 1), Quartics.of(H=2.0), tool=True)
    assert names <= {verdict.check for verdict in conducted.tool}
    assert FAILS not in repr(whole)


def test_an_entry_with_an_owner_too_few_is_seen(monkeypatch):
    """Even where no client has fewer entries than it may: 9 of 5 entries with 2 owners among 3."""
    right = Channel.ownership

    def lost(self, s, cohort=None):
        owned = right(self, s, cohort)
        many = owned.sum(axis=1, keepdims=True) == 4
        first = np.cumsum(owned, axis=1) == 1
        return owned & ~(many & first & owned) if cohort is not None else owned

    monkeypatch.setattr(Channel, "ownership", lost)
    (found,) = (v for v in channel_checks(draws=400) if v.check.startswith("sizes"))
    assert not found.holds
    assert "an entry has not 2 owners, with 2 owners among 3 clients" in found.advice
