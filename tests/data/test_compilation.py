"""What is compiled is compiled by one process; others load it."""

import os
import subprocess
import sys

import pytest

from bitbound.data.files import compilation

COUNT = """
import numpy as np
from numba.core import event
from bitbound.data.passes.local_passes import set_powers_and_sums

one = np.ones(3)
with event.install_recorder("numba:compile") as recorder:
    set_powers_and_sums(one, np.arange(3), one, one.copy())
print(sum(entry.is_start for _, entry in recorder.buffer))
"""


def test_processes_that_start_together_compile_once(tmp_path):
    environment = os.environ | {"BITBOUND_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", COUNT]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate()[0].strip() for process in processes]
    assert sorted(answers) == ["0", "0", "1"]


def one_more(number):
    return number + 1


def another_process_holds(lock):
    lock.parent.mkdir()
    code = "import sys, filelock; filelock.FileLock(sys.argv[1]).acquire(); print(); input()"
    command = [sys.executable, "-c", code, str(lock)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    process.stdout.readline()
    return process.communicate


def cannot_be_written(lock):
    lock.mkdir(parents=True)
    return lock.rmdir


@pytest.mark.parametrize("obstacle", [another_process_holds, cannot_be_written])
def test_without_the_lock_it_is_compiled_as_well(obstacle, tmp_path, monkeypatch):
    monkeypatch.setenv("BITBOUND_CACHE", str(tmp_path))
    monkeypatch.setattr(compilation, "_LONGEST", 0.05)
    remove = obstacle(tmp_path / "compiled" / f"{__name__}.one_more.lock")
    assert compilation.compiled(one_more)(1) == 2
    remove()
