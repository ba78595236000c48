"""Somebody else's messages are counted as they decode, and as papers count them."""

import json
import math
from itertools import combinations

import numpy as np
import pytest

from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.solvers.compressors import counting
from certibit.solvers.compressors.counting import (
    counted_arrays,
    counts,
    described,
    set_number,
    set_of,
)
from certibit.solvers.compressors.selector import compressor


def bits(messages):
    return {count.way: count.bits for count in counts(messages)}


def test_a_description_is_counted_in_every_way():
    found = list(bits(described("rand-k:12 of 122 in float32")).values())
    assert found == [384, 384 + 12 * 7, 384 + math.ceil(math.log2(math.comb(122, 12))), 506, 3904]


@pytest.mark.parametrize("selector", ["rand-k:3", "top-k:3", "rand-k:3@shared"])
def test_what_decodes_is_what_the_wire_formats_of_this_project_send(selector):
    """An index list costs what rand-k and top-k send; a shared draw sends the values only."""
    way = 0 if "shared" in selector else 1
    found = list(bits(described(f"{selector.removesuffix('@shared')} of 50 in float32")).values())
    assert found[way] == compressor(selector).bits(50)


def test_values_without_indices_decode_only_from_a_seed():
    (top, *_), (random, *_) = (counts(described(f"{k}:2 of 9")) for k in ("top-k", "rand-k"))
    assert not top.decodes
    assert random.decodes
    assert "common seed" in random.why


@pytest.mark.parametrize(("d", "k"), [(1, 1), (6, 0), (6, 3), (9, 9), (8, 2)])
def test_sets_have_numbers_and_come_back(d, k):
    sets = [list(each) for each in combinations(range(d), k)]
    numbers = [set_number(each) for each in sets]
    assert sorted(numbers) == list(range(math.comb(d, k)))
    assert [set_of(number, k, d) for number in numbers] == sets


def test_a_number_that_does_not_come_back_is_caught(monkeypatch):
    monkeypatch.setattr(counting, "set_number", sum)
    with pytest.raises(ArithmeticError, match="does not decode"):
        counted_arrays({"m": np.array([[0.0, 1.5, 2.5, 0.0, 3.5]])})


GENERATOR = np.random.default_rng(0)
DENSE = GENERATOR.standard_normal((6, 20))
FORMATS = {
    "float64": DENSE,
    "float32": DENSE.astype(np.float32).astype(np.float64),
    "float16": DENSE.astype(np.float16),
    "natural": np.sign(DENSE) * 2.0 ** np.floor(np.log2(np.abs(DENSE))),
    "sign": np.sign(DENSE) * np.arange(1, 7)[:, None] / 3,
}


@pytest.mark.parametrize("value", FORMATS)
def test_the_format_is_the_narrowest_that_is_exact(value):
    (found,) = counted_arrays({"m": FORMATS[value]}).values()
    assert found.value == value
    assert found.sizes == (20,) * 6


def test_messages_of_unequal_size_say_how_many_entries_they_have():
    vectors = np.where(np.arange(20) < np.arange(1, 7)[:, None], DENSE, 0.0)
    (found,) = counted_arrays({"m": vectors}).values()
    ways = list(bits(found).values())
    assert found.sizes == (1, 2, 3, 4, 5, 6)
    assert ways[1] == 3.5 * 64 + 5 + 3.5 * 5
    assert ways[0] == 3.5 * 64


def test_a_file_on_the_command_line(capsys, tmp_path):
    np.savez(tmp_path / "theirs.npz", up=DENSE, down=np.ones(8))
    assert main(["count", str(tmp_path / "theirs.npz")]) == 0
    out = capsys.readouterr().out
    assert "up: 6 messages of 20 of 20 entries in the mean, values in float64" in out
    assert "fewest that decode: 1,280 bits" in out
    assert max(map(len, out.splitlines())) <= 80
    assert main(["count", "top-k:2 of 10 in natural", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out).values()
    assert [count["bits"] for count in told["counts"]] == [18, 26, 24, 28, 90]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rand-k of 9", "'rand-k of 9' is no file and cannot be read; expected an .npz file, or"),
        ("rand-k:12 of 9", "12 entries of a vector of 9; give from 1 to 9"),
        ("top-k:1 of 9 in bfloat", "the format 'bfloat' is unknown; choose one of float16"),
        ("none.npz", "there is no file none.npz; give an .npz file"),
    ],
)
def test_refusals(capsys, text, sentence):
    assert main(["count", text]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, "the file has no arrays"),
        ({"m": np.array([1.0, np.nan])}, "the array m has a value that is not finite"),
        ({"m": np.array(["a"])}, "the array m is <U1 of shape (1,); give numbers"),
    ],
)
def test_arrays_that_are_no_messages_are_refused(arrays, sentence):
    with pytest.raises(Refusal) as refusal:
        counted_arrays(arrays)
    assert str(refusal.value).startswith(sentence)
