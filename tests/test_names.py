"""Every path, module, command, option and variable that a page or docstring names exists."""

import ast
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import certibit
from certibit.cli.application import _parser

ROOT = Path(certibit.__file__).parents[1]
ROOMS = ("certibit", "data", "solvers", "theory", "figures", "docs", "tests")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
SOURCES = [path for room in ROOMS for path in sorted(ROOT.joinpath(room).rglob("*.py"))]
PARSER = _parser().complete()
COMMANDS = next(action.choices for action in PARSER._actions if action.choices)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
MADE = ("docs/atlas", "docs/gallery")
"""What `make docs` writes."""
GROUPS = {"certibit.methods", "certibit.compressors"}
"""Entry points of other packages."""


def wrong_paths(text):
    """Return what is written like a path of the repository and is none; NAME stands for any."""
    found = re.findall(rf"(?<![\w./@~-])((?:{'|'.join(ROOMS)})/[\w./*-]*\w)", text)
    return {path for path in found if not path.startswith(MADE) and not _is_there(path)}


def _is_there(path):
    pattern = re.sub(r"[A-Z]{2,}", "*", path)
    return any(any(ROOT.glob(pattern + end)) for end in ("", ".py"))


def wrong_modules(text):
    """Return the dotted names below the package that lead nowhere."""
    names = re.findall(r"(?<![\w./-])certibit(?:\.[a-zA-Z_]\w*)+", text)
    return {name for name in set(names) - GROUPS if not _leads_somewhere(name)}


@cache
def _leads_somewhere(name):
    module, found = "certibit", certibit
    for part in name.split(".")[1:]:
        if isinstance(found, type(certibit)) and hasattr(found, "__path__"):
            inner = f"{module}.{part}"
            if find_spec(inner):
                try:
                    module, found = inner, import_module(inner)
                except ModuleNotFoundError as missing:  # of an extra that is not installed
                    return not str(missing.name).startswith("certibit")
                continue
        if not hasattr(found, part):
            return part in getattr(found, "__dataclass_fields__", {})
        found = getattr(found, part)
    return True


def wrong_targets(text):
    """Return what `make` is said to do and cannot."""
    figures = re.search(r"FIGURES := (.*)", MAKEFILE)[1].split()
    targets = {*re.search(r"\.PHONY: (.*)", MAKEFILE)[1].split(), *figures}
    return set(re.findall(r"(?:`|^    )make ([a-z][\w-]*)", text, flags=re.MULTILINE)) - targets


@cache
def variables():
    """The variables of the environment that some code reads."""
    texts = (path.read_text(encoding="utf-8") for path in SOURCES)
    return {name for text in texts for name in re.findall(r'"(CERTIBIT_[A-Z]+)"', text)}


def wrong_variables(text):
    """Return the variables of the environment that no code reads."""
    return set(re.findall(r"CERTIBIT_[A-Z]+", text)) - variables()


def wrong_words(text):
    """Return the commands and options of command lines that certibit does not have."""
    lines = re.findall(
        r"(?:`|^ {4}|^ *\$ )certibit ([a-z][^`|>#]*?)(?:`|[|>#]|(?<!\\)$)", text, re.MULTILINE
    )
    wrong = set()
    for line in lines:
        command, *words = line.replace("\\\n", " ").split()
        if f"{command} {words[:1] and words[0]}" in COMMANDS:
            command += f" {words.pop(0)}"
        used = {word.split("=")[0] for word in words if word.startswith("--")}
        if command not in COMMANDS:
            wrong.add(f"certibit {command}")
        else:
            wrong |= {f"certibit {command} {option}" for option in used - options_of(command)}
    return wrong


@cache
def options_of(command):
    """Return the options of a command."""
    return {"--debug", *COMMANDS[command]._option_string_actions}


def wrong_options(text):
    """Return the options, named alone, that no command and no program beside it has."""
    known = {"--version"}.union(*map(options_of, COMMANDS), options_of_programs())
    return set(re.findall(r"`(--[a-z][\w-]*)", text)) - known


@cache
def options_of_programs():
    texts = (path.read_text(encoding="utf-8") for path in SOURCES)
    return {name for text in texts for name in re.findall(r'[(]"(--[\w-]+)"', text)}


SEARCHES = (wrong_paths, wrong_modules, wrong_targets, wrong_variables, wrong_words, wrong_options)
"""For names in pages; docstrings are searched for the first four."""


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_names_in_pages(page, search):
    assert search(page.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("room", ROOMS[:-1])
def test_names_in_docstrings(room):
    """And in help texts and advice: in all strings of the source of more than one word."""
    wrong = set()
    for path in (path for path in SOURCES if path.relative_to(ROOT).parts[0] == room):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and " " in text:
                wrong |= {(path.name, name) for search in SEARCHES[:4] for name in search(text)}
    assert wrong == set()


@pytest.mark.parametrize(
    ("search", "right", "wrong"),
    [
        (wrong_paths, "`theory/checks/NAME.py` and data/files", "theory/theorems/gd.py"),
        (
            wrong_modules,
            ":func:`~certibit.run`, certibit.theory.checks",
            "certibit.theory.theorems",
        ),
        (wrong_targets, "`make figure1`, make sure", "`make atlas`"),
        (wrong_variables, "CERTIBIT_FAST=0", "CERTIBIT_COMPILE=0"),
        (wrong_words, "`certibit certify ef21 --steps 3`", "`certibit chain ef21 --steps 3`"),
        (wrong_words, "    $ certibit run \\\n  --wire\n", "    $ certibit run \\\n  --export\n"),
        (wrong_words, "certibit lists", "`certibit atlas`"),
        (wrong_options, "`--quick`, `--all`", "`--export`"),
    ],
)
def test_a_name_that_is_gone_is_seen(search, right, wrong):
    assert search(right) == set()
    assert search(wrong) != set()
