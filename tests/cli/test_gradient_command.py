"""`certibit run` and `compare` with --until-gradient, on nonconvex problems and others."""

from command_lines import strict

import certibit
from certibit.cli import main

MODEL = "breast-cancer@9:nonconvex"


def test_run_prints_the_cost_of_each_squared_gradient(capsys):
    words = ["run", MODEL, "ef21", "top-k:4", "--seeds", "1", "--until-gradient", "1e-2"]
    assert main(words) == 0
    out = capsys.readouterr().out
    solved, sent = certibit.problem(MODEL), certibit.compressor("top-k:4")
    budget = certibit.Budget(squared_gradient=1e-2)
    trace = certibit.run("ef21", solved, sent, seeds=1, budget=budget)
    head, *rows = out.split("\n\n")[1].splitlines()
    assert head.startswith("|grad f|^2")
    assert rows[-1].split()[:2] == ["1e-2", f"{trace.bits_to(1e-2)[0]:,.0f}"]
    assert "mu=-0.05" in out
    assert "f_star" not in out  # no infimum is known


def test_run_as_json(capsys):
    assert main(["run", MODEL, "gd", "--seeds", "1", "--until-gradient", "1e-2", "--json"]) == 0
    found = strict(capsys.readouterr().out)
    assert (found["measure"], found["problem"]["kappa"]) == ("squared_gradient", None)
    assert found["runs"][0]["ending"] == "squared_gradient"
    assert 0 < found["runs"][0]["squared_gradient"] <= 1e-2


def test_the_usual_accuracy_is_one_of_the_gradient(capsys):
    assert (
        main(["run", "quadratic:d=4@3:nonconvex=0.3", "gd", "--seeds", "1", "--bits", "4000"]) == 0
    )
    assert "|grad f|^2" in capsys.readouterr().out
    assert main(["compare", MODEL, "gd", "--seeds", "1", "--rounds", "3"]) == 0
    assert "|grad f|^2 <= 1e-6" in capsys.readouterr().out


def test_a_strongly_convex_problem_by_its_gradient(capsys):
    words = ["breast-cancer@9", "--kappa", "50", "--until-gradient", "1e-2", "--seeds", "1"]
    assert main(["compare", words[0], "gd", "agd", *words[1:]]) == 0
    assert "|grad f|^2 <= 1e-2" in capsys.readouterr().out
