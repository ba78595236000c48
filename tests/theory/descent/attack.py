"""The largest E[Psi+] - Psi + c M over states, exactly, on quadratics of one dimension.

It shares nothing with the symbols: the method's own step runs on numbers, all coins are enumerated,
and so are the signs of errors: those of a contraction are sqrt(1 - alpha) v or its opposite, those
of an unbiased compressor sqrt(omega) v with either sign, each with probability 1/2. A sampled
gradient has the noise sigma, or l x + r f_i'(x), with either sign, one sample the same sign twice;
if the method names no samples, every gradient of its step is one of its own.
"""

from dataclasses import dataclass, fields, replace
from itertools import product

import numpy as np

from certibit.solvers.simulation.iteration import theorem_step
from certibit.theory.potential import Gap


@dataclass(frozen=True)
class Quadratics:
    """f_i(x) = (h_i/2) x^2 + b_i x, on arrays (n, 1, R); h and b are (n, 1, 1)."""

    h: np.ndarray
    b: np.ndarray
    sigma: float = 0.0
    channel: "Signs | None" = None
    change: float = 0.0  # l
    ratio: float = 0.0  # r
    named: bool = True

    @property
    def n(self):
        return len(self.h)

    def grad(self, x, active=None, sample=None):
        exact = self.h * x + self.b
        if (sample is None and self.named) or self.channel is None:
            return exact
        signs = sample if isinstance(sample, np.ndarray) else self.channel.signs()
        return exact + signs * (self.sigma + self.change * x + self.ratio * exact)

    def sample(self, slot):
        return 0 if self.channel is None else self.channel.signs()

    def value(self, x):
        return np.mean(self.h / 2 * x**2 + self.b * x, axis=0)[0]


class Signs:
    """A channel whose coins and signs are written down; ``asked`` counts them."""

    def __init__(self, n, script, alpha, omega):
        self.n, self.script, self.alpha, self.omega = n, list(script), alpha, omega
        self.probability, self.asked = 1.0, 0

    def _next(self, p):
        self.asked += 1
        heads = self.script.pop(0) if self.script else True
        self.probability *= p if heads else 1 - p
        return heads

    def talking(self, schedule, iteration):
        return np.array([not hasattr(schedule, "p") or self._next(schedule.p)])

    def cohort(self, m):
        assert m == self.n or (m, self.n) == (1, 2)
        first = m == self.n or self._next(0.5)
        return np.array([first, m == 2 or not first][: self.n])[:, None, None]

    def coin(self, p):
        return np.full((1, 1, 1), self._next(p))

    def signs(self):
        return np.array([1.0 if self._next(0.5) else -1.0 for _ in range(self.n)])[:, None, None]

    def uplink(self, v, cohort=None):
        sent = v
        if self.alpha is not None:
            sent = sent + self.alpha[: self.n, None, None] * v
        if self.omega:
            sent = sent + self.omega**0.5 * self.signs() * v
        return self.send(sent, cohort)

    def send(self, v, mask=None):
        return v if mask is None else np.where(mask, v, 0.0 * v)

    def broadcast(self, v, cohort=None):
        return v


def steps(method, problem, state, alpha, omega):
    """Yield the probability and the state of every outcome of a step."""

    def step(channel):
        seen = replace(problem, channel=channel, named=method.needs.samples)
        return theorem_step(method, state, seen, channel)

    probe = Signs(problem.n, (), alpha, omega)
    step(probe)
    for script in product([True, False], repeat=probe.asked):
        channel = Signs(problem.n, script, alpha, omega)
        yield channel, step(channel)


@dataclass(frozen=True)
class Solution:
    """What a state is compared with: the solution, or the model as if it were one."""

    x_star: np.ndarray
    grad_star: np.ndarray
    n: int

    @classmethod
    def of(cls, problem, x):
        return cls(x, problem.grad(x), problem.n)


def psi(proof, s, problem):
    """Evaluate Psi at a state; without a solution the state at rest is that about the model."""
    method, functions = proof.method, proof.functions
    x = method.model(s)
    lowest = 0.0
    if functions.has_solution:
        x = -np.mean(problem.b, axis=0, keepdims=True) / np.mean(problem.h)
    if np.mean(problem.h) > 0:
        lowest = -(np.mean(problem.b) ** 2) / (2 * np.mean(problem.h))
    star = method.fixed_point(Solution.of(problem, x))
    total = 0.0
    for term in proof.potential.lyapunov(method, s, star, functions, problem):
        if isinstance(term, Gap):
            one = problem.value(term.point) - lowest
        else:
            one = np.sum(term.vectors**2)
        total += term.weight * float(np.sum(one))
    return float(proof.scale) * total


