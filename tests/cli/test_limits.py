"""Limits of runs on the command line: what ends runs, what is told of it, and the bar."""

import json

import pytest
from command_lines import Terminal
from tqdm import tqdm

from certibit import METHODS, Trace
from certibit.cli import main
from certibit.cli.commands import results
from certibit.cli.words.progress import progress_bar
from certibit.figures.locodl import recipes
from certibit.figures.locodl.panels import Curve, Figure, Panel
from certibit.theory.checks import standard

LIMITS = {"--rounds": "rounds", "--iterations": "iterations", "--gradients": "gradients"}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_ends_every_run(capsys, limit):
    words = ["run", "breast-cancer@9", "gd", "--kappa", "50", "--seeds", "1", limit, "3", "--json"]
    assert main(words) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["ending"] == LIMITS[limit]
    assert run[LIMITS[limit]] == 3
    assert main(words[:-1]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"1 of 1 runs ended at the limit of {run['ending']}; the median of f - f* is 0." in told


def test_runs_that_stagnate_are_told(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("certibit.solvers.runs.budget.PATIENCE", 50)
    method = ["breast-cancer@9", "--kappa", "50", "--seeds", "2", "--until", "1e-9"]
    still = ["run", *method[:1], "gd", *method[1:], "--set", "gamma=1e-300"]
    assert main(still) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "2 of 2 runs stagnated: the best f - f*, or |grad f|^2, has not fallen by 1 %" in told
    compared = ["compare", *method[:1], "gd[gamma=1e-300]", *method[1:]]
    assert main([*compared, "--output", str(tmp_path)]) == 0
    assert "0 of 2 runs arrive, 2 stagnate" in capsys.readouterr().out


@pytest.fixture
def short(monkeypatch):
    """Draw two curves in place of all methods."""
    curves = (Curve("gd"), Curve("agd"))
    panel = Panel("short", "breast-cancer@3", 100.0, 1e6, 1e-3, curves)
    monkeypatch.setattr(recipes, "demonstration", lambda: Figure("demo", (panel,)))


@pytest.mark.filterwarnings("default::certibit.solvers.store.store.CutWarning")
def test_what_a_limit_cuts_is_said_and_never_taken_for_finished(capsys, short, tmp_path):
    words = ["demo", "--seeds", "2", "--jobs", "1"]
    assert main([*words, "--rounds", "3"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("certibit: every run is limited: the results go to results/limited")
    assert sorted(line for line in told if "cut" in line) == [
        f"certibit: 2 of 2 runs of {name} with identity on breast-cancer@3 were cut at 3 rounds"
        for name in ("agd", "gd")
    ]
    results = tmp_path / "results"
    assert [file.name for file in results.iterdir()] == ["limited"]
    assert main(words) == 0
    assert "cut" not in capsys.readouterr().err
    for file in (results / "traces").glob("*.npz"):
        assert set(Trace.load(file).ending) == {"gap"}
    assert len(list((results / "traces").glob("*.npz"))) == 2
    assert (results / "demo.json").is_file()


@pytest.mark.long
@pytest.mark.parametrize("limited", [True, False])
def test_limits_of_theory_end_its_whole_runs(capsys, monkeypatch, limited):
    monkeypatch.setattr(standard, "tasks", lambda: [(METHODS["gd"], "optimal", None, "logistic")])
    monkeypatch.setattr(results, "tasks", standard.tasks)
    assert main(["figures", "theory", "--seeds", "1", *(["--rounds", "3"] if limited else [])]) == 0
    told = capsys.readouterr()
    assert ("in part" in told.out.split("margin:")[0]) == limited
    assert ("certibit: every run is limited" in told.err) == limited


@pytest.mark.long
def test_a_limit_beyond_what_runs_need_cuts_nothing(capsys, short):
    assert main(["demo", "--seeds", "2", "--jobs", "1", "--rounds", "9999"]) == 0
    assert "cut" not in capsys.readouterr().err


def test_the_bar_tells_the_mean_pace_and_may_fall(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    with progress_bar("gd") as tell:
        (bar,) = tqdm._instances
        for fraction in (0.5, 0.25):
            tell(fraction)
            assert bar.n == fraction
        assert bar.smoothing == 0.0
    assert bar.n == 1.0
