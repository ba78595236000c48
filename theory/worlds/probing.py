"""The exact E[Psi+] after one step from any numeric state, without sampling.

A step of a linear method adds the error of each compressed message with some coefficient to each
vector of its Lyapunov function. The errors of different clients and messages are uncorrelated, so

    E|v|^2 = |v at mean messages|^2 + sum over messages (coefficient)^2 E|C(x) - E C(x)|^2

and the last factor is the compressor's exact variance at the vector compressed. The coefficients
are found by running the unchanged method once, with an error of length 1 put into one message per
run of the batch. Coins, cohorts and masks are enumerated.

The outcomes of the server's compressor are enumerated, too, if they are linear in the vector, or
few and the broadcast comes first, so that later messages may depend on it. Any other broadcast has
an error like a message of a client; if it comes after these, its variance is bounded by omega.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.problem import StronglyConvexProblem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import downward
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each
from certibit.theory.potential import Gap, Potential, Terms, value
from certibit.theory.setting import Setting
from certibit.theory.worlds.fixed_points import AboutModel, fixed_point
from certibit.theory.worlds.linear_maps import linear_outcomes
from certibit.theory.worlds.outcomes import Scripted, outcomes

LINEARITY = 1e-7
"""Relative error up to which a vector counts as linear in the errors of the messages."""

MOST_ROUNDED = 6
"""Entries of a broadcast up to which the outcomes of natural compression are enumerated."""

MOST_SUBSETS = 1000
"""Outcomes of a rand-k of the server up to which they are enumerated."""

_DRAWN = 1e-12
"""Relative variance below which a message draws nothing; the rest is rounding."""


@dataclass(frozen=True)
class OneStep:
    """Psi at a state and E[Psi+] after one step from it.

    Attributes
    ----------
    now, expected : float
        Psi and E[Psi+].
    exact : bool
        False if ``expected`` is an upper bound, because f(x + e) <= f(x) + <grad f(x), e> +
        (L_f/2)|e|^2 was used for a function value at a point that depends on messages, or
        E|C(v) - v|^2 <= omega |v|^2 for a broadcast that depends on messages.
    """

    now: float
    expected: float
    exact: bool

    @property
    def factor(self) -> float:
        """E[Psi+]/Psi, to be compared with the promised tau."""
        return self.expected / self.now


class _ProbingChannel(Scripted):
    """Messages arrive as their mean, in run 0, and with one error each, in two runs per error.

    Run 2j - 1 holds the error e_j and run 2j the error -e_j, each of length 1. Errors are counted
    over the messages of the step and, where clients draw independently, over the clients.
    """

    def __init__(self, n: int, d: int, compressor: Compressor, script: Sequence[int] = ()) -> None:
        super().__init__(n, d, script)
        self.compressor = compressor
        self.variances: list[float] = []
        self.exact = True

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Return the mean of C(v), plus this message's errors in their runs."""
        x = v[:, :, :1]
        if np.max(np.abs(v - x)) > LINEARITY * (1 + np.max(np.abs(x))):
            raise Refusal("a message depends on another message of the same step; enumerate them")
        mean = self.compressor.mean(x)
        variance = self.compressor.variance(x)[:, 0] - np.sum((mean - x) ** 2, axis=(1, 2))
        variance[variance < _DRAWN * np.sum(x**2, axis=(1, 2))] = 0.0
        received = mean + np.zeros((1, 1, v.shape[2]))
        if self.compressor.shared:
            size = float(variance.sum())
            self._err(received, slice(None), size, x / max(np.linalg.norm(x), 1e-300))
        else:
            for i in range(self.n):
                self._err(received, slice(i, i + 1), float(variance[i]), _unit(x.shape[1]))
        return self.send(received, cohort)

    def downlink(self, v: Array) -> Array:
        """Return one of the outcomes of C(v), or v plus this message's error in its runs."""
        compressor, d = downward(self.compressor), v.shape[1]
        if not compressor.uniforms(d):
            return compressor.compress(v, v[:, :0, :])
        x = v[:, :, :1]
        first = not self.variances
        if first and isinstance(compressor, Natural) and d <= MOST_ROUNDED:
            return self.choose(rounded_outcomes(compressor, x)) + (v - x)
        listed = isinstance(compressor, RandK) and comb(d, compressor.k) <= MOST_SUBSETS
        if not compressor.unbiased or listed:
            maps = linear_outcomes(compressor, d)
            return v * self.choose([(1 / len(maps), diagonal) for diagonal in maps])[None, :, None]
        size, drawn = float(compressor.variance(x)[0, 0]), 0.0
        if v.shape[2] > 1:
            errors = np.sum((v[:, :, 1 : 2 * len(self.variances) : 2] - x) ** 2, axis=(0, 1))
            drawn = float(errors @ self.variances)
        if drawn:
            size = compressor.omega(d) * (float(np.sum(x**2)) + drawn)
            self.exact &= isinstance(compressor, RandK)  # its variance is this for every vector
        received = v + 0.0
        self._err(received, slice(None), size, _unit(d))
        return received

    def _err(self, received: Array, rows: slice, variance: float, direction: Array) -> None:
        """Count an error of some rows, and put it into its runs."""
        self.variances.append(variance)
        run = 2 * len(self.variances) - 1
        if run + 1 < received.shape[2]:
            received[rows, :, run] += direction[:, :, 0]
            received[rows, :, run + 1] -= direction[:, :, 0]


