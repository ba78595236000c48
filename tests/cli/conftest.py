from dataclasses import replace

import pytest

from certibit.theory.cards import locodl
from certibit.theory.catalogue.catalogue import METHODS


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    """Be in an empty folder, into which commands write."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def reckless(monkeypatch):
    """A default rule of LoCoDL whose step size is beyond the theorem's limit and diverges."""
    entry = METHODS["locodl"]
    rule = entry.rules["paper"]

    def too_long(setting):
        return replace(rule(setting), gamma=300 / setting.L)

    monkeypatch.setattr(locodl, "CARD", replace(entry, rules={"reckless": too_long}))
