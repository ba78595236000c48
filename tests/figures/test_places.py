"""Curves on clusters: each once, as computed here, whatever dies on the way."""

import importlib.util
import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from certibit import Budget, Store, problem
from certibit.cli import main
from certibit.cli.words import places
from certibit.data.errors import FailedJobsError, Refusal
from certibit.figures.comparison.compare import ContestantRun, compare
from certibit.figures.comparison.contestants import contestants
from certibit.figures.places import dask_workers, delivery, slurm
from certibit.figures.places.dask_workers import DaskWorkers
from certibit.figures.places.delivery import Stored, deliver
from certibit.figures.places.slurm import Slurm
from certibit.figures.pool import SCHEDULER, Call, in_file, results, traces
from tests.figures.curves import CurveOfDIANA, Deadly, Value
from tests.figures.missing_for_clusters import missing
from tests.figures.processes import wait_for

ROOT = Path(__file__).parents[2]
LONG = 150_000
"""Rounds of a curve that takes some seconds, so that there is a checkpoint."""


class Noted:
    """A place in this process that notes what it is given and what it returns."""

    def __init__(self):
        self.given, self.returned = [], []

    def outcomes(self, jobs):
        for place, job in jobs.items():
            self.given.append(place)
            self.returned.append(deliver(job))
            yield place, self.returned[-1]


def same(one, other):
    """Whether two traces are the same, bit for bit."""
    return all(np.array_equal(one.columns[name], other.columns[name], equal_nan=True)
               for name in one.columns | other.columns)  # fmt: skip


def curves(folder, number, **more):
    return [CurveOfDIANA(seed, Store(folder), **more) for seed in range(number)]


def test_keys_return_and_no_trace_and_what_is_stored_is_not_given_away(tmp_path):
    jobs = curves(tmp_path, 4)
    jobs[1].trace()
    place = Noted()
    got = dict(traces(jobs, place))
    assert place.given == [0, 2, 3]
    assert all(isinstance(one, Stored) for one in place.returned)
    keys = {key for one in place.returned for key in one.keys}
    assert {f"{key}.npz" for key in keys} < {path.name for path in tmp_path.iterdir()}
    for job in jobs:
        alone = replace(job, store=Store(tmp_path / "alone")).trace()
        assert same(got[job.seed], alone)
    again = Noted()
    assert same(dict(traces(jobs, again))[3], got[3])
    assert not again.given


def test_a_fresh_store_is_computed_again_once(tmp_path):
    jobs = curves(tmp_path, 2)
    old = [job.trace() for job in jobs]
    files = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    place = Noted()
    fresh = [replace(job, store=Store(tmp_path, fresh=True)) for job in jobs]
    got = dict(traces(fresh, place))
    assert place.given == [0, 1]
    assert all(same(got[i], old[i]) for i in (0, 1))
    anew = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert anew.keys() == files.keys()
    assert all(anew[name] > files[name] for name in files)


def test_a_folder_that_is_not_shared_is_named(tmp_path, monkeypatch):
    class Elsewhere(Noted):
        def outcomes(self, jobs):
            away = {place: replace(job, store=Store(tmp_path / "node"))
                    for place, job in jobs.items()}  # fmt: skip
            yield from super().outcomes(away)

    monkeypatch.setattr(delivery, "_PATIENCE", (0.0, 0.01))
    with pytest.raises(FailedJobsError, match="which is not in the folder here; use a folder"):
        list(traces(curves(tmp_path / "here", 1), Elsewhere()))


class SuspectedError(Exception):
    """That of distributed."""


class Scheduler:
    """A client whose scheduler suspects some jobs, and is started again once if asked."""

    def __init__(self, suspected=(), restarts=False):
        self.suspected, self.restarts, self.submitted = list(suspected), restarts, []
        self.clients, self.silent = 0, False

    def module(self):
        return SimpleNamespace(Client=self.client, KilledWorker=SuspectedError)

    def nthreads(self, client):
        if self.restarts and self.clients == 2 and not self.silent:
            self.silent, client.status = True, "connecting"
            raise OSError("gone")
        return {"one": 1, "two": 1}

    def client(self, address):
        self.clients += 1
        client = SimpleNamespace(status="running", close=lambda: None)
        client.nthreads = partial(self.nthreads, client)

        def submit(function, job, **options):
            self.submitted.append(job.number)
            if self.restarts and self.clients == 1 and len(self.submitted) == 3:
                client.status = "closed"
                return SimpleNamespace(status="cancelled")
            if job.number in self.suspected:
                self.suspected.remove(job.number)
                return SimpleNamespace(status="error", exception=SuspectedError)
            return SimpleNamespace(status="finished", result=lambda: function(job))

        client.submit = submit
        return client


