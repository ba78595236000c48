"""One step with a broadcast that is rounded at random: exact where it comes first, else bounded."""

from dataclasses import dataclass

import numpy as np
import pytest

from certibit import GD, METHODS, Experiment, Needs, Quadratic, Setting, certify, compressor, mean
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.simulation.iteration import simulated_world, theorem_step
from certibit.solvers.state import each
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import value
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.probing import one_step, rounded_outcomes

PROBLEM = Quadratic.random(3, 4, 1.0, [20.0, 12.0, 5.0])
RUNS = 4000


@pytest.mark.parametrize("x", [[1.0, -2.0, 0.0], [1.3, -5.9, 0.011], [3.0, 1e-30, -7.0]])
def test_outcomes_have_the_mean_and_the_variance(x):
    x = np.array(x)[None, :, None]
    found = rounded_outcomes(Natural(), x)
    mean = sum(p * y for p, y in found)
    variance = sum(p * np.sum((y - x) ** 2) for p, y in found)
    assert sum(p for p, _ in found) == pytest.approx(1)
    np.testing.assert_allclose(mean, x, rtol=1e-12)
    assert variance == pytest.approx(float(Natural().variance(x)[0, 0]))
    assert len(found) == 2 ** np.count_nonzero(np.frexp(np.abs(x))[0] % 0.5)


def sampled(experiment, theorem, state):
    """Return the mean of Psi+ over many runs of one step, and its standard error."""
    many = each(lambda x: np.repeat(x, RUNS, axis=2), state)
    channel, oracle = simulated_world(experiment, range(RUNS))
    after = theorem_step(experiment.method, many, oracle, channel)
    star = fixed_point(experiment.method, experiment.problem)
    terms = theorem.lyapunov(
        experiment.method, after, star, Setting.at(experiment), experiment.problem
    )
    psi = value(terms, experiment.problem)
    return float(np.mean(psi)), float(np.std(psi)) / np.sqrt(RUNS)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("name", "selector", "exact"),
    [
        ("ef21p-diana", "two-way(rand-k:2;natural)", True),
        ("ef21p-diana", "two-way(natural;natural)", True),
        ("locodl-both-ways", "two-way(rand-k:2;natural)", False),
        ("locodl-both-ways", "two-way(natural;l1)", False),
        ("locodl-both-ways", "two-way(identity;natural)", True),
    ],
)
def test_the_expectation_is_what_is_sampled(name, selector, exact):
    """Within 7 standard errors; a bound is above, and not by more than omega allows."""
    sent, card = compressor(selector), METHODS[name]
    experiment = Experiment.of(card.parameters(PROBLEM, sent), PROBLEM, sent)
    theorem = card.best_theorem(experiment.method, Setting.at(experiment))
    channel, oracle = simulated_world(experiment, [0])
    state = experiment.method.start(channel.template, oracle, channel)
    for _ in range(3):
        state = theorem_step(experiment.method, state, oracle, channel)
    found = one_step(experiment, theorem, state)
    mean, error = sampled(experiment, theorem, state)
    assert found.exact == exact
    assert mean <= found.expected + 7 * error
    if exact:
        assert mean >= found.expected - 7 * error
    assert found.factor <= theorem.rate(experiment.method, Setting.at(experiment)) + 1e-12


@dataclass(frozen=True)
class BothErrors(GD):
    """A gradient step, and four times by how much messages of server and client differ."""

    name, needs = "both-errors", Needs(compressor="contractive", downlink="contractive")

    def communicate(self, s, problem, channel):
        slope = mean(channel.send(problem.grad(s.x)))
        sent = channel.downlink(slope)
        received = mean(channel.uplink(slope) + channel.uplink(2 * slope)) / 3
        return type(s)(s.x - self.gamma * slope + 4 * (sent - received))


@pytest.mark.parametrize("deterministic", [False, True])
def test_the_errors_of_server_and_client_are_not_the_same(deterministic):
    """On 3 x^2/4 with messages that arrive twice as long from the server, and not: x+ = 12.25 x."""
    functions = FunctionClass(1, 1.0, 1.5, alpha=1e-9, alpha_down=1e-9, deterministic=deterministic)
    proved = certify(BothErrors(0.5), functions, potential=METHODS["gd"].theorems[0])
    assert proved.decrease == pytest.approx(1 - 12.25**2, rel=1e-6)
