"""Other last bits in what floats compute on the way to a certificate, as of another processor."""

from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import scipy

from certibit.theory.cones import double_doubles
from certibit.theory.worlds import fixed_points, invariants


@contextmanager
def other_last_bits(seed):
    """Perturb data of programmes and coordinates by relative noise of 1e-15 to 1e-12."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-15, -12)

    def noisy(x):
        return x * (1 + size * rng.standard_normal(np.shape(x)))

    start = double_doubles.DirectionEquations.__init__

    def begin(self, rows, slopes):
        start(self, noisy(rows), slopes)

    with mock.patch.object(double_doubles.DirectionEquations, "__init__", begin):
        yield


NUMPY = ["eigh", "eigvals", "eigvalsh", "inv", "lstsq", "pinv", "qr", "slogdet", "solve", "svd"]
SCIPY = ["eig", "eigh", "null_space", "qr", "schur"]


@contextmanager
def other_factorisations(seed):
    """Perturb all matrices that are factorised, by relative noise of 1e-15 to 1e-12.

    What is kept of methods is found anew, and forgotten afterwards.
    """
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-15, -12)

    def perturbed(function):
        def called(matrix, *others, **options):
            given = np.asarray(matrix)
            return function(
                given * (1 + size * rng.standard_normal(given.shape)), *others, **options
            )

        return called

    kept = invariants.relations, fixed_points.resting_state
    try:
        with ExitStack() as stack:
            for module, names in ((np.linalg, NUMPY), (scipy.linalg, SCIPY)):
                for name in names:
                    other = perturbed(getattr(module, name))
                    stack.enter_context(mock.patch.object(module, name, other))
            for found in kept:
                found.cache_clear()
            yield
    finally:
        for found in kept:
            found.cache_clear()
