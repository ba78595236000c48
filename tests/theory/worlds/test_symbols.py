"""The unchanged class of a method on symbols gives the exact E[Psi+] of any concrete problem."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from certibit import METHODS, TAMUNA, FunctionClass, Method, Quadratic, Refusal, parameters
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each
from certibit.theory.potential import value
from certibit.theory.proofs.symbolic_step import SymbolicStep, symbolic_step
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.orbits import orbits
from certibit.theory.worlds.outcomes import Scripted, outcomes
from certibit.theory.worlds.symbolic.interpolation import Form

D = 3
MU, L = 1.0, 20.0
RAND_1 = RandK(1)

EXACT = ["gd", "agd", "diana", "marina", "dasha", "locodl", "scaffnew", "scaffold", "fedcomgate"]
"""Methods on any n >= 1 whose forms are exact for rand-1; CompressedScaffnew and TAMUNA too."""


def weighted_sum(weights, forms):
    """Return the sum of multiples of at least one form."""
    first, *others = (form * w for w, form in zip(weights, forms, strict=True))
    return sum(others, start=first)


class Rand1Channel(Scripted):
    """Every client's choice of its coordinate is scripted too."""

    def uplink(self, v, cohort=None):
        indices = [(1 / D**self.n, choice) for choice in product(range(D), repeat=self.n)]
        uniforms = (np.array(self.choose(indices))[:, None, None] + 0.5) / D
        return self.send(RAND_1.compress(v, uniforms), cohort)


def psi(method: Method, state, family, problem) -> float:
    """Return the Lyapunov function of the method's first theorem."""
    theorem, star = METHODS[method.name].theorems[0], fixed_point(method, problem)
    return value(theorem.lyapunov(method, state, star, family, problem), problem)[0]


def enumerated(method: Method, state, family, problem, channel=Rand1Channel) -> float:
    """Return E[Psi+], every choice of the clients and of their compressors one by one."""
    oracle = Oracle(problem, np.arange(1), Ledger(1))

    def after(world):
        return psi(method, advance(method, state, oracle, world)[0], family, problem)

    pairs = list(outcomes(after, lambda script: channel(problem.n, D, script)))
    assert sum(probability for probability, _ in pairs) == pytest.approx(1, abs=1e-12)
    return sum(probability * after for probability, after in pairs)


def concrete(step: SymbolicStep, method: Method, state, problem, ends=None):
    """Put vectors of a problem in the place of the unknowns: equal parts, zero-sum parts, values.

    Shapes (basis, d), (n, basis, d), (basis,). Local solves have their ends, (n, d).
    """
    n = problem.n
    equal = np.zeros((step.basis.size, D))
    different = np.zeros((n, step.basis.size, D))
    values = np.zeros(step.basis.size)

    def put(number, rows):
        if step.basis.every_client[number]:
            equal[number] = rows.mean(axis=0)
            different[:, number] = rows - rows.mean(axis=0)
        else:
            equal[number] = rows[0]

    star = vars(fixed_point(method, problem))
    for number, (name, array) in enumerate(vars(state).items()):
        if array.dtype != bool:
            put(
                step.basis.names["state", number],
                (array - star[name])[:, :, 0] / step.method.sizes[number],
            )
    for solve in step.solves:
        put(solve.place, ends)
    for place, evaluation in enumerate(step.evaluations):
        if evaluation.function == "g":
            x = evaluation.point[0] @ equal
            put(evaluation.gradient, problem.ridge_g / L * x[None, :])
            values[place] = (problem.ridge_g - MU) / 2 / L * x @ x
            continue
        x = evaluation.point[0] @ equal + evaluation.point[1] @ different
        gradients = problem.grad(x[:, :, None] + problem.x_star) - problem.grad_star
        put(evaluation.gradient, gradients[:, :, 0] / L)
        # f_i is quadratic: f_i(x* + x) - f_i(x*) - <grad f_i(x*), x> = <change of gradient, x>/2
        values[place] = np.mean(np.sum((gradients[:, :, 0] - MU * x) * x, axis=1)) / 2 / L
    return equal, different, values


def at(form: Form, place) -> float:
    equal, different, values = place
    return (
        np.einsum("ij,id,jd->", form.blocks[0], equal, equal)
        + np.einsum("ij,nid,njd->", form.blocks[1], different, different)
        + form.values @ values
    )


def random_state(method: Method, view, seed: int):
    """A random state, in which gradients that are kept are those of the kept points."""
    rng = np.random.default_rng(seed)
    state = each(
        lambda x: x if x.dtype == bool else x + rng.standard_normal(x.shape),
        fixed_point(method, view),
    )
    if hasattr(state, "gradient"):
        state = replace(state, gradient=view.grad(state.w if hasattr(state, "w") else state.x))
    return state


def prepared(name: str, n: int, seed: int, **options):
    problem = Quadratic.random(n, D, mu=MU, L=L, seed=seed)
    needs = METHODS[name].method.needs
    method = parameters(name, problem, RAND_1 if needs.compressor else None, **options)
    view = problem.composite if needs.composite else problem.plain
    omega = D - 1.0 if needs.compressor else 0.0
    family = FunctionClass(n, MU, L, omega=omega)
    return method, family, view


@pytest.mark.long(keep=18)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", EXACT)
def test_form_equals_enumeration(name, n, seed):
    method, family, view = prepared(name, n, seed)
    check_forms(method, family, view, seed)


def symbols_of(method, family) -> SymbolicStep:
    return symbolic_step(method, family, METHODS[method.name].theorems[0])


