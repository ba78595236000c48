"""A gap f - f* below 0 is refused wherever it appears."""

from dataclasses import fields, replace

import numpy as np
import pytest

from certibit import GD, Budget, DamagedFileError, Quadratic, Refusal, Trace, compare, run

NEGATIVE = r"f - f\* is -.*negative"
PROBLEM = Quadratic.random(3, 4, mu=1.0, L=10.0)


class Lower(Quadratic):
    """Its f* is too large by 0.01."""

    def gap(self, x):
        return super().gap(x) - 0.01


LOWER = Lower(**{part.name: getattr(PROBLEM, part.name) for part in fields(PROBLEM) if part.init})


@pytest.mark.parametrize(
    "made",
    [
        lambda: run(GD(0.1), LOWER, budget=Budget(rounds=300), seeds=1),
        lambda: run(GD(0.1), LOWER, budget=Budget(gap=1e-6), seeds=2),
        lambda: run(GD(0.1), LOWER, budget=Budget(rounds=300), seeds=1, library="array-api-strict"),
        lambda: compare(LOWER, ["gd", "agd"], target=1e-6, seeds=1),
    ],
)
def test_a_run_with_a_negative_gap_is_refused(made):
    with pytest.raises(Refusal, match=NEGATIVE):
        made()


def test_a_trace_and_a_file_of_one_too(tmp_path):
    trace = run(GD(0.1), PROBLEM, budget=Budget(rounds=9), seeds=1)
    gap = trace.columns["gap"].copy()
    gap[-1] = -1e-3
    columns = {**trace.columns, "gap": gap}
    with pytest.raises(Refusal, match=NEGATIVE):
        replace(trace, columns=columns)
    object.__setattr__(trace, "columns", columns)
    trace.save(tmp_path / "trace.npz")
    with pytest.raises(DamagedFileError, match=NEGATIVE):
        Trace.load(tmp_path / "trace.npz")


def test_rounding_is_not_refused():
    trace = run(GD(0.1), PROBLEM, budget=Budget(rounds=9), seeds=1)
    gap = trace.columns["gap"].copy()
    gap[-1] = -1e-12
    assert np.min(replace(trace, columns={**trace.columns, "gap": gap}).columns["gap"]) < 0
