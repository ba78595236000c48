"""Methods without what they state about themselves, so that it must be found."""

from functools import cache

import numpy as np

from certibit import Method, Quadratic
from certibit.theory.worlds.generic import Subject
from certibit.theory.worlds.invariants import relations


def quadratic(n: int, d: int, seed: int = 5) -> Quadratic:
    return Quadratic.random(n, d, mu=1.0, L=np.linspace(10.0, 30.0, n), seed=seed)


@cache
def silent(kind: type[Method]) -> type[Method]:
    names = ("fixed_point", "invariants")
    return type("Silent" + kind.__name__, (kind,), {name: getattr(Method, name) for name in names})


def unstated(method: Method) -> Method:
    """Return the same method, without what it states about itself."""
    return silent(type(method))(**vars(method))


def formulas(method: Method, n: int) -> set[str]:
    """Return the relations that are found, in words."""
    return {
        " ".join(
            f"{multiple:+.6g}{' mean' * one.averaged}{' grad' * one.gradient} {one.name}"
            for multiple, one in relation.terms
        )
        for relation in relations(Subject.of(method, n))
    }
