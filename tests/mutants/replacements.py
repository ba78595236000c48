"""What may go wrong at one place of a syntax tree: each replacement is a piece of text."""

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

Replacement = tuple[tuple[int, int], str, str]
"""First and last place in the text, what comes there, and the kind of change."""
Place = Callable[[int, int], int]

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


def replacements(node: ast.AST, within: str, text: str, place: Place) -> Iterator[Replacement]:
    """Yield the replacements at a node that stands within an ``axis``, an ``index`` or neither."""

    def span(part: ast.AST) -> tuple[int, int]:
        first, last = (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)
        return place(*first), place(*last)

    def source(part: ast.AST) -> str:
        first, last = span(part)
        return text[first:last] if isinstance(part, ATOMS) else f"({text[first:last]})"

    def between(left: ast.AST, right: ast.AST, sign: str) -> tuple[int, int] | None:
        start = span(left)[1]
        found = re.search(sign, text[start : span(right)[0]])
        return found and (start + found.start(), start + found.end())

    match node:
        case ast.BinOp(left, operation, right) if type(operation) in ARITHMETIC:
            sign, others = ARITHMETIC[type(operation)]
            where = between(left, right, re.escape(sign))
            if (where and not isinstance(left, ast.Constant | ast.JoinedStr)) or (
                where and _number(left)
            ):
                yield from ((where, other, "operator") for other in others)
            if isinstance(operation, ast.Add | ast.Sub):
                yield span(node), source(left), "dropped term"
            if isinstance(operation, ast.Add | ast.Mult):
                yield span(node), source(right), "dropped term"
            if isinstance(operation, ast.Mult | ast.Div | ast.Pow):
                yield span(node), source(left), "dropped factor"
        case ast.AugAssign(target, ast.Add() | ast.Sub() as operation, value):
            sign, (other,) = ARITHMETIC[type(operation)]
            where = between(target, value, re.escape(sign))
            if where:
                yield where, other, "sign"
        case ast.Compare(left, operations, rights):
            for (a, b), operation in zip(pairwise([left, *rights]), operations, strict=True):
                sign, others = COMPARISONS[type(operation)]
                where = between(a, b, sign)
                if where:
                    yield from ((where, other, "comparison") for other in others)
        case ast.BoolOp(operation, values):
            sign, other = ("and", "or") if isinstance(operation, ast.And) else ("or", "and")
            where = between(values[0], values[1], sign)
            if where and len(values) == 2:
                yield where, other, "and, or"
            yield span(values[-1]), str(isinstance(operation, ast.And)), "dropped condition"
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield span(node), source(operand), "dropped not" if _is_not(node) else "sign"
        case ast.IfExp(_, body, other):
            yield span(node), source(body), "condition"
            yield span(node), source(other), "condition"
        case ast.Constant(bool() as value):
            yield span(node), str(not value), "constant"
        case ast.Constant(int() as value) if within == "axis":
            yield span(node), AXES.get(str(value), "0"), "axis"
        case ast.Constant(int() as value):
            yield span(node), str(value + 1 if value < 10 else 2 * value), within or "constant"
            if value > 1:
                yield span(node), str(value - 1 if value < 10 else value // 2), within or "constant"
        case ast.Constant(float() as value):
            yield span(node), repr(2 * value if value else 1.0), "constant"
        case ast.Slice(lower, upper, None) if lower or upper:
            yield span(node), ":", "index"
        case ast.Call(function, arguments):
            name = getattr(function, "id", getattr(function, "attr", ""))
            if name in TWINS:
                last = span(function)[1]
                yield (last - len(name), last), TWINS[name], "function"
            if name in DROPPED and len(arguments) == 1 and not node.keywords:
                yield span(node), source(arguments[0]), "dropped function"
            if len(arguments) > 1 and name not in COMMUTING and not _starred(arguments[:2]):
                (first, middle), (begin, last) = span(arguments[0]), span(arguments[1])
                swapped = text[begin:last] + text[middle:begin] + text[first:middle]
                yield (first, last), swapped, "swapped arguments"


def _is_not(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.Not | ast.Invert)


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _starred(arguments: list[ast.expr]) -> bool:
    """Whether two arguments cannot be swapped in the text, or say text."""
    kinds = ast.Starred | ast.JoinedStr | ast.GeneratorExp
    return any(isinstance(a, kinds) or isinstance(getattr(a, "value", 0), str) for a in arguments)
