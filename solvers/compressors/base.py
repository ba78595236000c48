"""The interface of compressors: constants, random draws, messages; and no compression."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.wire import Layout, Message, Shared

_SINGLE, _TINY = 1e-5, 1e-30
"""Rounding of a message to 32-bit floats, relative to its largest number, and to this at least."""


@dataclass(frozen=True)
class Compressor(ABC):
    """A random map C on R^d with C(0) = 0, its constants and its messages.

    Unbiased compressors are in the class U(omega): E C(x) = x and
    E|C(x) - x|^2 <= omega |x|^2. Contractive ones are in B(alpha):
    E|C(x) - x|^2 <= (1 - alpha) |x|^2.

    All arrays are (n, d, R), and the vector of each client and run is compressed on its own. All
    randomness comes from the argument ``uniforms``: independent float64 numbers of [0, 1),
    :meth:`uniforms` of them per client and message. Values that are not finite give a valid message
    and no exception, because a run that diverges is not an error.

    Examples
    --------
    >>> from certibit import Compressor, compressor
    >>> sent = compressor("rand-k:2")
    >>> sent.omega(10), sent.bits(10)
    (4.0, 72)
    """

    unbiased: ClassVar[bool] = True

    @property
    @abstractmethod
    def name(self) -> str:
        """The selector that makes this compressor again."""

    @property
    def shared(self) -> bool:
        """Whether all clients draw the same uniforms, of shape (1, q, R), from a common seed."""
        return False

    def check(self, d: int) -> None:  # noqa: B027  (most serve every d)
        """Refuse a number of features that this compressor cannot serve."""

    @abstractmethod
    def omega(self, d: int) -> float:
        """Smallest known omega with E|C(x) - x|^2 <= omega |x|^2 for every x of R^d.

        Raises
        ------
        Refusal
            If the compressor is biased.
        """

    def omega_av(self, d: int, n: int) -> float:
        """Joint factor: E|mean(C_i(x_i) - x_i)|^2 <= omega_av mean|x_i|^2 over n clients.

        It is omega / n if the clients draw independently and omega if they share their draws.
        """
        return self.omega(d) if self.shared else self.omega(d) / n

    def alpha(self, d: int) -> float:
        """Largest known alpha with E|C(x) - x|^2 <= (1 - alpha) |x|^2 for every x of R^d.

        Raises
        ------
        Refusal
            If the compressor is no contraction.
        """
        omega = self.omega(d)
        if omega >= 1:
            raise Refusal(
                f"the compressor {self.name!r} has omega = {omega:g} >= 1 and is no contraction; "
                f"use scaled({self.name})"
            )
        return 1 - omega

    def bias(self, d: int) -> float:
        """Smallest known eta with |E C(x) - x| <= eta |x| for every x of R^d; 0 if unbiased."""
        return 0.0

    def relative_variance(self, d: int) -> float:
        """Smallest known omega with E|C(x) - E C(x)|^2 <= omega |x|^2 for every x of R^d."""
        return self.omega(d)

    def hardest(self, d: int) -> NDArray[np.float64] | None:
        """Return a vector (d,) where omega, or alpha, is attained; None if none is known."""
        return None

    @abstractmethod
    def layout(self, d: int) -> Layout:
        """Return the fields of one client's message."""

    def bits(self, d: int) -> int:
        """Bits of one client's message."""
        return self.layout(d).bits

    @abstractmethod
    def uniforms(self, d: int) -> int:
        """Return the number of uniform numbers for one message of one client."""

    def deterministic(self, d: int) -> bool:
        """Whether C draws no random numbers, so that equal vectors have equal errors."""
        return self.uniforms(d) == 0

    @abstractmethod
    def message(self, x: Array, uniforms: Array) -> Message:
        """Return the message of each client: arrays (n, count, R) in the order of the layout.

        ``x`` is (n, d, R) and ``uniforms`` (n, q, R), or (1, q, R) if they are shared.
        """

    @abstractmethod
    def vector(self, message: Message, d: int) -> Array:
        """Return what the receiver makes of a message: (n, d, R)."""

    def compress(self, x: Array, uniforms: Array) -> Array:
        """C(x) of every client and run: (n, d, R) to (n, d, R)."""
        return self.vector(self.message(x, uniforms), x.shape[1])

    def mean(self, x: Array) -> Array:
        """E C(x): (n, d, R) to (n, d, R); x itself where the compressor is unbiased."""
        return x

    @abstractmethod
    def variance(self, x: Array) -> Array:
        """Exact E|C(x) - x|^2 in closed form: (n, d, R) to (n, R).

        For a biased compressor this is its whole error, bias included.
        """


