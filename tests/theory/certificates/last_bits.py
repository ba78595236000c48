"""Other last bits in what floats compute on the way to a certificate, as of another processor."""

from contextlib import ExitStack, contextmanager, nullcontext
from unittest import mock

import numpy as np
import scipy

from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import class_setting
from certibit.theory.cones import direction_equations
from certibit.theory.worlds import fixed_points, invariants


@contextmanager
def other_last_bits(seed):
    """Perturb data of programmes and coordinates by relative noise of 1e-15 to 1e-12."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-15, -12)

    def noisy(x):
        return x * (1 + size * rng.standard_normal(np.shape(x)))

    start = direction_equations.DirectionEquations.__init__

    def begin(self, rows, slopes):
        start(self, noisy(rows), slopes)

    with mock.patch.object(direction_equations.DirectionEquations, "__init__", begin):
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


def print_spread(seeds):
    """Print how far searched decreases move, at (n, kappa, omega) = (10, 100, 4)."""
    print("| method | decrease | relative spread |\n| --- | --- | --- |")
    for card in METHODS.values():
        if not card.rules:
            continue
        sent = 4.0 if card.method.needs.compressor else None
        where = class_setting(card.method, 10, 100.0, sent, None, 1)
        found = []
        for seed in seeds:
            with nullcontext() if seed is None else other_last_bits(seed):
                found.append(certify(card.at(where), where, potential="search").decrease)
        spread = max(abs(one / found[0] - 1) for one in found)
        print(f"| {card.label} | {found[0]:.6g} | {spread:.0e} |".replace("0e+00", "0"))


if __name__ == "__main__":
    print_spread([None, 0, 1, 2])
