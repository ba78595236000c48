"""Comparisons by |grad f|^2: every cost recomputed from the traces, drawn, saved and refused."""

import numpy as np
import pytest

from certibit import Budget, Refusal, compare, problem
from certibit.figures.comparison.compare import keep_comparison
from certibit.figures.report.page import write_report

SOLVED = problem("breast-cancer@9:nonconvex")
NAMES = ["marina+rand-k:4", "ef21+top-k:4", "gd"]
TARGETS = (1e-1, 1e-2)


@pytest.fixture(scope="module")
def found():
    return compare(SOLVED, NAMES, target=TARGETS, seeds=3)


def test_the_measure_of_a_nonconvex_problem_is_the_gradient(found):
    assert found.measure == "squared_gradient"
    assert [trace.measure for trace in found.traces] == ["squared_gradient"] * 3
    for target in TARGETS:
        for name, trace in zip(NAMES, found.traces, strict=True):
            costs = found.costs("bits", target)[name]
            for seed, cost in enumerate(costs):
                rows = trace.run(seed)
                first = np.flatnonzero(rows["squared_gradient"] <= target)[0]
                assert cost == rows["uplink_bits"][first]


def test_the_table_and_the_figure_say_so(found):
    assert "|grad f|^2 <= 1e-2" in found.table()
    assert "f - f*" not in found.table()
    assert "|grad f|^2 &lt;= 1e-2" in found._repr_html_()
    assert found.summary()["measure"] == "squared_gradient"
    place = found.plot().axes[0]
    assert place.get_ylabel() == r"$|\nabla f(x)|^2$"
    assert "numbers: to |grad f|^2 = 1e-2" in place.get_title("left")
    start = float((SOLVED.grad(SOLVED.x_0).mean(axis=0) ** 2).sum())
    assert place.lines[1].get_ydata()[0] == pytest.approx(start)


def test_the_report_draws_the_gradient(found, tmp_path):
    keep_comparison(found, "slopes", tmp_path)
    page = write_report(tmp_path, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b>slopes.</b> |grad f|^2 on breast-cancer@9:nonconvex, n = 9, d = 30" in page
    assert "data:image/svg+xml;base64," in page
    assert "slopes: f - f*" not in page


def test_f_minus_its_bound_may_be_the_measure():
    """0 bounds f from below, so a target above inf f can be asked for."""
    found = compare(SOLVED, ["gd"], target=0.6, measure="gap", seeds=1)
    assert "f - f* <= 6e-1" in found.table()
    assert found.traces[0].ending == ("gap",)


def test_misfits_are_refused():
    with pytest.raises(Refusal, match=r"the target \|grad f\|\^2 = 5 is not possible; give at"):
        compare(SOLVED, ["gd"], target=5.0)
    with pytest.raises(Refusal, match="the measure 'slope' is unknown; choose gap or squared"):
        compare(SOLVED, ["gd"], measure="slope")
    with pytest.raises(Refusal, match=r"a budget of 0\.1 squared_gradient; give accuracies as"):
        compare(SOLVED, ["gd"], budget=Budget(squared_gradient=0.1))
    with pytest.raises(Refusal, match="agd needs a strongly convex problem"):
        compare(SOLVED, ["gd", "agd"])