def require_true_layout(compressor: Compressor, d: int, *vectors: NDArray[np.float64]) -> Layout:
    """Return the layout of a compressor's messages, once messages have gone through their bytes.

    These are the messages of some vectors (d,) and of two random ones.

    Raises
    ------
    Refusal
        If bits are negative, or the bytes do not decode to the message, or a shared number depends
        on the vector.
    """
    layout, generator = compressor.layout(d), np.random.default_rng(0)
    counts = [
        layout.bits,
        *(number for field, count in layout.fields for number in (field.width, count)),
    ]
    if any(not isinstance(number, int) or number < 0 for number in counts):
        raise Refusal(
            f"the layout of {compressor.name!r} has {layout.bits} bits, of widths and counts "
            f"{counts[1:]}; give integers of at least 0"
        )
    uniforms, kept = generator.random((1, compressor.uniforms(d), 1)), None
    for vector in (*generator.standard_normal((2, d)), *vectors):
        message = compressor.message(vector[None, :, None], uniforms)
        fields = zip(layout.fields, message, strict=False)
        shared = tuple(np.asarray(x) for (field, _), x in fields if isinstance(field, Shared))
        payload = layout.encode(message)
        sent, received = (
            np.asarray(compressor.vector(numbers, d))
            for numbers in (message, layout.decode(payload, shared))
        )
        kept = shared if kept is None else kept
        off = float(np.max(np.abs(sent - received), initial=0.0))
        fits = sent.shape == (1, d, 1) and off <= _SINGLE * np.max(np.abs(sent), initial=_TINY)
        same = all(map(np.array_equal, kept, shared))
        if not (fits and same and payload.shape[1] == -(-layout.bits // 8)):
            raise Refusal(
                f"a message of {compressor.name!r} is not what its layout of {layout.bits} bits "
                f"makes of it: {8 * payload.shape[1]} bits in bytes, off by {off:.3g} when decoded"
                f"{'' if same else ', with shared numbers that depend on the vector'}; let layout "
                "name all numbers that the receiver needs"
            )
    return layout


@dataclass(frozen=True)
class Biased(Compressor):
    """A compressor without an omega; it states its alpha.

    By default its bias is sqrt(1 - alpha), and its relative variance 1 - alpha, or 0 if it draws no
    random numbers: neither is more than its whole error.

    Examples
    --------
    >>> from certibit import Biased, compressor
    >>> largest = compressor("top-k:2")
    >>> isinstance(largest, Biased), largest.alpha(d=8)
    (True, 0.25)
    """

    unbiased: ClassVar[bool] = False

    def omega(self, d: int) -> float:
        raise Refusal(
            f"the compressor {self.name!r} is biased and has no omega; choose an unbiased one, "
            f"such as rand-k:1 or natural"
        )

    @abstractmethod
    def alpha(self, d: int) -> float:
        """Largest known alpha with E|C(x) - x|^2 <= (1 - alpha) |x|^2 for every x of R^d."""

    def bias(self, d: int) -> float:
        return math.sqrt(1 - self.alpha(d))

    def relative_variance(self, d: int) -> float:
        return 0.0 if self.deterministic(d) else 1 - self.alpha(d)

    def mean(self, x: Array) -> Array:
        """E C(x): (n, d, R) to (n, d, R); by default C(x), for a compressor that draws nothing."""
        return self.compress(x, x[:, :0, :])


def require_positive_integer(name: str, value: int, meaning: str) -> None:
    """Refuse a parameter of a compressor that is not 1, 2, 3, ..."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise Refusal(f"{name} has {meaning} {value!r}, which must be an integer of at least 1")


@dataclass(frozen=True)
class Identity(Compressor):
    """C(x) = x, omega = 0, 32 d bits."""

    @property
    def name(self) -> str:
        return "identity"

    def omega(self, d: int) -> float:
        return 0.0

    @lru_cache(maxsize=64)  # noqa: B019  (all are equal)
    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Float32(), d),))

    def uniforms(self, d: int) -> int:
        return 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        return (x,)

    def vector(self, message: wire.Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return array_namespace(x).zeros_like(x[:, 0, :])