@pytest.fixture
def scheduler(monkeypatch):
    monkeypatch.setattr(dask_workers, "_LOOK", 0.0)

    def started(**options):
        scheduler = Scheduler(**options)
        monkeypatch.setitem(sys.modules, "distributed", scheduler.module())
        return scheduler

    return started


def test_suspected_jobs_are_given_away_again(scheduler):
    dask = scheduler(suspected=[0, 1, 1])
    jobs = [Value(number) for number in range(4)]
    assert dict(traces(jobs, DaskWorkers("tcp://some:1"))) == {0: 0, 1: 1, 2: 4, 3: 9}
    assert sorted(dask.submitted) == [0, 0, 1, 1, 1, 2, 3]


def test_a_job_that_dies_too_often_is_given_up_and_the_others_go_on(scheduler):
    scheduler(suspected=[1] * 3)
    jobs = [Value(number) for number in range(4)]
    got = []
    with pytest.raises(FailedJobsError, match="1 of 4 curves failed: value 1: dask suspects it 3"):
        got.extend(traces(jobs, DaskWorkers("tcp://some:1")))
    assert dict(got) == {0: 0, 2: 4, 3: 9}


def test_a_scheduler_that_is_started_again_gets_what_is_left(scheduler, monkeypatch):
    dask = scheduler(restarts=True)
    monkeypatch.setenv(SCHEDULER, "tcp://some:1")
    jobs = [Value(number) for number in range(5)]
    with pytest.warns(UserWarning, match="tcp://some:1 was started again; start its workers again"):
        assert dict(traces(jobs)) == {number: number**2 for number in range(5)}
    assert dask.clients == 3


class Idle:
    """A client of a scheduler whose workers come after some looks."""

    status = "running"

    def __init__(self, looks):
        self.looks = looks

    def nthreads(self):
        self.looks -= 1
        return {} if self.looks > 0 else {"one": 1}

    def submit(self, function, job, **options):
        class Task:
            status = property(lambda task: "pending" if self.looks > 0 else "finished")
            result = partial(function, job)

        return Task()

    def close(self):
        pass


def test_a_scheduler_without_workers_is_named_once(scheduler, monkeypatch):
    """Workers that come later do the jobs."""
    scheduler()
    monkeypatch.setattr(sys.modules["distributed"], "Client", lambda address: Idle(50))
    monkeypatch.setattr(dask_workers, "_SILENT", 0.0)
    told = "tcp://some:1 has no workers; start some, by such as `dask worker tcp://some:1`"
    coming = traces([Value(2), Value(3)], DaskWorkers("tcp://some:1"))
    with pytest.warns(UserWarning, match=re.escape(told)) as warned:
        assert dict(coming) == {0: 4, 1: 9}
    assert len(warned) == 1


def test_no_workers_are_refused_after_a_stated_time(scheduler, monkeypatch):
    scheduler()
    monkeypatch.setattr(sys.modules["distributed"], "Client", lambda address: Idle(10**9))
    monkeypatch.setattr(dask_workers, "_PATIENCE", 0.06)
    with pytest.raises(Refusal, match=r"tcp://some:1 has no workers; .* for 0.001 minutes"):
        list(traces([Value(2)], DaskWorkers("tcp://some:1")))


class Queue:
    """An executor whose tasks wait for ever; at some stages it sends a signal to this process."""

    def __init__(self, number, stages):
        self.number, self.stages, self.waiting = number, stages, {}

    def reached(self, stage):
        if stage in self.stages:
            signal.raise_signal(self.number)

    def map_array(self, function, jobs):
        self.waiting = {str(k): job for k, job in enumerate(jobs)}
        self.reached("submission")
        return [SimpleNamespace(job_id=name, cancel=partial(self.cancel, name),
                                paths=SimpleNamespace(result_pickle=Path("none")))
                for name in self.waiting]  # fmt: skip

    def queued(self):
        self.reached("wait")
        return set(self.waiting)

    def cancel(self, name, check):
        self.reached("cancel")
        del self.waiting[name]


