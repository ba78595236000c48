"""Certificates that the kernel of Rocq (Coq) checks."""

import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from by_rule import by_rule
from descents_by_class import ASKED, descent_of
from kernel import COMMAND, KERNEL, refusal

from certibit import DIANA, GD, ClientClass, FunctionClass, certify
from certibit.cli import main
from certibit.theory.export.export import rocq_proof, write_certificate
from certibit.theory.export.rocq_words import rocq_text

CLASSES = FunctionClass.of_classes([ClientClass(1, 1.0, 20.0), ClientClass(3, 2.0, 5.0)], L_f=6.0)
LOCAL = {"many local steps": "ours", "solves that end by a criterion": "ours-adaptive"}
OTHERS = ["two classes", "potential that was found", *LOCAL]


def proof_of(name):
    """Return the exact proof of a method at its first rule, or of another case."""
    if name == "two classes":
        return certify(GD(0.25), CLASSES)
    if name == "potential that was found":
        functions = FunctionClass(100, 1.0, 30.0, omega=4.0)
        return certify(DIANA(0.01, 0.2), functions, potential="search")
    if name in LOCAL:
        return certify(*by_rule("5gcs-cc", 3, 1e3, 3.0, LOCAL[name]))
    return certify(*by_rule(name, 5, 30.0, 3.0))


@KERNEL
@pytest.mark.long(keep=2)
@pytest.mark.parametrize("name", ["gd", "diana", "ef21", "locodl", *OTHERS])
def test_the_kernel_accepts_a_proof(name, tmp_path):
    assert refusal(rocq_proof(proof_of(name)), tmp_path) == ""


def test_words_of_a_method_do_not_end_the_comment():
    text = rocq_text('mine *) Axiom bad : False. (* "', "", [], [], "")
    assert (text.count("(*"), text.count("*)"), text.count('"')) == (1, 1, 0)


def with_larger_multiplier(proof):
    """Change the largest multiplier by a part in a thousand."""
    name, y = max(proof.multipliers.items(), key=lambda pair: pair[1])
    return replace(proof, multipliers={**proof.multipliers, name: y * Fraction(1001, 1000)})


def with_negative_multiplier(proof):
    """Change the sign of the largest multiplier."""
    name, y = max(proof.multipliers.items(), key=lambda pair: pair[1])
    return replace(proof, multipliers={**proof.multipliers, name: -y})


PLANTED = {
    "multiplier": with_larger_multiplier,
    "sign": with_negative_multiplier,
    "gamma": lambda proof: replace(
        proof, method=replace(proof.method, gamma=3 * proof.method.gamma)
    ),
    "n": lambda proof: replace(proof, functions=replace(proof.functions, n=2)),
    "decrease": lambda proof: replace(proof, exact=proof.exact * Fraction(1001, 1000)),
    "potential": lambda proof: replace(
        proof, weights=(proof.weights[0], *(-weight for weight in proof.weights[1:]))
    ),
}


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize("planted", PLANTED)
def test_the_kernel_refuses_what_is_changed(planted, tmp_path):
    assert "Unable to unify" in refusal(rocq_proof(PLANTED[planted](proof_of("diana"))), tmp_path)


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize(
    ("case", "field", "change"),
    [
        ("two classes", "counts", lambda text: text.replace("[1; 3]", "[2; 3]")),
        ("two classes", "L of the average", lambda text: text.replace("L := 6 |}", "L := 30 |}")),
        (
            "two classes",
            "squares",
            lambda text: re.sub(r"left_squares := \[\(", "left_squares := [(-", text),
        ),
        *(
            (
                case,
                "factor of the local steps",
                lambda text: re.sub(r"most := \((\d+) #", r"most := (10\1 #", text),
            )
            for case in LOCAL
        ),
    ],
)
def test_the_kernel_refuses_a_changed_file(case, field, change, tmp_path):
    text = rocq_proof(proof_of(case))
    changed = change(text)
    assert changed != text, field
    assert "Unable to unify" in refusal(changed, tmp_path)


