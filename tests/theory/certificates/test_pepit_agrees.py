"""The factors that PEPit finds for the same steps written in its own words."""

import math

import numpy as np
import PEPit
import pytest
from PEPit.functions import SmoothStronglyConvexFunction

from certibit import DIANA, GD, FunctionClass, Scaffnew, certify


def solve_with_pepit(problem: PEPit.PEP) -> float:
    return problem.solve(wrapper="cvxpy", solver="CLARABEL", verbose=0)


@pytest.mark.parametrize("gamma", [0.05, 0.15])
def test_pepit_agrees_on_gradient_descent(gamma):
    problem = PEPit.PEP()
    f = problem.declare_function(SmoothStronglyConvexFunction, mu=1.0, L=10.0)
    star, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - star) ** 2 <= 1)
    problem.set_performance_metric((x - gamma * f.gradient(x) - star) ** 2)
    proved = certify(GD(gamma), FunctionClass(1, 1.0, 10.0))
    assert solve_with_pepit(problem) == pytest.approx(proved.factor, rel=1e-5)


def pepit_clients(n: int):
    problem = PEPit.PEP()
    clients = [
        problem.declare_function(SmoothStronglyConvexFunction, mu=1.0, L=10.0) for _ in range(n)
    ]
    star = (sum(clients[1:], start=clients[0]) / n).stationary_point()
    return problem, clients, star, [f.gradient(star) for f in clients]


def total(terms):
    first, *others = terms
    return sum(others, start=first)


@pytest.mark.parametrize("p", [0.3, 1.0])
def test_pepit_agrees_on_scaffnew(p):
    n, gamma = 2, 0.12
    problem, clients, star, h_star = pepit_clients(n)
    x = [problem.set_initial_point() for _ in clients]
    h = [problem.set_initial_point() for _ in clients[1:]]
    h = [-total(h), *h]
    ratio = (gamma / p) ** 2

    def psi(x, h):
        duals = [(a - b) ** 2 for a, b in zip(h, h_star, strict=True)]
        return total([(a - star) ** 2 for a in x]) + ratio * total(duals)

    problem.set_initial_condition(psi(x, h) <= 1)
    local = [a - gamma * (f.gradient(a) - b) for f, a, b in zip(clients, x, h, strict=True)]
    mean = total(local) / n
    moved = [b + p / gamma * (mean - a) for a, b in zip(local, h, strict=True)]
    problem.set_performance_metric(p * psi([mean] * n, moved) + (1 - p) * psi(local, h))
    proved = certify(Scaffnew(gamma, p), FunctionClass(n, 1.0, 10.0))
    assert solve_with_pepit(problem) == pytest.approx(proved.factor, rel=1e-5)


@pytest.mark.parametrize("q", [0.5, 0.8])
def test_pepit_agrees_on_diana_with_bernoulli_compressors(q):
    n, omega = 2, 1 / q - 1
    method, functions = DIANA(gamma=0.06, alpha=0.8 * q), FunctionClass(n, 1.0, 10.0, omega=omega)
    problem, clients, star, h_star = pepit_clients(n)
    x, h = problem.set_initial_point(), [problem.set_initial_point() for _ in clients]
    gradients = [f.gradient(x) for f in clients]
    weight = 4 * functions.omega_av / method.alpha * method.gamma**2 / n

    def psi(x, h):
        duals = [(a - b) ** 2 for a, b in zip(h, h_star, strict=True)]
        return (x - star) ** 2 + weight * total(duals)

    problem.set_initial_condition(psi(x, h) <= 1)
    parts = []
    for sent in np.ndindex(*(2,) * n):
        m = [s / q * (g - a) for s, g, a in zip(sent, gradients, h, strict=True)]
        new = x - method.gamma * total([a + b for a, b in zip(h, m, strict=True)]) / n
        shifts = [a + method.alpha * b for a, b in zip(h, m, strict=True)]
        parts.append(math.prod(q if s else 1 - q for s in sent) * psi(new, shifts))
    problem.set_performance_metric(total(parts))
    proved = certify(method, functions)
    assert solve_with_pepit(problem) == pytest.approx(proved.factor, rel=1e-5)
