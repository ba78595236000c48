"""A potential as a formula, read off its terms at a state of unknown vectors."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import isclose
from typing import Any

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Gap, Potential, Squares
from certibit.theory.worlds.fixed_points import AboutModel, fixed_point
from certibit.theory.worlds.orbits import cells_of_kinds
from certibit.theory.worlds.symbolic.frames import Basis, Blocks, Frame
from certibit.theory.worlds.symbolic.symbols import SymbolicProblem, unknown_state

_UNKNOWNS, _ROUNDING = 64, 1e-13
"""Room for vectors; and the size, relative to its parts, of a difference that is not written."""


def potential_text(
    potential: Potential, weights: tuple[Any, ...], method: Method, functions: FunctionClass
) -> str | None:
    """Return "Psi = ..." in the fields of a state, with coefficients of four digits.

    Fields and gradients stand for their differences from those at the solution or, where there is
    none, at rest about the model. None if clients are of several classes, or if Psi asks for what
    a state of unknown vectors does not have.
    """
    if functions.classes:
        return None
    frame = Frame(cells_of_kinds([functions.n]), [functions.n])
    problem = SymbolicProblem(Basis(_UNKNOWNS), frame, [], solution=functions.has_solution)
    try:
        s = unknown_state(fixed_point(method, problem), problem)
        about = problem if functions.has_solution else AboutModel(problem, method.model(s))
        terms = potential.lyapunov(method, s, fixed_point(method, about), functions, problem)
        words = _Words(problem, [one.name for one in fields(s)])
        parts = [words.term(one, w) for one, w in zip(terms, weights, strict=True) if w]
    except Refusal:
        return None
    return f"Psi = {' + '.join(parts)}"


@dataclass(frozen=True)
class _Words:
    """Words for the vectors of a symbolic problem."""

    problem: SymbolicProblem
    fields: list[str]

    def term(self, term: Squares | Gap, weight: Any) -> str:
        """Return a term with its weight."""
        v = term.point if isinstance(term, Gap) else term.vectors
        frame = self.problem.frame
        vector = self.vector(frame.expression(v, frame.everyone)[0])
        square = f"(f({vector}) - f*)" if isinstance(term, Gap) else f"|{vector}|^2"
        return _times(float(weight), f"{'sum_i ' * (v.shape[0] > 1)}{square}")

    def vector(self, blocks: Blocks) -> str:
        """Return a combination of unknown vectors."""
        parts = [_times(a, name) for a, name in self._parts(*blocks) if a]
        return " + ".join(parts).replace("+ -", "- ") or "0"

    def _parts(self, equal: Any, own: Any) -> Iterator[tuple[float, str]]:
        """Yield coefficients and names: of the client's own vectors, and of their means."""
        evaluations, basis = self.problem.evaluations, self.problem.basis
        for (kind, *more), place in basis.names.items():
            if not (equal[place] or own[place]):
                continue
            if kind == "state":
                name, argument = self.fields[more[0]].removesuffix("_i"), ""
                average = f"mean {name}_i"
            else:
                at = next(one.point for one in evaluations if one.unknown == place)
                name, argument = "grad f", f"({self.vector(at)})"
                average = f"grad f{argument}"
            if self.problem.n > 1 and basis.every_client[place]:
                yield own[place], f"{name}_i{argument}"
                if not isclose(equal[place], own[place], rel_tol=_ROUNDING):
                    yield equal[place] - own[place], average
            else:
                yield equal[place], f"{name}{argument}"


def _times(number: float, word: str) -> str:
    return word if number == 1 else f"-{word}" if number == -1 else f"{number:.4g} {word}"
