"""Numbers, lists, records and forms as Rocq (Coq) reads them."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from certibit.theory.proofs.rational_algebra import Rationals, ldl
from certibit.theory.proofs.rational_step import RationalForm
from certibit.theory.worlds.symbolic.exact_numbers import Rational

WIDTH = 100
"""Of the lines of a comment."""

LINE, DEEPER = "\n  ", "\n    "
"""What separates the fields of a record, and the entries of a list in it."""


def rocq_evaluation(kind: int, numbers: tuple[int, ...], certificate: dict[str, Any]) -> str:
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


def rocq_form(form: dict[str, Any]) -> str:
    """Return a form that is given by its entries."""
    return f"given {rocq_nested(form['blocks'])} {rocq_nested(form['values'])}"


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


def rocq_told(unknowns: list[list[str]]) -> str:
    """Return the names of the unknowns, for a comment."""
    return "\n".join(f"   {number}: {', '.join(names)}" for number, names in enumerate(unknowns))


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
