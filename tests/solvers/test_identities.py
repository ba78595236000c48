"""Methods that coincide at special parameters, what their rounds cost, and steps by hand."""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from comparisons import assert_same_points
from worlds import PROBLEMS, world

from certibit import (
    CARDS,
    GD,
    SCAFFOLD,
    TAMUNA,
    CompressedScaffnew,
    Experiment,
    FedCOMGATE,
    FiveGCSCC,
    FunctionClass,
    GradSkip,
    LoCoDL,
    Quadratic,
    Refusal,
    Scaffnew,
    certify,
    compressor,
    parameters,
    run,
)  # fmt: skip
from certibit.solvers.local_solve import gradient_steps, minimise, until_done
from certibit.solvers.methods.five_gcs_cc import State
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.checks.channel.accounts import accounts
from certibit.theory.checks.method.conduct import begins_as_written, bill_check, identities
from certibit.theory.checks.method.promise import round_cost

NATURAL, RAND, TOP = compressor("natural"), compressor("rand-k:2"), compressor("top-k:2")
RUNS = 3


def states(method, problem, *, iterations=40, seeds=(0,)):
    """Return the states of runs, with the coins that the engine would toss."""
    return list(world(method, problem, seeds=seeds, together=False).walk(iterations))


def everything(s):
    return [getattr(s, field.name) for field in fields(s) if field.name != "active"]


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.identities])
def test_identities_of_cards(name):
    """Those on quadratics are among the checks of every card that are shown to planted faults."""
    assert identities(CARDS[name], PROBLEMS["logistic"]()).holds


def pairs(L, n):
    """Return pairs of methods with the same trajectory that no card names, and what is compared."""
    gamma, eta, x = 1.3 / L, 1 / (9 * L), lambda s: [s.x]
    scaffold, fedcomgate = SCAFFOLD(3, eta, 1.0, n), FedCOMGATE(3, eta, 1.4, 1.0)
    return {
        "scaffold I": (SCAFFOLD(1, gamma, 1.0, n, "I"), GD(gamma), x, x),
        "minimal": (replace(scaffold, traffic="minimal"), scaffold, everything, everything),
        "server steps": (fedcomgate, replace(scaffold, eta_g=1.4), everything,
                         lambda s: [s.x, s.c_i - s.c]),
        "locodl p=1": (LoCoDL(gamma, 1.0, 1.0, 1.0, 0.0), GD(gamma / 2), lambda s: [s.y], x),
    }  # fmt: skip


@pytest.mark.parametrize("problem", ["quadratic", "logistic"])
@pytest.mark.parametrize("name", pairs(1.0, 4))
def test_identical_trajectories(name, problem):
    problem = PROBLEMS[problem]()
    left, right, of_left, of_right = pairs(problem.plain.constants.L, problem.n)[name]
    assert_same_points(
        [np.concatenate(of_left(s)) for s in states(left, problem)],
        [np.concatenate(of_right(s)) for s in states(right, problem)],
    )


@pytest.mark.parametrize("seed", range(3))
def test_locodl_is_scaffnew_on_twice_as_many_functions(seed):
    """With the identity and rho = chi = 1: Scaffnew on f_1, ..., f_n and n copies of g."""
    problem = Quadratic.random(3, 4, mu=1.0, L=20.0, seed=seed)
    view, n, d = problem.composite, 3, 4
    H = problem.H + view.ridge_f * np.eye(d)
    c = np.linalg.solve(H, problem.H @ problem.c)[:, :, 0]
    copies = np.repeat(view.ridge_g * np.eye(d)[None], n, axis=0)
    doubled = Quadratic.from_arrays(
        np.concatenate([H, copies]), np.concatenate([c, np.zeros((n, d))])
    )
    gamma, p = 1.5 / view.constants.L, 0.3
    ours = states(LoCoDL(gamma, 1.0, 1.0, p, omega=0.0), problem, seeds=(seed,))
    theirs = states(Scaffnew(gamma, p), doubled, seeds=(seed,))
    assert_same_points([np.concatenate([s.x] + [s.y] * n) for s in ours], [s.x for s in theirs])
    assert_same_points([np.concatenate([s.u] + [s.v] * n) for s in ours], [s.h for s in theirs])


