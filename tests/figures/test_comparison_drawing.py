"""The figure of a comparison: its curves, names, colours and words."""

from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import pytest
from compared import NAMES, PROBLEM, Mine, Yours

from certibit import CARDS, GD, Budget, Card, Refusal, compare
from certibit.figures.comparison.contestants import contestants
from certibit.figures.costs import QUANTITIES, CostCurve, cost_curve
from certibit.figures.looks import distinct_looks
from certibit.figures.named_curves import named_height
from certibit.figures.text.tables import short_cost


@pytest.mark.parametrize("by", QUANTITIES)
def test_curves_end_at_the_numbers_of_the_table(found, by):
    for name, trace in zip(NAMES, found.traces, strict=True):
        curve = cost_curve(trace, 1e-5, by, 0.5)
        told = found.spreads(by, downlink=0.5)[name]
        assert (curve.median[-1], curve.low[-1], curve.high[-1]) == (
            told.median,
            told.low,
            told.high,
        )
        assert (np.diff(curve.median) >= 0).all()
        assert (curve.low <= curve.median).all()
        assert (curve.median <= curve.high).all()


def test_a_curve_arrives_where_its_median_does():
    ends = np.array([1.0, 1.0])
    for median, arrives in (([1.0, 2.0], True), ([1.0, np.inf], False), ([np.inf, np.inf], False)):
        curve = CostCurve(ends, np.array(median), ends, ends, 3.0, diverged=False)
        assert curve.arrives is arrives


def test_a_canvas_is_as_high_as_its_curves_and_names():
    """2.4 inches for the curves, 0.17 for each name and a little more, 0.9 around."""
    assert named_height(5) == pytest.approx(2.4 + 0.17 * 5.8 + 0.9)


def names_of(canvas):
    return [text for text in canvas.axes[0].texts if text.get_gid() == "name"]


FIGURES = [
    (by, entries) for by in ("bits", "rounds") for entries in (NAMES[:4], NAMES[:1], NAMES[1:3])
]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("by", "entries"), FIGURES)
def test_names_do_not_touch_each_other_nor_other_lines(found, by, entries):
    kept = [place for place, name in enumerate(NAMES) if name in entries]
    some = replace(
        found,
        contestants=tuple(found.contestants[i] for i in kept),
        traces=tuple(found.traces[i] for i in kept),
    )
    assert crossings(some.plot(by, downlink=0.5), len(kept)) == []


@dataclass(frozen=True)
class Late(GD):
    name = "a method of mine with a name so long that it has no room to the left of its line, $x_1$"


def test_names_without_room_to_the_left_stand_to_the_right():
    found = compare(PROBLEM, [Late(gamma=0.03), "agd", "gd"], seeds=1, target=1e-3)
    canvas = found.plot("rounds")
    assert crossings(canvas, 3) == []
    assert {text.get_ha() for text in names_of(canvas)} == {"left"}


def crossings(canvas, expected):
    """Return what is wrong with the names: too few, over each other, lines or the edge."""
    canvas.draw_without_rendering()
    texts = names_of(canvas)
    boxes = [text.get_window_extent() for text in texts]
    drawn = [line for line in canvas.axes[0].lines if line.get_gid() == "name"]
    lines = [line.get_window_extent() for line in drawn if len(line.get_xdata()) == 2]
    wrong = [] if len(texts) == len(lines) == expected else ["number"]
    wrong += ["names" for a, b in combinations(boxes, 2) if a.overlaps(b)]
    wrong += ["line" for box, line in product(boxes, lines) if line.overlaps(box)]
    page = canvas.bbox
    return wrong + ["edge" for box in boxes if not page.x0 <= box.x0 < box.x1 <= page.x1]


def test_the_figure_says_what_was_run_and_counted(found):
    alone = compare(PROBLEM, ["gd"], seeds=1).plot().axes[0].get_title(loc="left")
    assert alone.endswith("\none seed; numbers: to f - f* = 1e-6")
    place = found.plot("total bits", downlink=0.5).axes[0]
    title = place.get_title(loc="left")
    for word in (PROBLEM.name, "n=5", "d=12", "kappa=60", "4 seeds", "10-90 %", "1e-5"):
        assert word in title
    assert place.get_xlabel() == "bits sent + 0.5 × bits received, per client"
    shown = {text.get_text() for text in place.texts}
    medians = found.spreads("total bits", downlink=0.5)
    for contestant in found.contestants:
        assert f"{contestant.label}: {short_cost(medians[contestant.name].median)}" in shown


def test_axes_width_and_title_are_chosen(found):
    canvas = found.plot(["bits", "rounds"], width=6.5, title="mine")
    left, right = canvas.axes
    assert canvas.get_figwidth() == 6.5
    assert "bits" in left.get_xlabel()
    assert "rounds" in right.get_xlabel()
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("mine", "")
    assert found.plot("rounds").axes[0].get_xlim() == right.get_xlim()
    narrow = found.plot(width=3.25)
    narrow.draw_without_rendering()
    box = narrow.axes[0]._left_title.get_window_extent()
    assert box.x1 <= narrow.bbox.x1
    assert found.plot(title="").axes[0].get_title(loc="left") == ""
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(Refusal, match="no width of a figure"):
            found.plot(width=wrong)
    with pytest.raises(Refusal, match="is not counted"):
        found.plot([])
    with pytest.raises(Refusal, match="has no room for 3 axes"):
        found.plot(["bits", "rounds", "gradients"], width=3.25)


def test_the_axis_is_logarithmic_where_curves_are_decades_apart(found):
    assert found.plot("rounds").axes[0].get_xscale() == "log"
    near = compare(PROBLEM, ["gd", "agd"], seeds=1)
    ends = [s.median for s in near.spreads("rounds").values()]
    assert max(ends) < 10 * min(ends)
    assert near.plot("rounds").axes[0].get_xscale() == "linear"


@pytest.mark.filterwarnings("ignore::certibit.OutsideTheoremWarning")
def test_runs_that_diverge_or_stop_say_so():
    found = compare(
        PROBLEM,
        ["agd", GD(gamma=1.0), GD(gamma=1e-4)],
        seeds=1,
        target=1e-9,
        budget=Budget(rounds=400),
    )
    texts = [text.get_text() for text in names_of(found.plot("rounds"))]
    assert sum("diverges" in text for text in texts) == 1
    assert sum("gets to" in text for text in texts) == 1
    assert "gd[gamma=1]: 0 of 1 runs arrive, 1 diverge" in found.table()
    alone = compare(PROBLEM, [GD(gamma=1.0)], seeds=1, budget=Budget(rounds=400))
    assert "diverges" in names_of(alone.plot())[0].get_text()


def test_no_two_contestants_look_alike():
    every = [
        *(("locodl", sent) for sent in ("rand-k:2", "natural", "l1")),
        "gd", "agd", Mine(gamma=0.01), Yours(gamma=0.01),
    ]  # fmt: skip
    looks = [str(look) for look in distinct_looks([c.card for c in contestants(PROBLEM, every)])]
    assert len(set(looks)) == len(every)


def test_strangers_have_colours_of_their_own():
    known = [CARDS["locodl"], CARDS["diana"]]
    looks = distinct_looks([*known, Card(Mine), Card(Yours), Card(Mine)])
    shown = [(look["color"], look["marker"]) for look in looks]
    assert shown[:2] == [(card.colour, card.marker) for card in known]
    assert shown[2] == shown[4]
    assert len({colour for colour, _ in shown}) == 4
    catalogue = {card.colour for card in CARDS.values()}
    assert not {colour for colour, _ in shown[2:]} & catalogue