def excess_at_start(proof, problem, x):
    """Return Psi - |x - x*|^2 at the state at rest about x."""
    star = -np.mean(problem.b, axis=0, keepdims=True) / np.mean(problem.h)
    rest = proof.method.fixed_point(Solution.of(problem, x))
    return psi(proof, rest, problem) - float(np.sum((x - star) ** 2))


def largest_excess(proof, h, signs=None, *, shared=False, change=0.0, ratio=0.0, dissimilar=False):
    """Return the largest E[Psi+] - Psi + c M - e sigma^2, for given h_i.

    States, b and sigma are together of unit length. With a ``shared`` stationary point b_i is a
    multiple of h_i. Gradients may be ``dissimilar`` by zeta, and then e' zeta^2 is subtracted.
    """
    functions, method, n = proof.functions, proof.method, len(h)
    alpha = None
    if functions.alpha is not None and method.needs.compressor == "contractive":
        lost = (1 - functions.alpha) ** 0.5 if functions.bias is None else functions.bias
        alpha = np.array(signs or [-1.0] * n) * lost

    def quadratics(b, sigma=0.0):
        curved = np.array(h, dtype=float)[:, None, None]
        return Quadratics(curved, b[:, None, None], sigma, None, change, ratio)

    start = method.start(
        np.zeros((1, 1, 1)), quadratics(np.zeros(n)), Signs(n, (), alpha, functions.omega)
    )
    names = [one.name for one in fields(start)]
    shapes = [getattr(start, name).shape for name in names]
    sizes = [int(np.prod(shape)) for shape in shapes]

    def excess(vector):
        *vector, sigma = vector
        sigma *= functions.noise is not None and not (change or ratio or dissimilar)
        problem = quadratics(np.array(vector[:n]), sigma)
        parts = np.split(np.array(vector[n:]), np.cumsum(sizes)[:-1])
        given = {k: v.reshape(s) for k, v, s in zip(names, parts, shapes, strict=True)}
        state = replace(start, **given)
        after = sum(
            channel.probability * psi(proof, there, problem)
            for channel, there in steps(method, problem, state, alpha, functions.omega)
        )
        measure = float(np.mean(problem.grad(method.model(state)), axis=0)[0, 0] ** 2)
        if proof.measure.name == "gap":  # f is not constant: (mean h) > 0
            measure /= 2 * np.mean(h)
        now = psi(proof, state, problem)
        if proof.measure.name == "potential":
            measure = now
        now *= 1 + float(proof.growth)
        left = proof.e * sigma**2
        if dissimilar:  # zeta^2, with B = 1, is at most its sum over the points of a round
            ends = [there for _, there in steps(method, problem, state, alpha, functions.omega)]
            for point in (state, *ends):
                slopes = problem.grad(method.model(point))
                zeta_squared = float(np.mean(slopes**2) - np.mean(slopes) ** 2)
                left += proof.dissimilarity * zeta_squared
        return after - now + proof.c * measure - left

    size = n + sum(sizes) + 1
    allowed = np.eye(size)
    relations = np.array(
        [_violated(method, quadratics, row, n, names, shapes, sizes, start) for row in allowed]
    )
    if functions.noise and not method.needs.samples:  # noise breaks what has gradients
        relations[:, relations[:n].any(axis=0)] = 0
    if shared:
        apart = np.eye(size)[:, :n] @ (np.eye(n) - np.outer(h, h) / np.dot(h, h))
        relations = np.hstack([relations, apart])
    _, lengths, rows = np.linalg.svd(relations.T)
    rank = int(np.sum(lengths > 1e-9 * max(lengths.max(initial=0.0), 1e-300)))
    basis = rows[rank:]
    single = np.array([excess(row) for row in basis])
    form = np.diag(single)
    for i in range(len(basis)):
        for j in range(i):
            both = excess(basis[i] + basis[j])
            form[i, j] = form[j, i] = (both - single[i] - single[j]) / 2
    return float(np.linalg.eigvalsh(form)[-1])


def _violated(method, quadratics, vector, n, names, shapes, sizes, start):
    """Return the invariants of a state and gradients."""
    problem = quadratics(vector[:n])
    parts = np.split(vector[n:-1], np.cumsum(sizes)[:-1])
    given = {k: v.reshape(s) for k, v, s in zip(names, parts, shapes, strict=True)}
    found = method.invariants(replace(start, **given), problem) or ()
    return np.concatenate([[0.0], *(np.ravel(one) for one in found)])
