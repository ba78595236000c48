"""What commands print fits a terminal, and progress is elsewhere."""

import json
import sys
from dataclasses import MISSING, fields, replace

import pytest
from command_lines import CASES, FAST, RUN, Terminal, run_words

from certibit.cli import main
from certibit.figures.locodl.recipes import demonstration
from certibit.theory.catalogue.catalogue import CARDS, CLIPPING, METHODS


@pytest.mark.parametrize(("method", "compressor", "extra"), CASES)
def test_tables_fit_a_terminal_and_progress_is_elsewhere(capsys, method, compressor, extra):
    assert main(run_words(method, compressor, extra)) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("problem     breast-cancer@9: n=9, m=63, d=30,")
    assert [line.split()[0] for line in lines[-3:]] == ["1e-1", "1e-2", "1e-3"]
    assert err == "", "there is no terminal to draw progress on"
    assert "%" not in out


def test_progress_is_drawn_on_a_terminal_unless_it_is_to_be_quiet(monkeypatch):
    for words, drawn in ((RUN, True), ([*RUN, "--quiet"], False), (["--quiet", *RUN], False)):
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert main(words) == 0
        assert ("100%" in sys.stderr.getvalue()) is drawn


def test_another_loss_and_another_split(capsys):
    chosen = ["--split", "dirichlet:0.5", "--loss", "smoothed-hinge:0.5"]
    assert main(["run", "breast-cancer@9", "gd", *FAST, *chosen]) == 0
    out = capsys.readouterr().out
    assert "569 rows over 9 clients" in out
    assert "zeta^2 = " in out
    assert max(map(len, out.splitlines())) <= 80


def test_list_names_what_there_is_as_text_and_as_json(capsys):
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    others = ("eta, gamma, I=1, S=None", "published, ours", "rand-k:K+natural", "a5a")
    assert [name for name in (*CARDS, *others, "breast-cancer") if name not in text] == []
    assert max(map(len, text.splitlines())) <= 80
    assert main(["list", "--json"]) == 0
    found, words = json.loads(capsys.readouterr().out), text.replace("\n", " ")
    assert {one["name"] for one in found["methods"]} == set(CARDS)
    for one in found["methods"]:
        card = CARDS[one["name"]]
        assert one["rules"] == list(card.rules)
        assert one["compressor"] == card.method.needs.compressor
        assert [each["name"] for each in one["parameters"]] == [f.name for f in fields(card.method)]
        required = {each["name"] for each in one["parameters"] if each["required"]}
        assert required == {f.name for f in fields(card.method) if f.default is MISSING}
    for key in ("compressors", "problems", "relaxed_problems", "losses", "splits"):
        assert all(name in words for name in found[key])


@pytest.mark.parametrize("name", CLIPPING)
def test_clipping_methods_run_with_given_parameters(capsys, name):
    values = {"eta": 0.2, "gamma": 1, "beta": 1, "tau": 1, "I": 2}
    if CLIPPING[name].step_size == "gamma":
        values["gamma"] = 0.01
    known = {field.name for field in fields(CLIPPING[name].method)}
    chosen = [word for k, v in values.items() if k in known for word in ("--set", f"{k}={v}")]
    assert main(["run", "breast-cancer@9", name, *FAST, *chosen]) == 0
    assert "2 of 2" in capsys.readouterr().out.splitlines()[-1]


COMMANDS = {
    "compare": "compare PROBLEM episode celgc clipped-sgd --seeds 1 --rounds 3 --until-gradient 1",
    "run": "run PROBLEM episode --set I=2 --seeds 1 --rounds 3",
    "check": "check PROBLEM episode",
    "plan": "plan PROBLEM --methods episode,clipped-sgd --until-gradient 1e-2",
    "certify": "certify episode --problem PROBLEM",
}
RELAXED = "quartics:H=4@2", "exponentials:X=3@4:noise=0.1", "hard-bias:M=10@3"


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("selector", RELAXED)
def test_commands_take_relaxed_problems_and_methods_that_clip_by_name(capsys, command, selector):
    """With the parameters of theorems; CELGC's is about equal f_i, which is said."""
    assert main(COMMANDS[command].replace("PROBLEM", selector).split()) == 0
    told = capsys.readouterr()
    assert "episode" in told.out
    assert ("celgc are outside every theorem" in told.err) == (command == "compare")
    if command != "certify":
        assert selector in told.out
    if command in {"run", "check"}:
        assert "L1=" in told.out
        assert "L/mu" not in told.out


@pytest.mark.long
def test_demo_end_to_end(tmp_path, monkeypatch, capsys):
    """As far as f - f* = 1e-3, which takes a tenth of the time."""
    figure = demonstration()
    short = replace(figure, panels=tuple(replace(panel, floor=1e-3) for panel in figure.panels))
    monkeypatch.setattr("certibit.figures.locodl.recipes.demonstration", lambda: short)
    assert main(["demo", "--seeds", "1", "--jobs", "2", "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in METHODS]
    assert {row[0] for row in rows} == set(METHODS)
    rows = [row for row in rows if row[0] in ("locodl", "diana")]
    bits = {(row[0], row[1]): float(row[3].replace(",", "")) for row in rows}
    sent = "rand-k:2+natural"
    assert 5 * bits["locodl", sent] < bits["diana", sent]
    assert (tmp_path / "demo.svg").read_text().startswith("<?xml")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_by_its_name(name, capsys):
    need = METHODS[name].method.needs.compressor
    sent = {"unbiased": ["rand-k:2"], "contractive": ["top-k:2"], None: []}[need]
    words = ["run", "quadratic:d=4@3", name, *sent, "--kappa", "10", "--seeds", "1"]
    assert main([*words, "--until", "1e-1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["method"]["name"] == name
    assert printed["runs"][0]["gap"] <= 1e-1
