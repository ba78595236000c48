"""Trainings of a recurrent network: curves, verdicts, and all of it on a small plan."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from certibit import Store, compressor  # noqa: E402
from certibit.data.deep.docstring_text import digit_sequences  # noqa: E402
from certibit.figures.deep import deep_experiments  # noqa: E402
from certibit.figures.deep.deep_experiments import (  # noqa: E402
    CASES,
    EVERYONE,
    PARTIAL_ROUNDS,
    READERS,
    SIMILAR,
    draw_trainings,
)
from certibit.figures.deep.deep_verdicts import (  # noqa: E402
    clipping_verdicts,
    compression_verdicts,
)
from certibit.figures.deep.networks import NETWORKS, Case, TrainingPlan  # noqa: E402
from certibit.figures.deep.rivals import RIVALS  # noqa: E402
from certibit.figures.deep.trainings import Training, TrainingCurve, best_curve  # noqa: E402
from certibit.figures.pool import Work  # noqa: E402
from certibit.figures.report.page import rendered  # noqa: E402
from certibit.figures.text.verdicts import FAILS, SUPPORTED, UNDECIDED  # noqa: E402

LOSS = NETWORKS["digits"].loss
TINY = TrainingPlan(steps=16, etas=(0.5, 1.0), taus=(1.0,), seeds=1, points=2, images=80)


def test_digits_are_sequences_of_clients_that_differ_in_labels():
    unlike, alike = digit_sequences(0), digit_sequences(100, seeds=(0, 1))
    assert unlike.inputs.shape == (8, 179, 8, 8)
    assert unlike.d == 3 * 32 * (8 + 32 + 2) + 33 * 10
    kinds = [len(np.unique(labels)) for labels in unlike.labels.numpy()]
    assert max(kinds) <= 3
    assert min(len(np.unique(labels)) for labels in alike.labels.numpy()) == 10
    assert (alike.x_0[..., 0] == unlike.x_0[..., 0]).all()
    assert (alike.x_0[..., 0] != alike.x_0[..., 1]).any()


def outcomes(verdicts):
    return [verdict.outcome for verdict in verdicts]


def curve(end, right=0.9, speed=1.0, diverged=0.0, bits=1.0, first=2.0):
    """Return a curve whose loss falls, by default from 2, in 10 points and for 3 seeds."""
    loss = np.repeat(np.geomspace(first, end, 10)[:, None], 3, axis=1)
    spent = np.arange(10.0)
    right = np.full_like(loss, right)
    return TrainingCurve(1.0, 1.0, spent / speed, spent, bits * spent, loss, right, diverged)


def test_costs_are_between_points():
    one = curve(0.02)
    assert one.cost("rounds", 2.0) == 0
    assert one.cost("rounds", 0.2) == pytest.approx(4.5)
    assert one.cost("rounds", 0.01) == np.inf
    assert (one.end, one.right) == (pytest.approx(0.02), 0.9)


def test_claims_about_compression_are_supported_or_fail():
    both = {(SIMILAR[1], "episode"): curve(LOSS / 2, bits=9), (SIMILAR[1], "ef21-sgdm 1 %"):
            curve(LOSS / 2, bits=1)}  # fmt: skip
    assert outcomes(compression_verdicts(both, SIMILAR[1])) == [SUPPORTED]
    both[SIMILAR[1], "episode"] = curve(LOSS / 2, bits=0.1)
    assert outcomes(compression_verdicts(both, SIMILAR[1])) == [FAILS]


def test_what_needs_clipping_is_judged_on_texts_too():
    case = READERS[1]
    good = {(case, name): curve(0.1) for name in EVERYONE}
    good |= {(case, name): curve(3.0, diverged=0.5) for name in ("scaffold", "fedavg")}
    assert outcomes(clipping_verdicts(good, [case])) == [SUPPORTED]
    good[case, "fedavg"] = good[case, "scaffold"] = curve(0.05)
    assert outcomes(clipping_verdicts(good, [case])) == [FAILS]


@pytest.mark.long
def test_every_method_fits_its_network():
    """Made with one step size, each is one of those whose bits are counted."""
    for case, names in CASES:
        problem = NETWORKS[case.network].problem(case, (0,), TINY)
        for name in names:
            compressor(RIVALS[name].compressor).check(problem.d)
            assert RIVALS[name].make(0.1, 1.0, case.I, case.S).schedule


def test_figures_are_drawn(tmp_path):
    curves = {(case, "episode"): curve(0.01) for case in SIMILAR}
    panels = [("a panel", case, ("episode",)) for case in SIMILAR]
    paths = draw_trainings("three", panels, curves, ("rounds", "steps", "bits"), tmp_path)
    assert [path.suffix for path in paths] == [".svg", ".png"]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_the_best_pair_of_a_grid_is_drawn(tmp_path):
    """Its points are those of a run of that pair alone, with the test accuracy of the network."""
    job = Training(TINY, Case(30.0), "celgc", Store(tmp_path))
    trace = job.trace()
    found = best_curve(job, trace)
    ends = trace.final("gap")
    assert (found.eta, found.end) == (TINY.etas[int(np.argmin(ends))], ends.min())
    assert found.rounds.tolist() == [0, 2, 4]
    assert found.steps.tolist() == [0, 8, 16]
    assert found.bits.tolist() == [0, 2 * 32 * 4362, 4 * 32 * 4362]
    again = job.trace()
    assert (again.columns["lyapunov"] == trace.columns["lyapunov"]).all()
    problem = digit_sequences(30, (0,), images=80)
    assert found.accuracy[0, 0] == problem.accuracy(problem.x_0)[0]


def keys(value):
    """All keys in a JSON value."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    return set(value).union(*map(keys, value.values())) if isinstance(value, dict) else set()


