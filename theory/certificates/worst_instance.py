"""The worst case as a concrete problem, constructed from the dual of the programme.

The dual of the programme is the Gram matrix of a worst case: the inner products of a state and of
the gradients there. It is factored into vectors, and a client's function is the quadratic with
these gradients. One pair (x, u) of point and gradient with <u - mu x, L x - u> >= 0 has one::

    H = mu I + w w'/<w, x>,   w = u - mu x

Its eigenvalues are in [mu, L]. Where a client has one gradient per step, the problem is therefore
exactly as bad as the programme says; with more gradients per step, the nearest quadratic is taken.

A server's compressor of U(omega) is a rand-k, which has this variance at every vector; one of
B(alpha) is the linear contraction with the error of the dual.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import Scaled, TwoWay
from certibit.solvers.compressors.selection import RandK, rand_k_of
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment, fitted_view
from certibit.solvers.state import each
from certibit.theory.certificates.certify import certify, chosen_potential
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.rational_algebra import Rationals, floats
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.opaque.exact_numbers import rational, rationals
from certibit.theory.worlds.orbits import orbits
from certibit.theory.worlds.probing import OneStep, one_step
from certibit.theory.worlds.symbolic.frames import Blocks, Matrix
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of
from certibit.theory.worlds.worst_states import WorstContraction, worst_state

CLOSE, SMALL = 1e-16, 1e-11
"""Relative distance of the decrease to its bound at the dual point that is drawn, and relative size
below which an eigenvalue of its moments counts as 0."""

RANK = 1e-7
"""Relative size below which an eigenvalue of products of gradients and points is rounding."""

LARGEST_SIZE = 120
"""Largest number of features of an instance."""

MOST_NUMBERS = 1 << 25
"""Most numbers that the exact expectation holds at once: (n, d) for each of 2 n + 1 runs."""

MOST_OUTCOMES = 500
"""Most cohorts, masks and coins that the exact expectation enumerates."""

VALID = 1e-6
"""Relative size below which an invariant counts as 0."""

_GROWTH = 1e3
"""A run has diverged when f - f* exceeds its first value by this factor."""

_LONGEST_RUN = 20_000
"""Most iterations of a run; a run that takes so many has not diverged."""


@dataclass(frozen=True)
class _WorstInstance:
    """A problem and a state at which one step attains the factor of the programme.

    Attributes
    ----------
    problem : Quadratic
        A problem with the mu of the class, and with an L of at most that of the class.
    compressor : Compressor or None
        A compressor with the omega, or alpha, of the class.
    potential : Potential
        The Lyapunov function with the weights of the programme.
    state : State
        A state of the method on this problem, R = 1.
    predicted : float
        The worst factor E[Psi+]/Psi by the programme.
    """

    method: Method
    problem: Quadratic
    compressor: Compressor | None
    potential: Potential
    state: Any
    predicted: float

    def step(self) -> OneStep:
        """Return the exact E[Psi+] of one step of the method from the worst known state.

        This is the state of the instance, or the worst state of all on its problem, which is found
        without symbols: by the step of the method and the variance of its compressor.

        Raises
        ------
        Refusal
            If the clients have too many cohorts, coins and masks to enumerate, if the step does not
            fit into memory, or if no quadratic has the gradients of the worst case.
        """
        n, d = self.problem.n, self.problem.d
        if n * d * (2 * n + 1) > MOST_NUMBERS:
            raise Refusal(
                f"the exact step of {n} clients is too large to be computed; take fewer clients"
            )
        experiment = Experiment.of(self.method, self.problem, self.compressor)
        view = experiment.problem
        found, _ = orbits(self.method, n)
        if max(orbit.alike for orbit in found) > MOST_OUTCOMES:
            raise Refusal(
                f"{n} clients have too many cohorts, masks or coins to enumerate; take fewer"
            )
        steps = []
        with suppress(Refusal):  # of compressors whose variance depends on more than a length
            factor, state = worst_state(experiment, self.potential)
            if np.isfinite(factor):
                steps.append(one_step(experiment, self.potential, state))
        if self._is_met(view):
            steps.append(one_step(experiment, self.potential, self.state))
        if not steps:
            raise Refusal(f"no quadratic has the gradients of the worst case of {self.method.name}")
        return max(steps, key=lambda step: step.factor)

    def _is_met(self, view: Any) -> bool:
        """Whether the state satisfies the invariants, as it does unless no quadratic is as bad."""
        star = fixed_point(self.method, view)
        deviations = (
            getattr(self.state, field.name) - getattr(star, field.name)
            for field in fields(star)
            if getattr(star, field.name).dtype != bool
        )
        size = max(float(np.abs(x).max()) for x in deviations)
        kept = invariants(self.method, self.state, view)
        return all(np.abs(x).max() <= VALID * size for x in kept)


def worst_instance(
    method: Method, functions: FunctionClass, potential: Potential | None = None, seed: int = 0
) -> _WorstInstance:
    """Construct the worst case of the programme, with the potential's own weights, as quadratics.

    If the method solves a composite problem, g is (mu/2) |x|^2, as in the views of problems.
    Without a potential the one of :func:`certify` is used.

    Raises
    ------
    Refusal
        If the method cannot be certified, if no factor is finite, or if the instance is too large.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify, worst_instance
    >>> method, functions = GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10)
    >>> worst, proof = worst_instance(method, functions), certify(method, functions)
    >>> abs(worst.step().factor - proof.factor) < 1e-6
    True
    """
    if len({(one.omega, one.alpha) for one in functions.kinds}) > 1:
        raise Refusal(
            "no worst case is drawn for clients whose compressors differ; give all the same omega "
            "or alpha"
        )
    if functions.assumptions:
        raise Refusal(
            f"{functions.assumptions[0]!r} is not a property that the quadratics of a worst case "
            "are drawn with; take a class without assumptions"
        )
    if functions.n**2 > MOST_NUMBERS:
        raise Refusal(f"the worst case for n = {functions.n} is too large; take fewer clients")
    functions.require_solution()
    if potential is None:
        potential, weights = chosen_potential(method, functions, None)
        if weights == "free":
            best = certify(method, functions, potential, "potential", weights=weights)
            potential = Reweighted(potential, best.weights)
    step, decrease, (equal, *apart) = _worst_vectors(method, functions, potential)
    left = [one.count - 1 for one in functions.kinds]
    pairs = list(zip(apart, left, strict=True))
    vectors = (equal, *(part / max(count, 1) ** 0.5 for part, count in pairs))
    size = equal.shape[1] + sum(count * part.shape[1] for part, count in pairs)
    sent, d = _fitting_compressor(method, functions, size + 1)
    sent, d = _both_ways(method, functions, step, vectors, sent, d)
    if d > LARGEST_SIZE:
        raise Refusal(
            f"the worst case for n = {functions.n} has {d} features; take fewer clients to "
            f"have at most {LARGEST_SIZE}"
        )
    mu = np.array([functions.curvature(kind)[0] for kind in functions.kind_of_client])
    matrices = mu[:, None, None] * np.eye(d)
    matrices[:, :size, :size] = _hessians(functions, step, vectors)
    if functions.L_f is not None:
        steepest = float(np.linalg.eigvalsh(matrices.mean(axis=0))[-1])
        if steepest > functions.L_f * (1 + VALID):
            raise Refusal(
                f"the average of the quadratics that are drawn is {steepest:.6g}-smooth, and not "
                f"{functions.L_f:.6g}-smooth as it should be"
            )
    problem = _posed_problem(method, functions, matrices, "worst case", seed)
    return _WorstInstance(
        method,
        problem,
        sent,
        Reweighted(potential, step.weights),
        _state(method, problem, step, vectors),
        1 - decrease,
    )


def _worst_vectors(
    method: Method, functions: FunctionClass, potential: Potential
) -> tuple[SymbolicStep, float, Blocks]:
    """Return the step, its decrease, and the unknowns at a worst case with Psi = 1 and a ridge g.

    Their Gram matrices are the dual point of the proof. In each block an unknown is a row of a
    (basis, D) matrix: what all clients share, or what sums to 0. Moments count as 0 in natural
    units.
    """
    exact = RationalStep.of(method, functions, potential, ridge=True)
    step, natural = exact.symbols, outcomes_of(method, functions).natural
    programme = DescentProgramme.of_factor(exact, tuple(map(rational, step.weights)))
    sizes = np.ones((step.basis.size, 1))
    for name, first in step.basis.names.items():
        end = first + (step.basis.kinds if step.basis.every_client[first] else 1)
        if name[0] == "state":
            sizes[first:end] = natural.sizes[name[1]]
        elif name[0] == "gradient":
            sizes[first:end] = natural.gradient
    vectors = []
    for kernel, moments in zip(step.kernels, programme.moments(CLOSE), strict=True):
        basis = _in_floats(kernel) / sizes
        values, directions = np.linalg.eigh(basis @ moments @ basis.T)
        kept = values > SMALL * values.sum()
        vectors.append(sizes * directions[:, kept] * np.sqrt(values[kept]))
    return step, programme.constant(), tuple(vectors)


def _in_floats(array: Rationals) -> Matrix:
    return floats(rationals(array))


def _clients(expression: Blocks, vectors: Blocks, kind: int, functions: FunctionClass) -> Matrix:
    """Return a combination of the unknowns for every client of a kind: (count, D)."""
    count = int(functions.kinds[kind].count)
    parts = [np.tile(_in_floats(expression[0]) @ vectors[0], (count, 1))]
    for other, (one, own) in enumerate(zip(functions.kinds, vectors[1:], strict=True)):
        if other == kind:
            apart = scipy.linalg.null_space(np.ones((1, count)))
            parts.append(np.kron(apart, _in_floats(expression[1 + kind]) @ own))
        else:
            parts.append(np.zeros((count, (one.count - 1) * own.shape[1])))
    return np.concatenate(parts, axis=1)


def _own(number: int, step: SymbolicStep) -> Blocks:
    """Return an unknown as a combination of the unknowns."""
    unit = np.zeros(step.basis.size)
    unit[number] = 1.0
    return (unit,) * (1 + len(step.functions.kinds))


def _hessians(functions: FunctionClass, step: SymbolicStep, vectors: Blocks) -> Matrix:
    """Return quadratics with the gradients of the worst case: (n, D, D)."""
    found = []
    for kind in range(len(functions.kinds)):
        mu, L = functions.curvature(kind)
        points, residues = [], []
        for evaluation in step.evaluations:
            if evaluation.kind == kind:
                point = _clients(evaluation.point, vectors, kind, functions)
                gradient = _clients(_own(evaluation.gradient, step), vectors, kind, functions)
                points.append(point)
                residues.append(gradient - mu * point)
        x, w = np.stack(points, axis=1), np.stack(residues, axis=1)  # (count, evaluations, D)
        products = w @ np.matrix_transpose(x)
        products = (products + np.matrix_transpose(products)) / 2
        rise = np.matrix_transpose(w) @ np.linalg.pinv(products, rcond=RANK, hermitian=True) @ w
        values, directions = np.linalg.eigh((rise + np.matrix_transpose(rise)) / 2)
        values = np.clip(values, 0.0, L - mu)
        rise = (directions * values[:, None, :]) @ np.matrix_transpose(directions)
        found.append(mu * np.eye(x.shape[2]) + (rise + np.matrix_transpose(rise)) / 2)
    return np.concatenate(found)


def _posed_problem(
    method: Method, functions: FunctionClass, matrices: Matrix, name: str, seed: int
) -> Quadratic:
    """Make the problem whose f_i, in the view that the method solves, have given matrices."""
    ridge = functions.mu if method.needs.composite else 0.0
    centres = np.random.default_rng(seed).standard_normal(matrices.shape[:2])
    if method.needs.shared_minimiser:
        centres[:] = centres[0]
    shifted = matrices + ridge * np.eye(matrices.shape[1])
    return Quadratic.from_arrays(shifted, centres, name=f"{name}@{functions.n}", seed=seed)


def _fitting_compressor(
    method: Method, functions: FunctionClass, size: int
) -> tuple[Compressor | None, int]:
    """Return a rand-k with the class's omega on at least so many features."""
    need = method.needs.compressor
    if need is None or (need == "unbiased" and functions.omega == 0):
        return None, size
    if functions.bias is not None:
        raise Refusal("no compressor of a worst case is drawn for a bias and a variance")
    omega = 1 / (functions.alpha or 1.0) - 1 if need == "contractive" else functions.omega
    sent, d = rand_k_of(omega, size)
    return Scaled(sent) if need == "contractive" else sent, d