@pytest.fixture
def signals_as_at_a_terminal():
    """A process that a script starts in the background ignores SIGINT."""
    usual = {signal.SIGINT: signal.default_int_handler}
    usual |= {signal.SIGTERM: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals_as_at_a_terminal")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("stages", [["submission"], ["wait"], ["wait", "cancel"]], ids=str)
def test_a_signal_cancels_what_is_queued(monkeypatch, name, stages):
    number = getattr(signal, name)
    queue = Queue(number, stages)
    monkeypatch.setattr(slurm, "_LOOK", 0.0)
    monkeypatch.setattr(Slurm, "_executor", lambda place: queue)
    monkeypatch.setattr(Slurm, "_queued", lambda place: queue.queued())
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises((SystemExit, KeyboardInterrupt)) as end:
        list(traces([Value(1), Value(2), Value(3)], Slurm(Path())))
    assert queue.waiting == {}
    assert name == "SIGINT" or end.value.code == 128 + number
    after = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert before == after


def test_a_scheduler_that_does_not_answer_is_refused(monkeypatch):
    def unreachable(address):
        raise OSError("timed out")

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(Client=unreachable))
    with pytest.raises(Refusal, match="no dask scheduler answers at tcp://nowhere:1: timed out"):
        list(traces([Value(1)], DaskWorkers("tcp://nowhere:1")))


@pytest.mark.parametrize(
    ("module", "place"), [("distributed", DaskWorkers("tcp://a:1")), ("submitit", Slurm(Path()))]
)
def test_a_package_that_is_missing_is_named(monkeypatch, module, place):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Refusal, match=r"install certibit\[cluster\]"):
        list(traces([Value(1)], place))


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["--on", "mars"], "--on mars is no place; choose local, slurm or such as tcp://HOST:8786"),
        (["--partition", "main"], "--array-parallelism are SLURM's; give --on slurm"),
        (["--on", "slurm", "--jobs", "2"], "with --on slurm leave it out"),
    ],
)
def test_places_that_do_not_fit_are_refused(capsys, tmp_path, words, fragment):
    assert main(["demo", "--output", str(tmp_path), *words]) == 2
    assert fragment in capsys.readouterr().err


def expected(folder, jobs):
    """Compute the same curves here, with another store."""
    return [replace(job, store=Store(folder)).trace() for job in jobs]


class Collected(threading.Thread):
    """Takes what comes of jobs, and the error at the end."""

    def __init__(self, jobs, place):
        super().__init__(daemon=True)
        self.jobs, self.place, self.got, self.told = jobs, place, {}, ""

    def run(self):
        try:
            for number, trace in traces(self.jobs, self.place):
                self.got[number] = trace
        except FailedJobsError as error:
            self.told = str(error)


needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None,
    reason="dask is not here: pip install distributed",
)


@contextmanager
def dask_processes(words, folder):
    """Start a scheduler or a worker in a process group of its own."""
    with folder.joinpath(f"{words[0]}.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            cwd=folder, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def listening(number):
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", number)) == 0


@needs_dask
@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_dask_loses_nothing(tmp_path):
    """One worker is killed, the scheduler is started again, and one job kills all its workers."""
    number = port()
    address = f"tcp://127.0.0.1:{number}"
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(number), "--no-dashboard"]
    worker = ["worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard",
              "--local-directory", str(tmp_path / "local"), "--death-timeout", "120"]  # fmt: skip
    store = tmp_path / "traces"
    jobs = [*curves(store, 6, iterations=LONG), Deadly(1, tmp_path)]
    coming = Collected(jobs, DaskWorkers(address))
    with dask_processes(scheduler, tmp_path) as first:
        wait_for(lambda: listening(number))
        with dask_processes(worker, tmp_path) as nannies:
            coming.start()
            wait_for(lambda: list(store.glob("*.unfinished")))
            computing = [p for p in psutil.Process(nannies.pid).children(recursive=True)
                         if "spawn_main" in " ".join(p.cmdline())]  # fmt: skip
            computing[0].kill()
            wait_for(lambda: coming.got, 300)
            os.killpg(first.pid, signal.SIGKILL)
            first.wait()
    with dask_processes(scheduler, tmp_path), dask_processes(worker, tmp_path):
        coming.join(300)
    got = coming.got
    assert coming.told.startswith("1 of 7 curves failed: value 1")
    assert sorted(got) == list(range(6))
    for seed, trace in enumerate(expected(tmp_path / "alone", jobs[:6])):
        assert same(got[seed], trace)
    assert len(list(store.glob("*.npz"))) == 6
    assert not list(store.glob("*.unfinished"))


def slurm_answers():
    if shutil.which("sinfo") is None:
        return False
    asked = subprocess.run(["sinfo"], capture_output=True, timeout=20, check=False)
    return asked.returncode == 0


needs_slurm = pytest.mark.skipif(
    importlib.util.find_spec("submitit") is None or not slurm_answers(),
    reason="no SLURM answers: pip install submitit, and a cluster where sinfo does",
)


