"""Parameters of methods and problems on the run axis, and noise shared by seed."""

from dataclasses import replace

import numpy as np
import pytest
from worlds import simulate

from certibit import EPISODE, Budget, Quadratic, Quartics, Record, Refusal
from certibit.data.noise import Ball, Uniform
from certibit.solvers.runs.grid import Grid
from certibit.solvers.simulation.oracle import Tape

LAWS = [Uniform(0.7), Ball(0.7)]


@pytest.fixture(scope="module")
def problem():
    return Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)


def test_problems_on_the_run_axis_are_run_one_by_one():
    """Each run has a start and a solution of its own; runs drop out one after the other."""
    H, noise = np.array([1.0, 8.0, 2.0]), Uniform(0.5)
    method, options = EPISODE(0.01, 0.05, 2), {"record": Record(1.0, 2)}
    many = replace(Quartics.of(H, noise=noise), x_0=np.array([[[1.0, 4.0, 2.0]]]))
    budget = Budget(gap=0.05, rounds=400)
    batch = simulate(method, many, seeds=[3, 3, 5], budget=budget, **options)
    assert len({int(rounds) for rounds in batch.final("rounds")}) == 3
    for run, seed in enumerate([3, 3, 5]):
        one = Quartics.of(H[run], x_0=many.x_0[0, 0, run], noise=noise)
        alone = simulate(method, one, seeds=[seed], budget=budget, **options)
        for column in ("rounds", "gap", "distance", "gradients", "squared_gradient"):
            np.testing.assert_allclose(batch.run(run)[column], alone.columns[column], rtol=1e-9)


def test_the_grid_is_a_product():
    grid = Grid({"eta": (0.1, 0.01), "tau": (5, 10, 15)}, seeds=4)
    table = grid.table(np.arange(24))
    for i, eta in enumerate((0.1, 0.01)):
        for j, tau in enumerate((5, 10, 15)):
            for seed in range(4):
                place = table[i, j, seed]
                assert (grid["eta"][0, 0, place], grid["tau"][0, 0, place]) == (eta, tau)
                assert grid.runs[place] == seed


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
@pytest.mark.parametrize("d", [1, 4])
def test_noise_is_bounded_centred_and_has_its_variance(law, d):
    """20000 samples; the mean and the variance within 5 standard errors (false alarm 1e-5)."""
    samples = Tape.of(law, range(100)).draw(0, 200, d)
    norms = np.linalg.norm(samples, axis=1)
    assert norms.max() <= law.sigma * (1 + 1e-12)
    assert norms.max() >= 0.99 * law.sigma / np.sqrt(d)
    error = law.sigma / np.sqrt(norms.size)
    assert np.abs(samples.mean(axis=(0, 2))).max() <= 5 * error
    assert abs((norms**2).mean() - law.variance(d)) <= 5 * law.sigma * error


def test_samples_are_keyed_by_seed_round_client_and_slot():
    """A sample does not depend on other runs, on slots in between or on the order of the runs."""
    tape = Tape.of(Uniform(1.0), [5, 2, 5, 9])
    rounds = []
    for _ in range(3):
        rounds.append(tape.draw("control", 3, 2))
        tape.draw(0, 3, 2)
    alone = Tape.of(Uniform(1.0), [5])
    for sample in rounds:
        np.testing.assert_array_equal(sample[:, :, 0], sample[:, :, 2])
        np.testing.assert_array_equal(sample[:, :, [0]], alone.draw("control", 3, 2))
    every = np.concatenate([*rounds, tape.draw(0, 3, 2)])
    assert np.unique(every[:, :, [0, 1, 3]]).size == 12 * 2 * 3
    narrowed = tape.at(np.array([3, 0])).draw(1, 3, 2)
    np.testing.assert_array_equal(narrowed[:, :, [1]], alone.draw(1, 3, 2))


@pytest.mark.parametrize("law", [Uniform, Ball])
@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, np.nan])
def test_impossible_noise_is_refused(law, sigma):
    with pytest.raises(Refusal, match="give a positive number"):
        law(sigma)
