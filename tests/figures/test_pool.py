import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certibit import METHODS, Refusal, Store, Trace
from certibit.data.files.archive import read_record
from certibit.figures.locodl import reproduction
from certibit.figures.locodl.panels import Curve, Figure, Job
from certibit.figures.locodl.recipes import compressed, demonstration, paper_figure
from certibit.figures.locodl.reproduction import reproduce, reproduce_paper
from certibit.figures.pool import Work, traces
from certibit.solvers.store import store
from certibit.theory.verdict import UNDECIDED
from tests.figures.processes import alive, wait_for


@pytest.fixture
def here(serial, monkeypatch):
    """Run jobs in this process and list what is computed: (method, compressor)."""
    computed = []

    def counted(experiment, **options):
        computed.append((experiment.method.name, experiment.compressor.name))
        return run(experiment, **options)

    run = store.simulate
    monkeypatch.setattr(store, "simulate", counted)
    return computed


@pytest.fixture
def short():
    """A panel of the demonstration with runs that end early."""
    figure = demonstration()
    curves = (*compressed("locodl", 2), *compressed("diana", 2))
    panel = replace(figure.panels[1], bits=2e4, floor=1e-2, most_bits=None, curves=curves)
    return replace(figure, panels=(panel,))


def test_starting_again_computes_only_what_is_missing(here, short, tmp_path, monkeypatch):
    curves = short.panels[0].curves
    counted, stop_at = store.simulate, 4

    def stopped(*arguments, **options):
        if len(here) == stop_at:
            raise KeyboardInterrupt
        return counted(*arguments, **options)

    monkeypatch.setattr(store, "simulate", stopped)
    with pytest.raises(KeyboardInterrupt):
        reproduce([short], Work(tmp_path, 2, processes=1))
    names = [(curve.method, curve.compressor) for curve in curves]
    assert here == names[:stop_at]
    assert not list(tmp_path.glob("demo.*"))

    monkeypatch.setattr(store, "simulate", counted)
    here.clear()
    drawn = reproduce([short], Work(tmp_path, 2, processes=1))
    assert here == names[stop_at:]
    content = [path.read_bytes() for path in drawn]

    here.clear()
    assert reproduce([short], Work(tmp_path, 2, processes=1)) == drawn
    assert here == []
    assert [path.read_bytes() for path in drawn] == content


@pytest.fixture
def paper(monkeypatch):
    """Put short runs, without a file, in place of the paper's figures and of Table 2."""
    panel = replace(
        demonstration().panels[0], kappa=50.0, bits=1e5, floor=1e-5, most_bits=None,
        curves=paper_figure(2).panels[1].curves[:20],
    )  # fmt: skip
    kept = [
        c for c in panel.curves if c.kind in (None, "rand-k+natural") and c.method != "scaffold"
    ]

    def figures(number, version):
        curves = tuple(replace(c, rule="b") if c.method == "diana" else c for c in kept)
        curves = tuple(kept) if version == "paper" else curves
        panels = (replace(panel, title=f"(a) {version}", curves=curves),)
        return {"raw data": Figure(f"figure{number}-{version}", panels)}

    table = replace(panel, title="Table 2", curves=(Curve("gd", None, "optimal"),))
    monkeypatch.setattr("certibit.figures.locodl.reproduction.data_figures", figures)
    monkeypatch.setattr("certibit.figures.locodl.reproduction.all_rules", lambda: table)
    monkeypatch.setattr("certibit.figures.locodl.reproduction.FIGURES", (2,))
    return len(kept)


