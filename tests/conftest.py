import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("certibit", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("certibit")


@pytest.fixture(scope="session", autouse=True)
def cache_folder() -> Iterator[Path]:
    """Keep what the tests cache, such as solutions, out of the user's cache."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("CERTIBIT_CACHE")
        os.environ["CERTIBIT_CACHE"] = folder
        yield Path(folder)
        if before is None:
            del os.environ["CERTIBIT_CACHE"]
        else:
            os.environ["CERTIBIT_CACHE"] = before


@pytest.fixture(autouse=True)
def modules_of_others() -> Iterator[None]:
    """Forget the modules that a test wrote: they would count as part of later tests' programs."""
    before = set(sys.modules)
    yield
    written = tempfile.gettempdir() + os.sep
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(written):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let texts be those of files, whatever the width of who runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)
