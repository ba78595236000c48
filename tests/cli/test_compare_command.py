"""`certibit compare` is the comparison of Python."""

import re

import pytest
from command_lines import COMPARE, RUN, strict

import certibit
from certibit.cli import main
from certibit.solvers.runs.engine import simulate


def test_compare_prints_the_table_and_draws(capsys, tmp_path):
    picture, tex, bib = (tmp_path / name for name in ("figure.svg", "table.tex", "papers.bib"))
    files = ["--plot", str(picture), "--latex", str(tex), "--bibtex", str(bib)]
    files += ["--axes", "total bits,rounds", "--width", "7", "--title", ""]
    assert main([*COMPARE, "--downlink-weight", "0.5", *files]) == 0
    found = certibit.compare(
        certibit.problem("breast-cancer@9", kappa=50),
        [("locodl", "rand-k:2+natural"), "agd"],
        target=1e-3,
        seeds=2,
    )
    assert capsys.readouterr().out == f"{found.table(0.5)}\n"
    axes = ["total bits", "rounds"]
    found.save(tmp_path / "again.svg", axes, downlink=0.5, width=7.0, title="")
    assert picture.read_bytes() == (tmp_path / "again.svg").read_bytes()
    assert re.findall(r"@\w+\{([\w-]+),", bib.read_text()) == ["nesterov2018", "locodl"]
    assert tex.read_text() == f"{found.to_latex(downlink=0.5)}\n"


def test_compare_as_json(capsys):
    assert main([*COMPARE, "--json"]) == 0
    found = strict(capsys.readouterr().out)
    assert [each["name"] for each in found["contestants"]] == COMPARE[2:4]
    assert main([*RUN, "--json"]) == 0
    runs = strict(capsys.readouterr().out)["runs"]
    bits = found["contestants"][0]["costs"]["1e-3"]["bits"]["runs"]
    assert bits == [run["bits_to"]["1e-3"] for run in runs]


def test_compare_models_seconds_on_a_network(capsys):
    network = "up=10kbit,latency=0s,down=1Gbit,gradient=0s"
    assert main([*COMPARE, "--network", network, "--json"]) == 0
    found = strict(capsys.readouterr().out)
    assert found["network"]["uplink"] == 1e4
    for each in found["contestants"]:
        costs = each["costs"]["1e-3"]
        assert costs["seconds"]["median"] == pytest.approx(costs["bits"]["median"] / 1e4, rel=0.01)
    assert main([*COMPARE, "--network", "lan"]) == 0
    out = capsys.readouterr().out
    assert "seconds are modelled on 1 Gbit/s up" in " ".join(out.split())
    ranked = [line.split()[0] for line in out.splitlines()[-3:]]
    assert ranked == ["agd", "locodl", "+rand-k:2+natural"]
    assert max(map(len, out.splitlines())) <= 80


def test_compare_computes_nothing_twice_unless_it_is_to_be_fresh(capsys, monkeypatch):
    assert main(COMPARE) == 0
    first, ran = capsys.readouterr().out, []

    def again(*arguments, **options):
        ran.append(options)
        return simulate(*arguments, **options)

    monkeypatch.setattr("certibit.solvers.store.store.simulate", again)
    assert main([*COMPARE, "--network", "lte"]) == 0
    capsys.readouterr()
    for fresh, runs in ([], 0), (["--fresh"], 2):
        assert main([*COMPARE, *fresh]) == 0
        assert capsys.readouterr().out == first
        assert len(ran) == runs


def test_compare_takes_files_of_two_folders_each_with_its_helper(capsys, tmp_path):
    """Their only difference is what each one's helper says."""
    for folder, factor in (("a", 0.5), ("b", 1.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper.py").write_text(f"FACTOR = {factor}\n")
        (tmp_path / folder / "mine.py").write_text(
            "from dataclasses import dataclass\nfrom certibit import GD\nimport helper\n\n"
            "@dataclass(frozen=True)\nclass Mine(GD):\n"
            f"    name = 'mine-{folder}'\n    gamma: float = 0.1 * helper.FACTOR\n"
        )
    words = ["compare", "quadratic:d=4@3", "--kappa", "9", "--seeds", "1", "--json"]
    words += [f"{tmp_path / folder / 'mine.py'}:Mine" for folder in "ab"]
    assert main([*words, "--output", str(tmp_path)]) == 0
    found = strict(capsys.readouterr().out)["contestants"]
    assert [each["parameters"]["gamma"] for each in found] == [0.05, 0.1]
