"""What is found about a method is what the method states; what is not there is not found."""

from dataclasses import dataclass, fields, replace
from time import process_time

import numpy as np
import pytest
from by_rule import by_rule
from unstated import formulas, quadratic, unstated

from certibit import ADIANA, DIANA, TAMUNA, FiveGCSCC, FunctionClass, Method, certify, mean
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.libraries import host, transfer
from certibit.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus
from certibit.solvers.simulation.experiment import fitted_view
from certibit.solvers.state import each
from certibit.theory.catalogue.catalogue import METHODS, card_of
from certibit.theory.proofs.symbolic_step import symbolic_step
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.generic import Subject, generic_functions
from certibit.theory.worlds.invariants import invariants

COMPRESSORS = {"unbiased": RandK(1), "contractive": Scaled(RandK(1)), None: Identity()}
COHORTS = {"scaffold": {"m": 2}, "5gcs-cc": {"cohort": 2}, "tamuna": {"m": 3}}
NEEDS_TWO_CLIENTS = {"compressed-scaffnew", "tamuna"}
CASES = [
    (name, rule, n, d, {})
    for name, card in METHODS.items()
    for first in [next(iter(card.rules))]
    for rule in card.rules
    for n, d in ([(1, 3), (2, 5), (4, 2), (30, 2)] if rule == first else [(3, 4)])
    if not (n == 1 and name in NEEDS_TWO_CLIENTS)
]
CASES += [(name, None, 4, 3, options) for name, options in COHORTS.items()]

each_case = pytest.mark.parametrize(("name", "rule", "n", "d", "options"), CASES)


def prepared(name, rule, n, d, options):
    """Return a method and its view of a problem; in GradSkip all clients skip now and then."""
    card, problem = METHODS[name], quadratic(n, d)
    compressor = COMPRESSORS[None if rule == "5gcs" else card.method.needs.compressor]
    method = card.parameters(problem, compressor, rule, **options)
    if name == "gradskip":
        method = replace(method, q=tuple(np.linspace(0.3, 0.9, n)))
    return method, fitted_view(method, problem)


def largest(state) -> float:
    return max(float(np.max(np.abs(getattr(state, field.name)))) for field in fields(state))


def random_states(state, runs: int):
    rng = np.random.default_rng(0)

    def draw(x):
        normal = rng.standard_normal((*x.shape[:2], runs))
        return normal > 0 if x.dtype == bool else normal

    return each(draw, state)


def rank(*groups) -> int:
    runs = max(x.shape[2] for group in groups for x in group)
    rows = [np.broadcast_to(x, (*x.shape[:2], runs)).reshape(-1, runs) for g in groups for x in g]
    return int(np.linalg.matrix_rank(np.concatenate(rows), tol=1e-9 * runs))


@each_case
def test_the_stated_fixed_point_is_found(name, rule, n, d, options):
    method, view = prepared(name, rule, n, d, options)
    stated, found = method.fixed_point(view), fixed_point(unstated(method), view)
    for field in fields(stated):
        right, ours = getattr(stated, field.name), getattr(found, field.name)
        assert ours.shape == right.shape
        assert ours.dtype == right.dtype
        assert np.max(np.abs(np.subtract(ours, right, dtype=float))) <= 1e-12 * largest(stated)


@pytest.mark.long(keep=29)
@each_case
def test_the_stated_invariants_are_found(name, rule, n, d, options):
    """Neither follows from nothing, and both together say no more than each."""
    method, view = prepared(name, rule, n, d, options)
    states = random_states(method.fixed_point(view), 20 + 8 * n * d)
    stated, found = method.invariants(states, view), invariants(unstated(method), states, view)
    if not stated:
        assert found == ()
    else:
        assert rank(stated) == rank(found) == rank(stated, found) > 0


def test_what_a_method_states_is_given_back():
    method, view = prepared("diana", "b", 3, 2, {})
    star = fixed_point(method, view)
    assert largest(each(np.subtract, star, method.fixed_point(view))) == 0
    (found,), (stated,) = invariants(method, star, view), method.invariants(star, view)
    np.testing.assert_array_equal(found, stated)


def test_many_clients():
    """The factor n of 5GCS-CC is right at any n, and a cohort that is seldom met is met."""
    method = FiveGCSCC(gamma=1e-3, tau=3.0, mu=1.0, L_F=0.1, omega=2.0, cohort=3, K=2)
    assert formulas(unstated(method), 500) == {"+1 z", "+1 mean u -0.002 v"}
    tamuna = unstated(TAMUNA(gamma=0.1, p=0.01, chi=0.1, s=2, m=4))
    assert formulas(tamuna, 500) == {"+1 mean h"}


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), [("diana", {}), ("scaffold", {"m": 10**4})])
def test_of_many_clients_it_is_found_on_few(name, options, unit):
    method, where = by_rule(name, 10**5, 100.0, **options)
    start = process_time()
    found = certify(unstated(method), where)
    assert process_time() - start < 8 * unit
    stated = certify(method, where, potential="search")
    assert found.decrease == pytest.approx(stated.decrease, rel=1e-2)


def test_what_depends_on_the_number_of_clients_is_found_on_all():
    method = unstated(FiveGCSCC(gamma=1e-3, tau=3.0, mu=1.0, L_F=0.1, omega=2.0, cohort=3, K=2))
    problem = generic_functions(Subject.of(method, 500), 3, 0)
    star = fixed_point(method, problem)
    assert fixed_point(method, generic_functions(Subject.of(method, 100), 3, 0)).u.shape[0] == 100
    moved = each(lambda x: x + 1.0, star)
    found = sorted(float(np.max(np.abs(x))) for x in invariants(method, moved, problem))
    assert found == pytest.approx([0.998, 1.0])