@needs_slurm
@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_slurm_loses_nothing(tmp_path, monkeypatch):
    """One task is killed, one is preempted, and one kills its process every time."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    store = tmp_path / "traces"
    jobs = [*curves(store, 4, iterations=LONG), Deadly(1, tmp_path)]
    place = Slurm(tmp_path / "slurm", minutes=5, array_parallelism=2)
    coming = Collected(jobs, place)

    def running():
        return [p for p in psutil.process_iter(["cmdline"])
                if "submitit.core._submit" in " ".join(p.info["cmdline"] or [])
                and str(tmp_path) in " ".join(p.info["cmdline"])]  # fmt: skip

    coming.start()
    wait_for(lambda: list(store.glob("*.unfinished")))
    for process in running()[:2]:  # the step that runs the task, and its child
        with suppress(psutil.NoSuchProcess):
            process.kill()
    wait_for(lambda: coming.got, 300)
    queue = subprocess.run(["squeue", "--me", "-h", "-r", "-t", "R", "-o", "%i"],
                           capture_output=True, text=True, check=True)  # fmt: skip
    requeued = queue.stdout.split()[:1]
    for task in requeued:
        subprocess.run(["scontrol", "requeue", task], check=True)
    coming.join(400)
    got = coming.got
    assert requeued
    assert coming.told.startswith("1 of 5 curves failed: value 1: its task has died")
    assert sorted(got) == list(range(4))
    for seed, trace in enumerate(expected(tmp_path / "alone", jobs[:4])):
        assert same(got[seed], trace)
    assert not list(store.glob("*.unfinished"))
    assert tmp_path.joinpath("deaths").read_text().count("dead") == delivery.MOST_DEATHS


def test_what_is_missing_for_a_cluster_is_named(monkeypatch):
    assert all("tests" not in sentence for sentence in missing())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    told = list(missing())
    assert [sentence.split()[0] for sentence in told] == ["distributed", "submitit", "sinfo"]


def scaled(x):
    return 3 * x


def test_calls_of_functions_travel_too():
    noted = Noted()
    calls = [Call(str(x), scaled, (x,)) for x in range(4)]
    assert results(calls, noted) == results(calls, 1) == [0, 3, 6, 9]
    assert noted.returned == [0, 3, 6, 9]


@pytest.mark.long
def test_a_check_is_a_job(capsys, monkeypatch):
    words, told, noted = ["check", "quadratic:d=3@3", "gd", "--seeds", "2"], [], Noted()
    for place in (None, noted):
        monkeypatch.setattr(places, "read_place", lambda chosen, folder, place=place: place)
        assert main(words) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert noted.given == [0]


@pytest.mark.long
def test_planted_faults_are_jobs():
    """`make faults --on PLACE`: what catches a fault, and the false alarms of a subject."""
    file, noted = str(ROOT / "tests/theory/planted/test_planted_faults.py"), Noted()
    names = ["gd: step uphill", "gd: sum instead of mean"]
    found = results([Call(name, in_file, (file, "findings", name)) for name in names], noted)
    assert noted.given == [0, 1]
    assert all(part and check for caught in found for part, check in caught[:1])
    assert all(found)
    alarms = Call("alarms", in_file, (file, "false_alarms", 0, 0))
    assert results([alarms], noted) == [[]]


def test_methods_are_compared_in_several_processes(tmp_path):
    solved = problem("breast-cancer@9", kappa=50)
    methods, options = ["agd", "gd", "diana+natural"], {"target": 1e-2, "seeds": 2}
    alone = compare(solved, methods, **options)
    noted, stored = Noted(), Store(tmp_path)
    found = compare(solved, methods, store=stored, processes=noted, **options)
    assert noted.given == [0, 1, 2]
    assert all(isinstance(key, Stored) for key in noted.returned)
    assert all(map(same, found.traces, alone.traces))
    assert compare(solved, methods, store=stored, processes=noted, **options).traces
    assert noted.given == [0, 1, 2]  # what is stored is not given away
    assert all(map(same, compare(solved, methods, store=stored, processes=2, **options).traces,
                   alone.traces))  # fmt: skip
    with pytest.raises(Refusal, match="without a store"):
        compare(solved, methods, processes=2, **options)


def test_a_curve_does_not_carry_the_data_of_a_problem_with_a_name(tmp_path):
    options = (("kappa", 50.0),)
    solved = problem("breast-cancer@9", **dict(options))
    (one,) = contestants(solved, ["diana+natural"])
    budget = {"seeds": 2, "budget": Budget(rounds=5)}
    runs = {named: ContestantRun(one, Store(tmp_path), budget, named)
            for named in (None, ("breast-cancer@9", options))}  # fmt: skip
    sizes = [len(pickle.dumps(run)) for run in runs.values()]
    assert sizes[1] < 4000 < solved.rows.stack.nbytes < sizes[0]
    traces = [pickle.loads(pickle.dumps(run)).trace() for run in runs.values()]
    assert same(*traces)
    assert len(list(tmp_path.glob("*.npz"))) == 1  # the same key
