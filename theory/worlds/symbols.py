"""The world of symbols: a method's own step on unknown vectors.

Arrays are (n, basis, R): the feature axis is a basis of unknown vectors, all of them deviations
from the solution. A step of a linear method maps combinations of unknowns to combinations of
unknowns; a gradient and the noise of a compressor are new unknowns. E[Psi+] then is a quadratic
form of the unknowns, the same for every problem and every dimension.

Clients are exchangeable, so such a form on (R^n) x basis splits into two blocks: the part in which
all clients are equal, and the part in which they sum to 0 (the same form n - 1 times). Neither is
larger than the number of fields, whatever n is. The runs of the last axis are the directions of
R^n that the two blocks are read off: client i holds U[i, r] times the unknown of its field.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array
from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.solvers.state import each
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.orbits import OrbitChannel

Matrix = NDArray[np.float64]
Blocks = tuple[Matrix, Matrix]
"""Vectors (basis,) or matrices (basis, basis) of the two blocks: equal clients, zero sum."""

SAME = 1e-12
"""Relative difference below which two points are one."""


class BasisFullError(Exception):
    """More unknowns are met than there is room for."""


@dataclass
class Basis:
    """The unknown vectors, numbered as they are met; the same name gives the same unknown.

    ``every_client`` tells which of them each client has its own of, ``noise`` which are noises.
    """

    size: int
    names: dict[tuple[Any, ...], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.every_client = np.zeros(self.size, dtype=bool)
        self.noise = np.zeros(self.size, dtype=bool)

    def index(self, *name: Any, every_client: bool, noise: bool = False) -> int:
        """Return the number of an unknown."""
        if name not in self.names:
            if len(self.names) == self.size:
                raise BasisFullError
            number = self.names[name] = len(self.names)
            self.every_client[number], self.noise[number] = every_client, noise
        return self.names[name]


class Frame:
    """Directions of R^n from which the blocks of a form are read off, for a partition in cells.

    Run 0 is the vector of equal entries, and only there shared unknowns are not 0. Then come, for
    every cell, the equal entries on the cell, and one vector of zero sum on the cell that stands
    for as many as are orthogonal.

    Parameters
    ----------
    cells : (n,) int
        The cell of each client, 0, 1, ...
    """

    def __init__(self, cells: NDArray[np.intp]) -> None:
        self.n, self.cells = len(cells), cells
        self.members = [np.flatnonzero(cells == label) for label in range(cells.max() + 1)]
        columns = [np.full(self.n, self.n**-0.5)]
        multiplicity, run_cells = [0.0], [-1]
        for label, cell in enumerate(self.members):
            equal = np.zeros(self.n)
            equal[cell] = len(cell) ** -0.5
            columns.append(equal)
            multiplicity.append(1.0)
            run_cells.append(label)
            if len(cell) > 1:
                different = np.zeros(self.n)
                different[cell[:2]] = np.array([1, -1]) * 0.5**0.5
                columns.append(different)
                multiplicity.append(len(cell) - 1.0)
                run_cells.append(label)
        self.directions = np.stack(columns, axis=1)
        self.multiplicity, self.run_cells = np.array(multiplicity), np.array(run_cells)
        self.runs = len(columns)

    def unknown(self, basis: Basis, number: int) -> Matrix:
        """Return an unknown of every client, (n, basis, R), or a shared one, (1, basis, R)."""
        own = basis.every_client[number]
        vectors = np.zeros((self.n if own else 1, basis.size, self.runs))
        vectors[:, number, :] = self.directions if own else np.eye(1, self.runs)
        return vectors

    def gram(self, v: Array, weights: Matrix | None = None) -> Matrix:
        """Return sum_i weights_i v_i v_i' of every run: (R, basis, basis)."""
        stretched = np.broadcast_to(v, (*v.shape[:2], self.runs)).transpose(2, 1, 0)
        weighted = stretched if weights is None else stretched * weights
        product: Matrix = weighted @ stretched.transpose(0, 2, 1)
        return product

    def blocks(self, gram: Matrix, basis: Basis) -> Blocks:
        """Return the two blocks of a form that is averaged over all renumberings of the clients."""
        equal = gram[0]
        if self.n == 1:
            return equal, np.zeros_like(equal)
        own = np.outer(basis.every_client, basis.every_client)
        trace = np.tensordot(self.multiplicity, gram, axes=1)
        return equal, own * (trace - equal) / (self.n - 1)

    def diagonal(self, gram: Matrix, number: int) -> Matrix:
        """Return the coefficient of |unknown of client i|^2, (n,)."""
        values = self.multiplicity * gram[:, number, number]
        sums = [values[self.run_cells == label].sum() for label in range(len(self.members))]
        sizes = np.array([len(cell) for cell in self.members])
        return (np.array(sums) / sizes)[self.cells]

    def expression(self, v: Array, active: NDArray[np.bool_]) -> Blocks:
        """Return what the active clients hold, a v_i = own part + shared part, as its two blocks.

        Raises
        ------
        Refusal
            If it depends on who takes part otherwise than by the client itself.
        """
        stretched = np.broadcast_to(v, (*v.shape[:2], self.runs))
        shared = stretched.shape[0] == 1
        rows = np.concatenate([cell[:2] for cell in self.members])
        rows = rows[active[rows]]
        values = np.concatenate([stretched[:1] if shared else stretched[[row]] for row in rows])
        own = np.zeros_like(rows) if shared else 1
        coefficients = np.stack(
            [
                self.directions[rows, 1:] * np.reshape(own, (-1, 1)),
                np.tile(self.directions[:, 1:].mean(axis=0), (len(rows), 1)),
            ],
            axis=-1,
        ).reshape(-1, 2)
        found = values[:, :, 1:].transpose(0, 2, 1).reshape(len(coefficients), -1)
        parts = np.linalg.lstsq(coefficients, found, rcond=1e-10)[0]
        size = np.abs(values).max(initial=0.0)
        misfit = np.abs(coefficients @ parts - found).max(initial=0.0)
        misfit = max(misfit, np.abs(values[:, :, 0] - values[0, :, 0]).max())
        if misfit > 1e3 * SAME * size:
            raise Refusal(
                "a gradient is evaluated, or a vector compressed, that depends on which other "
                "clients take part; such a step cannot be certified"
            )
        return self.n**0.5 * values[0, :, 0], parts[0]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A gradient that was asked for: point and gradient in both blocks, and its value's number.

    The function is "f" (of every client) or "g".
    """

    function: str
    point: Blocks
    gradient: int


class SymbolicProblem:
    """Gradients of unknown functions: every new point gives new unknowns.

    The solution is the origin and every gradient is meant as its difference to the one there.
    ``evaluations`` is shared by all outcomes of a step.
    """

    def __init__(self, basis: Basis, frame: Frame, evaluations: list[Evaluation]) -> None:
        self.n, self.d, self.basis = frame.n, basis.size, basis
        self.frame, self.evaluations = frame, evaluations
        self.x_star = np.zeros((1, basis.size, 1))
        self.grad_star = np.zeros((frame.n, basis.size, 1))

    def grad(
        self, x: Array, active: Array | int | None = None, sample: int | str | None = None
    ) -> Matrix:
        """Exact gradients of the f_i; (n, basis, R). Only what the active clients get is meant."""
        rows = np.ones(self.n, dtype=bool)
        if isinstance(active, np.ndarray):
            rows = np.broadcast_to(active, (self.n, 1, 1))[:, 0, 0]
        if not rows.any():
            return np.zeros((self.n, self.d, self.frame.runs))
        return self.frame.unknown(self.basis, self.evaluate("f", x, rows).gradient)

    def grad_g(self, y: Array) -> Matrix:
        """Gradient of g; (1, basis, R)."""
        evaluation = self.evaluate("g", y, np.ones(self.n, dtype=bool))
        return self.frame.unknown(self.basis, evaluation.gradient)

    def of(self, clients: Array) -> NoReturn:
        """Refuse: which clients go on depends on numbers, and symbols have none."""
        raise Refusal(
            "a method whose clients end their local work by themselves cannot be certified; "
            "take a fixed number of local steps"
        )

    def evaluate(self, function: str, x: Array, rows: NDArray[np.bool_]) -> Evaluation:
        """Return the evaluation of a function at the points of some clients."""
        point = self.frame.expression(x, rows)
        if function == "g":
            point = point[0] * self.n**-0.5, 0 * point[1]
        if any(block[self.basis.noise].any() for block in point):
            raise Refusal(
                "a gradient is evaluated at a point that depends on the noise of this very step; "
                "such a step cannot be certified"
            )
        for known in self.evaluations:
            if known.function == function and _same(known.point, point):
                return known
        number = self.basis.index(
            "gradient", function, len(self.evaluations), every_client=function == "f"
        )
        self.evaluations.append(Evaluation(function, point, number))
        return self.evaluations[-1]


def _same(a: Blocks, b: Blocks) -> bool:
    size = max(np.abs(x).max() for x in (*a, *b))
    return all(np.abs(x - y).max() <= SAME * size for x, y in zip(a, b, strict=True))


class SymbolicChannel(OrbitChannel):
    """Messages arrive with a new unknown: noise of mean 0, or the error of a contraction.

    ``noises`` holds for each noise its unknown and the vector that was compressed; ``errors``,
    shared by all outcomes of a step, the same for contractions, the vector as its two blocks, and
    their alpha.
    """

    def __init__(
        self,
        method: Method,
        functions: FunctionClass,
        problem: SymbolicProblem,
        errors: list[tuple[int, Blocks, float]],
        script: Sequence[int] = (),
    ) -> None:
        super().__init__(functions.n, problem.d, script)
        self.method, self.functions, self.problem = method, functions, problem
        self.errors = errors
        self.noises: list[tuple[int, Matrix]] = []

    def uplink(self, v: Array, cohort: Array | None = None) -> Matrix:
        """Return v plus a new unknown per client."""
        if self.method.needs.compressor == "contractive":
            rows = np.ones(self.n, dtype=bool) if cohort is None else np.array(cohort)[:, 0, 0]
            sent = self.problem.frame.expression(v, np.broadcast_to(rows, self.n))
            return self.send(v + self._error(sent, self.functions.alpha or 1.0), cohort)
        if self.functions.omega == 0:
            return self.send(v, cohort)
        basis, frame = self.problem.basis, self.problem.frame
        number = basis.index("noise", len(self.noises), every_client=True, noise=True)
        self.noises.append((number, np.broadcast_to(v, (self.n, *v.shape[1:]))))
        return self.send(v + frame.unknown(basis, number), cohort)

    def downlink(self, v: Array) -> Matrix:
        """Return v plus the error of the server's contraction, a new unknown that all share."""
        if self.functions.alpha_down is None:
            return v
        return v + self._error((v[0, :, 0], 0 * v[0, :, 0]), self.functions.alpha_down, False)

    def _error(self, sent: Blocks, alpha: float, every_client: bool = True) -> Matrix:
        frame, basis = self.problem.frame, self.problem.basis
        if any(block[basis.noise].any() for block in sent):
            raise Refusal(
                "a vector is contracted that depends on the noise of this very step; such a step "
                "cannot be certified: begin it with this message"
            )
        for number, known, _ in self.errors:
            if basis.every_client[number] == every_client and _same(known, sent):
                return frame.unknown(basis, number)
        number = basis.index("error", len(self.errors), every_client=every_client)
        self.errors.append((number, sent, alpha))
        return frame.unknown(basis, number)


def unknown_state(method: Method, problem: SymbolicProblem) -> Any:
    """Return a state of unknowns, one per field; fields of bool stay as they are."""
    star = fixed_point(method, problem)
    numbers = iter(range(1000))

    def unknowns(x: Array) -> Array:
        number = next(numbers)
        if x.dtype == bool:
            return x
        name = problem.basis.index("state", number, every_client=x.shape[0] == problem.n)
        return problem.frame.unknown(problem.basis, name)

    return each(unknowns, star)
