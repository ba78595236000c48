"""The page of the report: complete, asks nothing of anybody, and a browser finds no fault."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from written_results import EVIL, write_results

from certibit.data.files.records import read_record
from certibit.figures.report.chart import Axis, Chart, Series, svg, swatch
from certibit.figures.report.charts import beyond_axis, panel_chart
from certibit.figures.report.page import page, write_report
from certibit.figures.report.records import outcome_kind
from certibit.figures.report.results import read_results


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
    return page(read_results(results))


def test_nothing_is_fetched(text):
    elements = Elements(text)
    for target in elements.values("src", "href", "xlink:href", "action", "data"):
        assert target.startswith(("#", "data:,")), target
    assert not re.search(r"url\(|@import|https?://|fetch\(|XMLHttpRequest", text)


def test_ids_are_unique_and_every_link_leads_to_one(text):
    elements = Elements(text)
    ids = elements.values("id")
    assert len(set(ids)) == len(ids)
    targets = {target[1:] for target in elements.values("href") if target.startswith("#")}
    assert targets <= set(ids)


def test_every_part_is_there_and_none_is_said_to_be_missing(text, results):
    found = read_results(results)
    absent = {part.target for part in found.parts if not part.there}
    assert absent == {
        "certibit compare --report NAME",
        *(f"make figure{number}" for number in "1234"),
    }
    sections = [given["id"] for tag, given in Elements(text).found if tag == "section"]
    anchors = {part.anchor for part in found.parts if part.there}
    assert anchors - {"demo"} <= set(sections)


def test_what_has_not_been_run_is_said_with_its_target(tmp_path):
    found = read_results(tmp_path)
    text = page(found)
    assert text.split("Not run: ")[1].count(" (<code>") == len(found.parts)
    for part in found.parts:
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


@pytest.mark.parametrize("name", ['a"><script>alert(1)</script>', '" onload="alert(1)', "a'b & c"])
def test_names_of_files_are_escaped(results, tmp_path, name):
    """Of a record beside the others: the name of its file is in the ids of its chart."""
    record = read_record(results / "demo.json") | {"figure": f"compared-{name}"}
    found = replace(read_results(tmp_path), figures=[record])
    parsed, plain = (
        Elements(page(replace(found, figures=[record | {"figure": figure}])))
        for figure in (f"compared-{name}", "compared-plain")
    )
    assert [(tag, set(given)) for tag, given in parsed.found] == [
        (tag, set(given)) for tag, given in plain.found
    ]
    assert f"compared-{name}-0-axes" in parsed.values("id")


def test_colours_and_ids_of_charts_are_escaped():
    axis = Axis("x", 1.0, 100.0)
    evil = '"><script>alert(1)</script>'
    some = Series("s", [1, 10], [1, 2], colour=evil, key=evil, label=evil, kind=evil)
    drawn = svg(Chart(evil, axis, axis, (some,), key=evil)) + swatch(evil, evil)
    assert not [tag for tag, _ in Elements(drawn).found if tag == "script"]


def test_a_number_unfolds_to_what_made_it(text, results):
    curve = read_record(results / "demo.json")["panels"][0]["curves"][0]
    for made in ("fingerprint", "gamma", "seeds"):
        assert f"&#34;{made}&#34;" in text
    assert curve["specification"]["problem"]["fingerprint"] in text
    assert "&#34;numpy&#34;" in text


def test_verdicts_show_the_curves_that_decide(text):
    uses = [given["href"] for tag, given in Elements(text).found if tag == "use"]
    assert uses == ["#demo-0-axes", "#demo-0-0", "#demo-0-1"]


def test_only_lines_that_come_down_to_the_target_are_named_below(results):
    """A line that the edge of the axis cuts off has no bead there; the caption tells its cost."""
    (panel,) = read_record(results / "demo.json")["panels"]
    curve = panel["curves"][0]
    whole = [series.label for series in panel_chart(panel, "k").named]
    assert len(whole) == 3
    assert beyond_axis(panel) == []
    cut = next(i for i, y in enumerate(curve["line"]["median"]) if y < 1e-2)
    curve["line"] = {name: values[:cut] for name, values in curve["line"].items()}
    (told,) = beyond_axis(panel)
    assert told.startswith(f"{curve['label']}: ")
    assert [s.label for s in panel_chart(panel, "k").named] == [w for w in whole if w != told]


def test_verdicts_stand_first_and_what_was_not_run_last(text):
    sections = [f'<section id="{name}">' for name in ("outcomes", "overview", "curves")]
    places = [text.index(each) for each in (*sections, "Not run: ", "<footer>")]
    assert places == sorted(places)
    first = text[places[0] : places[1]]
    assert re.search(r"Claims of the LoCoDL paper</a></td><td>0</td><td>0</td><td>2</td>", first)
    assert re.search(r"EPISODE and its rivals</a></td><td>1</td><td>0</td><td>0</td>", first)


def test_every_curve_can_be_switched(text):
    elements = Elements(text)
    switched = elements.values("data-shows")
    assert switched
    assert set(switched) <= set(elements.values("id"))
    assert set(elements.values("data-of")) >= set(switched)


def test_points_are_where_their_values_are():
    axis = Axis("x", 1.0, 100.0)
    chart = Chart("t", axis, Axis("y", 1e-4, 1.0), (Series("s", [1, 10, 100], [1, 1e-2, None]),))
    left, right, top, bottom = map(
        float, re.search(r'data-frame="([^"]*)"', svg(chart))[1].split()[:4]
    )
    places = re.search(r'class="line" d="M([^"]*)"', svg(chart))[1]
    assert places == f"{left:.1f},{top:.1f}L{(left + right) / 2:.1f},{(top + bottom) / 2:.1f}"


def test_script_is_short_and_parses(text, tmp_path):
    script = re.search(r"<script>(.*)</script>", text, flags=re.DOTALL)[1]
    assert len(script.splitlines()) <= 100
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to parse it")
    (tmp_path / "report.js").write_text(script)
    subprocess.run([node, "--check", tmp_path / "report.js"], check=True)


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium")
def test_a_browser_finds_no_fault_and_the_slider_ranks(results, tmp_path):
    """After the script has run, with the slider moved: order of the rows, errors, width."""
    path = write_report(results, tmp_path / "report.html")
    probe = """<script>
    const slid = document.getElementById("weight"); slid.value = 100;
    slid.dispatchEvent(new Event("input"));
    const box = document.querySelector("[data-shows]"); box.click();
    for (const row of document.querySelectorAll(".ranking details")) row.open = true;
    document.querySelector('.filter button[data-show="undecided"]').click();
    document.title = JSON.stringify({
      order: [...document.querySelectorAll(".ranking tbody tr")].map((r) => r.dataset.up),
      stale: document.querySelectorAll(".panel.stale").length,
      wide: document.documentElement.scrollWidth - innerWidth,
      switched: getComputedStyle(document.getElementById(box.dataset.shows)).display,
      shown: document.querySelectorAll('[data-is~="claim"]:not([hidden])').length,
      requests: performance.getEntriesByType("resource").map((each) => each.name),
    });
    </script>"""
    path.write_text(path.read_text().replace("</body>", probe + "</body>"))
    ran = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
         "--enable-logging=stderr", f"--user-data-dir={tmp_path}", path.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "CONSOLE" not in ran.stderr
    seen = json.loads(re.search(r"<title>(.*?)</title>", ran.stdout)[1].replace("&quot;", '"'))
    assert seen["requests"] == []
    assert seen["shown"] == 0
    assert seen["stale"] == 1
    assert seen["switched"] == "none"
    assert seen["wide"] <= 0
    curves = read_record(results / "demo.json")["panels"][0]["curves"]
    ends = [curve["costs"]["1e-4"] for curve in curves]
    totals = [sorted(u + 10 * d for u, d in zip(e["bits"], e["downlink bits"], strict=True))[1]
              for e in ends]  # fmt: skip
    expected = [ends[place]["bits"] for place in sorted(range(3), key=totals.__getitem__)]
    assert [json.loads(row) for row in seen["order"]] == expected
    assert expected != sorted(expected), "the order without the downlink is another"
