"""The code in the documentation runs, and what the pages say about it is so."""

import re
from pathlib import Path

import pytest

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


def test_relaxed_smoothness(capsys):
    names = run_page("docs/relaxed-smoothness.md")
    episode, celgc = names["episode"], names["celgc"]
    assert episode.final("gap").max() < 1e-3, "the page says that it ends near the minimum"
    assert celgc.final("gap").min() > 0.1, "the page says that it stays away from it"
    assert (episode.final("uplink_bits") == 2 * celgc.final("uplink_bits")).all()
    assert all(condition.holds for condition in names["conditions"])
    found = [names["quartic"].L0, names["steep"].L0]
    assert found == pytest.approx([16, float("inf")], rel=1e-4)


def test_the_readme(capsys):
    trace = run_page("README.md")["trace"]
    assert trace.ending == ("gap",) * 5
    assert "locodl" in capsys.readouterr().out


def test_the_tutorial(capsys):
    names = run_page("docs/tutorial.md")
    assert not names["examined"].holds, "the page says that a check fails"
    told = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    assert names["examined"].verdicts
    assert "look for a sign error in the step" in str(names["examined"])
    assert "look for a sign error in the step" in told
    assert names["examined_again"].holds
    assert names["certificate"].factor < 1
    assert names["certificate"].verify()
    costs = names["found"].costs()
    assert set(costs) == {"diana+rand-k:3", "mended+rand-k:3"}


def test_figures_of_ones_own(capsys):
    names = run_page("docs/figures.md")
    assert names["gap"].shape == names["bits"].shape


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        if "atlas/" not in target:  # made with the site, whose build follows its links
            assert (ROOT / page).parent.joinpath(target).exists(), target
