"""The command certify: what it prints, writes, contradicts and refuses."""

import json
import re
from functools import partial

import pytest

from certibit.cli import main
from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.diana import DIANA
from certibit.theory.certificates import search
from certibit.theory.exact.second_moments import SecondMoments
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting
from certibit.theory.worlds.symbolic import expectation


def test_certify_prints_theorem_certificate_and_worst_case(capsys):
    assert main(["certify", "scaffold", "--n", "5", "--kappa", "100"]) == 0
    text = capsys.readouterr().out
    for word in (
        "theorem",
        "certified",
        "proof       holds",
        "loose by",
        "step size",
        "worst case",
    ):
        assert word in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_certify_shows_a_divergence(capsys):
    assert main(["certify", "gd", "--n", "4", "--kappa", "50", "--set", "gamma=0.06"]) == 1
    text = capsys.readouterr().out
    assert "no decrease is certified" in text
    assert "f - f*" in text.split("divergence")[1]


@pytest.mark.long
def test_certify_searches_a_potential(capsys):
    words = ["certify", "locodl", "--n", "3", "--kappa", "20", "--omega", "4", "--json"]
    found = {}
    for potential in ("stated", "search"):
        assert main([*words, "--potential", potential]) == 0
        found[potential] = json.loads(capsys.readouterr().out)
    assert found["search"]["certified_decrease"] > 1.03 * found["stated"]["certified_decrease"]
    assert found["search"]["proof_holds"] is True
    assert found["search"]["potential"].startswith("Psi = ")
    assert found["stated"]["potential"] is None


@pytest.mark.long
def test_certify_prints_the_potential_that_is_found(capsys):
    words = ["certify", "econtrol", "--n", "4", "--kappa", "10", "--potential", "search"]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert re.search(r"potential Psi = .*mean grad f\|\^2.* certified ", text)


