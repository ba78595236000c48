"""Local-training methods that coincide, their bits and gradients, and what they refuse."""

from dataclasses import fields, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from comparisons import assert_same_points
from worlds import PROBLEMS, recorded_run, simulate, world

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.compressed_scaffnew import CompressedScaffnew
from certibit.solvers.methods.fedcomgate import FedCOMGATE
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.gradskip import GradSkip
from certibit.solvers.methods.locodl import LoCoDL
from certibit.solvers.methods.scaffnew import Scaffnew
from certibit.solvers.methods.scaffold import SCAFFOLD
from certibit.solvers.methods.tamuna import TAMUNA
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.catalogue.covered_run import run
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass


def states(method, problem, *, iterations=40, seed=0):
    """Return the states of one run, with the coins that the engine would toss."""
    return list(world(method, problem, seeds=(seed,), together=False).walk(iterations))


def everything(s):
    return [getattr(s, field.name) for field in fields(s) if field.name != "active"]


def shifts(s):
    """Return the state of SCAFFOLD in the variables of FedCOMGATE."""
    return [s.x, s.c_i - s.c]


class Pair(NamedTuple):
    left: object
    right: object
    left_part: object
    right_part: object


def pairs(L: float, n: int) -> dict[str, Pair]:
    """Return the pairs of methods that have the same trajectory, and which part of their states."""
    gamma, p, eta = 1.3 / L, 0.3, 1 / (9 * L)
    scaffnew = Scaffnew(gamma, p)
    scaffold = SCAFFOLD(K=3, eta_l=eta, eta_g=1.0, m=n)
    full = TAMUNA(gamma, p, chi=0.6, s=2, m=n)
    models = (lambda s: [s.x.mean(axis=0)],) * 2
    every = (everything, everything)
    return {
        "scaffnew p=1 is gd": Pair(Scaffnew(gamma, 1.0), GD(gamma), *models),
        "compressed-scaffnew s=n p=1 is gd": Pair(
            CompressedScaffnew(gamma, 1.0, eta=1.0, s=n), GD(gamma), *models
        ),
        "compressed-scaffnew s=n is scaffnew": Pair(
            CompressedScaffnew(gamma, p, eta=1.0, s=n), scaffnew, *every
        ),
        "tamuna s=m=n is scaffnew": Pair(TAMUNA(gamma, p, chi=1.0, s=n, m=n), scaffnew, *every),
        "tamuna m=n is compressed-scaffnew": Pair(
            full, CompressedScaffnew(gamma, p, eta=0.6, s=2), *every
        ),
        "gradskip q=1 is scaffnew": Pair(GradSkip(gamma, p, (1.0,) * n), scaffnew, *every),
        "scaffold II K=1 is gd": Pair(SCAFFOLD(1, gamma, 1.0, n), GD(gamma), *models),
        "scaffold I K=1 is gd": Pair(SCAFFOLD(1, gamma, 1.0, n, "I"), GD(gamma), *models),
        "scaffold minimal is published": Pair(
            replace(scaffold, traffic="minimal"), scaffold, *every
        ),
        "fedcomgate K=1 is gd": Pair(FedCOMGATE(1, gamma / 1.5, 1.5, 0.7), GD(gamma), *models),
        "fedcomgate is scaffold": Pair(FedCOMGATE(3, eta, 1.0, 1.0), scaffold, everything, shifts),
        "fedcomgate is scaffold with server steps": Pair(
            FedCOMGATE(3, eta, 1.4, 1.0), replace(scaffold, eta_g=1.4), everything, shifts
        ),
        "locodl p=1 is gd with half the step": Pair(
            LoCoDL(gamma, 1.0, 1.0, 1.0, 0.0), GD(gamma / 2), lambda s: [s.y[0]], models[0]
        ),
    }


@pytest.mark.parametrize("problem", ["quadratic", "logistic"])
@pytest.mark.parametrize("name", pairs(1.0, 4))
def test_identical_trajectories(name, problem):
    problem = PROBLEMS[problem]()
    pair = pairs(problem.plain.constants.L, problem.n)[name]
    assert_same_points(
        [np.concatenate(pair.left_part(s)) for s in states(pair.left, problem)],
        [np.concatenate(pair.right_part(s)) for s in states(pair.right, problem)],
    )


