"""Unknown vectors of clients, and the blocks of quadratic forms that are symmetric in the clients.

Clients of one kind are exchangeable, so a symmetric form on (R^n) x basis splits into blocks: one
for vectors that are equal within each kind, and one per kind for vectors that sum to 0 over it (the
same block for every such direction). The sizes of blocks depend on the numbers of fields and kinds,
not on n. The runs of the last axis are directions of R^n from which the blocks are read off: client
i holds the entry of its row times the unknown of its field and kind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.theory.worlds.opaque.clients import (
    ClientArray,
    ClientRows,
    depends_on_heads,
    require_asked,
    require_whole,
    rows_of,
)
from certibit.theory.worlds.opaque.exact_numbers import exact_product, rationals, zeros
from certibit.theory.worlds.orbits import cells_of_kinds

Matrix = NDArray[Any]
Blocks = tuple[Matrix, ...]
"""Vectors (basis,) or matrices (basis, basis): of equal clients, then of zero sum in each kind."""

SAME = 1e-12
"""Relative difference below which two points are one."""


_DEPENDS = (
    "a gradient is evaluated, or a vector compressed, that depends on which other clients take "
    "part; such a step cannot be certified"
)


class BasisFullError(Exception):
    """More unknowns are met than there is room for."""


@dataclass
class Basis:
    """The unknown vectors, numbered in their order; the same name gives the same unknown.

    An unknown of every client has consecutive numbers, one for each kind of clients. ``kind`` is
    the kind of an unknown, or -1 for a shared one; ``noise`` marks compression noises.
    """

    size: int
    kinds: int = 1
    exact: bool = False
    names: dict[tuple[Any, ...], int] = field(default_factory=dict)
    used: int = 0

    def __post_init__(self) -> None:
        self.kind = np.full(self.size, -1)
        self.noise = np.zeros(self.size, dtype=bool)

    @property
    def every_client(self) -> NDArray[np.bool_]:
        """Which unknowns each client has its own of."""
        return self.kind >= 0

    def index(self, *name: Any, every_client: bool, noise: bool = False) -> int:
        """Return the number of an unknown, the first of them if there is one for each kind."""
        if name not in self.names:
            first, count = self.used, self.kinds if every_client else 1
            if first + count > self.size:
                raise BasisFullError
            self.names[name], self.used = first, first + count
            self.noise[first : self.used] = noise
            if every_client:
                self.kind[first : self.used] = np.arange(count)
        return self.names[name]


class Frame:
    """Directions of R^n from which the blocks of a form are read off, for a partition in cells.

    Run 0 is the vector of ones, and only there shared unknowns are not 0. Then come, for every
    cell, the ones on the cell, and one vector of zero sum on the cell that stands for as many as
    are orthogonal.

    Parameters
    ----------
    cells : sequence of range
        The clients of each cell.
    counts : sequence of int
        How many clients of each kind there are; those of a cell are of the same.
    exact : bool
        Whether to compute in rational numbers.
    """

    def __init__(self, cells: Sequence[range], counts: Sequence[int], exact: bool = False) -> None:
        self.exact, self.members, self.counts = exact, cells, list(counts)
        self.n = sum(self.counts)
        self.everyone = np.ones(self.n, dtype=bool)
        self.layout = ClientRows.of(
            cells, cells_of_kinds(self.counts), rationals if exact else np.asarray
        )
        ends = np.cumsum(self.counts)
        self.cell_kinds = [int(np.searchsorted(ends, cell[0], side="right")) for cell in cells]
        rows = [min(len(cell), 3) for cell in cells]
        self.row_cells = np.repeat(np.arange(len(cells)), rows)
        self.row_kinds = np.repeat(self.cell_kinds, rows)
        self.differences: dict[int, int] = {}
        columns = [np.ones(len(self.row_cells), dtype=int)]
        self.norms, self.multiplicity, self.run_cells = [self.n], [0], [-1]
        for label, cell in enumerate(self.members):
            rows_of_cell = np.flatnonzero(self.row_cells == label)
            equal = np.zeros(len(self.row_cells), dtype=int)
            equal[rows_of_cell] = 1
            columns.append(equal)
            self._run(label, norm=len(cell), multiplicity=1)
            if len(cell) > 1:
                different = 0 * equal
                different[rows_of_cell[:2]] = 1, -1
                self.differences.setdefault(label, len(columns))
                columns.append(different)
                self._run(label, norm=2, multiplicity=len(cell) - 1)
        self.directions = self._numbers(np.stack(columns, axis=1))
        self.runs = len(columns)

    def _run(self, label: int, norm: int, multiplicity: int) -> None:
        self.norms.append(norm)
        self.multiplicity.append(multiplicity)
        self.run_cells.append(label)

    def _numbers(self, integers: Any) -> Matrix:
        return rationals(integers) if self.exact else np.asarray(integers, dtype=float)

    def array(self, values: Matrix) -> ClientArray:
        """Return rows, or one row that all share, as an array of clients."""
        return ClientArray(values, self.layout)

    def mapped(self, function: Callable[[Matrix], Matrix], v: Array) -> ClientArray:
        """Return an array of clients with a function of its rows, which no method may have."""
        return self.array(function(rows_of(v, self.layout)))

    def asked(self, v: ClientArray, active: NDArray[np.bool_]) -> ClientArray:
        """Return a vector that only some clients, (n,), were asked for."""
        if active.all():
            return v
        void = ~active[self.layout.representatives, None, None]
        return ClientArray(rows_of(v, self.layout), self.layout, void=void)

    def unknown(self, basis: Basis, number: int) -> ClientArray:
        """Return an unknown of every client, (n, basis, R), or a shared one, (1, basis, R)."""
        if basis.kind[number] < 0:
            vector = zeros(1, basis.size, self.runs, exact=self.exact)
            vector[0, number, 0] = self._numbers(1)[()]
            return self.array(vector)
        count = len(self.row_kinds)
        vectors = zeros(count, basis.size, self.runs, exact=self.exact)
        vectors[np.arange(count), number + self.row_kinds, :] = self.directions
        return self.array(vectors)

    def rows(self, v: Array) -> Matrix:
        """Return the rows of an array in all runs: (m or 1, basis, R)."""
        values = rows_of(v, self.layout)
        return np.broadcast_to(values, (*values.shape[:2], self.runs))

    def groups(self, v: Array) -> list[Matrix]:
        """Return the rows of an array in the directions that a renumbering within cells mixes.

        They are those that are equal on every cell, and the differences on each: (m, numbers).
        """
        rows, apart = self.rows(v), [*self.differences.values()]
        equal = np.delete(rows, apart, axis=2)
        return [x.reshape(len(x), -1) for x in (equal, *(rows[:, :, run] for run in apart))]

    def gram(self, v: Array, weights: Matrix | None = None) -> Matrix:
        """Return sum_i weights_i v_i v_i' of every run: (R, basis, basis)."""
        stretched = self.rows(v)
        counts = self.layout.counts if len(stretched) == len(self.layout.counts) else np.ones(1)
        factors = self._numbers(counts.astype(int))
        if weights is not None:
            stretched = np.broadcast_to(stretched, (len(self.row_cells), *stretched.shape[1:]))
            factors = self._numbers(self.layout.counts) * weights
        columns = stretched.transpose(2, 1, 0)
        weighted, rows = columns * factors, columns.transpose(0, 2, 1)
        if self.exact:
            return np.array([exact_product(a, b) for a, b in zip(weighted, rows, strict=True)])
        product: Matrix = weighted @ rows
        return product

    def blocks(self, gram: Matrix, basis: Basis) -> Blocks:
        """Return the blocks of a form that is averaged over all renumberings within the kinds."""
        equal = gram[0]
        found = [equal]
        for kind, count in enumerate(self.counts):
            own = np.flatnonzero(basis.kind == kind)
            block = zeros(*equal.shape, exact=self.exact)
            if count > 1:
                inner = np.ix_(own, own)
                trace = -equal[inner] / count
                for run, label in enumerate(self.run_cells):
                    if label >= 0 and self.cell_kinds[label] == kind:
                        trace = trace + gram[run][inner] * self.multiplicity[run] / self.norms[run]
                block[inner] = trace / (count - 1)
            found.append(block)
        return tuple(found)

    def diagonal(self, gram: Matrix, number: int) -> Matrix:
        """Return the coefficient of |unknown of client i|^2 for every row, (m,)."""
        sums = zeros(len(self.members), exact=self.exact)
        for run, label in enumerate(self.run_cells):
            if label >= 0:
                place = number + self.cell_kinds[label]
                factor = gram[run][place, place] * self.multiplicity[run] / self.norms[run]
                sums[label] = sums[label] + factor / len(self.members[label])
        return sums[self.row_cells]

    def expression(self, v: Array, active: NDArray[np.bool_]) -> dict[int, Blocks]:
        """Return for every kind with active clients their vectors, as blocks.

        A vector is v_i = own part + shared part. It must be the same for all active clients of the
        kind, and must not depend on the participation of others.

        Raises
        ------
        Refusal
            If it depends on the participation of other clients or on the owners of features, or
            holds gradients that these were not asked for.
        """
        require_whole(v)
        require_asked(v, active[self.layout.representatives])
        if depends_on_heads(v):
            raise Refusal(_DEPENDS)
        values = self.rows(v)
        values = np.broadcast_to(values, (len(self.row_cells), *values.shape[1:]))
        cells = [label for label, cell in enumerate(self.members) if active[cell[0]]]
        found: dict[int, Blocks] = {}
        for kind in range(len(self.counts)):
            own = [label for label in cells if self.cell_kinds[label] == kind]
            if own:
                found[kind] = self._expression(values, own, kind)
        return found

    def shared(self, v: Array) -> dict[int, Blocks]:
        """Return what the server holds as an expression, of kind -1.

        Raises
        ------
        Refusal
            If it is not the same for all clients.
        """
        first, *others = self.expression(v, self.everyone).values()
        if any(part.any() for part in first[1:]) or any(
            (a != b).any() for other in others for a, b in zip(first, other, strict=True)
        ):
            raise Refusal(
                "the server compresses, or takes the gradient of g at, a vector that clients do "
                "not share; let it be the same for all, such as their mean"
            )
        return {-1: first}

    def _expression(self, values: Matrix, cells: list[int], kind: int) -> Blocks:
        """Return what the clients of some cells of one kind hold: values are (m, basis, R)."""
        of = {label: np.flatnonzero(self.row_cells == label) for label in cells}
        first = values[of[cells[0]][0]]
        runs = {
            label: run
            for run, label in enumerate(self.run_cells)
            if label >= 0 and run not in self.differences.values()
        }
        size = {label: len(cell) for label, cell in enumerate(self.members)}
        # of each kind what one client adds to the shared part
        some = map(self.cell_kinds.index, range(len(self.counts)))
        shared = [first[:, runs[label]] / size[label] for label in some]
        others = [x for x in runs if self.cell_kinds[x] == kind and x != cells[0]]
        large = [label for label in cells if label in self.differences]
        if large:
            top, bottom = of[large[0]][:2]
            own = (values[top] - values[bottom])[:, self.differences[large[0]]] / 2
            shared[kind] = (values[top][:, runs[large[0]]] - own) / size[large[0]]
        else:
            shared[kind] = first[:, runs[others[0]]] / size[others[0]] if others else 0
            own = first[:, runs[cells[0]]] - shared[kind] * size[cells[0]]
        misfits = [values[row][:, 0] - first[:, 0] for label in cells for row in of[label]]
        for row in (row for label in cells for row in of[label]):
            for run, label in enumerate(self.run_cells):
                if label >= 0:
                    mass = 0 if run in self.differences.values() else size[label]
                    fit = own * self.directions[row, run] + shared[self.cell_kinds[label]] * mass
                    misfits.append(values[row][:, run] - fit)
        largest = 0 if self.exact else 1e3 * SAME * np.abs(values).max(initial=0.0)
        if any(np.any(np.abs(misfit) > largest) for misfit in misfits):
            raise Refusal(_DEPENDS)
        parts = [0 * own] * len(self.counts)
        if self.counts[kind] > 1:
            parts[kind] = own
        return (first[:, 0], *parts)


def same_point(a: Blocks, b: Blocks) -> bool:
    """Whether two points are one; rational ones if they are equal."""
    if a[0].dtype == object:
        return all(bool(np.all(x == y)) for x, y in zip(a, b, strict=True))
    one, other = np.concatenate(a), np.concatenate(b)
    size = max(np.abs(one).max(), np.abs(other).max())
    return bool(np.abs(one - other).max() <= SAME * size)
