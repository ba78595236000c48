"""From an iteration that was written down to the table of a program."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.backend import total, where
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.natural import multipliers
from certibit.solvers.steps.program import Program
from certibit.solvers.steps.written_steps import WrittenSteps

_ARITHMETIC: dict[Callable[..., Any], str] = {
    np.add: "ADD",
    np.subtract: "SUBTRACT",
    np.multiply: "MULTIPLY",
    np.true_divide: "DIVIDE",
    np.less: "LESS",
    where: "CHOOSE",
}
_ARGUMENTS = 6
_LINE = 8
"""Numbers of a line of the cache: where each array begins is a multiple of this."""


class NoProgramError(Exception):
    """Something that an iteration does has no compiled code."""


class Writer:
    """Writes what an iteration does into the table of a program.

    Parameters
    ----------
    steps : WrittenSteps
        What it does.
    problem : LogisticRegression
        Whose gradients there may be.
    runs : int
        How many runs there are.
    """

    def __init__(self, steps: WrittenSteps, problem: LogisticRegression, runs: int) -> None:
        from certibit.solvers.steps import program_pass  # noqa: PLC0415  (numba is slow)

        self._code, self._steps, self._problem, self._runs = program_pass, steps, problem, runs
        self._size = 0
        self._where: dict[int, int] = {}
        self._known: list[tuple[int, NDArray[np.float64]]] = []
        self._operations: list[tuple[int, ...]] = []

    def program(self, start: Mapping[str, int], end: Mapping[str, int]) -> Program:
        """Return the program, given the places of the state before and after an iteration.

        Raises
        ------
        NoProgramError
            If something has no compiled code.
        """
        for function, inputs, place in self._steps.operations:
            self._operate(function, inputs, place)
        self._move(start, end)
        draws = [
            (part.start * self._runs, math.prod(self._shape(place)), self._at(place))
            for part, place in self._steps.parts
        ]
        places = {name: (self._at(place), self._shape(place)) for name, place in start.items()}
        memory = np.zeros(self._size)
        for at, value in self._known:
            memory[at : at + value.size] = value.reshape(-1)
        return Program(
            np.array(self._operations, dtype=np.int64),
            np.array(draws, dtype=np.int64).reshape(-1, 3),
            self._losses(),
            multipliers(),
            memory,
            {
                name: memory[at : at + math.prod(shape)].reshape(shape)
                for name, (at, shape) in places.items()
            },
            np.zeros(self._runs, dtype=np.int64),
        )

    def _losses(self) -> tuple[Any, ...]:
        """Return what gradients need; one run alone has lanes for more, not to compile again."""
        problem, runs = self._problem, self._runs
        points = np.zeros((1, problem.d, max(runs, 2)))
        lanes, rows, features, (n, m, d, _), *scale = problem.rows.fused.terms(points, 1.0, 0.0)[:6]
        return lanes, rows, features, (n, m, d, runs), *scale, float(problem.ridge_f)

    def _operate(self, function: Callable[..., Any], inputs: tuple[int, ...], place: int) -> None:
        owner = getattr(function, "__self__", None)
        if function in _ARITHMETIC:
            shape = self._shape(place)
            given = (number for x in inputs for number in self._stretched(x, shape))
            self._do(_ARITHMETIC[function], place, *given)
        elif function is total:
            self._do("TOTAL", place, self._at(inputs[0]), self._shape(inputs[0])[0])
        elif isinstance(owner, Compressor):
            self._message(owner, inputs, place)
        elif self._problem in (owner, getattr(owner, "problem", None)):
            self._gradient(inputs, place)
        else:
            raise NoProgramError(f"{function} has no compiled code")

    def _move(self, start: Mapping[str, int], end: Mapping[str, int]) -> None:
        """Let the state after an iteration be the state before the next one."""
        moved = {name: self._at(place) for name, place in end.items() if place != start[name]}
        for name, at in moved.items():
            if end[name] in start.values():  # written over before it would be read
                moved[name] = self._room(end[name])
                self._write("COPY", self._shape(end[name]), moved[name], at)
        for name, at in moved.items():
            self._do("COPY", start[name], at)

    def _message(self, compressor: Compressor, inputs: tuple[int, ...], place: int) -> None:
        x, uniforms = inputs
        kind, clients = vars(type(compressor)).get("operation"), self._shape(x)[0]
        if not kind or self._shape(uniforms)[0] != clients:
            raise NoProgramError(f"messages of {compressor.name} have no compiled code")
        k = getattr(compressor, "k", 1)
        room = self._numbers(3 * clients * k * self._runs)
        self._do(kind, place, self._at(x), 0, self._at(uniforms), 0, k, room)

    def _gradient(self, inputs: tuple[int, ...], place: int) -> None:
        x, *mask = inputs
        n, d, runs = self._shape(x)
        some = (number for of in mask for number in (self._at(of), self._shape(of)[0]))
        self._do("GRADIENT", place, self._at(x), d * runs if n > 1 else 0, *some)

    def _stretched(self, x: int, shape: tuple[int, ...]) -> tuple[int, int]:
        """Return where an array is, as wide as a result, and how far the next client's is."""
        _, width, runs = shape
        if self._steps.values[x] is not None:
            value = np.asarray(self._steps.values[x], dtype=np.float64)
            n = len(value) if value.ndim else 1
            at = self._numbers(n * width * runs)
            self._known.append((at, np.broadcast_to(value, (n, width, runs))))
        else:
            at, (n, own, _) = self._at(x), self._shape(x)
            if own != width:
                narrow, at = at, self._numbers(n * width * runs)
                self._write("STRETCH", (n, width, runs), at, narrow, runs)
        return at, width * runs if n > 1 else 0

    def _do(self, kind: str, place: int, *given: int) -> None:
        self._write(kind, self._shape(place), self._at(place), *given)

    def _write(self, kind: str, shape: tuple[int, ...], at: int, *given: int) -> None:
        rest = (0,) * (_ARGUMENTS - len(given))
        self._operations.append((getattr(self._code, kind), *shape, at, *given, *rest))

    def _shape(self, place: int) -> tuple[int, ...]:
        return self._steps.shapes[place]

    def _at(self, place: int) -> int:
        """Return where an array that is not known is in memory."""
        if len(self._shape(place)) != 3 or self._steps.values[place] is not None:
            raise NoProgramError("only vectors that an iteration makes have a place")
        if place not in self._where:
            self._where[place] = self._room(place)
        return self._where[place]

    def _room(self, place: int) -> int:
        return self._numbers(math.prod(self._shape(place)))

    def _numbers(self, size: int) -> int:
        first, self._size = self._size, self._size + -(-size // _LINE) * _LINE
        return first
