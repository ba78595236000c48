"""The catalogue: every card of the package in one order, and those of other packages."""

import os
import re
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pytest

import certibit.theory.cards
from certibit.data.errors import Refusal
from certibit.theory.catalogue import references
from certibit.theory.catalogue.catalogue import (
    CARDS,
    CLIPPING,
    GROUP,
    METHODS,
    SHARED_MINIMISER,
    STOCHASTIC,
    card_named,
    card_of,
    other_cards,
)
from certibit.theory.catalogue.references import bibtex

OTHER = """
from dataclasses import dataclass
from certibit.solvers.methods.gd import GD
from certibit.theory.card import Card

@dataclass(frozen=True)
class Other(GD):
    name = "other"

CARD, TAKEN, NONE = Card(Other), Card(GD), GD
"""
POINTS = f"""
[{GROUP}]
other = other_package:CARD
again = other_package:CARD
taken = other_package:TAKEN
none = other_package:NONE
absent = other_package:ABSENT
broken = no_such_package:CARD
"""


def test_every_card_of_the_folder_is_in_the_catalogue():
    folder = Path(certibit.theory.cards.__file__).parent
    modules = [import_module(f"certibit.theory.cards.{p.stem}") for p in folder.glob("[!_]*.py")]
    assert {id(module.CARD) for module in modules} == {id(card) for card in CARDS.values()}


@pytest.mark.parametrize("name", CARDS)
def test_every_method_has_its_papers(name):
    """The paper that its text names first as its source is among them."""
    found = bibtex([name])
    assert found.count("{") == found.count("}") > 0
    assert not re.search(r"methods =|\n\n\n", found)
    source = re.search(r"Source:(?:(?!arXiv).)*?arXiv:([\d.]+\d)", CARDS[name].method.__doc__, re.S)
    assert source is None or source[1] in re.findall(r"eprint = \{(.*?)\}", found)


def test_papers_are_of_methods_of_the_catalogue():
    text = Path(references._FILE).read_text(encoding="utf-8")
    assert set(", ".join(references._METHODS.findall(text)).split(", ")) == {*CARDS}
    keys = re.findall(r"(?m)^@\w+\{(.*),$", text)
    assert len(keys) == len({*keys}) == text.count("@") == bibtex(CARDS).count("@")


def test_every_theorem_of_the_folder_is_on_its_card():
    """Clip21's and normalised EF21's were on none, and no page and no list had them."""
    folder = Path(certibit.theory.cards.__file__).parent
    for path in folder.glob("[!_]*.py"):
        module = import_module(f"certibit.theory.cards.{path.stem}")
        stated = [
            one
            for one in vars(module).values()
            if isinstance(one, type) and one.__module__ == module.__name__
            if hasattr(one, "conditions")
        ]
        card = module.CARD
        for one in stated:
            assert any(isinstance(theorem, one) for theorem in card.stated), one


def test_the_order_is_that_of_a_legend():
    assert list(CARDS) == [*METHODS, *STOCHASTIC, *SHARED_MINIMISER, *CLIPPING]
    assert list(METHODS)[:3] == ["locodl", "adiana", "diana"]
    assert next(iter(CLIPPING)) == "episode"
    assert all(card.name == name for name, card in CARDS.items())


def test_only_the_card_that_is_asked_for_is_loaded():
    program = (
        "import sys; from certibit.theory.catalogue.catalogue import METHODS; METHODS['diana'];"
        "print(*(name for name in sys.modules if name.startswith('certibit.theory.cards.')))"
    )
    words = [sys.executable, "-c", program]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["certibit.theory.cards.diana"]


def test_a_method_is_found_whose_file_has_another_name():
    assert "5gcs-cc" in METHODS
    assert "5gcs-cc" not in CLIPPING
    assert len(CARDS) == len(set(CARDS))


def test_a_card_is_found_by_name_or_by_class():
    gd = METHODS["gd"]
    assert card_named("gd") is card_of(gd.method(0.1)) is gd
    with pytest.raises(Refusal, match="'scafnew' is unknown; did you mean scaffnew"):
        card_named("scafnew")

    class Namesake(gd.method):
        """Of the same name, and not what the theorems are about."""

    assert card_of(Namesake(0.1)).theorems == ()


@pytest.fixture
def other_package(tmp_path):
    """Install a package with a card, and with entry points that are wrong in five ways."""
    (tmp_path / "other_package.py").write_text(OTHER, encoding="utf-8")
    information = tmp_path / "other_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: other-package\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return tmp_path


def test_cards_of_other_packages_are_found_and_broken_ones_told(other_package, monkeypatch):
    monkeypatch.syspath_prepend(other_package)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = other_cards(frozenset(CARDS))
    assert [card.name for card in found] == ["other"]
    said = [str(warning.message) for warning in caught]
    sentences = [
        "again = other_package:CARD: a method 'other' is there already",
        "taken = other_package:TAKEN: a method 'gd' is there already",
        "none = other_package:NONE is no Card and is left out",
        "absent = other_package:ABSENT cannot be loaded and is left out",
        "broken = no_such_package:CARD cannot be loaded and is left out: No module",
    ]
    assert len(said) == len(sentences)
    for sentence in sentences:
        assert any(sentence in words for words in said), sentence


def test_another_package_s_method_is_one_of_the_methods(other_package):
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "certibit", "list"],
        env=os.environ | {"PYTHONPATH": str(other_package)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "other" in [line.split()[0] for line in said.splitlines() if line.strip()]


@pytest.mark.parametrize("name", CARDS)
def test_a_theorem_with_a_proof_of_ours_alone_is_not_called_published(name):
    """Those of SCAFFOLD for cohorts and of FedCOMGATE were."""
    for theorem in CARDS[name].theorems:
        words = " ".join((theorem.__doc__ or "").split())
        ours = "proved by us" in words and "arXiv" not in words
        assert not (ours and theorem.published), theorem
