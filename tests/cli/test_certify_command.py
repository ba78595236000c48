"""The command certify: what it prints, as text and as JSON, contradicts and refuses."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from command_lines import keys, refusal

from certibit import DIANA, METHODS, FunctionClass, Setting, compressor, problem
from certibit.cli import main
from certibit.figures.certified.classes.rule_tables import descent_row
from certibit.theory.certificates import search
from certibit.theory.exact.long_run import SecondMoments
from certibit.theory.worlds.symbolic import kernels

SLACK = 1e-6
PAGE = Path(__file__).parents[2].joinpath("docs/json.md").read_text(encoding="utf-8")
STEP = "--set eta=0.2 --set gamma=0.2"


def said(capsys, words, code=0):
    """Return what is printed of a method, in one line."""
    assert main(["certify", *words.split()]) == code
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    return " ".join(text.split())


def values(capsys, words, code=0):
    """Return what is printed of a method as JSON."""
    assert main(["certify", *words.split(), "--json"]) == code
    return json.loads(capsys.readouterr().out)


PRINTED = {
    "scaffold --n 5 --kappa 100": [
        "theorem", "certified E[Psi+] <=", "proof holds, checked in rational numbers", "loose by",
        "step size", "worst case"],
    "econtrol --n 4 --kappa 10 --potential search": ["potential Psi = ", "mean grad f|^2"],
    "locodl --n 3 --kappa 100 --omega 4 --potential search": [
        "other side asymptotic factor 1 - 0.010"],
    "clip21 --set gamma=0.01 --set tau=1 --alpha 0.5 --kappa 10": [
        "on quadratics of one dimension with contractions of that alpha"],
    "ef21p-diana --n 3 --kappa 20 --omega 1": ["asymptotic factor 1 - "],
    "diana --n 100000": ["verdict tight", "not attained: the worst case for n = 100000 is too"],
    "gd --n 3 --kappa 10 --set gamma=0.1999": ["factor below 1"],
    "diana --n 2 --kappa 10 --omega 0": ["proof holds, checked", "certified E[Psi+] <= (1 - 0"],
    "gd --n 3 --kappa 10 --set gamma=1e-12": ["proof holds, checked", "E[Psi+] <= (1 - 1.99"],
    "ef --n 3 --kappa 10": ["one minimiser of all f_i"],
    "diana --problem quadratic:d=6@5 --compressor rand-k:2 --kappa 30 --groups 2": [
        "clients by smoothness"],
    "marina --problem breast-cancer@9:nonconvex --compressor rand-k:2": [
        "mu = -0.05", "MeanSmoothness"],
    "sgd --class nonconvex --noise --set gamma=0.3": [
        "E[Psi+] <= Psi - 0.255 |grad f(x)|^2 + 0.0045 sigma^2 (SGD, nonconvex; kernel)",
        "verdict tight",
        "noise smallest e found for some c"],
    "gd --class nonconvex --noise": ["theorem none applies to these parameters", "0.09217"],
    "gd --class convex --optimise rounds --set gamma=0.5": [
        "(f(x) - f*) cost", "for a mean of (f(x) - f*) of at most eps"],
    "sgd --kappa 100 --noise": ["(1 - 0.0090702479) Psi + 2.06612e-06 sigma^2, proved"],
    "sgd --kappa 100 --noise expected=100": [
        "omega = 0, GradientNoise(expected=100.0)",
        "(1 - 0.0045454545) Psi + 2.16498e-06 sigma^2, proved"],
    "gd --problem breast-cancer@9 --kappa 100 --groups 1 --set gamma=0.42": ["L_f = 3.4327271"],
    "l-svrg --kappa 100 --n 1 --noise expected=100": [
        "(1 - 0.001577055) Psi, proved", "proof holds"],
    "sgd --class nonconvex --noise gap=1 --growth 0.01 --set gamma=0.1": ["(1 + 0.01) Psi"],
    "local-sgd --class nonconvex --zeta 1 --set I=2": [
        "(local SGD, nonconvex; certificate); with its Psi"],
    f"episode --class relaxed --n 10 --sigma 0.01 --L1 2 {STEP}": [
        "L0 = 1, L1 = 2, n = 10, gradients with noise of length <= 0.01",
        "E f(x+) <= f(x) - 0.6", "sigma^2, proved in", "not for these parameters",
        "where noise answers yes: x+ = x - 0.2 (directions with noise); growth any",
        "where noise answers no: x+ = x - 0.2 grad f(x) - noise; growth any",
        "rounds r = 0..R is at most 3 epsilon"],
}  # fmt: skip
"""Parts of the text, of what is proved."""
SEARCHED = {
    "ef21 --class nonconvex --alpha 0.5 --n 5": [
        "E[Psi+] <= Psi - 0.14644661 |grad f(x)|^2 (EF21, nonconvex; kernel)",
        "E[Psi+] <= Psi - 0.1952",
        "proof holds, checked in rational numbers", "verdict loose by a factor 1.333",
        "a descent is certified up to 0.34"],
    "gd --class convex --n 3": [  # c = 2 gamma for gamma = 1/L, which is the best step
        "mu = 0, L = 1", "Psi = 1 |x|^2, of differences from the state at the solution. At the",
        "<= Psi - 1.999999", "a descent is certified up to 1.9"],
    "local-sgd --kappa 10": ["factor below 1 certified up to 0.1999"],
    "clipped-sgd --class relaxed": [
        "theorem f(x+) <= f(x) - M/2 (Clipped gradient descent on one machine)",
        "eta <= 1/(2 A L0), 0.25 and 0.25: holds", "verdict loose by a factor 1.508",
        "certified f(x+) <= f(x) - 0.75393995 M, proved in", "where for all G", "proof holds",
        "regime G from 0 to 1.16395: x+ = x - 0.25 grad f(x); growth against-",
        "regime G from 1.16395 to infinity: x+ = x - 0.290988/G grad f(x); growth",
        "no more than c = 0.5 is proved", "a decrease is certified up to 3.61",
        "attained the certified c, by f'' = L0 + L1 |f'| on the line"],
}  # fmt: skip
"""The same where the largest step is searched for."""
FAILING = {
    "gd --n 4 --kappa 50 --set gamma=0.06": ["no decrease is certified", "divergence on", "f - f*"],
    "gd --n 3 --kappa 10 --set gamma=0.2": ["no decrease is certified"],
    "gd --problem quadratic:d=4@3 --kappa 50 --set gamma=0.2": ["overflows"],
    "gd --class nonconvex --set gamma=2.5": ["no decrease is certified", "<= Psi + 0.5625"],
}
"""And where nothing is proved."""


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("words", PRINTED)
def test_what_is_printed_of_a_proof(capsys, words):
    text = said(capsys, words)
    assert [part for part in PRINTED[words] if part not in text] == []


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("words", SEARCHED)
def test_what_is_printed_of_step_sizes(capsys, words, searched_step):
    text = said(capsys, words)
    assert [part for part in SEARCHED[words] if part not in text] == []


@pytest.mark.parametrize("words", FAILING)
def test_the_exit_code_says_if_a_decrease_is_certified(capsys, words):
    text = said(capsys, words, 1)
    assert [part for part in FAILING[words] if part not in text] == []


DOCUMENTED = {
    "certify": [f"gd --kappa 9 --optimise rounds --steps 2 {words}" for words in
                ("", "--potential search --n 2")] + ["gd --class nonconvex --optimise rounds"],
    "certify --class relaxed": ["clipped-sgd --class relaxed"],
}  # fmt: skip
DATA = {"multipliers", "multipliers_below", "gamma", "p", "alpha", "chi", "omega", "rho", "S"}
"""Keys that are names of parameters, or below which there are names of inequalities."""


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(
    ("row", "words"), [(row, w) for row in DOCUMENTED for w in DOCUMENTED[row]]
)
def test_every_key_is_documented(capsys, row, words):
    found = values(capsys, words)
    assert found["proof_holds"] is True
    rows = PAGE.split(f"| `{row}` |")[1].split("\n| `")[0] + PAGE.split("| `certify` |")[1]
    inner = keys(found, DATA) if row == "certify" else {*found}
    assert {key for key in inner - DATA if f"`{key}`" not in rows} == set()


def test_a_searched_potential_proves_more(capsys):
    words = "locodl --n 3 --kappa 100 --omega 4 --potential"
    stated, found = (values(capsys, f"{words} {kind}") for kind in ("stated", "search"))
    assert found["certified_c"] > 1.005 * stated["certified_c"]
    assert found["potential"].startswith("Psi = ")
    assert stated["potential"].startswith("Psi = 100 sum_i |x_i - 0.008638 u_i|^2 + ")
    assert found["certified_c"] < found["limit_of_potentials"]
    assert found["limit_of_potentials"] < 1.1 * found["certified_c"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["econtrol", "ef21p-diana", "compressed-gd"])
def test_contractions_are_bounded_from_the_other_side(capsys, name):
    found = values(capsys, f"{name} --n 3 --kappa 20 --omega 1", int(name == "compressed-gd"))
    assert found["certified_c"] <= found["limit_of_potentials"] < 1


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("gamma", [0.2, 0.36, 0.399, 0.42, 0.44])
def test_theorem_certificate_and_worst_case_are_of_one_class(capsys, gamma):
    """Of another class, such as that of L - mu/2, a theorem covers steps up to 0.44."""
    words = ["certify", "locodl", "--n", "3", "--kappa", "5", "--omega", "1"]
    code = main([*words, "--set", f"gamma={gamma}", "--json"])
    found = json.loads(capsys.readouterr().out)
    certified, attained = found["certified_c"], found["worst_case_decrease"]
    assert code == (0 if certified > 0 else 1)
    assert (found["theorem"] is not None) == (gamma < 2 / 5)
    if found["theorem"] is not None:
        assert found["published_c"] <= certified * (1 + SLACK)
    assert certified <= attained + SLACK * abs(attained)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("json_too", [[], ["--json"]])
@pytest.mark.parametrize(
    ("words", "place", "wrong"),
    [
        ("gd --n 2 --kappa 10 --potential search", (SecondMoments, "factor_of"), lambda x: 1 + x),
        ("diana --n 3 --kappa 20", (kernels, "_variance"), lambda x: x),
    ],
)
def test_a_contradiction_is_no_result(capsys, monkeypatch, json_too, words, place, wrong):
    """More than the long run allows, and noise that is counted half."""
    right = getattr(*place)
    monkeypatch.setattr(*place, lambda *about: wrong(right(*about)) / 2)
    assert main(["certify", *words.split(), *json_too]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "believe neither" in err
    assert len(err.splitlines()) == 1


def test_values_of_an_optimum(capsys, monkeypatch):
    monkeypatch.setattr(search, "optimise", partial(search.optimise, evaluations=30))
    found = values(capsys, "gd --kappa 30 --optimise bits")
    assert found["certified_c"] >= found["published_c"] * (1 - SLACK)
    assert found["worst_case_decrease"] == pytest.approx(found["certified_c"], rel=SLACK)
    optimum = found["optimum"]
    assert optimum["certified_c"] > 1.5 * found["certified_c"]
    bits = [optimum[key]["uplink_bits"] for key in ("cost", "before")]
    assert bits[0] <= bits[1] * (1 + SLACK)


@pytest.mark.long
def test_values_of_descents(capsys, searched_step):
    found = values(capsys, "gd --class nonconvex --optimise rounds")
    assert found["certified_c"] == pytest.approx(0.75)
    assert found["published_c"] == 0.5
    assert found["largest_step_size"] == pytest.approx(2.0, rel=2e-2)
    assert found["optimum"]["cost"]["rounds"] < found["optimum"]["before"]["rounds"]
    assert found["optimum"]["certified_c"] > 0.75
    clipped = values(capsys, "clipped-sgd --class relaxed")
    assert clipped["published_c"] == 0.5
    assert clipped["certified_c"] == pytest.approx(clipped["attained_c"], rel=1e-9)


@pytest.mark.long
def test_several_steps_stand_beside_one_step(capsys):
    found = values(capsys, "locodl --n 2 --kappa 20 --omega 1 --steps 30")
    steps = found["steps"]
    assert steps["proof_holds"]
    assert found["certified_c"] < steps["decrease_per_step"]
    assert steps["decrease_per_step"] <= steps["attained_per_step"] * (1 + SLACK)
    assert sum(steps["counts"]) == steps["steps"] == 30


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_constants_of_a_problem(capsys, groups):
    words = "diana --problem quadratic:d=6@5 --compressor rand-k:2 --kappa 30 --groups"
    family = values(capsys, f"{words} {groups}")["family"]
    setting = Setting.of(DIANA, problem("quadratic:d=6@5", kappa=30), compressor("rand-k:2"))
    expected = FunctionClass.of_groups(setting, groups)
    assert [one["L"] for one in family["classes"]] == [one.L for one in expected.classes]


@pytest.mark.long
def test_clients_that_differ_keep_their_own_parameters(capsys):
    """Clients are renumbered by L_i, and GradSkip's q_i grow with it, also where L_i do not."""
    L_i = problem("breast-cancer@4", kappa=20.0).constants.L_i
    assert list(L_i) != sorted(L_i)
    found = values(capsys, "gradskip --problem breast-cancer@4 --groups 4 --kappa 20")
    curved, q = [one["L"] for one in found["family"]["classes"]], found["method"]["q"]
    assert (curved, q) == (sorted(curved), sorted(q))
    assert found["verdict"] == "tight"


