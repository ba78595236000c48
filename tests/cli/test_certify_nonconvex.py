"""The command ``certify`` over functions that need not be convex."""

import json
from pathlib import Path

import pytest

from certibit import METHODS
from certibit.cli import main
from certibit.figures.certified.classes.rule_tables import descent_row


@pytest.mark.long
def test_ef21_beside_its_theorem(capsys, searched_step):
    assert main(["certify", "ef21", "--class", "nonconvex", "--omega", "1", "--n", "5"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "E[Psi+] <= Psi - 0.14644661 |grad f(x)|^2 (EF21, nonconvex)" in told
    assert "E[Psi+] <= Psi - 0.1952" in told
    assert "proof holds, checked in rational numbers" in told
    assert "verdict loose by a factor 1.333" in told
    assert "a descent is certified up to 0.34" in told


def test_json_has_the_exact_proof(capsys, searched_step):
    assert main(["certify", "gd", "--class", "nonconvex", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proof_holds"] is True
    assert found["certified_c"] == pytest.approx(0.75)
    assert found["published_c"] == 0.5
    assert found["largest_step_size"] == pytest.approx(2.0, rel=2e-2)
    page = Path(__file__).parents[2].joinpath("docs/json.md").read_text(encoding="utf-8")
    rows = page.split("| `certify --class nonconvex` |")[1].split("\n| `")[0]
    assert {key for key in found if f"`{key}`" not in rows} == set()


@pytest.mark.long
def test_convex_functions(capsys, searched_step):
    """c = 2 gamma for gamma = 1/L, which is the best step."""
    assert main(["certify", "gd", "--class", "convex", "--n", "3"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "mu = 0, L = 1" in told
    assert "potential that of gradient descent, convex. At the state at rest" in told
    assert "<= Psi - 1.999999" in told
    assert "proof holds, checked in rational numbers" in told
    assert "a descent is certified up to 1.9" in told


@pytest.mark.long
def test_constants_of_a_nonconvex_problem(capsys):
    words = "certify marina --problem breast-cancer@9:nonconvex --compressor rand-k:2"
    assert main(words.split()) == 0
    told = capsys.readouterr().out
    assert "mu = -0.05" in told
    assert "MeanSmoothness" in told


def test_a_step_that_may_climb_fails(capsys):
    assert main(["certify", "gd", "--class", "nonconvex", "--set", "gamma=2.5"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "no decrease is certified" in said
    assert "E[Psi+] <= Psi + 0.5625" in said


def test_the_smallest_noise_is_beside_that_of_the_theorem(capsys):
    words = "certify sgd --class nonconvex --noise --set gamma=0.3"
    assert main(words.split()) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "E[Psi+] <= Psi - 0.255 |grad f(x)|^2 + 0.0045 sigma^2 (SGD, nonconvex)" in told
    assert "verdict tight" in told
    assert "noise smallest e found for some c" in told


def test_a_method_that_names_no_samples_has_noise(capsys):
    """The theorem of gradient descent is about exact gradients."""
    assert main(["certify", "gd", "--class", "nonconvex", "--noise"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "theorem none applies to these parameters" in told
    assert "0.09217" in told


@pytest.mark.long
def test_the_optimum_over_convex_functions_is_about_their_values(capsys):
    assert (
        main(["certify", "gd", "--class", "convex", "--optimise", "rounds", "--set", "gamma=0.5"])
        == 0
    )
    told = " ".join(capsys.readouterr().out.split("optimised")[1].split())
    assert "(f(x) - f*) cost" in told
    assert "for a mean of (f(x) - f*) of at most eps" in told
    assert "grad" not in told.replace("gradients", "")


@pytest.mark.long
def test_parameters_with_fewer_rounds_are_found(capsys):
    assert main(["certify", "gd", "--class", "nonconvex", "--optimise", "rounds", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["optimum"]
    assert found["cost"]["rounds"] < found["before"]["rounds"]
    assert found["certified_c"] > 0.75


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("certify gd --class nonconvex --kappa 10", "--kappa is of strongly convex functions"),
        ("certify gd --class nonconvex --weights free", "are both certified"),
        ("certify gd --class nonconvex --potential stated", "are both certified"),
        ("certify marina --class nonconvex --optimise bits", "bits need a compressor"),
        ("certify sgd --class nonconvex --noise -1", "no part of a variance"),
        ("certify adiana --class nonconvex", "give theta_1, theta_2, eta"),
        ("certify adiana --class nonconvex --set theta_1=0.5", "give theta_2, eta"),
        ("certify adiana --class convex", "not strongly convex; give theta_1, theta_2"),
        ("certify ef21 --class convex", "the largest c is 0"),
        ("certify ef21-sgdm --class nonconvex --set eta=0", "eta = 0 is no weight of a sample"),
        ("certify marina --problem breast-cancer@9 --class nonconvex --compressor rand-k:2",
         "--class follows from --problem"),
    ],
)  # fmt: skip
def test_misfits_are_refused(words, sentence, capsys):
    assert main(words.split()) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_method_that_cannot_be_certified_has_its_sentence():
    cells, reason = descent_row(METHODS["locodl"], 3, 1.0)
    assert set(cells[1:]) == {"-"}
    assert "strongly convex g" in reason


def test_a_row_of_the_table(searched_step):
    cells, _ = descent_row(METHODS["gd"], 3, 1.0)
    assert cells[1:3] == ("0.5", "0.75 at 1")
    assert float(cells[3]) == pytest.approx(2.0, rel=2e-2)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("sgd --kappa 100 --noise", "0.0090702479 Psi + 2.06612e-06 sigma^2, proved"),
        ("sgd --kappa 100 --noise expected=100", "0.0045454545 Psi + 2.16498e-06 sigma^2, proved"),
        ("l-svrg --kappa 100 --n 1 --noise expected=100", "- 0.001577055 Psi, proved"),
        ("sgd --class nonconvex --noise gap=1 --growth 0.01 --set gamma=0.1", "(1 + 0.01) Psi"),
        ("local-sgd --class nonconvex --zeta 1 --set I=2", "(local SGD, nonconvex); with its Psi"),
    ],
)
def test_factors_and_growing_noise(words, told, capsys):
    assert main(["certify", *words.split()]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert told in said
    assert "proof holds" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("sgd --kappa 10 --noise foo=1", "foo=1 is not read"),
        ("sgd --kappa 10 --noise =1", "is not read"),
        ("sgd --kappa 10 --noise gap=x", "is not read"),
        ("sgd --kappa 10 --noise 1", "take relative = 0"),
        ("sgd --kappa 10 --noise --growth 0.1", "--growth is of functions that need not be convex"),
        ("sgd --kappa 10 --noise --optimise rounds", "--optimise is of exact gradients"),
        ("local-sgd --kappa 10 --zeta 1", "--zeta is of functions that need not be convex"),
        ("sgd --class nonconvex --noise gap=1", "give the growth that is allowed"),
    ],
)
def test_noise_that_does_not_fit_is_refused(words, sentence, capsys):
    assert main(["certify", *words.split()]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