def rounded_outcomes(compressor: Natural, x: Array) -> list[tuple[float, Array]]:
    """Return what natural compression makes of a known vector, (1, d, 1), with probabilities.

    Entries are rounded independently, up or down: 2^d outcomes.
    """
    low, high = (compressor.compress(x, np.full(x.shape, end)) for end in (1 - 2.0**-53, 0.0))
    with np.errstate(invalid="ignore"):
        rises = np.where(low == high, 0.0, (x - low) / (high - low))
    found = [(1.0, x)]
    for j in range(x.shape[1]):
        ends = ((rises[0, j, 0], high[:, j]), (1 - rises[0, j, 0], low[:, j]))
        found = [
            (p * q, np.concat([y[:, :j], end[:, None], y[:, j + 1 :]], axis=1))
            for p, y in found
            for q, end in ends
            if q
        ]
    return found


def _unit(d: int) -> Array:
    """Return a vector of length 1, (1, d, 1)."""
    unit = np.zeros((1, d, 1))
    unit[0, 0, 0] = 1.0
    return unit


def one_step(experiment: ConvexExperiment, potential: Potential, state: Any) -> OneStep:
    """Return Psi and the exact E[Psi+ | state] of a method at a state of one run.

    Parameters
    ----------
    experiment : ConvexExperiment
        The method with its problem and compressor.
    potential : Potential
        The Lyapunov function; on a nonconvex problem parts of a state are compared with the state
        at rest at its model.
    state : State
        A state of the method with R = 1.

    Raises
    ------
    Refusal
        If the step is not linear in the errors of the messages (for instance if a message depends
        on another one of the same step), no fixed point is found, or gradients are stochastic.

    Examples
    --------
    >>> from certibit import DIANA, METHODS, Experiment, Quadratic, compressor, one_step
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = DIANA(gamma=0.05, alpha=0.5)
    >>> experiment = Experiment.of(method, problem, compressor("rand-k:2"))
    >>> step = one_step(experiment, METHODS["diana"].theorems[0], method.fixed_point(problem))
    >>> step.now, step.expected < 1e-20
    (0.0, True)
    """
    method, view, fitted = experiment.method, experiment.problem, experiment.compressor
    if view.noise is not None:
        raise Refusal(
            f"{view.name} has stochastic gradients, and E[Psi+] is that of exact ones; choose a "
            "problem without noise and batch"
        )
    setting = Setting.at(experiment)
    solved = fixed_point(method, view) if setting.has_solution else None

    def channel(script: Sequence[int]) -> _ProbingChannel:
        return _ProbingChannel(view.n, view.d, fitted, script)

    def terms(s: Any) -> Terms:
        star = solved
        if star is None:
            star = fixed_point(method, AboutModel(view, method.model(s)))
        return potential.lyapunov(method, s, star, setting, view)

    def step(world: _ProbingChannel, s: Any, runs: int = 1) -> Terms:
        oracle = Oracle(view, np.arange(runs), Ledger(runs))
        return terms(theorem_step(method, s, oracle, world))

    def expected(world: _ProbingChannel) -> tuple[float, bool]:
        dry = channel(world.script)
        step(dry, state)
        runs = 1 + 2 * len(dry.variances)
        after = step(world, each(lambda x: np.repeat(x, runs, axis=2), state), runs)
        psi, exact = _mean(after, np.array(world.variances), view)
        return psi, exact and world.exact

    now = float(value(terms(state), view)[0])
    results = [(p, *result) for p, result in outcomes(expected, channel)]
    total = sum(p * psi for p, psi, _ in results)
    return OneStep(now, total, all(exact for _, _, exact in results))


def _mean(
    terms: Terms, variances: NDArray[np.float64], problem: StronglyConvexProblem
) -> tuple[float, bool]:
    """Return the mean of a Lyapunov function over the errors, and whether it is exact."""
    psi, exact, drawn = 0.0, True, variances > 0
    for term in terms:
        vectors = term.point if isinstance(term, Gap) else term.vectors
        errors = _coefficients(vectors, drawn)
        if isinstance(term, Gap):
            psi += term.weight * float(problem.gap(vectors[:, :, :1])[0])
            if errors.any():
                smoothness = problem.constants.L_f + problem.constants.ridge
                psi += term.weight * smoothness / 2 * float(errors @ variances)
                exact = False
        else:
            psi += term.weight * float(np.sum(vectors[:, :, 0] ** 2) + errors @ variances)
    return psi, exact


def _coefficients(vectors: Array, drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the squared coefficient of each error that is drawn in a term's vectors, (J,)."""
    if vectors.shape[2] == 1:
        return np.zeros(drawn.size)
    difference = (vectors[:, :, 1:] - vectors[:, :, :1]) * np.repeat(drawn, 2)
    up, down = difference[:, :, 0::2], difference[:, :, 1::2]
    size = np.max(np.abs(up), initial=0.0)
    largest = float(np.max(np.abs(vectors)))
    scale = max(size, 1e-6 * max(1.0, largest))  # errors have length 1; the rest is rounding
    if np.max(np.abs(up + down), initial=0.0) > LINEARITY * scale:
        raise Refusal("the step is not linear in the errors of its messages; enumerate them")
    up = np.where(np.abs(up) > 1e-9 * scale, up, 0.0)
    return np.sum(up**2, axis=(0, 1))
