"""The code in the documentation runs, and what the pages say about it is so."""

import inspect
import math
import pkgutil
import re
from pathlib import Path

import pytest

import certibit
from certibit.cli import main

ROOT = Path(__file__).parents[1]


def run_page(page: str) -> dict:
    """Run the python blocks of a page one after the other; give the names they define."""
    path = ROOT / page
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks, f"{page} has no python block"
    names: dict = {"__name__": path.stem}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    return names


CLAIMS = {
    "README.md": ["trace.ending == ('gap',) * 5", "'locodl' in printed"],
    "docs/certify.md": [
        "certificate.factor < 1 and certificate.verify()",
        "certificate.bound - certificate.decrease <= 1e-8 * certificate.decrease",
        "Path('momentum_diana.json').exists()",
        "'Theorem certified' in Path('momentum_diana.v').read_text()",
        "mixed.decrease >= certificate.decrease * (1 - 1e-6)",
        "chain.steps == 1000 and chain.decrease >= certificate.decrease * (1 - 1e-12)",
        "'works up to gamma' in printed and 'f - f* grows' in printed",
        "'attained on worst case@5' in printed",
        "worst.step().factor == approx(gentle.factor, abs=1e-6 * abs(gentle.decrease))",
    ],
    "docs/certify-classes.md": [
        "better.verify() and better.c > proof.c",
        "iterations == approx(2 / (proof.c * 1e-3))",
        "'Psi - 0.19' in printed",
        "descent.verify() and descent.c > 0",
        "{one.check: one.holds for one in examination.verdicts}['descent along a run']",
        "published.c == approx(1 - (1 + e) / 8, rel=1e-9)",
        "clipped.c == approx(1 - 2 * (expm1(-0.25) + 0.25) / 0.25, rel=1e-9)",
        "clipped.verify()",
    ],
    "docs/figures.md": ["gap.shape == bits.shape"],
    "docs/how-it-is-built.md": [
        "bits_per_client.tolist() == [layout.bits] == [74]",
        "encoded.shape == (9, 10, 1)",
        "len(step.symbols.basis.names) == 5",
        "[len(block) for block in step.now[0].blocks] == [3, 2]",
        "len(step.inequalities) == 2",
        "proof.verify() and proof.factor < 1",
    ],
    "docs/own-data.md": [
        "named.division.classes == ('ill', 'well')",
        "sum(dealt.division.sizes) == 300",  # nothing is discarded
        "{name for trace in race.traces for name in trace.ending} == {'squared_gradient'}",
        "descent.ending == ('squared_gradient',) * 5",
        "measured.at_solution > 0",
        "trace.ending == ('gap', 'gap')",
        "robust.loss == Huber(1.0)",
        "model.score(X, y) > 0.8",
        "episode.final('gap').max() < 1e-3",  # it ends near the minimum
        "celgc.final('gap').min() > 0.1",  # it stays away from it
        "all(condition.holds for condition in conditions)",
    ],
    "docs/plan.md": [
        "'bits per second: locodl' in printed",
        "made.crossover()[-1].offer.pair == 'agd'",
    ],
    "docs/write-a-loss.md": [
        "0 < problem.gap(problem.x_star * (1 + 1e-9))[0] < 1e-15",  # nothing cancels
        "LogCosh().curvature(0.0, 0.0) == LogCosh().smoothness",
        "found.best().name == 'locodl+natural'",
    ],
    "docs/write-a-method.md": [
        "(trace.columns['gap'] > 1e-6).all()",  # it stalls
        "step.now == approx(0, abs=1e-20)",
        "step.expected > 1e-6",
        "covered == CARD.theorems",
        "outside == ()",
        "verdict.holds",
        "verdict.value > 0.9 * verdict.limit",
    ],
}
"""What pages say of the names that their python blocks define, and of what these print."""
LONG = ("README.md", "docs/own-data.md", "docs/certify.md", "docs/certify-classes.md")


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=pytest.mark.long if p in LONG else ()) for p in CLAIMS]
)
def test_what_a_page_says_is_so(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"approx": pytest.approx, "Huber": certibit.Huber, "Path": Path} | vars(math)
    names |= run_page(page)
    names["printed"] = capsys.readouterr().out
    assert [claim for claim in CLAIMS[page] if not eval(claim, names)] == []


