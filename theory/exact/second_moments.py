"""How fast a method is in the long run on quadratics: no certificate can promise more.

One step on a quadratic in one dimension maps the deviation from the solution linearly, in each of
its outcomes. What it does to the mean of the products of two deviations is linear too, and the
spectral radius of that map is the factor of the second moments per iteration, for every potential.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import scipy.linalg

from bitbound.data.arrays import Array
from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.method import Method
from bitbound.solvers.state import number_of_runs
from bitbound.solvers.world.ledger import Ledger
from bitbound.solvers.world.oracle import Oracle
from bitbound.solvers.world.iteration import theorem_step
from bitbound.theory.certificates.proof import Certificate
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import Potential
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.invariants import invariants
from bitbound.theory.worlds.linear_maps import (
    Matrix,
    lyapunov_matrix,
    natural_sizes,
    unit_deviations,
    valid_deviations,
)
from bitbound.theory.worlds.outcomes import Scripted, outcomes

FEW_CLIENTS = 4
"""Up to so many clients the slowest decrease takes less than a second."""

LARGEST_STATE = 40
"""Largest number of entries of a state: the map has as many to the fourth power."""


class TwoPointChannel(Scripted):
    """Every compressed vector is multiplied by 1 + or - the root of its largest relative error.

    Unbiased compressors toss a coin; contractions always have the same sign.
    """

    def __init__(
        self,
        method: Method,
        functions: FunctionClass,
        script: Sequence[int] = (),
        sign: float = 1.0,
    ) -> None:
        super().__init__(functions.n, 1, script)
        self.needs, self.functions, self.sign = method.needs, functions, sign

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i), for one outcome of all C_i."""
        if self.needs.compressor == "contractive":
            return self.send(
                v * (1 + self.sign * (1 - self.functions.contraction(0)) ** 0.5), cohort
            )
        signs = [(0.5**self.n, one) for one in product((1.0, -1.0), repeat=self.n)]
        factors = 1 + self.functions.omega**0.5 * np.array(self.choose(signs))
        return self.send(v * factors[:, None, None], cohort)

    def downlink(self, v: Array) -> Array:
        """Send C(v) from the server, for one outcome of C."""
        if self.needs.downlink == "contractive":
            return v * (1 + self.sign * (1 - self.functions.contraction(-1)) ** 0.5)
        if not self.functions.omega_down:
            return v
        deviation = self.functions.omega_down**0.5
        return v * (1 + deviation * self.choose([(0.5, 1.0), (0.5, -1.0)]))


@dataclass(frozen=True, eq=False)
class OneDimension:
    """A method on a quadratic in one dimension: states are deviations that violate no invariant.

    Attributes
    ----------
    pairs : list
        The probability and the matrix of every outcome of one step, on a basis of the states.
    kernel : (N, k)
        That basis, in which every field has its natural size.
    """

    method: Method
    functions: FunctionClass
    view: Any
    star: Any
    units: Any
    kernel: Matrix
    pairs: list[tuple[float, Matrix]]

    @classmethod
    def of(
        cls,
        method: Method,
        functions: FunctionClass,
        curvatures: Matrix,
        ridge: float = 0.0,
        sign: float = 1.0,
    ) -> "OneDimension":
        """Run one step on every deviation, in all outcomes.

        f_i has the i-th curvature, and g, if the method has one, the curvature ``ridge``.
        """
        matrices = (curvatures + ridge)[:, None, None]
        problem = Quadratic.from_arrays(matrices, np.zeros((functions.n, 1)))
        view = replace(problem, ridge_g=ridge)
        star = fixed_point(method, view)
        units = unit_deviations(star)
        runs = number_of_runs(units)
        if runs > LARGEST_STATE:
            raise Refusal(f"a state of {runs} entries is too large; take fewer clients")
        oracle, start = Oracle(view, np.arange(runs), Ledger(runs)), _flat(units)
        sizes = natural_sizes(method, functions.n, functions.L, star)
        kept = tuple(x * sizes for x in invariants(method, units, view))
        basis = valid_deviations(kept, runs)
        kernel = sizes[:, None] * basis

        def step(channel: TwoPointChannel) -> Matrix:
            after = _flat(theorem_step(method, units, oracle, channel)) - _flat(star)
            moved: Matrix = (
                (basis / sizes[:, None]).T @ np.linalg.solve(start - _flat(star), after) @ kernel
            )
            return moved

        pairs = list(outcomes(step, lambda s: TwoPointChannel(method, functions, s, sign)))
        return cls(method, functions, view, star, units, kernel, pairs)

    @property
    def second_moments(self) -> Matrix:
        """The map of the products of two deviations, in the mean: (k^2, k^2)."""
        maps = [probability * np.kron(one, one) for probability, one in self.pairs]
        return np.sum(maps, axis=0)

    def form(self, potential: Potential) -> Matrix:
        """Return a potential as a form of the states: (k, k)."""
        own = self.method, self.units, self.star, self.functions, self.view
        hessian = self.view.hessian(self.view.x_star)
        matrix = lyapunov_matrix(potential.lyapunov(*own), hessian, self.view.x_star)
        form: Matrix = self.kernel.T @ matrix @ self.kernel
        return form


