from dataclasses import replace

import pytest

from certibit.theory.cards import locodl
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates import largest_step
from certibit.theory.relaxed import clipped_account


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    """Be in an empty folder, into which commands write."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def reckless(monkeypatch):
    """A default rule of LoCoDL whose step size is beyond the theorem's limit and diverges."""
    entry = METHODS["locodl"]
    rule = entry.rules["published"]

    def too_long(setting):
        return replace(rule(setting), gamma=300 / setting.L)

    monkeypatch.setattr(locodl, "CARD", replace(entry, rules={"reckless": too_long}))


@pytest.fixture(autouse=True)
def step_of_the_rule(request, monkeypatch):
    """Take every step size for the largest, unless a test looks for that: the search takes long."""
    if "searched_step" not in request.fixturenames:
        for module in (largest_step, clipped_account):
            monkeypatch.setattr(module, "limits", lambda works, start, *more: (start, 2 * start))


@pytest.fixture
def searched_step():
    """Search for the largest step size."""
