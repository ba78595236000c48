"""Random inputs for the fuzzer; ``CERTIBIT_FUZZ`` times as many as in the fast tests."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

TIMES = int(os.environ.get("CERTIBIT_FUZZ", "1"))
"""How many times the inputs of the fast tests are tried."""


def generators(count: int) -> Iterator[np.random.Generator]:
    """Yield one generator for each input; the first ones are those of the fast tests."""
    for seed in range(count * TIMES):
        yield np.random.default_rng(seed)


def answer(error: type[Exception], ask: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return what a function answers and "", or None and the one line of the documented error."""
    try:
        return ask(*arguments), ""
    except error as told:
        sentence = str(told)
    assert sentence
    assert "\n" not in sentence
    return None, sentence


def flipped(content: bytes, position: int) -> bytes:
    """Return the content with one bit flipped."""
    place, bit = divmod(position, 8)
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def mutated(content: bytes, pieces: Sequence[bytes], rng: np.random.Generator) -> bytes:
    """Return the content with a few random changes: flips, cuts, copies, bytes, known pieces."""
    for _ in range(rng.integers(1, 6)):
        first, last = np.sort(rng.integers(0, len(content) + 1, 2)).tolist()
        before, middle, after = content[:first], content[first:last], content[last:]
        match rng.integers(6):
            case 0 if content:
                content = flipped(content, int(rng.integers(8 * len(content))))
            case 1:
                content = before + after[:1] + content[last + 1 :]
            case 2:
                content = before + middle[:50] + content[first:]
            case 3:
                content = before + rng.bytes(int(rng.integers(1, 9))) + after[-100:]
            case 4:
                content = content[:last]
            case _:
                content = before + pieces[rng.integers(len(pieces))] + content[first:]
    return content
