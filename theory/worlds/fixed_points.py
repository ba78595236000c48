"""The fixed point of a method: the one that it states, or else a computed one.

At the fixed point every field is a linear combination of x*, of the gradients of the f_i at x* and
of their mean, with coefficients that are the same for all functions. The coefficients are solved
for in the generic world, from the method's own step, and are tested on other functions.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.libraries import like
from certibit.solvers.method import Method, Solution
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import batch, each, narrow
from certibit.theory.worlds.generic import (
    FEATURES,
    ROUNDING,
    GenericChannel,
    GenericFunctions,
    Parts,
    Subject,
    generic_functions,
    generic_states,
    of_many,
    rounded,
)
from certibit.theory.worlds.invariants import invariants

Matrix = NDArray[np.float64]

OUTCOMES = 16
"""Outcomes of a step that the fixed point is solved from."""

SHIFT, CORRECTIONS = 1e-3, 12
"""How far unknowns are moved to see what depends on them, and how often they are corrected."""

ZERO, KEPT = 1e-9, 1e-8
"""Coefficients that count as 0, and changes that count as rounding, for fields of size 1."""


@dataclass(frozen=True)
class Combination:
    """A field at rest, a x* + b grad f_i(x*) + c mean_i grad f_i(x*).

    Attributes
    ----------
    every_client : bool
        Whether each client has its own; if not, b is not used.
    a, b, c : float
        The coefficients, or arrays (1, 1, R).
    """

    every_client: bool
    a: Any = 0.0
    b: Any = 0.0
    c: Any = 0.0

    def of(self, x_star: Array, grad_star: Array) -> Array:
        """Return the field; (n, d, R) or (1, d, R)."""
        shared = self.a * x_star + self.c * mean(grad_star)
        return shared + self.b * grad_star if self.every_client else shared

    def simplified(self) -> "Combination":
        """Return it with exact coefficients where they are simple fractions."""
        return replace(self, a=rounded(self.a), b=rounded(self.b), c=rounded(self.c))


@dataclass(frozen=True)
class _Flag:
    """A field of bool, which stays as it was at the start; (n, 1, 1) or (n, d, 1)."""

    values: NDArray[np.bool_]

    def of(self, x_star: Array, grad_star: Array) -> Array:
        """Return the field."""
        wide = self.values.shape[1] > 1 and isinstance(x_star.shape[1], int)  # no mask of symbols
        return like(x_star, np.repeat(self.values[:, :1], x_star.shape[1] if wide else 1, axis=1))


@dataclass(frozen=True)
class Rest:
    """A state at rest: a state of the generic world, and what is in the place of its fields."""

    template: Any
    fields: dict[str, Combination | _Flag]

    def of(self, x_star: Array, grad_star: Array) -> Any:
        """Return the state at the solution of a problem."""
        filled = {name: field.of(x_star, grad_star) for name, field in self.fields.items()}
        return replace(self.template, **filled)


@dataclass(frozen=True)
class AboutModel:
    """A problem without a solution: what a state is compared with is the model as if at rest.

    A gradient estimate is then compared with the gradient at the model.
    """

    problem: Any
    x_star: Array

    @property
    def grad_star(self) -> Array:
        """The gradients of the f_i at the model."""
        return self.problem.grad(self.x_star)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.problem, name)


def at_rest(measure: str, method: Method, state: Any, problem: Any) -> Any:
    """Return what Psi of a promise about a measure compares a state with: a state at rest.

    It is that about the model where the measure is "squared_gradient", else at the solution.
    """
    about = AboutModel(problem, method.model(state)) if measure == "squared_gradient" else problem
    return fixed_point(method, about)


def fixed_point(method: Method, problem: Solution) -> Any:
    """Return the state at the solution, which every outcome of a step leaves unchanged.

    It is the state that the method states, or else the computed one.

    Raises
    ------
    Refusal
        If it states none and none can be computed.
    """
    stated = method.fixed_point(problem)
    if stated is not None:
        return stated
    xp, n = array_namespace(problem.x_star), int(problem.n)
    single = (narrow(method, np.array([run])) for run in range(batch(method)))
    states = [found_rest(one, n).of(problem.x_star, problem.grad_star) for one in single]
    return states[0] if len(states) == 1 else each(lambda *x: xp.concat(x, axis=2), *states)


def found_rest(method: Method, n: int) -> Rest:
    """Return the state at rest of a method on n clients that is computed."""
    return of_many(resting_state, _parts, method, n)


def _parts(rest: Rest) -> Parts | None:
    """Return which fields there are, and their coefficients; None where one is of bool."""
    every = [
        (name, x.every_client) for name, x in rest.fields.items() if isinstance(x, Combination)
    ]
    if len(every) < len(rest.fields):
        return None
    return every, [getattr(x, letter) for x in rest.fields.values() for letter in "abc"]


@lru_cache(maxsize=256)
@np.errstate(all="ignore")
def resting_state(subject: Subject) -> Rest:
    """Find the state in which a method on n clients rests; it is tried on other functions.

    Raises
    ------
    Refusal
        If the best one is not kept.
    """
    method = subject.method
    functions, other = (
        generic_functions(subject, d, seed) for seed, d in enumerate((FEATURES, FEATURES + 1))
    )
    seen = list(generic_states(method, functions, 0, np.ones((1, FEATURES, 1))))
    sizes = {
        name: float(np.max([np.max(np.abs(getattr(s, name))) for s in seen])) or 1.0
        for name, x in vars(seen[0]).items()
        if x.dtype != bool
    }
    flags = {name: _Flag(x) for name, x in vars(seen[0]).items() if x.dtype == bool}
    start = Rest(seen[0], {**flags})
    rest = _solved(method, replace(functions, curve=np.positive), start, sizes)
    name, change = _largest_change(method, other, rest, sizes)
    if not change <= KEPT:
        raise Refusal(
            f"no state was found that every outcome of a step of {method.name} keeps: with every "
            "field a combination of x*, the gradients at x* and their mean, and x* the model, "
            f"{name} still changes by {change:.1g} of its size; state fixed_point if there is one"
        )
    return rest


def _solved(
    method: Method, functions: GenericFunctions, start: Rest, sizes: dict[str, float]
) -> Rest:
    """Return the state at rest for affine gradients, by Newton's method on its coefficients.

    ``start`` has the flags. A method that is not affine itself, such as one that ends local work
    by a criterion, takes more than one correction.
    """
    x_star, grad_star, n = functions.x_star, functions.grad_star, functions.n
    lengths = {"a": float(np.max(np.abs(x_star))), "b": functions.scale, "c": functions.scale}
    every_client = {name: 1 < n == getattr(start.template, name).shape[0] for name in sizes}
    letters = {name: "a" + "b" * every_client[name] for name in sizes}
    if method.needs.composite:
        letters = {name: some + "c" for name, some in letters.items()}
    unknowns = [(name, letter) for name, some in letters.items() for letter in some]

    def combined(values: Any) -> dict[str, Combination]:
        """Return the fields with given unknowns, each relative to the size of its field."""
        fields = {name: Combination(every_client[name]) for name in sizes}
        for (name, letter), value in zip(unknowns, values, strict=True):
            coefficient = value * sizes[name] / lengths[letter]
            fields[name] = replace(fields[name], **{letter: coefficient})
        return fields

    def residual(values: Matrix) -> Matrix:
        runs = values.shape[1]
        fields = combined(values[:, None, None, :])
        s = Rest(start.template, {**start.fields, **fields}).of(x_star, grad_star)
        parts = [method.model(s) - x_star, *map(_scaled, invariants(method, s, functions))]
        for seed in range(OUTCOMES):
            channel = GenericChannel.of(method, functions, seed)
            after = theorem_step(method, s, functions, channel, number=seed)
            parts += [
                (getattr(after, name) - getattr(s, name)) / size for name, size in sizes.items()
            ]
        return np.concatenate([part.reshape(-1, runs) for part in parts])

    values = np.zeros((len(unknowns), 1))
    for _ in range(CORRECTIONS):
        errors = residual(values + SHIFT * np.eye(len(unknowns), 1 + len(unknowns), 1))
        slopes = (errors[:, 1:] - errors[:, :1]) / SHIFT
        if not np.isfinite(slopes).all():
            break
        correction = np.linalg.lstsq(slopes, -errors[:, :1], rcond=ZERO)[0]
        values += correction
        if np.max(np.abs(correction)) <= ROUNDING:
            break
    found = combined([value if abs(value) > ZERO else 0.0 for value in values[:, 0].tolist()])
    exact = {name: field.simplified() for name, field in found.items()}
    return Rest(start.template, {**start.fields, **exact})


def _scaled(part: Array) -> Array:
    """Divide by how much a shift changes what is in the first run."""
    slope = float(np.max(np.abs(part - part[:, :, :1]))) / SHIFT
    return part / slope if slope > 0 else part


def _largest_change(
    method: Method, functions: GenericFunctions, rest: Rest, sizes: dict[str, float]
) -> tuple[str, float]:
    """Return the field that changes most in a few steps from a state, relative to its size."""
    star = rest.of(functions.x_star, functions.grad_star)
    changes = {"the model": float(np.max(np.abs(method.model(star) - functions.x_star)))}
    for s in generic_states(method, functions, 0, functions.x_star, star):
        for name, size in sizes.items():
            change = np.max(np.abs(getattr(s, name) - getattr(star, name))) / size
            changes[name] = float(np.maximum(changes.get(name, 0.0), change))
    return max(changes.items(), key=lambda pair: np.nan_to_num(pair[1], nan=np.inf))