@pytest.mark.long
def test_the_theorem_of_episode_takes_kappa_and_rho(capsys):
    """Both make the published step smaller, and leave the certified step as it is."""
    words = "episode --class relaxed"
    found = [values(capsys, f"{words} {more}") for more in ("", "--kappa 1 --rho 2")]
    assert found[1]["method"]["eta"] < 0.8 * found[0]["method"]["eta"]
    assert "kappa = 1, rho = 2" in found[1]["theorem"]


def test_rows_of_the_table_of_descents(searched_step):
    cells, reasons = descent_row(METHODS["locodl"], 3, 1.0)
    assert set(cells[1:]) == {"-"}
    assert "strongly convex g" in reasons[""]
    cells, _ = descent_row(METHODS["gd"], 3, 1.0)
    assert cells[1:3] == ("0.5", "0.75 at 1")
    assert float(cells[3]) == pytest.approx(2.0, rel=2e-2)


OWN = """
from dataclasses import dataclass, replace
import numpy as np
from certibit import GD, Every, Method, Needs, mean
from certibit.solvers.clipping import ModelState, norm

@dataclass(frozen=True)
class Clipped(GD):
    name = "clipped"

    def communicate(self, s, problem, channel):
        moved = super().communicate(s, problem, channel).x - s.x
        return replace(s, x=s.x + np.clip(moved, -1e6, 1e6))

@dataclass(frozen=True)
class Mine(GD):
    name = "mine"

@dataclass(frozen=True)
class Soft(Method):
    step: float = 0.25
    reach: float = 0.2
    name, schedule, needs = "soft", Every(), Needs(strongly_convex=False)

    def start(self, x, problem, channel):
        return ModelState(x)

    def communicate(self, s, problem, channel):
        g = mean(channel.send(problem.grad(s.x)))
        return ModelState(s.x - self.step / (1 + self.step * norm(g) / self.reach) * g)

    def model(self, s):
        return s.x
"""


