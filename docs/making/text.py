"""Docstrings in parts, and texts as Markdown."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+)\n-{3,}$", flags=re.MULTILINE)
_LETTERS = (
    "Psi", "Gamma", "Lambda", "alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "kappa",
    "lambda", "mu", "nu", "rho", "sigma", "tau", "phi", "chi", "omega",
)  # fmt: skip
_COMMANDS = {name: rf"\{name}" for name in (*_LETTERS, "sum", "sqrt")} | {"grad": r"\nabla"}
_PHRASES = {
    "min (1/n) sum_i f_i(x) + g(x)": r"\min_x \frac1n \sum_i f_i(x) + g(x)",
    "min (1/n) sum_i f_i(x)": r"\min_x \frac1n \sum_i f_i(x)",
    "C_i, C_i' in U(omega)": r"C_i, C_i' \in \mathbb{U}(\omega)",
    "C_i in U(omega)": r"C_i \in \mathbb{U}(\omega)",
    "C_i in B(alpha)": r"C_i \in \mathbb{B}(\alpha)",
}
"""Common words of the summaries of methods, and how papers write them."""
_WORD = re.compile(r"(?<![\\A-Za-z_])[A-Za-z]+(?:_[A-Za-z0-9]+)?")
"""A symbol or a word, perhaps with an index."""


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


def headline(text: str) -> str:
    """Return a summary as Markdown, with the problem and the classes of compressors as formulas."""
    text = escaped(text)
    for phrase, latex in _PHRASES.items():
        text = text.replace(escaped(phrase), f"${latex}$")
    return text


def formula(text: str) -> str:
    """Return a formula of a docstring as LaTeX."""
    text = re.sub(r"\bsqrt\(([^()]*(?:\([^()]*\)[^()]*)*)\)", r"sqrt{\1}", text)
    text = re.sub(r"\^\(([^()]*)\)", r"^{\1}", text)
    text = re.sub(r"(?<=[A-Za-z0-9])\*(?![A-Za-z0-9])", r"^\\star", text)
    text = text.replace("<=", r"\le").replace(">=", r"\ge").replace("omega'", r"\omega'")
    text = re.sub(r"max\{([^{}]*)\}", r"\\max\\{\1\\}", text)
    return re.sub(r" \} \\text\{ ", " ", _WORD.sub(_command, text))


def _command(found: re.Match[str]) -> str:
    """Return a symbol with its index, or a word, as LaTeX."""
    word, _, index = found[0].partition("_")
    if len(word) == 1 or word in _COMMANDS:
        return _COMMANDS.get(word, word) + (f"_{_index(index)}" if index else "")
    if index:
        return rf"\mathrm{{{word}}}_{_index(index)}"
    return rf"\text{{ {word} }}"


def _index(text: str) -> str:
    return text if len(text) == 1 else _COMMANDS.get(text, rf"{{\mathrm{{{text}}}}}")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; cells are Markdown without line breaks."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in lines
    )


def code(text: str, language: str = "python") -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def displayed(latex: str) -> str:
    """Return a formula on lines of its own."""
    return f"$$\n{latex}\n$$"


def raw(element: str) -> str:
    """Return HTML as it is."""
    return f"```{{raw}} html\n{element}\n```"


def page(*parts: str) -> str:
    """Join what there is to a page."""
    return "\n\n".join(part for part in parts if part) + "\n"
