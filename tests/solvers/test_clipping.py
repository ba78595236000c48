"""Clipped methods: the identities between them on common samples, their costs, and B.3 exactly."""

from dataclasses import fields, replace
from itertools import pairwise, product
from math import inf

import numpy as np
import pytest
from worlds import LIBRARIES, simulate, world_of

from certibit import CELGC, EPISODE, GD, SCAFFOLD, Clip21, ClippedSGD, Experiment, Quartics, Refusal
from certibit.data.noise import Ball, Uniform
from certibit.data.quiet_machine import quiet_machine
from certibit.data.relaxed.families import Cosh, Multiples, Tilted, Well, crossed_cosh, stalemate
from certibit.solvers.clipping import Trained, unit
from certibit.solvers.compressors.base import Identity
from certibit.solvers.libraries import host
from certibit.solvers.methods.clipped_minibatch_sgd import ClippedMinibatchSGD
from certibit.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus
from certibit.solvers.methods.momentum_clipping import MomentumClipping
from certibit.solvers.methods.naive_parallel_clip import NaiveParallelClip
from certibit.solvers.methods.normalised_ef21 import NormalisedEF21
from certibit.solvers.methods.normalised_gd import NormalisedGD
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.simulation.oracle import Tape
from certibit.theory.catalogue.catalogue import CLIPPING

ETA, GAMMA, ROUNDS, SEEDS = 0.02, 0.08, 25, (0, 1, 2)
"""The threshold, 4, is crossed in the runs below: some rounds are clipped and some are not."""


def world_of_rounds(method, problem, **options):
    """Return the world of a method; methods for convex problems are welcome too."""
    return world_of(Experiment(method, problem, Identity()), seeds=SEEDS, **options)


def trajectory(method, problem, rounds=ROUNDS, library="numpy"):
    """Return the models after every round, (rounds + 1, d, R), and the ledger."""
    w = world_of_rounds(method, problem, library=library)
    with quiet_machine():
        states = list(w.walk(rounds))
        for s in states:
            for invariant in method.invariants(s, w.problem) or ():
                assert np.max(np.abs(host(invariant))) <= 1e-12
    return np.concatenate([host(method.model(s)) for s in states]), w.ledger


def problems(noise):
    tilts = np.array([[3.0, 0], [-1, 1], [-2, -1]])
    return {
        "quartics": Quartics.of(2.0, noise=noise),
        "cosh": Tilted.of(Cosh(0.7), tilts, [3.0, -2.5], noise),
        "wells": Tilted.of(Well(), 3 * tilts, [2.0, 1.5], noise),
        "multiples": Multiples.of(Cosh(1.0), (3.0, -1.0, 1.0), [2.0, 1.5], noise),
    }


def single(noise):
    return Multiples.of(Well(), (1.0,), [2.0, 1.5], noise)


def same(first, second, noises, single_client=False):
    """Assert that two methods have the same models after every round."""
    for noise in noises:
        chosen = {"single": single(noise)} if single_client else problems(noise)
        for problem in chosen.values():
            a, b = trajectory(first, problem)[0], trajectory(second, problem)[0]
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)
            assert np.abs(a[-1] - a[0]).max() > 1e-2


EXACT, NOISY, ANY = [None], [Uniform(0.5), Ball(0.5)], [None, Uniform(0.5)]

