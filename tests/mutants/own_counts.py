"""A problem of a user's own: Poisson regression of counts."""

import numpy as np

from certibit import problem

_generator = np.random.default_rng(0)
_rows = _generator.standard_normal((80, 6)) / 6
counts = problem(_rows, _generator.poisson(np.exp(_rows.sum(axis=1))), clients=4, loss="poisson",
                 kappa=30)  # fmt: skip
