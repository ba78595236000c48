"""The invariants of a method: those that it states, or else computed ones.

An invariant is a linear relation between the fields of the state and the gradients at them which
``start`` establishes and every outcome of every step preserves, for all functions and compressors.
The method is run in the generic world; the invariants are the null space of the visited states.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean, where
from certibit.solvers.method import Functions, Method
from certibit.solvers.state import batch, number_of_runs
from certibit.theory.worlds.generic import (
    FEATURES,
    GenericFunctions,
    Parts,
    Subject,
    generic_functions,
    generic_states,
    of_many,
    rounded,
)
from certibit.theory.worlds.opaque.letters import noted

Matrix = NDArray[np.float64]
Flags = tuple[tuple[str, bool], ...]
"""Fields of bool, each with one of the two values."""
Sample = tuple[Any, GenericFunctions]
"""A state that was met, and the functions it was met on."""

RUNS = 2

NEAR = 1e-3
"""Fields up to this size are no points to evaluate gradients at."""

ZERO, SMALL = 1e-9, 1e-7
"""Relative size that counts as 0: a singular value; a coefficient and a trial value."""


@dataclass(frozen=True)
class _Quantity:
    """A field of the state or the gradients at it, of every client or averaged over the clients."""

    name: str
    gradient: bool = False
    averaged: bool = False

    def of(self, s: Any, problem: Functions) -> Array:
        """Return it at a state; (n, d, R) or (1, d, R)."""
        x = getattr(s, self.name)
        x = problem.grad(x) if self.gradient else x
        return mean(x) if self.averaged else x


@dataclass(frozen=True)
class _Relation:
    """A sum of multiples of quantities that is 0, where the flags are as given."""

    terms: tuple[tuple[float, _Quantity], ...]
    flags: Flags = ()

    def of(self, s: Any, problem: Functions) -> Array:
        """Return what is 0; (n, d, R) or (1, d, R)."""
        total: Any = sum(multiple * quantity.of(s, problem) for multiple, quantity in self.terms)
        for name, raised in self.flags:
            flag = getattr(s, name)
            total = where(flag if raised else ~flag, total, 0 * total)
        return total


class _ExactGradients:
    """Functions of which an invariant may ask for the gradients of all clients, without noise."""

    def __init__(self, inner: Any, name: str) -> None:
        self.inner, self.method_name = inner, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @noted
    def grad(self, x: Array, *more: Any, **options: Any) -> Array:
        """Gradients of the f_i; (n, d, R)."""
        if more or options:
            raise Refusal(
                f"an invariant of {self.method_name} asks for gradients of some clients or of a "
                "sample; state it of the gradients of all clients, without noise"
            )
        gradients: Array = self.inner.grad(x)
        return gradients


def invariants(method: Method, state: Any, problem: Functions) -> tuple[Array, ...]:
    """Return the invariants at a state: vectors that are 0 before and after every step.

    They are the invariants that the method states, or else the computed ones. A step is an
    iteration, or a whole round of K local steps.

    Raises
    ------
    Refusal
        If one that is stated asks for gradients of some clients, or of a sample.
    """
    exact: Any = _ExactGradients(problem, method.name)
    stated = method.invariants(state, exact)
    if stated is not None:
        return stated
    found = of_many(relations, _parts, method, int(problem.n))
    return tuple(relation.of(state, problem) for relation in found)


def _parts(found: tuple[_Relation, ...]) -> Parts:
    """Return the structure of relations, and their multiples."""
    structure = [(one.flags, [quantity for _, quantity in one.terms]) for one in found]
    return structure, [multiple for one in found for multiple, _ in one.terms]


@lru_cache(maxsize=256)
@np.errstate(all="ignore")
def relations(subject: Subject) -> tuple[_Relation, ...]:
    """Find the relations that a method keeps on n clients; they are tried on other functions."""
    seen, other = (_samples(subject, d, seed) for seed, d in enumerate((FEATURES, FEATURES + 1)))
    own, common = _quantities(seen, subject.n)
    quantities = (*own, *common)
    size = np.max(
        [np.abs(_values(sample, quantities)).max(axis=(1, 2, 3)) for sample in seen], axis=0
    )
    size[len(own) : 2 * len(own)] = size[: len(own)]
    size[size == 0] = 1.0
    everywhere = _null_space(seen, quantities, size)
    of_clients = [row for row in everywhere if row[: len(own)].any()]
    implied = [_average(row, len(own)) for row in of_clients]
    of_all = _independent(everywhere[len(of_clients) :], implied)
    found: list[tuple[Matrix, Flags]] = [(row, ()) for row in (*of_clients, *of_all)]
    names = [name for name, x in vars(seen[0][0]).items() if x.dtype == bool]
    for raised in product([True, False], repeat=len(names)) if names else ():
        flags = tuple(zip(names, raised, strict=True))
        rows = _independent(_null_space(seen, quantities, size, flags), everywhere)
        found += [(row, flags) for row in rows]
    candidates = (_Relation(_terms(row / size, quantities), flags) for row, flags in found)
    return tuple(one for one in candidates if all(_holds(one, *sample) for sample in other))


def _samples(subject: Subject, d: int, seed: int) -> list[Sample]:
    """Return the states along a run, as long as they are finite."""
    method = subject.method
    functions = generic_functions(subject, d, seed)
    runs = RUNS if batch(method) == 1 else batch(method)
    x = np.random.default_rng(seed).standard_normal((1, d, runs))
    states = generic_states(method, functions, seed, x)
    finite = takewhile(lambda s: all(np.isfinite(x).all() for x in vars(s).values()), states)
    return [(s, functions) for s in finite]


def _quantities(seen: list[Sample], n: int) -> tuple[tuple[_Quantity, ...], tuple[_Quantity, ...]]:
    """Return what each client has of its own, and what all share: averages of the former first.

    Functions are those at different points. Very near 0 they are affine, and no field is a point:
    points are of size 1.
    """
    vectors = {name: x for name, x in vars(seen[0][0]).items() if x.dtype != bool}
    points: list[str] = []
    for name in vectors:
        far = max(float(np.max(np.abs(getattr(s, name)))) for s, _ in seen) > NEAR
        if far and not any(_equal(seen, name, other) for other in points):
            points.append(name)
    gradients = [_Quantity(name, gradient=True) for name in points]
    if n == 1:
        return (), (*map(_Quantity, vectors), *gradients)
    own = (*(_Quantity(name) for name, x in vectors.items() if x.shape[0] == n), *gradients)
    shared = (_Quantity(name) for name, x in vectors.items() if x.shape[0] != n)
    return own, (*(replace(one, averaged=True) for one in own), *shared)


def _equal(seen: list[Sample], name: str, other: str) -> bool:
    pairs = ((getattr(s, name), getattr(s, other)) for s, _ in seen)
    return all(np.max(np.abs(x - y)) <= ZERO * np.max(np.abs(x)) for x, y in pairs)


def _values(sample: Sample, quantities: tuple[_Quantity, ...]) -> Matrix:
    """Return the values of quantities on all clients, (quantities, n, d, R)."""
    s, functions = sample
    shape = (functions.n, functions.d, number_of_runs(s))
    return np.stack([np.broadcast_to(one.of(s, functions), shape) for one in quantities])


def _null_space(
    seen: list[Sample], quantities: tuple[_Quantity, ...], size: Matrix, flags: Flags = ()
) -> list[Matrix]:
    """Return the combinations of quantities, divided by their sizes, that are 0 where flags say so.

    Each is solved for the first quantity that it has. There are none if too little was seen.
    """
    factors, count = [], 0
    for sample in seen:
        values = _values(sample, quantities)
        here = np.ones(values.shape[1:], dtype=bool)
        for name, raised in flags:
            here &= getattr(sample[0], name) == raised
        count += int(np.count_nonzero(here))
        factors.append(np.linalg.qr((values[:, here] / size[:, None]).T, mode="r"))
    if count < 3 * len(quantities):
        return []
    _, sizes, vectors = np.linalg.svd(np.concatenate(factors), full_matrices=False)
    left = vectors[sizes <= ZERO * sizes[0]]
    solved: list[Matrix] = []
    for place in range(len(quantities)):
        if not len(left):
            break
        pivot = int(np.argmax(np.abs(left[:, place])))
        if abs(left[pivot, place]) < SMALL:
            continue
        row = left[pivot] / left[pivot, place]
        left = np.delete(left, pivot, axis=0)
        left -= np.outer(left[:, place], row)
        solved = [*(other - other[place] * row for other in solved), row]
    return [np.where(np.abs(row) < SMALL, 0.0, row) for row in solved]


def _average(row: Matrix, own: int) -> Matrix:
    """Return what a relation of every client says about the averages."""
    average = row.copy()
    average[own : 2 * own] += row[:own]
    average[:own] = 0.0
    return average


def _independent(rows: list[Matrix], known: list[Matrix]) -> list[Matrix]:
    """Return the rows that do not follow from known ones and those before."""
    chosen: list[Matrix] = []
    for row in rows:
        basis = np.array([0 * row, *known, *chosen])
        rest = row - row @ np.linalg.pinv(basis) @ basis
        if np.max(np.abs(rest)) > SMALL:
            chosen.append(row)
    return chosen


def _terms(row: Matrix, quantities: tuple[_Quantity, ...]) -> tuple[tuple[float, _Quantity], ...]:
    """Return the multiples of quantities, the largest being 1; simple fractions are exact."""
    pairs = [(rounded(x / row[row != 0][0]), one) for x, one in zip(row, quantities, strict=True)]
    largest = max((multiple for multiple, _ in pairs), key=abs)
    return tuple((multiple / largest, one) for multiple, one in pairs if multiple)


def _holds(relation: _Relation, s: Any, functions: GenericFunctions) -> bool:
    """Say whether a relation holds, relative to what each of its terms is on single clients."""
    parts = (x * replace(one, averaged=False).of(s, functions) for x, one in relation.terms)
    size = sum(float(np.max(np.abs(part))) for part in parts)
    return bool(np.max(np.abs(relation.of(s, functions))) <= SMALL * size)
