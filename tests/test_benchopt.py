"""The solvers for benchopt: its own test suite accepts them, and they find the minimum."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

BENCHMARK = Path(__file__).parents[1] / "docs" / "benchopt"


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory):
    """A copy, as benchopt writes into the folder of a benchmark."""
    ignored = shutil.ignore_patterns("__*", "outputs")
    return shutil.copytree(BENCHMARK, tmp_path_factory.mktemp("b") / "benchmark", ignore=ignored)


def benchopt(*words):
    """Run a command of benchopt, with the python of these tests first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "benchopt", *map(str, words)],
        capture_output=True, text=True, timeout=300, check=False, env=os.environ | {"PATH": path},
    )  # fmt: skip


@pytest.mark.long
def test_its_own_suite_accepts_them(benchmark):
    ran = benchopt("test", benchmark, "--skip-install", "-p", "no:cacheprovider", "-rA")
    assert ran.returncode == 0, ran.stdout
    assert "PASSED" in ran.stdout
    assert "test_solver_run" in ran.stdout


@pytest.mark.long
def test_they_find_the_minimum_and_their_bits_are_counted(benchmark):
    small = ("-d", "simulated[N=120,d=6]", "-o", "*[mu=0.001,n_clients=3]", "-r", 1, "-n", 60)
    chosen = 'certibit["method, compressor"=[("locodl","natural"),("agd",None)]]'
    ran = benchopt("run", benchmark, *small, "-s", chosen, "--no-plot", "--output", "small")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    runs = pd.read_parquet(benchmark / "outputs" / "small.parquet")
    least = runs.groupby("solver_name")["objective_value"].min()
    assert len(least) == 2
    assert np.ptp(least) < 1e-9
    for _, each in runs.groupby("solver_name"):
        assert (np.diff(each["objective_bits"]) > 0).all()
    first = runs[runs["p_solver_method"] == "agd"].iloc[1]
    assert first["objective_bits"] == 32 * 6 * first["objective_rounds"], "agd sends 32-bit floats"
    file = importlib.util.spec_from_file_location("bits", benchmark / "plots" / "bits.py")
    figure = importlib.util.module_from_spec(file)
    file.loader.exec_module(figure)
    where = first["dataset_name"], first["objective_name"]
    up, both = (
        next(
            curve["x"][1]
            for curve in figure.Plot().plot(runs, *where, weight)
            if "agd" in curve["label"]
        )
        for weight in (0.0, 0.5)
    )
    assert both == up + 0.5 * first["objective_downlink_bits"] > up == first["objective_bits"]
