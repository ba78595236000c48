import pytest
from user_project import Project

from certibit.solvers.store.store import Store


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A user's project, beside it what is installed."""
    monkeypatch.syspath_prepend(tmp_path / "lib" / "site-packages")
    return Project(tmp_path)


@pytest.fixture
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("traces"))
