"""Chains of certificates: no worse than one step, no better than what is attained, and checked."""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest
from by_rule import by_rule

from certibit import (
    GD,
    METHODS,
    SGD,
    Chain,
    ClientClass,
    FunctionClass,
    GradientNoise,
    Refusal,
    Squares,
    certify,
)
from certibit.theory.certificates.potential_family import Family
from certibit.theory.chains.certify_steps import attained_log_factor, certify_run, certify_steps
from certibit.theory.chains.chain_programme import ChainProgramme
from certibit.theory.cones.central_path import follow, strictly_inside
from certibit.theory.cones.cone_programme import ConeProgramme
from certibit.theory.export.proof_file import proof_file
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import AtModel, Joined, Reweighted
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational

NAMES = ["gd", "agd", "diana", "locodl", "scaffnew", "dasha", "ef21"]


def with_class(name, n=3, kappa=50.0):
    """Return a method with the parameters of its first rule, and its class."""
    method, where = by_rule(name, n, kappa, 4.0)
    return method, FunctionClass.of(where)


@pytest.mark.parametrize("name", NAMES)
def test_one_step_is_the_certificate_of_one_step(name):
    chain, once = certify_steps(*with_class(name), 1), certify(*with_class(name))
    assert chain.links[0].decrease == once.decrease
    assert chain.decrease == pytest.approx(once.decrease, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_longer_chain_is_no_worse_and_no_better_than_the_truth(name):
    before = certify(*with_class(name)).decrease
    for steps in (2, 4, 64):
        chain = certify_steps(*with_class(name), steps)
        assert chain.steps == steps
        assert chain.verify()
        assert chain.decrease >= before * (1 - 1e-6)
        assert chain.log_factor >= attained_log_factor(chain) - 1e-7
        before = chain.decrease


@pytest.mark.parametrize("name", ["gd", "scaffnew", "agd"])
def test_two_steps_are_tight(name):
    chain = certify_steps(*with_class(name), 2)
    assert math.exp(attained_log_factor(chain)) == pytest.approx(chain.factor, rel=1e-5)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("measure", ["gap", "distance"])
@pytest.mark.parametrize("steps", [1, 3, 64])
def test_what_is_wanted_at_the_end(measure, steps):
    """For gradient descent the squared distance is known, and f - f* is at most L/2 of it."""
    gamma, chain = 0.1, certify_steps(GD(0.1), FunctionClass(2, 1.0, 10.0), steps, measure=measure)
    distance = 2 * chain.factor  # Psi is the sum over two clients
    known = (1 - gamma) ** (2 * steps)
    assert chain.verify()
    assert math.exp(attained_log_factor(chain)) <= chain.factor * (1 + 1e-7)
    if measure == "distance":
        assert 0.5 * known <= chain.factor <= distance <= 2 * known * (1 + 1e-6)
    else:
        assert chain.factor <= 10.0 / 2 * known


@pytest.mark.long
@pytest.mark.parametrize("measure", ["gap", "distance"])
def test_factors_far_below_the_rounding_of_a_decrease_are_proved(measure):
    """All steps have the same factor: with one for all of them 3e-13 is proved, not 1.9e-19."""
    L, steps = 1.01, 4
    methods = [GD(gamma=2 / (1 + L))] * steps
    chain = certify_run(methods, FunctionClass(1, 1.0, L), AtModel("distance"), measure)
    known = ((L - 1) / (L + 1)) ** (2 * steps) * (L / 2 if measure == "gap" else 1)
    assert chain.verify()
    assert known * (1 - 1e-9) < chain.factor < known * 1.001


def test_a_chain_at_one_curvature_is_proved():
    """Its factors are far below the accuracy of the path; a potential that is lost is left out."""
    chain = certify_steps(*by_rule("gd", 3, 1 + 1e-9), 2, measure="gap")
    assert chain.verify()
    assert chain.factor < 1e-15


@pytest.mark.long
def test_most_of_the_looseness_of_a_step_is_gone_after_many():
    once = certify(*with_class("locodl", kappa=100.0))
    chain = certify_steps(*with_class("locodl", kappa=100.0), 1000)
    assert chain.decrease > 1.7 * once.decrease
    assert chain.log_factor >= attained_log_factor(chain)


def changed_link(chain, place, **changes):
    """Return a chain with one link changed."""
    links = list(chain.links)
    links[place] = replace(links[place], **changes)
    return replace(chain, links=tuple(links))


@pytest.mark.long
@pytest.mark.parametrize("name", ["scaffnew", "ef21"])
def test_a_planted_fault_in_any_link_is_refused(name):
    chain = certify_steps(*with_class(name), 3)
    assert chain.verify()
    for place, link in enumerate(chain.links):
        greedy = link.exact + abs(link.exact) / 1000
        assert not changed_link(chain, place, exact=greedy).verify()
        halved = {name: y / 2 for name, y in link.multipliers.items()}
        assert not changed_link(chain, place, multipliers=halved).verify()
        twice = tuple(2 * weight for weight in link.weights)
        assert place == 0 or not changed_link(chain, place, weights=twice).verify()
        larger = tuple(2 * weight for weight in link.following)
        assert not changed_link(chain, place, following=larger).verify()
        counts = tuple(2 if i == place else 1 for i in range(len(chain.links)))
        assert not replace(chain, counts=counts).verify()


@pytest.mark.long
def test_values_of_the_next_potential_are_not_negative():
    """The mean of a value at a noisy point is bounded from above only."""
    chain = certify_steps(*with_class("locodl"), 2, measure="gap")
    last = chain.links[-1]
    negative = tuple(-weight for weight in last.following)
    lower = replace(last, following=negative, exact=Fraction(-(10**6)))
    assert not replace(chain, links=(*chain.links[:-1], lower)).verify()


@pytest.mark.long
@pytest.mark.parametrize("name", ["scaffnew", "ef21", "agd"])
def test_every_link_is_next_to_its_bound(name):
    chain = certify_steps(*with_class(name), 16)
    assert chain.verify()
    for link in chain.links:
        assert link.decrease <= link.bound <= link.decrease + 1e-8 * abs(link.decrease)


@pytest.mark.long
def test_the_number_of_steps_changes_one_count_only():
    chain = certify_steps(*with_class("locodl"), 64)
    counts = [count + 936 * (place == chain.longest) for place, count in enumerate(chain.counts)]
    longer = replace(chain, counts=tuple(counts))
    assert longer.steps == 1000
    assert longer.verify()
    assert longer.factor < chain.factor


@pytest.mark.long
@pytest.mark.parametrize("n", [100, 10**6])
def test_many_clients_cost_nothing(n):
    chain = certify_steps(*with_class("locodl", n=n), 100)
    assert len(chain.links) <= 5
    assert chain.decrease > certify(*with_class("locodl", n=n)).decrease


def programme_of(name, kept):
    """Return the programme of four steps that change the potential, and more that do not."""
    method, functions = with_class(name)
    theorem = METHODS[name].theorems[0]
    joined = Joined((theorem, Family.largest(method, functions).start.spread()))
    step = RationalStep.of(method, functions, joined)
    weights = certify(method, functions).weights
    first = (*weights, *(0.0,) * (len(step.now) - len(weights)))
    return ChainProgramme((step,) * 4, first, first, kept)


@pytest.mark.long
@pytest.mark.parametrize(("name", "kept"), [("diana", 60), ("ef21", 60), ("agd", 60), ("diana", 9)])
def test_no_other_decrease_of_the_kept_potential_is_better(name, kept):
    """For given d the programme is linear, and the factor of all steps is (1 - d)^kept / t."""
    programme = programme_of(name, kept)
    d, t = map(float, map(fraction, programme.best_point()[:2]))
    best = kept * math.log1p(-d) - math.log(t)
    (above, lines), (below, slopes) = programme._parts
    for there in (d * 0.97, d, d * 1.002):
        sums = [a - b * rational(there) for a, b in zip(above, below, strict=True)]
        rows = (lines - slopes * rational(there)).tolist()
        inside = strictly_inside(sums, rows)
        if inside is None:  # no potential decreases as much
            continue
        gain = [1, *[0] * (len(inside) - 1)]
        found = follow(ConeProgramme.of(gain, sums, rows), inside, 1e-8, bounded=False).numbers[0]
        assert kept * math.log1p(-there) - math.log(fraction(found)) > best - 1e-6 * abs(best)


@pytest.mark.long
def test_clients_that_differ():
    family = FunctionClass.of_classes([ClientClass(1, 1.0, 20.0), ClientClass(3, 1.0, 5.0)])
    method = METHODS["scaffnew"].method(0.05, 0.3)
    chain = certify_steps(method, family, 32)
    assert chain.verify()
    assert chain.decrease > certify(method, family).decrease
    assert chain.factor * 0.95 < math.exp(attained_log_factor(chain)) <= chain.factor


@pytest.mark.long
def test_a_potential_that_grows_in_one_step_may_shrink_in_many():
    """DIANA with a potential whose weight of the shifts is far too small."""
    method, functions = with_class("diana", kappa=20.0)
    theorem = METHODS["diana"].theorems[0]

    class Light:
        def lyapunov(self, m, s, star, setting, problem):
            first, second = theorem.lyapunov(m, s, star, setting, problem)
            return first, replace(second, weight=second.weight / 20)

    assert certify(method, functions, potential=Light()).decrease < 0
    chain = certify_steps(method, functions, 2000, potential=Light())
    assert chain.verify()
    assert chain.factor < 1e-3


def test_steps_to_a_ratio_are_counted_up():
    """Gradient descent on 1 <= mu, L <= 10 with gamma = 1/10 has the factor 0.9^2 = 0.81."""
    chain = certify_steps(GD(0.1), FunctionClass(3, 1.0, 10.0), 5)
    assert chain.factor == pytest.approx(0.81**5)
    for steps in (1, 3, 5, 40):
        just, before = 0.81**steps * (1 + 1e-6), 0.81 ** (steps - 1) * (1 - 1e-6)
        assert [chain.steps_to(ratio) for ratio in (just, before)] == [steps, steps]
        assert chain.steps_to(0.81**steps * (1 - 1e-6)) == steps + 1


def test_no_steps_are_refused():
    with pytest.raises(Refusal, match="at least 1"):
        certify_steps(GD(0.1), FunctionClass(2, 1.0, 10.0), 0)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    "chain",
    [
        lambda: certify_steps(
            GD(1.0), FunctionClass(1, 0.0, 1.0), 3, AtModel("distance"), measure="gap"
        ),
        lambda: certify_run(
            [GD(1.0), GD(1.5)], FunctionClass(1, 0.0, 1.0), AtModel("distance"), "gap"
        ),
        lambda: certify_steps(GD(0.1), FunctionClass(2, 1.0, 5.0), 4, measure="distance"),
    ],
)
def test_what_is_proved_of_two_functions_names_both(chain):
    found = chain()
    assert found.verify()
    text = str(found)
    assert "E[|x - x*|^2] after" in text or "E[f(x) - f*] after" in text
    assert "Psi+" not in text
    assert text.endswith(("(|x - x*|^2)", "(Psi at the start)"))
    changing = [one for one in found.links if one.following not in {None, one.weights}]
    assert changing
    for link in changing:
        assert "E[Psi+] <=" not in str(link)
        assert "E[Phi+] <=" in str(link)
        with pytest.raises(Refusal, match="a file is about one Psi"):
            proof_file(link)