@pytest.mark.parametrize("seed", range(3))
def test_locodl_is_scaffnew_on_twice_as_many_functions(seed):
    """With the identity and rho = chi = 1: Scaffnew on f_1, ..., f_n and n copies of g."""
    problem = Quadratic.random(3, 4, mu=1.0, L=20.0, seed=seed)
    view, n, d = problem.composite, 3, 4
    H = problem.H + view.ridge_f * np.eye(d)
    c = np.linalg.solve(H, problem.H @ problem.c)[:, :, 0]
    copies = np.repeat(view.ridge_g * np.eye(d)[None], n, axis=0)
    doubled = Quadratic.from_arrays(
        np.concatenate([H, copies]), np.concatenate([c, np.zeros((n, d))])
    )
    gamma, p = 1.5 / view.constants.L, 0.3
    ours = states(LoCoDL(gamma, 1.0, 1.0, p, omega=0.0), problem, seed=seed)
    theirs = states(Scaffnew(gamma, p), doubled, seed=seed)
    assert_same_points([np.concatenate([s.x] + [s.y] * n) for s in ours], [s.x for s in theirs])
    assert_same_points([np.concatenate([s.u] + [s.v] * n) for s in ours], [s.h for s in theirs])


@pytest.mark.parametrize("name", ["quadratic", "logistic"])
def test_locodl_without_g(name):
    """The case g = 0, section 3.1 of LoCoDL, is the composite view of the same problem.

    f_i - (mu/4) |x|^2 and (mu/4) |x|^2: constants L - mu/2 and mu/2, kappa at most twice as large,
    and the step of y is (1 - gamma mu/2) y + gamma v.
    """
    problem = PROBLEMS[name]().plain
    view, mu, L = problem.composite, problem.constants.mu, problem.constants.L
    assert view.constants.mu == pytest.approx(mu / 2, rel=1e-12)
    assert view.ridge_g == pytest.approx(mu / 2, rel=1e-12)
    assert view.constants.L_i.max() == pytest.approx(L - mu / 2, rel=1e-12)
    assert problem.constants.kappa <= view.constants.kappa <= 2 * problem.constants.kappa
    np.testing.assert_array_equal(view.x_star, problem.x_star)
    x = np.random.default_rng(0).standard_normal((problem.n, problem.d, 2))
    np.testing.assert_allclose(view.grad(x), problem.grad(x) - mu / 2 * x, rtol=1e-10, atol=1e-12)

    method = parameters("locodl", problem, compressor("natural"))
    assert method.gamma == pytest.approx(1 / (L - mu / 2), rel=1e-12)
    w = world(method, problem)
    s = w.start()
    s = replace(s, y=x[:1], v=x[1:2])
    after = method.local_step(s, w.oracle, w.channel)
    by_hand = (1 - method.gamma * mu / 2) * s.y + method.gamma * s.v
    np.testing.assert_allclose(after.y, by_hand, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("s", [2, 3])
@pytest.mark.parametrize("m", [3, 5])
@pytest.mark.parametrize("d", [2, 30])
def test_masked_round_entry_by_entry(d, m, s):
    """The masked average and the control variates of TAMUNA, by loops over entries and owners."""
    problem = Quadratic.random(6, d, mu=1.0, L=5.0, seed=1)
    method = TAMUNA(gamma=0.1, p=0.5, chi=0.7, s=s, m=m)
    w, again = world(method, problem), world(method, problem)
    rng = np.random.default_rng(d)
    start = replace(
        method.fixed_point(problem), x=rng.standard_normal((6, d, 3)), h=np.zeros((6, d, 3))
    )
    after = method.communicate(start, w.oracle, w.channel)
    owned = again.channel.ownership(s, again.channel.cohort(m))
    for run_, feature in np.ndindex(3, d):
        owners = [i for i in range(6) if owned[i, feature, run_]]
        average = sum(start.x[i, feature, run_] for i in owners) / s
        for i in range(6):
            h = 0.5 * 0.7 / 0.1 * (average - start.x[i, feature, run_]) if i in owners else 0.0
            assert after.x[i, feature, run_] == pytest.approx(average, rel=1e-12)
            assert after.h[i, feature, run_] == pytest.approx(h, rel=1e-12, abs=1e-12)


def test_gradskip_skips_exactly():
    """A client that skips stays where it is with h_i = grad f_i(x_i); sums are 0 after a round."""
    problem = PROBLEMS["quadratic"]()
    method = GradSkip(gamma=1 / 30, p=0.1, q=(0.0, 0.5, 0.9, 1.0))
    visited = states(method, problem, iterations=300)
    skipped = 0
    for s, after in pairwise(visited):
        idle = ~s.active[:, 0, 0]
        skipped += idle.sum()
        if after.active.all():
            assert np.max(np.abs(after.h.sum(axis=0))) < 1e-11 * np.max(np.abs(after.h))
            continue
        np.testing.assert_array_equal(after.x[idle], s.x[idle])
        np.testing.assert_array_equal(after.h[idle], s.h[idle])
        assert not after.active[idle].any()
        deviation = (s.h - problem.grad(s.x))[idle]
        assert np.max(np.abs(deviation), initial=0.0) <= 1e-12 * np.max(np.abs(s.h))
    assert skipped > 300


class OnlyActive:
    """An oracle that has no gradient for the clients that do not evaluate theirs."""

    def __init__(self, oracle):
        self.oracle = oracle

    def __getattr__(self, name):
        return getattr(self.oracle, name)

    def grad(self, x, active=None):
        return np.where(active, self.oracle.grad(x), np.nan)


def test_gradskip_uses_no_gradient_that_it_skips():
    problem = PROBLEMS["quadratic"]()
    method = GradSkip(gamma=1 / 30, p=0.1, q=(0.0, 0.5, 0.9, 1.0))
    w = world(method, problem)
    s = w.start()
    for _ in range(20):
        s = method.local_step(s, OnlyActive(w.oracle), w.channel)
        assert np.isfinite(s.x).all()
        assert np.isfinite(s.h).all()
    assert not s.active.all()


D, N = 6, 4
NATURAL, RAND = compressor("natural"), compressor("rand-k:2")
TRAFFIC = {
    # numbers of 32 bits unless a compressor is given: up, down, gradients per iteration
    "scaffnew": (Scaffnew(0.01, 0.5), None, 32 * D, D, 1),
    "compressed-scaffnew": (CompressedScaffnew(0.01, 0.5, 0.5, s=2), None, 32 * D / 2, D, 1),
    "compressed-scaffnew s=3": (CompressedScaffnew(0.01, 0.5, 0.5, s=3), None, 24 * D, D, 1),
    "tamuna": (TAMUNA(0.01, 0.5, 0.5, s=2, m=3), None, 16 * D, (3 * D + 2 * D) / 4, 3 / 4),
    "tamuna full": (TAMUNA(0.01, 0.5, 0.5, s=2, m=4), None, 16 * D, D, 1),
    "gradskip q=1": (GradSkip(0.01, 0.5, (1.0,) * N), None, 32 * D, D, 1),
    "scaffold I": (SCAFFOLD(5, 0.01, 1.0, m=4, option="I"), None, 64 * D, 2 * D, 5),
    "scaffold II": (SCAFFOLD(5, 0.01, 1.0, m=4), None, 64 * D, 2 * D, 5),
    "scaffold sampled": (SCAFFOLD(5, 0.01, 1.0, m=1), None, 16 * D, D / 2, 5 / 4),
    "scaffold minimal": (SCAFFOLD(5, 0.01, 1.0, 4, traffic="minimal"), None, 32 * D, D, 5),
    "scaffold minimal sampled": (
        SCAFFOLD(5, 0.01, 1.0, 2, traffic="minimal"), None, 16 * D, D, 5 / 2
    ),
    "fedcomgate natural": (FedCOMGATE(3, 0.01, 1.0, 0.5), NATURAL, 9 * D, D, 3),
    "fedcomgate rand-k": (FedCOMGATE(3, 0.01, 1.0, 0.5), RAND, 2 * (32 + 3), D, 3),
    "fedcomgate sampled": (FedCOMGATE(3, 0.01, 1.0, 0.5, S=2), NATURAL, 9 * D / 2, D, 3 / 2),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAFFIC)
def test_bits_and_gradients(name):
    """The accounting of every round: nothing more and nothing less is counted."""
    method, chosen, up, down, gradients = TRAFFIC[name]
    problem = Quadratic.random(N, D, mu=1.0, L=10.0)
    trace = simulate(
        method, problem, chosen, seeds=3, budget=Budget(rounds=9), record=Record(every=1)
    )
    spent = trace.columns
    np.testing.assert_allclose(spent["uplink_bits"], spent["rounds"] * up, rtol=1e-12)
    np.testing.assert_allclose(spent["downlink_bits"], 32 * spent["rounds"] * down, rtol=1e-12)
    np.testing.assert_allclose(spent["gradients"], spent["iteration"] * gradients, rtol=1e-12)
    assert spent["rounds"].max() == 9


@pytest.mark.long
@pytest.mark.parametrize("p", [0.1, 0.4])
@pytest.mark.parametrize("q", [0.0, 0.6, 0.95, 1.0])
def test_gradskip_counts_what_it_evaluates(q, p):
    """Gradients per round and client are min{Geom(p), Geom(1 - q)}, in the mean 1/(1 - q (1 - p)).

    With one client the rounds are independent. The mean of N = 20000 is within 6 standard errors:
    false-alarm rate 2e-9 in the normal approximation.
    """
    problem = Quadratic.random(1, 2, mu=1.0, L=2.0)
    method = GradSkip(gamma=0.1, p=p, q=(q,))
    rounds, seeds = 100, 200
    trace = simulate(
        method, problem, seeds=seeds, budget=Budget(rounds=rounds), record=Record(every=rounds)
    )
    ends = 1 - q * (1 - p)  # the probability that an evaluation is the last of its round
    per_round = trace.final("gradients").mean() / rounds
    tolerance = 6 * np.sqrt(1 - ends) / ends / np.sqrt(seeds * rounds)
    assert abs(per_round - 1 / ends) <= tolerance + 1e-12


def test_fedcomgate_with_a_cohort_by_hand():
    """Rounds of two of four clients, whose sum of trackings stays 0; the others stay as they are.

    That the method converges with cohorts is proved by a certificate at one point.
    """
    problem = Quadratic.random(N, D, mu=1.0, L=10.0)
    K, eta, gamma_s, alpha, S = 3, 0.01, 1.2, 0.5, 2
    method = FedCOMGATE(K, eta, gamma_s, alpha, S)
    x, delta = problem.x_0[0, :, 0], np.zeros((N, D))
    for s in states(method, problem, iterations=20)[1:]:
        moved = np.flatnonzero((s.delta[:, :, 0] != delta).any(axis=1))
        assert len(moved) == S
        y = np.repeat(x[None], N, axis=0)
        for _ in range(K):
            y = y - eta * (problem.grad(y[:, :, None])[:, :, 0] - delta)
        m = ((x - y) / eta)[moved]
        x = x - eta * gamma_s * m.mean(axis=0)
        delta[moved] += alpha / K * (m - m.mean(axis=0))
        np.testing.assert_allclose(s.x[0, :, 0], x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(s.delta[:, :, 0], delta, rtol=1e-9, atol=1e-11)
        delta = s.delta[:, :, 0].copy()
    proof = certify(FedCOMGATE(2, 0.002, 1.0, 0.5, S=2), FunctionClass(3, 1.0, 10.0, omega=1.0))
    assert proof.factor < 0.9921
    assert proof.verify() < 0.9921
    with pytest.raises(Refusal, match="n <= S"):
        run(method, problem, compressor("natural"), strict=True)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("rule", ["published", "damped"])
@pytest.mark.parametrize("selector", ["rand-k:2", "l1", "natural"])
def test_published_fedcomgate_diverges_for_large_variance(selector, rule):
    """With alpha = 1 the tracking error is multiplied by about omega; damped it shrinks."""
    problem, chosen = Quadratic.random(10, 20, mu=1.0, L=10.0), compressor(selector)
    card = METHODS["fedcomgate"]
    experiment = Experiment.of(card.parameters(problem, chosen, rule), problem, chosen)
    trace = recorded_run(experiment, card.theorems[0], seeds=3, budget=Budget(rounds=300))
    growth = trace.final("lyapunov") / trace.columns["lyapunov"][0]
    if rule == "published" and chosen.omega(20) > 1:
        assert not (growth < 1e20).any()
    else:
        assert (growth < 0.9).all()


def test_refusals():
    problem = Quadratic.random(4, 3, mu=1.0, L=10.0)
    alone = Quadratic.random(1, 3, mu=1.0, L=10.0)
    with pytest.raises(Refusal, match="choose option II or the published traffic"):
        SCAFFOLD(2, 0.1, 1.0, 4, option="I", traffic="minimal")
    for name in ("compressed-scaffnew", "tamuna"):
        for rule in ("paper", "best"):
            with pytest.raises(Refusal, match="take at least 2 clients"):
                parameters(name, alone, None, rule)
            with pytest.raises(Refusal, match="choose s between 2 and 4"):
                parameters(name, problem, None, rule, s=5)
    for m in (5, 1):
        with pytest.raises(Refusal, match=r"choose m <= 4|take at least 2 clients"):
            parameters("tamuna", problem, m=m)
    for m in (0, 5):
        with pytest.raises(Refusal, match="choose m between 1 and 4"):
            parameters("scaffold", problem, m=m)
    with pytest.raises(Refusal, match="has no option 'k'; it leaves open K, m"):
        parameters("scaffold", problem, k=3)
    with pytest.raises(Refusal, match="has no option 's'; it leaves open nothing"):
        parameters("scaffnew", problem, s=3)
    for name in ("scaffnew", "compressed-scaffnew", "tamuna", "gradskip", "scaffold"):
        with pytest.raises(Refusal, match="sends uncompressed vectors"):
            parameters(name, problem, RAND)
    with pytest.raises(Refusal, match="biased"):
        parameters("fedcomgate", problem, compressor("top-k:1"))
