"""Checks that ``certibit count`` gives the number of bits of known messages."""

import numpy as np

from certibit.solvers.compressors.counting import counted_arrays, counts, described
from certibit.solvers.compressors.selector import compressor
from certibit.theory.verdict import Verdict, worst_of

_SIZES = (8, 64, 128)
"""Multiples of 4 by powers of two, which is what rand-k:4 scales entries by."""
_MESSAGES = 6
_INDEX, _SET, _DENSE = 1, 2, 4
_SENT = {
    "rand-k:4": ("float32", _INDEX),
    "top-k:3": ("float32", _INDEX),
    "rand-k:4+natural": ("natural", _INDEX),
    "natural": ("natural", _DENSE),
    "identity": ("float32", _DENSE),
    "sign": ("sign", _SET),
}
"""The format that values of a compressor have, and the way of counting that its bytes follow."""


def counted_as_sent(seed: int = 0) -> Verdict:
    """Check the bits that are counted of received vectors against the bytes that brought them.

    Of compressors whose messages are the entries themselves; no two vectors are of one size.
    """
    generator, found = np.random.default_rng(seed), [(0.0, "")]
    for d in _SIZES:
        x = (
            generator.standard_normal((_MESSAGES, d, 1))
            * np.arange(1, _MESSAGES + 1)[:, None, None]
        )
        for selector, (value, way) in _SENT.items():
            sent = compressor(selector)
            layout, uniforms = sent.layout(d), generator.random((_MESSAGES, sent.uniforms(d), 1))
            message = sent.message(x, uniforms)
            size = 8 * layout.encode(message).shape[1]
            received = np.asarray(sent.vector(layout.transmit(message), d))[:, :, 0]
            told = counted_arrays({selector: received})[selector]
            bits = counts(told)[way].bits
            about = f"messages of {selector} in R^{d} as {bits:g} bits in {told.value}"
            off = bits - size if bits > size else max(0.0, size - 7 - bits)
            found.append((off + (told.value != value), f"{about}, and the bytes have {size}"))
        for selector, way in (("rand-k:3", _INDEX), ("top-k:3", _INDEX), ("rand-k:3@shared", 0)):
            bits = counts(described(f"{selector.removesuffix('@shared')} of {d}"))[way].bits
            size = compressor(selector).bits(d)
            about = f"the words {selector} of {d} as {bits:g} bits, and it sends {size}"
            found.append((abs(bits - size), about))
    off, what = worst_of(found)
    advice = f"`certibit count` counts {what}: look at the ways of counting."
    return Verdict("counted as sent", off, 0.0, f"{len(found) - 1} messages", advice)