def slowest_decrease(
    method: Method, functions: FunctionClass, curvatures: Sequence[float]
) -> float:
    """Return 1 - factor of the second moments on the slowest quadratic of one dimension.

    Every f_i, and g if there is one, has one of the curvatures, in all combinations. What is
    returned is attained, up to rounding, which makes it larger: no certificate, whatever its
    potential, promises more.

    Raises
    ------
    Refusal
        If the compressors are not unbiased, or the state is too large.
    """
    if "contractive" in (method.needs.compressor, method.needs.downlink):
        raise Refusal(f"{method.name} sends no unbiased messages; its long run is not computed")
    worlds = one_dimensional(method, functions, curvatures)
    return 1 - max(spectral_radius(world.second_moments) for world in worlds)


def spectral_radius(matrix: Matrix) -> float:
    """Return the spectral radius, less what rounding may have added to it.

    An eigenvalue moves by its condition number, |x| |y|/|<x, y>| of its vectors from both sides,
    times the size of a perturbation.
    """
    found: Any = scipy.linalg.eig(matrix, left=True, right=True)
    values, left, right = found
    largest = int(np.argmax(np.abs(values)))
    angle = abs(np.vdot(left[:, largest], right[:, largest]))
    rounding = np.finfo(float).eps * len(matrix) * np.linalg.norm(matrix)
    return float(np.abs(values[largest]) - rounding / max(angle, np.finfo(float).tiny))


def one_dimensional(
    method: Method, functions: FunctionClass, curvatures: Sequence[float], sign: float = 1.0
) -> Iterator[OneDimension]:
    """Yield the quadratics in which every f_i, and g if there is one, has one of the curvatures."""
    ridges = curvatures if method.needs.composite else (0.0,)
    clients = combinations_with_replacement(curvatures, functions.n)
    for own, ridge in product(clients, ridges):
        yield OneDimension.of(method, functions, np.array(own), ridge, sign)


def limit_of_potentials(certificate: Certificate) -> float | None:
    """Return a decrease that no potential exceeds, attained on quadratics; None if it is costly.

    It is that of :func:`slowest_decrease` with the curvatures mu and L, for few clients of one
    class that draw independently.
    """
    functions = certificate.functions
    alone = functions.omega_joint is None and functions.L_f is None and not functions.classes
    if not (alone and functions.n <= FEW_CLIENTS):
        return None
    try:
        return slowest_decrease(certificate.method, functions, (functions.mu, functions.L))
    except Refusal:
        return None


def _flat(s: Any) -> Matrix:
    """Return the entries of a state that are not flags, one column per run."""
    arrays = [getattr(s, field.name) for field in fields(s)]
    return np.concatenate([x.reshape(-1, x.shape[2]) for x in arrays if x.dtype != bool])
