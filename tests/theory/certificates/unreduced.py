"""The programme of a certificate without its symmetry: one unknown and multiplier per client.

An independent second way to the same number, for few clients: all outcomes are enumerated, Psi and
E[Psi+] and all inequalities are put together densely here, from the method's own step, and the
semidefinite programme is modelled with cvxpy in its original units.
"""

import warnings
from collections import Counter
from itertools import permutations

import cvxpy as cp
import numpy as np
import scipy.linalg

from certibit.solvers.simulation.iteration import advance
from certibit.solvers.state import each
from certibit.theory.potential import Squares
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.outcomes import Scripted, outcomes


class Unknowns:
    """Unknown vectors by name, 0 being the solution."""

    def __init__(self, n, size):
        self.n, self.d, self.names = n, size, {}
        self.x_star, self.grad_star = np.zeros((1, size, 1)), np.zeros((n, size, 1))
        self.points, self.errors = [], []

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

    def value(self, function, x):
        """Return at which of the function's points, counted from 1, a value is taken."""
        self._evaluate(function, x)
        of_function = [point for name, point, _ in self.points if name == function]
        return 1 + next(i for i, p in enumerate(of_function) if np.allclose(p, x, atol=1e-14))


class Noisy(Scripted):
    """Every message gets a noise per client, or the error of a contraction."""

    def __init__(self, unknowns, script, needs, family):
        super().__init__(unknowns.n, unknowns.d, script)
        self.unknowns, self.noises = unknowns, []
        self.contractive = needs.compressor == "contractive"
        self.noisy_down = needs.downlink == "unbiased"
        self.biased = family.bias is not None
        self.alpha, self.alpha_down = family.alpha, family.alpha_down
        if self.biased:
            self.alpha = 1 - family.bias**2

    def uplink(self, v, cohort=None):
        if self.contractive:
            noise = self.noise(v, self.n) if self.biased else 0 * v
            return self.send(v + self.error(v, self.n, self.alpha) + noise, cohort)
        return self.send(v + self.noise(v, self.n), cohort)

    def noise(self, v, senders):
        noise = self.unknowns.vectors(senders, "noise", len(self.noises))
        self.noises.append((noise, v))
        return noise

    def downlink(self, v):
        if self.noisy_down:
            return v + self.noise(v, 1)
        return v if self.alpha_down is None else v + self.error(v, 1, self.alpha_down)

    def error(self, v, senders, alpha):
        v = np.broadcast_to(v, (senders, *v.shape[1:]))
        for known, error, _ in self.unknowns.errors:
            if known.shape == v.shape and np.allclose(known, v, atol=1e-14):
                return error
        error = self.unknowns.vectors(senders, "error", len(self.unknowns.errors))
        self.unknowns.errors.append((v, error, alpha))
        return error


def form_of(terms, problem, method, family):
    """Return the matrix of squares, and the coefficients of values by function, client and point.

    A value at a point with noise is at most that without, plus (L/2) |noise|^2.
    """
    matrix, values = np.zeros((problem.d, problem.d)), Counter()
    noise = np.zeros(problem.d, dtype=bool)
    noise[[place for name, place in problem.names.items() if name[0] == "noise"]] = True
    for term in terms:
        if isinstance(term, Squares):
            matrix = matrix + term.weight * term.vectors[:, :, 0].T @ term.vectors[:, :, 0]
            continue
        noisy = term.point[0, :, 0] * noise
        smoothness = family.average_smoothness + (family.L if method.needs.composite else 0)
        matrix = matrix + term.weight * smoothness / 2 * np.outer(noisy, noisy)
        point = term.point - noisy[None, :, None]
        everywhere = np.broadcast_to(point, (family.n, *point.shape[1:]))
        for function, x in (("f", everywhere), ("g", point)):
            if function == "f" or method.needs.composite:
                place = problem.value(function, x)
                for client in range(len(x)):
                    values[function, client, place] += term.weight / len(x)
    return matrix, values


def unreduced_decrease(method, family, potential, size=64) -> float:
    """Return 1 - factor."""
    problem = Unknowns(family.n, size)
    star = fixed_point(method, problem)
    numbers = iter(range(100))
    state = each(
        lambda x: x if x.dtype == bool else problem.vectors(x.shape[0], "state", next(numbers)),
        star,
    )

    def psi(s):
        terms = potential.lyapunov(method, s, star, family, problem)
        return form_of(terms, problem, method, family)

    now, values_now = psi(state)
    values_after = Counter()

    def step(channel):
        after, _ = advance(method, state, problem, channel)
        form, values = psi(after)
        for noise, vectors in reversed(channel.noises):
            places = np.argmax(noise[:, :, 0], axis=1)
            variances = form[places, places].copy()
            form[places, :] = form[:, places] = 0.0
            sent = np.broadcast_to(vectors, (len(noise), *vectors.shape[1:]))
            omegas = np.array([family.kinds[kind].omega for kind in family.kind_of_client])
            if len(noise) == 1 < family.n:  # the server's; with one client it is not told apart
                omegas = np.array([family.omega_down])
            form += np.einsum("i,ij,ik->jk", variances * omegas, sent[..., 0], sent[..., 0])
        return form, values

    pairs = list(outcomes(step, lambda script: Noisy(problem, script, method.needs, family)))
    after = sum(probability * form for probability, (form, _) in pairs)
    for probability, (_, values) in pairs:
        for place, value in values.items():
            values_after[place] += probability * value
    used = sorted(k for name, k in problem.names.items() if name[0] != "noise")
    rows = [x.reshape(-1, size) for x in invariants(method, state, problem)]
    rows = np.concatenate([np.zeros((1, size)), *rows])[:, used]
    kernel = np.eye(size)[:, used] @ scipy.linalg.null_space(rows)

    factor, total = cp.Variable(), after
    values = {
        place: values_after[place] - factor * values_now[place]
        for place in {**values_now, **values_after}
    }
    constraints = []
    for sent, error, alpha in problem.errors:
        for v, e in zip(sent[:, :, 0], error[:, :, 0], strict=True):
            total = total + cp.Variable(nonneg=True) * (
                (1 - alpha) * np.outer(v, v) - np.outer(e, e)
            )
    for function in ("g", "f"):
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
    length = kernel.T @ (now + np.eye(size) / family.L**2) @ kernel  # 1 in the coordinates below
    kernel = np.linalg.solve(np.linalg.cholesky(length), kernel.T).T
    reduced = kernel.T @ (total - factor * now) @ kernel
    constraints.append((reduced + reduced.T) / 2 << 0)
    programme = cp.Problem(cp.Minimize(factor), constraints)
    with warnings.catch_warnings():  # the tolerance of the test is what decides
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        programme.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return 1 - float(factor.value)


def condition(a, b, mu, L):
    """f(a) - f(b) >= ... as a matrix that is to be at least 0, function values left out."""
    (x, u), (y, v) = a, b
    outer = lambda p, q: (np.outer(p, q) + np.outer(q, p)) / 2  # noqa: E731
    slope, step = u - v, x - y
    curved = outer(slope, slope) / L + mu * outer(step, step) - 2 * mu / L * outer(slope, step)
    return -outer(v, step) - curved / (2 * (1 - mu / L))
