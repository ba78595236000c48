"""The code in the documentation runs, and what the pages say about it is so."""

import inspect
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


def test_a_method_of_ones_own(capsys):
    names = run_page("docs/write-a-method.md")
    trace, step = names["trace"], names["step"]
    assert (trace.columns["gap"] > 1e-6).all(), "the page says that it stalls"
    assert step.now == pytest.approx(0, abs=1e-20)
    assert step.expected > 1e-6
    assert names["covered"] == names["CARD"].theorems
    assert names["outside"] == ()
    assert names["verdict"].holds
    assert names["verdict"].value > 0.9 * names["verdict"].limit


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


@pytest.mark.long
def test_data_of_ones_own(capsys):
    names = run_page("docs/own-data.md")
    assert names["named"].division.classes == ("ill", "well")
    assert sum(names["dealt"].division.sizes) == 300, "the page says that nothing is discarded"
    assert {name for trace in names["race"].traces for name in trace.ending} == {"squared_gradient"}
    assert names["descent"].ending == ("squared_gradient",) * 5
    assert names["measured"].at_solution > 0
    assert names["trace"].ending == ("gap", "gap")
    assert names["robust"].loss == certibit.Huber(1.0)
    assert names["model"].score(names["X"], names["y"]) > 0.8
    episode, celgc = names["episode"], names["celgc"]
    assert episode.final("gap").max() < 1e-3, "the page says that it ends near the minimum"
    assert celgc.final("gap").min() > 0.1, "the page says that it stays away from it"
    assert all(condition.holds for condition in names["conditions"])
    found = [names["quartic"].L0, names["steep"].L0]
    assert found == pytest.approx([16, float("inf")], rel=1e-4)


def test_a_loss_of_ones_own(capsys):
    names = run_page("docs/write-a-loss.md")
    problem, loss = names["problem"], names["LogCosh"]()
    x = problem.x_star * (1 + 1e-9)
    assert 0 < problem.gap(x)[0] < 1e-15, "the page says that nothing cancels"
    assert loss.curvature(0.0, 0.0) == loss.smoothness
    assert names["found"].best().name == "locodl+natural"


def test_a_network_of_ones_own(capsys):
    pytest.importorskip("torch", reason="torch is not installed")
    names = run_page("docs/own-network.md")
    problem, trace = names["problem"], names["trace"]
    first = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/own-network.md").read_text("utf-8"), re.DOTALL
    )[0]
    made, *_ = first.split("method =")
    assert len([line for line in made.splitlines() if line]) <= 15, "the page says so"
    assert problem.accuracy(trace.x)[0] > problem.accuracy(problem.x_0)[0] + 0.4
    assert trace.final("uplink_bits")[0] == 40 * 2 * 32 * problem.d
    assert names["best"] in names["grid"]
    hook = names["hook"]
    assert hook.uplink_bits == 20 * certibit.compressor("top-k:100").bits(problem.d)
    assert hook.bytes_sent == 20 * -(-hook.uplink_bits // 160)


def test_the_walk(capsys):
    names = run_page("docs/how-it-is-built.md")
    assert names["bits_per_client"].tolist() == [names["layout"].bits] == [74]
    assert names["encoded"].shape == (9, 10, 1)
    symbols = names["step"].symbols
    assert len(symbols.basis.names) == 5, "the page says that there are five unknowns"
    assert [len(block) for block in names["step"].now[0].blocks] == [3, 2]
    assert len(names["step"].inequalities) == 2
    assert names["proof"].verify() == names["proof"].factor < 1


def test_very_many_clients_are_run_by_cohort():
    names = run_page("docs/scale.md")
    assert names["few"].specification["by_cohort"]


def test_a_plan(capsys):
    made = run_page("docs/plan.md")["made"]
    assert "bits per second: locodl" in capsys.readouterr().out
    assert made.crossover()[-1].offer.pair == "agd"


@pytest.mark.long
def test_the_readme(capsys):
    trace = run_page("README.md")["trace"]
    assert trace.ending == ("gap",) * 5
    assert "locodl" in capsys.readouterr().out


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


def test_figures_of_ones_own(capsys):
    names = run_page("docs/figures.md")
    assert names["gap"].shape == names["bits"].shape


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
