"""The world of a batch of quadratics: a problem and a network, without coins."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.method import ExactGradients, Slot

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuadraticBatch(ExactGradients):
    """Quadratics f_i with curvatures, and linear compressors, one of each for every run.

    Attributes
    ----------
    curvature, up : (n, 1, R)
        The curvatures of the f_i, and the factors of the clients' messages.
    down : (1, 1, R)
        The factor of the server's messages.
    grad_star : (n, 1, 1) or (n, 1, R)
        The gradients at the solution, which is 1 so that messages there are not 0 by chance.
    """

    curvature: Matrix
    up: Matrix
    down: Matrix
    grad_star: Matrix

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.curvature)

    @property
    def d(self) -> int:
        """One feature."""
        return 1

    @property
    def x_star(self) -> Matrix:
        """The solution, (1, 1, 1)."""
        return np.ones((1, 1, 1))

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Gradients of all f_i at x."""
        return self.curvature * (x - self.x_star) + self.grad_star

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Return the messages C_i(v_i): v_i times the factor of the client."""
        return self.up * v

    def downlink(self, v: Array) -> Array:
        """Return the message C(v): v times the factor of the server."""
        return self.down * v

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Return v, which is sent uncompressed."""
        return v

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Return v, which is broadcast uncompressed."""
        return v

    def grad_g(self, y: Array) -> NoReturn:
        """Refuse: there is no shared function."""
        raise Refusal("a method with a shared function is not screened; take one without")

    def client_coins(self, q: object) -> NoReturn:
        """Refuse: there are no coins beside those of the schedule."""
        raise Refusal("a method that tosses coins in a step is not screened; take one without")

    coin = cohort = ownership = client_coins
