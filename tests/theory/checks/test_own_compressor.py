"""A compressor of a user's own file: taken wherever one is named, and examined."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from certibit import EF21, Quadratic, Refusal, check, compressor, compressor_checks
from certibit.cli import main
from certibit.solvers.compressors.selection import RandK, TopK

PAGE = Path(__file__).parents[3] / "docs/write-a-compressor.md"
SIGNS = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
SCALED = SIGNS.replace("    name = ", "    scale: float = 1.0\n    name = ").replace(
    "return size * signs", "return self.scale * size * signs"
)
PROBLEM = ["quadratic:d=4@3", "--kappa", "10", "--seeds", "2"]


@pytest.fixture
def own(tmp_path):
    def write(text=SIGNS, name="signs.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_it_is_made_by_its_name_with_its_values(own):
    assert compressor(f"{own()}:RandomSigns").bits(5) == 37
    path = own(SCALED, "scaled.py")
    assert compressor(f"{path}:RandomSigns:0.5").scale == 0.5
    assert compressor(f"scaled({path}:RandomSigns)").alpha(4) == 1 / 4


def test_files_beside_it_can_be_imported(own):
    own("FACTOR = 2\n", "certibit_neighbour_of_signs.py")
    path = own("from certibit_neighbour_of_signs import FACTOR\n" + SIGNS, "importing.py")
    assert compressor(f"{path}:RandomSigns").omega(3) == 2


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("", SIGNS, "there is RandomSigns"),
        (":Signs", SIGNS, "defines no compressor Signs"),
        (":RandomSigns", "x = 1", "there is none, write class NAME"),
        (":RandomSigns", "x = ", "cannot be run: SyntaxError"),
        (":RandomSigns", SIGNS.replace("def omega", "def sigma"), "defines no omega"),
        (":RandomSigns:3", SIGNS, "give the values of its fields"),
        (":RandomSigns:)", SIGNS, "cannot be made of"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(own, name, text, sentence):
    with pytest.raises(Refusal, match=re.escape(sentence)):
        compressor(f"{own(text)}{name}")


@pytest.mark.parametrize("command", ["run", "check"])
def test_commands_take_it(capsys, own, command):
    sent = f"{own()}:RandomSigns"
    words = [command, PROBLEM[0], "diana", sent, *PROBLEM[1:], "--json", "--until", "1e-3"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["compressor"] == {"name": "random-signs", "omega": 3, "bits": 36}


@pytest.mark.long
def test_compare_and_certify_take_it(capsys, own):
    sent = f"{own()}:RandomSigns"
    assert main(["compare", PROBLEM[0], f"diana+{sent}", "gd", *PROBLEM[1:]]) == 0
    assert "random-signs" in capsys.readouterr().out
    assert main(["certify", "diana", "--n", "3", "--kappa", "10", "--compressor", sent]) == 0


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("size * signs", "1.1 * size * signs", "which is not x: look at the scale"),
        ("2 * size * uniforms", "size * uniforms", "The mean of C(x) has"),
        ("np.sum(x**2, axis=1)", "2 * np.sum(x**2, axis=1)", "and variance says"),
        ("d - 1.0", "d / 2", "omega says at most 1.5"),
        ("(Sign(), d)", "(Float32(), d)", ""),
        ("axis=1, keepdims=True", "keepdims=True", "sums and maxima go over axis 1"),
        ("keepdims=True)", "keepdims=False)", "raises"),
        ("return size, np", "x *= 1.01\n        return size, np", "message changes x"),
        ("(Sign(), d)", "(Sign(), 1)", "Look at layout"),
    ],
)
def test_what_is_wrong_is_said_with_the_smallest_counterexample(own, right, wrong, words):
    assert right in SIGNS
    wrong_one = compressor(f"{own(SIGNS.replace(right, wrong, 1))}:RandomSigns")
    advice = [verdict.advice for verdict in compressor_checks(wrong_one) if not verdict.holds]
    if not words:  # more bits than it needs are no fault
        assert advice == []
        return
    assert any(words in sentence for sentence in advice), advice
    assert all("Smallest counterexample: d = " in sentence for sentence in advice)


def test_an_omega_that_is_larger_than_attained_is_seen(own):
    hardest = "\n    def hardest(self, d):\n        return np.eye(d)[0]\n"
    for name, factor, holds in (("tight.py", 1, True), ("lax.py", 2, False)):
        text = SIGNS.replace("return d - 1.0", f"return {factor} * (d - 1.0)") + hardest
        verdicts = compressor_checks(compressor(f"{own(text, name)}:RandomSigns"))
        assert all(verdict.holds for verdict in verdicts) == holds


def test_what_fails_for_one_number_of_entries_only_is_seen(own):
    text = SIGNS.replace("return size * signs", "return size * signs * (1 + (d == 7))")
    verdicts = compressor_checks(compressor(f"{own(text)}:RandomSigns"))
    failing = [verdict for verdict in verdicts if not verdict.holds]
    assert "d = 7" in failing[0].advice


@dataclass(frozen=True)
class OddAtFour(RandK):
    """Random sparsification that confuses the clients where they have 4 features."""

    def vector(self, message, d):
        vector = super().vector(message, d)
        return np.roll(vector, 1, axis=0) if d == 4 else vector


@dataclass(frozen=True)
class WrongWhereLarge(TopK):
    """Greedy sparsification whose alpha is too large for more than 40 entries."""

    def alpha(self, d):
        return min(1.0, (self.k + (d > 40)) / d)


@pytest.mark.long
def test_constants_are_checked_at_the_size_of_the_problem():
    """The theorem of EF21 was taken at alpha = 0.05, where 0.033 is true, and no check failed."""
    solved = Quadratic.random(4, 60, mu=1.0, L=20.0)
    failed = [
        one for one in check(EF21(0.001), solved, WrongWhereLarge(2)).verdicts if not one.holds
    ]
    assert [one.check for one in failed] == ["moments of C(x) - constants"]
    assert "look at alpha" in failed[0].advice
    assert "d = 41" in failed[0].advice


def test_a_padded_chunk_hides_no_divergence():
    """Of one NaN and seven zeros top-k took two zeros, and the check of the compressor failed."""
    assert all(one.holds for one in compressor_checks(compressor("chunked:8(top-k:2)"), own=20))


def test_other_sizes_are_looked_at():
    failed = [verdict for verdict in compressor_checks(OddAtFour(2), 12) if not verdict.holds]
    assert failed
    assert all("d = 4" in verdict.advice for verdict in failed)


PAIRS = SIGNS.replace(
    "        size = np",
    "        np.argmax(x[:, 1:], axis=1)\n        size = np",
)
REFUSING = """
    def check(self, d):
        if d < 2:
            raise Refusal(f"{self.name} needs d >= 2, not {d}")
