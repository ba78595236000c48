"""Clients that differ: blocks by classes, against a programme with every client on its own."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import DIANA, EF21, FunctionClass, Refusal, certify
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.ef21p_diana import EF21PDIANA
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.gradskip import GradSkip
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.worst_instance import divergence, worst_instance
from certibit.theory.function_class import ClientClass
from certibit.theory.potential import Gap
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem


def two_classes(first, second, omega=0.0):
    """Return a family with a rough and a smooth class, of so many clients."""
    rough = ClientClass(first, 1.0, 20.0, omega)
    return FunctionClass.of_classes([rough, ClientClass(second, 2.0, 5.0, omega / 2)])


@dataclass(frozen=True)
class WithValues:
    """The potential of a theorem, and f - f* at the model."""

    theorem: Theorem

    def lyapunov(self, m, s, star, setting, problem):
        squares = self.theorem.lyapunov(m, s, star, setting, problem)
        return (Gap(10.0, m.model(s)), *squares)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 2)])
def test_the_error_of_the_server_is_one_for_all_classes(first, second):
    family = replace(two_classes(first, second, 2.0), alpha_down=0.5)
    method = METHODS["ef21p-diana"].method(gamma=0.004, beta=0.3)
    proved = certify(method, family)
    assert proved.decrease < certify(method, replace(family, alpha_down=1.0)).decrease


@pytest.mark.parametrize(
    "potential", [None, WithValues(METHODS["diana"].theorems[0])], ids=["published", "with values"]
)
@pytest.mark.parametrize("n", [2, 5])
def test_equal_classes_are_one(n, potential):
    method = DIANA(gamma=0.03, alpha=0.2)
    half = ClientClass(n, 1.0, 20.0, 2.0)
    families = FunctionClass(2 * n, 1.0, 20.0, omega=2.0), FunctionClass.of_classes([half, half])
    one, two = (certify(method, family, potential=potential) for family in families)
    assert two.decrease == pytest.approx(one.decrease, rel=1e-7)


@pytest.mark.long
@pytest.mark.parametrize("counts", [(1, 1), (1, 2), (2, 1), (1, 4), (2, 3)])
def test_classes_toss_coins_of_their_own(counts):
    """Smoother clients of GradSkip skip gradients, and the rate is that of the rough ones."""
    classes = [ClientClass(count, 1.0, L) for count, L in zip(counts, (20.0, 5.0), strict=True)]
    family = FunctionClass.of_classes(classes)
    odds = zip(counts, (1.0, (1 - 1 / 5) / (1 - 1 / 20)), strict=True)
    method = GradSkip(1 / 20, 20**-0.5, tuple(q for count, q in odds for _ in range(count)))
    proved = certify(method, family)
    assert proved.decrease == pytest.approx(1 / 20, rel=1e-6)
    assert proved.verify()
    smoother = FunctionClass.of_classes(
        [ClientClass(count, 1.0, L) for count, L in zip(counts, (5.0, 20.0), strict=True)]
    )
    assert not replace(proved, functions=smoother).verify()


@pytest.mark.long
@pytest.mark.parametrize("counts", [(2, 1), (200_000, 800_000), (500_000, 499_999, 1)], ids=str)
def test_classes_of_any_size_toss_coins(counts):
    """The rate of GradSkip's theorem is certified, and in rational numbers too."""
    L = (100.0, 10.0, 40.0)[: len(counts)]
    family = FunctionClass.of_classes(
        [ClientClass(k, 1.0, x) for k, x in zip(counts, L, strict=True)]
    )
    odds = [(k, (1 - 1 / x) / (1 - 1 / 100)) for k, x in zip(counts, L, strict=True)]
    method = GradSkip(1 / 100, 0.1, tuple(q for k, q in odds for _ in range(k)))
    proved = certify(method, family)
    assert proved.decrease == pytest.approx(0.01, rel=1e-7)
    assert proved.verify()


def test_coins_that_differ_within_a_class_are_refused():
    family = FunctionClass.of_classes([ClientClass(2, 1.0, 20.0), ClientClass(1, 1.0, 5.0)])
    with pytest.raises(Refusal, match="give all of a class the same"):
        certify(GradSkip(0.05, 0.2, (1.0, 0.9, 0.8)), family)


def test_smoother_clients_help_and_many_cost_nothing():
    method = DIANA(gamma=0.03, alpha=0.2)
    worst = certify(method, FunctionClass(1000, 1.0, 20.0, omega=2.0))
    better = certify(method, two_classes(10, 990, 2.0))
    assert better.decrease > worst.decrease
    assert better.seconds < 2.0
    assert better.verify()


def test_contractions_of_two_classes():
    rough, smooth = ClientClass(2, 1.0, 20.0, alpha=0.2), ClientClass(2, 1.0, 5.0, alpha=0.8)
    both = FunctionClass.of_classes([rough, smooth])
    found = [
        certify(EF21(0.005), family).decrease
        for family in (FunctionClass.of_classes([rough, rough]), both)
    ]
    assert found[0] <= found[1] * (1 + 1e-6)


def test_a_wrong_class_count_is_seen():
    method, family = DIANA(gamma=0.03, alpha=0.2), two_classes(1, 3, 2.0)
    proof = certify(method, family)
    assert proof.verify()
    assert not replace(proof, functions=two_classes(3, 1, 2.0)).verify()


