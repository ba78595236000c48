"""Workers that die, fail and are interrupted: the others go on, and nothing is left."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

import psutil
import pytest

from certibit.data.errors import FailedJobsError, Refusal
from certibit.figures import workers
from certibit.figures.pool import traces
from tests.figures.processes import alive, wait_for

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@dataclass(frozen=True)
class Made:
    """A job that misbehaves the first times, and then gives its number."""

    number: int
    folder: Path
    kind: str = "good"
    times: int = 1

    @property
    def name(self):
        return f"{self.kind} {self.number}"

    def trace(self):
        for time_ in range(self.times if self.kind != "good" else 0):
            mark = self.folder / f"{self.number}-{time_}"
            if not mark.exists():
                mark.touch()
                return self.misbehave()
        return self.number**2

    def misbehave(self):
        match self.kind:
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "terminated":
                os.kill(os.getpid(), signal.SIGTERM)
            case "half-way":
                Connection._send = _die_half_way
            case "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "asleep":
                time.sleep(1000)
            case "endless":
                while True:
                    pass
            case "refused":
                raise Refusal(f"{self.number} does not fit")
            case "alike":
                raise Refusal("nothing fits")
            case "broken":
                raise Strange(self.number, "this")


def _die_half_way(connection, buffer, write=os.write):
    """Send half of a message; then the process is killed."""
    write(connection.fileno(), buffer[: len(buffer) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


class Strange(Exception):  # noqa: N818
    """One that cannot be made again from its text."""

    def __init__(self, number, what):
        super().__init__(f"{what} is broken")


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("kind", ["half-way", "killed", "terminated"])
def test_what_a_lost_worker_did_is_done_once_more(tmp_path, kind):
    jobs = [Made(1, tmp_path), Made(2, tmp_path, kind), Made(3, tmp_path)]
    assert sorted(traces(jobs, 1)) == [(0, 1), (1, 4), (2, 9)]


def test_not_twice_and_the_others_go_on(tmp_path):
    jobs = [Made(1, tmp_path, "killed", times=2), Made(2, tmp_path), Made(3, tmp_path)]
    found = []
    with pytest.raises(FailedJobsError, match=r"1 of 3 curves failed: killed 1: ") as error:
        found.extend(traces(jobs, 2))
    assert "ended from outside" in str(error.value)
    assert sorted(found) == [(1, 4), (2, 9)]


def test_a_process_that_cannot_be_started_costs_one_job(tmp_path, monkeypatch):
    start, failures = SpawnProcess.start, [OSError("no room for a process")]

    def fail_once(process):
        if failures:
            raise failures.pop()
        start(process)

    monkeypatch.setattr(SpawnProcess, "start", fail_once)
    with pytest.raises(FailedJobsError, match="1 of 2 curves failed: good 1: no room for a pro"):
        list(traces([Made(1, tmp_path), Made(2, tmp_path)], 1))


@pytest.mark.long
def test_an_endless_job_is_given_up_and_not_tried_again(tmp_path, monkeypatch):
    """A second time it would have been done."""
    monkeypatch.setattr(workers, "LONGEST", 3.6)
    with pytest.raises(
        FailedJobsError, match=r"endless 1: it was given up after 0\.001 hours; start"
    ):
        list(traces([Made(1, tmp_path, "endless")], 1))


@pytest.mark.long
def test_failures_are_told_at_the_end_by_name(tmp_path):
    kinds = ["refused", "good", "broken", "good"]
    jobs = [Made(number, tmp_path, kind) for number, kind in enumerate(kinds)]
    found = []
    with pytest.raises(FailedJobsError) as error:
        found.extend(traces(jobs, 2))
    assert sorted(found) == [(1, 1), (3, 9)]
    told = str(error.value)
    assert told.startswith("2 of 4 curves failed: ")
    assert "refused 0: 0 does not fit" in told
    assert "broken 2: Strange: this is broken" in told
    assert "\n" not in told


@pytest.mark.long
def test_what_is_refused_alike_is_one_refusal(tmp_path):
    jobs = [Made(1, tmp_path, "alike"), Made(2, tmp_path, "alike"), Made(3, tmp_path)]
    with pytest.raises(Refusal) as refusal:
        list(traces(jobs, 2))
    assert str(refusal.value) == "nothing fits"


INTERRUPTED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.figures.test_workers import Made
from certibit.figures.pool import traces
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    try:
        list(traces([Made(1, folder, "asleep"), Made(2, folder, "stopped")], 2))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("moment", ["at once", "imports", "at work"])
def test_an_interrupt_of_the_group_ends_at_once(tmp_path, moment):
    """Also while the processes import, and with one that is stopped."""
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path), str(Path(__file__).parents[2])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, inherited)
    ready = {
        "at once": lambda: _workers(run.pid),
        "imports": lambda: len(_workers(run.pid)) == 2,
        "at work": lambda: (tmp_path / "1-0").exists() and (tmp_path / "2-0").exists(),
    }
    wait_for(ready[moment])
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=300)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    wait_for(lambda: not alive(run.pid))


def test_processes_leave_interrupts_to_others():
    """From their first moment: otherwise one that imports dies, and its job is done by another."""
    # a shell has its background jobs ignore interrupts, and a child inherits that
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    others = _workers(os.getpid())
    pool = workers.Workers(1)
    future = pool.submit(os.getpid)
    wait_for(lambda: _workers(os.getpid(), others))
    signal.signal(signal.SIGINT, inherited)
    (worker,) = _workers(os.getpid(), others)
    worker.send_signal(signal.SIGINT)
    assert future.result() == worker.pid
    pool.shutdown()


def deaf(mark):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    mark.touch()
    time.sleep(60)


def test_a_process_that_does_not_listen_is_killed(tmp_path):
    others = _workers(os.getpid())
    pool = workers.Workers(1)
    pool.submit(deaf, tmp_path / "mark")
    wait_for((tmp_path / "mark").exists)
    (worker,) = _workers(os.getpid(), others)
    pool.stop()
    worker.wait(5)


def _workers(process, others=()):
    """Return the processes that were spawned for work, but for those that other tests have left."""
    found = []
    for child in psutil.Process(process).children():
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):  # it has ended since
            if "spawn_main" in " ".join(child.cmdline()) and child not in others:
                found.append(child)
    return found
