"""The asymptotic rate of a method on quadratics: no certificate can prove a faster one.

On quadratics of one dimension the second moments of the state are multiplied by a linear map in
every iteration. The spectral radius of this map is the asymptotic contraction factor, which no
Lyapunov function of the same state can improve on. The clients have the extreme curvatures mu and L
of their class, all the same or some at each end. Local solves that end by a criterion are taken as
exact, and as just meeting the criterion on either side of the solution, because a certificate
covers every solve that meets it; the solver of the method may be better.

A step is linear there, and clients of a kind are exchangeable. A quadratic form of the state
consists of one block for the means over the clients of each kind, and one block per kind for the
deviations from these means. The expectation of the form after a step is such a form again: a linear
map of a few numbers for any n, whose adjoint is the map of the second moments.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import ztrsen

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.method import Method, Slot
from certibit.solvers.simulation.iteration import theorem_step
from certibit.theory.cones.cone_programme import (
    from_triangle,
    triangle,
    triangle_places,
    triangle_weights,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Gap, Potential
from certibit.theory.proofs.proof import Proof
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.opaque.clients import ClientArray
from certibit.theory.worlds.orbits import Orbit, cells_of_kinds, first_state, orbits
from certibit.theory.worlds.outcomes import Scripted, outcomes
from certibit.theory.worlds.symbolic.frames import Basis, BasisFullError, Blocks, Frame, Matrix
from certibit.theory.worlds.symbolic.kernels import expected_gram, kernels_of_blocks
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of
from certibit.theory.worlds.symbolic.symbols import (
    MessageErrors,
    SymbolicChannel,
    SymbolicProblem,
    unknown_state,
)
from certibit.theory.worlds.units import MethodInUnits


@dataclass(frozen=True)
class ExtremeClass:
    """Quadratics and messages at the bounds of a class of functions.

    Attributes
    ----------
    functions : FunctionClass
        With a class for each kind of clients, those with the same quadratic.
    curvatures : tuple of float
        Of the f_i of each kind.
    ridge : float
        The curvature of g.
    sign, sign_down : float
        Whether contractions of clients and of the server are too long or too short: 1 or -1.
    common : tuple of float
        For each kind the variance of messages that all clients draw together, beside the omega of
        ``functions``, which each draws alone; none where nothing is shared.
    rest : float
        What local solves that end by a criterion leave of the gradient, from -1 to 1, as a part of
        the most that the criterion allows; 0 where they are exact.
    """

    functions: FunctionClass
    curvatures: tuple[float, ...]
    ridge: float = 0.0
    sign: float = 1.0
    sign_down: float = 1.0
    common: tuple[float, ...] = ()
    rest: float = 0.0

    @property
    def counts(self) -> list[int]:
        """How many clients there are of each kind."""
        return [int(one.count) for one in self.functions.kinds]

    @property
    def average_curvature(self) -> float:
        """The curvature of f + g."""
        pairs = zip(self.counts, self.curvatures, strict=True)
        return sum(count * curvature for count, curvature in pairs) / self.functions.n + self.ridge


class _QuadraticProblem(SymbolicProblem):
    """Gradients of the quadratics, in some unit."""

    def __init__(self, basis: Basis, frame: Frame, extreme: ExtremeClass, unit: float) -> None:
        super().__init__(basis, frame, [])
        own = np.array(extreme.curvatures)[frame.row_kinds] / unit
        self.slopes, self.ridge = own[:, None, None], extreme.ridge / unit
        self.rest, self.solved = extreme.rest, False

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> ClientArray:
        """Exact gradients of the f_i; (n, basis, R)."""
        return self.frame.mapped(lambda rows: self.slopes * rows, x)

    def grad_g(self, y: Array) -> Array:
        """Gradient of g; (1, basis, R)."""
        return self.ridge * y

    def gradient_steps(
        self,
        slope: Callable[[Array], Array],
        start: Array,
        active: Array,
        step: float,
        count: int,
    ) -> Array:
        """Return where gradient steps on the clients end, as a sum of powers."""
        here = slope(start)
        factors = 1 - step * self._curvatures(slope, start, here)
        powers = (factors ** np.arange(count)).sum(axis=2, keepdims=True)
        return start - step * self.frame.mapped(lambda rows: powers * rows, here)

    def minimise(
        self,
        gradient: Callable[..., Array],
        start: Array,
        centre: Array,
        given: Any,
        active: Array,
        **criterion: Any,
    ) -> tuple[Array, Array]:
        """Return where local solves end that just meet their criterion, or are exact.

        That is where |change + mu z|^2 <= accuracy |change|^2, with change = c + h z of the
        gradient c at the centre and the curvature h. Here change + mu z = r change with r =
        ``rest`` sqrt(accuracy), wherever the solves begin, so that z = -(1 - r) c/(mu + (1 - r) h).
        """
        self.solved = True
        left = 1 - self.rest * criterion["accuracy"] ** 0.5
        here = gradient(centre, given, active, self)
        curvatures = self._curvatures(lambda y: gradient(y, given, active, self), centre, here)
        factors = -left / (criterion["mu"] + left * curvatures)
        end = self.frame.mapped(lambda rows: factors * rows, here)
        return end, here + self.frame.mapped(lambda rows: curvatures * rows, end)

    def _curvatures(self, slope: Callable[[Array], Array], point: Array, here: Array) -> Matrix:
        """Return the curvatures, (m, 1, 1), of functions with a known gradient at a point."""
        ahead = slope(self.frame.mapped(lambda rows: rows + 1.0, point))
        return self.frame.rows(ahead - here)[:, :1, :1]


class _ExtremeChannel(SymbolicChannel):
    """Messages with the largest errors; those that are unbiased and drawn alone are new unknowns.

    Of those that clients draw together, ``signs`` chooses whether they are too long or too short.
    """

    def __init__(
        self,
        method: Method,
        extreme: ExtremeClass,
        problem: SymbolicProblem,
        orbit: Orbit,
        signs: Scripted,
    ) -> None:
        errors = MessageErrors(problem.basis, problem.frame, [], extreme.functions)
        super().__init__(method, extreme.functions, problem, errors, orbit)
        self.extreme, self.signs = extreme, signs

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Return v with a noise per client and one of all, or too long or too short."""
        if self.method.needs.compressor != "contractive":
            alone = super().uplink(v, cohort)
            if not any(self.extreme.common):
                return alone
            sign = self.signs.choose([(0.5, 1.0), (0.5, -1.0)])
            return alone + self.send(self._times(sign, self.extreme.common, v), cohort)
        kinds = range(len(self.functions.kinds))
        errors = [1 - self.functions.contraction(kind) for kind in kinds]
        received = v + self._times(self.extreme.sign, errors, v)
        if self.functions.bias is not None and self.functions.omega:
            received = received + self._noise(v, cohort)
        return self.send(received, cohort)

    def _times(self, sign: float, squares: Sequence[float], v: Array) -> ClientArray:
        """Return vectors times the roots of squares, given for each kind, with a sign."""
        frame = self.problem.frame
        roots = sign * np.array(squares)[frame.row_kinds, None, None] ** 0.5
        return frame.mapped(lambda rows: roots * rows, v)

    def downlink(self, v: Array) -> Array:
        """Return v with the server's noise, or too long or too short."""
        if self.method.needs.downlink != "contractive":
            return super().downlink(v)
        return v * (1 + self.extreme.sign_down * (1 - self.functions.contraction(-1)) ** 0.5)