@dataclass(frozen=True)
class Multiple:
    """A multiple of |x - x*|^2 that is equal to all others."""

    size: float = field(compare=False)

    def lyapunov(self, m, s, star, setting, problem):
        return (Squares(1.0, self.size * (s.x - star.x)),)


@pytest.mark.parametrize("size", [1.0, 3.0])
def test_equal_potentials_are_joined_if_they_are_the_same(size):
    links = [certify(GD(0.1), FunctionClass(1, 1.0, 2.0), Multiple(x)) for x in (1.0, size)]
    assert links[0].potential == links[1].potential
    assert Chain(tuple(links), (1, 1)).verify() == (size == 1)


@pytest.mark.parametrize("name", ["agd", "diana"])
def test_a_searched_form_with_negative_weights_begins_a_chain(name):
    """The command gives several steps such a form, and was told to choose other parameters."""
    once = certify(*with_class(name), "search")
    assert min(once.weights) < 0
    form = Reweighted(once.potential, once.weights)
    chain = certify_steps(once.method, once.functions, 3, form)
    assert chain.decrease >= once.decrease * (1 - 1e-9)
    assert chain.verify()


NO_FACTORS = {
    "of f - f*": (GD(0.1), FunctionClass(1, mu=0.0, L=1.0), "gap"),
    "of a gradient": (GD(0.1), FunctionClass.nonconvex(1, L=1.0), "squared_gradient"),
    "with noise": (
        SGD(0.01), FunctionClass(1, mu=1.0, L=10.0, noise=GradientNoise()),
        "potential",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_FACTORS)
def test_what_is_no_factor_is_no_link(name):
    """c of another measure was read as one, and noise was left out."""
    method, functions, measure = NO_FACTORS[name]
    proof = certify(method, functions, measure=measure)
    assert proof.verify()
    assert not Chain((proof,), (100,)).verify()


def test_a_chain_names_all_methods():
    distance = AtModel("distance")
    chain = certify_run([GD(1.0), GD(1.5)], FunctionClass(1, mu=0.0, L=1.0), distance)
    assert repr(chain).startswith("Chain of 2 certificates of GD(gamma=1.0), GD(gamma=1.5)\n")
