"""Jobs as arrays of SLURM, by submitit."""

import logging
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certibit.data.errors import Refusal
from certibit.figures.places.delivery import MOST_DEATHS, LostJobError, Traceable, deliver

_LOOK, _GRACE = 1.0, 10.0
"""Seconds between two looks at the queue, and after which a task that has left it is dead."""
_MINUTES = 24 * 60
_NOTICE = 30
"""Seconds before the wall time at which a task is queued again, or a quarter of a short one."""
_ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_ENDS = 1000
"""How often a task that has run into its wall time goes on from its checkpoint."""


class _Requeued:
    """A job as a task of SLURM, which is queued again at its wall time or if it is preempted."""

    def __call__(self, job: Traceable[Any]) -> Any:
        """Do a job."""
        return deliver(job)

    def checkpoint(self, job: Traceable[Any]) -> Any:
        """Have the same task queued; the job goes on from the checkpoint of its store."""
        from submitit.helpers import DelayedSubmission  # noqa: PLC0415  (an optional extra)

        return DelayedSubmission(self, job)


@dataclass(frozen=True)
class Slurm:
    """A cluster with SLURM, whose nodes see the folders of results and of the program.

    Parameters
    ----------
    folder : Path
        Where submitit writes the scripts, logs and results of tasks.
    partition : str, optional
        By default that of the cluster.
    minutes : int, optional
        Wall time of a task, by default a day; a curve that needs more goes on in the next task.
    array_parallelism : int, optional
        Most tasks at once.
    """

    folder: Path
    partition: str | None = None
    minutes: int | None = None
    array_parallelism: int | None = None

    def outcomes(self, jobs: Mapping[int, Traceable[Any]]) -> Iterator[tuple[int, Any]]:
        """Submit arrays of jobs and yield what becomes of each; see ``Place``.

        Tasks are cancelled if this process is ended by SIGINT, SIGTERM or SIGHUP.

        Raises
        ------
        Refusal
            If submitit or SLURM is missing.
        """
        executor = self._executor()
        tasks: dict[int, Any] = {}
        gone: dict[int, float] = {}
        deaths = dict.fromkeys(jobs, 0)
        ended = _handled(_end, None, signal.SIG_IGN, signal.default_int_handler)
        try:
            self._submit(executor, jobs, tasks)
            while tasks:
                time.sleep(_LOOK)
                queued, dead = self._queued(), {}
                for place, task in list(tasks.items()):
                    if task.paths.result_pickle.exists():
                        del tasks[place]
                        yield place, task.exception() or task.result()
                    elif queued is None or task.job_id in queued:
                        gone.pop(place, None)
                    elif time.monotonic() - gone.setdefault(place, time.monotonic()) > _GRACE:
                        deaths[place] += 1
                        del tasks[place], gone[place]
                        if deaths[place] >= MOST_DEATHS:
                            yield place, _lost(task)
                        else:
                            dead[place] = jobs[place]
                self._submit(executor, dead, tasks)
        finally:
            former = _handled(signal.SIG_IGN, None)
            for task in tasks.values():
                task.cancel(check=False)
            _restore(former)
            _restore(ended)

    def _executor(self) -> Any:
        try:
            import submitit  # noqa: PLC0415  (an optional extra)
        except ImportError:
            raise Refusal("submitit is not installed; install certibit[cluster]") from None
        if shutil.which("sbatch") is None:
            raise Refusal("there is no SLURM here (no sbatch); start this on a login node")
        logging.getLogger("submitit").setLevel(logging.ERROR)
        executor = submitit.AutoExecutor(self.folder, "slurm", slurm_max_num_timeout=_ENDS)
        minutes = self.minutes or _MINUTES
        executor.update_parameters(
            name="certibit",
            timeout_min=minutes,
            cpus_per_task=1,
            slurm_signal_delay_s=min(_NOTICE, 15 * minutes),
        )
        if self.partition is not None:
            executor.update_parameters(slurm_partition=self.partition)
        if self.array_parallelism is not None:
            executor.update_parameters(slurm_array_parallelism=self.array_parallelism)
        return executor

    def _submit(
        self, executor: Any, jobs: Mapping[int, Traceable[Any]], tasks: dict[int, Any]
    ) -> None:
        """Submit an array of jobs and add its tasks; a signal meanwhile is handled afterwards."""
        if not jobs:
            return
        late: list[int] = []
        former = _handled(lambda number, frame: late.append(number), None, signal.SIG_IGN)
        try:
            submitted = executor.map_array(_Requeued(), list(jobs.values()))
            tasks.update(zip(jobs, submitted, strict=True))
        finally:
            _restore(former)
        for number in late:
            signal.raise_signal(number)

    def _queued(self) -> set[str] | None:
        """Return the tasks of this user that wait or run; None if SLURM does not answer."""
        asked = subprocess.run(
            ["squeue", "--me", "--noheader", "--array", "--format=%i"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return None if asked.returncode else set(asked.stdout.split())


def _handled(handler: Any, *left: Any) -> dict[int, Any]:
    """Handle the signals that end a process, but for those whose handler is left.

    Returns the former handlers; none outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    former = {number: signal.getsignal(number) for number in _ENDING}
    former = {number: known for number, known in former.items() if known not in left}
    for number in former:
        signal.signal(number, handler)
    return former


def _restore(former: Mapping[int, Any]) -> None:
    for number, handler in former.items():
        signal.signal(number, handler)


def _end(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def _lost(task: Any) -> LostJobError:
    return LostJobError(
        f"its task has died {MOST_DEATHS} times, the last one as {task.job_id}: see "
        f"{task.paths.stderr}; start again, with more memory for a task, to go on"
    )
