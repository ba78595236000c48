"""The text format: what is good is read exactly, what is bad is refused with its line."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from certibit.data.errors import Refusal
from certibit.data.files.libsvm import content, parse

numbers = st.floats(allow_nan=False, allow_infinity=False)
rows = st.dictionaries(st.integers(1, 60), numbers, max_size=5)


@given(
    rows=st.lists(rows, min_size=2, max_size=8).filter(any),
    labels=st.lists(numbers, min_size=2, max_size=2, unique=True),
    choice=st.randoms(use_true_random=False),
    features=st.integers(0, 80),
    end=st.sampled_from(["\n", "\r\n", " \n", "\n\n", " # a remark 3:\n"]),
)
def test_what_is_written_is_read(rows, labels, choice, features, end):
    chosen = [0, 1, *(choice.randrange(2) for _ in rows[2:])]
    lines = [
        " ".join([repr(labels[k]), *(f"{i}:{v!r}" for i, v in sorted(row.items()))])
        for k, row in zip(chosen, rows, strict=True)
    ]
    A, b, found = parse("".join(line + end for line in lines).encode(), "made", features)
    d = max(features, *(i for row in rows for i in row))
    expected = np.zeros((len(rows), d))
    for number, row in enumerate(rows):
        for i, v in row.items():
            expected[number, i - 1] = v
    np.testing.assert_array_equal(A.toarray(), expected)
    assert A.nnz == np.count_nonzero(expected)
    assert found == (min(labels), max(labels))
    np.testing.assert_array_equal(b, [1.0 if labels[k] == max(labels) else -1.0 for k in chosen])


def is_good(line):
    """Whether a line is legal, by the grammar, written independently of the parser."""
    words = line.partition("#")[0].split()
    number = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
    if not words:
        return True
    if not all(re.fullmatch(rf"[+]?\d+:{number}", pair, re.ASCII) for pair in words[1:]):
        return False
    indices = [int(pair.partition(":")[0]) for pair in words[1:]]
    values = [float(pair.partition(":")[2]) for pair in words[1:]]
    return (
        re.fullmatch(number, words[0], re.ASCII) is not None
        and np.isfinite([float(words[0]), *values]).all()
        and all(1 <= index < 2**31 for index in indices)
        and indices == sorted(set(indices))
    )


def refused(text):
    """Return the sentence of the refusal, nothing if there is none."""
    try:
        parse(text.encode(), "made")
    except Refusal as refusal:
        return str(refusal)
    return ""


pieces = st.sampled_from([
    "1", "2", "-1", ":", ":1", "1:", "3:4", "2:0.5", "0:1", "-2:1", "1_0:1", "qid:3", " ", " ", " ",
    "nan", "inf", "1e999", "#", "\r", "x", "2.0:1", "+3:1", "99999999999:1", "é", "\0", "_", "1e",
])  # fmt: skip


@given(st.lists(pieces, max_size=8).map("".join))
@example("1 qid:3 4:1")
@example("1 1_0:1")
@example("1 99999999999:1")
@example("1 2147483647:1 2147483648:1")
@example("1 5:1 4:1")
@example("1 5:1 5:1")
@example("1 3:1e999")
@example("nan 3:1")
@example("1_0 3:1")
def test_a_line_is_refused_by_number_exactly_if_it_is_bad(line):
    told = refused(f"1 1:1\n\n{line}\n2 1:1\n")
    if "is a label value beside" in told:
        told = ""
    assert (told == "") == is_good(line)
    assert told == "" or told.startswith("made, line 3: ")
    assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 1:1\n2 3\n", "made, line 2: '3' is malformed; expected <index>:<value>"),
        ("1 1:1\n2 a:1\n", "made, line 2: 'a:1' is malformed; expected <index>:<value>"),
        ("1 1:1\n2 1:\n", "made, line 2: '1:' is malformed; expected <index>:<value>"),
        ("1 0:1\n2 1:1\n", "made, line 1: '0:1' has the index 0; expected 1 to 2147483647"),
        ("1 1:1\n2 4:1 3:1\n", "made, line 2: the index 3 follows 4; expected increasing indices"),
        ("1 1:1\n2 4:1 4:1\n", "made, line 2: the index 4 follows 4; expected increasing indices"),
        ("1 1:1\n2 1:nan\n", "made, line 2: '1:nan' has a value that is not finite; expected"),
        ("1 1:-inf\n2 1:1\n", "made, line 1: '1:-inf' has a value that is not finite; expected"),
        ("1 1:1\nb 1:1\n", "made, line 2: the label 'b' is not a number; expected one"),
        ("1 1:1\ninf 1:1\n", "made, line 2: the label 'inf' is not finite; expected"),
        ("1 1:1\n1 2:1\n", "made has the one label value 1; expected two label values, any two"),
        (
            "1 1:1\n5 1:1\n\n3 1:1\n",
            "made, line 4: 3 is a label value beside 1 and 5; expected two label values, any two,",
        ),
        ("0,1,2,y\n1,2,3,1\n", "made, line 1: '0,1,2,y' has commas; files of LibSVM have lines"),
        ("", "made is empty; expected lines of the form <label> <index>:<value> ..."),
        ("\n # nothing\n", "made is empty; expected lines of the form"),
        ("1\n2\n", "made has no entry in any of its 2 rows; expected some"),
    ],
)
def test_sentences(text, sentence):
    with pytest.raises(Refusal) as refusal:
        parse(text.encode(), "made")
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [("", bytes), (".bz2", bz2.compress), (".xz", lzma.compress), (".gz", gzip.compress)],
)
def test_compressed_files(tmp_path, suffix, pack):
    text = b"1 1:1\n" * 1000
    path = tmp_path / f"made{suffix}"
    path.write_bytes(pack(text))
    assert content(path) == text
    if suffix:
        path.write_bytes(2 * pack(text))
        assert content(path) == 2 * text  # of two streams, as programs with several threads write
        for broken in (pack(text)[:-9], b"not packed at all", pack(text) + pack(text)[:-9]):
            path.write_bytes(broken)
            with pytest.raises(Refusal, match=r"made.* cannot be read .*; fetch it again"):
                content(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(Refusal, match="cannot be read"):
        content(tmp_path / "none")
