"""The exact worst case over all states on a quadratic problem, with every outcome enumerated.

On quadratics, and with a compressor whose every outcome is linear (rand-k), each outcome of an
iteration is a linear map of the deviation from the solution. Running the method once on all unit
deviations, as the runs of one batch, gives that map; E[Psi+] and Psi become matrices, and the
largest generalised eigenvalue is the worst factor over all states. No sampling.
"""

from collections.abc import Sequence
from dataclasses import fields
from itertools import combinations, product
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import Scaled, downward, upward
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each, number_of_runs
from certibit.theory.potential import Gap, Potential, Squares, Terms
from certibit.theory.setting import Setting
from certibit.theory.worlds.fixed_points import at_rest, fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.outcomes import Scripted, outcomes
from certibit.theory.worlds.units import in_units

Floats = NDArray[np.float64]

ZERO = 1e-10
"""Relative size below which a singular value is taken for 0."""

APART = 10.0
"""How many times smaller or larger than that none may be."""


def above_zero(sizes: Floats, zero: float = ZERO) -> NDArray[np.bool_]:
    """Return which singular values or eigenvalues are not 0, relative to the largest.

    Raises
    ------
    Refusal
        If one of them is neither clearly 0 nor clearly not.

    Examples
    --------
    >>> import numpy as np
    >>> above_zero(np.array([2.0, 1e-3, 3e-17])).tolist()
    [True, True, False]
    """
    parts = np.abs(sizes) / (np.abs(sizes).max(initial=0.0) or 1.0)
    undecided = parts[(parts > zero / APART) & (parts < zero * APART)]
    if undecided.size:
        raise Refusal(
            f"floats do not decide whether {undecided[0]:.1e} of the largest part of a state is 0; "
            "take parameters whose sizes are less far apart"
        )
    return parts > zero


def null_space(rows: Floats) -> Floats:
    """Return an orthonormal basis, (N, k), of the vectors that are orthogonal to rows, (m, N).

    Raises
    ------
    Refusal
        As :func:`above_zero`.
    """
    _, sizes, vectors = np.linalg.svd(rows)
    kernel: Floats = vectors[int(np.sum(above_zero(sizes))) :].T
    return kernel


Matrix = NDArray[np.float64]

SOLVED = 1e-14
"""Relative size below which what is left at the solution is rounding."""

DOUBLINGS = 36
"""The long run has 2^36 steps: what then is left of a decrease by 1e-9 a step is e^-68."""

LINEAR = 1e-6
"""Difference of two maps that counts as rounding, relative to the largest number."""

SEEN = 1e-13
"""Relative size below which a direction is not seen by a potential."""


