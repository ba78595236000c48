"""The pages of the site that are made from cards, compressors, proofs and docstrings."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import pytest
from making import audit_page, compressor_page, method_page, site
from making.reference_page import reference_pages
from making.relaxed_comparison import relaxed_comparison
from making.text import docstring, escaped, formula, prose, table

import certibit
from certibit.figures.certified.rates import Rate, compared_rate
from certibit.solvers.compressors.selector import NAMES, compressor
from certibit.theory import checks
from certibit.theory.audit.locodl.locodl_proof import PROOF
from certibit.theory.audit.machinery.report import audit_report
from certibit.theory.catalogue.catalogue import CARDS, CLIPPING, METHODS, SHARED_MINIMISER

DOCS = Path(__file__).parents[1] / "docs"
RATES = [Rate("m", "r", 10, 100.0, 9.0, 0.25, 0.5, "")]


@pytest.fixture(scope="module")
def compared():
    problem = certibit.problem("breast-cancer@9", kappa=10)
    return certibit.compare(problem, ["gd", "locodl+natural"], target=1e-2, seeds=2)


@pytest.mark.parametrize("name", CARDS)
def test_a_page_has_what_stands_on_its_card(name, compared):
    card = CARDS[name]
    text = method_page.method_page(card, RATES, compared)
    assert text.startswith(f"# {card.label}\n")
    step = "def at" if issubclass(card.method, certibit.Varying) else "def communicate"
    for part in ("## Algorithm", step, "## Parameters", "## Theorems", "## Source"):
        assert part in text
    for rule in card.rules:
        assert f"| `{rule}`" in text
    theorems = card.about("potential", "squared_gradient", "gap")
    for theorem in theorems:
        assert f"### {escaped(theorem.title)}" in text
    for theorem in (*card.about("gradient_norm"), *card.along_runs):
        assert (
            f"### {escaped(theorem.title)}\n\n{escaped(docstring(type(theorem)).summary)}" in text
        )
    assert text.count("Its potential:\n\n$$\n\\Psi = ") == len(theorems)
    assert "| 10 | 100 | 9 | 0.25 | 0.5 |" in text
    assert ("total = up + 1 down" in text) == (name in {"gd", "locodl"})
    assert "solvers/methods/" in text


@pytest.mark.long
def test_methods_of_relaxed_smoothness_stand_beside_each_other():
    """Those on one machine, which send nothing, by their gradients."""
    compared = relaxed_comparison()
    assert {each.card.name for each in compared.contestants} == set(CLIPPING)
    assert all(trace.ending == ("gap",) for trace in compared.traces), "all get there"
    for card in CLIPPING.values():
        text = method_page.method_page(card, [], compared)
        assert f"| **[{card.name}" in text
        assert "the best of a grid" in text


@pytest.mark.long
def test_every_method_has_a_page_with_rates_or_a_comparison(monkeypatch):
    monkeypatch.setattr(site, "audit", lambda name: audit_report(replace(PROOF, steps=())))
    monkeypatch.setattr(site, "compared_rate", lambda *setting: Rate(*setting, 0.1, 0.2, ""))
    monkeypatch.setattr(site, "comparison", site.comparison_alone)
    monkeypatch.setattr(site, "idea_page", lambda *numbers: "")
    monkeypatch.setattr(site, "relaxed_comparison", site.comparison_alone)
    told = dict(site.pages())
    for name in CARDS:
        text = told[f"methods/{name}"]
        assert ("## Promised and certified" in text) == (name in METHODS | SHARED_MINIMISER)
        assert ("## Bits beside the others" in text) == (name in {*SHARED_MINIMISER, "gd", "agd"})


@pytest.mark.parametrize("name", ["econtrol", "ef21p-diana"])
def test_a_theorem_proved_here_only_is_promised_as_well(name):
    rate = compared_rate(name, "largest", *method_page.SETTINGS[0])
    assert rate.certified >= rate.published * (1 - 1e-6) > 0


def test_hypotheses_are_those_of_the_theorems_and_hold_by_a_rule():
    text = method_page.method_page(CARDS["diana"], [], None)
    assert "| `gamma <= 1/(L_f + 6 omega_av L)` | 1 | holds |" in text
    assert "does not hold" not in text
    assert r"\Psi = |x - x^\star|^2" in text


@pytest.mark.parametrize("name", compressor_page.EXAMPLES)
def test_a_page_has_every_bit_of_a_message(name):
    sent = compressor(name)
    layout = sent.layout(16)
    text = compressor_page.compressor_page(sent)
    assert escaped(sent.name) in text
    rows = text.split("| fields | kind |")[1].split("\n\n")[0].splitlines()[2:]
    assert sum(int(row.split("|")[4]) for row in rows) == layout.bits
    assert f"{layout.bits} bits, {layout.bytes} bytes" in text


def test_every_kind_of_compressor_has_a_page():
    kinds = {type(compressor(name)) for name in compressor_page.EXAMPLES}
    single = (form for form in NAMES if ";" not in form)  # a pair has the pages of its parts
    made = {form.replace("COMPRESSOR", "natural").replace("BIASED", "top-k:2") for form in single}
    made = {form.replace("K", "2").replace("S", "3") for form in made}
    assert kinds == {type(compressor(name)) for name in made}


def test_a_proof_is_shown_step_by_step():
    record = audit_report(replace(PROOF, steps=PROOF.steps[:3])).record()
    record["steps"][1] |= {
        "verdict": "fails", "repair": "twice as much", "severity": "wrong constant",
        "witness": {"cell": {}, "variables": {"a": "1/2"}, "left": "2", "right": "1",
                    "arithmetic": "fractions"},
    }  # fmt: skip
    record["steps"][2] |= {"verdict": "holds at 9 points searched"}
    text = audit_page.audit_page(record)
    failing, _ = text.split("## All steps")
    places = [f"### {escaped(step['place'])}\n" in failing for step in record["steps"]]
    assert places == [False, True, False], "what was searched and holds is no finding"
    for step in record["steps"]:
        assert escaped(step["place"]) in text
    for part in ("twice as much", "wrong constant", "a = 1/2", "left = 2, right = 1"):
        assert part in text


def test_all_public_names_are_in_the_reference():
    text = "".join(text for _, text in reference_pages())
    assert [name for name in certibit.__all__ if f"\n## {name}\n" not in text] == []


def test_all_members_in_the_reference_are_described():
    rows = [row for _, text in reference_pages() for row in text.splitlines()]
    assert [row for row in rows if re.fullmatch(r"\| `\w+` \|\s*\|", row)] == []


def test_every_check_is_in_the_list():
    sources = [file.read_text() for file in Path(inspect.getfile(checks)).parent.rglob("*.py")]
    names = {n for text in sources for n in re.findall(r'Verdict\(\s*f?"([^"]+)"', text)}
    told = (DOCS / "checks.md").read_text().replace("\\|", "|")
    assert len(names) > 20
    assert {name for name in names if f"| {name} |" not in told} == set()


def test_a_docstring_is_read_in_its_parts():
    told = docstring(certibit.LoCoDL)
    assert told.summary.startswith("LoCoDL")
    assert "```text\n" in prose(told.body)
    assert dict(told.entries("Parameters"))["p : float"] == "Probability of communication."


def test_formulas_are_latex():
    written = formula("Psi = (4 omega_av/alpha) sum_i |h_i - grad f_i(x*)|^2 + sqrt(mu), each")
    assert written == (
        r"\Psi = (4 \omega_{\mathrm{av}}/\alpha) \sum_i |h_i - \nabla f_i(x^\star)|^2 "
        r"+ \sqrt{\mu}, \text{ each }"
    )


def test_texts_are_no_markdown():
    assert escaped("a_i * |x| and `b_i`") == r"a\_i \* \|x\| and `b_i`"
    assert table(("a",), [("b\nc",)]) == "| a |\n| --- |\n| b c |"
