"""Methods beside each other: every number of the table, recomputed from traces."""

import json
import pickle
import sys
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from compared import NAMES, PROBLEM, TARGETS, Mine, Yours

import certibit
from certibit import (
    CELGC,
    EPISODE,
    GD,
    Budget,
    Network,
    OutsideTheoremWarning,
    Quadratic,
    Refusal,
    compare,
    compressor,
    problem,
)
from certibit.figures.comparison import comparison_result
from certibit.figures.comparison.contestants import contestants
from certibit.figures.costs import QUANTITIES, cost_text, spread
from certibit.figures.text.tables import short_cost
from certibit.solvers.clipping import Trained
from certibit.theory.catalogue.catalogue import CARDS

WEIGHTS = [0.0, 0.5]


def plain(trace, target, by, weight):
    """What every run costs, by a walk along its rows."""
    costs = []
    for run in range(len(trace.seeds)):
        cost = np.nan
        rows = trace.run(run)
        for row, gap in enumerate(rows["gap"]):
            if gap <= target:
                up, down = rows["uplink_bits"][row], rows["downlink_bits"][row]
                cost = {
                    "bits": up, "downlink bits": down, "rounds": rows["rounds"][row],
                    "gradients": rows["gradients"][row], "total bits": up + weight * down,
                    "busiest bits": rows["busiest_bits"][row],
                }[by]  # fmt: skip
                break
        costs.append(cost)
    return np.array(costs)


def test_all_numbers_are_those_of_the_traces(found):
    """Medians, bands, the best, and tables with their order, recomputed along the rows."""
    assert [contestant.name for contestant in found.contestants] == NAMES
    for target, by, weight in product(TARGETS, QUANTITIES, WEIGHTS):
        spreads, medians = found.spreads(by, target, weight), {}
        for name, trace in zip(NAMES, found.traces, strict=True):
            expected = np.percentile(plain(trace, target, by, weight), [50, 10, 90])
            ends = [spreads[name].median, spreads[name].low, spreads[name].high]
            np.testing.assert_allclose(ends, expected, rtol=1e-12)
            medians[name] = expected[0]
        assert found.best(by, weight, target).name == min(medians, key=medians.get)
    for weight in WEIGHTS:
        blocks = found.table(weight).split("\n\n")[1:]
        columns = ["bits", "downlink bits", *(["total bits"] if weight else [])]
        for target, block in zip(TARGETS, blocks, strict=True):
            ranks = []
            for name, *cells in (line.split() for line in block.splitlines()[3:]):
                printed = [*cells[: len(columns)], *cells[-2:]]
                trace, names = found.traces[NAMES.index(name)], [*columns, "rounds", "gradients"]
                medians = [np.median(plain(trace, target, by, weight)) for by in names]
                assert printed == [cost_text(median) for median in medians]
                ranks.append(medians[2 if weight else 0])
            assert len(ranks) == len(NAMES)
            assert ranks == sorted(ranks)


def test_the_busiest_client_has_a_column_where_it_sends_more():
    """A cohort of 2 of 4 sends half of its messages in the mean; two owners of 4 send d/2."""
    solved = Quadratic.random(4, 6, mu=1.0, L=20.0)
    quick = {"target": 1e-2, "seeds": 1}
    alike = compare(solved, ["gd", ("diana", "rand-k:1")], **quick)
    assert " busiest " not in alike.table()
    unlike = compare(solved, ["gd", "scaffold[m=2]", "compressed-scaffnew[s=2]"], **quick)
    assert " busiest " in unlike.table()
    for name, factor in {"gd": 1, "scaffold[m=2]": 2, "compressed-scaffnew[s=2]": 1}.items():
        mean, busiest = (unlike.costs(by)[name] for by in ("bits", "busiest bits"))
        assert busiest == pytest.approx(factor * mean)


def test_the_ranking_is_by_the_median(monkeypatch):
    """Neither by an end of the band, nor by the mean: the orders differ."""
    of_runs = {"a": [5.0, 5, 5], "b": [1.0, 6, 7], "c": [4.0, 4, 90], "d": [0.0, 8, np.nan]}

    def of_run(trace, *_):
        return np.array(of_runs[trace])

    monkeypatch.setattr(comparison_result, "costs_to", of_run)
    order = [
        name for name, _ in comparison_result._ranked([(name, name) for name in of_runs], 1e-3)
    ]
    assert order == ["c", "a", "b", "d"]


