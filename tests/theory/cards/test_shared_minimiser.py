"""EF and compressed gradient descent: they need f_i with the same minimiser, or one client."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.compressed_gd import CompressedGD
from certibit.solvers.methods.ef import EF
from certibit.solvers.runs.budget import Budget
from certibit.theory.catalogue.catalogue import SHARED_MINIMISER, parameters
from certibit.theory.catalogue.covered_run import run
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.largest_step import largest_step
from certibit.theory.certificates.summary import class_setting
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.setting import Setting
from certibit.theory.verdict import OutsideTheoremWarning
from certibit.theory.worlds.fixed_points import Rest, resting_state
from certibit.theory.worlds.generic import Subject

CLIENTS = {"ef": (1, 3, 1000), "compressed-gd": (1,)}
TOP = compressor("top-k:2")


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(("name", "n"), [(m, n) for m, some in CLIENTS.items() for n in some])
@pytest.mark.parametrize(("kappa", "omega"), [(10.0, 1.0), (100.0, 9.0)])
def test_the_theorem_is_tight_at_its_largest_step(name, n, kappa, omega):
    """What is certified for its potential is what it says, for any number of clients."""
    card = SHARED_MINIMISER[name]
    where = class_setting(card.method, n, kappa, omega, None, 1)
    method, theorem = card.at(where), card.theorems[0]
    proved = certify(method, where, potential=theorem).decrease
    assert proved == pytest.approx(1 - theorem.rate(method, where), rel=2e-4)
    shorter = replace(method, gamma=method.gamma / 3)
    proved = certify(shorter, where, potential=theorem).decrease
    assert proved >= (1 - 2e-4) * (1 - theorem.rate(shorter, where))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", SHARED_MINIMISER)
def test_unlike_minimisers_are_told_and_not_reached(name):
    unlike = Quadratic.random(3, 4, mu=1.0, L=10.0)
    method = parameters(name, unlike, TOP)
    assert not Setting.of(method, unlike, TOP).shared_minimiser
    with pytest.warns(OutsideTheoremWarning):
        trace = run(method, unlike, TOP, seeds=1, budget=Budget(rounds=3000))
    assert trace.final("gap") > 1e-4


@pytest.mark.parametrize(("name", "n"), [("ef", 3), ("ef", 1), ("compressed-gd", 1)])
def test_one_minimiser_is_reached(name, n):
    alike = Quadratic.random(n, 4, mu=1.0, L=10.0, shared_minimiser=True)
    np.testing.assert_allclose(alike.grad_star, 0.0, atol=1e-12)
    method = parameters(name, alike, TOP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = run(method, alike, TOP, seeds=1, budget=Budget(gap=1e-10, rounds=3000))
    assert trace.ending == ("gap",)


@pytest.mark.long
def test_compressed_gradients_of_two_clients_may_cancel():
    """With top-1 of gradients that are mirror images nothing moves, and EF does move."""
    (a, b), (c, d) = np.linalg.qr([[2.0, 1.0], [1.0, -2.0]])[0]
    turned = [np.array([[a, sign * b], [sign * c, d]]) for sign in (1, -1)]
    H = np.array([q @ np.diag([1.0, 30.0]) @ q.T for q in turned])
    H = (H + np.matrix_transpose(H)) / 2
    x_0 = np.array([1.0, 0.0])
    assert np.all(np.abs(H[:, 1, 0]) > np.abs(H[:, 0, 0]))
    problem = Quadratic.from_arrays(H, np.zeros((2, 2)))
    sent, ends = compressor("top-k:1"), {}
    for method in (CompressedGD(0.01), EF(0.01)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = run(method, problem, sent, seeds=1, budget=Budget(rounds=300), x_0=x_0)
        gaps = trace.run(0)["gap"]
        ends[method.name] = gaps[-1] / gaps[0]
    assert ends["compressed-gd"] == pytest.approx(1.0)
    assert ends["ef"] < 1e-3
    functions = FunctionClass(2, mu=1.0, L=30.0, alpha=0.5)
    assert np.isnan(largest_step(CompressedGD, functions, 1.0))


@pytest.mark.long
@pytest.mark.parametrize("kappa", [4.0, 10.0, 100.0])
def test_several_clients_are_certified_up_to_where_their_messages_may_cancel(kappa):
    """s < 2 sqrt(kappa)/(kappa + 1), the cosine of gradients on either side of x - x*."""
    edge = 2 * np.sqrt(kappa) / (kappa + 1)
    below, above = (
        FunctionClass(5, mu=1.0, L=kappa, alpha=1 - (factor * edge) ** 2) for factor in (0.99, 1.01)
    )
    step = largest_step(CompressedGD, below, 1.0, accuracy=0.1, potential=AtModel("distance"))
    proved = certify(CompressedGD(step / 2), below, potential=AtModel("distance"))
    assert proved.verify()
    assert proved.factor < 1
    assert np.isnan(largest_step(CompressedGD, above, 1.0, potential=AtModel("distance")))
    # H e_1 = kappa^(1/2) (edge, +-(1 - edge^2)^(1/2)): half the difference of mu and L is turned.
    turned = np.sqrt(kappa * (1 - edge**2))
    along = kappa * edge / np.sqrt(kappa)
    H = np.array([[[along, sign * turned], [sign * turned, 1 + kappa - along]] for sign in (1, -1)])
    np.testing.assert_allclose(np.linalg.eigvalsh(H), [[1.0, kappa]] * 2, rtol=1e-9)
    gradients = H[:, :, 0]
    messages = gradients * [0.0, 1.0]  # what is left of them is s times as long
    left = np.linalg.norm(gradients - messages, axis=1)
    np.testing.assert_allclose(left, edge * np.linalg.norm(gradients, axis=1), rtol=1e-12)
    np.testing.assert_allclose(messages.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", SHARED_MINIMISER)
def test_where_they_rest_is_found(name):
    method = SHARED_MINIMISER[name].method(0.05)
    object.__setattr__(method, "fixed_point", lambda problem: None)
    found = resting_state(Subject.of(method, 3))
    assert isinstance(found, Rest)
    assert found.fields["x"].a == 1.0
    assert all(one.b == one.c == 0.0 for one in found.fields.values())
