"""What is compiled is compiled by one process; others load it."""

import hashlib
import os
import pickle
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numba
import pytest

from certibit.data.files.cache import cache_folder
from certibit.data.passes import compilation

COUNT = """
import numpy as np
from numba.core import event
from certibit.data.passes.row_passes import slopes

one = np.ones(3)
with event.install_recorder("numba:compile") as recorder:
    slopes(one, one.copy(), 1.0)
print(sum(entry.is_start for _, entry in recorder.buffer))
"""


@pytest.mark.long
def test_processes_that_start_together_compile_once(tmp_path):
    environment = os.environ | {"CERTIBIT_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", COUNT]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate()[0].strip() for process in processes]
    *others, first = sorted(map(int, answers))
    assert others == [0, 0]
    assert first > 0


def one_more(number):
    return number + 1


def folder(cache):
    return cache / (f"compiled-{os.geteuid()}" if os.name == "posix" else "compiled")


def another_process_holds(lock):
    lock.parent.mkdir(mode=0o700)
    code = "import sys, filelock; filelock.FileLock(sys.argv[1]).acquire(); print(); input()"
    command = [sys.executable, "-c", code, str(lock)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    process.stdout.readline()
    return process.communicate


def cannot_be_written(lock):
    lock.parent.mkdir(mode=0o700)
    lock.mkdir()
    return lock.rmdir


@pytest.mark.parametrize("obstacle", [another_process_holds, cannot_be_written])
def test_without_the_lock_it_is_compiled_as_well(obstacle, tmp_path, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
    monkeypatch.setattr(compilation, "_LONGEST", 0.05)
    remove = obstacle(folder(tmp_path) / f"{__name__}.one_more.lock")
    assert compilation.compiled(one_more)(1) == 2
    remove()


def compiled_twice(tmp_path, between):
    """Return how often code was loaded when it was compiled again after something."""
    assert compilation.compiled(one_more)(1) == 2
    between(list(folder(tmp_path).rglob("*.nb?")))
    for loaded in (0, 1):
        again = compilation.compiled(one_more)
        assert again(1) == 2
        assert sum(again.stats.cache_hits.values()) == loaded


DAMAGES = {
    "empty": lambda content: b"",
    "cut to a byte": lambda content: content[:1],
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut by a byte": lambda content: content[:-1],
    "a bit turned": lambda content: content[:40] + bytes([content[40] ^ 16]) + content[41:],
    "a later bit turned": lambda content: content[:-50] + bytes([content[-50] ^ 1]) + content[-49:],
    "text": lambda content: b"\xff\xfe no code \n" * 9,
}


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("kind", [".nbi", ".nbc"])
def test_damaged_files_are_compiled_again(kind, damage, tmp_path, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))

    def between(files):
        (file,) = (file for file in files if file.suffix == kind)
        file.write_bytes(damage(file.read_bytes()))

    compiled_twice(tmp_path, between)


def test_code_that_is_gone_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
    compiled_twice(tmp_path, lambda files: next(f for f in files if f.suffix == ".nbc").unlink())


FULL = """
import resource, sys
from certibit.data.passes.compilation import compiled
import numba

def one_more(number):
    return number + 1

when = sys.argv[1]
if when == "before":
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
function = compiled(one_more)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(function(1))
"""


@pytest.mark.long(keep=1)
@pytest.mark.skipif(os.name != "posix", reason="the size of files is limited on POSIX systems")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_full_disk_does_not_end_a_run(when, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FULL)
    environment = os.environ | {"CERTIBIT_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, str(script), when]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("2", 0), done.stderr


def test_what_another_thread_compiles_does_not_move_the_folder(tmp_path, monkeypatch):
    """The setting of numba is one for all threads; another compilation may reset it meanwhile."""
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    exists = os.path.exists

    def reset(path):
        numba.config.CACHE_DIR = ""
        return exists(path)

    monkeypatch.setattr(os.path, "exists", reset)
    function = compilation.compiled(one_more)
    monkeypatch.undo()
    assert Path(function._cache.cache_path).parent == folder(tmp_path / "cache")
    assert function(1) == 2
    assert not list((tmp_path / "current").iterdir())


@pytest.mark.parametrize("variable", ["", "cache"])
def test_the_folder_of_what_is_kept_is_absolute(variable, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", variable)
    assert cache_folder().is_absolute()


class Planted:
    """Runs when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def plant(files, mark):
    """Put an index in place of one, in the form that is read, that runs code."""
    for file in files:
        content = pickle.dumps(numba.__version__) + pickle.dumps(Planted(mark))
        file.write_bytes(content + hashlib.sha256(content).digest())


def open_to_all(path):
    path.chmod(0o777)


def of_another_user(path):
    if os.geteuid():
        pytest.skip("only root gives a folder away")
    os.chown(path, 12345, -1)


def linked(path):
    moved = path.with_name("elsewhere")
    path.rename(moved)
    path.symlink_to(moved)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of folders are those of POSIX")
@pytest.mark.parametrize("opened", [open_to_all, of_another_user, linked])
def test_an_index_that_others_may_have_planted_is_not_read(opened, tmp_path, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
    assert compilation.compiled(one_more)(1) == 2
    own = folder(tmp_path)
    assert own.stat().st_mode & 0o777 == 0o700
    mark = tmp_path / "mark"
    plant(list(own.rglob("*.nbi")), mark)
    opened(own)
    with pytest.warns(UserWarning, match="may be written by others, and what is there would be"):
        again = compilation.compiled(one_more)
    assert again(1) == 2
    assert not mark.exists()


@pytest.mark.skipif(os.name != "posix", reason="owners and modes of folders are those of POSIX")
def test_a_planted_index_would_run(tmp_path, monkeypatch):
    """The test before sees something: in a folder of one's own the same index is believed."""
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
    assert compilation.compiled(one_more)(1) == 2
    plant(list(folder(tmp_path).rglob("*.nbi")), tmp_path / "mark")
    with suppress(Exception):
        compilation.compiled(one_more)(1)
    assert (tmp_path / "mark").exists()
