"""Many local steps as one inequality: true, no better than step by step, and exact in the limit."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from by_rule import by_rule

from certibit import GD, METHODS, ClientClass, Experiment, FiveGCSCC, Quadratic, certify, compressor
from certibit.solvers.backend import copies, mean
from certibit.solvers.local_solve import gradient_steps
from certibit.theory.certificates.search import setting
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs import symbolic_step as step_module
from certibit.theory.worlds.linear_maps import worst_case
from certibit.theory.worlds.opaque.exact_numbers import Exact
from certibit.theory.worlds.symbolic.local_solves import LocalSolve

CARD = METHODS["5gcs-cc"]
(THEOREM,) = CARD.about("potential")


def at(n, kappa, rule="ours", sent="rand-k:1", **options):
    """Return 5GCS-CC with the parameters of a rule, and the setting they are for."""
    where = setting(n, 1.0, kappa, 2, compressor(sent))
    return CARD.at(where, rule, **options), where


@pytest.fixture
def in_one_inequality(monkeypatch):
    """Never do local steps one by one."""
    monkeypatch.setattr(step_module, "ROOMS", [room for room in step_module.ROOMS if not room[0]])


@pytest.mark.parametrize(("n", "kappa"), [(3, 30.0), (10, 1e3), (100, 1e4)])
def test_the_theorem_holds_at_its_own_number_of_steps(n, kappa, in_one_inequality):
    for cohort in (n, n // 3):
        method, where = at(n, kappa, cohort=cohort)
        proved = certify(method, where)
        assert len(proved.multipliers) == 7
        assert proved.verify()
        assert proved.decrease >= 1 - THEOREM.rate(method, where)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("kappa", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("rule", ["ours", "ours-adaptive"])
def test_steep_functions_keep_what_is_promised(rule, kappa):
    """With where solves end as far as a step leads, the solver was lost from kappa = 1e5 on."""
    method, where = by_rule("5gcs-cc", 3, kappa, 4.0, rule)
    proof = certify(method, where)
    assert proof.decrease >= 1 - THEOREM.rate(method, where)
    assert proof.verify()


@pytest.mark.parametrize("n", [100, 1000])
def test_as_many_steps_as_theorems_need_keep_what_they_promise(n):
    """Step by step, 24 or 25 of them are a programme in which no decrease is left."""
    where = setting(n, 1.0, 100.0, 5, compressor("rand-k:1"))
    method = CARD.at(where)
    assert 20 <= method.K < 30
    proved = certify(method, where)
    assert proved.decrease >= 1.4 * (1 - THEOREM.rate(method, where))
    assert proved.verify()


@pytest.mark.parametrize("K", [1, 2, 3])
def test_one_inequality_knows_less_than_all_steps(K, request):
    method, where = at(3, 5.0)
    step_by_step = certify(replace(method, K=K), where)
    request.getfixturevalue("in_one_inequality")
    assert certify(replace(method, K=K), where).decrease < step_by_step.decrease


def test_more_steps_help_up_to_the_exact_solve(in_one_inequality):
    method, where = at(2, 20.0)
    found = [certify(replace(method, K=K), where).decrease for K in (14, 20, 40, 400)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(found[-2], rel=1e-2)
    attained = []
    for steep in ([1.0, 1.0], [20.0, 20.0], [1.0, 20.0]):
        matrices = [
            [[one, 0.0], [0.0, other]] for one, other in zip(steep, steep[::-1], strict=True)
        ]
        problem = Quadratic.from_arrays(matrices, [[0.0, 0.0]] * 2)
        run = Experiment.of(replace(method, K=400), problem, where.compressor)
        attained.append(1 - worst_case(run, THEOREM))
    assert found[-1] <= min(attained) <= found[-1] * (1 + 1e-3)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("step", [0.02, 0.1, 0.15])
def test_steps_shorten_the_gradient_by_the_ratio_and_no_more(step, exact):
    """The slope is 2 grad f + 3 z with f between 1 and 5: curvatures from 5 to 13."""
    number = Exact if exact else float
    after = np.array([number(0), number(2), number(3)], dtype=object if exact else float)
    solve = LocalSolve(0, 2, (), (after,), number(step), 7)
    ratio = solve.ratio(1, 1, 5)
    known = max((1 - step * curvature) ** 14 for curvature in np.linspace(5.0, 13.0, 50))
    found = float(ratio.value) if exact else ratio
    assert found >= known
    assert found == pytest.approx(known, rel=1e-11)


def test_exact_proofs_of_many_steps(in_one_inequality):
    method, where = at(4, 100.0)
    proof = certify(method, where)
    assert proof.verify()
    fewer = replace(proof, method=replace(method, K=method.K // 2))
    assert not fewer.verify()


def test_clients_that_differ_solve_locally():
    method, _ = at(4, 100.0)
    family = FunctionClass.of_classes(
        [ClientClass(1, 1.0, 100.0, 1.0), ClientClass(3, 1.0, 5.0, 1.0)]
    )
    mixed = certify(method, family)
    alike = certify(method, FunctionClass(4, 1.0, 100.0, omega=1.0))
    assert mixed.verify()
    assert mixed.decrease >= alike.decrease * (1 - 1e-6)
    assert math.isfinite(mixed.decrease)


@pytest.mark.long
@pytest.mark.parametrize(("n", "omega"), [(1, 99.0), (10, 1.0), (100, 0.0), (10**4, 4.0)])
def test_thousands_of_local_steps_keep_what_is_promised(n, omega):
    """The gradient that they leave is as small as 1e-5 of the first, and is measured so."""
    method, where = by_rule("5gcs-cc", n, 1e5, omega)
    stated = certify(method, where)
    assert stated.decrease >= 1 - THEOREM.rate(method, where)
    assert certify(method, where, potential="search").decrease >= stated.decrease


def test_of_equal_local_steps_a_few_show_that_a_method_is_linear():
    calls = []

    class Counted(FiveGCSCC):
        name = "counted"

        def _change(self, *where):
            calls.append(1)
            return super()._change(*where)

    method, where = by_rule("5gcs-cc", 100, 1e5, 9.0)
    certify(Counted(**vars(method)), where, potential=THEOREM)
    assert len(calls) < 3.5 * method.K  # all of them for the sizes of the fields, and their slopes


@dataclass(frozen=True)
class TwoSolves(GD):
    """A gradient step, and ten times where two local solves end apart: from 0, and from a step."""

    name = "two-solves"

    def communicate(self, s, problem, channel):
        slope = problem.grad(copies(s.x, problem.n))
        everyone = np.ones((problem.n, 1, 1), dtype=bool)
        ends = [
            gradient_steps(lambda z: problem.grad(s.x + z) + 20 * z, start, everyone, problem,
                           step=1 / 40, count=2)
            for start in (0 * slope, -self.gamma * slope)
        ]  # fmt: skip
        apart = ends[0] - ends[1]
        return type(s)(s.x + mean(channel.send(10 * apart - self.gamma * slope)))


def test_solves_that_begin_apart_end_apart(in_one_inequality):
    """On x^2/2 they end (19/40)^2 gamma x apart: with gamma = 1/2 it is x+ = 1.63 x."""
    proved = certify(
        TwoSolves(0.5), FunctionClass(1, 1.0, 1.5), potential=METHODS["gd"].theorems[0]
    )
    assert proved.decrease <= 1 - (0.5 + 5 * (19 / 40) ** 2) ** 2
