"""Words of a command line with damage: they are understood, or refused in one sentence.

They are tried 10,000 times, ``CERTIBIT_FUZZ`` times as often, by commands that are set up once.
"""

import os

import numpy as np
import pytest

from certibit import Quadratic, Refusal
from certibit.cli import application, main
from certibit.data.problems import selector

PROBLEM = Quadratic.random(3, 4, mu=1.0, L=10.0)
PIECES = [
    b"@", b"=", b":", b"+", b"-", b"(", b")", b"[", b"]", b",", b".", b"/", b"0", b"1e9", b"nan",
    b"inf", b"-1", b"9" * 30, b"9" * 5000, b"(" * 3000, b"scaled(", b"\xb2", b"\xd9\xa3", b"\n",
    b"'", b"{", b"--", b"gamma=", b"1_0", b"0x1", b"rand-k:", b"@shared", b"+natural",
]  # fmt: skip
TIMES = int(os.environ.get("CERTIBIT_FUZZ", "1"))


def mutated(content, rng):
    """Return the content with a few random changes: flips, cuts, copies, bytes, known pieces."""
    for _ in range(rng.integers(1, 6)):
        first, last = np.sort(rng.integers(0, len(content) + 1, 2)).tolist()
        before, middle, after = content[:first], content[first:last], content[last:]
        match rng.integers(6):
            case 0 if content:
                place, bit = divmod(int(rng.integers(8 * len(content))), 8)
                content = (
                    content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
                )
            case 1:
                content = before + after[:1] + content[last + 1 :]
            case 2:
                content = before + middle[:50] + content[first:]
            case 3:
                content = before + rng.bytes(int(rng.integers(1, 9))) + after[-100:]
            case 4:
                content = content[:last]
            case _:
                content = before + PIECES[rng.integers(len(PIECES))] + content[first:]
    return content


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    """Problems are made at once, nothing is fetched, and nothing is run."""

    def no_network(*arguments, **options):
        raise ConnectionError("no route")

    def stopped(*arguments, **options):
        raise Refusal("here the work would begin")

    monkeypatch.setattr("pooch.retrieve", no_network)
    monkeypatch.setattr(selector.LogisticRegression, "from_data", lambda *a, **k: PROBLEM)
    monkeypatch.setattr(selector.Quadratic, "random", lambda *a, **k: PROBLEM)
    for place in ("run.simulate", "compare.compare", "check.examine"):
        monkeypatch.setattr(f"certibit.cli.commands.{place}", stopped)


LINES = [
    b"run breast-cancer@9 locodl rand-k:2+natural --kappa 1e3 --seeds 2 --until 1e-3 --set p=0.1",
    b"run quadratic:d=4@3 diana natural --bits 1e5 --wire --json --parameters published --strict",
    b"compare breast-cancer@9 locodl[ours]+natural gd agd --downlink 0.5 --until 1e-3",
    b"check quadratic:d=4@3 gd --seeds 1 --until 1e-2 --set gamma=0.1 --kappa 10",
    b"compare breast-cancer@9:batch=8 gd --split similarity:10 --network lan,gradient=1 --jobs 2",
    b"run quadratic:d=4@3 gradskip --set q=(0.1,0.2,0.3) --set p=1 --seeds 12 --noise 0.1",
    b"run quadratic:d=4@3 ef21 scaled(qsgd:4)+natural --library numpy --loss huber:1",
    b"list",
]


@pytest.mark.long
def test_a_line_is_one_sentence_or_success(capsys, monkeypatch):
    parser = application._parser()
    monkeypatch.setattr(application, "_parser", lambda: parser)
    for seed in range(10_000 * TIMES):
        rng = np.random.default_rng(seed)
        line = mutated(LINES[rng.integers(len(LINES))], rng)
        words = line.decode("utf-8", "replace").split(" ")
        try:
            code = main(words)
        except SystemExit as end:  # --help and --version
            code = end.code
        _, err = capsys.readouterr()
        assert code in (0, 2), words
        lines = [line for line in err.replace("\r", "\n").split("\n") if "%|" not in line]
        assert code == 0 or [line for line in lines if line.startswith("certibit: ")], (words, err)
        assert "unforeseen" not in err, words
        assert "Traceback" not in err
