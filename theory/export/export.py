"""Proofs as files that others check: for the kernel of Rocq (Coq), or JSON of fractions."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.theory.export.proof_file import parts_of, proof_file, sealed
from certibit.theory.export.rocq_words import (
    DEEPER,
    LINE,
    ROCQ,
    Places,
    rocq_constants,
    rocq_list,
    rocq_nested,
    rocq_number,
    rocq_record,
    rocq_squares,
    rocq_text,
)
from certibit.theory.proofs.proof import Proof

ABOUT = """\
   Written by certibit. What the kernel checks is all of the algebra: that Psi, that
   (1 + growth) Psi - E[Psi+] - c M + e sigma^2 + d zeta^2 and, where there is a solution, that
   |x - x*|^2 - Psi at the start are sums of multiples of facts, none of an inequality negative, and
   of squares. What is assumed stands in the definition of [descends]: the facts, and that E[Psi+]
   is at most the form [after_]. That the forms are those of the method, the mean taken over coins
   and cohorts (and over compressors where no noise is an unknown), is not checked here: certibit
   has computed them by running the method on symbols.
"""
"""What stands above a proof."""

LAWS = {
    "contraction": "shortens",
    "noise": "shortens",
    "difference": "shortens",
    "sample": "samples",
}
ASSUMPTIONS = {
    "infimum": "infimum",
    "polyak lojasiewicz": "gradual",
    "bounded dissimilarity": "dissimilar",
    "quasi strong convexity": "quasi_convex",
    "mean smoothness": "mean_smooth",
    "similarity": "similar",
}
"""The facts of messages and of assumptions."""


def rocq_proof(proof: Proof) -> str:
    """Return a proof as a file that ``coqc`` or ``rocq compile`` accepts.

    It stands alone: first what the theorems say and assume, then the data, then the proof, which is
    a computation of the kernel.

    Raises
    ------
    Refusal
        If the file has no words for an assumption or a step.
    """
    written = proof_file(proof)
    step, start, descent = parts_of(proof, grown=True)
    left = [*map(rocq_squares, descent.left(step, start)), "[]"]
    words = _Words(written["proof"])
    file = words.file
    parts = [file["inequalities"], file["below"], file.get("start", {}).get("inequalities", [])]
    used, below, starting = ([words.used(one) for one in own] for own in parts)
    free = [
        f"({rocq_number(one['multiplier'])}, {place}%nat)"
        for place, one in enumerate(file["equalities"])
    ]
    fields = {
        "sizes_": f"{rocq_list(map(len, file['psi']['blocks']))}%nat",
        "counts_": "the_counts",
        "classes_": rocq_list(map(rocq_constants, file["classes"]), DEEPER),
        "evaluations_": "the_evaluations",
        "messages_": rocq_list(words.messages, DEEPER),
        "values_": str(len(file["psi"]["values"]) + 2),
        "facts_": rocq_list(words.facts, DEEPER),
        "moments_": rocq_list(map(words.moment, file["equalities"]), DEEPER),
        "psi_": words.form(file["psi"]),
        "after_": words.form(file["expected"]),
        "growth_": rocq_number(file["growth"]),
        "measured_": words.measured,
        "rest_": words.form(file["start"]["psi"]) if start else "zero",
        "distance_": words.distance if start else "zero",
    }
    multiples = {
        "used": rocq_list(used),
        "free": rocq_list(free),
        "left_squares": left[0],
        "used_below": rocq_list(below),
        "psi_squares": left[1],
        "used_at_start": rocq_list(starting),
        "start_squares": left[2],
    }
    promise = str(proof).split("E[Psi+]")[-1].replace("f*)", "f_inf)")  # *) would end the comment
    claim = f"{written['about']}: E[Psi+]{promise} with c = {descent.c}, e = {descent.e}"
    claim += f", d = {descent.dissimilarity}." if proof.functions.zeta else "."
    body = f"""\
(** * The proof *)

Local Open Scope Q_scope.

Definition the_counts : list nat := {rocq_list(file["counts"])}%nat.

Definition the_evaluations : list evaluation := {rocq_list(words.places.evaluations, LINE)}.

Definition this_step : descent_step := {rocq_record(fields, LINE)}.

Definition c : Q := {rocq_number(descent.c)}.

Definition e : Q := {rocq_number(descent.e)}.

Definition d : Q := {rocq_number(descent.dissimilarity)}.

Definition proof : descent_proof := {rocq_record(multiples, LINE)}.

Theorem certified : descends this_step c e d.
Proof.
  apply descent_sound with (y := proof); vm_compute; reflexivity.
