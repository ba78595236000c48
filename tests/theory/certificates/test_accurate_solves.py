"""Local solves that end by a criterion, which is all that their certificate knows of them."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from by_rule import by_rule
from scipy.optimize import brentq

from certibit import ClientClass, Experiment, FunctionClass, Quadratic, Refusal, Setting, certify
from certibit.solvers.compressors.base import Identity
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.theory.cards.five_gcs_cc import enough_steps
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.exact.long_run import limit_of_potentials, long_runs, slowest_decrease
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.worlds.opaque.exact_numbers import rational
from certibit.theory.worlds.orbits import orbits
from certibit.theory.worlds.symbolic.local_solves import AccurateSolve

CARD = METHODS["5gcs-cc"]
(THEOREM,) = CARD.about("potential")
POINTS = [(1, 30.0, 0.0), (3, 100.0, 4.0), (10, 1e3, 9.0), (100, 100.0, 1.0), (10**6, 1e4, 9.0)]


def at(n, kappa, omega, rule="ours-adaptive", **options):
    """Return 5GCS-CC with the parameters of a rule, and the setting they are for."""
    return by_rule("5gcs-cc", n, kappa, omega, rule, **options)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("n", "kappa", "omega"), POINTS)
def test_the_promise_of_the_theorem_is_certified(n, kappa, omega):
    for cohort in {n, max(1, n // 3)}:
        method, where = at(n, kappa, omega, cohort=cohort)
        proved = certify(method, where)
        assert len(proved.multipliers) == 3
        assert proved.verify()
        assert proved.decrease >= (1 - 1e-6) * (1 - THEOREM.rate(method, where))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("n", "kappa", "omega"), POINTS[:4])
def test_a_potential_that_is_found_proves_no_less(n, kappa, omega):
    method, where = at(n, kappa, omega)
    stated, found = (certify(method, where, potential=which) for which in (None, "search"))
    assert found.verify()
    assert found.decrease >= stated.decrease
    assert found.decrease <= limit_of_potentials(found)[0] < 2 * found.decrease


@pytest.mark.parametrize("rest", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_long_run_is_that_of_solves_at_the_criterion(n, rest):
    """An independent map of (x, u_1, ..., u_n): where solves end is found from the criterion."""
    method, where = at(n, 40.0, 2.0)
    functions, tried = FunctionClass.of(where), 0
    for one in long_runs(method, functions):
        if one.extreme.rest == rest:
            known = own_radius(method, np.repeat(one.extreme.curvatures, one.extreme.counts), rest)
            assert one.factor == pytest.approx(known, rel=1e-9)
            tried += 1
    assert tried == len({0, 1, n // 2, n - 1, n})


def own_radius(m, L, rest):
    """Return the spectral radius of the second moments of 5GCS-CC with all clients, by hand."""
    n, size = len(L), len(L) + 1
    h, u = (L - m.mu) / n, np.eye(size)[1:]
    x = (np.eye(size)[0] - m.gamma * u.sum(axis=0)) / (1 + m.gamma * m.mu)
    least = rest * (m.tau / (2 * m.L_F)) ** 0.5
    z, m_i = [], []
    for h_i, u_i in zip(h, u, strict=True):
        start = h_i * x - u_i
        per_start = brentq(
            lambda z, h=h_i: 1 + (h + m.tau) * z - least * (1 + h * z), -3 / m.tau, 0.0, xtol=1e-15
        )
        z.append(per_start * start)
        m_i.append(start + h_i * z[-1])
    after, change = np.array(m_i) + m.tau * np.array(z), np.array(m_i)
    allowed = m.tau / (2 * m.L_F) * (change**2).sum(axis=1)
    assert (after**2).sum(axis=1) == pytest.approx(rest**2 * allowed, abs=1e-12)
    total = np.zeros((size**2, size**2))
    for signs in product([1.0, -1.0], repeat=n):
        sent = (1 + m.omega**0.5 * np.array(signs))[:, None] * change
        rows = np.vstack([x - m.gamma * sent.sum(axis=0), u + sent / (1 + m.omega)])
        total += np.kron(rows, rows) / 2**n
    return float(np.abs(np.linalg.eigvals(total)).max())


def test_solves_at_the_criterion_are_slower_than_exact_ones():
    for n, kappa, omega in POINTS[1:4]:
        method, where = at(n, kappa, omega)
        own = dict.fromkeys((0.0, 1.0, -1.0), 1.0)
        for one in long_runs(method, FunctionClass.of(where)):
            own[one.extreme.rest] = min(own[one.extreme.rest], 1 - one.factor)
        assert own[-1.0] < own[0.0] <= own[1.0]
        fixed = slowest_decrease(replace(method, adaptive=False), FunctionClass.of(where))
        assert fixed == pytest.approx(own[0.0], rel=0.05)


def test_clients_that_differ_and_many_steps():
    method, _ = at(4, 100.0, 1.0)
    classes = [ClientClass(1, 1.0, 100.0, 1.0), ClientClass(3, 1.5, 5.0, 1.0)]
    mixed = certify(method, FunctionClass.of_classes(classes))
    alike = certify(method, FunctionClass(4, 1.0, 100.0, omega=1.0))
    assert mixed.verify()
    assert mixed.decrease >= alike.decrease > 0


@pytest.mark.parametrize("k", [0.3, 1.0, 7.0, 40.0, 1e3])
def test_enough_steps_are_those_of_the_theorem(k):
    """The certificate finds itself how many are enough, from the curvatures of the class."""
    method, where = at(3, 50.0, 1.0)
    changed = replace(method, tau=method.L_F / k, gamma=0.1 * method.gamma)
    enough = enough_steps(method.L_F / changed.tau)
    assert certify(replace(changed, K=enough), where).multipliers
    with pytest.raises(Refusal, match="not enough for their criterion"):
        certify(replace(changed, K=enough - 1), where)


@pytest.mark.parametrize(
    "change", [{"L_F": 0.4}, {"tau": 0.5}, {"K": 0.5}], ids=lambda change: next(iter(change))
)
def test_a_cap_that_is_too_low_for_the_functions_is_refused(change):
    method, where = at(3, 50.0, 1.0)
    values = {
        name: type(getattr(method, name))(factor * getattr(method, name))
        for name, factor in change.items()
    }
    with pytest.raises(Refusal, match="not enough for their criterion"):
        certify(replace(method, **values), where)


@pytest.mark.parametrize("accuracy", [0.5, 2.0])
def test_the_constant_of_the_criterion_is_seen(accuracy, monkeypatch):
    """Half of it is more than runs keep to (tests of symbols), twice as much proves less."""
    method, where = at(3, 100.0, 4.0)
    known, own = certify(method, where), AccurateSolve.ratio
    monkeypatch.setattr(AccurateSolve, "ratio", lambda self, *what: accuracy * own(self, *what))
    other = certify(method, where)
    assert (other.decrease > known.decrease) == (accuracy < 1)
    monkeypatch.undo()
    assert other.verify() == (accuracy > 1)


@pytest.mark.parametrize("planted", ["turned", "larger", "smaller", "negative"])
def test_multipliers_and_signs_that_are_changed_are_caught(planted):
    method, where = at(4, 100.0, 1.0)
    proof = certify(method, where)
    assert proof.verify()
    name = next(name for name in proof.multipliers if name.startswith("local steps"))
    factors = {"larger": Fraction(101, 100), "smaller": Fraction(99, 100), "negative": -1}
    if planted in factors:
        changed = {**proof.multipliers, name: factors[planted] * proof.multipliers[name]}
        assert not replace(proof, multipliers=changed).verify()
        return
    step = RationalStep.of(method, FunctionClass.of(where), THEOREM)
    solve = step.inequalities[name]
    turned = solve.plus(rational(-2), solve)
    turned = replace(step, inequalities={**step.inequalities, name: turned})
    with pytest.raises(Refusal):
        DescentProgramme.of_factor(turned, proof.exact_weights).best()


def test_local_solves_cost_as_many_gradients_as_they_may():
    method, where = at(10, 100.0, 3.0, cohort=5)
    (_, most), (_, fixed) = (
        orbits(one, where.n) for one in (method, replace(method, adaptive=False))
    )
    assert most.gradients == (2 * method.K + 2) / 2
    assert fixed.gradients == (method.K + 1) / 2


@pytest.mark.parametrize("seed", range(3))
def test_runs_decrease_as_fast_as_certified(seed):
    """Without compression and with all clients a run is one outcome, and every round counts."""
    problem = Quadratic.random(3, 4, mu=1.0, L=40.0, seed=seed)
    method = parameters("5gcs-cc", problem, Identity(), "ours-adaptive")
    proved = certify(method, FunctionClass(3, 1.0, 40.0))
    where = Setting.of(method, problem, Identity())
    assert proved.decrease >= 1 - THEOREM.rate(method, where)
    trace = simulate(
        Experiment.of(method, problem, Identity()),
        seeds=1,
        budget=Budget(rounds=60),
        record=Record(ratio=1, every=1),
        potential=lyapunov_record(THEOREM, where),
    )
    values = trace.columns["lyapunov"]
    assert len(values) == 61
    assert max(after / before for before, after in pairwise(values)) <= proved.factor
