"""The world of symbols on quadratics: gradients are known, and only noises are new unknowns.

Every client has a quadratic in one dimension, the same for all clients of a kind, and 0 is the
solution. Compression errors are as large as the class allows: noise of the largest variance, or,
for a contraction, a factor of 1 plus or minus the root of the largest relative error. Clients with
shared randomness share a factor, as with a shared rand-k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.solvers.method import Method, Slot
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.opaque.clients import ClientArray
from certibit.theory.worlds.orbits import Orbit
from certibit.theory.worlds.outcomes import Scripted
from certibit.theory.worlds.symbolic.frames import Basis, Frame, Matrix
from certibit.theory.worlds.symbolic.symbols import (
    MessageErrors,
    SymbolicChannel,
    SymbolicProblem,
)


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


class QuadraticProblem(SymbolicProblem):
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


class ExtremeChannel(SymbolicChannel):
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