"""


def test_a_compressor_may_refuse_numbers_of_entries(own):
    """What it does not serve fails once, and where it says so nothing is asked of it there."""
    told = compressor_checks(compressor(f"{own(PAIRS, 'pairs.py')}:RandomSigns"), draws=1000)
    (failing,) = (verdict for verdict in told if not verdict.holds)
    assert failing.check == "C(x)"
    assert "let its check(d) refuse the others" in failing.advice
    assert failing.advice.endswith("Smallest counterexample: d = 1.")
    text = "from certibit import Refusal\n" + PAIRS + REFUSING
    told = compressor_checks(compressor(f"{own(text, 'refusing.py')}:RandomSigns"), draws=1000)
    assert all(verdict.holds for verdict in told)
    assert "check(d)" in PAGE.read_text(encoding="utf-8")


SNEAKING = SIGNS.replace(
    "        return size,",
    "        small = (size < 1e-3) & (size > 0)\n        whole = x / np.where(small, size, 1.0)\n"
    "        return size, np.where(small, whole, 1.0) if small.any() else",
)


def test_small_vectors_that_do_not_fit_the_layout_are_seen(own):
    """A message near the end of a run is another one than the first, which alone is decoded."""
    assert SNEAKING != SIGNS
    checks = {v.check: v for v in compressor_checks(compressor(f"{own(SNEAKING)}:RandomSigns"))}
    found = checks["bytes of C(x)"]
    assert not found.holds
    assert found.advice.startswith("A message cannot be sent: the wire cannot carry")
