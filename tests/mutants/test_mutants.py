"""The engine of `make mutants`: right patches, a fixed sample, faults seen, no false alarm."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import user_faults
from equivalents import FILE, equivalents
from mutations import mutants, parses
from private_tree import PrivateTree

ROOT = Path(__file__).resolve().parents[2]

EDITS = [
    ("a + b", ["a - b", "a", "b"]),
    ("(a + b) * c", ["(a - b) * c", "(a) * c", "(b) * c", "(a + b) / c", "(a + b)", "c"]),
    ("a - b * (c - d)", ["a + b * (c - d)", "a", "a - b / (c - d)", "a - b", "a - (c - d)",
                         "a - b * (c + d)", "a - b * (c)"]),
    ("a ** 2", ["a * 2", "a", "a ** 3", "a ** 1"]),
    ("a < b", ["a <= b", "a > b"]),
    ("a is not None", ["a is None"]),
    ("not a", ["a"]),
    ("-a", ["a"]),
    ("a and b", ["a or b", "a and True"]),
    ("a if b else c", ["a", "c"]),
    ("a[0]", ["a[1]"]),
    ("a[1:]", ["a[:]", "a[2:]"]),
    ("f(a, b)", ["f(b, a)"]),
    ("f(a, 'text')", []),
    ("max(a, b)", ["min(a, b)"]),
    ("a.sum(axis=0)", ["a.mean(axis=0)", "a.sum(axis=1)"]),
    ("abs(a)", ["a"]),
    ("Verdict(a, note=1 + 1)", []),
    ("f'{a + 1}'", []),
    ("0.5", ["1.0"]),
    ("ä + b[0]", ["ä - b[0]", "ä", "b[0]", "ä + b[1]"]),
]  # fmt: skip
"""Expressions with all that may become of them."""

LEFT_OUT = '''
import a

def f(x: int = 1, *, seed: int = 0) -> int:
    """Return 1 + 1."""
    y: "1 + 1"
    raise ValueError(1 + 1)

class A:
    @g(1 + 1)
    def __repr__(self):
        return 1 + 1
'''


@pytest.mark.parametrize(("right", "wrong"), EDITS, ids=lambda case: str(case)[:20])
def test_edits_of_an_expression(right, wrong):
    made = [mutant.applied(right) for mutant in mutants("a.py", right)]
    assert sorted(made) == sorted(wrong)


def test_what_is_not_mutated():
    """Of all that stands there only the default 1 is."""
    assert [mutant.patch[0] for mutant in mutants("a.py", LEFT_OUT)] == [
        "-def f(x: int = 1, *, seed: int = 0) -> int:"
    ]


def test_a_name_follows_the_patch_and_not_the_place():
    text = "def f(x):\n    return x + 1\n"
    names = [mutant.name for mutant in mutants("a.py", text)]
    assert [m.name for m in mutants("a.py", f"# more\n{text}")] == names
    assert not set(names) & {m.name for m in mutants("b.py", text)}
    assert not set(names) & {m.name for m in mutants("a.py", text.replace("f(x)", "g(x)"))}
    wrong = mutants("a.py", text)[0]
    assert parses(wrong, text)
    assert not parses(replace(wrong, new="("), text)


@pytest.mark.long
def test_a_fault_is_caught_and_the_right_tree_raises_no_alarm(tmp_path):
    """A sign error of GD and the tree as it is, tried one after the other."""
    tree, file = PrivateTree(ROOT, tmp_path / "tree"), "solvers/methods/gd.py"
    text = (ROOT / file).read_text(encoding="utf-8")
    wrong = next(m for m in mutants(file, text) if "self.gamma" in m.patch[1] and "+" in m.new)
    for mutant, said in ((wrong, "quadratic:d=6@4 gd"), (None, "")):
        tree.plant(mutant)
        found = tree.failure([user_faults.SCRIPT, file, "--show"], user_faults.SECONDS)
        assert found.startswith(said)
        assert bool(found) == bool(said)
    assert (tree.folder / file).read_text(encoding="utf-8") == text
    assert (ROOT / file).read_text(encoding="utf-8") == text


@pytest.mark.long
@pytest.mark.parametrize("words", ["while True: pass", "import time; time.sleep(99)"])
def test_what_does_not_end_is_stopped_and_counts_as_caught(tmp_path, words):
    assert PrivateTree(ROOT, tmp_path / "tree").failure(["-c", words], 1)


def test_an_argument_holds_for_its_patch_only(tmp_path):
    made = mutants("a.py", "def f(x):\n    return x + 1")
    row = '[{"file": "a.py", "function": "f", "patch": %s, "argument": "why"}]'
    file = tmp_path / "equivalents.json"
    file.write_text(row % str(list(made[0].patch)).replace("'", '"'), encoding="utf-8")
    assert [equivalents(file).get(m.name) for m in made] == ["why", *[None] * (len(made) - 1)]


def test_every_argument_speaks_about_a_mutant_of_today():
    """If the line is another one now, its argument must go."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    texts = {row["file"]: (ROOT / row["file"]).read_text(encoding="utf-8") for row in rows}
    names = {mutant.name for file, text in texts.items() for mutant in mutants(file, text)}
    assert equivalents().keys() <= names
    assert all(row["argument"].strip() for row in rows)