@pytest.mark.parametrize(
    ("others", "tied"),
    [([6.0] * 5, False), ([6.0] * 4 + [4.0], True), ([6.0] * 4 + [np.nan], False),
     ([6.0] * 4 + [5.0], True), ([6.0] * 9 + [4.0], False), ([6.0] * 8 + [4.0] * 2, True)],
)  # fmt: skip
def test_a_sign_test_tells_methods_apart(monkeypatch, others, tied):
    """The levels are 1/32, 6/32, 11/1024 and 56/1024; equal costs are no win."""
    costs = {"best": np.full(len(others), 5.0), "other": np.array(others)}
    monkeypatch.setattr(comparison_result, "costs_to", lambda trace, *_: costs[trace])
    pairs = [(SimpleNamespace(name=name), name) for name in costs]
    assert comparison_result._tied(pairs, 1e-3, "bits", 0.0) == (("other",) if tied else ())


@pytest.mark.parametrize("seeds", [4, 5])
def test_ties_are_told_from_five_seeds_on(seeds):
    entries = ["diana+rand-k:2", "diana+rand-k:4"]
    found = compare(problem("quadratic:d=6@5"), entries, target=1e2, seeds=seeds)
    (tied,) = found.tied()
    told = f"not told apart from {found.best().name} by a sign test over 5 seeds (5 %): {tied}"
    assert (told in " ".join(str(found).split())) == (seeds == 5)
    assert (told in found._repr_html_()) == (seeds == 5)


def test_runs_that_never_arrive_are_later_than_everything():
    never = np.nan
    assert spread(np.array([1.0, 2, 3, never, never])).median == 3
    assert spread(np.array([1.0, 2, 3, never, never])).high == np.inf
    assert spread(np.array([1.0, never, never])).median == np.inf
    assert spread(np.array([never] * 3)).low == np.inf
    assert np.mean([1.0, 2, 3]) == spread(np.array([1.0, 2, 3])).median


@pytest.mark.parametrize(
    ("cost", "exact", "short"),
    [
        (0, "0", "0"),
        (735, "735", "735"),
        (20580, "20,580", "20.6k"),
        (999_999, "999,999", "1M"),
        (1_234_567, "1.235M", "1.23M"),
        (3.07e9, "3.07G", "3.07G"),
        (1.5e13, "1.5e+13", "1.5e+13"),
        (np.inf, "-", "-"),
    ],
)
def test_costs_are_written_in_seven_characters(cost, exact, short):
    assert (cost_text(cost), short_cost(cost)) == (exact, short)


FORMS = [
    ("locodl+rand-k:2+natural", "locodl+rand-k:2+natural", "LoCoDL, rand-k:2+natural"),
    (("locodl[ours]", "natural"), "locodl[ours]+natural", "LoCoDL (ours), natural"),
    (("locodl", compressor("l1")), "locodl+l1", "LoCoDL, l1"),
    ("celgc[eta=0.01,gamma=1]", "celgc[eta=0.01,gamma=1]", "CELGC (eta=0.01,gamma=1)"),
    ("agd", "agd", "AGD"),
    ((Mine(gamma=0.01), None), "mine", "mine"),
    ((Yours(gamma=0.01), None), "yours", "GD-HB"),
]


@pytest.mark.parametrize(("entry", "name", "label"), FORMS, ids=[form[1] for form in FORMS])
def test_contestants_are_named(entry, name, label):
    (contestant,) = contestants(PROBLEM, [entry])
    assert (contestant.name, contestant.label) == (name, label)


def test_a_name_gives_the_parameters_of_its_rule():
    sent = compressor("natural")
    for rule in CARDS["locodl"].rules:
        (contestant,) = contestants(PROBLEM, [f"locodl[{rule}]+natural"])
        assert contestant.method == certibit.parameters("locodl", PROBLEM, sent, rule)
    (changed,) = contestants(PROBLEM, ["locodl[ours,p=1]+natural"])
    assert changed.method == replace(contestant.method, p=1)


def test_those_of_one_name_are_told_apart_by_what_differs():
    both = contestants(PROBLEM, [GD(gamma=0.01), GD(gamma=0.02)])
    assert [each.name for each in both] == ["gd[gamma=0.01]", "gd[gamma=0.02]"]
    sent = compressor("rand-k:2")
    method = certibit.parameters("locodl", PROBLEM, sent)
    pair = contestants(PROBLEM, [("locodl", sent), (replace(method, p=1.0), sent)])
    assert [each.name for each in pair] == [
        f"locodl[p={method.p:.6g}]+rand-k:2", "locodl[p=1]+rand-k:2",
    ]  # fmt: skip
    trained = [Trained(kind(0.1, 1.0)) for kind in (CELGC, EPISODE)]
    assert [each.name for each in contestants(PROBLEM, trained)] == [
        f"trained[method={one.method}]" for one in trained
    ]
    found = compare(PROBLEM, trained, budget=Budget(rounds=1)).summary()["contestants"]
    assert [each["parameters"]["method"] for each in found] == [str(one.method) for one in trained]


