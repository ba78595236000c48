"""Numbers, lists, records, forms and files as Rocq (Coq) reads them."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from textwrap import fill
from typing import Any

from certibit.theory.proofs.rational_algebra import Rationals, ldl
from certibit.theory.proofs.rational_step import RationalForm
from certibit.theory.worlds.opaque.exact_numbers import Rational

WIDTH = 100
"""Of the lines of a comment."""

ROCQ = Path(__file__).parents[1] / "rocq"
"""The folder of the theorems and definitions in Rocq."""

LINE, DEEPER = "\n  ", "\n    "
"""What separates the fields of a record, and the entries of a list in it."""


def _rocq_evaluation(kind: int, numbers: tuple[int, ...], certificate: dict[str, Any]) -> str:
    """Return an evaluation, perhaps of the average of several classes."""
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
    return rocq_record(
        {
            "class": str(kind),
            "point": f"read {rocq_nested(parts[0]['point'])}",
            "gradient": f"read {rocq_nested(gradient)}",
            "values": f"{rocq_list(i for i in numbers if i < known)}%nat",
        }
    )


def rocq_constants(one: dict[str, str]) -> str:
    """Return mu and L of a class."""
    return rocq_record({name: rocq_number(one[name]) for name in ("mu", "L")})


def rocq_squares(form: RationalForm) -> str:
    """Return the blocks of a form as sums of squares, by L D L'."""
    squares = (
        f"({rocq_number(pivot)}, ({number}%nat, {rocq_nested(column)}))"
        for number, block in enumerate(form.blocks)
        for pivot, column in _columns(block)
    )
    return rocq_list(squares, DEEPER)


def _columns(block: Rationals) -> list[tuple[Rational, list[Rational]]]:
    found = ldl(block)
    if found is None:
        return []
    lower, pivots = found
    return [(pivot, lower[:, k].tolist()) for k, pivot in enumerate(pivots) if pivot]


def rocq_text(
    claim: str, about: str, unknowns: list[list[str]], theories: Iterable[Path], body: str
) -> str:
    """Return a file: a comment about it, what all such files have in common, and its own part."""
    blocks = (f"   {number}: {', '.join(names)}" for number, names in enumerate(unknowns))
    told = "\n".join(["   The unknowns, by blocks:", *blocks] if unknowns else ["  "])
    lines = "".join(path.read_text(encoding="utf-8") for path in theories).splitlines(keepends=True)
    theory = "".join(line for line in lines if not line.startswith("From Certibit"))
    comment = f"{fill(claim, WIDTH, subsequent_indent='   ')}\n\n{about}\n{told}"
    for sign, written in (("(*", "( *"), ("*)", "* )"), ('"', "'")):  # it ends where we end it
        comment = comment.replace(sign, written)
    return f"""\
(* {comment} *)

{theory}
{body}
Print Assumptions certified.
"""


class Places:
    """The numbers of the evaluations of a file and at the solution, and of averages of them."""

    def __init__(self, file: dict[str, Any]) -> None:
        nothing = [["0"] * len(block) for block in file["psi"]["blocks"]]
        solutions = [
            {"class": kind, "point": nothing, "gradient": nothing} for kind in range(len(nothing))
        ]
        self.file = {**file, "evaluations": [*file["evaluations"], *solutions]}
        single = enumerate(self.file["evaluations"])
        self._numbers: dict[tuple[int, tuple[int, ...]], int] = {
            (one["class"], (place,)): place for place, one in single
        }

    def number(self, kind: int, places: list[int]) -> int:
        """Return the number of an evaluation, or of the average of those of all classes."""
        return self._numbers.setdefault((kind, tuple(places)), len(self._numbers))

    @property
    def evaluations(self) -> list[str]:
        """The evaluations, then the averages that have a number by now."""
        return [_rocq_evaluation(*place, self.file) for place in self._numbers]


def rocq_record(fields: dict[str, str], between: str = " ") -> str:
    """Return a record with fields."""
    return f"{{|{between}{f';{between}'.join(f'{name} := {x}' for name, x in fields.items())} |}}"


def rocq_list(entries: Iterable[Any], between: str = " ") -> str:
    """Return a list."""
    return f"[{f';{between}'.join(map(str, entries))}]"


def rocq_nested(entry: Any) -> str:
    """Return lists of lists of numbers."""
    return rocq_list(map(rocq_nested, entry)) if isinstance(entry, list) else rocq_number(entry)


def rocq_number(value: Any) -> str:
    """Return a rational number."""
    number = Fraction(str(value))
    if number.denominator == 1:
        return str(number.numerator) if number >= 0 else f"({number.numerator})"
    return f"({number.numerator} # {number.denominator})"
