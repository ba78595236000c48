"""Rows of the clients of a large cohort, which are computed for one block of clients at a time.

A block is so many clients that a few vectors of theirs fit into the cache. What a method does with
the vectors of a large cohort is noted, and done block by block when a sum over the clients is used
or the round ends. So an intermediate vector exists for one block only. Received messages are stored
as they were encoded, and the vectors that the method still refers to are stored as numbers: no
gradient is evaluated twice.
"""

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from numpy.typing import NDArray

Known = dict["Delayed", Any]
"""What has been computed of one block."""

_DEEP = 64
"""After so many operations in a row the result is computed."""


class Delayed:
    """Rows (m, d, 1) of all clients of a cohort, or their messages.

    Parameters
    ----------
    blocks : int
        Into how many blocks the clients are divided.
    compute : callable
        Of the number of a block and the operands there, it returns the rows of the block.
    operands : sequence
        Other delayed rows, or rows (1, d, 1) that all clients share.
    like : (0, d, 1)
        An array of the same shape and type without clients.
    costly : bool
        Whether this is a gradient, which must not be computed twice.
    lasting : bool
        Whether it is stored in any case, as messages are.
    """

    def __init__(
        self,
        blocks: int,
        compute: Callable[..., Any],
        operands: Sequence[Any],
        like: NDArray[Any],
        *,
        costly: bool = False,
        lasting: bool = False,
    ) -> None:
        delayed = [x for x in operands if isinstance(x, Delayed)]
        self.like, self.lasting = like, lasting
        self._blocks, self._compute, self._operands = blocks, compute, tuple(operands)
        self._costly: bool = not lasting and (costly or any(x._costly for x in delayed))
        self._depth: int = 1 + max((x._depth for x in delayed), default=0)
        self._stored: list[Any] = []
        self._holder: Callable[[], object] = lambda: None

    @staticmethod
    def of(blocks: int, function: Callable[..., Any], operands: Sequence[Any]) -> "Delayed":
        """Return what a function that acts row by row makes of its operands."""
        like = function(*(x.like if isinstance(x, Delayed) else x for x in operands))
        return Delayed(blocks, lambda number, *x: function(*x), operands, like)

    @property
    def is_deep(self) -> bool:
        """Whether very many operations are still to be done for it."""
        return self._depth > _DEEP

    def hold(self, holder: object) -> None:
        """Store the rows when they are computed, if the holder exists then."""
        self._holder = ref(holder)

    def release(self) -> None:
        """Leave the storing of the rows to whoever computes them."""
        self._holder = lambda: None

    def block(self, number: int, known: Known) -> Any:
        """Return the rows of a block; what is computed for them is added to the known."""
        if number < len(self._stored):
            return self._stored[number]
        if self not in known:
            operands = [block_of(x, number, known) for x in self._operands]
            known[self] = self._compute(number, *operands)
            if self.lasting or (self._costly and self._holder() is not None):
                self._store(number, known[self])
        return known[self]

    def _store(self, number: int, rows: Any) -> None:
        self._stored.append(rows)
        if number + 1 == self._blocks:
            self._operands, self._costly, self._depth = (), False, 0


def block_of(x: Any, number: int, known: Known) -> Any:
    """Return the rows of a block of delayed rows; what all clients share is returned as it is."""
    return x.block(number, known) if isinstance(x, Delayed) else x
