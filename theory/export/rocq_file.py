"""The file of a certificate for the proof assistant Rocq (Coq), whose kernel checks the algebra."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import Any

from certibit.theory.export.certificate_file import certificate_file
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.rational_algebra import Rationals, ldl
from certibit.theory.proofs.rational_step import RationalForm, RationalStep
from certibit.theory.worlds.symbolic.exact_numbers import Rational, rational

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

WIDTH = 100
"""Of the lines of a comment."""

Place = tuple[int, tuple[int, ...]]
"""A class, and the numbers of the evaluations that stand for it: one, or all of an average."""

LINE, DEEPER = "\n  ", "\n    "
"""What separates the fields of a record, and the entries of a list in it."""


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
    places = _places(certificate)
    interpolations = [one for one in certificate["inequalities"] if "from" in one]
    shortened = [one for one in certificate["inequalities"] if "error" in one]
    classes = certificate["classes"]
    fields = {
        "sizes": f"{_list(len(block) for block in now.blocks)}%nat",
        "counts": f"{_list(certificate['counts'])}%nat",
        "classes": _list(map(_constants, classes), DEEPER),
        "evaluations": _list((_evaluation(*place, certificate) for place in places), DEEPER),
        "contracting": _list((_shortened(one, classes) for one in shortened), DEEPER),
        "known": str(len(now.values)),
        "psi": _form(certificate["psi"]),
        "after": _form(certificate["expected"]),
    }
    multipliers = {
        "interpolations": _list(
            (
                f"({_number(one['multiplier'])}, ({_index(one, 'from', places)}, "
                f"{_index(one, 'to', places)})%nat)"
                for one in interpolations
            ),
            DEEPER,
        ),
        "contractions": _list(
            f"({_number(one['multiplier'])}, {place}%nat)" for place, one in enumerate(shortened)
        ),
        "left_over": _squares(left),
        "squares_of_psi": _squares(now),
    }
    claim = f"{written['about']}: E[Psi+] <= (1 - {proof.exact}) Psi."
    return f"""\
(* {fill(claim, WIDTH, subsequent_indent="   ")}

{ABOUT}
   The unknowns, by blocks:
{_told(written["unknowns"])} *)

{THEORY.read_text(encoding="utf-8")}
(** * The certificate *)

Local Open Scope Q_scope.

Definition this_step : step := {_record(fields, LINE)}.

Definition decrease : Q := {_number(proof.exact)}.

Definition proof : multipliers := {_record(multipliers, LINE)}.

Theorem certified : contracts this_step decrease.
Proof.
  apply sound with (y := proof); vm_compute; reflexivity.
Qed.

Print Assumptions certified.
"""


def _places(certificate: dict[str, Any]) -> list[Place]:
    """Return all evaluations, then the averages that inequalities use."""
    single = [(one["class"], (i,)) for i, one in enumerate(certificate["evaluations"])]
    used = (
        (one["class"], tuple(one[end]))
        for one in certificate["inequalities"]
        for end in ("from", "to")
        if end in one
    )
    return list(dict.fromkeys([*single, *used]))


def _index(one: dict[str, Any], end: str, places: list[Place]) -> int:
    return places.index((one["class"], tuple(one[end])))


def _evaluation(kind: int, numbers: tuple[int, ...], certificate: dict[str, Any]) -> str:
    parts, counts = [certificate["evaluations"][i] for i in numbers], certificate["counts"]
    averaged = kind > len(counts)
    shares = [Fraction(count, sum(counts)) for count in counts] if averaged else [Fraction(1)]
    gradient = [
        [
            sum((s * Fraction(x) for s, x in zip(shares, entries, strict=True)), Fraction(0))
            for entries in zip(*blocks, strict=True)
        ]
        for blocks in zip(*(part["gradient"] for part in parts), strict=True)
    ]
    known = len(certificate["psi"]["values"])
    return _record(
        {
            "class": str(kind),
            "point": f"read {_nested(parts[0]['point'])}",
            "gradient": f"read {_nested(gradient)}",
            "values": f"{_list(i for i in numbers if i < known)}%nat",
        }
    )


def _constants(one: dict[str, str]) -> str:
    return _record({name: _number(one[name]) for name in ("mu", "L")})


def _shortened(one: dict[str, Any], classes: list[dict[str, str]]) -> str:
    long, short = (f"read {_nested(one[name])}" for name in ("vector", "error"))
    kept = one["steps"]["ratio"] if "steps" in one else 1 - Fraction(classes[one["class"]]["alpha"])
    number = str(one["class"])
    return _record({"of_class": number, "long": long, "short": short, "kept": _number(kept)})


def _form(form: dict[str, Any]) -> str:
    return f"given {_nested(form['blocks'])} {_nested(form['values'])}"


def _squares(form: RationalForm) -> str:
    """Return the blocks of a form as sums of squares, by L D L'."""
    squares = (
        f"({_number(pivot)}, ({number}%nat, {_nested(column)}))"
        for number, block in enumerate(form.blocks)
        for pivot, column in _columns(block)
    )
    return _list(squares, DEEPER)


def _columns(block: Rationals) -> list[tuple[Rational, list[Rational]]]:
    found = ldl(block)
    if found is None:
        return []
    lower, pivots = found
    return [(pivot, lower[:, k].tolist()) for k, pivot in enumerate(pivots) if pivot]


def _told(unknowns: list[list[str]]) -> str:
    return "\n".join(f"   {number}: {', '.join(names)}" for number, names in enumerate(unknowns))


def _record(fields: dict[str, str], between: str = " ") -> str:
    return f"{{|{between}{f';{between}'.join(f'{name} := {x}' for name, x in fields.items())} |}}"


def _list(entries: Iterable[Any], between: str = " ") -> str:
    return f"[{f';{between}'.join(map(str, entries))}]"


def _nested(entry: Any) -> str:
    return _list(map(_nested, entry)) if isinstance(entry, list) else _number(entry)


def _number(value: Any) -> str:
    number = Fraction(str(value))
    if number.denominator == 1:
        return str(number.numerator) if number >= 0 else f"({number.numerator})"
    return f"({number.numerator} # {number.denominator})"
