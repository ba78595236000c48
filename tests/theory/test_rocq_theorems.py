"""The theorems of ``theory/rocq``: proved from definitions, without axioms of their own."""

import re
import subprocess
from pathlib import Path

import pytest
from kernel import COMMAND, KERNEL

import certibit

ROOT = Path(certibit.__file__).parents[1]
ROCQ = ROOT / "theory/rocq"
FILES = sorted(path.relative_to(ROCQ).as_posix() for path in ROCQ.rglob("*.v"))

NEVER = "Axiom Axioms Parameter Parameters Conjecture Admitted admit Abort bypass_check Unset"
IN_SECTIONS = "Variable Variables Hypothesis Hypotheses Context"


def assumed(text):
    """Return the words of a file by which a statement is taken for granted."""
    depth, words = 0, []
    text = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    for word in re.findall(r"\w+", text.replace("Print Assumptions", "")):
        depth += word == "Section"
        depth -= word == "End" and depth > 0
        if word in NEVER.split() or (not depth and word in IN_SECTIONS.split()):
            words.append(word)
    return words


@pytest.mark.parametrize("file", FILES)
def test_nothing_is_taken_for_granted(file):
    assert assumed((ROCQ / file).read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Axiom bad : False.", ["Axiom"]),
        ("Lemma a : True. Admitted. (* Axiom *)", ["Admitted"]),
        ("Hypothesis h : False. Section A. Hypothesis h : False. End A.", ["Hypothesis"]),
        ("Section A. End A. Context (h : False).", ["Context"]),
    ],
)
def test_a_gap_is_seen(text, words):
    assert assumed(text) == words


def test_every_file_is_compiled():
    listed = (ROCQ / "_CoqProject").read_text("utf-8").splitlines()[1:]
    assert sorted(listed) == FILES


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of the compiled theorems, made by ``make proofs``."""
    where = tmp_path_factory.mktemp("rocq")
    words = ["make", "proofs", f"PROOFS={where}"]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return where


@pytest.mark.long
@KERNEL
def test_the_kernel_proves_every_theorem_with_the_axioms_of_the_reals_alone(compiled):
    reals = {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
    lines = (ROCQ / "axioms.txt").read_text("utf-8").splitlines()
    assert {axiom for line in lines for axiom in line.split()[1:]} == reals


PLANTED = [
    ("Rounds.v", "<= tau ^ T * Psi s", "<= tau ^ S T * Psi s"),
    ("Functions.v", "Rmax ((1 - gamma * mu) ^ 2)", "Rmax ((1 - gamma * mu) ^ 3)"),
    ("Compressors.v", "messages n omega (omega / INR n)", "messages n omega (omega / 2)"),
    ("RandK.v", "(INR d / INR k - 1) (rand_k d k)", "(INR d / INR k - 2) (rand_k d k)"),
    ("methods/DIANA.v", "(1 + 6 * omega_av)", "(1 + 5 * omega_av)"),
    ("methods/DIANA.v", "(1 - alpha / 2).", "(1 - alpha)."),
    ("methods/DIANA.v", "(h_mean s +v alpha *v vmean n m)", "(h_mean s +v vmean n m)"),
    ("methods/LoCoDL.v", "rho ^ 2 * (1 + omega_av) /\\", "rho ^ 2 /\\"),
    ("methods/LoCoDL.v", "Definition dual : R := p * chi", "Definition dual : R := chi"),
    ("methods/MARINA.v", "potential (gamma / (2 * p))", "potential (gamma / (3 * p))"),
    ("methods/EF21.v", "theta alpha / (2 * mu)", "2 * theta alpha / mu"),
    ("methods/Scaffnew.v", "(1 - p ^ 2).", "(1 - p)."),
]
"""File, text and what stands in its place: no statement with this error has the proof."""


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize(("file", "old", "new"), PLANTED)
def test_the_kernel_refuses_a_planted_error(file, old, new, compiled, tmp_path):
    text = (ROCQ / file).read_text("utf-8")
    assert old in text
    (tmp_path / Path(file).name).write_text(text.replace(old, new), encoding="utf-8")
    words = [*COMMAND, "-Q", str(compiled), "Certibit", Path(file).name]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert "Syntax error" not in ran.stderr
    assert "not found in the current environment" not in ran.stderr
