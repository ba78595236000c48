"""Small faults made by machine: every candidate of a module, each one edit of its text.

The places are found in the syntax tree and the edits are made on the text, so that a patch is as
small as one that a person would write. Not mutated are docstrings and all other strings,
annotations, decorators, what is raised, ``__repr__`` and ``__str__``, seeds by default, and
arguments that only say something (``note``, ``advice``) or only guard (``strict``, ``dtype``).
"""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from replacements import Text, replacements

NOT_CALLED = {"__repr__", "__str__"}
SPEAKING = {"note", "advice", "strict", "dtype", "stacklevel", "encoding"}
SKIPPED = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)


@dataclass(frozen=True)
class Mutant:
    """One edit of a file.

    Attributes
    ----------
    file, function : str
        Path from the root, and the qualified name of the function ("" outside of all).
    first, last : int
        What is replaced, as places in the text.
    new, operator : str
        What comes there, and what kind of change that is.
    patch : tuple of str
        The lines that go, marked by "-", and those that come, marked by "+".
    """

    file: str
    function: str
    first: int
    last: int
    new: str
    operator: str
    patch: tuple[str, ...]

    @property
    def name(self) -> str:
        """A hash of file, function and patch; it does not change when other lines do."""
        return name_of(self.file, self.function, self.patch)

    def applied(self, text: str) -> str:
        """Return the text of the file with the fault."""
        return text[: self.first] + self.new + text[self.last :]


def name_of(file: str, function: str, patch: tuple[str, ...]) -> str:
    """Return the hash of what makes a mutant."""
    return hashlib.sha256(repr((file, function, patch)).encode()).hexdigest()[:10]


def mutants(file: str, text: str) -> list[Mutant]:
    """Return all mutants of a module's text, one for each name; few of them do not parse."""
    found: dict[str, Mutant] = {}
    places = Text(text)
    for function, node, within in _nodes(ast.parse(text), "", ""):
        for (first, last), new, operator in replacements(node, within, places):
            if text[first:last] != new:
                patch = _patch(text, first, last, new)
                mutant = Mutant(file, function, first, last, new, operator, patch)
                found.setdefault(mutant.name, mutant)
    return list(found.values())


def parses(mutant: Mutant, text: str) -> bool:
    """Whether the text of a mutant is Python."""
    try:
        ast.parse(mutant.applied(text))
    except SyntaxError:
        return False
    return True


def _patch(text: str, first: int, last: int, new: str) -> tuple[str, ...]:
    start = text.rfind("\n", 0, first) + 1
    end = (text + "\n").find("\n", last)
    right = text[start:end].split("\n")
    wrong = (text[start:first] + new + text[last:end]).split("\n")
    while len(right) > 1 and len(wrong) > 1 and right[0] == wrong[0]:
        right, wrong = right[1:], wrong[1:]
    while len(right) > 1 and len(wrong) > 1 and right[-1] == wrong[-1]:
        right, wrong = right[:-1], wrong[:-1]
    return (*(f"-{line}" for line in right), *(f"+{line}" for line in wrong))


def _nodes(node: ast.AST, function: str, within: str) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield what may be mutated: the function around, the node, and what it is part of."""
    if isinstance(node, SKIPPED) or getattr(node, "name", None) in NOT_CALLED:
        return
    yield function, node, within
    for child, place, part in _parts(node, function):
        yield from _nodes(child, place, part)


def _parts(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield the parts of a node that are looked at, the function around each, and what it is."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            if isinstance(node, ast.FunctionDef):
                defaults = _defaults(node.args)
                yield from ((value, function, "") for name, value in defaults if name != "seed")
            inner = f"{function}.{node.name}".removeprefix(".")
            yield from ((child, inner, "") for child in node.body)
        case ast.AnnAssign(value=value):
            yield from ((child, function, "") for child in [value] if child)
        case ast.keyword(name, value):
            if name not in SPEAKING:
                yield value, function, "axis" if name == "axis" else ""
        case ast.Subscript(value, index):
            yield value, function, ""
            yield index, function, "index"
        case _:
            yield from ((child, function, "") for child in ast.iter_child_nodes(node))


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """Yield the arguments that have a default, with it."""
    ordered = [*arguments.posonlyargs, *arguments.args]
    with_default = ordered[len(ordered) - len(arguments.defaults) :]
    yield from ((a.arg, value) for a, value in zip(with_default, arguments.defaults, strict=True))
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    yield from ((a.arg, value) for a, value in pairs if value is not None)
