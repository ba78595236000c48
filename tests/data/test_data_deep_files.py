"""SNLI, Sentiment140 and CIFAR-10, from small files in their own formats."""

import json

import numpy as np
import pytest

from certibit import Refusal
from certibit.data.deep.image_files import TEST, TRAINING, cifar10
from certibit.data.deep.text_files import PADDING, UNKNOWN, sentiment140, snli

PAIRS = [
    ("entailment", "A person on a horse jumps.", "A person is outdoors, on a horse."),
    ("-", "Nobody agreed.", "It is left out."),
    ("contradiction", "Two women don't sit.", "Two women sit."),
    ("neutral", "A café\u2028is open.", "It is late."),
]
TWEETS = [
    ("4", "ann", 'I "love" it, really'),
    ("0", "bob", "this isn't good"),
    ("2", "ann", "neutral"),
    ("0", "ann", "caf\xe9 closed"),
]


def write_snli(path, pairs=PAIRS):
    """Write pairs with the keys of the original, of which some are not used."""
    rows = [
        {
            "annotator_labels": [label], "captionID": "1.jpg#0", "gold_label": label,
            "pairID": "1.jpg#0r1", "sentence1": one, "sentence1_binary_parse": "( )",
            "sentence1_parse": "(ROOT )", "sentence2": other,
        }
        for label, one, other in pairs
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_tweets(path, tweets=TWEETS):
    """Write tweets as the original has them: all values in quotes, in Latin-1."""
    rows = [
        (polarity, "1467810369", "Mon Apr 06 22:19:45 PDT 2009", "NO_QUERY", user, text)
        for polarity, user, text in tweets
    ]
    quoted = ['"' + '","'.join(part.replace('"', '""') for part in row) + '"\n' for row in rows]
    path.write_bytes("".join(quoted).encode("latin-1"))
    return path


def write_cifar(folder, names, generator, each=4):
    """Write random images; return them as (N, 3, 32, 32) and their classes."""
    pixels = generator.integers(256, size=(len(names), each, 3, 32, 32), dtype=np.uint8)
    labels = generator.integers(10, size=(len(names), each), dtype=np.uint8)
    for name, some, classes in zip(names, pixels, labels, strict=True):
        records = [bytes([k]) + image.tobytes() for k, image in zip(classes, some, strict=True)]
        (folder / name).write_bytes(b"".join(records))
    return pixels.reshape(-1, 3, 32, 32), labels.ravel()


def test_pairs_of_snli(tmp_path):
    texts = snli(write_snli(tmp_path / "train.jsonl"))
    assert texts.labels.tolist() == [0, 2, 1]
    assert texts.sentences[1] == ("Two women don't sit.", "Two women sit.")
    words = texts.vocabulary(4)
    assert (words[0], len(words)) == ("a", 4)
    numbers = texts.numbers(5, words)
    assert numbers.shape == (3, 2, 5)
    assert numbers[1, 1].tolist() == [
        *(2 + words.index(w) if w in words else UNKNOWN for w in ("two", "women", "sit")),
        PADDING, PADDING,
    ]  # fmt: skip


def test_tweets(tmp_path):
    texts = sentiment140(write_tweets(tmp_path / "train.csv"))
    assert texts.labels.tolist() == [1, 0, 0]
    assert texts.authors == ("ann", "bob", "ann")
    assert texts.sentences[0] == ('I "love" it, really',)
    assert texts.sentences[2] == ("café closed",)
    assert texts.vocabulary(99) == tuple(
        sorted(["i", "love", "it", "really", "this", "isn't", "good", "café", "closed"])
    )
    assert texts.numbers(3, texts.vocabulary(99)).shape == (3, 3)


def test_images(tmp_path):
    generator = np.random.default_rng(0)
    for names, test in ((TRAINING, False), (TEST, True)):
        pixels, labels = write_cifar(tmp_path, names, generator)
        found = cifar10(tmp_path, test=test)
        assert (found.pixels == pixels).all()
        assert (found.labels == labels).all()
        assert found.inputs.max() <= 1


def cut_images(folder):
    write_cifar(folder, TRAINING, np.random.default_rng(0))
    (folder / TRAINING[2]).write_bytes(bytes(3072))


def strange_images(folder):
    write_cifar(folder, TRAINING, np.random.default_rng(0))
    (folder / TRAINING[0]).write_bytes(bytes([100]) + bytes(3072))


DAMAGED = {
    "no JSON": (snli, lambda path: path.write_text("{\n"), "line 1 of .* expected a pair of SNLI"),
    "no sentence": (
        snli, lambda path: path.write_text('{"gold_label": "neutral", "sentence1": "one"}'),
        "line 1 of .* expected a pair",
    ),
    "another label": (
        snli, lambda path: write_snli(path, [*PAIRS, ("maybe", "one", "two")]),
        "line 5 of .* not 'maybe'",
    ),
    "no label": (snli, lambda path: write_snli(path, PAIRS[1:2]), "has no labelled example"),
    "packed": (snli, lambda path: path.write_bytes(bytes(range(256))), "is no text; unpack it"),
    "five values": (
        sentiment140, lambda path: path.write_text('"0","1","2","3","4"\n'), "expected six values"
    ),
    "polarity": (
        sentiment140, lambda path: write_tweets(path, [("3", "ann", "so so")]), "0, 2 or 4"
    ),
    "cut": (
        lambda path: cifar10(path.parent), lambda path: cut_images(path.parent),
        "data_batch_3.bin has 3,072 bytes, not a multiple of 3,073",
    ),
    "another class": (
        lambda path: cifar10(path.parent), lambda path: strange_images(path.parent),
        "has a class 100; expected 0 to 9",
    ),
    "no file": (snli, lambda path: None, "there is no file"),
    "no tweets": (sentiment140, lambda path: None, "there is no file"),
    "no images": (cifar10, lambda path: None, "there is no file .*data_batch_1.bin"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_files_are_refused(kind, tmp_path):
    read, write, words = DAMAGED[kind]
    write(tmp_path / "file")
    with pytest.raises(Refusal, match=words):
        read(tmp_path / "file")
