"""A law: the best step size and rate of a method in closed form, with a proof at every point."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.symbolic_step import symbolic_step


@dataclass(frozen=True)
class ClosedForm:
    """The best step size and decrease of a method, for all constants of a class.

    Attributes
    ----------
    name : str
        Of the method.
    step, decrease : str
        Both as formulas, mu = 1.
    points : tuple of tuples
        Rational points at which everything in the formulas is rational.
    proof : callable
        Makes of a point the proof that the formulas give, without any solver.

    Examples
    --------
    >>> from certibit.theory.laws.feedback_laws import EF_LAW
    >>> EF_LAW.witness([(3, *EF_LAW.points[0][1:])]) is None
    True
    """

    name: str
    step: str
    decrease: str
    points: tuple[tuple[Any, ...], ...]
    proof: Callable[..., Certificate]

    def witness(self, points: Iterable[tuple[Any, ...]] | None = None) -> tuple[Any, ...] | None:
        """Return the first point at which the proof fails; None where it holds at all of them.

        Everything is computed in rational numbers, without a tolerance.
        """
        for point in self.points if points is None else points:
            if self.proof(*point).verify() == float("inf"):
                return point
        return None


def with_multipliers(
    proof: Certificate, pairs: Sequence[Fraction], contractions: Sequence[Fraction] = ()
) -> Certificate:
    """Return a proof that uses the inequalities between two points, in both directions, alike.

    The points are the last two at which gradients are evaluated, or the only one and the solution.
    There is one number for each class of functions, that of g being the last, and one in
    ``contractions`` for the compressors of each class of clients.
    """
    step = symbolic_step(proof.method, proof.functions, proof.potential, exact=True)
    multipliers: dict[str, Fraction] = {}
    kinds = dict.fromkeys(e.kind for e in step.evaluations)
    for kind, value in zip(kinds, pairs, strict=True):
        own = [(place, e.function) for place, e in enumerate(step.evaluations) if e.kind == kind]
        a, b = ("solution", *(f"point {place}" for place, _ in own))[-2:]
        multipliers |= {f"{own[0][1]}: {start} to {end}": value for start, end in ((a, b), (b, a))}
    names = [name for name in step.inequalities if name.startswith("contraction")]
    multipliers |= dict(zip(names, contractions, strict=True))
    return replace(proof, multipliers=multipliers)