SEEN = 1e-9
"""Relative size of a part of a vector that is more than rounding."""

GAP = 2.0
"""Groups are tried that end where the next eigenvalue is so many times as far away."""


def spectral_radius(matrix: Matrix, start: Matrix | None = None) -> float:
    """Return the spectral radius, less what rounding may have added to it.

    With a vector where powers start, it is the rate at which these grow.

    A double eigenvalue is computed as two that are wrong by the root of the rounding error, and one
    of them may be too large. Their mean is right: no mean of eigenvalues is larger than all of
    them, and that of a group moves by at most 2 |P| times a perturbation, P being the projection on
    its invariant subspace, if 4 |P| times the perturbation is less than what separates it from the
    others. The largest eigenvalue and those nearest to it are averaged, as many as give the best
    bound. Source: Stewart, Sun, Matrix Perturbation Theory (1990), V.2.

    Examples
    --------
    >>> import numpy as np
    >>> block = np.array([[0.5, 1.0], [0.0, 0.5]])
    >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> 0 < 0.5 - spectral_radius(turn @ block @ turn.T) < 1e-14
    True
    """
    found: Any = scipy.linalg.eig(matrix, left=True, right=False)
    values, left = found
    seen = np.ones(len(values), dtype=bool)
    if start is not None:
        seen = np.abs(left.conj().T @ start) > SEEN * np.linalg.norm(start)
    if not seen.any():
        return 0.0
    largest = values[seen][np.argmax(np.abs(values[seen]))]
    triangle, turn = scipy.linalg.schur(matrix, output="complex")
    here = np.diag(triangle)
    known = seen[np.argmin(np.abs(here[:, None] - values), axis=1)]
    away = np.where(known, np.abs(here - largest), np.inf)
    nearest = np.argsort(away)[: known.sum()]
    if not len(nearest):  # of equal eigenvalues, those of the vector are not told from the others
        return 0.0
    rounding = np.finfo(float).eps * len(matrix) * np.linalg.norm(matrix)
    bounds = [0.0]
    for end, farther in enumerate(np.append(away[nearest[1:]], np.inf), start=1):
        if farther <= GAP * away[nearest[end - 1]]:
            continue
        group = np.isin(np.arange(len(here)), nearest[:end])
        room = 2 * len(here) ** 2
        *_, condition, apart, _ = ztrsen(group, triangle, turn, job="B", lwork=room)
        moved = 2 * rounding / max(condition, np.finfo(float).tiny)
        if 2 * moved <= apart:
            bounds.append(float(np.abs(here[group].mean()) - moved))
    return max(bounds)


