"""What may go wrong at one place of a syntax tree: each replacement is a piece of text."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

Span = tuple[int, int]
"""First and last place in the text."""
Replacement = tuple[Span, str, str]
"""Where, what comes there, and the kind of change."""

ARITHMETIC = {
    ast.Add: ("+", ["-"]),
    ast.Sub: ("-", ["+"]),
    ast.Mult: ("*", ["/"]),
    ast.Div: ("/", ["*"]),
    ast.FloorDiv: ("//", ["/", "%"]),
    ast.Mod: ("%", ["//"]),
    ast.Pow: ("**", ["*"]),
    ast.BitAnd: ("&", ["|"]),
    ast.BitOr: ("|", ["&"]),
    ast.LShift: ("<<", [">>"]),
    ast.RShift: (">>", ["<<"]),
}
COMPARISONS = {
    ast.Lt: ("<", ["<=", ">"]),
    ast.LtE: ("<=", ["<", ">="]),
    ast.Gt: (">", [">=", "<"]),
    ast.GtE: (">=", [">", "<="]),
    ast.Eq: ("==", ["!="]),
    ast.NotEq: ("!=", ["=="]),
    ast.Is: ("is", ["is not"]),
    ast.IsNot: (r"is\s+not", ["is"]),
    ast.In: ("in", ["not in"]),
    ast.NotIn: (r"not\s+in", ["in"]),
}
PAIRS = [
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("amin", "amax"), ("any", "all"),
    ("mean", "sum"), ("mean", "total"), ("ceil", "floor"), ("zeros", "ones"),
    ("zeros_like", "ones_like"), ("uplink", "send"), ("sin", "cos"), ("log", "log2"),
]  # fmt: skip
TWINS = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])} | {"sum": "mean", "mean": "sum"}
"""Functions that are taken for each other."""
DROPPED = {"abs", "sqrt", "square", "sign", "log", "exp", "ceil", "floor", "cumsum", "sort"}
"""Functions that are forgotten."""
COMMUTING = {"min", "max", "minimum", "maximum", "isinstance", "getattr", "hasattr", "zip", "gcd"}
"""Functions whose first two arguments are not swapped: nothing changes, or nothing runs."""
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List)
AXES = {"0": "1", "1": "0", "2": "1", "-1": "0"}


@dataclass(frozen=True)
class Text:
    """The text of a module, and where the nodes of its syntax tree stand in it."""

    text: str

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        lines = self.text.splitlines(keepends=True)
        return list(zip(accumulate(map(len, lines), initial=0), lines, strict=False))

    def _place(self, line: int, column: int) -> int:
        """Turn a line and a column in bytes into a place in the text."""
        start, content = self._lines[line - 1]
        return start + len(content.encode()[:column].decode())

    def span(self, node: ast.AST) -> Span:
        """Return where a node stands."""
        first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return self._place(*first), self._place(*last)

    def source(self, node: ast.AST) -> str:
        """Return the text of a node, in brackets if it could be torn apart elsewhere."""
        first, last = self.span(node)
        inner = self.text[first:last]
        return inner if isinstance(node, ATOMS) else f"({inner})"

    def between(self, left: ast.AST, right: ast.AST, sign: str) -> Iterator[Span]:
        """Yield where a sign, given as a regular expression, stands between two nodes."""
        start = self.span(left)[1]
        if found := re.search(sign, self.text[start : self.span(right)[0]]):
            yield start + found.start(), start + found.end()


def replacements(node: ast.AST, within: str, text: Text) -> Iterator[Replacement]:
    """Yield the replacements at a node that stands within an ``axis``, an ``index`` or neither."""
    match node:
        case ast.BinOp() | ast.AugAssign():
            yield from _of_arithmetic(node, text)
        case ast.Compare(left, operations, rights):
            for (a, b), operation in zip(pairwise([left, *rights]), operations, strict=True):
                sign, others = COMPARISONS[type(operation)]
                for where in text.between(a, b, sign):
                    yield from ((where, other, "comparison") for other in others)
        case ast.BoolOp() | ast.UnaryOp() | ast.IfExp():
            yield from _of_logic(node, text)
        case ast.Constant(value):
            kind = within or "constant"
            yield from ((text.span(node), new, kind) for new in _other_constants(value, within))
        case ast.Slice(lower, upper, None) if lower or upper:
            yield text.span(node), ":", "index"
        case ast.Call():
            yield from _of_calls(node, text)


def _of_arithmetic(node: ast.BinOp | ast.AugAssign, text: Text) -> Iterator[Replacement]:
    operation, whole = node.op, isinstance(node, ast.BinOp)
    if type(operation) not in ARITHMETIC or (whole and _says(node.left)):
        return
    left, right = (node.left, node.right) if whole else (node.target, node.value)
    sign, others = ARITHMETIC[type(operation)]
    for where in text.between(left, right, re.escape(sign)):
        yield from ((where, other, "operator" if whole else "sign") for other in others)
    if not whole:
        return
    term = "dropped term" if isinstance(operation, ast.Add | ast.Sub) else "dropped factor"
    if isinstance(operation, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
        yield text.span(node), text.source(left), term
    if isinstance(operation, ast.Add | ast.Mult):
        yield text.span(node), text.source(right), term


def _of_logic(node: ast.BoolOp | ast.UnaryOp | ast.IfExp, text: Text) -> Iterator[Replacement]:
    whole = text.span(node)
    match node:
        case ast.BoolOp(operation, values):
            sign, other = ("and", "or") if isinstance(operation, ast.And) else ("or", "and")
            if len(values) == 2:
                yield from ((at, other, "and, or") for at in text.between(*values, sign))
            yield text.span(values[-1]), str(isinstance(operation, ast.And)), "dropped condition"
        case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
            yield whole, text.source(operand), "dropped not"
        case ast.UnaryOp(ast.USub(), operand):
            yield whole, text.source(operand), "sign"
        case ast.IfExp(_, body, other):
            yield whole, text.source(body), "condition"
            yield whole, text.source(other), "condition"


def _other_constants(value: object, within: str) -> Iterator[str]:
    match value:
        case bool():
            yield str(not value)
        case int() if within == "axis":
            yield AXES.get(str(value), "0")
        case int():
            yield str(value + 1 if value < 10 else 2 * value)
            if value > 1:
                yield str(value - 1 if value < 10 else value // 2)
        case float():
            yield repr(2 * value if value else 1.0)


def _of_calls(node: ast.Call, text: Text) -> Iterator[Replacement]:
    function, arguments = node.func, node.args
    name = getattr(function, "id", getattr(function, "attr", ""))
    if name in TWINS:
        last = text.span(function)[1]
        yield (last - len(name), last), TWINS[name], "function"
    if name in DROPPED and len(arguments) == 1 and not node.keywords:
        yield text.span(node), text.source(arguments[0]), "dropped function"
    if len(arguments) > 1 and name not in COMMUTING and not any(map(_says, arguments[:2])):
        (first, middle), (begin, last) = map(text.span, arguments[:2])
        swapped = text.text[begin:last] + text.text[middle:begin] + text.text[first:middle]
        yield (first, last), swapped, "swapped arguments"


def _says(node: ast.AST) -> bool:
    """Whether a node is text, or an argument that cannot stand elsewhere."""
    kinds = ast.Starred | ast.JoinedStr | ast.GeneratorExp
    return isinstance(node, kinds) or isinstance(getattr(node, "value", 0), str)
