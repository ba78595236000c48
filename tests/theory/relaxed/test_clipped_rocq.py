"""Decreases of methods that clip, as the kernel of Rocq (Coq) checks them."""

import re
import subprocess
from functools import cache

import pytest
from decreases import DECREASES
from kernel import COMMAND, KERNEL, refusal

from certibit import CELGC, EPISODE, RelaxedFunctions, certify_clipped
from certibit.cli import main
from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.relaxed.clipped_file import _rocq_ratio, rocq_decrease
from certibit.theory.relaxed.slope_world import SLOPE

PROOFS = DECREASES | {
    "each client": (CELGC(0.1, 0.1), RelaxedFunctions(1.0, 1.0, 2, 0.0, 0.1, 1.0)),
    "local steps": (EPISODE(0.03, 0.05, 2), RelaxedFunctions(1.0, 1.0, 2, 0.0, 0.1, 1.0)),
}
DATA = "(** * The decrease *)"


@cache
def written(name, growth="best"):
    return rocq_decrease(certify_clipped(*PROOFS[name], growth))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a whole file, compiled once; its theory is that of all files."""
    where = tmp_path_factory.mktemp("rocq")
    (where / "whole.v").write_text(written("clipped"), encoding="utf-8")
    words = [*COMMAND, "whole.v"]
    ran = subprocess.run(words, cwd=where, capture_output=True, text=True, check=True)
    (where / "said").write_text(ran.stdout, encoding="utf-8")
    return where


def said(text, folder):
    """Return what the kernel says of the data of a file and its theorem."""
    needed = "QArith Qreals Reals Lra Lia List Bool ZArith"
    imports = f"From Coq Require Import {needed}.\nRequire Import whole.\nImport ListNotations.\n"
    return refusal(imports + text.split(DATA)[1], folder)


@pytest.mark.long
@KERNEL
def test_the_kernel_takes_nothing_but_the_real_numbers_for_granted(folder):
    axioms = re.findall(r"^\w+\.\w+", (folder / "said").read_text("utf-8"), flags=re.MULTILINE)
    assert axioms == [
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    ]


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize(
    ("name", "growth"),
    [*((name, "best") for name in PROOFS if name != "clipped"), ("clipped", "lemma-5")],
)
def test_the_kernel_accepts_a_decrease(name, growth, folder):
    assert said(written(name, growth), folder) == ""


PLANTED = {
    "c": ("clipped", r"decreases (.*)\(192398433857 #", r"decreases \1(192398433858 #"),
    "the step": ("clipped", "clipped_decreases 1 1", "clipped_decreases 1 (1 # 2)"),
    "c in part": ("in part", r"decreases (.*)\(398185014481 #", r"decreases \1(398185014482 #"),
    "L0": ("clipped", "decreases 1 1", "decreases (1000001 # 1000000) 1"),
    "L1": ("clipped", "decreases 1 1", "decreases 1 (1000001 # 1000000)"),
    "eta": ("clipped", r"decreases 1 1 \(1 # 4\)", "decreases 1 1 (26 # 100)"),
    "a coefficient": ("normalised", r"along := {\| num := \[1\]", "along := {| num := [2]"),
    "the length": ("clipped", r"length_ := {\| num := \[0; 1\]%Z; over := 4", r"\g<0>1"),
    "too long": ("in part", r"against \(9 # 16\)", "against 1"),
    "a wrong part": ("in part", r"against \(9 # 16\)", "against (5 # 8)"),
    "most": ("noise of EPISODE", r"any_way (\S+ # \S+) \(.*? #", r"any_way \1 (1 #"),
    "top": ("noise of EPISODE", r"any_way \(.*? # (\S+)\)", r"any_way (1 # \1)"),
    "cuts in disorder": (
        "clipped",
        r"decrease_cuts := \[\]",
        "decrease_cuts := [(1 # 2); (1 # 3)]",
    ),
    "a gap": ("clipped", r"high := Some 1 \|}", "high := Some (1 # 2) |}"),
    "an answer": ("much noise", r"answers := \[true\]", "answers := [false]"),
    "the noise": ("much noise", r"reach := \(1 # 20\)", "reach := (1 # 10)"),
    "its square": ("much noise", r"fresh_square := \(1 #", "fresh_square := (2 #"),
    "the turn": ("much noise", r"radius := {\| num := \[1\]", "radius := {| num := [4]"),
    "known noise": ("much noise", r"known := {\| num := \[1\]", "known := {| num := [2]"),
    "toward": ("each client", r"toward := {\| num := \[9; 10\]", "toward := {| num := [8; 10]"),
    "spread": ("each client", r"spread := \(1 # 10\)", "spread := (1 # 5)"),
    "assumed": ("local steps", r"assumed := \[\({\| num := \[", r"\g<0>-"),
}


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize("planted", PLANTED)
def test_the_kernel_refuses_what_is_changed(planted, folder):
    name, old, new = PLANTED[planted]
    text = re.sub(old, new, written(name))
    assert text != written(name)
    assert "while it is expected to have type" in " ".join(said(text, folder).split())


def test_the_theorem_of_clipped_gradient_descent_is_there():
    """Of its own step, without regimes; the kernel accepts it with the file."""
    theorem = "Theorem clipped : clipped_decreases 1 1 (1 # 4) (1 # 4) "
    assert theorem in written("clipped")
    assert "Theorem clipped :" in written("in part")
    for name in ("normalised", "much noise", "each client"):
        assert "Theorem clipped :" not in written(name)


def test_ratios_are_written_over_the_common_denominator():
    """2/(3 (1 + G)) over 1 + G, 1/2 over 1, and G/2 over 1."""
    base = (1 / (1 + SLOPE)).den
    ratios = RationalFunction.of(2) / (3 + 3 * SLOPE), RationalFunction.of(1) / 2, SLOPE / 2
    words = [" ".join(_rocq_ratio(one, base).split()) for one in ratios]
    assert words == [
        "{| num := [2]%Z; over := 3%positive; power := 1%nat |}",
        "{| num := [1]%Z; over := 2%positive; power := 0%nat |}",
        "{| num := [0; 1]%Z; over := 2%positive; power := 0%nat |}",
    ]


def test_nothing_is_taken_for_granted_in_the_file():
    for word in ("Axiom", "Admitted", "admit", "Parameter", "Conjecture", "Abort"):
        assert not re.search(rf"\b{word}\b", written("clipped")), word


def test_the_command_writes_a_file_for_rocq(tmp_path, capsys):
    path = tmp_path / "clipped.v"
    assert main(["export", "clipped-sgd", str(path), "--class", "relaxed"]) == 0
    assert str(path) in "".join(capsys.readouterr().out.split())
    assert "Theorem certified : decreases 1 1 (1 # 4)" in path.read_text(encoding="utf-8")
