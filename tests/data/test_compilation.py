"""What is compiled is compiled by one process; others load it."""

import os
import subprocess
import sys
import time

from bitbound.data.files import file_lock
from bitbound.data.files.file_lock import held

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


HOLD = """
import sys, time
from pathlib import Path
from bitbound.data.files.file_lock import held

with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_waited_for_but_not_for_ever_and_not_after_a_death(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        monkeypatch.setattr(file_lock, "_LONGEST", 0.2)
        before = time.monotonic()
        with held(path):
            assert time.monotonic() - before >= 0.2
        process.kill()
        process.wait()
        monkeypatch.setattr(file_lock, "_LONGEST", 1e9)
        with held(path), held(tmp_path / "another"):
            pass


def test_where_nothing_can_be_written_there_is_no_lock(tmp_path):
    (tmp_path / "file").write_text("")
    with held(tmp_path / "file" / "lock"):
        pass
