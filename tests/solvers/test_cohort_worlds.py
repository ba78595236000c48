"""Runs by cohort have the stochastic gradients and Lyapunov functions of all clients."""

import warnings

import numpy as np
import pytest
from test_cohorts import assert_close, fitted

from certibit import METHODS, Budget, Experiment, Quadratic, Record, compressor, problem, run
from certibit.solvers.runs.engine import simulate
from certibit.theory.catalogue.catalogue import CLIPPING, STOCHASTIC

NOISY = {
    "noise": "quadratic:d=5@7:nonconvex:noise=0.1",
    "rows": "breast-cancer@9:nonconvex:batch=4",
    "again": "breast-cancer@9:nonconvex:batch=4:replacement",
}
DOWN = {"unbiased": "natural", "contractive": "top-k:3"}


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("law", NOISY)
@pytest.mark.parametrize(
    ("method", "sent"),
    [
        (STOCHASTIC["sgd"].method(gamma=0.1), None),
        (STOCHASTIC["ef21-sgdm"].method(gamma=0.05, eta=0.2), "top-k:2"),
        (STOCHASTIC["page"].method(gamma=0.05, p=0.3), None),
        (STOCHASTIC["vr-marina"].method(gamma=0.05, p=0.3), "rand-k:2"),
        (CLIPPING["episode"].method(eta=0.05, gamma=0.1, I=3, S=4), None),
        (CLIPPING["clipped-scaffold"].method(eta=0.05, gamma=1.0, I=3, S=4, option="I"), None),
    ],
    ids=lambda x: x if isinstance(x, str | None) else x.name,
)
def test_stochastic_gradients_are_those_of_all_clients(method, sent, law):
    experiment = Experiment.of(method, problem(NOISY[law]), sent and compressor(sent))
    options = {"seeds": 2, "budget": Budget(rounds=6)}
    expected = simulate(experiment, **options)
    assert_close(simulate(experiment, by_cohort=True, **options), expected)


@pytest.mark.long(keep=5)
@pytest.mark.parametrize(
    "name", [name for name, card in METHODS.items() if card.about("potential")]
)
def test_lyapunov_functions_are_those_of_all_clients(name):
    needs = METHODS[name].method.needs
    words = {"unbiased": "rand-k:2", "contractive": "top-k:2"}.get(needs.compressor)
    if needs.downlink:
        words = f"two-way({words};{DOWN[needs.downlink]})"
    made = Quadratic.random(7, 5, mu=1.0, L=30.0, seed=3, shared_minimiser=needs.shared_minimiser)
    experiment = fitted(name, made, words and compressor(words))
    options = {"seeds": 2, "budget": Budget(rounds=9), "record": Record(every=1)}
    asked = experiment.method, made, experiment.compressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small cohorts may be outside the theorems
        expected = run(*asked, **options)
        found = run(*asked, by_cohort=True, **options)
    assert np.isfinite(expected.columns["lyapunov"]).all()
    np.testing.assert_allclose(
        found.columns["lyapunov"], expected.columns["lyapunov"], rtol=1e-9, atol=1e-12
    )
