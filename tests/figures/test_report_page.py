"""The page of the report: complete, asks nothing of anybody, and a browser finds no fault."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape
from written_results import EVIL, write_results

from certibit.data.files.archive import read_record
from certibit.data.terminal import text_columns
from certibit.figures.locodl.recipes import FIGURES, demonstration, paper_figure
from certibit.figures.locodl.reproduction import panel_table
from certibit.figures.report.page import outcome_kind, page, read_parts, rendered
from certibit.figures.text.tables import accuracy_name, cost_table, count_text, short_cost


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    write_results(folder)
    return folder


class Elements(HTMLParser):
    """All elements of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def values(self, *names):
        return [value for _, given in self.found for name, value in given.items() if name in names]


@pytest.fixture(scope="module")
def text(results):
    return page(read_parts(results))


def test_nothing_is_fetched(text):
    elements = Elements(text)
    for target in elements.values("src", "href", "xlink:href", "action", "data"):
        assert target.startswith(("#", "data:")), target
    assert not re.search(r"url\(|@import|https?://|fetch\(|XMLHttpRequest", text)


def test_ids_are_unique_and_every_link_leads_to_one(text):
    elements = Elements(text)
    ids = elements.values("id")
    assert len(set(ids)) == len(ids)
    targets = {target[1:] for target in elements.values("href") if target.startswith("#")}
    assert targets <= set(ids)


def test_every_part_is_there_and_none_is_said_to_be_missing(text, results):
    parts = read_parts(results)
    absent = {part.target for part in parts if not part.blocks}
    assert absent == {
        "certibit compare --report NAME",
        *(f"make figure{number}" for number in "1234"),
    }
    sections = [given["id"] for tag, given in Elements(text).found if tag == "section"]
    anchors = {part.anchor for part in parts if part.blocks}
    assert anchors - {"demo"} <= set(sections)


def test_what_has_not_been_run_is_said_with_its_target(tmp_path):
    parts = read_parts(tmp_path)
    text = page(parts)
    assert text.split("Not run: ")[1].count(" (<code>") == len(parts)
    for part in parts:
        assert f"<code>{part.target}</code>" in text


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        ("holds", "holds"),
        ("holds at 3,000 points searched", "holds at points searched"),
        ("measured, in part", "measured"),
        ("holds only if n = 1", "holds only if"),
        ("FAILS", "FAILS"),
    ],
)
def test_outcomes_are_filtered_by_their_kind(verdict, outcome):
    assert outcome_kind(verdict) == outcome


def test_texts_are_escaped(text):
    assert EVIL not in text
    assert "&lt;/script&gt;&lt;script&gt;alert(1)" in text


EVIL_NAMES = ['a"><script>alert(1)</script>', '" onload="alert(1)', "a'b & c", "$$x$$ @x{safe}"]


@pytest.mark.parametrize("name", EVIL_NAMES)
def test_names_of_files_are_escaped(results, name):
    """Of a record beside the others, and of the curves in it."""
    record = read_record(results / "demo.json")

    def named(name):
        (panel,) = record["panels"]
        curves = [curve | {"label": name} for curve in panel["curves"]]
        panel = panel | {"title": name, "problem": name, "curves": curves}
        return rendered("figure", record | {"panels": [panel]}, Path(name))[0]

    parsed, plain = (
        [(tag, set(given)) for tag, given in Elements(named(each)).found]
        for each in (name, "plain")
    )
    assert parsed == plain
    assert f"<b>{escape(name)}.</b>" in named(name)


def test_colours_of_records_are_colours(results):
    figure = read_record(results / "demo.json")
    figure["panels"][0]["curves"][0]["colour"] = "red;background:url(x)"
    with pytest.raises(ValueError, match="is no colour"):
        rendered("figure", figure, Path("demo.json"))


def test_a_number_unfolds_to_what_made_it(text, results):
    curve = read_record(results / "demo.json")["panels"][0]["curves"][0]
    for made in ("fingerprint", "gamma", "seeds"):
        assert f"&#34;{made}&#34;" in text
    assert curve["specification"]["problem"]["fingerprint"] in text
    assert "&#34;numpy&#34;" in text


def test_verdicts_stand_first_and_what_was_not_run_last(text):
    sections = [f'<section id="{name}">' for name in ("outcomes", "overview", "curves")]
    places = [text.index(each) for each in (*sections, "Not run: ", "<footer>")]
    assert places == sorted(places)
    first = text[places[0] : places[1]]
    assert re.search(r"Claims of the LoCoDL paper</a></td><td>0</td><td>0</td><td>2</td>", first)
    for part in ("EPISODE and its rivals", "Networks that are trained"):
        assert f"{part}</a></td><td>1</td><td>0</td><td>0</td>" in first


def test_script_is_short_and_parses(text, tmp_path):
    scripts = list(filter(None, re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)))
    assert len(scripts) == 1
    assert sum(len(script.splitlines()) for script in scripts) <= 60
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to parse it")
    (tmp_path / "report.js").write_text("\n".join(scripts))
    subprocess.run([node, "--check", tmp_path / "report.js"], check=True)


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


PROBE = """<script>
addEventListener("load", async () => {
  const slid = document.getElementById("weight"); slid.value = 100;
  slid.dispatchEvent(new Event("input"));
  for (const row of document.querySelectorAll(".ranking details")) row.open = true;
  document.querySelector('.filter button[data-show="undecided"]').click();
  document.title = JSON.stringify({
    order: [...document.querySelectorAll(".ranking tbody tr")].map((r) => r.dataset.up),
    totals: [...document.querySelectorAll(".ranking .total")].map((each) => each.textContent),
    wide: document.documentElement.scrollWidth - innerWidth,
    shown: document.querySelectorAll('[data-is~="claim"]:not([hidden])').length,
    requests: performance.getEntriesByType("resource").map((each) => each.name),
    alerts,
  });
});
</script>"""
ALERT = "<script>let alerts = 0; window.alert = () => { alerts += 1; };</script>"


