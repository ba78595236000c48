"""The texts of the EPISODE papers, from their own files: SNLI and Sentiment140.

The files are not part of certibit: https://nlp.stanford.edu/projects/snli/ and
http://help.sentiment140.com/for-students.
"""

import csv
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

PADDING, UNKNOWN = 0, 1
"""The numbers of no word, and of a word that is not in a vocabulary."""
_ENTAILMENT = {"entailment": 0, "neutral": 1, "contradiction": 2}
_POLARITY = {"0": 0, "4": 1}
_NEUTRAL = "2"
_COLUMNS = 6
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


@dataclass(frozen=True, eq=False)
class Texts:
    """Labelled examples of one or two sentences.

    Attributes
    ----------
    sentences : tuple of tuple of str
        The sentences of every example: one, or premise and hypothesis.
    labels : array of shape (N,)
        Classes 0, 1, ...
    authors : tuple of str
        Who wrote every example; empty where it is not known.
    """

    sentences: tuple[tuple[str, ...], ...]
    labels: NDArray[np.int64]
    authors: tuple[str, ...] = ()

    def numbers(self, length: int, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the words of every sentence as places in a vocabulary plus 2.

        The array is (N, length), or (N, 2, length) for two sentences; sentences are cut, or filled
        with ``PADDING``, and words that are not in the vocabulary are ``UNKNOWN``.
        """
        places = {word: place for place, word in enumerate(words, start=2)}
        found = np.zeros((len(self.sentences), len(self.sentences[0]), length), dtype=np.int64)
        for example, sentences in zip(found, self.sentences, strict=True):
            for row, sentence in zip(example, sentences, strict=True):
                known = [places.get(word, UNKNOWN) for word in words_of(sentence)[:length]]
                row[: len(known)] = known
        return found[:, 0] if found.shape[1] == 1 else found

    def vocabulary(self, most: int) -> tuple[str, ...]:
        """Return the words that occur most often, so many at most, ties by the alphabet."""
        every = Counter(
            word for each in self.sentences for sentence in each for word in words_of(sentence)
        )
        ordered = sorted(every, key=lambda word: (-every[word], word))
        return tuple(ordered[:most])


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence in lower case, without punctuation."""
    return _WORD.findall(sentence.lower())


def snli(path: str | os.PathLike[str]) -> Texts:
    """Read a file of SNLI, such as ``snli_1.0_train.jsonl``: premise, hypothesis and gold label.

    Classes are 0 entailment, 1 neutral, 2 contradiction. Pairs without a gold label (``-``) are
    left out, as usual.

    Parameters
    ----------
    path : path
        A line of JSON for each pair, with ``sentence1``, ``sentence2`` and ``gold_label``.

    Raises
    ------
    Refusal
        If there is no such file, a line is something else, or no pair has a label.
    """
    sentences, labels = [], []
    for place, line in _lines(path, "utf-8"):
        try:
            pair = json.loads(line)
            given, one, other = pair["gold_label"], pair["sentence1"], pair["sentence2"]
        except (ValueError, TypeError, KeyError):
            raise _no_line(path, place, "a pair of SNLI as JSON") from None
        if given == "-":
            continue
        if given not in _ENTAILMENT:
            raise _no_line(path, place, f"a label of {', '.join(_ENTAILMENT)} or -, not {given!r}")
        sentences.append((str(one), str(other)))
        labels.append(_ENTAILMENT[given])
    return _texts(path, sentences, labels, [])


def sentiment140(path: str | os.PathLike[str]) -> Texts:
    """Read a file of Sentiment140, such as ``training.1600000.processed.noemoticon.csv``.

    Classes are 0 negative and 1 positive; neutral tweets, which the test file has, are left out.

    Parameters
    ----------
    path : path
        Quoted values in Latin-1 without a header: polarity (0, 2, 4), number, date, query, user,
        text.

    Raises
    ------
    Refusal
        If there is no such file, a line is something else, or no tweet is left.
    """
    tweets, labels, authors = [], [], []
    lines = (line for _, line in _lines(path, "latin-1"))
    for place, row in enumerate(csv.reader(lines), start=1):
        if len(row) != _COLUMNS or row[0] not in {*_POLARITY, _NEUTRAL}:
            raise _no_line(path, place, "six values, the first of them 0, 2 or 4")
        if row[0] == _NEUTRAL:
            continue
        tweets.append((row[5],))
        labels.append(_POLARITY[row[0]])
        authors.append(row[4])
    return _texts(path, tweets, labels, authors)


def _lines(path: str | os.PathLike[str], encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not empty, with their numbers."""
    if not Path(path).is_file():
        raise Refusal(f"there is no file {path}; give the path of an unpacked data file")
    with open(path, encoding=encoding, newline="") as file:
        try:
            yield from ((place, line) for place, line in enumerate(file, start=1) if line.strip())
        except UnicodeDecodeError:
            raise Refusal(f"{path} is no text; unpack it first") from None


def _texts(
    path: str | os.PathLike[str],
    sentences: Sequence[tuple[str, ...]],
    labels: list[int],
    authors: list[str],
) -> Texts:
    if not sentences:
        raise Refusal(f"{path} has no labelled example; give another file")
    return Texts(tuple(sentences), np.array(labels, dtype=np.int64), tuple(authors))


def _no_line(path: str | os.PathLike[str], place: int, expected: str) -> Refusal:
    return Refusal(f"line {place} of {path} cannot be read; expected {expected}")