IDENTITIES = {
    "trained without momentum == EPISODE++": (
        Trained(EpisodePlusPlus(ETA, GAMMA, 3, 2)), EpisodePlusPlus(ETA, GAMMA, 3, 2), ANY, False),
    "EPISODE, I = 1, exact == clipped GD": (
        EPISODE(ETA, GAMMA), ClippedSGD(ETA, GAMMA), EXACT, False),
    "EPISODE, unclipped, I = 1 == minibatch SGD": (
        EPISODE(ETA, inf), ClippedMinibatchSGD(ETA, inf), NOISY, False),
    "EPISODE, n = 1, unclipped == SGD": (
        EPISODE(ETA, inf, 4), ClippedSGD(ETA, inf, 4), NOISY, True),
    "EPISODE, large threshold == EPISODE (unclipped)": (
        EPISODE(ETA, 1e6, 4), EPISODE(ETA, inf, 4), ANY, False),
    "CELGC, n = 1 == clipped SGD": (CELGC(ETA, GAMMA, 4), ClippedSGD(ETA, GAMMA, 4), ANY, True),
    "CELGC, unclipped, I = 1 == NaiveParallelClip, unclipped": (
        CELGC(ETA, inf), NaiveParallelClip(ETA, inf), ANY, False),
    "NaiveParallelClip, unclipped == minibatch SGD": (
        NaiveParallelClip(ETA, inf), ClippedMinibatchSGD(ETA, inf), ANY, False),
    "NaiveParallelClip == clipped SGD of f": (
        NaiveParallelClip(ETA, GAMMA, 3), ClippedSGD(ETA, GAMMA, 3), ANY, False),
    "clipped minibatch SGD, I = 1 == NaiveParallelClip": (
        ClippedMinibatchSGD(ETA, GAMMA), NaiveParallelClip(ETA, GAMMA), ANY, False),
    "EPISODE++, unclipped == SCAFFOLD": (
        EpisodePlusPlus(ETA, inf, 3, 2), ClippedSCAFFOLD(ETA, inf, 3, 2, informed=True),
        ANY, False),
    "SCAFFOLD (clipped), unclipped == SCAFFOLD, option II": (
        ClippedSCAFFOLD(ETA, inf, 3, 2), SCAFFOLD(3, ETA, 1.0, 2), EXACT, False),
    "EPISODE++, I = 1, unclipped, exact == GD": (
        EpisodePlusPlus(ETA, inf), GD(ETA), EXACT, False),
    "framework, nu = 0 == clipped SGD": (
        MomentumClipping(ETA, GAMMA, 3, nu=0.0), ClippedSGD(ETA, GAMMA, 3), ANY, False),
    "framework, beta = 0 == clipped SGD": (
        MomentumClipping(ETA, GAMMA, 3, beta=0.0), ClippedSGD(ETA, GAMMA, 3), ANY, False),
}  # fmt: skip


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("name", IDENTITIES)
def test_identities(name):
    """Part A.13 of the specification: equal models after every round, on the same samples."""
    first, second, noises, single_client = IDENTITIES[name]
    same(first, second, noises, single_client=single_client)


@pytest.mark.parametrize("noise", [None, Uniform(0.5)], ids=["exact", "noisy"])
def test_one_client_needs_no_correction(noise):
    """EPISODE with n = 1: the steps are normalised or plain, as decided with the control sample."""
    problem, I = single(noise), 3  # noqa: E741
    models, _ = trajectory(EPISODE(ETA, GAMMA, I), problem)
    tape = Tape.of(noise, SEEDS) if noise else None

    def gradient(x, slot):
        return problem.grad(x) + (tape.draw(slot, 1, 2) if tape else 0)

    x, decisions = models[:1], set()
    for after in models[1:]:
        clipped = np.linalg.norm(gradient(x, "control"), axis=1) > GAMMA / ETA
        decisions |= set(clipped.ravel().tolist())
        for k in range(I):
            g = gradient(x, k)
            x = x - np.where(clipped, GAMMA * unit(g), ETA * g)
        np.testing.assert_allclose(x[0], after, rtol=1e-11)
    assert decisions == {True, False}


def test_identical_clients_freeze_the_decision():
    """EPISODE with equal f_i and no noise is GD that decides once a round whether it normalises."""
    alike = Multiples.of(Well(), (1.0, 1.0, 1.0), [2.0, 1.5])
    several, one = (trajectory(EPISODE(ETA, GAMMA, 3), p)[0] for p in (alike, single(None)))
    np.testing.assert_allclose(several, one, rtol=1e-12)


def test_episode_plus_plus_decides_with_the_previous_round():
    """With S = n, I = 1 and no noise: EPISODE's first round, then a decision one round late."""
    for problem in problems(None).values():
        models, _ = trajectory(EpisodePlusPlus(ETA, GAMMA), problem)
        start = models[:1]
        episode, _ = trajectory(EPISODE(ETA, GAMMA), problem, 1)
        np.testing.assert_allclose(models[1], episode[1], rtol=1e-12)
        previous = problem.grad(start)
        x = start
        for after in models[1:]:
            G, now = previous.mean(axis=0, keepdims=True), problem.grad(x)
            q = now - previous + G
            clipped = np.linalg.norm(G, axis=1, keepdims=True) > GAMMA / ETA
            x = (x - np.where(clipped, GAMMA * unit(q), ETA * q)).mean(axis=0, keepdims=True)
            np.testing.assert_allclose(x[0], after, rtol=1e-11, atol=1e-13)
            previous = now


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("gamma", [0.5, 1.01, 2.0, 5.0])
def test_the_stalemate(gamma):
    """CELGC stays at 0, and at every point of [-2, 1]; EPISODE is at x* = -1/2 in one round."""
    problem = stalemate(gamma)
    constants = problem.constants
    assert (constants.L0, constants.L1, constants.kappa, constants.rho) == (1, 0, gamma + 1.5, 1)
    models, _ = trajectory(CELGC(1.0, gamma), problem, 100)
    assert (models == 0).all()
    for x_0 in np.linspace(-2, 1, 25):
        moved = replace(problem, x_0=np.full((1, 1, 1), x_0))
        assert np.abs(trajectory(CELGC(1.0, gamma), moved, 3)[0] - x_0).max() <= 1e-15
    outside = replace(problem, x_0=np.full((1, 1, 1), 1.5))
    assert trajectory(CELGC(1.0, gamma), outside, 1)[0][1, 0, 0] < 1.5
    models, _ = trajectory(EPISODE(1.0, gamma), problem, 5)
    np.testing.assert_array_equal(models[1:], np.full((5, 1, 3), -0.5))