def test_the_record_has_what_the_report_reads_and_its_page_names():
    diverged = curve(0.01)
    diverged.loss[-1] = np.inf
    curves = {(SIMILAR[0], "celgc"): diverged, (PARTIAL_ROUNDS[0], "episode"): curve(0.01)}
    verdicts = clipping_verdicts({(SIMILAR[0], name): curve(0.1) for name in EVERYONE}, SIMILAR[:1])
    record = deep_experiments._record(TINY, curves, verdicts)
    json.dumps(record, allow_nan=False)
    assert rendered("claims", record, Path("deep.json"))[1] == outcomes(verdicts)
    first, second = record["panels"]
    assert (second["title"], second["d"]) == ("30 %, I = 4, S = 4", 4362)
    assert first["curves"][0]["loss"][-1] == [None] * 3
    page = Path(__file__).parents[2].joinpath("docs/json.md").read_text(encoding="utf-8")
    rows = page.split("| `deep/report.json` |")[1].split("\n\n")[0]
    assert {key for key in keys(record) if f"`{key}`" not in rows} == set()
    assert set(re.findall("`([a-z_]+)`", rows, flags=re.IGNORECASE)) <= keys(record)


@pytest.mark.long
def test_everything_on_a_small_plan(tmp_path):
    told = []
    plan = replace(TINY, etas=(0.5, 1.0), points=1)
    work = Work(tmp_path, 1, processes=1, tell=lambda write: told.append(write()))
    paths = deep_experiments.deep_experiments(work, plan)
    assert all(path.stat().st_size > 1000 for path in paths)
    record = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["content"]
    assert rendered("claims", record, tmp_path / "deep.json")[0]
    found = sum(len(panel["curves"]) for panel in record["panels"])
    assert found == sum(len(names) for _, names in CASES)
    assert {each["outcome"] for each in record["verdicts"]} == {UNDECIDED}, "one seed is not enough"
    words = " ".join("\n".join(told).split())
    assert "claim about SNLI, Sentiment140 and ImageNet is not tested" in words
