"""Small values worked out by hand, of what larger tests see only as a whole."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from worlds import world

from certibit import DIANA, GD, EControl, Every, Experiment, Quadratic, Scaffnew, compressor
from certibit.data.arrays import add_scaled
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.iteration import theorem_step
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.audit.episode.proposition import printed_kappa
from certibit.theory.audit.machinery.rounds import play
from certibit.theory.cards.clipped_sgd import ClippedGD
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates.search import setting
from certibit.theory.certificates.summary import class_setting
from certibit.theory.checks.method.whole_runs import whole_runs
from certibit.theory.formulas.episode_round import PRINTED, Round
from certibit.theory.function_class import ClientClass, FunctionClass


@pytest.mark.parametrize("transposed", ["neither", "x", "y"])
def test_adding_in_place_does_not_depend_on_the_layout(transposed):
    x, y = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    expected = 1 + 0.5 * np.arange(6.0).reshape(2, 3)
    x = np.asfortranarray(x) if transposed == "x" else x
    y = np.asfortranarray(y) if transposed == "y" else y
    assert add_scaled(y, 0.5, x) is y
    np.testing.assert_array_equal(y, expected)


class SlowGD(GD):
    schedule = Every(3)


def test_a_step_of_a_theorem_is_a_whole_round():
    """Of a method that communicates every three iterations it is three."""
    w = world(SlowGD(0.01), Quadratic.random(3, 4, 1.0, 10.0), together=False)
    theorem_step(w.method, w.start(), w.oracle, w.channel)
    assert w.ledger.synchronisations.tolist() == [1, 1, 1]


def test_the_error_of_a_measured_rate_is_that_of_student():
    """Of two runs: half of their difference times the quantile with one degree of freedom."""
    experiment = Experiment.of(Scaffnew(0.1, 0.5), Quadratic.random(3, 4, 1.0, 10.0))
    theorem = METHODS["scaffnew"].theorems[0]
    one, other, both = (
        whole_runs(theorem, experiment, seeds=seeds, accuracy=1e-12, iterations=50)
        for seeds in ([0], [1], [0, 1])
    )
    slopes = [one.measured, other.measured]
    expected = abs(slopes[0] - slopes[1]) / 2 * scipy.stats.t.ppf(0.975, 1)
    assert both.error == pytest.approx(expected)


def test_a_setting_for_the_command_line_has_the_variance_asked_for():
    assert class_setting(DIANA, 3, 20.0, 4.0, None, 2).omega == 4.0
    assert class_setting(DIANA, 3, 20.0, None, None, 2).omega == 9.0
    contractive = class_setting(METHODS["ef21"].method, 3, 20.0, 3.0, None, 2).compressor
    assert isinstance(contractive, Scaled)
    assert contractive.alpha(4) == pytest.approx(1 / 4)


def test_what_clipped_gd_gains_in_a_step():
    assert ClippedGD().decrease(0.5, 3.0, 4.0) == 0.5 * 16 / 2
    assert ClippedGD().decrease(0.5, 1.0, 4.0) == 1.0 * 4 / 2


def test_methods_are_tuned_by_their_step_and_threshold():
    assert CARDS["clipped-sgd"].steps(0.5, 3.0) == {"eta": 0.5, "gamma": 1.5}
    assert CARDS["normalised-gd"].steps(0.5, 3.0) == {"eta": 1.5, "beta": 3.0}
    assert CARDS["clip21"].steps(0.5, 3.0) == {"gamma": 0.5, "tau": 3.0}
    assert CARDS["gd"].steps(0.5, 3.0) == {"gamma": 0.5}


def test_noise_enters_lemma_4_by_its_variance():
    """At a point of slope 0, and with L1 = 0, the bound is a multiple of sigma^2."""
    quiet, loud = (
        Round(L0=2.0, L1=0.0, kappa=0.0, rho=1.0, sigma=sigma, N=4, I=3, eta=0.01, tau=1.0).V(
            0.0, SimpleNamespace(**PRINTED)
        )
        for sigma in (1.0, 3.0)
    )
    assert quiet > 0
    assert loud == pytest.approx(9 * quiet)


@pytest.mark.parametrize("slope", [0.0, 0.7])
def test_lemma_4_knows_no_difference_where_all_clients_are_alike(slope):
    """With kappa = 0 and rho = 1 it is the same whether f is (L0, L1)-smooth or only the f_i."""
    alike = Round(L0=2.0, L1=1.5, kappa=0.0, rho=1.0, sigma=0.4, N=4, I=3, eta=0.01, tau=0.8)
    printed = SimpleNamespace(**PRINTED | {"mu": 1})
    plain = alike.V(slope, printed), alike.U(slope, printed)
    general = alike.V(slope, printed, general=True), alike.U(slope, printed, general=True)
    assert general == pytest.approx(plain, rel=1e-12)


def test_the_bound_of_a_clipped_round_grows_with_the_smoothness():
    """At a point of slope 0 and without noise or threshold it is 2 (gamma I)^2 A L0."""
    bounds = [
        Round(L0=L0, L1=0.0, kappa=0.0, rho=1.0, sigma=0.0, N=4, I=3, eta=0.01, tau=1.0)
        for L0 in (2.0, 6.0)
    ]
    mu_1 = SimpleNamespace(**vars(SimpleNamespace(**PRINTED)) | {"mu": 1})
    small, large = (one.claim_1(0.0, 0.0, mu_1) for one in bounds)
    assert small == pytest.approx(2 * 0.03**2 * 2 * 2.0)
    assert large == pytest.approx(3 * small)


def test_gradients_of_a_round_deviate_from_the_mean_by_their_squares():
    """f_1 = x^2/2 + b x and f_2 = x^2/2 - b x at x = 0: gradients b and -b, whose mean is 0."""
    family = SimpleNamespace(
        gradient=lambda v, y: y + 3.0 * np.array([[1.0], [-1.0]]),
        rise=lambda v, move: move,
    )
    v = SimpleNamespace(family=family, N=2, I=1, x=np.zeros(1), sigma=0.0, eta=0.1, tau=1.0)
    v.number = float
    play(v)
    assert v.p.tolist() == [1.0]
    assert v.deviation_from_mean.tolist() == [9.0]


@pytest.mark.parametrize("H", [1, 2, 4, 8])
def test_kappa_is_printed_rounded_up(H):
    """x_2 = (sqrt(18^2 + 480 H) - 18)/24, in floats."""
    x_2 = (math.sqrt(324 + 480 * H) - 18) / 24
    exact = 9 * x_2**2 + 10 * H * x_2 + 25 * H**2 / 3 + 45 * H + 100
    assert 0 <= printed_kappa(H) - Fraction(exact) <= Fraction(2, 10**9)


def test_control_errors_are_what_the_first_message_left_out():
    sent = compressor("top-k:1")
    w = world(EControl(0.01, 0.1), Quadratic.random(3, 4, 1.0, 10.0), sent)
    state, gradient = w.start(), w.oracle.problem.grad(w.channel.template)
    np.testing.assert_array_equal(state.e, gradient - state.h)
    assert (np.count_nonzero(state.h, axis=1) == 1).all()


def test_the_condition_number_of_a_setting_is_a_ratio():
    where = setting(3, 2.0, 10.0, 4, RandK(2))
    assert (where.mu, where.L, where.kappa, where.constants.kappa) == (2.0, 10.0, 5.0, 5.0)
    assert (where.omega, where.omega_av, where.alpha_down) == (1.0, 1 / 3, 1.0)


def test_constants_of_an_average_of_classes():
    """One client with 1 <= f'' <= 20 and three with 2 <= f'' <= 5, and the same in units of 2."""
    classes = [ClientClass(1, 1.0, 20.0), ClientClass(3, 2.0, 5.0)]
    functions = FunctionClass.of_classes(classes)
    assert (functions.n, functions.mu, functions.L) == (4, 1.0, 20.0)
    assert (functions.average_convexity, functions.average_smoothness) == (7 / 4, 35 / 4)
    assert functions.kind_of_client.tolist() == [0, 1, 1, 1]
    halves = [ClientClass(1, 0.5, 10.0), ClientClass(3, 1.0, 2.5)]
    assert functions.in_units(2.0) == FunctionClass.of_classes(halves)
    noisy = FunctionClass(4, 1.0, 20.0, L_f=8.0, noise=GradientNoise(difference=6.0))
    halved = FunctionClass(4, 0.5, 10.0, L_f=4.0, noise=GradientNoise(difference=3.0))
    assert noisy.in_units(2.0) == halved