def test_groups_of_a_problem():
    problem = Quadratic.random(6, 4, mu=1.0, L=30.0, seed=0)
    setting = Setting.of(DIANA, problem, compressor("rand-k:2"))
    smoothness = np.sort(setting.constants.L_i)
    for groups in (1, 2, 6):
        family = FunctionClass.of_groups(setting, groups)
        assert len(family.kinds) == groups
        assert family.mu == setting.mu
        assert (family.n, family.L) == (6, smoothness[-1])
        for kind, own in enumerate(family.kinds):
            assert smoothness[family.kind_of_client == kind].max() == own.L
    sums = [
        sum(own.count * own.L for own in FunctionClass.of_groups(setting, groups).kinds)
        for groups in range(1, 7)
    ]
    assert sums == sorted(sums, reverse=True)
    assert sums[-1] == pytest.approx(smoothness.sum())
    with pytest.raises(Refusal, match="groups"):
        FunctionClass.of_groups(setting, 7)


def test_groups_keep_the_compressor_of_the_server():
    problem = Quadratic.random(6, 4, mu=1.0, L=30.0, seed=0)
    setting = Setting.of(EF21PDIANA, problem, compressor("two-way(rand-k:2;top-k:1)"))
    for groups in (1, 3):
        assert FunctionClass.of_groups(setting, groups).alpha_down == 0.25


def test_more_groups_certify_no_less():
    problem = Quadratic.random(6, 4, mu=1.0, L=30.0, seed=0)
    setting = Setting.of(GD, problem)
    method = GD(1.9 / setting.L)
    found = [certify(method, FunctionClass.of_groups(setting, k)).decrease for k in (1, 2, 3)]
    assert found[0] <= found[1] * (1 + 1e-7) <= found[2] * (1 + 1e-6)


def test_no_classes_are_refused():
    with pytest.raises(Refusal, match="at least one"):
        FunctionClass.of_classes([])
    for count in (0, 1.5):
        with pytest.raises(Refusal, match=f"a class of {count} clients is none; .* at least 1"):
            ClientClass(count, 1.0, 2.0)


def test_runs_that_diverge_stay_within_the_classes():
    """The largest mean of the curvatures is 20/3 with (1, 1, 18), and not 18."""
    family = FunctionClass.of_classes([ClientClass(2, 0.5, 1.0), ClientClass(1, 0.5, 18.0)])
    assert divergence(GD(2.5 / 18.0), family) is None
    assert divergence(GD(2.5 / (20.0 / 3.0)), family).growth > 1e6
    unlike = FunctionClass.of_classes(
        [ClientClass(1, 0.5, 1.0, omega=1.0), ClientClass(1, 0.5, 1.0, omega=2.0)]
    )
    with pytest.raises(Refusal, match="compressors differ"):
        divergence(DIANA(gamma=0.1, alpha=0.1), unlike)


def test_a_certificate_says_which_classes_it_is_about():
    """GD(1) has 1 - 0.81 on x^2/20, which is 0.1-convex: a class of other clients is named."""
    narrow = FunctionClass(2, 0.1, 1.0, classes=(ClientClass(2, 0.9, 1.0),))
    proof = certify(GD(1.0), narrow)
    assert proof.decrease > 0.9
    assert "2 of the f_i with mu = 0.9, L = 1" in repr(proof)
    with pytest.raises(Refusal, match="n = 5 is not the number of clients of the classes, 2"):
        replace(narrow, n=5)


CLASSES = [FunctionClass(5, 1.0, 2.0), FunctionClass(5, -1.0, 1.0)]


@pytest.mark.parametrize("functions", CLASSES)
def test_without_a_variance_they_are_contractions(functions):
    biased = certify(EF21(0.1), replace(functions, bias=0.5))
    contracting = certify(EF21(0.1), replace(functions, alpha=0.75))
    assert biased.exact == pytest.approx(contracting.exact, rel=1e-7)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("functions", CLASSES)
@pytest.mark.parametrize("omega", [1.0, 4.0])
def test_the_noise_of_scaled_compressors_is_averaged(functions, omega):
    """C/(1 + omega) for C in U(omega): alpha = 1/(1 + omega), and more for many clients."""
    parts = {"bias": omega / (1 + omega), "omega": omega / (1 + omega) ** 2}
    found = []
    for n in (1, 100):
        own = replace(functions, n=n)
        contracting = certify(EF21(0.05), replace(own, alpha=1 / (1 + omega)))
        proof = certify(EF21(0.05), replace(own, **parts))
        assert proof.functions.alpha == pytest.approx(1 / (1 + omega))
        assert proof.exact >= contracting.exact * (1 - 1e-7)
        assert proof.verify()
        found.append(proof.exact)
    gained = 1e-6 if functions.mu < 0 else -1e-6  # Psi of the theorem has no mean
    assert found[1] > found[0] * (1 + gained)


def test_no_worst_case_is_drawn():
    proof = certify(EF21(0.05), FunctionClass(5, 1.0, 2.0, bias=0.5, omega=0.2))
    with pytest.raises(Refusal, match="a bias and a variance"):
        worst_instance(EF21(0.05), proof.functions, proof.potential)


def test_misfits_are_refused():
    for bias in (-0.1, 1.0, float("nan"), "0.5", True):
        with pytest.raises(Refusal, match="of compressors; give one of at least 0"):
            FunctionClass(5, 1.0, 2.0, bias=bias)
    with pytest.raises(Refusal, match="needs unbiased compressors, and bias"):
        certify(DIANA(0.1, 0.1), FunctionClass(5, 1.0, 2.0, bias=0.5))