class LinearChannel(Scripted):
    """A scripted channel that also enumerates the subsets of rand-k on every client."""

    def __init__(self, n: int, d: int, compressor: Compressor, script: Sequence[int] = ()) -> None:
        super().__init__(n, d, script)
        self.maps = linear_outcomes(upward(compressor), d)
        self.maps_down = linear_outcomes(downward(compressor), d)
        self.shared = compressor.shared

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i), for one outcome of all C_i."""
        draws = 1 if self.shared else self.n
        probability = 1 / len(self.maps) ** draws
        choices = product(self.maps, repeat=draws)
        diagonal = self.choose([(probability, choice) for choice in choices])
        return self.send(v * np.array(diagonal)[:, :, None], cohort)

    def downlink(self, v: Array) -> Array:
        """Send C(v) from the server, for one outcome of C."""
        probability = 1 / len(self.maps_down)
        diagonal = self.choose([(probability, diagonal) for diagonal in self.maps_down])
        return v * diagonal[None, :, None]


def linear_outcomes(compressor: Compressor, d: int) -> list[Matrix]:
    """Return the equally likely diagonal matrices that a compressor multiplies by, each (d,).

    Raises
    ------
    Refusal
        If its outcomes are not linear in the vector.
    """
    if isinstance(compressor, Identity):
        return [np.ones(d)]
    if isinstance(compressor, Scaled):
        scale = 1 / (1 + compressor.inner.omega(d))
        return [scale * diagonal for diagonal in linear_outcomes(compressor.inner, d)]
    if isinstance(compressor, RandK):
        rows = np.eye(d)
        subsets = combinations(range(d), compressor.k)
        return [d / compressor.k * rows[list(subset)].sum(axis=0) for subset in subsets]
    raise Refusal(
        f"the outcomes of {compressor.name} are not linear; use rand-k, scaled(rand-k) or identity"
    )


def worst_case(
    experiment: ConvexExperiment, potential: Potential, c: float = 0.0, measure: str = "gap"
) -> float:
    """Return the largest (E[Psi+] + c M)/Psi over all states on a quadratic problem.

    M is f - f* or |grad f|^2 ("squared_gradient") of the model before the step; for the latter Psi
    compares a state with that at rest about its model. States violate no invariant of the method; a
    method that leaves the solution has the factor infinity. Cost: (outcomes of one step) times
    (size of the state)^2, so n and d must be small.

    Raises
    ------
    Refusal
        If the compressor is not linear, or no fixed point is found.
    """
    method, view, setting = experiment.method, experiment.problem, Setting.at(experiment)
    star, units, batch, oracle = _deviated(experiment)
    hessian = view.hessian(view.x_star)

    def matrix(s: Any) -> Matrix:
        rest = star if measure == "gap" else at_rest(measure, method, s, view)
        terms = potential.lyapunov(method, s, rest, setting, view)
        return lyapunov_matrix(terms, hessian, view.x_star)

    def step(channel: LinearChannel) -> Matrix:
        return matrix(theorem_step(method, batch, oracle, channel))

    compressor = experiment.compressor
    pairs = outcomes(step, lambda script: LinearChannel(view.n, view.d, compressor, script))
    after: Matrix = sum((probability * form for probability, form in pairs), start=np.zeros((1, 1)))
    # the last run starts at the solution
    model = method.model(units)
    term = Gap(c, model) if measure == "gap" else Squares(c, mean(view.grad(model)))
    measured = lyapunov_matrix((term,), hessian, view.x_star)
    forms = matrix(units), after[:-1, :-1] + measured, after[-1, -1]
    return largest_factor(method, view, setting.L, star, *forms)[0]


def _deviated(experiment: ConvexExperiment, size: float = 1.0) -> tuple[Any, Any, Any, Oracle]:
    """Return the solution, its unit deviations, these and the solution as runs, and an oracle.

    The runs deviate by so many units.
    """
    star = fixed_point(experiment.method, experiment.problem)
    units = unit_deviations(star)
    batch = each(lambda x, at: np.concat([_moved(x, at, size), at], axis=2), units, star)
    runs = number_of_runs(batch)
    return star, units, batch, Oracle(experiment.problem, np.arange(runs), Ledger(runs))


def _flat(s: Any) -> Matrix:
    """Return the numbers of a state without its bools, (N, R)."""
    arrays = (getattr(s, field.name) for field in fields(s))
    return np.concatenate([x.reshape(-1, x.shape[2]) for x in arrays if x.dtype != bool])


def _moved(x: Array, star: Array, size: float) -> Array:
    return x if size == 1 or x.dtype == bool else star + size * (x - star)


def _maps(
    experiment: ConvexExperiment, size: float = 1.0
) -> tuple[Any, Any, list[tuple[float, Matrix]]]:
    """Return the solution, its unit deviations, and what each outcome makes of a deviation and 1.

    These are pairs of a probability and a matrix, (N + 1, N + 1); of so many units, divided by
    their number.
    """
    method, view, compressor = experiment.method, experiment.problem, experiment.compressor
    star, units, batch, oracle = _deviated(experiment, size)

    def step(channel: LinearChannel) -> Matrix:
        after = _flat(theorem_step(method, batch, oracle, channel)) - _flat(star)
        after[:, :-1] = (after[:, :-1] - after[:, -1:]) / size  # the last starts at the solution
        return np.concatenate([after, np.eye(1, after.shape[1], after.shape[1] - 1)])

    made = outcomes(step, lambda script: LinearChannel(view.n, view.d, compressor, script))
    return star, units, list(made)


def left_in_the_long_run(experiment: ConvexExperiment) -> float:
    """Return which part of a move of the model is left after 2^36 steps, in the mean.

    It is |J A^T|/|J| for T = 2^36, the mean map A of deviations from the solution that violate no
    invariant, and the map J from these to the model, in natural sizes. It is 0 unless a state that
    stays, or runs away, shows in the model, and infinite where it overflows: no rank is decided.

    Raises
    ------
    Refusal
        If the compressor is not linear, no fixed point is found, or a step is not linear.
    """
    method, view = experiment.method, experiment.problem
    star, units, maps = _maps(experiment)
    mean_map, halved = (
        sum(p * one[:-1, :-1] for p, one in found) for found in (maps, _maps(experiment, 0.5)[2])
    )
    if not np.allclose(mean_map, halved, rtol=0.0, atol=LINEAR * np.abs(mean_map).max()):
        raise Refusal(f"a step of {method.name} is not linear on quadratics")
    scale = natural_sizes(method, view.n, Setting.at(experiment).L, star)
    kept = tuple(x * scale for x in invariants(method, units, view))
    basis = valid_deviations(kept, len(scale))
    inside = basis.T @ (mean_map * scale / scale[:, None]) @ basis
    model = (method.model(units) - view.x_star)[0] * scale @ basis
    left = model @ np.linalg.matrix_power(inside, 2**DOUBLINGS)
    size = float(np.linalg.norm(left) / np.linalg.norm(model))
    return size if np.isfinite(size) else float("inf")


def largest_factor(
    method: Method, view: Any, L: float, star: Any, now: Matrix, after: Matrix, left: float
) -> tuple[float, Matrix]:
    """Return the largest ratio of two forms of unit deviations, and the deviation where it is.

    Deviations violate no invariant. The ratio is infinite where the second form sees what the first
    does not, and where it is ``left`` positive at the solution; there the deviation is 0.
    """
    units, scale = unit_deviations(star), natural_sizes(method, view.n, L, star)
    if left > SOLVED * (scale**2 @ np.diag(now)):
        return float("inf"), 0 * scale
    kept = tuple(x * scale for x in invariants(method, units, view))
    allowed = scale[:, None] * valid_deviations(kept, len(now))
    now, after = (allowed.T @ form @ allowed for form in (now, after))
    # A state that Psi does not see must not be seen by E[Psi+] either; it gives the factor 0.
    seen = seen_by(now)
    values, vectors = scipy.linalg.eigh(seen.T @ after @ seen, seen.T @ now @ seen)
    hidden = np.trace(after) - np.trace(seen.T @ after @ seen)
    if hidden > 1e-9 * np.trace(after):
        return float("inf"), 0 * scale
    return float(values[-1]), allowed @ seen @ vectors[:, -1]


def natural_sizes(method: Method, n: int, L: float, star: Any) -> Matrix:
    """Return the natural size of each unit deviation from the state at the solution, (N,)."""
    arrays = (getattr(star, field.name) for field in fields(star))
    pairs = zip(in_units(method, n, L).sizes, arrays, strict=True)
    return np.concatenate([np.full(x.size, size) for size, x in pairs if x.dtype != bool])


def unit_deviations(star: Any) -> Any:
    """Return the state at the solution plus each unit vector, one per run: N runs.

    Fields of bool are not changed.
    """
    sizes = [
        0 if getattr(star, field.name).dtype == bool else getattr(star, field.name).size
        for field in fields(star)
    ]
    starts = iter(np.cumsum([0, *sizes]))
    total = sum(sizes)

    def deviate(x: Array) -> Array:
        begin = next(starts)
        if x.dtype == bool:
            return np.repeat(x, total, axis=2)
        units = np.zeros((x.size, total))
        units[:, begin : begin + x.size] = np.eye(x.size)
        return x + units.reshape(*x.shape[:2], total)

    return each(deviate, star)


def lyapunov_matrix(terms: Terms, hessian: Matrix, x_star: Matrix) -> Matrix:
    """Return a Lyapunov function of unit deviations as the matrix of its quadratic form: (N, N)."""
    total: Any = 0.0
    for term in terms:
        if isinstance(term, Gap):
            point = (term.point - x_star)[0]
            total = total + term.weight / 2 * point.T @ hessian @ point
        else:
            vectors = term.vectors.reshape(-1, term.vectors.shape[2])
            total = total + term.weight * vectors.T @ vectors
    return np.asarray(total)


def valid_deviations(invariants: tuple[Array, ...], size: int) -> Matrix:
    """Return an orthonormal basis of the deviations that violate no invariant: (N, N')."""
    if not invariants:
        return np.eye(size)
    rows = [np.broadcast_to(x, (*x.shape[:2], size)).reshape(-1, size) for x in invariants]
    return null_space(np.concatenate(rows))


def seen_by(form: Matrix) -> Matrix:
    """Return an orthonormal basis of the directions in which a form is not 0."""
    values, vectors = np.linalg.eigh(form)
    seen: Matrix = vectors[:, above_zero(values, SEEN)]
    return seen