COSTS = {
    # method: (up, down, synchronisations, gradients) per round and participant, then at the start
    EPISODE(ETA, GAMMA, 5): ((2, 2, 2, 6), (0, 0, 0, 0)),
    EPISODE(ETA, inf, 5): ((2, 2, 2, 6), (0, 0, 0, 0)),
    EpisodePlusPlus(ETA, GAMMA, 5): ((2, 2, 1, 5), (1, 1, 1, 1)),
    EpisodePlusPlus(ETA, GAMMA, 5, 2): ((2, 2, 1, 5), (1, 1, 1, 1)),
    CELGC(ETA, GAMMA, 5): ((1, 1, 1, 5), (0, 0, 0, 0)),
    CELGC(ETA, inf, 5, 3): ((1, 1, 1, 5), (0, 0, 0, 0)),
    NaiveParallelClip(ETA, GAMMA, 5): ((5, 5, 5, 5), (0, 0, 0, 0)),
    ClippedMinibatchSGD(ETA, GAMMA, 5): ((1, 1, 1, 5), (0, 0, 0, 0)),
    ClippedMinibatchSGD(ETA, GAMMA, 5, 1): ((1, 1, 1, 5), (0, 0, 0, 0)),
    ClippedSCAFFOLD(ETA, GAMMA, 5): ((2, 2, 1, 5), (0, 0, 0, 0)),
    ClippedSCAFFOLD(ETA, GAMMA, 5, informed=True): ((2, 2, 1, 5), (1, 1, 1, 1)),
    ClippedSCAFFOLD(ETA, GAMMA, 5, option="I"): ((2, 2, 1, 6), (0, 0, 0, 0)),
    ClippedSGD(ETA, GAMMA, 5): ((0, 0, 0, 5), (0, 0, 0, 0)),
}


@pytest.mark.parametrize("method", COSTS, ids=repr)
def test_costs(method):
    """Table A.12: floats of size d, synchronisations and gradients, per round and participant."""
    problem = crossed_cosh(2.0)
    (up, down, waits, gradients), first = COSTS[method]
    n, d = problem.n, problem.d
    m = getattr(method, "S", None) or n
    for rounds in (0, 1, 7):
        _, ledger = trajectory(method, problem, rounds)
        assert (ledger.uplink_bits == 32 * d * (rounds * m * up + n * first[0])).all()
        assert (ledger.downlink_bits == 32 * d * (rounds * m * down + n * first[1])).all()
        assert (ledger.synchronisations == rounds * waits + first[2]).all()
        assert (ledger.gradients == rounds * m * gradients + n * first[3]).all()


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("method", [*COSTS, NormalisedGD(0.1, 2.0), MomentumClipping(ETA, GAMMA),
                                    MomentumClipping(ETA, GAMMA, soft=True)],
                         ids=repr)  # fmt: skip
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same(method, library):
    for problem in problems(Uniform(0.5)).values():
        if (getattr(method, "S", None) or 1) <= problem.n:
            ours, other = (trajectory(method, problem, 6, name)[0] for name in ("numpy", library))
            np.testing.assert_allclose(ours, other, rtol=1e-11, atol=1e-13)


def test_normalised_gd_is_within_a_factor_of_two_of_clipping():
    """h_c/2 <= h_n <= h_c with eta_c = eta/beta and threshold beta; the soft factor too."""
    eta, beta = 0.3, 2.0
    clipped = ClippedSGD(eta / beta, eta)
    soft = MomentumClipping(eta / beta, eta, beta=0.0, soft=True)
    for scale in (1e-3, 1.0, 2.0, 30.0):
        problem = single(None)
        problem = replace(problem, x_0=scale * problem.x_0)
        hard = np.linalg.norm(np.diff(trajectory(clipped, problem, 1)[0], axis=0))
        for other in (NormalisedGD(eta, beta), soft):
            length = np.linalg.norm(np.diff(trajectory(other, problem, 1)[0], axis=0))
            assert hard / 2 * (1 - 1e-12) <= length <= hard * (1 + 1e-12)


