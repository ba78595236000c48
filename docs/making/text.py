"""Docstrings in parts, and texts as Markdown."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}$", flags=re.MULTILINE)
_GREEK = {
    "Psi": "Ψ", "gamma": "γ", "omega": "ω", "alpha": "α", "tau": "τ", "kappa": "κ", "rho": "ρ",
    "chi": "χ", "eta": "η", "mu": "μ", "sigma": "σ", "theta": "θ", "sqrt": "√", "sum": "Σ",
    "beta": "β", "lambda": "λ", "grad": "∇", "zeta": "ζ",
}  # fmt: skip


@dataclass(frozen=True)
class Docstring:
    """A docstring in numpydoc's parts.

    Attributes
    ----------
    summary : str
        The first paragraph.
    body : str
        What stands between it and the first section.
    sections : dict
        The others by name.
    """

    summary: str
    body: str
    sections: dict[str, str]

    def entries(self, section: str) -> list[tuple[str, str]]:
        """Return the names with their kinds, and the meanings, of a section such as Parameters."""
        found: list[tuple[str, str]] = []
        for block in re.split(r"\n(?=\S)", self.sections.get(section, "")):
            head, _, meaning = block.partition("\n")
            if head:
                found.append((head, textwrap.dedent(meaning).strip()))
        return found


def docstring(thing: Any) -> Docstring:
    """Read the docstring of a class or function, or of the first parent that has one."""
    owners = inspect.getmro(thing) if inspect.isclass(thing) else (thing,)
    text = inspect.cleandoc(next((owner.__doc__ for owner in owners if owner.__doc__), ""))
    head, *rest = _SECTION.split(text)
    summary, _, body = head.strip().partition("\n\n")
    sections = {
        name: content.strip("\n") for name, content in zip(rest[::2], rest[1::2], strict=True)
    }
    return Docstring(summary.replace("\n", " "), body.strip(), sections)


def prose(text: str) -> str:
    """Return a text of a docstring as Markdown; what ``::`` announces is a block of code."""
    parts = []
    for block in re.split(r"\n\s*\n", text):
        if block.startswith(("    ", "\t")):
            parts.append(f"```text\n{textwrap.dedent(block)}\n```")
        elif block.strip():
            announced = re.sub(r"::\s*$", ":", block)
            parts.append(re.sub(r"^([+-]) ", r"\\\1 ", escaped(announced), flags=re.MULTILINE))
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    """Return a text in which Markdown reads nothing but code."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        p if p.startswith("`") else re.sub(r"([*_<>|$\[\]#\\])", r"\\\1", p) for p in pieces
    )


def formula(text: str) -> str:
    """Return a formula of a docstring with the letters that a paper has."""
    for word, letter in _GREEK.items():
        text = re.sub(rf"(?<![A-Za-z]){word}(?![A-Za-z])", letter, text)
    return text.replace("^2", "²").replace("x*", "x⋆").replace("f*", "f⋆").replace("<=", "≤")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; cells are Markdown without line breaks."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in lines
    )


def code(text: str, language: str = "python") -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def raw(html: str) -> str:
    """Return HTML as it is."""
    return f"```{{raw}} html\n{html}\n```"


def page(*parts: str) -> str:
    """Join what there is to a page."""
    return "\n\n".join(part for part in parts if part) + "\n"