def check_forms(method, family, view, seed):
    state = random_state(method, view, seed)
    step = symbols_of(method, family)
    now, after = (weighted_sum(step.weights, forms) for forms in (step.now, step.after))
    place = concrete(step, method, state, view)
    assert at(now, place) == pytest.approx(psi(method, state, family, view), rel=1e-11)
    assert at(after, place) == pytest.approx(enumerated(method, state, family, view), rel=1e-11)


@pytest.mark.parametrize(("n", "m", "s"), [(2, 2, 2), (4, 3, 2), (4, 4, 3), (5, 2, 2), (5, 4, 3)])
def test_masks_and_cohorts_have_exact_moments(n, m, s):
    _, family, view = prepared("scaffnew", n, 0)
    method = TAMUNA(gamma=0.07, p=0.4, chi=0.3, s=s, m=m)
    check_forms(method, family, view, 0)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("name", ["scaffold", "5gcs-cc"])
def test_client_sampling_has_exact_moments(name, m):
    if name == "scaffold":
        method, family, view = prepared(name, 3, 1, m=m)
    else:
        method, family, view = prepared(name, 3, 1, cohort=m)
        method = replace(method, K=2)
    check_forms(method, family, view, 1)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("n", "q"), [(1, 0.3), (2, 0.6), (3, 0.3), (4, 0.9), (5, 0.3), (7, 0.8)])
def test_client_coins_have_exact_moments(n, q):
    """Three numbers of heads stand for all."""
    method, family, view = prepared("gradskip", n, 0)
    method = replace(method, q=(q,) * n)
    check_forms(method, family, view, 0)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("name", ["diana", "locodl"])
def test_shared_draws_are_bounded_and_cost_more(name, n):
    method, family, view = prepared(name, n, 0)
    state = random_state(method, view, 0)

    class SharedRand1(Scripted):
        def uplink(self, v, cohort=None):
            choice = self.choose([(1 / D, k) for k in range(D)])
            return self.send(RAND_1.compress(v, np.full((1, 1, 1), (choice + 0.5) / D)), cohort)

    shared = replace(family, omega_joint=family.omega)
    exact = enumerated(method, state, shared, view, SharedRand1)
    step = symbols_of(method, shared)
    bound = at(weighted_sum(step.weights, step.after), concrete(step, method, state, view))
    assert exact <= bound * (1 + 1e-12)
    assert bound <= 2 * exact


def test_a_noisy_function_value_is_bounded():
    method, family, view = prepared("adiana", 2, 0)
    state = random_state(method, view, 0)
    step = symbols_of(method, family)
    after = weighted_sum(step.weights, step.after)
    place = concrete(step, method, state, view)
    exact = enumerated(method, state, family, view)
    assert exact <= at(after, place) <= 1.5 * exact


@pytest.mark.parametrize("n", [1, 2, 3])
def test_local_solves_that_end_by_a_criterion(n):
    """The form is that of where they do end, of which their inequality is true, and no more."""
    halves = []
    for seed in range(8):
        method, family, view = prepared("5gcs-cc", n, seed, rule="ours-adaptive")
        step, state = symbols_of(method, family), random_state(method, view, seed)
        unsent = replace(method, omega=0.0)
        oracle = Oracle(view, np.arange(1), Ledger(1))
        ended, _ = advance(unsent, state, oracle, Rand1Channel(n, D))
        place = concrete(step, method, state, view, ended.z[:, :, 0])
        after = weighted_sum(step.weights, step.after)
        assert at(after, place) == pytest.approx(enumerated(method, state, family, view), rel=1e-11)
        (solve,) = step.solves
        x = (state.x - method.gamma * state.v) / (1 + method.gamma * method.mu)
        change = method._change(x + ended.z, state, n, oracle)
        slope = change + method.tau * ended.z
        left = solve.accuracy * np.sum(change**2) - np.sum(slope**2)
        assert at(step.inequalities[solve.name], place) == pytest.approx(left, rel=1e-8)
        assert left >= 0
        halves.append(left - solve.accuracy / 2 * np.sum(change**2))
    assert min(halves) < 0


@pytest.mark.parametrize("n", [3, 87, 288])
@pytest.mark.parametrize("name", ["tamuna", "gradskip", "scaffold"])
def test_orbits_are_few_and_sum_to_one(name, n):
    constants = Quadratic.random(3, D, mu=MU, L=L, seed=0)
    options = {"tamuna": {"m": 3}, "scaffold": {"m": 2}}.get(name, {})
    method = parameters(name, constants, **options)
    if name == "gradskip":
        method = replace(method, q=(0.9,) * n)
    found, _ = orbits(method, n)
    assert sum(orbit.probability for orbit in found) == pytest.approx(1, abs=1e-12)
    assert len(found) <= (6 if name == "gradskip" else 2 * (n + 1))


def test_refusals():
    method, family, _ = prepared("gradskip", 2, 0)
    with pytest.raises(Refusal, match="not exchangeable"):
        symbols_of(replace(method, q=(0.5, 0.6)), family)
    method, family, _ = prepared("adiana", 2, 0, variant="II")
    with pytest.raises(Refusal, match="noise of this very step"):
        symbols_of(method, family)
    method, family, _ = prepared("diana", 2, 0)
    shared = replace(family, omega_joint=family.omega)
    with pytest.raises(Refusal, match="draw independently"):
        symbols_of(replace(prepared("5gcs-cc", 2, 0, cohort=1)[0], K=1), shared)
    assert symbols_of(method, shared).after
