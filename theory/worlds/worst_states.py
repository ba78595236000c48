"""The worst state of a method on a quadratic problem, by its own step and compressors' variances.

Nothing here is symbolic: the unchanged method is run on all unit deviations from the solution, as
the runs of one batch, and with an error of length 1 in each message. A step is affine in these, and
the errors of different messages are uncorrelated, so Psi and E[Psi+] are quadratic forms of the
deviation. The variance is the compressor's own. Certificates are compared with this worst state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import Biased, Compressor, Identity
from certibit.solvers.compressors.composition import Scaled, downward, upward
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each
from certibit.theory.potential import Gap, Potential, Terms
from certibit.theory.setting import Setting
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.linear_maps import (
    Matrix,
    largest_factor,
    lyapunov_matrix,
    natural_sizes,
    unit_deviations,
)
from certibit.theory.worlds.outcomes import Scripted, outcomes

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WorstContraction(Biased):
    """The linear map C(x) = x + e <v, x>/|v|^2, which draws nothing: C(v) = v + e.

    Its error is at most |e|/|v| times |x|, so that alpha = 1 - |e|^2/|v|^2.

    Parameters
    ----------
    v, e : (d,)
        What is compressed in the worst case, and the error that it gets there.
    """

    v: Vector
    e: Vector

    @property
    def name(self) -> str:
        return "worst-contraction"

    def alpha(self, d: int) -> float:
        squared = float(self.v @ self.v)
        return 1 - float(self.e @ self.e) / squared if squared else 1.0

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Float32(), d),))

    def uniforms(self, d: int) -> int:
        return 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        squared = float(self.v @ self.v) or 1.0
        along = np.einsum("d,ndr->nr", self.v, x)[:, None, :] / squared
        return (x + self.e[None, :, None] * along,)

    def vector(self, message: wire.Message, d: int) -> Array:
        return message[0]

    def variance(self, x: Array) -> Array:
        return np.asarray(np.sum((self.compress(x, x[:, :0, :]) - x) ** 2, axis=1))


MOST_UNITS = 350
"""Up to so many numbers of a state; the cost grows with the third power."""

FAR = 1e3
"""How far from the solution a worst state is, in natural units; what is rounded there is less."""

MOST_OUTCOMES = 64
"""Up to so many outcomes of coins, cohorts and masks are run."""


@dataclass(frozen=True)
class _ErrorLaw:
    """The error of a compressor on every vector: C(v) = share v + e, E|e|^2 = ratio |v|^2."""

    share: float
    ratio: float

    @classmethod
    def of(cls, compressor: Compressor, d: int) -> "_ErrorLaw":
        inner = compressor.inner if isinstance(compressor, Scaled) else compressor
        if not isinstance(inner, Identity | RandK):
            raise Refusal(
                f"the variance of {compressor.name} is not the same for all vectors; use rand-k, "
                "scaled(rand-k) or identity"
            )
        unit = np.eye(d)[None, :, :1]  # (1, d, 1)
        mean = compressor.mean(unit)
        spread = float(compressor.variance(unit)[0, 0]) - float(np.sum((mean - unit) ** 2))
        return cls(float(mean[0, 0, 0]), max(spread, 0.0))


class _UnitErrorChannel(Scripted):
    """Messages arrive as their mean; run N + 1 + j has the error j of length 1, run N none.

    The first N runs are unit deviations from the solution, which run N is. ``variances`` holds for
    each error E|e|^2 as a form of the deviation, (N, N). There is a law for every client.
    """

    def __init__(
        self,
        laws: Sequence[_ErrorLaw],
        down: _ErrorLaw | WorstContraction,
        d: int,
        units: int,
        script: Sequence[int] = (),
    ) -> None:
        super().__init__(len(laws), d, script)
        self.laws, self.down = laws, down
        self.units, self.variances = units, list[Matrix]()

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Return the mean of C(v), plus the clients' errors in their runs."""
        every = np.broadcast_to(v, (self.n, *v.shape[1:]))
        return self.send(self._received(every, self.laws), cohort)

    def downlink(self, v: Array) -> Array:
        """Return the mean of C(v), plus the server's error in its run."""
        if isinstance(self.down, WorstContraction):
            return self.down.compress(v, v[:, :0, :])
        return self._received(v, [self.down])

    def _received(self, v: Array, laws: Sequence[_ErrorLaw]) -> Array:
        received = np.array([law.share for law in laws])[:, None, None] * v
        deviations = v - v[:, :, self.units : self.units + 1]
        first = len(self.variances)
        for i, (own, law) in enumerate(zip(deviations, laws, strict=True)):
            if not law.ratio:
                continue
            form = own[:, : self.units].T @ own[:, : self.units]
            before = own[:, self.units + 1 : self.units + 1 + first]
            squares = (before**2).sum(axis=0).tolist()
            for square, variance in zip(squares, self.variances, strict=False):
                if square:
                    form = form + square * variance
            self.variances.append(law.ratio * form)
            run = self.units + len(self.variances)
            if run < v.shape[2]:
                received[i, 0, run] += 1.0
        return received