@pytest.mark.long
def test_certify_bounds_a_searched_potential_from_the_other_side(capsys):
    words = ["certify", "locodl", "--n", "3", "--kappa", "100", "--omega", "4"]
    words += ["--potential", "search"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    certified, limit = found["certified_decrease"], found["limit_of_potentials"]
    assert certified < limit < 1.1 * certified
    assert main(words) == 0
    assert "other side  asymptotic factor 1 - 0.010" in (capsys.readouterr().out)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("kappa", ["10", "100"])
@pytest.mark.parametrize("n", ["1", "10", "1000"])
@pytest.mark.parametrize("name", ["ef", "ef21"])
def test_certify_leaves_no_gap_where_the_truth_is_known(capsys, name, n, kappa):
    """The worst step of the stated potential is better than the long run, which no potential is."""
    words = ["certify", name, "--n", n, "--kappa", kappa, "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    proved, limit = found["certified_decrease"], found["limit_of_potentials"]
    assert proved == pytest.approx(limit, rel=1e-3)
    assert proved <= limit * (1 + 1e-7)


def test_the_limit_of_a_step_is_found_where_no_step_of_a_path_is_left(capsys, searched_step):
    """The path ends at its last point, which proves no decrease: gamma = 0.2 is the limit."""
    assert main(["certify", "local-sgd", "--kappa", "10"]) == 0
    limit = re.search(r"factor below 1 certified up to (\S+)", capsys.readouterr().out)
    assert float(limit[1]) == pytest.approx(0.2, rel=2e-3)


@pytest.mark.long
@pytest.mark.parametrize("name", ["econtrol", "ef21p-diana", "compressed-gd"])
def test_certify_bounds_contractions_from_the_other_side(capsys, name):
    words = ["certify", name, "--n", "3", "--kappa", "20", "--omega", "1"]
    assert main([*words, "--json"]) == (1 if name == "compressed-gd" else 0)
    found = json.loads(capsys.readouterr().out)
    assert found["certified_decrease"] <= found["limit_of_potentials"] < 1
    assert main(words) == (1 if name == "compressed-gd" else 0)
    assert "asymptotic factor 1 - " in capsys.readouterr().out


def test_certify_speaks_of_contractions_where_a_region_is_proved(capsys):
    words = ["certify", "clip21", "--set", "gamma=0.01", "--set", "tau=1", "--alpha", "0.5"]
    assert main([*words, "--kappa", "10"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "on quadratics of one dimension with contractions of that alpha" in text


def test_more_than_the_long_run_allows_is_a_contradiction(capsys, monkeypatch):
    """It was printed as if both could be so."""
    words = ["certify", "gd", "--n", "2", "--kappa", "10", "--potential", "search"]
    right = SecondMoments.factor_of
    monkeypatch.setattr(SecondMoments, "factor_of", lambda *about: (1 + right(*about)) / 2)
    assert main(words) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "believe neither" in err


def test_certify_says_what_is_too_large_to_be_attained(capsys):
    assert main(["certify", "diana", "--n", "10000", "--kappa", "50"]) == 0
    assert "not attained: the worst case for n = 10000 is too large" in " ".join(
        capsys.readouterr().out.split()
    )


def test_a_contradiction_is_no_result(capsys, monkeypatch):
    """Noise that is counted half makes the proof better than an exact step."""
    right = expectation._variance
    monkeypatch.setattr(expectation, "_variance", lambda *about: right(*about) / 2)
    assert main(["certify", "diana", "--n", "3", "--kappa", "20"]) == 3
    assert "one of them is wrong" in capsys.readouterr().err


def test_certify_gives_strict_json(capsys, monkeypatch):
    monkeypatch.setattr(search, "optimise", partial(search.optimise, evaluations=30))
    assert main(["certify", "gd", "--kappa", "30", "--optimise", "bits", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proof_holds"] is True
    assert found["certified_decrease"] >= found["published_decrease"] * (1 - 1e-6)
    assert found["worst_case_decrease"] == pytest.approx(found["certified_decrease"], rel=1e-6)
    optimum = found["optimum"]
    assert optimum["certified_decrease"] > 1.5 * found["certified_decrease"]
    bits = [optimum[key]["uplink_bits"] for key in ("per_decade", "published_per_decade")]
    assert bits[0] <= bits[1] * (1 + 1e-6)


def test_certify_takes_a_file(capsys, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from certibit.solvers.methods.gd import GD\n\n\n"
        "@dataclass(frozen=True)\nclass Mine(GD):\n    name = 'mine'\n"
    )
    assert main(["certify", str(path), "--n", "3", "--kappa", "10", "--set", "gamma=0.1"]) == 0
    assert "(1 - 0.19" in capsys.readouterr().out


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_certify_takes_the_constants_of_a_problem(capsys, groups):
    words = ["certify", "diana", "--problem", "quadratic:d=6@5", "--compressor", "rand-k:2"]
    words += ["--kappa", "30", "--groups", str(groups)]
    assert main([*words, "--json"]) == 0
    family = json.loads(capsys.readouterr().out)["family"]
    setting = Setting.of(DIANA, problem("quadratic:d=6@5", kappa=30), compressor("rand-k:2"))
    expected = FunctionClass.of_groups(setting, groups)
    assert [one["L"] for one in family["classes"]] == [one.L for one in expected.classes]
    assert main(words) == 0
    assert ("clients by smoothness" in capsys.readouterr().out) == (groups > 1)


def test_certify_looks_for_a_divergence_within_the_classes(capsys):
    words = ["certify", "gd", "--problem", "quadratic:d=4@3", "--kappa", "50"]
    assert main([*words, "--set", "gamma=0.2"]) == 1
    assert "overflows" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "unknown"),
        (["gd", "--omega", "2"], "leave the compressor out"),
        (["locodl", "--optimise", "bits"], "give --compressor"),
        (["locodl", "--parameters", "nobody"], "no parameter rule"),
        (["nowhere.py"], "no file"),
        (["gd", "--kappa", "0"], "kappa = 0"),
        (["gd", "--groups", "2"], "give --problem"),
        (["gd", "--problem", "quadratic:d=6@5", "--n", "5"], "--n follows from --problem"),
        (["gd", "--problem", "quadratic:d=6@5", "--groups", "6"], "give 1 to 5"),
        (["diana", "--problem", "quadratic:d=6@5"], "give --compressor"),
        (["gd", "--problem", "quadratic:d=6@5", "--optimise", "rounds"], "no --problem"),
        (["diana", "--problem", "quadratic:d=6@5", "--compressor", "rand-k:1@shared"], "1 group"),
    ],
)
def test_certify_refuses_in_one_sentence(capsys, arguments, sentence):
    assert main(["certify", *arguments]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
