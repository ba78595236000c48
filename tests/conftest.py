import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("certibit", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("certibit")


_ROOT = Path(__file__).parents[1]
sys.path.append(str(_ROOT / "docs"))
_NOT_OURS = pytest.StashKey[str | None]()
_OWN = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--quick``: what `make test` runs. Without it everything is run."""
    parser.addoption("--quick", action="store_true", help="leave out tests that are marked long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out with ``--quick`` what is marked ``long``, but for ``keep`` cases of a test.

    The first case is kept, and others at equal distances.
    """
    if not config.getoption("--quick"):
        return
    long: dict[str, list[tuple[pytest.Item, int]]] = {}
    for item in items:
        if mark := item.get_closest_marker("long"):
            test = item.nodeid.partition("[")[0]
            long.setdefault(test, []).append((item, mark.kwargs.get("keep", 0)))
    left_out = []
    for cases in long.values():
        for place, (item, keep) in enumerate(cases):
            if place * keep % len(cases) >= keep:
                left_out.append(item)
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]


def pytest_configure(config: pytest.Config) -> None:
    """Keep what the tests cache out of the user's cache, in one folder for all workers."""
    if hasattr(config, "workerinput"):
        return
    config.stash[_NOT_OURS] = os.environ.get("CERTIBIT_CACHE")
    config.stash[_OWN] = folder = tempfile.TemporaryDirectory()
    os.environ["CERTIBIT_CACHE"] = folder.name


def pytest_unconfigure(config: pytest.Config) -> None:
    """Give the variable back."""
    if hasattr(config, "workerinput"):
        return
    config.stash[_OWN].cleanup()
    if (before := config.stash[_NOT_OURS]) is None:
        del os.environ["CERTIBIT_CACHE"]
    else:
        os.environ["CERTIBIT_CACHE"] = before


@pytest.fixture(autouse=True)
def modules_of_others() -> Iterator[None]:
    """Forget the modules that a test wrote: they would count as part of later tests' programs.

    The tree, and the environment, may themselves lie among temporary files, as a copy with a
    planted fault does.
    """
    before = set(sys.modules)
    yield
    written = tempfile.gettempdir() + os.sep
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(written) and not file.startswith((str(_ROOT), sys.prefix)):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let texts be those of files, whatever the width of who runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
