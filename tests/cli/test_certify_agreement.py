"""What `certibit certify` says about one method does not contradict itself, on the command line."""

import json
import re

import pytest

from certibit.cli import main
from certibit.data.problems.selector import problem
from certibit.theory.worlds.symbolic import expectation

SLACK = 1e-6

CLIPPED = """
from dataclasses import dataclass, replace

import numpy as np

from certibit import GD


@dataclass(frozen=True)
class Clipped(GD):
    name = "clipped"

    def communicate(self, s, problem, channel):
        moved = super().communicate(s, problem, channel).x - s.x
        return replace(s, x=s.x + np.clip(moved, -1e6, 1e6))
"""


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("gamma", [0.2, 0.36, 0.399, 0.42, 0.44])
def test_theorem_certificate_and_worst_case_are_of_one_class(capsys, gamma):
    """Of another class, such as that of L - mu/2, a theorem covers steps up to 0.44."""
    words = ["certify", "locodl", "--n", "3", "--kappa", "5", "--omega", "1"]
    code = main([*words, "--set", f"gamma={gamma}", "--json"])
    found = json.loads(capsys.readouterr().out)
    certified, attained = found["certified_decrease"], found["worst_case_decrease"]
    assert code == (0 if certified > 0 else 1)
    assert (found["theorem"] is not None) == (gamma < 2 / 5)
    if found["theorem"] is not None:
        assert found["published_decrease"] <= certified * (1 + SLACK)
    assert certified <= attained + SLACK * abs(attained)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_noise_off_by_two_is_a_contradiction(capsys, monkeypatch, json_too):
    words = ["certify", "diana", "--n", "3", "--kappa", "20", *json_too]
    assert main(words) == 0
    assert capsys.readouterr().out
    right = expectation._variance
    monkeypatch.setattr(expectation, "_variance", lambda *about: right(*about) / 2)
    assert main(words) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "one of them is wrong, believe neither" in err
    assert len(err.splitlines()) == 1


def test_a_clip_far_away_is_not_linear(capsys, tmp_path):
    path = tmp_path / "clipped.py"
    path.write_text(CLIPPED)
    words = ["certify", str(path), "--n", "3", "--kappa", "10", "--set", "gamma=0.1"]
    assert main(words) == 2
    assert "the step of clipped is not linear and has no certificate" in capsys.readouterr().err
    path.write_text(CLIPPED.replace("np.clip(moved, -1e6, 1e6)", "moved"))
    assert main(words) == 0


def test_too_many_clients_are_refused_at_once(capsys):
    assert main(["certify", "diana", "--n", "1000001"]) == 2
    assert "n = 1000001" in (told := capsys.readouterr().err)
    assert "take at most 1000000 clients" in told


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("n", [10_000, 100_000])
def test_a_hundred_thousand_clients_are_as_few(capsys, n):
    """The proof has the size of one of few clients; what has not is left out, and that is said."""
    assert main(["certify", "diana", "--n", str(n)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "verdict tight" in told
    assert f"not attained: the worst case for n = {n} is too large" in told


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("gamma", "code"), [(0.1999, 0), (0.2, 1), (0.3, 1)])
def test_the_exit_code_says_if_a_decrease_is_certified(capsys, gamma, code):
    assert main(["certify", "gd", "--n", "3", "--kappa", "10", "--set", f"gamma={gamma}"]) == code
    assert ("no decrease is certified" in capsys.readouterr().out) == bool(code)


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


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    "words", ["diana --n 2 --kappa 10 --omega 0", "gd --n 3 --kappa 10 --set gamma=1e-12"]
)
def test_nothing_lost_and_a_tiny_step_are_certified(capsys, words):
    """Where a compressor loses nothing Psi forgets the shifts, and 1e-12 is not rounding."""
    assert main(["certify", *words.split()]) == 0
    text = capsys.readouterr().out
    assert "proof       holds, checked in rational numbers" in text
    assert re.search(r"certified   E\[Psi\+\] <= \(1 - \d", text)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("gamma", ["1e-12", "1e-14"])
def test_the_decrease_of_a_tiny_step_is_proved(capsys, gamma):
    assert main(["certify", "gd", "--set", f"gamma={gamma}"]) == 0
    proved = re.search(r"certified   E\[Psi\+\] <= \(1 - (\S+)\) Psi", capsys.readouterr().out)[1]
    assert 2 * float(gamma) * (1 - 1e-7) < float(proved) <= 2 * float(gamma)


@pytest.mark.long
def test_several_steps_stand_beside_one_and_what_is_attained(capsys):
    words = ["chain", "locodl", "--n", "2", "--kappa", "20", "--omega", "1", "--steps", "30"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    steps = found["steps"]
    assert steps["proof_holds"]
    assert found["certified_decrease"] < steps["decrease_per_step"]
    assert steps["decrease_per_step"] <= steps["attained_per_step"] * (1 + SLACK)
    assert sum(steps["counts"]) == steps["steps"] == 30


@pytest.mark.long
def test_bits_are_proved_beside_measured(capsys):
    words = ["chain", "diana", "--problem", "quadratic:d=4@2", "--kappa", "10", "--groups", "1"]
    assert main([*words, "--compressor", "rand-k:2", "--target", "1e-3"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert re.search(r"proved \S+ by theorem, \S+ by the certificate of one step, \S+ by a", text)
    assert main([*words, "--compressor", "rand-k:2", "--target", "1e-3", "--json"]) == 0
    bits = json.loads(capsys.readouterr().out)["bits"]
    assert bits["measured"] <= bits["chain"] <= bits["certificate"] <= bits["theorem"]


def test_a_target_needs_a_problem(capsys):
    assert main(["chain", "gd", "--n", "2", "--target", "1e-3"]) == 2
    assert "give --problem" in capsys.readouterr().err


@pytest.mark.long
def test_clients_that_differ_keep_their_own_parameters(capsys):
    """Clients are renumbered by L_i, and GradSkip's q_i grow with it, also where L_i do not."""
    L_i = problem("breast-cancer@4", kappa=20.0).constants.L_i
    assert list(L_i) != sorted(L_i)
    words = [
        "certify",
        "gradskip",
        "--problem",
        "breast-cancer@4",
        "--groups",
        "4",
        "--kappa",
        "20",
    ]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    curved, q = [one["L"] for one in told["family"]["classes"]], told["method"]["q"]
    assert (curved, q) == (sorted(curved), sorted(q))
    assert told["verdict"] == "tight"


def test_what_has_not_one_minimiser_is_not_certified_as_if(capsys):
    words = ["certify", "ef", "--problem", "breast-cancer@3", "--compressor", "top-k:5"]
    assert main(words) == 2
    assert "certified for f_i with one minimiser" in capsys.readouterr().err
    assert main(["certify", "ef", "--n", "3", "--kappa", "10"]) == 0
    assert "all functions with one minimiser" in " ".join(capsys.readouterr().out.split())