@KERNEL
@pytest.mark.long
@pytest.mark.parametrize(("name", "label"), ASKED)
def test_the_kernel_accepts_a_descent(name, label, tmp_path):
    assert refusal(rocq_proof(descent_of(name, label)), tmp_path) == ""


@KERNEL
@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        (("ef21", "nonconvex"), r"Definition c : Q := \((\d+)", r"Definition c : Q := (1\1"),
        (("ef21", "nonconvex"), r"most := \(1 # 2\)", "most := (2 # 3)"),
        (("ef21", "nonconvex"), r"used := \[\(", "used := [(-"),
        (("ef21", "nonconvex"), r"left_squares := \[\(", "left_squares := [(-"),
        (("ef21", "uneven"), r"mean_smooth 2 ", "mean_smooth 20 "),
        (("marina", "joint"), r"jointly 0 \(1 # 2\)", "jointly 0 1"),
        (("marina", "joint"), r"orthogonal 0 0", "orthogonal 0 1"),
        (("sgd", "stochastic"), r"Definition e : Q := \((\d+)", r"Definition e : Q := (-\1"),
        (("sgd", "stochastic"), r"samples 0", "shortens 0"),
        (("gd", "convex"), r"start_squares := \[\(", "start_squares := [(-"),
        (("gd", "gradual"), r"gradual \(1 # 10\)", "gradual (1 # 11)"),
        (("local-sgd", "apart"), r"Definition d : Q := \((\d+)", r"Definition d : Q := (-\1"),
        (("local-sgd", "apart"), r"dissimilar \(6 # 5\) 1", "dissimilar (6 # 5) 2"),
        (("l-svrg", "expected"), r"changes_between 0 1 1", "changes_between 0 1 2"),
        (("sgd", "expected"), r"changes 1 1", "changes 1 2"),
        (("gd", "star"), r"quasi_convex \(1 # 10\)", "quasi_convex (1 # 11)"),
    ],
)
def test_the_kernel_refuses_a_changed_descent(case, old, new, tmp_path):
    text = rocq_proof(descent_of(*case))
    changed = re.sub(old, new, text)
    assert changed != text
    assert "Unable to unify" in refusal(changed, tmp_path)


@pytest.mark.parametrize("proved", ["factor", "descent"])
def test_nothing_is_taken_for_granted_in_the_file(proved):
    descends = proved == "descent"
    text = rocq_proof(descent_of("gd", "convex")) if descends else rocq_proof(proof_of("diana"))
    for word in ("Axiom", "Admitted", "admit", "Parameter", "Hypothesis", "Conjecture"):
        assert not re.search(rf"\b{word}\b", text), word


@pytest.mark.parametrize(
    ("name", "better"), [("momentum-diana.v", "momentum_diana.v"), ("5gcs.v", "_5gcs.v")]
)
def test_a_name_that_rocq_does_not_read_is_refused_at_once(name, better, tmp_path, capsys):
    assert main(["export", "gd", str(tmp_path / name)]) == 2
    assert f"such as '{better}'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.long
@KERNEL
def test_the_kernel_accepts_the_file_of_the_page(tmp_path):
    """Under the name that it has there."""
    page = Path(__file__).parents[3].joinpath("docs/certify.md").read_text("utf-8")
    (name,) = re.findall(r"`coqc (.*?)`", page)
    write_certificate(proof_of("gd"), tmp_path / name)
    subprocess.run([*COMMAND, name], cwd=tmp_path, check=True, capture_output=True)


def test_the_command_writes_a_file_for_rocq(tmp_path, capsys):
    path = tmp_path / "gd.v"
    assert main(["export", "gd", str(path), "--n", "3", "--kappa", "10"]) == 0
    assert str(path) in "".join(capsys.readouterr().out.split())
    assert "Theorem certified : descends this_step c e d." in path.read_text(encoding="utf-8")
