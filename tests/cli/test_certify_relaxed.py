"""The command ``certify`` over (L0, L1)-smooth functions."""

import json
from pathlib import Path

import pytest

from certibit.cli import main

STEP = ["--set", "eta=0.2", "--set", "gamma=0.2"]
RELAXED = ["--class", "relaxed"]


def test_clipped_gradient_descent_beside_its_theorem(capsys, searched_step):
    assert main(["certify", "clipped-sgd", *RELAXED]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "theorem f(x+) <= f(x) - M/2 (Clipped gradient descent on one machine)" in told
    assert "eta <= 1/(2 A L0), 0.25 and 0.25: holds" in told
    assert "verdict loose by a factor 1.508" in told
    assert "certified f(x+) <= f(x) - 0.75393996 M, proved in" in told
    assert "proof holds, checked in rational numbers, for all G" in told
    assert "regime G from 0 to 1.16395: x+ = x - 0.25 grad f(x); growth against-" in told
    assert "regime G from 1.16395 to infinity: x+ = x - 0.290988/G grad f(x); growth" in told
    assert "no more than c = 0.5 is proved" in told
    assert "attained the certified c, by f'' = L0 + L1 |f'| on the line" in told
    assert "a decrease is certified up to 3.61" in told


def test_noise(capsys):
    words = ["certify", "episode", *RELAXED, "--n", "10", "--sigma", "0.01", *STEP, "--L1", "2"]
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "L0 = 1, L1 = 2, n = 10, gradients with noise of length <= 0.01" in told
    assert "E f(x+) <= f(x) - 0.6" in told
    assert "sigma^2, proved in" in told
    assert "where noise answers yes: x+ = x - 0.2 (directions with noise); growth any" in told
    assert "where noise answers no: x+ = x - 0.2 grad f(x) - noise; growth any" in told
    assert "rounds r = 0..R is at most 3 epsilon" in told
    assert "not for these parameters" in told


def test_every_key_of_json_is_documented(capsys):
    assert main(["certify", "clipped-sgd", *RELAXED, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["proof_holds"] is True
    assert found["published_c"] == 0.5
    assert found["certified_c"] == pytest.approx(found["attained_c"], rel=1e-9)
    page = Path(__file__).parents[2].joinpath("docs/json.md").read_text(encoding="utf-8")
    rows = page.split("| `certify --class relaxed` |")[1].split("\n| `")[0]
    inner = set(found["regimes"][0]) | set(found["conditions"][0])
    assert {key for key in inner | set(found) if f"`{key}`" not in rows} == set()


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["episode", *RELAXED, *STEP, "--set", "I=4"], "certify it with one step a round, I = 1"),
        (["episode", *RELAXED, "--set", "eta=1"], "episode has no value of gamma; give each"),
        (["locodl", *RELAXED], "locodl has no value of gamma, chi, rho, p, omega; give each"),
        (["celgc", *RELAXED], "no theorem on celgc has parameters for (L0, L1)-smooth functions"),
        (["clipped-sgd", *RELAXED, "--sigma", "1"], "no theorem on clipped-sgd has parameters"),
        (["episode", *RELAXED, "--rho", "0.5"], "rho = 0.5 bound no dissimilarity"),
        (["gd", "--rho", "2"], "--rho is of (L0, L1)-smooth functions; give --class relaxed"),
        (["clipped-sgd", *RELAXED, "--optimise", "bits"], "--optimise is not of (L0, L1)-smooth"),
        (["clipped-sgd", *RELAXED, "--L0", "-1"], "L0 = -1 is no constant of a class"),
        (["gd", "--L0", "1"], "--L0 is of (L0, L1)-smooth functions; give --class relaxed"),
        (["clipped-sgd", *STEP], "it takes a norm or an inner product;"),
        (["clipped-sgd", *STEP], "over (L0, L1)-smooth functions, certify --class relaxed"),
        (["clipped-sgd", *RELAXED, "--set", "eta=9", "--set", "gamma=9"], "no decrease of f is"),
    ],
    ids=lambda x: "",
)
def test_a_misfit_is_refused_in_a_sentence(capsys, words, fragment):
    assert main(["certify", *words]) == 2
    out, err = capsys.readouterr()
    assert not out
    (sentence,) = err.splitlines()
    assert fragment in sentence


@pytest.mark.long
def test_the_theorem_of_episode_takes_kappa_and_rho(capsys):
    """Both make the published step smaller, and leave the certified step as it is."""
    steps = []
    for words in ([], ["--kappa", "1", "--rho", "2"]):
        assert main(["certify", "episode", *RELAXED, *words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        steps.append(found["method"]["eta"])
    assert steps[1] < 0.8 * steps[0]
    assert "kappa = 1, rho = 2" in found["theorem"]


def test_other_commands_do_not_know_the_class(capsys):
    assert main(["chain", "gd", *RELAXED, "--steps", "2"]) == 2
    assert "invalid choice: 'relaxed'" in capsys.readouterr().err


OWN = """
from dataclasses import dataclass
from certibit import Every, Method, Needs, mean
from certibit.solvers.clipping import ModelState, norm

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


def test_a_method_of_ones_own(capsys, tmp_path):
    path = tmp_path / "soft.py"
    path.write_text(OWN, encoding="utf-8")
    assert main(["certify", str(path), *RELAXED]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "measure M = min(0.25 G^2, 0.2 G)" in told
    assert "theorem none on this step" in told
    assert "x+ = x - 0.2/(G + 0.8) grad f(x)" in told
    assert "attained the certified c" in told
    assert "step size not searched: no parameter is called eta or gamma" in told
    assert main(["certify", str(path), *RELAXED, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["largest_factor"] is None