REFUSALS = [
    ([], {}, "nothing to compare"),
    ("gd", {}, "'gd' is nothing to compare; give a list"),
    ([7], {}, "7 is no contestant"),
    ([("gd", None, 3)], {}, "is no contestant"),
    ([("locodl", 3)], {}, "3 is no compressor"),
    (["gdd"], {}, "'gdd' is unknown; did you mean gd"),
    (["locodl[]"], {}, r"'locodl\[\]' cannot be read; expected METHOD\[RULE\]"),
    (["locodl[best]+l1"], {}, "no parameter rule 'best'"),
    (["locodl[published,ours]+l1"], {}, "names 2 rules, published and ours; give one"),
    ([("locodl+l1", "natural")], {}, "a second compressor, natural"),
    (["locodl[q=1]+l1"], {}, "no parameter 'q'"),
    (["celgc[eta=1]"], {}, "rules of celgc take the L0 and L1"),
    (["gd+natural"], {}, "cannot use natural"),
    (["locodl+top-k:2"], {}, "needs an unbiased compressor"),
    (["gd", "gd"], {}, "gd takes part twice"),
    ([GD(gamma=np.full((1, 1, 3), 0.1))], {}, "parameters for 3 runs"),
    (["gd"], {"target": 0.0}, "f - f\\* = 0 is not possible; give at least 1e-30"),
    (["gd"], {"target": np.nan}, "f - f\\* = nan is not possible"),
    (["gd"], {"target": 1e9}, "f - f\\* = 1e\\+09 is not possible"),
    (["gd"], {"target": []}, "is not possible"),
    (["gd"], {"budget": Budget(gap=1e-3)}, "a budget of 0.001 gap; give accuracies as target="),
]


@pytest.mark.parametrize(("entries", "options", "sentence"), REFUSALS, ids=lambda x: str(x)[:40])
def test_what_does_not_fit_is_refused(entries, options, sentence):
    with pytest.raises(Refusal, match=sentence):
        compare(PROBLEM, entries, **options)


def test_questions_that_have_no_answer_are_refused(found, tmp_path):
    with pytest.raises(Refusal, match="'bytes' is not counted; choose one of bits"):
        found.best("bytes")
    with pytest.raises(Refusal, match="the weight -1 of the downlink"):
        found.plot("total bits", downlink=-1)
    with pytest.raises(Refusal, match="down to 1e-5; compare again with target=1e-09"):
        found.costs(target=1e-9)
    with pytest.raises(Refusal, match=r"figure\.tif is no figure that can be written"):
        found.save(tmp_path / "figure.tif")
    short = compare(PROBLEM, ["gd"], target=1e-9, budget=Budget(rounds=2), seeds=1)
    with pytest.raises(Refusal, match="no contestant gets to 1e-9"):
        short.best()


def test_parameters_outside_every_theorem_are_told():
    with pytest.warns(OutsideTheoremWarning, match="outside every theorem") as told:
        compare(PROBLEM, [GD(gamma=1.0), "agd"], seeds=1, budget=Budget(rounds=3))
    assert [warning.filename for warning in told] == [__file__]


def test_the_fraction_done_rises_to_one():
    fractions = []
    compare(PROBLEM, ["gd", "agd"], seeds=2, progress=fractions.append)
    assert fractions[-1] == 1
    halves = [fraction < 0.5 for fraction in fractions[:-1]]
    assert halves == sorted(halves, reverse=True)
    assert set(halves) == {True, False}


@pytest.mark.parametrize("weight", WEIGHTS)
def test_tables_fit_80_columns(weight):
    entries = ["compressed-scaffnew", "locodl[ours]+rand-k:2+natural", "diana+dithering:12"]
    names = compare(PROBLEM, entries, seeds=2, target=1e-3)
    lines = names.table(weight).splitlines()
    assert max(map(len, lines)) <= 80
    wide = replace(names, traces=tuple(scaled(trace, 1e5) for trace in names.traces))
    broken = wide.table(weight)
    assert max(map(len, broken.splitlines())) <= 80
    assert "+rand-k:2+natural" in broken


def scaled(trace, factor):
    counted = {name: trace.columns[name] * factor for name in ("uplink_bits", "downlink_bits")}
    return replace(trace, columns={**trace.columns, **counted})


def test_runs_that_do_not_arrive_are_told():
    found = compare(PROBLEM, ["gd", "agd"], seeds=2, target=1e-12, budget=Budget(rounds=3))
    lines = found.table().splitlines()
    assert lines[-2:] == ["gd: 0 of 2 runs arrive", "agd: 0 of 2 runs arrive"]
    assert [line.split()[1:] for line in lines[-4:-2]] == [["-"] * 5] * 2