def test_a_method_of_ones_own(capsys):
    Path("own.py").write_text(OWN, encoding="utf-8")
    words = "--n 3 --kappa 10 --set gamma=0.1"
    assert "(1 - 0.19" in said(capsys, f"own.py:Mine {words}")
    sentence = refusal(capsys, f"certify own.py:Clipped {words}".split())
    assert "the step of clipped is not linear and has no certificate" in sentence
    text = said(capsys, "own.py:Soft --class relaxed")
    for part in ("measure M = min(0.25 G^2, 0.2 G)", "theorem none on this step",
                 "x+ = x - 0.2/(G + 0.8) grad f(x)", "attained the certified c",
                 "step size not searched: no parameter is called eta or gamma"):  # fmt: skip
        assert part in text
    assert values(capsys, "own.py:Soft --class relaxed")["largest_factor"] is None


EXACT = "is of strongly convex functions and exact gradients"
REFUSED = {
    "nobody": "unknown",
    "locodl --optimise bits": "give --compressor",
    "nowhere.py": "no file",
    "gd --kappa 0": "kappa = 0",
    "gd --kappa 1e300": "kappa = 1e+300 is too large for 64-bit floats",
    "gd --groups 2": "give --problem",
    "gd --problem quadratic:d=6@5 --n 5": "--n follows from --problem",
    "gd --problem quadratic:d=6@5 --groups 6": "give 1 to 5",
    "diana --problem quadratic:d=6@5": "give --compressor",
    "gd --problem quadratic:d=6@5 --optimise rounds": "no --problem",
    "diana --problem quadratic:d=6@5 --compressor rand-k:1@shared": "1 group",
    "diana --n 1000001": "n = 1000001 clients are too many for a certificate, whose step",
    "ef --problem breast-cancer@3 --compressor top-k:5": "certified for f_i with one minimiser",
    "gd --downlink-weight 1": "give --optimise bits",
    "gd --downlink-weight 1 --optimise rounds": "none are asked for",
    "clip21 --set gamma=0.005 --set tau=1 --n 3": "contracts in a ball only; give its --alpha",
    "clip21 --set gamma=0.005 --set tau=1 --alpha 0.2 --steps 5":
        "what several steps prove takes a run that stays there",
    "diana --alpha 0.5": "diana has neither; give its compressor by --compressor",
    "ef21 --alpha 1.5": "--alpha 1.5 is no contraction",
    "gd --growth 0.1": "--growth is of functions that need not be convex",
    "gd --class nonconvex --steps 2": f"--steps {EXACT}",
    "gd --class nonconvex --kappa 10": "--kappa is of strongly convex functions",
    "gd --class nonconvex --weights free": "are both certified",
    "gd --class nonconvex --potential stated": "are both certified",
    "locodl --class nonconvex": "choose a method that minimises f alone",
    "marina --class nonconvex --optimise bits": "bits need a compressor",
    "adiana --class nonconvex": "give theta_1, theta_2, eta",
    "adiana --class nonconvex --set theta_1=0.5": "give theta_2, eta",
    "adiana --class convex": "not strongly convex; give theta_1, theta_2",
    "ef21-sgdm --class nonconvex --set eta=0": "eta = 0 is no weight of a sample",
    "marina --problem breast-cancer@9 --class nonconvex --compressor rand-k:2":
        "--class follows from --problem",
    "clip21 --problem breast-cancer@9:nonconvex --set gamma=0.1 --set tau=1":
        "is not strongly convex, as is needed here",
    "sgd --kappa 10 --noise foo=1": "foo=1 is not read",
    "sgd --kappa 10 --noise =1": "is not read",
    "sgd --kappa 10 --noise gap=x": "is not read",
    "sgd --kappa 10 --noise --growth 0.1": "--growth is of functions that need not be convex",
    "sgd --kappa 10 --noise --optimise rounds": "--optimise is of exact gradients",
    "local-sgd --kappa 10 --zeta 1": "--zeta is of functions that need not be convex",
    f"episode --class relaxed {STEP} --set I=4": "certify it with one step a round, I = 1",
    "episode --class relaxed --set eta=1": "episode has no value of gamma; give each",
    "locodl --class relaxed": "locodl has no value of gamma, chi, rho, p, omega; give each",
    "clipped-sgd --class relaxed --sigma 1": "no theorem on clipped-sgd has parameters",
    "episode --class relaxed --rho 0.5": "rho = 0.5 bound no dissimilarity",
    "clipped-sgd --class relaxed --optimise bits": "--optimise is of functions that are not (L0",
    "clipped-sgd --class relaxed --L0 -1": "L0 = -1 is no constant of a class",
    "gd --rho 2": "--rho is of (L0, L1)-smooth functions; give --class relaxed",
    "gd --L1 0": "--L1 is of (L0, L1)-smooth functions; give --class relaxed",
    "episode --problem quartics:H=4@2 --L0 3": "--L0 follows from --problem",
    "gd --problem quartics:H=4@2": "no rule for functions that are not strongly convex",
    "episode --problem phase-retrieval:m=4,d=2@2": "has no largest step for L0",
    f"episode --problem phase-retrieval:m=4,d=2@2 {STEP}": "does not state L0, L1, kappa and rho",
    "episode --problem breast-cancer@9": "take the L0 and L1 of the problem",
    "episode --parameters ours": "are of a --problem; give one",
    f"clipped-sgd --class strongly-convex {STEP}": "it takes a norm or an inner product;",
    f"clipped-sgd --class strongly-convex --n 2 {STEP}":
        "over (L0, L1)-smooth functions, certify --class relaxed",
}  # fmt: skip


@pytest.mark.long(keep=15)
@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(capsys, words):
    assert REFUSED[words] in refusal(capsys, ["certify", *words.split()])


@pytest.mark.long
def test_a_row_that_tests_nothing_is_not_tested(capsys):
    words = ["check", "quadratic:d=4@3", "gd", "--kappa", "10", "--seeds", "1"]
    assert main([*words, "--set", "gamma=1e-7"]) == 0
    text = capsys.readouterr().out
    (row,) = (line for line in text.splitlines() if line.startswith("median bits"))
    assert row.removeprefix("median bits to the accuracy").strip().startswith("not tested")
    end = (
        r"no check fails of \d+; not tested: median bits to the accuracy; --all prints every check"
    )
    assert re.search(f"{end}$", " ".join(text.split()))
