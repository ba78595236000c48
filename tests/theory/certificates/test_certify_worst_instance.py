"""The dual's worst case, posed as a problem, is as bad as the certificate says: both are exact."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from by_rule import by_rule

from certibit import DIANA, GD, ClientClass, FunctionClass, LoCoDL, Refusal, Similarity, certify
from certibit.solvers.compressors.selection import rand_k_of
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates.worst_instance import divergence, worst_instance

OTHERS = {"5gcs-cc", "dasha", "marina", "econtrol", "ef-bv"}
EXACT = [name for name, card in METHODS.items() if card.about("potential") and name not in OTHERS]
"""Methods with a quadratic worst case; the others have several gradients per client, and EControl
and EF-BV compressors whose worst error no scaled rand-k makes."""


def with_class(name: str, n: int, kappa: float):
    """Return a method with the parameters of its first rule, and the class they are for."""
    method, where = by_rule(name, n, kappa, 2.0)
    return method, FunctionClass.of(where)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("kappa", [5.0, 50.0])
@pytest.mark.parametrize(
    ("name", "n"),
    [
        (name, n)
        for name in EXACT
        for n in (1, 3, 5)
        if n > 1 or name not in {"compressed-scaffnew", "tamuna"}  # two owners of each entry
    ],
)
def test_one_step_of_the_class_attains_the_certificate(name, n, kappa):
    method, family = with_class(name, n, kappa)
    instance, proved = worst_instance(method, family), certify(method, family)
    step = instance.step()
    assert instance.problem.plain.constants.L_i.max() <= (1 + 1e-9) * family.L + family.mu
    assert 1 - step.factor >= proved.decrease * (1 - 1e-9)
    assert 1 - step.factor == pytest.approx(proved.decrease, rel=1e-3)


@pytest.mark.parametrize("name", ["locodl", "scaffnew", "diana"])
def test_it_is_attained_for_many_clients(name):
    method, family = with_class(name, 30, 100.0)
    instance = worst_instance(method, family)
    assert 1 - instance.step().factor == pytest.approx(1 - instance.predicted, rel=1e-6)


@dataclass(frozen=True)
class LongerStep(GD):
    """A defect: the step is a little longer than the parameter says."""

    def communicate(self, s, problem, channel):
        return replace(GD(self.gamma * 1.01), gamma=self.gamma * 1.01).communicate(
            s, problem, channel
        )


@dataclass(frozen=True)
class WrongSign(LoCoDL):
    """A defect: the control variates move the wrong way, their sum stays 0."""

    def communicate(self, s, problem, channel):
        right = super().communicate(s, problem, channel)
        return replace(right, u=2 * s.u - right.u, v=2 * s.v - right.v)


def test_a_defect_of_the_class_is_seen():
    method, family = GD(0.1), FunctionClass(3, 1.0, 10.0)
    instance = worst_instance(method, family)
    wrong = replace(instance, method=LongerStep(0.1))
    assert 1 - wrong.step().factor != pytest.approx(1 - instance.predicted, rel=1e-3)
    good, family = with_class("locodl", 3, 10.0)
    bad = WrongSign(good.gamma, good.chi, good.rho, good.p, good.omega)
    potential = METHODS["locodl"].theorems[0]
    assert certify(good, family).decrease > 0
    assert certify(bad, family, potential=potential).decrease < 0


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ["gd", "scaffnew", "compressed-scaffnew", "tamuna"])
def test_beyond_the_limit_of_the_step_a_run_diverges(name):
    method, family = with_class(name, 4, 20.0)
    beyond, within = (replace(method, gamma=factor * 2 / family.L) for factor in (1.2, 0.9))
    assert certify(beyond, family).decrease < 0
    found = divergence(beyond, family)
    assert found is not None
    assert found.growth > 1e3
    assert found.problem.plain.constants.L <= family.L * (1 + 1e-9)
    assert divergence(within, family) is None


@pytest.mark.parametrize("omega", [0.0, 0.5, 9.0, 2.25])
def test_rand_k_of_a_variance(omega):
    sent, d = rand_k_of(omega, 7)
    assert d >= 7
    assert sent.omega(d) == pytest.approx(omega, abs=1e-3)
    with pytest.raises(Refusal, match="relative variance"):
        rand_k_of(-omega - 1)


DIFFERING = ["gd", "diana", "fedcomgate", "compressed-scaffnew", "ef", "ef21p-diana"]
"""Methods that evaluate one gradient per client and step."""


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("counts", [(1, 2), (2, 1), (1, 1, 2)], ids=str)
@pytest.mark.parametrize("name", DIFFERING)
def test_clients_that_differ_attain_it_too(name, counts):
    """A wrong count of a class, or one class drawn with the bounds of another, is seen."""
    method, where = by_rule(name, sum(counts), 20.0, 2.0)
    family = FunctionClass.of(where)
    (own,) = family.kinds
    classes = tuple(replace(own, count=c, L=own.L / 4**k) for k, c in enumerate(counts))
    family = replace(family, classes=classes)
    potential = CARDS[name].best_theorem(method, where)
    proved = certify(method, family, potential=potential)
    instance = worst_instance(method, family, potential)
    assert instance.step().factor == pytest.approx(proved.factor, rel=1e-6)
    most = np.array([one.L for one in classes])[family.kind_of_client]
    assert np.all(instance.problem.plain.constants.L_i <= most * (1 + 1e-6))


@pytest.mark.parametrize("gamma", [0.1, 0.45])
def test_a_smoother_average_is_drawn_as_smooth(gamma):
    """It was drawn as if L_f were L, and steps above 2/L were said to contradict their proof."""
    family = FunctionClass(3, 1.0, 10.0, L_f=4.0)
    worst = worst_instance(GD(gamma), family)
    assert worst.problem.constants.L_f <= 4.0 * (1 + 1e-6)
    assert worst.step().factor == pytest.approx(certify(GD(gamma), family).factor, rel=1e-7)


GRADSKIP, FEDCOMGATE = with_class("gradskip", 12, 10.0), with_class("fedcomgate", 3, 20.0)
DASHA, UNLIKE = METHODS["dasha"].method(gamma=6.635e-5, a=1 / 19), ClientClass(2, 1.0, 10.0)
REFUSED = {
    # what is drawn need not satisfy assumptions, and has the same compressor everywhere
    "not a property that the quadratics": (
        GD(0.1), FunctionClass(3, 1.0, 10.0, assumptions=(Similarity(0.1),))),
    "no quadratic": (DASHA, replace(with_class("dasha", 10, 1000.0)[1], omega=9.0)),
    "too many": GRADSKIP,
    "whose compressors differ": (
        DIANA(0.01, 0.1), FunctionClass.of_classes([ClientClass(1, 1.0, 10.0, omega=2.0), UNLIKE])),
    "and not 5-smooth as it should be": (FEDCOMGATE[0], replace(FEDCOMGATE[1], L_f=5.0)),
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_has_no_such_instance_is_refused(words):
    with pytest.raises(Refusal, match=words):
        worst_instance(*REFUSED[words]).step()
