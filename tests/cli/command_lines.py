"""Command lines that several tests try, and how their JSON is read."""

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
