"""LibSVM text and compressed files with damage: rows that can be used, or a refusal.

The text is tried 10,000 times, and so are the compressed files, 2,500 times each kind; together it
takes some 10 s of one core.
"""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from fuzzing import answer, generators, mutated

from certibit.data.errors import Refusal
from certibit.data.files.svmlight import content, parse

TEXT = b"""+1 1:0.5 3:-2e-3 7:1
-1 2:1 # a remark
-1

+1 3:.25 4:4. 2147483647:1
-1 1:-0 2:1e300
"""
PIECES = [
    b" ", b"\n", b"\r\n", b":", b"#", b"-", b"+", b".", b"_", b"e", b"\0", b"\xff", b"\x0b",
    b"\x85", b"\xef\xbb\xbf", b"\xc2\xa0", b"nan", b"inf", b"1e999", b"0:1", b"1:1", b"9:",
    b":9", b"9" * 30, b"qid:3", b"0x1", b"1,2", b"1:1:1", b"-1:2", b"1d3", b"infinity:1", b"1:1_0",
    b"2147483648:1",
]  # fmt: skip


@pytest.mark.long
def test_text_is_read_or_refused():
    for rng in generators(10_000):
        rows, refused = answer(Refusal, parse, mutated(TEXT, PIECES, rng), "made")
        if rows is None:
            assert refused.startswith("made")
            continue
        A, b, labels = rows
        assert A.shape[0] == b.size > 1
        assert A.nnz == np.count_nonzero(A.data)
        assert np.isfinite(A.data).all()
        assert ((A.indices >= 0) & (A.indices < A.shape[1])).all()
        assert set(b) == {-1.0, 1.0}
        assert labels[0] < labels[1]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("suffix", "packed"),
    [(".bz2", bz2.compress(TEXT)), (".gz", gzip.compress(TEXT)), (".xz", lzma.compress(TEXT))],
    ids=["bz2", "gz", "xz"],
)
def test_compressed_files_are_read_or_refused(tmp_path, suffix, packed):
    path = tmp_path / f"made{suffix}"
    for rng in generators(500):
        path.write_bytes(mutated(packed, [b"\0", b"\xff" * 4, packed], rng))
        text, refused = answer(Refusal, content, path)
        assert isinstance(text, bytes) or f"{path} cannot be read" in refused