def worst_state(experiment: ConvexExperiment, potential: Potential) -> tuple[float, Any]:
    """Return the largest E[Psi+]/Psi over all states of a method on a quadratic problem, and one.

    The ratio is attained at this state. If f - f* is taken at a point with errors e, the ratio is a
    lower bound, with (mu/2) E|e|^2 for the errors. States satisfy the invariants of the method. If
    the ratio is infinite, the state is the solution.

    Raises
    ------
    Refusal
        If clients share their randomness, if the variance of a compressor depends on more than the
        length of a vector, or if there are too many outcomes or states.

    Examples
    --------
    >>> from certibit import GD, METHODS, Experiment, Quadratic
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> experiment = Experiment.of(GD(gamma=0.05), problem, None)
    >>> factor, state = worst_state(experiment, METHODS["gd"].theorems[0])
    >>> 0.5 < factor <= (1 - 0.05) ** 2 + 1e-9
    True
    """
    method, view, setting = experiment.method, experiment.problem, Setting.at(experiment)
    star = fixed_point(method, view)
    size = size_of(star)
    if size > MOST_UNITS:
        raise Refusal(f"a state of {size} numbers is too large; take fewer clients or features")
    units = unit_deviations(star)

    sent = upward(experiment.compressor), downward(experiment.compressor)
    if sent[0].shared:
        raise Refusal("compressors share their randomness; let the clients draw independently")
    laws = [_ErrorLaw.of(sent[0], view.d)] * view.n
    down = sent[1] if isinstance(sent[1], WorstContraction) else _ErrorLaw.of(sent[1], view.d)

    def channel(script: Sequence[int]) -> _UnitErrorChannel:
        return _UnitErrorChannel(laws, down, view.d, size, script)

    def run(world: _UnitErrorChannel, errors: int) -> Terms:
        runs = size + 1 + errors
        batch = each(lambda x, at: np.concat([x, *[at] * (1 + errors)], axis=2), units, star)
        after = theorem_step(method, batch, Oracle(view, np.arange(runs), Ledger(runs)), world)
        return potential.lyapunov(method, after, star, setting, view)

    def expected(world: _UnitErrorChannel) -> tuple[Matrix, float]:
        dry = channel(world.script)
        run(dry, 0)
        if np.prod([float(number) for number in dry.options]) > MOST_OUTCOMES:
            raise Refusal(f"{view.n} clients have too many cohorts, masks or coins; take fewer")
        terms = run(world, len(dry.variances))
        return _mean_form(terms, world.variances, size, view, setting.mu)

    after, left = np.zeros((size, size)), 0.0
    for probability, (form, there) in outcomes(expected, channel):
        after, left = after + probability * form, left + probability * there
    terms = potential.lyapunov(method, units, star, setting, view)
    now = lyapunov_matrix(terms, view.hessian(view.x_star), view.x_star)
    factor, deviation = largest_factor(method, view, setting.L, star, now, after, left)
    sizes = natural_sizes(method, view.n, setting.L, star)
    deviation = FAR * deviation / (np.abs(deviation / sizes).max() or 1.0)

    def moved(x: Array, at: Array) -> Array:
        return at if at.dtype == bool else at + ((x - at) @ deviation)[:, :, None]

    return factor, each(moved, units, star)


def size_of(star: Any) -> int:
    """Return how many numbers a state of one run has, flags aside."""
    return sum(x.size for x in vars(star).values() if x.dtype != bool)


def _mean_form(
    terms: Terms, variances: Sequence[Matrix], size: int, view: Any, mu: float
) -> tuple[Matrix, float]:
    """Return E[Psi+] as a form of the deviation, and the Psi+ of the solution."""
    hessian = view.hessian(view.x_star)
    form, left = np.zeros((size, size)), 0.0
    for term in terms:
        gap = isinstance(term, Gap)
        vectors = term.point - view.x_star if isinstance(term, Gap) else term.vectors
        vectors = np.broadcast_to(vectors, (*vectors.shape[:2], size + 1 + len(variances)))
        there = vectors[:, :, size : size + 1]
        moved = (vectors - there).reshape(-1, vectors.shape[2])
        units, errors = moved[:, :size], np.sum(moved[:, size + 1 :] ** 2, axis=0)
        weight = term.weight / 2 if gap else term.weight
        part = units.T @ (hessian if gap else np.eye(len(units))) @ units
        for square, variance in zip(errors.tolist(), variances, strict=True):
            if square:
                part = part + (mu if gap else 1.0) * square * variance
        form, left = form + weight * part, left + weight * float(np.sum(there**2))
    return form, left
