import sys

import pytest
from user_project import Project

from bitbound.solvers.store.store import Store


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A user's project; what it leaves among the loaded modules is taken away again."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "lib" / "site-packages")
    project = Project(tmp_path)
    yield project
    project.unload()


@pytest.fixture
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("traces"))