@pytest.mark.long
def test_the_paper_is_reproduced_with_verdicts_and_table(here, paper, monkeypatch, tmp_path):
    """Again it is the same without a run; as one figure of several it has no table."""
    told = []
    work = Work(tmp_path, 2, processes=1, tell=lambda write: told.append(write()))
    paths = reproduce_paper([2], work)
    names = [f"figure2-{v}.{s}" for v in ("paper", "best") for s in ("svg", "png", "json")]
    assert sorted(path.name for path in paths) == sorted(
        [*names, "verdicts.json", "verdicts.txt", "table2.txt"]
    )
    # DIANA and GD have two sets of parameters, the other curves are computed once
    assert len(here) == paper + 2
    assert len(set(here)) == paper
    judged = read_record(tmp_path / "verdicts.json")
    claims = {c["claim"]: c for c in judged["figures"][0]["panels"][0]["claims"]}
    assert len(claims) == 5
    assert {c["outcome"] for c in claims.values()} == {UNDECIDED}, "two seeds are not enough"
    table = (tmp_path / "table2.txt").read_text()
    assert told[-3] == "\n" + table.removesuffix("\n")
    assert told[-1].endswith(str(tmp_path / "verdicts.txt"))

    before = {path: path.read_bytes() for path in paths}
    here.clear()
    monkeypatch.setattr("certibit.figures.locodl.reproduction.FIGURES", (1, 2))
    again = reproduce_paper([2], work)
    assert here == []
    assert set(paths) - set(again) == {tmp_path / "table2.txt"}
    assert {path: path.read_bytes() for path in paths} == before


def test_the_longest_curves_are_started_first(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(
        "certibit.figures.locodl.reproduction.traces",
        lambda jobs, processes: iter(started.extend(jobs) or ()),
    )
    with pytest.raises(KeyError):
        reproduce_paper([2, 4], Work(tmp_path))
    assert started[0].panel.problem == "w1a@619"
    sizes = [job.panel.size for job in started]
    assert sizes == sorted(sizes, reverse=True)
    assert len({job.key for job in started}) == len(started)


def test_a_trace_is_that_of_the_recipe(short, tmp_path):
    panel = short.panels[0]
    curve = replace(panel.curves[0], rule="ours")
    trace = Job(panel, curve, 2, Store(tmp_path)).trace()
    settings = trace.specification
    assert settings["problem"]["name"] == panel.problem
    assert settings["problem"]["kappa"] == pytest.approx(panel.kappa)
    assert settings["method"]["name"] == curve.method
    assert settings["compressor"] == curve.compressor
    assert (settings["budget"]["bits"], settings["budget"]["gap"]) == (panel.bits, panel.floor)
    paper = Job(panel, panel.curves[0], 2, Store(tmp_path)).trace()
    assert paper.specification["method"] != settings["method"]


@pytest.mark.parametrize("processes", [0, -1])
def test_no_processes_are_refused(processes):
    with pytest.raises(Refusal, match=f"{processes} parallel jobs are not possible"):
        list(traces([], processes))


def test_jobs_name_the_folder_of_traces_in_full(here, short, tmp_path, monkeypatch):
    """A worker of a cluster is somewhere else, and a relative folder is another one there."""
    seen = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reproduction, "traces", lambda jobs, processes: seen.extend(jobs) or [])
    reproduce([short], Work(Path("results"), 1))
    assert {job.store.folder for job in seen} == {tmp_path / "results" / "traces"}


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="signals and process groups of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_stopped_half_way_it_leaves_whole_files_and_no_process(tmp_path, number, code):
    command = [sys.executable, "-m", "certibit", "demo", "--seeds", "1", "--jobs", "2"]
    # A shell has its background jobs ignore interrupts, and a child inherits that.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*command, "--output", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, inherited)
    wait_for(lambda: list(tmp_path.glob("traces/*.npz")) or process.poll() is not None)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == code
    assert "Traceback" not in out + err
    wait_for(lambda: not alive(process.pid))
    kept = list(tmp_path.glob("traces/*.npz"))
    assert 0 < len(kept) < len(METHODS)
    for path in kept:
        assert np.all(np.isfinite(Trace.load(path).columns["gap"]))
    if number == signal.SIGINT:
        assert err.splitlines()[-1] == "certibit: interrupted"
        assert not [path for path in tmp_path.rglob("*") if path.suffix in {".tmp", ".part"}]
