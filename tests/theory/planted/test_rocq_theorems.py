"""The theorems of ``theory/rocq``: proved from definitions, without axioms of their own."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from faults import FAULTS
from kernel import COMMAND, KERNEL
from planting import planted

import certibit
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.export.ties import cards

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
def test_the_kernel_proves_every_theorem(compiled):
    assert (compiled / "Ties.vo").exists()


def test_every_theorem_has_the_axioms_of_the_reals_alone():
    reals = {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
    lines = [line.split() for line in (ROCQ / "axioms.txt").read_text("utf-8").splitlines()]
    assert {axiom for line in lines for axiom in line[1:]} == reals
    tied = {theorem.kernel for card in CARDS.values() for theorem in card.theorems}
    assert tied - {""} <= {name for name, *_ in lines}


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
    ("Samples.v", "/ INR n * mean_variance x.", "mean_variance x."),
    ("methods/SGD.v", "(L_f + mu) * gamma <= 2.", "(L_f + mu) * gamma <= 3."),
    ("methods/SGD.v", "2 * (L_f + A / INR n) * gamma <= 1", "(L_f + A / INR n) * gamma <= 1"),
    ("methods/PAGE.v", "gamma / (2 * p) * sq", "gamma / (3 * p) * sq"),
    ("methods/LSVRG.v", "6 * A / INR n", "5 * A / INR n"),
    ("methods/VRMARINA.v", "(omega_av + 1 / INR n)", "omega_av"),
    (
        "methods/AGD.v",
        "Definition rate (q : R) : R := 1 - q",
        "Definition rate (q : R) : R := 1 - 2 * q",
    ),
    ("methods/LoCoDLRandK.v", "  4 * (sqrt (INR d", "  2 * (sqrt (INR d"),
    ("methods/EControl.v", "((1 + share) ^ 3 + v s share).", "((1 + share) ^ 2 + v s share)."),
    ("methods/EFNonconvex.v", "gamma * L ^ 2 / (2 * (1", "gamma * L ^ 2 / (3 * (1"),
    ("methods/EFBV.v", "lambda_ ^ 2 * omega.", "lambda_ ^ 3 * omega."),
    ("methods/EFBV.v", "((1 + left lambda_ eta omega) / 2)", "(left lambda_ eta omega)"),
]
"""File, text and what stands in its place: no statement with this error has the proof."""


def refusal(name, folder, library):
    """Return what the kernel says of a file of a folder, or an empty text if it accepts it."""
    words = [*COMMAND, "-Q", str(library), "Certibit", name]
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert "Syntax error" not in ran.stderr
    assert "not found in the current environment" not in ran.stderr
    return ran.stderr if ran.returncode else ""


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize(("file", "old", "new"), PLANTED)
def test_the_kernel_refuses_a_planted_error(file, old, new, compiled, tmp_path):
    text, name = (ROCQ / file).read_text("utf-8"), Path(file).name
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new), encoding="utf-8")
    assert refusal(name, tmp_path, compiled)


def test_cards_and_methods_are_as_the_kernel_has_them():
    assert cards() == (ROCQ / "Cards.v").read_text("utf-8")


def test_all_that_a_card_says_is_tied_to_its_theorem():
    ties = (ROCQ / "Ties.v").read_text("utf-8")
    for name, text in re.findall(r"^Module (\w+)\.(.*?)^End \1", cards(), re.DOTALL | re.MULTILINE):
        for defined in re.findall(r"^Definition ((?:card|code)_\w+)", text, re.MULTILINE):
            assert defined in ("code_local", "code_communicate") or f"{name}.{defined}" in ties


TIED = {
    place.format(card.method.__module__.rpartition(".")[2])
    for card in CARDS.values()
    if any(theorem.kernel for theorem in card.theorems)
    for place in ("solvers.methods.{}", "theory.cards.{}")
}
UNTIED = [
    "gd: model not broadcast",
    "diana: model not broadcast",
    "ef: model not broadcast",
    "locodl theorem: the weights of Theorem 3.1",
    "locodl: a/2 for a with uneven weights is lax",
    "locodl: b/2 for b with uneven weights is lax",
    "convex, gd: last iterate, 4.4 gamma T",
    "convex, gd: last iterate, 3/L_f",
    "diana card: e / 50",
    "ef card: e / 50",
    "page card: p twice",
]
"""Planted faults of broadcasts, of noise and of theorems that are not in Rocq."""


@pytest.mark.parametrize(
    "fault",
    [fault for fault in FAULTS if fault.module in TIED and " rule" not in fault.name],
    ids=lambda fault: fault.name,
)
def test_a_fault_of_a_card_or_of_a_method_changes_what_is_tied(fault):
    right = cards()
    with planted(fault):
        assert (cards() == right) == (fault.name in UNTIED)


REFUSED = [
    "gd: step uphill",
    "diana: shifts without alpha",
    "diana: 1 + r for its square is lax",
    "marina: the step without noise is lax",
    "ef21 theorem: theta = alpha",
    "locodl: 1/n for 1/(2 n)",
    "locodl theorem: weight of y without n",
    "scaffnew: control variates without p",
    "compressed-gd theorem: 4 times as fast",
    "sgd card: A/50 in the condition",
    "page, samples: change of half the length",
    "l-svrg, samples: reference never moves",
]


@pytest.mark.long
@KERNEL
@pytest.mark.parametrize("name", REFUSED)
def test_the_kernel_refuses_the_ties_of_a_faulty_card_or_method(name, compiled, tmp_path):
    (fault,) = (fault for fault in FAULTS if fault.name == name)
    where = tmp_path / "compiled"
    shutil.copytree(compiled, where)
    with planted(fault):
        (where / "Cards.v").write_text(cards(), encoding="utf-8")
    assert not refusal("Cards.v", where, where)
    assert refusal("Ties.v", where, where)
