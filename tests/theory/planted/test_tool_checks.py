"""The checks of certibit itself fail on planted faults, and on nothing that is right."""

import numpy as np
import pytest
from planting import fault, planted
from tool.choices import channel_checks
from tool.masks import masks_counted
from tool.small_experiment import small_experiment
from tool.trace_checks import trace_checks

from certibit.solvers.simulation.channel import Channel
from certibit.theory.catalogue.catalogue import CARDS


@pytest.mark.parametrize(
    ("module", "right", "wrong", "told"),
    [
        (
            "ledger",
            "broadcast_to(times * counts,",
            "broadcast_to(times + 0 * counts,",
            "through a mask",
        ),
        ("channel", "told, n), n * bits)", "told, n), 1)", "short"),
    ],
)
def test_masks_that_are_miscounted_are_seen(module, right, wrong, told):
    assert masks_counted().holds
    with planted(fault(told, f"solvers.simulation.{module}", (right, wrong), on="gd")):
        found = masks_counted()
    assert not found.holds
    assert told in found.advice


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.rules])
def test_nothing_fails_on_what_is_right(name):
    assert [each.advice for each in trace_checks(small_experiment(name)[1]) if not each.holds] == []


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
