"""Command lines that several tests try, and how their JSON is read."""

import json

FAST = ["--kappa", "50", "--seeds", "2", "--until", "1e-3"]
RUN = ["run", "breast-cancer@9", "locodl", "rand-k:2+natural", *FAST]
CASES = [
    ("locodl", "rand-k:2+natural", []),
    ("locodl", "natural", ["--parameters", "balanced"]),
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