def test_json_is_strict_and_complete(found):
    told = json.loads(json.dumps(found.summary(0.5), allow_nan=False))
    assert told["problem"] == {"name": PROBLEM.name, "n": 5, "d": 12, "kappa": 60.0}
    for contestant, trace in zip(told["contestants"], found.traces, strict=True):
        for target, by in product(TARGETS, QUANTITIES):
            cell = contestant["costs"][f"1e{np.log10(target):.0f}"][by]
            assert cell["runs"] == plain(trace, target, by, 0.5).tolist()
            assert cell["median"] == np.median(cell["runs"])
    never = compare(PROBLEM, ["gd"], seeds=2, target=1e-12, budget=Budget(rounds=3)).summary()
    assert never["contestants"][0]["costs"]["1e-12"]["bits"] == {
        "median": None, "low": None, "high": None, "runs": [None, None],
    }  # fmt: skip


def test_html_is_escaped():
    problem = Quadratic.random(2, 3, mu=1.0, L=9.0, name="<b>&")
    html = compare(problem, ["gd"], seeds=1)._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;: n=2" in html
    assert html.count("<tr>") == 2


def test_a_data_frame_has_every_run(found):
    frame = found.to_pandas()
    assert len(frame) == len(NAMES) * len(TARGETS) * 4
    for name, target in product(NAMES, TARGETS):
        rows = frame[(frame["contestant"] == name) & (frame["target"] == target)]
        assert rows["bits"].tolist() == found.costs("bits", target)[name].tolist()
        assert rows["downlink bits"].tolist() == found.costs("downlink bits", target)[name].tolist()
    assert "total bits" not in frame
    total = found.to_pandas(downlink=0.5)["total bits"]
    assert total.tolist() == (frame["bits"] + 0.5 * frame["downlink bits"]).tolist()
    with pytest.raises(Refusal, match="the weight -1 of the downlink"):
        found.to_pandas(downlink=-1)


def test_without_pandas_it_says_what_to_install(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(Refusal, match="pip install pandas"):
        found.to_pandas()


def test_seconds_are_modelled_from_the_counts():
    """And what is counted stays what it is; the figure says that they are modelled."""
    network = Network(uplink=1e4, downlink=1e5, latency=0.1, gradient=0.01)
    found = compare(PROBLEM, ["agd", "gd"], target=1e-3, seeds=2, network=network)
    parts = [found.costs(by)["agd"] for by in ("bits", "downlink bits", "rounds", "gradients")]
    assert found.costs("seconds")["agd"] == pytest.approx(network.seconds(*parts), rel=1e-12)
    assert found.best("seconds").name == "agd"
    label = found.plot("seconds").axes[0].get_xlabel()
    assert "modelled: 10 kbit/s up, 100 kbit/s down, 100 ms latency" in label
    with pytest.raises(Refusal, match="the comparison has none; compare with network="):
        compare(PROBLEM, ["gd"], target=1e-3, seeds=1).costs("seconds")


def test_a_comparison_travels_to_other_processes(found):
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.best().name == found.best().name
    assert again.contestants[0].card.label == found.contestants[0].card.label
    np.testing.assert_array_equal(again.problem.x_star, found.problem.x_star)


def test_the_table_for_latex_has_the_numbers_of_the_other(found):
    for target, downlink in product(TARGETS, WEIGHTS):
        lines = found.to_latex(target, downlink).splitlines()
        header, rows = comparison_result._ranking_cells(found._pairs, target, downlink)
        body = [line.removesuffix(r" \\") for line in lines if line.endswith(r"\\")]
        cells = [[cell.replace("\\", "") for cell in row.split(" & ")] for row in body]
        assert cells == [list(header), *map(list, rows)]
        assert lines[0] == rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}"
    assert found.to_latex() == found.to_latex(TARGETS[-1])


def test_a_figure_is_written_as_pdf_without_a_date(found, tmp_path):
    one, two = (found.save(tmp_path / name).read_bytes() for name in ("one.pdf", "two.pdf"))
    assert one.startswith(b"%PDF")
    assert one == two
    assert b"CreationDate" not in one


@pytest.mark.parametrize("made", ["saved", "of a comparison", "of a trace"])
def test_fonts_of_a_pdf_are_those_that_publishers_take(found, tmp_path, made):
    """TrueType, whose programs are /FontFile2; IEEE and ICML refuse those of Type 3."""
    path = tmp_path / "figure.pdf"
    if made == "saved":
        found.save(path)
    else:
        (found if made == "of a comparison" else found.traces[0]).plot().savefig(path)
    written = path.read_bytes()
    assert b"/FontFile2" in written
    assert b"/Type3" not in written


def test_a_notebook_shows_what_is_drawn(found):
    for drawn in (found.plot(), found.traces[0].plot()):
        assert drawn._repr_png_().startswith(b"\x89PNG")