ROUNDED = 1e-14
"""Relative size of a weight in a form that rounding may have left."""

ROOMS = (8, 16, 32)
"""Room for so many unknowns, fields and noises, of each kind of clients: what is tried in turn."""


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """A method on extreme quadratics, and what a step does to the quadratic forms of its state.

    Attributes
    ----------
    method : MethodInUnits
        In units in which no field is much larger than another.
    extreme : ExtremeClass
        The quadratics and the messages.
    problem : _QuadraticProblem
        The quadratics as a world of symbols.
    state : State
        The unknown state.
    kernels : Blocks
        Bases of what the state can be in each block, the invariants being 0.
    step : (N, N) matrix
        The map of forms by their coordinates.
    solved : bool
        Whether local solves end by a criterion.
    """

    method: MethodInUnits
    extreme: ExtremeClass
    problem: _QuadraticProblem
    state: Any
    kernels: Blocks
    step: Matrix
    solved: bool

    @classmethod
    def of(
        cls, method: MethodInUnits, found: Sequence[Orbit], extreme: ExtremeClass
    ) -> "SecondMoments":
        """Run one step on an unknown state, in all outcomes of coins, cohorts and masks.

        They are found anew where they tell clients apart, of which there are more kinds now.

        Raises
        ------
        Refusal
            If a step has too many unknowns.
        """
        counts = extreme.counts
        if any(orbit.chooses for orbit in found):
            found, _ = orbits(method, sum(counts), counts=counts)
        else:
            cells = tuple(cells_of_kinds(counts))
            found = [replace(orbit, cells=cells) for orbit in found]
        for room in ROOMS:
            with suppress(BasisFullError):
                return cls._of(method, found, extreme, room)
        raise Refusal(
            f"a step of {method.name} has more than {ROOMS[-1]} fields and messages; take fewer "
            "local steps"
        )

    @classmethod
    def _of(
        cls, method: MethodInUnits, found: Sequence[Orbit], extreme: ExtremeClass, room: int
    ) -> "SecondMoments":
        counts = extreme.counts
        basis = Basis(room * len(counts), len(counts))

        def world(cells: Any) -> _QuadraticProblem:
            return _QuadraticProblem(basis, Frame(cells, counts), extreme, method.gradient)

        problem = world(cells_of_kinds(counts))
        template = first_state(method.inner, sum(counts), counts)
        state = unknown_state(template, problem)
        places = np.arange(basis.size) < basis.used
        kept = invariants(method, state, problem)
        kernels = kernels_of_blocks(kept, problem.frame, basis, places)
        step: Any = 0.0
        solved = False

        def after(orbit: Orbit, signs: Scripted) -> Matrix:
            nonlocal solved
            there = world(orbit.cells)
            channel = _ExtremeChannel(method, extreme, there, orbit, signs)
            s = theorem_step(method, unknown_state(template, there), there, channel)
            solved |= there.solved
            grams = _forms(s, there, kernels)
            means = (expected_gram(x, extreme.functions, there, channel) for x in grams)
            columns = [_restricted(x, there, kernels) for x in means]
            return np.asarray(channel.probability * np.stack(columns, axis=1))

        for orbit in found:
            pairs = outcomes(partial(after, orbit), partial(Scripted, sum(counts), 1))
            step = step + sum(probability * columns for probability, columns in pairs)
        return cls(method, extreme, problem, state, kernels, step, solved)

    @property
    def factor(self) -> float:
        """The factor of the second moments per iteration in the long run, not rounded up."""
        return spectral_radius(self.step)

    def factor_of(self, form: Matrix) -> float:
        """Return the factor of a form that is nowhere negative, and may not see what is slowest.

        A form that sees the same grows as fast: what this one sees with a tiny weight is not lost
        in rounding if all of it has weight 1.
        """
        blocks = list(self.blocks(form))
        least = ROUNDED * max(float(np.diag(block).max(initial=0.0)) for block in blocks)
        even = [triangle(_evened(block, least)) for block in blocks]
        return spectral_radius(self.step, np.concatenate(even))

    def form(self, potential: Potential, functions: FunctionClass) -> Matrix:
        """Return the coordinates of a potential of a class of functions."""
        method, problem = self.method, self.problem
        star = method.plain(fixed_point(method, problem))
        terms = potential.lyapunov(
            method.inner,
            method.plain(self.state),
            star,
            functions,
            method.steeper(problem),
        )
        total: Any = 0.0
        for term in terms:
            if isinstance(term, Gap):
                gram = self.extreme.average_curvature / 2 * problem.frame.gram(term.point)
            else:
                gram = problem.frame.gram(term.vectors)
            total = total + term.weight * _restricted(gram, problem, self.kernels)
        return np.asarray(total)

    def blocks(self, form: Matrix) -> Iterator[Matrix]:
        """Yield the blocks of a form."""
        lengths = [k * (k + 1) // 2 for k in (kernel.shape[1] for kernel in self.kernels)]
        yield from map(from_triangle, np.split(form, np.cumsum(lengths)[:-1]))


def _forms(s: Any, problem: _QuadraticProblem, kernels: Blocks) -> Iterator[Matrix]:
    """Yield the forms that are a basis of all, of a state after a step."""
    frame, kinds = problem.frame, problem.basis.kind
    counts, of_kind = frame.layout.counts, frame.row_kinds
    values, shares = [], []
    for number, field in enumerate(fields(s)):
        first = problem.basis.names.get(("state", number))
        if first is None:  # a flag
            continue
        rows = frame.rows(getattr(s, field.name))
        rows = np.broadcast_to(rows, (len(of_kind), *rows.shape[1:]))
        for kind in range(len(frame.counts)) if kinds[first] >= 0 else (-1,):
            inside = counts * ((of_kind == kind) | (kind < 0))
            values.append(rows)
            shares.append(inside / inside.sum())
    stacked = np.stack(values)
    means = np.einsum("pm,pmur->pur", np.stack(shares), stacked)
    known = len(means)
    for place, kernel in enumerate(kernels):
        inside = of_kind == place - 1
        parts = stacked[:, inside] - means[:, None] if place else means[:, None]
        vectors = np.tensordot(kernel[:known].T, parts, axes=1)
        weights = counts[inside] / frame.counts[place - 1] if place else np.ones(1)
        k = len(vectors)
        for a, b, length in zip(*triangle_places(k), triangle_weights(k), strict=True):
            gram = length / 2 * np.einsum("m,mur,mvr->ruv", weights, vectors[a], vectors[b])
            yield gram + gram.transpose(0, 2, 1)


def _restricted(gram: Matrix, problem: _QuadraticProblem, kernels: Blocks) -> Matrix:
    """Return the coordinates of a form on what the state can be.

    Those of blocks of one kind are for the mean of squares over its clients, not for the sum, so
    that no entry of a step grows with n.
    """
    parts, frame = [], problem.frame
    blocks = frame.blocks(gram, problem.basis)
    for kernel, block, count in zip(kernels, blocks, (1, *frame.counts), strict=True):
        parts.append(count * triangle(kernel.T @ block @ kernel))
    return np.concatenate(parts)


def _evened(block: Matrix, least: float) -> Matrix:
    """Return a sum of squares of unit vectors with the kernel of a positive semidefinite block.

    The vectors are those of a Cholesky factorisation with pivots.
    """
    left, weights = np.array(block), np.diag(block)
    even = np.zeros_like(left)
    for _ in range(len(left)):
        kept = np.diag(left) > np.maximum(ROUNDED * weights, least)
        if not kept.any():
            break
        pivot = int(np.argmax(np.where(kept, np.diag(left), 0.0)))
        vector = left[:, pivot] / np.sqrt(left[pivot, pivot])
        left = left - np.outer(vector, vector)
        even += np.outer(vector, vector) / (vector @ vector)
    return even


MOST_CLASSES = 4
"""With at most so many classes of clients all combinations of extreme curvatures are tried."""
RESTS = (1.0, -1.0)
"""Residual gradients of local solves, beside 0, relative to the largest that is allowed."""


def slowest_decrease(method: Method, functions: FunctionClass) -> float:
    """Return 1 - factor of the second moments on the slowest of the quadratics that are tried.

    This decrease is attained (rounding only makes it larger), so no certificate with a Lyapunov
    function of the whole state can prove a larger one. Whether the method treats all clients of a
    class alike is checked by `certify`, not here.

    Raises
    ------
    Refusal
        If a step is not linear, or it has too many unknowns.
    """
    return 1 - max(one.factor for one in long_runs(method, functions))


def limit_of_potentials(certificate: Proof) -> tuple[float, float] | None:
    """Return decreases that are attained on quadratics, of a part and of all, or None.

    The first is that of the part of the state that the Lyapunov function of the certificate
    contains: no Lyapunov function of as much of the state decreases by more. The second is
    :func:`slowest_decrease`; where it is smaller, the certificate says nothing of the rest of the
    state.
    """
    functions = certificate.functions
    psi = Reweighted(certificate.potential, certificate.weights)
    try:
        found = list(long_runs(certificate.method, functions))
        part = 1 - max(one.factor_of(one.form(psi, functions)) for one in found)
        return part, min(part, 1 - max(one.factor for one in found))
    except Refusal:
        return None


def long_runs(method: Method, functions: FunctionClass) -> Iterator[SecondMoments]:
    """Yield what a step does to second moments on all quadratics that are tried.

    Raises
    ------
    Refusal
        If there are none.
    """
    outcomes = outcomes_of(method, functions)
    refused, found = Refusal(), False
    for extreme in extremes(method, functions):
        try:
            moments = SecondMoments.of(outcomes.natural, outcomes.found, extreme)
        except Refusal as refusal:
            refused = refusal
            continue
        found = True
        yield moments
        for rest in RESTS if moments.solved else ():
            inexact = replace(extreme, rest=rest)
            yield SecondMoments.of(outcomes.natural, outcomes.found, inexact)
    if not found:
        raise refused


def extremes(method: Method, functions: FunctionClass) -> Iterator[ExtremeClass]:
    """Yield the quadratics and messages that are tried."""
    needs = method.needs
    up, down = (
        (1.0, -1.0) if need == "contractive" else (1.0,)
        for need in (needs.compressor, needs.downlink)
    )
    ridges = (functions.mu, functions.L) if needs.composite else (0.0,)
    scale, shared = _correlation(functions)
    for steep in _steep(functions):
        kinds, curvatures = [], []
        for one, count in zip(functions.kinds, steep, strict=True):
            for size, curvature in ((one.count - count, one.mu), (count, one.L)):
                if size:
                    kinds.append(replace(one, count=size))
                    curvatures.append(curvature)
        divided = replace(functions, classes=tuple(kinds))
        ends = _flattened(divided, curvatures)
        alone = _with_variance(divided, scale * (1 - shared))
        common = tuple(scale * shared * one.omega for one in kinds)
        for ridge, sign, sign_down in product(ridges, up, down):
            yield ExtremeClass(alone, ends, ridge, sign, sign_down, common)


def _correlation(functions: FunctionClass) -> tuple[float, float]:
    """Return by what to multiply variances, and how noises of two clients are correlated.

    If their factors have the correlation c >= 0, the variance of the mean of the noises is at most
    omega (c + (1 - c)/n) mean |x_i|^2, and as much where all x_i are one. It may be omega_joint
    mean |x_i|^2.
    """
    n, omega, joint = functions.n, functions.omega, functions.omega_joint
    if joint is None or omega == 0:
        return 1.0, 0.0
    ratio = n * joint / omega
    return min(ratio, 1.0), min(max(ratio - 1, 0.0) / max(n - 1, 1), 1.0)


def _with_variance(functions: FunctionClass, factor: float) -> FunctionClass:
    """Return the class with compressors of so many times the variance, drawn independently."""
    kinds = tuple(replace(one, omega=factor * one.omega) for one in functions.classes)
    omega = factor * functions.omega
    return replace(functions, omega=omega, omega_joint=None, classes=kinds)


def _steep(functions: FunctionClass) -> Iterator[tuple[int, ...]]:
    """Yield how many clients of each class have the curvature L; the others have mu."""
    counts = [one.count for one in functions.kinds]
    if len(counts) == 1:
        n = counts[0]
        yield from sorted({(k,) for k in (0, 1, n // 2, n - 1, n)})
    elif len(counts) <= MOST_CLASSES:
        yield from product(*((0, count) for count in counts))
    else:
        yield from ((0,) * len(counts), tuple(counts))


def _flattened(functions: FunctionClass, curvatures: list[float]) -> tuple[float, ...]:
    """Return the curvatures of classes, nearer to mu where their mean is above L_f."""
    least = functions.average_convexity
    shares = [one.count / functions.n for one in functions.kinds]
    mean = sum(share * curvature for share, curvature in zip(shares, curvatures, strict=True))
    if functions.L_f is None or mean <= functions.L_f:
        return tuple(curvatures)
    left = (functions.L_f - least) / (mean - least)
    pairs = zip(functions.kinds, curvatures, strict=True)
    return tuple(one.mu + left * (curvature - one.mu) for one, curvature in pairs)