VARIANTS = {
    "correct": ("", "", 0, "no check fails"),
    "sign error": (
        "s.x - self.gamma",
        "s.x + self.gamma",
        1,
        "at the weights of the potential and at the rate of the theorem.",
    ),
    "lax step size": (
        '"gamma < 2/L_f", m.gamma, 2 /',
        '"gamma < 4/L_f", m.gamma, 4 /',
        1,
        "The hypothesis gamma < 4/L_f is false on its boundary",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("variant", VARIANTS)
def test_check_says_what_the_page_says(capsys, tmp_path, variant):
    page = (ROOT / "docs/write-a-method.md").read_text(encoding="utf-8")
    right, wrong, code, words = VARIANTS[variant]
    assert words in " ".join(page.split())
    method, _, distance, promise, _ = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    potential = re.search(r"class Distance:.*?\n\n\n", distance, flags=re.DOTALL)[0]
    card = promise.split("covered =")[0]
    text = f"{method}\nfrom certibit import Squares\n{potential}\n{card}"
    assert text.count(right or "class DCGD") == 1
    path = tmp_path / "own.py"
    path.write_text(text.replace(right, wrong) if right else text, encoding="utf-8")
    assert main(["check", "breast-cancer@9", str(path), "--kappa", "100"]) == code
    said = " ".join(capsys.readouterr().out.split())
    assert words in said
    end = re.search(
        r"(?:A CHECK FAILS: (?P<names>.*)|no check fails of \d+; --all prints every check)$", said
    )
    assert code == (end["names"] is not None)
    assert all(f"{name} FAILS" in said for name in (end["names"] or "").split(", ") if name)
    for quoted in re.findall(r"\n\n((?:    (?:One step|The hyp|no check).*\n)(?:    .*\n)*)", page):
        sentence = " ".join(quoted.split())
        assert (sentence in said) == (words in sentence), sentence


def test_a_compressor_of_ones_own(capsys):
    names = run_page("docs/write-a-compressor.md")
    said = " ".join(capsys.readouterr().out.split())
    assert "FAILS" not in said
    assert said.count(": measured") == 4
    assert said.count(": holds at 72 points searched") == 1
    text = " ".join((ROOT / "docs/write-a-compressor.md").read_text(encoding="utf-8").split())
    assert text.endswith(names["failing"].advice)
    block = inspect.cleandoc(text_of_class("docs/write-a-compressor.md", "RandomSigns"))
    assert len([line for line in block.splitlines() if line.strip()]) <= 18


def text_of_class(page: str, name: str) -> str:
    """Return the text of a class of a page, up to the end of its block."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return text[text.index(f"class {name}") :].split("```")[0]


def test_a_network_of_ones_own(capsys):
    pytest.importorskip("torch", reason="torch is not installed")
    names = run_page("docs/own-network.md")
    first = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/own-network.md").read_text("utf-8"), re.DOTALL
    )[0]
    made, *_ = first.split("method =")
    assert len([line for line in made.splitlines() if line]) <= 15, "the page says so"
    problem, trace = names["problem"], names["trace"]
    assert problem.accuracy(trace.x)[0] > problem.accuracy(problem.x_0)[0] + 0.4
    assert trace.final("uplink_bits")[0] == 40 * 2 * 32 * problem.d
    assert names["best"] in names["grid"]


@pytest.mark.long
def test_the_tutorial(capsys):
    names = run_page("docs/tutorial.md")
    assert not names["examined"].holds, "the page says that a check fails"
    told = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    printed = re.search(r"print\(examined\)\n```\n\n((?:    .*\n)+)", told)[1]
    parts = (re.escape(" ".join(part.split())) for part in printed.split("..."))
    assert re.search(".*".join(parts), " ".join(str(names["examined"]).split()))
    assert names["examined_again"].holds
    assert names["certificate"].factor < 1
    assert names["certificate"].verify()
    costs = names["found"].costs()
    assert set(costs) == {"diana+rand-k:3", "mended+rand-k:3"}


PAGES = [
    *(p.name for p in ROOT.glob("*.md")),
    *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_no_marks_of_a_merge(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.findall(r"^(?:<<<<<<<|=======|>>>>>>>).*$", text, flags=re.MULTILINE) == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        if "atlas/" not in target:  # made with the site, whose build follows its links
            assert (ROOT / page).parent.joinpath(target).exists(), target


def test_relaxed_problems_are_where_the_page_says():
    page = (ROOT / "docs/own-data.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (.+) \| .* \|$", page.split("## (L0, L1)")[1], re.MULTILINE)
    names = re.findall(r"`([\w.]+)`", " ".join(rows[1:]))
    assert all(pkgutil.resolve_name(f"certibit.data.relaxed.{name}") for name in names)
    assert names