def test_the_momentum_mixture_is_the_recursion_written_out():
    """A.11 with both steps at work, some clipped and some not."""
    problem, beta, nu = problems(None)["wells"], 0.6, 0.7
    models, _ = trajectory(MomentumClipping(ETA, GAMMA, 1, beta=beta, nu=nu), problem)
    x, m = models[:1], 0 * models[:1]
    for after in models[1:]:
        g = problem.grad(x).mean(axis=0, keepdims=True)
        m = beta * m + (1 - beta) * g
        steps = [np.minimum(ETA, GAMMA / np.linalg.norm(v, axis=1, keepdims=True)) * v
                 for v in (m, g)]  # fmt: skip
        x = x - nu * steps[0] - (1 - nu) * steps[1]
        np.testing.assert_allclose(x[0], after, rtol=1e-11, atol=1e-13)


def test_momentum_weight_decay_and_decay_of_steps_written_out():
    """Of EPISODE: from round 10 on half of eta and gamma, from 20 on a quarter."""
    problem, beta, decay = problems(None)["wells"], 0.5, 0.3
    method = Trained(EPISODE(ETA, GAMMA, 2), beta, decay, 0.5, (10, 20))
    models, _ = trajectory(method, problem)
    v, clipped = 0, []
    for t, (x, after) in enumerate(pairwise(models[:, None])):
        part = 0.5 ** ((t >= 10) + (t >= 20))
        G_i = problem.grad(x)
        y, G = x, G_i.mean(axis=0, keepdims=True)
        clipped.append(np.linalg.norm(G[0, :, 0]) > GAMMA / ETA)
        for _ in range(2):
            v = beta * v + problem.grad(y) + decay * y
            q = v - G_i + G
            y = y - part * (GAMMA * unit(q) if clipped[-1] else ETA * q)
        np.testing.assert_allclose(y.mean(axis=0), after[0], rtol=1e-11, atol=1e-13)
    assert {*clipped} == {True, False}
    for wrong in ({"momentum": 1.0}, {"weight_decay": -1.0}, {"factor": 0.0}):
        with pytest.raises(Refusal, match="are not possible; give 0 <= momentum < 1"):
            replace(method, **wrong)
    with pytest.raises(Refusal, match="have no momentum; leave S or momentum out"):
        replace(method, method=CELGC(ETA, GAMMA, S=2))


def test_the_conventions():
    """A norm at the threshold is not clipped; the direction of zero is zero."""
    assert (unit(np.zeros((2, 3, 4))) == 0).all()
    at = Multiples.of(Well(), (1.0,), [1.0])  # gradient 2
    models, _ = trajectory(EPISODE(0.25, 0.5, 2), at, 1)  # tau = 2: two plain steps
    x = 1 - 0.25 * 2
    assert models[1, 0, 0] == x - 0.25 * (x**3 + x)
    models, _ = trajectory(EPISODE(0.25, 0.4999, 2), at, 1)  # two steps of length gamma
    np.testing.assert_allclose(models[1, 0, 0], 1 - 2 * 0.4999)


@pytest.mark.parametrize("method", [EPISODE, EpisodePlusPlus, CELGC, NaiveParallelClip,
                                    ClippedMinibatchSGD, ClippedSCAFFOLD])  # fmt: skip
@pytest.mark.parametrize("S", [0, 5])
def test_impossible_cohorts_are_refused(method, S):
    with pytest.raises(Refusal, match=f"cohort of {S} out of 4 clients"):
        trajectory(method(ETA, GAMMA, 2, S=S), crossed_cosh(1.0), 1)


@pytest.mark.parametrize("method", [card.method for card in CLIPPING.values()], ids=[*CLIPPING])
def test_parameters_are_positive(method):
    names = [field.name for field in fields(method)]
    for place, value in product(
        range(min(3, len(names))), (0, -1.0, np.nan, np.array([[[1.0, 0.0]]]))
    ):
        parameters = [ETA, GAMMA, 2][: len(names)]
        parameters[place] = value
        sentence = f"{names[place]} = .* of {method.name}; give a number above 0"
        with pytest.raises(Refusal, match=sentence):
            method(*parameters)


@pytest.mark.parametrize("method", [*COSTS, Clip21(0.01, 1.0), NormalisedEF21(0.02)], ids=repr)
def test_wire_is_the_simulation_up_to_rounding(method):
    """With every message through its bytes the costs are equal and the models nearly so."""
    options = {"seeds": 2, "budget": Budget(rounds=6), "record": Record(1.0, 1)}
    problem = crossed_cosh(2.0, Uniform(0.5))
    simulated, wired = (simulate(method, problem, wire=wire, **options) for wire in (False, True))
    for column in ("rounds", "synchronisations", "uplink_bits", "downlink_bits", "gradients"):
        np.testing.assert_array_equal(simulated.columns[column], wired.columns[column])
    np.testing.assert_allclose(wired.columns["gap"], simulated.columns["gap"], rtol=1e-4, atol=1e-6)
    if method.name != "clipped-sgd":
        assert not np.array_equal(wired.columns["gap"], simulated.columns["gap"])
