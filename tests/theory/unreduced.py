"""The programme of a certificate without its symmetry: one unknown and multiplier per client.

An independent second way to the same number, for few clients: all outcomes are enumerated, and the
semidefinite programme is modelled with cvxpy in its original units.
"""

from itertools import permutations

import cvxpy as cp
import numpy as np
import scipy.linalg

from bitbound.solvers.state import each
from bitbound.solvers.world.iteration import advance
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.invariants import invariants
from bitbound.theory.worlds.outcomes import Scripted, outcomes


class Unknowns:
    """Unknown vectors by name, 0 being the solution."""

    def __init__(self, n, size):
        self.n, self.d, self.names = n, size, {}
        self.x_star, self.grad_star = np.zeros((1, size, 1)), np.zeros((n, size, 1))
        self.points = []

    def vectors(self, rows, *name):
        unit = np.zeros((rows, self.d, 1))
        for row in range(rows):
            unit[row, self.names.setdefault((*name, row), len(self.names)), 0] = 1.0
        return unit

    def grad(self, x, active=None):
        return self._evaluate("f", np.broadcast_to(x, (self.n, *x.shape[1:])))

    def grad_g(self, y):
        return self._evaluate("g", y)

    def _evaluate(self, function, x):
        for known, point, gradient in self.points:
            if known == function and np.allclose(point, x, atol=1e-14):
                return gradient
        gradient = self.vectors(len(x), "gradient", function, len(self.points))
        self.points.append((function, x, gradient))
        return gradient


class Noisy(Scripted):
    """Every message gets a noise per client."""

    def __init__(self, unknowns, script):
        super().__init__(unknowns.n, unknowns.d, script)
        self.unknowns, self.noises = unknowns, []

    def uplink(self, v, cohort=None):
        noise = self.unknowns.vectors(self.n, "noise", len(self.noises))
        self.noises.append((noise, v))
        return self.send(v + noise, cohort)


def square(terms):
    return sum(t.weight * t.vectors[:, :, 0].T @ t.vectors[:, :, 0] for t in terms)


def unreduced_decrease(method, family, potential, size=64) -> float:
    """Return 1 - factor, for a potential of squares."""
    problem = Unknowns(family.n, size)
    star = fixed_point(method, problem)
    numbers = iter(range(100))
    state = each(lambda x: problem.vectors(x.shape[0], "state", next(numbers)), star)

    def psi(s):
        return square(potential.lyapunov(method, s, star, family, problem))

    now = psi(state)

    def step(channel):
        after, _ = advance(method, state, problem, channel)
        form = psi(after)
        for noise, sent in channel.noises:
            places = np.argmax(noise[:, :, 0], axis=1)
            variances = form[places, places].copy()
            form[places, :] = form[:, places] = 0.0
            omegas = np.array([family.kinds[kind].omega for kind in family.kind_of_client])
            form += np.einsum("i,ij,ik->jk", variances * omegas, sent[..., 0], sent[..., 0])
        return form

    pairs = outcomes(step, lambda script: Noisy(problem, script))
    after = sum(probability * form for probability, form in pairs)
    used = sorted(k for name, k in problem.names.items() if name[0] != "noise")
    rows = [x.reshape(-1, size) for x in invariants(method, state, problem)]
    rows = np.concatenate([np.zeros((1, size)), *rows])[:, used]
    kernel = np.eye(size)[:, used] @ scipy.linalg.null_space(rows)

    factor, total = cp.Variable(), after
    values, constraints = {}, []
    for function in {name for name, _, _ in problem.points}:
        clients = family.n if function == "f" else 1
        for client in range(clients):
            nothing = np.zeros(size)
            ends = [(nothing, nothing)] + [
                (x[client, :, 0], g[client, :, 0])
                for name, x, g in problem.points
                if name == function
            ]
            for a, b in permutations(range(len(ends)), 2):
                multiplier = cp.Variable(nonneg=True)
                kind = family.kind_of_client[client] if function == "f" else -1
                curvature = family.curvature(kind)
                total = total + multiplier * condition(ends[a], ends[b], *curvature)
                for end, sign in ((a, 1), (b, -1)):
                    place = (function, client, end)
                    values[place] = values.get(place, 0) + sign * multiplier
    constraints += [value == 0 for place, value in values.items() if place[2]]
    scale = np.diag(1 / np.sqrt(np.diag(kernel.T @ (now + np.eye(size) / family.L**2) @ kernel)))
    kernel = kernel @ scale
    reduced = kernel.T @ (total - factor * now) @ kernel
    constraints.append((reduced + reduced.T) / 2 << 0)
    programme = cp.Problem(cp.Minimize(factor), constraints)
    programme.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return 1 - float(factor.value)


def condition(a, b, mu, L):
    """f(a) - f(b) >= ... as a matrix that is to be at least 0, function values left out."""
    (x, u), (y, v) = a, b
    outer = lambda p, q: (np.outer(p, q) + np.outer(q, p)) / 2  # noqa: E731
    slope, step = u - v, x - y
    curved = outer(slope, slope) / L + mu * outer(step, step) - 2 * mu / L * outer(slope, step)
    return -outer(v, step) - curved / (2 * (1 - mu / L))
