"""Other last bits in what floats compute on the way to a certificate, as of another processor."""

from contextlib import contextmanager
from unittest import mock

import numpy as np

from certibit.theory.certificates import coordinates, programme
from certibit.theory.cones import direction_equations


@contextmanager
def other_last_bits(seed):
    """Perturb data of programmes, guesses and coordinates by relative noise of 1e-15 to 1e-12."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-15, -12)

    def noisy(x):
        return x * (1 + size * rng.standard_normal(np.shape(x)))

    solved, chosen = programme._solved, coordinates._whitened
    start = direction_equations.DirectionEquations.__init__

    def guess(objective, A, b, *sizes):
        return noisy(solved(objective, noisy(A), noisy(b), *sizes))

    def begin(self, rows, slopes):
        start(self, noisy(rows), slopes)

    with (
        mock.patch.object(programme, "_solved", guess),
        mock.patch.object(coordinates, "_whitened", lambda *given: noisy(chosen(*given))),
        mock.patch.object(direction_equations.DirectionEquations, "__init__", begin),
    ):
        yield
