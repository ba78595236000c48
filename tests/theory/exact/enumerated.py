"""The second moments of a step without their symmetry: all clients and outcomes one by one.

An independent second way to the same number, for few clients: the method's own step is run on every
unit deviation in all outcomes of coins, masks and errors, on a quadratic problem of the package.
"""

from dataclasses import fields, replace
from itertools import product

import numpy as np

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import number_of_runs
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.linear_maps import natural_sizes, unit_deviations, valid_deviations
from certibit.theory.worlds.outcomes import Scripted, outcomes


class TwoPointChannel(Scripted):
    """Unbiased messages are off by + or - the root of their variance, tossed by a coin.

    Of the part of the variance that clients share, one coin is tossed for all.
    """

    def __init__(self, method, extreme, script):
        super().__init__(extreme.functions.n, 1, script)
        self.needs, self.extreme, self.functions = method.needs, extreme, extreme.functions
        kinds = [self.functions.kinds[kind] for kind in self.functions.kind_of_client]
        self.omegas = np.array([one.omega for one in kinds])
        contraction = self.functions.contraction
        self.alphas = np.array([contraction(kind) for kind in self.functions.kind_of_client])

    def uplink(self, v, cohort=None):
        if self.needs.compressor == "contractive":
            factors = 1 + self.extreme.sign * (1 - self.alphas) ** 0.5
            if self.functions.bias is not None:
                factors = factors + self._noises()
        else:
            factors = 1 + self._noises()
            common = np.array(self.extreme.common)[self.functions.kind_of_client]
            if common.any():
                factors += common**0.5 * self.choose([(0.5, 1.0), (0.5, -1.0)])
        return self.send(v * factors[:, None, None], cohort)

    def _noises(self):
        signs = [(0.5**self.n, one) for one in product((1.0, -1.0), repeat=self.n)]
        return self.omegas**0.5 * np.array(self.choose(signs))

    def downlink(self, v):
        if self.needs.downlink == "contractive":
            return v * (1 + self.extreme.sign_down * (1 - self.functions.contraction(-1)) ** 0.5)
        deviation = self.functions.omega_down**0.5
        return v * (1 + deviation * self.choose([(0.5, 1.0), (0.5, -1.0)]))


def enumerated_moments(method, extreme):
    """Return the map of the products of two deviations, in the mean: (k^2, k^2)."""
    functions = extreme.functions
    curvatures = np.repeat(extreme.curvatures, extreme.counts)
    matrices = (curvatures + extreme.ridge)[:, None, None]
    problem = Quadratic.from_arrays(matrices, np.zeros((functions.n, 1)))
    view = replace(problem, ridge_g=extreme.ridge)
    star = fixed_point(method, view)
    units = unit_deviations(star)
    runs = number_of_runs(units)
    oracle, start = Oracle(view, np.arange(runs), Ledger(runs)), flat(units)
    sizes = natural_sizes(method, functions.n, functions.L, star)
    basis = valid_deviations(tuple(x * sizes for x in invariants(method, units, view)), runs)

    def step(channel):
        after = flat(theorem_step(method, units, oracle, channel)) - flat(star)
        moved = np.linalg.solve(start - flat(star), after)
        return (basis / sizes[:, None]).T @ moved @ (sizes[:, None] * basis)

    pairs = outcomes(step, lambda script: TwoPointChannel(method, extreme, script))
    return sum(probability * np.kron(one, one) for probability, one in pairs)


def flat(s):
    """Return the entries of a state that are not flags, one column per run."""
    arrays = [getattr(s, field.name) for field in fields(s)]
    return np.concatenate([x.reshape(-1, x.shape[2]) for x in arrays if x.dtype != bool])
