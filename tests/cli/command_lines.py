"""Command lines that several tests try, and how their JSON is read."""

import io
import json

from certibit.cli import main

FAST = ["--kappa", "50", "--seeds", "2", "--until", "1e-3"]
RUN = ["run", "breast-cancer@9", "locodl", "rand-k:2+natural", *FAST]
CASES = [
    ("locodl", "rand-k:2+natural", []),
    ("locodl", "natural", ["--parameters", "ours"]),
    ("diana", "l1", ["--wire"]),
    ("gd", None, []),
]


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def run_words(method, compressor, extra):
    return ["run", "breast-cancer@9", method, *([compressor] if compressor else []), *FAST, *extra]


COMPARE = ["compare", "breast-cancer@9", "locodl+rand-k:2+natural", "agd", *FAST]


def refusal(capsys, words):
    """Return the one sentence on stderr of a command that is refused, without a result."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.replace("\r", "\n").splitlines() if "%|" not in line]
    (sentence,) = [line for line in lines if line.strip()]
    assert sentence.startswith("certibit: ")
    return sentence.removeprefix("certibit: ")


def keys(value, data=()):
    """All keys of JSON that name something, not those that are data, nor those below these."""
    if isinstance(value, list):
        return set().union(*(keys(inner, data) for inner in value))
    if not isinstance(value, dict):
        return set()
    inner = (keys(inner, data) for key, inner in value.items() if key not in data)
    return {*value}.union(*inner)


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True