Qed.
"""
    return rocq_text(claim, ABOUT, written["unknowns"], [ROCQ / "Sums.v", ROCQ / "proofs.v"], body)


class _Words:
    """The words of Rocq for what stands in the file of a descent."""

    def __init__(self, file: dict[str, Any]) -> None:
        self.file = file
        self.places = Places(file)
        self.facts: dict[str, int] = {}
        self.messages = list(map(self._message, file["messages"]))

    def used(self, one: dict[str, Any]) -> str:
        """Return the multiplier of a fact, and its number."""
        number = self.facts.setdefault(self._fact(one), len(self.facts))
        return f"({rocq_number(one['multiplier'])}, {number}%nat)"

    def _of_message(self, number: int, joint: int) -> str:
        """Return the fact about what a message loses."""
        if joint:
            return f"jointly {number} {rocq_number(self.file['omega_joint'])}"
        message = self.file["messages"][number]
        (law,) = set(LAWS) & set(message)
        if "at" in message:
            name, growth = ("samples_at", "gap") if law == "sample" else ("changes", "expected")
            part = rocq_number(self.file["noise"][growth])
            return f"{name} {number} {part} {rocq_list(message['at'])}%nat"
        return f"{LAWS[law]} {number}"

    def _fact(self, one: dict[str, Any]) -> str:
        if "message" in one:
            return self._of_message(one["message"], one["joint"])
        if "between" in one:
            places = [self.file["messages"][number]["at"] for number in one["between"]]
            at = " ".join(f"{rocq_list(own)}%nat" for own in places)
            part = rocq_number(self.file["noise"]["expected"])
            return f"changes_between {' '.join(map(str, one['between']))} {part} {at}"
        if "steps" in one:
            ratio = one["steps"]["ratio"]
            message = _shortened(one["class"], one["vector"], one["error"], ratio)
            if message not in self.messages:
                self.messages.append(message)
            return f"shortens {self.messages.index(message)}"
        ends = [one[at] for at in ("at", "from", "to") if at in one]
        if "assumption" in one:
            name, *_ = assumption = self.file["assumptions"][one["assumption"]]
            constants = [assumption[name]]
            if name == "bounded dissimilarity":
                constants.append(assumption.get("zeta", "0"))
            points = [f"{rocq_list(places)}%nat" for places in ends]
            return " ".join([ASSUMPTIONS[name], *map(rocq_number, constants), *points])
        evaluations = (self.places.number(one["class"], end) for end in ends)
        return f"interpolates {' '.join(map(str, evaluations))}"

    def _message(self, one: dict[str, Any]) -> str:
        """Return a message: what is sent, what is lost, and at most how much."""
        (law,) = set(LAWS) & set(one)
        own, noise = self.file["classes"][one["class"]], self.file.get("noise", {"relative": 0})
        most = {
            "contraction": 1 - Fraction(own["alpha"]),
            "noise": own["omega"],
            "sample": noise["relative"],
            "difference": Fraction(noise.get("difference", 0)) ** 2,
        }
        return _shortened(one["class"], one["vector"], one[law], most[law])

    def moment(self, one: dict[str, Any]) -> str:
        """Return what is 0 of a noise."""
        if "together" in one:
            first = self.file["messages"][one["message"]]["with"]
            return f"together {one['message']} {first}"
        if "known" not in one:
            return f"independent {one['message']}"
        return f"orthogonal {one['message']} {one['block']} {rocq_nested(one['known'])}"

    def form(self, form: dict[str, Any]) -> str:
        """Return a form with its coefficient of sigma^2."""
        values = [*form["values"], form["variance"], "0"]
        return f"given {rocq_nested(form['blocks'])} {rocq_nested(values)}"

    @property
    def measured(self) -> str:
        """M."""
        if not self.file["measure"]:
            return self.form(self.file["psi"])
        ((name, places),) = self.file["measure"].items()
        at = f"the_evaluations {rocq_list(places)}%nat"
        return f"gap {at}" if name == "at" else f"alone the_counts (slope the_counts {at})"

    @property
    def distance(self) -> str:
        """|x - x*|^2."""
        (places,) = self.file["measure"].values()
        return f"alone the_counts (place the_evaluations {rocq_list(places)}%nat)"


def _shortened(kind: int, long: Any, short: Any, most: Any) -> str:
    """Return two vectors, |short|^2 <= most |long|^2 in the mean."""
    return rocq_record(
        {
            "of_clients": str(kind),
            "sent": f"read {rocq_nested(long)}",
            "loss": f"read {rocq_nested(short)}",
            "most": rocq_number(most),
        }
    )


def require_file_name(path: Path) -> None:
    """Refuse a name of a file for Rocq that is none of a module: ``coqc`` would not read it.

    Raises
    ------
    Refusal
        If it ends in ``.v`` and the rest is not letters, digits and underscores.
    """
    if path.suffix == ".v" and not path.stem.isidentifier():
        better = re.sub(r"\W|^(?=\d)", "_", path.stem)
        raise Refusal(
            f"'{path.name}' is no name that Rocq reads, since it makes a module of a file; take "
            f"letters, digits and _ that begin with no digit, such as '{better}.v'"
        )


def write_certificate(proof: Proof, path: Path) -> None:
    """Write a proof for the kernel of Rocq if the name ends in ``.v``, and else as JSON.

    The JSON is for ``docs/check_proof.py``; its numbers are fractions in strings.

    Raises
    ------
    Refusal
        If Rocq could not read a file of this name, or the file has no words for the proof.
    """
    require_file_name(path)
    text = rocq_proof(proof) if path.suffix == ".v" else sealed(proof_file(proof))
    write_text(path, text.removesuffix("\n"))