def test_more_is_found_where_more_is_true():
    """With p = 1 TAMUNA communicates after each step, and all local models are the same."""
    method = unstated(TAMUNA(gamma=0.1, p=1.0, chi=0.1, s=2, m=4))
    assert formulas(method, 5) == {"+1 x -1 mean x", "+1 mean h"}


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1.0, 1e6])
def test_any_step_size(gamma):
    """The generic world is as steep as the step size is small."""
    method = unstated(ADIANA(0.3, 0.4, gamma, gamma, 0.1, 0.9, 1e-3))
    assert formulas(method, 3) == {"+1 mean h -1 h_mean", "+1 gradient -1 grad w"}
    view = quadratic(3, 2)
    found = fixed_point(method, view)
    np.testing.assert_allclose(found.z, view.x_star, rtol=1e-12)
    np.testing.assert_allclose(found.gradient, view.grad_star, rtol=1e-12)


def test_one_value_of_a_parameter_for_every_run():
    view, mu = quadratic(3, 2), np.array([1.0, 0.5, 0.1]).reshape(1, 1, 3)
    settings = {"gamma": 0.01, "tau": 3.0, "L_F": 10.0, "omega": 2.0, "cohort": 2, "K": 2}
    method = FiveGCSCC(mu=mu, **settings)
    stated, found = method.fixed_point(view), fixed_point(unstated(method), view)
    assert found.x.shape == (1, 2, 3)
    np.testing.assert_allclose(found.u, stated.u, rtol=1e-12)
    np.testing.assert_allclose(found.v, stated.v, rtol=1e-12)
    assert len(invariants(unstated(method), found, view)) == 2


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("name", METHODS)
def test_on_every_library(name):
    method, view = prepared(name, None, 3, 2, {})
    strict = transfer(view, "array-api-strict")
    expected, found = fixed_point(method, view), fixed_point(unstated(method), strict)
    for field in fields(expected):
        ours, right = host(getattr(found, field.name)), getattr(expected, field.name)
        np.testing.assert_allclose(ours, right, atol=1e-12 * largest(expected))
    assert all(np.max(np.abs(host(x))) < 1e-12 for x in invariants(unstated(method), found, strict))


STATING = [
    name
    for name, card in METHODS.items()
    if card.about("potential") and card.method.invariants is not Method.invariants
]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", STATING)
def test_symbols_see_the_same(name):
    """What the unknowns of a certificate may be is the same with what is stated and what is found.

    In GradSkip all clients have the same coin here: then they are exchangeable.
    """
    method, _ = prepared(name, None, 4, 3, {})
    if name == "gradskip":
        method = replace(method, q=(0.5,) * 4)
    need = method.needs.compressor
    alpha, alpha_down = (
        0.5 if one == "contractive" else None for one in (need, method.needs.downlink)
    )
    family = FunctionClass(
        4, 1.0, 30.0, omega=2.0 * (need == "unbiased"), alpha=alpha, alpha_down=alpha_down
    )
    ours, right = (
        symbolic_step(one, family, card_of(method).theorems[0], exact=True)
        for one in (unstated(method), method)
    )
    for kernel, expected in zip(ours.kernels, right.kernels, strict=True):
        assert np.array_equal(kernel, expected)


def test_clipping_does_not_hide_what_is_kept():
    for method in (ClippedSCAFFOLD(0.01, 0.3, 2, S=2), EpisodePlusPlus(0.01, 0.3, 2, S=2)):
        (relation,) = formulas(unstated(method), 3)
        assert relation in {"+1 mean c_i -1 c", "+1 mean G_i -1 G"}


def undamped_mean(m, s, f, c):
    """A bug: the server forgets alpha."""
    sent = c.uplink(f.grad(s.x) - s.h)
    x = s.x - m.gamma * (s.h_mean + mean(sent))
    return replace(s, x=x, h=s.h + m.alpha * sent, h_mean=s.h_mean + mean(sent))


def stale_gradient(m, s, f, c):
    """A bug that shows once in a million rounds: the gradient does not move with w."""
    return replace(ADIANA.communicate(m, s, f, c), gradient=s.gradient)


def wrong_start(m, x, f, c):
    """A bug: the mean of the shifts does not start at 0, as they do."""
    return replace(DIANA.start(m, x, f, c), h_mean=x)


def with_bug(base, *parameters, **members):
    return dataclass(frozen=True)(type("Own", (base,), members))(*parameters)


RARE = 0.3, 0.4, 0.01, 0.01, 0.1, 0.9, 1e-6
BUGS = {
    "a step": (with_bug(DIANA, 0.01, 0.1, communicate=undamped_mean), {"+1 mean h -0.1 h_mean"}),
    "a rare outcome": (with_bug(ADIANA, *RARE, communicate=stale_gradient),
                       {"+1 mean h -1 h_mean"}),
    "the start": (with_bug(DIANA, 0.01, 0.1, start=wrong_start), set()),
}  # fmt: skip


@pytest.mark.parametrize(("method", "left"), BUGS.values(), ids=list(BUGS))
def test_what_a_bug_breaks_is_not_found(method, left):
    """What is left may be another relation, such as alpha h_mean = mean h in place of equality."""
    assert formulas(unstated(method), 3) == left
    states = random_states(method.fixed_point(quadratic(3, 2)), 100)
    stated, found = (
        kept(states, quadratic(3, 2))
        for kept in (method.invariants, lambda s, view: invariants(unstated(method), s, view))
    )
    assert rank(stated, (0 * states.h, *found)) > rank((0 * states.h, *found))
