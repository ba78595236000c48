"""`certibit run` and `compare` with --until-gradient, on nonconvex problems and others."""

import pytest
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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["run", MODEL, "agd"],
            "agd needs a strongly convex problem and breast-cancer@9:nonconvex",
        ),
        (["run", MODEL, "gd", "--kappa", "10"], "kappa = 10 of a nonconvex problem, whose mu"),
        (["run", MODEL, "locodl", "rand-k:2"], "locodl needs a strongly convex problem and"),
        (["certify", "locodl", "--class", "nonconvex"], "choose a method that minimises f alone"),
        (["run", MODEL, "l-svrg"], "l-svrg has no rule for functions that are not"),
        (["run", MODEL, "gd", "--until-gradient", "1e-40"], "|grad f|^2 = 1e-40 is finer than"),
        (["run", MODEL, "gd", "--until-gradient", "-1"], "a budget of -1 squared_gradient is not"),
        (["compare", MODEL, "gd", "--until-gradient", "9"], "the target |grad f|^2 = 9 is not"),
        (
            ["certify", "clip21", "--problem", MODEL, "--set", "gamma=0.1", "--set", "tau=1"],
            "is not strongly convex, as is needed here",
        ),
        (["plan", MODEL, "--until", "0.1"], "what is promised of f - f* needs mu > 0"),
        (
            ["run", MODEL, "l-svrg", "--strict", "--set", "gamma=1", "--set", "p=0.5"],
            "the theorems of l-svrg are about strongly convex functions",
        ),
        (
            ["run", MODEL, "gd", "--strict", "--set", "gamma=9"],
            "the parameters of gd are outside every theorem of the method: gamma",
        ),
    ],
)
def test_misfits_are_refused_in_a_sentence(capsys, words, sentence):
    assert main(words) == 2
    told = capsys.readouterr().err.strip()
    assert sentence in told
    assert "\n" not in told


def test_two_accuracies_are_refused(capsys):
    assert main(["compare", MODEL, "gd", "--until", "0.1", "--until-gradient", "0.1"]) == 2
    assert "not allowed with argument --until" in capsys.readouterr().err
