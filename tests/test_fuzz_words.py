"""Words of a command line with damage: they are understood, or refused in one sentence.

The readers of words are tried 10,000 times, each with its share, and so are whole lines, by
commands that are set up once.
"""

import argparse

import numpy as np
import pytest
from fuzzing import answer, generators, mutated

from certibit import DIANA, Card, Compressor, GradSkip, Network, Quadratic, Refusal, compressor
from certibit.cli import application, main
from certibit.cli.words.plain_options import count
from certibit.data.files.splits import split
from certibit.data.problems import selector
from certibit.solvers.network import network_named
from certibit.theory.catalogue.catalogue import find_card, read_settings

PROBLEM = Quadratic.random(3, 4, mu=1.0, L=10.0)
PIECES = [
    b"@", b"=", b":", b"+", b"-", b"(", b")", b"[", b"]", b",", b".", b"/", b"0", b"1e9", b"nan",
    b"inf", b"-1", b"9" * 30, b"9" * 5000, b"(" * 3000, b"scaled(", b"\xb2", b"\xd9\xa3", b"\n",
    b"'", b"{", b"--", b"gamma=", b"1_0", b"0x1", b"rand-k:", b"@shared", b"+natural",
]  # fmt: skip
LABELS = np.array([-1.0, 1.0] * 5)
READERS = [
    (compressor, [b"rand-k:2+natural", b"scaled(rand-k:2)", b"qsgd:4", b"l1"], Refusal, Compressor),
    (find_card, [b"locodl", b"gd", b"celgc", b"mine.py"], Refusal, Card),
    (lambda word: read_settings(DIANA, [word]), [b"gamma=0.1", b"alpha=1e-3"], Refusal, dict),
    (lambda word: read_settings(GradSkip, [word]), [b"q=(0.1, 0.2)", b"p=1"], Refusal, dict),
    (lambda word: split(LABELS, 2, word, 0), [b"shuffled", b"similarity:10"], Refusal, np.ndarray),
    (selector.problem, [b"breast-cancer@9", b"quadratic:d=4@3"], Refusal, Quadratic),
    (network_named, [b"lan,gradient=1", b"up=1e6,latency=10ms"], Refusal, Network),
    (count, [b"5", b"12"], argparse.ArgumentTypeError, int),
]


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


def damaged(words, rng):
    """Return one of some words with damage, as text."""
    return mutated(words[rng.integers(len(words))], PIECES, rng).decode("utf-8", "replace")


@pytest.mark.long
@pytest.mark.parametrize(("read", "words", "error", "kind"), READERS)
def test_a_word_is_read_or_refused(read, words, error, kind):
    for rng in generators(10_000 // len(READERS)):
        found, _ = answer(error, read, damaged(words, rng))
        assert found is None or isinstance(found, kind)


LINES = [
    b"run breast-cancer@9 locodl rand-k:2+natural --kappa 1e3 --seeds 2 --until 1e-3 --set p=0.1",
    b"run quadratic:d=4@3 diana natural --bits 1e5 --wire --json --parameters published --strict",
    b"compare breast-cancer@9 locodl[ours]+natural gd agd --downlink 0.5 --until 1e-3",
    b"check quadratic:d=4@3 gd --seeds 1 --until 1e-2 --set gamma=0.1 --kappa 10",
    b"list",
]


@pytest.mark.long
def test_a_line_is_one_sentence_or_success(capsys, monkeypatch):
    parser = application._parser()
    monkeypatch.setattr(application, "_parser", lambda: parser)
    for rng in generators(10_000):
        words = damaged(LINES, rng).split(" ")
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