def accelerated(name, sent=None, **options):
    rule = {"adiana": "published", "5gcs-cc": "ours"}.get(name)
    return parameters(name, Quadratic.random(4, 6, mu=1.0, L=10.0), sent, rule, **options), sent


COSTS = {
    # a method with its compressor, and gradients per iteration and client
    "scaffnew": (Scaffnew(0.01, 0.5), None, 1),
    "compressed-scaffnew": (CompressedScaffnew(0.01, 0.5, 0.5, s=3), None, 1),
    "tamuna": (TAMUNA(0.01, 0.5, 0.5, s=2, m=3), None, 3 / 4),
    "tamuna full": (TAMUNA(0.01, 0.5, 0.5, s=2, m=4), None, 1),
    "gradskip": (GradSkip(0.01, 0.5, (1.0,) * 4), None, np.nan),  # as clients say
    "scaffold I": (SCAFFOLD(5, 0.01, 1.0, m=4, option="I"), None, 5),
    "scaffold II": (SCAFFOLD(5, 0.01, 1.0, m=4), None, 5),
    "scaffold sampled": (SCAFFOLD(5, 0.01, 1.0, m=1), None, 5 / 4),
    "scaffold minimal": (SCAFFOLD(5, 0.01, 1.0, 4, traffic="minimal"), None, 5),
    "scaffold minimal sampled": (SCAFFOLD(5, 0.01, 1.0, 2, traffic="minimal"), None, 5 / 2),
    "fedcomgate": (FedCOMGATE(3, 0.01, 1.0, 0.5), RAND, 3),
    "fedcomgate sampled": (FedCOMGATE(3, 0.01, 1.0, 0.5, S=2), RAND, 3 / 2),
    **{name: (*accelerated(name), 1) for name in ("gd", "agd", "nesterov")},
    **{name: (*accelerated(name, RAND), 1) for name in ("diana", "marina", "dasha")},
    "ef21": (*accelerated("ef21", TOP), 1),
    "adiana": (ADIANA := accelerated("adiana", RAND)[0], RAND, 1 + ADIANA.p),
}


@pytest.mark.parametrize("name", COSTS)
def test_a_round_costs_what_is_published(name):
    method, sent, gradients = COSTS[name]
    experiment = Experiment.of(method, Quadratic.random(4, 6, mu=1.0, L=10.0), sent)
    cost = round_cost(experiment)
    assert cost.gradients / cost.iterations == pytest.approx(gradients, rel=1e-12, nan_ok=True)
    found = (
        accounts(experiment),
        begins_as_written(experiment),
        bill_check(card_of(method), experiment),
    )
    assert [verdict for verdict in found if verdict and not verdict.holds] == []


@pytest.mark.parametrize("variant", ["I", "II"])
def test_adiana_jumps_to_the_point_before_or_after_and_pays_a_gradient(variant):
    problem = PROBLEMS["quadratic"]()
    method = replace(parameters("adiana", problem, RAND), p=0.5, variant=variant)
    w, paid = world(method, problem, RAND), np.ones(RUNS)
    for number, (before, after) in enumerate(pairwise(w.walk(20)), 1):
        target, last = before.y if variant == "I" else after.y, paid
        paid = w.ledger.gradients / problem.n
        for r in range(RUNS if number > 1 else 0):
            moved = not np.array_equal(after.w[..., r], before.w[..., r])
            assert paid[r] - last[r] == 1 + moved
            assert not moved or np.array_equal(after.w[..., r], target[..., r])
        each = 32 * problem.d, 2 * RAND.bits(problem.d)
        np.testing.assert_array_equal(w.ledger.downlink_bits, problem.n * number * each[0])
        np.testing.assert_array_equal(w.ledger.uplink_bits, problem.n * number * each[1])