@pytest.mark.long(keep=1)
@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1100, 400])
def test_a_browser_finds_no_fault_and_the_slider_ranks(results, tmp_path, width):
    """After the script has run, with the slider moved: rows, errors, requests, width."""
    name = "</script><script>alert(1)</script> $$x$$ @x{safe}"
    record = read_record(results / "demo.json")
    panel = record["panels"][0]
    panel["curves"][2]["label"] = panel["curves"][2]["method"] = name
    html, _, weights = rendered("figure", record, Path("demo.json"))
    demo = {"blocks": (html,), "weights": tuple(weights)}
    parts = read_parts(results)
    text = page([replace(p, **demo) if p.anchor == "demo" else p for p in parts])
    text = text.replace("<head>", "<head>" + ALERT).replace("</body>", PROBE + "</body>")
    path = tmp_path / "report.html"
    path.write_text(text)
    ran = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         f"--window-size={width},900", "--virtual-time-budget=20000",
         "--enable-logging=stderr", f"--user-data-dir={tmp_path}", path.as_uri()],
        capture_output=True, text=True, check=True, timeout=240,
    )  # fmt: skip
    console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    assert all("document idle" in line for line in console), console
    seen = json.loads(unescape(re.search(r"<title>(.*?)</title>", ran.stdout)[1]))
    assert seen["requests"] == []
    assert seen["alerts"] == 0
    assert seen["shown"] == 0
    assert seen["wide"] <= 0
    ends = [curve["costs"]["1e-4"] for curve in panel["curves"]]
    totals = [sorted(u + 10 * d for u, d in zip(e["bits"], e["downlink bits"], strict=True))[1]
              for e in ends]  # fmt: skip
    expected = [ends[place]["bits"] for place in sorted(range(3), key=totals.__getitem__)]
    assert [json.loads(row) for row in seen["order"]] == expected
    assert expected != sorted(expected), "the order without the downlink is another"
    assert seen["totals"] == [count_text(total) for total in sorted(totals)]


@pytest.mark.parametrize(
    ("accuracy", "name"),
    [(1e-3, "1e-3"), (0.1, "1e-1"), (2.5e-4, "2.5e-4"), (1.0, "1e0"), (1e-12, "1e-12")],
)
def test_accuracy_name(accuracy, name):
    assert accuracy_name(accuracy) == name
    assert float(name) == accuracy


@pytest.mark.parametrize("number", FIGURES)
def test_comparison_of_all_curves_fits_a_terminal(made, number):
    for panel in paper_figure(number).panels:
        bits = np.array([0, panel.bits - 1, panel.bits])
        trace = made([bits] * 5, [np.array([1, 1e-3, 1e-5])] * 5)
        trace.columns["rounds"][:] = 125_000
        trace.columns["gradients"][:] = 1_250_000
        text = panel_table(panel, dict.fromkeys(panel.curves, trace))
        assert max(map(len, text.splitlines())) <= text_columns()
        assert len(text.splitlines()) >= len(panel.curves) + 4


def test_comparison_has_medians_with_never_as_latest(made):
    panel = demonstration().panels[0]
    curve = panel.curves[0]
    bits = [np.array([0, 10, 20]), np.array([0, 30, 1000]), np.array([0, 50, 60])]
    gaps = [np.array([1, 1e-3, 1e-6])] + [np.array([1, 1e-3, 1e-4])] * 2
    trace = made(bits, gaps, ["gap", "bits", "bits"])
    row = panel_table(panel, {curve: trace}).splitlines()[-1].split()
    assert row == [curve.method, curve.compressor, "30", "-", "2", "6"]
    reached = panel_table(replace(panel, floor=1e-4), {curve: trace}).splitlines()[-1].split()
    assert reached[3] == "60"


def test_costs_count_the_runs_that_got_there(made):
    bits = [np.array([0, 1000, 2000]), np.array([0, 3000, 4000])]
    gaps = [np.array([1, 0.05, 1e-7]), np.array([1, 0.05, 0.04])]
    lines = cost_table(made(bits, gaps, ["gap", "bits"]), [0.1, 1e-6, 1e-9]).splitlines()
    assert lines[2].split() == ["1e-1", "2,000", "1,000", "to", "3,000", "1", "3", "2", "of", "2"]
    assert lines[3].split() == ["1e-6", "-", "2,000", "to", "2,000", "-", "-", "1", "of", "2"]
    assert lines[4].split() == ["1e-9", "-", "-", "-", "-", "0", "of", "2"]
    assert max(map(len, lines)) <= text_columns()


def test_bits_received_count_by_their_weight(made):
    bits = [np.array([0, 1000, 2000])] * 2
    trace = made(bits, [np.array([1, 0.05, 1e-7])] * 2, ["gap", "gap"])
    trace.columns["downlink_bits"][:] = [0, 400, 800] * 2
    down = 400
    told, _, _, *lines = cost_table(trace, [0.1, 1e-6], 0.5).splitlines()
    assert told == "total = up + 0.5 down"
    assert lines[0].split()[:4] == ["1e-1", "1k", short_cost(down), short_cost(1000 + 0.5 * down)]
