"""DIANA and ADIANA with rand-k as a script would have them: numpy, client by client, one run."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from bare import signed_rows
from numpy.typing import NDArray

from certibit import ADIANA, DIANA

Vector = NDArray[np.float64]


class Clients:
    """The clients' data, gradients and compressor.

    Parameters
    ----------
    problem : LogisticRegression
        In the plain view.
    k : int
        Entries that are sent.
    """

    def __init__(self, problem: Any, k: int) -> None:
        rows, m = signed_rows(problem), problem.m
        self.A = [rows[i * m : (i + 1) * m].toarray() for i in range(problem.n)]
        self.n, self.d, self.m, self.k = problem.n, problem.d, m, k
        self.ridge = problem.ridge_f
        self.draw = np.random.default_rng(0)

    def gradient(self, i: int, x: Vector) -> Vector:
        """Return grad f_i(x)."""
        A = self.A[i]
        return A.T @ (-1 / (1 + np.exp(A @ x))) / self.m + self.ridge * x

    def rand_k(self, v: Vector) -> Vector:
        """Return d/k times k random entries of a vector."""
        sent = np.zeros(self.d)
        chosen = self.draw.choice(self.d, self.k, replace=False)
        sent[chosen] = self.d / self.k * v[chosen]
        return sent


def diana(clients: Clients, method: DIANA) -> Iterator[Vector]:
    """Yield the model after every iteration of DIANA."""
    n, d = clients.n, clients.d
    x, h, h_mean = np.zeros(d), np.zeros((n, d)), np.zeros(d)
    while True:
        m_mean = np.zeros(d)
        for i in range(n):
            m = clients.rand_k(clients.gradient(i, x) - h[i])
            h[i] += method.alpha * m
            m_mean += m / n
        x = x - method.gamma * (h_mean + m_mean)
        h_mean = h_mean + method.alpha * m_mean
        yield x


def adiana(clients: Clients, method: ADIANA) -> Iterator[Vector]:
    """Yield the model after every iteration of ADIANA, variant I."""
    n, d = clients.n, clients.d
    y = z = w = np.zeros(d)
    h, h_mean = np.zeros((n, d)), np.zeros(d)
    gradient = [clients.gradient(i, w) for i in range(n)]
    while True:
        x = method.theta_1 * z + method.theta_2 * w + (1 - method.theta_1 - method.theta_2) * y
        m_mean, c_mean = np.zeros(d), np.zeros(d)
        for i in range(n):
            m_mean += clients.rand_k(clients.gradient(i, x) - h[i]) / n
            c = clients.rand_k(gradient[i] - h[i])
            h[i] += method.alpha * c
            c_mean += c / n
        g = h_mean + m_mean
        h_mean = h_mean + method.alpha * c_mean
        z = method.beta * z + (1 - method.beta) * x - method.gamma * g
        if clients.draw.random() < method.p:
            w = y
            gradient = [clients.gradient(i, w) for i in range(n)]
        y = x - method.eta * g
        yield y


LOOPS = {"diana": diana, "adiana": adiana}