@pytest.mark.parametrize("s", [2, 3])
@pytest.mark.parametrize("m", [3, 5])
@pytest.mark.parametrize("d", [2, 30])
def test_masked_round_entry_by_entry(d, m, s):
    """The masked average and the control variates of TAMUNA, by loops over entries and owners."""
    problem = Quadratic.random(6, d, mu=1.0, L=5.0, seed=1)
    method = TAMUNA(gamma=0.1, p=0.5, chi=0.7, s=s, m=m)
    w, again = world(method, problem), world(method, problem)
    rng = np.random.default_rng(d)
    start = replace(
        method.fixed_point(problem), x=rng.standard_normal((6, d, 3)), h=np.zeros((6, d, 3))
    )
    after = method.communicate(start, w.oracle, w.channel)
    owned = again.channel.ownership(s, again.channel.cohort(m))
    for run_, feature in np.ndindex(3, d):
        owners = [i for i in range(6) if owned[i, feature, run_]]
        average = sum(start.x[i, feature, run_] for i in owners) / s
        for i in range(6):
            h = 0.5 * 0.7 / 0.1 * (average - start.x[i, feature, run_]) if i in owners else 0.0
            assert after.x[i, feature, run_] == pytest.approx(average, rel=1e-12)
            assert after.h[i, feature, run_] == pytest.approx(h, rel=1e-12, abs=1e-12)


def test_gradskip_skips_exactly():
    """A client that skips stays where it is with h_i = grad f_i(x_i); sums are 0 after a round."""
    problem = PROBLEMS["quadratic"]()
    method = GradSkip(gamma=1 / 30, p=0.1, q=(0.0, 0.5, 0.9, 1.0))
    w, skipped, evaluated = world(method, problem, seeds=(0,), together=False), 0, 0
    for s, after in pairwise(w.walk(300)):
        idle = ~s.active[:, 0, 0]
        skipped += idle.sum()
        evaluated += (~idle).sum()
        assert w.ledger.gradients == evaluated
        if after.active.all():
            assert np.max(np.abs(after.h.sum(axis=0))) < 1e-11 * np.max(np.abs(after.h))
            continue
        np.testing.assert_array_equal(after.x[idle], s.x[idle])
        np.testing.assert_array_equal(after.h[idle], s.h[idle])
        assert not after.active[idle].any()
        deviation = (s.h - problem.grad(s.x))[idle]
        assert np.max(np.abs(deviation), initial=0.0) <= 1e-12 * np.max(np.abs(s.h))
    assert skipped > 300