def _both_ways(
    method: Method,
    functions: FunctionClass,
    step: SymbolicStep,
    vectors: Blocks,
    up: Compressor | None,
    d: int,
) -> tuple[Compressor | None, int]:
    """Return the compressors of both ways, on as many features as both serve."""
    if method.needs.downlink == "unbiased" and functions.omega_down:
        down, period = rand_k_of(functions.omega_down)
        while d % period:
            up, d = _fitting_compressor(method, functions, d + 1)
        return TwoWay(up or Identity(), RandK(down.k * d // period)), d
    if method.needs.downlink == "contractive" and functions.alpha_down not in {None, 1}:
        v, e = np.zeros(d), np.zeros(d)
        for number, sent in step.errors:
            if step.basis.kind[number] < 0:
                shared = _in_floats(sent[0]) @ vectors[0]
                v[: len(shared)], e[: len(shared)] = shared, vectors[0][number]
        most = ((1 - functions.alpha_down) * float(v @ v)) ** 0.5
        e *= min(1.0, most / (float(np.linalg.norm(e)) or 1.0))  # that of the dual may be longer
        return TwoWay(up or Identity(), WorstContraction(v, e)), d
    return up, d


def _state(method: Method, problem: Quadratic, step: SymbolicStep, vectors: Blocks) -> Any:
    view, numbers, functions = fitted_view(method, problem), iter(range(1000)), step.functions

    def deviate(x: Matrix) -> Matrix:
        number = next(numbers)
        if x.dtype == bool:
            return x
        unknown, kinds = step.basis.names["state", number], range(len(functions.kinds))
        moved = np.zeros((x.shape[0], view.d))
        if step.basis.every_client[unknown]:
            own = (_clients(_own(unknown + k, step), vectors, k, functions) for k in kinds)
            rows = np.concatenate(list(own))
        else:
            rows = vectors[0][None, unknown]
        moved[:, : rows.shape[1]] = rows
        return x + moved[:, :, None]

    return each(deviate, fixed_point(method, view))


@dataclass(frozen=True)
class Divergence:
    """A problem on which a run of the method, started at x = 0, diverges.

    Attributes
    ----------
    problem, compressor
        The problem and the compressor of the run.
    growth : float
        Last over first f - f*; infinity where it was no longer finite.
    iterations : int
        The number of iterations of the run.
    """

    problem: Quadratic
    compressor: Compressor | None
    growth: float
    iterations: int


def divergence(
    method: Method, functions: FunctionClass, potential: Potential | None = None, seed: int = 0
) -> Divergence | None:
    """Run a method on the worst case of the programme and on extreme quadratics until it diverges.

    Returns None if no run diverges; a factor above 1 does not imply divergence. The server
    broadcasts uncompressed vectors, which belong to every class.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, divergence
    >>> found = divergence(GD(gamma=0.3), FunctionClass(n=3, mu=1, L=10))
    >>> found.growth > 1e6
    True
    """
    if len({(one.omega, one.alpha) for one in functions.kinds}) > 1:
        raise Refusal(
            "no run is tried for clients whose compressors differ; give all the same omega or alpha"
        )
    for problem, sent in _candidates(method, functions, potential, seed):
        for iterations in (_LONGEST_RUN // 20, _LONGEST_RUN):
            with np.errstate(all="ignore"):
                trace = simulate(
                    Experiment.of(method, problem, sent),
                    seeds=(seed,),
                    budget=Budget(iterations=iterations),
                    record=Record(ratio=1.1),
                )
            gaps = trace.columns["gap"]
            growth = float(gaps[-1] / gaps[0]) if np.isfinite(gaps[-1]) else np.inf
            if trace.ending[0] == "diverged" or growth > _GROWTH:
                done = int(trace.columns["iteration"][-1])
                return Divergence(problem, sent, growth, done)
            if growth < 1:
                break
    return None


def _candidates(
    method: Method, functions: FunctionClass, potential: Potential | None, seed: int
) -> Iterator[tuple[Quadratic, Compressor | None]]:
    """Yield the worst case of one step, then problems whose curvatures are mu and L_i only."""
    try:
        worst = worst_instance(method, functions, potential, seed)
        yield worst.problem, worst.compressor
    except Refusal:
        pass
    sent, d = _fitting_compressor(method, functions, 3)
    bounds = np.array([functions.curvature(kind) for kind in functions.kind_of_client])
    ends = bounds[:, 1:], bounds[:, :1]
    clients, features = np.arange(functions.n)[:, None], np.arange(d)[None, :]
    for steep in (
        (features == 0) + 0 * clients > 0,
        (clients + features) % 2 == 0,
        (clients == 0) & (features == 0),
    ):
        curvatures = np.where(steep, *ends)
        matrices = curvatures[:, :, None] * np.eye(d)
        yield _posed_problem(method, functions, matrices, "extreme", seed), sent
