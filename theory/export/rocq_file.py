"""The file of a certificate for the proof assistant Rocq (Coq), whose kernel checks the algebra."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from certibit.theory.export.certificate_file import certificate_file
from certibit.theory.export.rocq_words import (
    DEEPER,
    LINE,
    Places,
    rocq_constants,
    rocq_form,
    rocq_list,
    rocq_nested,
    rocq_number,
    rocq_record,
    rocq_squares,
    rocq_text,
)
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.worlds.opaque.exact_numbers import rational

THEORY = Path(__file__).with_name("certificates.v")
"""What all certificates have in common: what they claim, and why what is checked proves it."""

ABOUT = """\
   Written by certibit. What the kernel checks is all of the algebra: that Psi is at least 0, and
   that (1 - decrease) Psi - E[Psi+] is a sum of multiples, none negative, of inequalities and of
   squares. What is assumed stands in the definition of [contracts]: that the inequalities of
   mu-strongly convex and L-smooth functions, of contractive compressors and of local steps hold,
   and that E[Psi+] is at most the form [after]. That the forms [psi] and [after] are those of the
   method, the mean taken over coins, cohorts and unbiased compressors, E|C(v) - v|^2 being at most
   omega |v|^2, is not checked here: certibit has computed them by running the method on symbols.
"""
"""What stands above a certificate."""


def rocq_file(proof: Certificate) -> str:
    """Return a proof as a file that ``coqc`` or ``rocq compile`` accepts.

    It stands alone: first what the theorem says and assumes, then the data, then the proof, which
    is a computation of the kernel.
    """
    written = certificate_file(proof)
    step = RationalStep.of(proof.method, proof.functions, proof.potential)
    weights, _ = proof.exact_weights
    now, _ = step.psi(weights)
    multiples = {name: rational(y) for name, y in proof.multipliers.items()}
    left = step.left(weights, rational(proof.exact), multiples)
    certificate = written["certificate"]
    places = Places(certificate)
    interpolations = [
        f"({rocq_number(one['multiplier'])}, "
        f"({', '.join(str(places.number(one['class'], one[end])) for end in ('from', 'to'))})%nat)"
        for one in certificate["inequalities"]
        if "from" in one
    ]
    shortened = [one for one in certificate["inequalities"] if "error" in one]
    classes = certificate["classes"]
    fields = {
        "sizes": f"{rocq_list(len(block) for block in now.blocks)}%nat",
        "counts": f"{rocq_list(certificate['counts'])}%nat",
        "classes": rocq_list(map(rocq_constants, classes), DEEPER),
        "evaluations": rocq_list(places.evaluations, DEEPER),
        "contracting": rocq_list((_shortened(one, classes) for one in shortened), DEEPER),
        "known": str(len(now.values)),
        "psi": rocq_form(certificate["psi"]),
        "after": rocq_form(certificate["expected"]),
    }
    multipliers = {
        "interpolations": rocq_list(interpolations, DEEPER),
        "contractions": rocq_list(
            f"({rocq_number(one['multiplier'])}, {place}%nat)"
            for place, one in enumerate(shortened)
        ),
        "left_over": rocq_squares(left),
        "squares_of_psi": rocq_squares(now),
    }
    claim = f"{written['about']}: E[Psi+] <= (1 - {proof.exact}) Psi."
    body = f"""\
(** * The certificate *)

Local Open Scope Q_scope.

Definition this_step : step := {rocq_record(fields, LINE)}.

Definition decrease : Q := {rocq_number(proof.exact)}.

Definition proof : multipliers := {rocq_record(multipliers, LINE)}.

Theorem certified : contracts this_step decrease.
Proof.
  apply sound with (y := proof); vm_compute; reflexivity.
Qed.
"""
    return rocq_text(claim, ABOUT, written["unknowns"], [THEORY], body)


def _shortened(one: dict[str, Any], classes: list[dict[str, str]]) -> str:
    long, short = (f"read {rocq_nested(one[name])}" for name in ("vector", "error"))
    kept = one["steps"]["ratio"] if "steps" in one else 1 - Fraction(classes[one["class"]]["alpha"])
    number = str(one["class"])
    return rocq_record(
        {"of_class": number, "long": long, "short": short, "kept": rocq_number(kept)}
    )