def test_fedcomgate_with_a_cohort_by_hand():
    """Rounds of two of four clients, whose sum of trackings stays 0; the others stay as they are.

    That the method converges with cohorts is proved by a certificate at one point.
    """
    problem = Quadratic.random(4, 6, mu=1.0, L=10.0)
    K, eta, gamma_s, alpha, S = 3, 0.01, 1.2, 0.5, 2
    method = FedCOMGATE(K, eta, gamma_s, alpha, S)
    x, delta = problem.x_0[0, :, 0], np.zeros((4, 6))
    w = world(method, problem, seeds=(0,), together=False)
    for s in list(w.walk(20))[1:]:
        moved = np.flatnonzero((s.delta[:, :, 0] != delta).any(axis=1))
        assert len(moved) == S
        y = np.repeat(x[None], 4, axis=0)
        for _ in range(K):
            y = y - eta * (problem.grad(y[:, :, None])[:, :, 0] - delta)
        m = ((x - y) / eta)[moved]
        x = x - eta * gamma_s * m.mean(axis=0)
        delta[moved] += alpha / K * (m - m.mean(axis=0))
        np.testing.assert_allclose(s.x[0, :, 0], x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(s.delta[:, :, 0], delta, rtol=1e-9, atol=1e-11)
        delta = s.delta[:, :, 0].copy()
    spent = w.ledger.uplink_bits, w.ledger.downlink_bits, w.ledger.gradients
    assert spent == (20 * S * 32 * 6, 20 * 4 * 32 * 6, 20 * S * K)
    proof = certify(FedCOMGATE(2, 0.002, 1.0, 0.5, S=2), FunctionClass(3, 1.0, 10.0, omega=1.0))
    assert proof.verify()
    assert proof.factor < 0.9921
    with pytest.raises(Refusal, match="n <= S"):
        run(method, problem, NATURAL, strict=True)


@pytest.fixture
def quadratic():
    return Quadratic.random(4, 5, 1.0, [20.0, 50.0, 80.0, 100.0], seed=1)


def five_gcs(problem, **changes):
    L, mu = problem.constants.L, problem.constants.mu
    method = FiveGCSCC(
        gamma=0.3 / L, tau=L / problem.n, mu=mu, L_F=(L - mu) / problem.n,
        omega=0.0, cohort=problem.n, K=0,
    )  # fmt: skip
    return replace(method, **changes)


def test_5gcs_without_local_steps_is_forward_reflected_backward(quadratic):
    method = five_gcs(quadratic)
    gamma, mu = method.gamma, method.mu
    x = np.zeros((1, quadratic.d, 1))
    before, expected = 0 * x, [x]
    for _ in range(40):
        now = quadratic.grad(x).mean(axis=0, keepdims=True) - mu * x
        expected.append(x - gamma * (now - before))
        x = (x - gamma * (2 * now - before)) / (1 + gamma * mu)
        before = now
    assert_same_points([method.model(s) for s in states(method, quadratic)], expected)


def test_5gcs_local_steps_approach_the_exact_solve(quadratic):
    """grad F_i(y_i) = u_i - tau (y_i - x), with y_i by linear algebra."""
    problem, method = quadratic, five_gcs(quadratic, K=400)
    u = np.random.default_rng(0).standard_normal((problem.n, problem.d, RUNS))
    w = world(method, problem)
    s = replace(w.start(), u=u, v=u.sum(axis=0, keepdims=True))
    x = (s.x - method.gamma * s.v) / (1 + method.gamma * method.mu)
    hessian = (problem.H - method.mu * np.eye(problem.d)) / problem.n
    pull = (problem.H @ problem.c) / problem.n
    y = np.linalg.solve(hessian + method.tau * np.eye(problem.d), method.tau * x + u + pull)
    assert_same_points(w.iterate(s, 1).u, u - method.tau * (y - x))


@pytest.mark.parametrize("cohort", [1, 2, 4])
def test_5gcs_adaptive_stops_every_client_by_itself(cohort, quadratic):
    """Bits, gradients and state agree with one loop per client and run."""
    problem, sent = quadratic, np.zeros(RUNS)
    method = parameters("5gcs-cc", problem, None, "ours-adaptive", cohort=cohort)
    method = replace(method, tau=3.0, K=400)
    w, spent, counts = world(method, problem), np.zeros(RUNS), set()
    for before, after in pairwise(w.walk(12)):
        x = (before.x - method.gamma * before.v) / (1 + method.gamma * method.mu)
        members = np.any(after.u != before.u, axis=1)
        assert (members.sum(axis=0) == cohort).all()
        sent += 32 * problem.d * cohort
        for r in range(RUNS):
            for i in np.flatnonzero(members[:, r]):
                start = x[0, :, r], before.u[i, :, r], before.z[i, :, r]
                dual, z, steps = solve(problem, method, i, *start)
                np.testing.assert_allclose(after.u[i, :, r], dual, rtol=1e-9)
                np.testing.assert_allclose(after.z[i, :, r], z, rtol=1e-9)
                spent[r] += steps + 1
                counts.add(steps)
        np.testing.assert_array_equal(w.ledger.gradients, spent)
        np.testing.assert_array_equal(w.ledger.uplink_bits, sent)
        np.testing.assert_array_equal(w.ledger.downlink_bits, sent)
    assert len(counts) >= 3


def solve(problem, method, i, x, u, z):
    """Return grad F_i(y_i), y_i - x and the number of steps when the criterion holds first."""
    y, reached, steps = x + z, x + z, 0
    q = np.sqrt(method.tau / (method.L_F + method.tau))
    while True:
        dual = (problem.H[i] @ (y - problem.c[i, :, 0]) - method.mu * y) / problem.n
        slope = dual - u + method.tau * (y - x)
        if slope @ slope <= method.tau / (2 * method.L_F) * ((dual - u) @ (dual - u)):
            return dual, y - x, steps
        before, reached = reached, y - slope / (method.L_F + method.tau)
        y, steps = reached + (1 - q) / (1 + q) * (reached - before), steps + 1


def test_5gcs_adaptive_starts_again_at_the_model_after_a_bad_start(quadratic):
    """From x, K steps are enough; what a client remembers may be arbitrarily far off."""
    problem, method = quadratic, parameters("5gcs-cc", quadratic, None, "ours-adaptive")
    s = world(method, problem).iterate(None, 5)
    s = replace(s, z=1e9 + 0 * s.z)
    w = world(method, problem)
    after = w.iterate(s, 1)
    x = (s.x - method.gamma * s.v) / (1 + method.gamma * method.mu)
    change = (problem.grad(x + after.z) - method.mu * (x + after.z)) / problem.n - s.u
    slope, allowed = change + method.tau * after.z, method.tau / (2 * method.L_F)
    assert ((slope**2).sum(axis=1) <= allowed * (change**2).sum(axis=1)).all()
    assert (w.ledger.gradients > problem.n * (method.K + 1)).all()
    assert (w.ledger.gradients <= problem.n * 2 * (method.K + 1)).all()


def test_refusals():
    problem = Quadratic.random(4, 3, mu=1.0, L=10.0)
    alone = Quadratic.random(1, 3, mu=1.0, L=10.0)
    with pytest.raises(Refusal, match="choose option II or the published traffic"):
        SCAFFOLD(2, 0.1, 1.0, 4, option="I", traffic="minimal")
    for name in ("compressed-scaffnew", "tamuna"):
        for rule in ("published", "best"):
            with pytest.raises(Refusal, match="take at least 2 clients"):
                parameters(name, alone, None, rule)
            with pytest.raises(Refusal, match="choose s between 2 and 4"):
                parameters(name, problem, None, rule, s=5)
    for name, m, words in (
        ("tamuna", 5, "choose m <= 4"),
        ("tamuna", 1, "take at least 2 clients"),
        ("scaffold", 0, "choose m between 1 and 4"),
        ("scaffold", 5, "choose m between 1 and 4"),
    ):
        with pytest.raises(Refusal, match=words):
            parameters(name, problem, m=m)
    with pytest.raises(Refusal, match="has no option 'k'; it leaves open K, m"):
        parameters("scaffold", problem, k=3)
    with pytest.raises(Refusal, match="has no option 's'; it leaves open nothing"):
        parameters("scaffnew", problem, s=3)


def test_steps_and_who_is_left():
    """The first client needs no step, and the last needs more than there are."""
    needed = np.array([0, 1, 1, 1, 1, 1, 1, 9.0])[:, None, None]

    def step(s, active):
        x = np.where(active, s.x + 1, s.x)
        return State(x, s.v, s.u, s.z), active & (x < s.u)

    state = State(0 * needed, 0 * needed, needed, 0 * needed)
    found, left = until_done(step, state, needed > 0, 5)
    np.testing.assert_array_equal(found.x, np.minimum(needed, 5))
    np.testing.assert_array_equal(left, needed > 5)


@pytest.mark.parametrize("count", [-1, -60])
def test_a_negative_number_of_steps_is_refused(count):
    """range(-1) is no step, while a factor to the power -1 is above all."""
    problem = Quadratic.random(2, 3, mu=1.0, L=2.0)
    x, active = np.zeros((2, 3, 1)), np.ones((2, 1, 1), dtype=bool)
    limits = {"accuracy": 0.1, "L": 2.0, "mu": 1.0}
    for solve in (
        lambda: gradient_steps(problem.grad, x, active, problem, step=0.1, count=count),
        lambda: minimise(None, x, x[:1], None, active, problem, most=count, **limits),
    ):
        with pytest.raises(Refusal, match=f"{count} local steps cannot be done"):
            solve()
