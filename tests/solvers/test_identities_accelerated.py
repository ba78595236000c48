"""Accelerated and gradient-difference methods: identities, local solves, bits and gradients."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from comparisons import assert_same_points
from worlds import recorded_run, world

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import problem as select
from certibit.solvers.backend import mean
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.solvers.compressors.selector import compressor as make_compressor
from certibit.solvers.methods.adiana import ADIANA
from certibit.solvers.methods.agd import AGD
from certibit.solvers.methods.dasha import DASHA
from certibit.solvers.methods.econtrol import EControl
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.five_gcs_cc import FiveGCSCC
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.marina import MARINA
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.setting import Setting

RUNS = 3
PROBLEMS = {
    "quadratic": lambda: Quadratic.random(4, 5, 1.0, [20.0, 50.0, 80.0, 100.0], seed=1),
    "breast-cancer": lambda: select("breast-cancer@9", kappa=100).plain,
}


@pytest.fixture(params=list(PROBLEMS), scope="module")
def problem(request):
    return PROBLEMS[request.param]()


def walk(method, problem, compressor, rounds, **options):
    """Return the states of RUNS runs after every round, and what was spent until then."""
    w = world(method, problem, compressor, seeds=(3, 1, 4), **options)
    visited = [(s, spending(w.ledger)) for s in w.walk(rounds)]
    return tuple(zip(*visited, strict=True))


def spending(ledger):
    return np.array([ledger.uplink_bits, ledger.downlink_bits, ledger.gradients])


def models(method, problem):
    return [method.model(s)[0] for s in world(method, problem).walk(40)]


@pytest.mark.parametrize(
    "make",
    [
        EF21,
        lambda gamma: MARINA(gamma, p=0.3),
        lambda gamma: DASHA(gamma, a=0.4),
    ],
    ids=["ef21", "marina", "dasha"],
)
def test_without_compression_gradient_descent(make, problem):
    gamma = 1 / problem.constants.L_f
    assert_same_points(models(make(gamma), problem), models(GD(gamma), problem))


@pytest.mark.parametrize("variant", ["I", "II"])
@pytest.mark.parametrize("p", [0.3, 1.0])
def test_adiana_without_compression_is_agd(p, variant, problem):
    mu, L_f = problem.constants.mu, problem.constants.L_f
    q = np.sqrt(mu / L_f)
    adiana = ADIANA(
        theta_1=q / (1 + q), theta_2=0.0, eta=1 / L_f, gamma=1 / np.sqrt(mu * L_f), alpha=0.7,
        beta=1 - q, p=p, variant=variant,
    )  # fmt: skip
    assert_same_points(models(adiana, problem), models(AGD(1 / L_f, q), problem))


def test_agd_is_its_three_sequence_form(problem):
    """The form with z: x = (q z + y)/(1 + q), y+ = x - grad/L_f, z+ = (1-q) z + q x - q grad/mu."""
    mu, L_f = problem.constants.mu, problem.constants.L_f
    q = np.sqrt(mu / L_f)
    y = z = np.zeros((1, problem.d, RUNS))
    expected = [y[0]]
    for _ in range(40):
        x = (q * z + y) / (1 + q)
        gradient = problem.grad(x).mean(axis=0, keepdims=True)
        y, z = x - gradient / L_f, (1 - q) * z + q * x - q / mu * gradient
        expected.append(y[0])
    assert_same_points(models(AGD(1 / L_f, q), problem), np.array(expected))


def five_gcs(problem, **changes):
    L, mu = problem.constants.L, problem.constants.mu
    method = FiveGCSCC(
        gamma=0.3 / L, tau=L / problem.n, mu=mu, L_F=(L - mu) / problem.n,
        omega=0.0, cohort=problem.n, K=0,
    )  # fmt: skip
    return replace(method, **changes)


def test_5gcs_without_local_steps_is_forward_reflected_backward(problem):
    method = five_gcs(problem)
    gamma, mu = method.gamma, method.mu
    x = np.zeros((1, problem.d, RUNS))
    before, expected = 0 * x, [x[0]]
    for _ in range(40):
        now = problem.grad(x).mean(axis=0, keepdims=True) - mu * x
        expected.append((x - gamma * (now - before))[0])
        x = (x - gamma * (2 * now - before)) / (1 + gamma * mu)
        before = now
    assert_same_points(models(method, problem), np.array(expected))


def test_5gcs_local_steps_approach_the_exact_solve():
    """grad F_i(y_i) = u_i - tau (y_i - x), with y_i by linear algebra."""
    problem = PROBLEMS["quadratic"]()
    method = five_gcs(problem, K=400)
    rng = np.random.default_rng(0)
    u = rng.standard_normal((problem.n, problem.d, RUNS))
    w = world(method, problem)
    s = replace(w.start(), u=u, v=u.sum(axis=0, keepdims=True))
    x = (s.x - method.gamma * s.v) / (1 + method.gamma * method.mu)
    hessian = (problem.H - method.mu * np.eye(problem.d)) / problem.n
    pull = (problem.H @ problem.c) / problem.n
    y = np.linalg.solve(hessian + method.tau * np.eye(problem.d), method.tau * x + u + pull)
    assert_same_points(w.iterate(s, 1).u, u - method.tau * (y - x))


@pytest.mark.parametrize("cohort", [2, 4])
def test_5gcs_adaptive_stops_every_client_by_itself(cohort):
    """Bits, gradients and state agree with one loop per client and run."""
    problem = PROBLEMS["quadratic"]()
    method = parameters("5gcs-cc", problem, None, "best", cohort=cohort)
    method = replace(method, tau=3.0, K=400)
    states, spent = walk(method, problem, None, 12)
    counts = set()
    for before, after, (_, _, first), (_, _, last) in zip(
        states, states[1:], spent, spent[1:], strict=False
    ):
        x = (before.x - method.gamma * before.v) / (1 + method.gamma * method.mu)
        members = np.any(after.u != before.u, axis=1)
        assert (members.sum(axis=0) == cohort).all()
        for r in range(RUNS):
            gradients = 0
            for i in np.flatnonzero(members[:, r]):
                start = x[0, :, r], before.u[i, :, r], before.z[i, :, r]
                dual, z, steps = solve(problem, method, i, *start)
                np.testing.assert_allclose(after.u[i, :, r], dual, rtol=1e-9)
                np.testing.assert_allclose(after.z[i, :, r], z, rtol=1e-9)
                gradients += steps + 1
                counts.add(steps)
            assert last[r] - first[r] == gradients
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


def test_5gcs_adaptive_starts_again_at_the_model_after_a_bad_start():
    """From x, K steps are enough; what a client remembers may be arbitrarily far off."""
    problem = PROBLEMS["quadratic"]()
    method = parameters("5gcs-cc", problem, None, "best")
    s = walk(method, problem, None, 5)[0][-1]
    s = replace(s, z=1e9 + 0 * s.z)
    w = world(method, problem)
    after = w.iterate(s, 1)
    x = (s.x - method.gamma * s.v) / (1 + method.gamma * method.mu)
    change = (problem.grad(x + after.z) - method.mu * (x + after.z)) / problem.n - s.u
    slope, allowed = change + method.tau * after.z, method.tau / (2 * method.L_F)
    assert ((slope**2).sum(axis=1) <= allowed * (change**2).sum(axis=1)).all()
    assert (w.ledger.gradients > problem.n * (method.K + 1)).all()
    assert (w.ledger.gradients <= problem.n * 2 * (method.K + 1)).all()


@pytest.mark.long(keep=1)
def test_5gcs_adaptive_needs_no_more_steps_than_the_theorem_allows(problem):
    fixed = parameters("5gcs-cc", problem, RandK(2))
    adaptive = parameters("5gcs-cc", problem, RandK(2), "best")
    _, spent = walk(fixed, problem, RandK(2), 30)
    _, fewer = walk(adaptive, problem, RandK(2), 30)
    assert (spent[-1][2] == 30 * problem.n * (fixed.K + 1)).all()
    assert (fewer[-1][2] < spent[-1][2]).all()
    uncapped = replace(adaptive, K=10 * adaptive.K)
    assert np.array_equal(walk(uncapped, problem, RandK(2), 30)[1][-1], fewer[-1])


COMPRESSORS = [Identity(), RandK(2), Natural()]
ROUNDS = 25


def case(name, problem, compressor):
    """Return the method and what all clients spend at the start, and in a round: (3, 1) each."""
    options = {"variant": "II"} if name == "adiana" else {}
    method = parameters(name, problem, compressor, **options)
    n, bits = problem.n, compressor.bits(problem.d)
    vector = n * 32 * problem.d
    start, each = {
        "agd": ((0, 0, 0), (vector, vector, n)),
        "nesterov": ((0, 0, 0), (vector, vector, n)),
        "adiana": ((0, 0, n), (2 * n * bits, vector, n)),
        "ef21": ((n * bits, 0, n), (n * bits, vector, n)),
        "marina": ((vector, 0, n), (n * bits, vector, n)),
        "dasha": ((vector, 0, n), (n * bits, vector, n)),
        "5gcs-cc": ((0, 0, 0), (n * bits, vector, n * (getattr(method, "K", 0) + 1))),
    }[name]
    return method, np.array(start)[:, None], np.array(each)[:, None]


@pytest.mark.parametrize(
    ("name", "compressor"),
    [
        *product(["agd", "nesterov"], [Identity()]),
        *product(["adiana", "ef21", "marina", "dasha", "5gcs-cc"], COMPRESSORS),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_accounting(name, compressor, problem):
    if name == "ef21":
        compressor = Scaled(compressor)
    method, start, each = case(name, problem, compressor)
    states, spent = walk(method, problem, compressor, ROUNDS)
    extra = np.zeros((3, RUNS), dtype=int)
    assert np.array_equal(spent[0], start + extra)
    for number, (before, after) in enumerate(pairwise(states), start=1):
        if name == "adiana":  # a gradient at the new reference point
            extra[2] += problem.n * np.any(after.w != before.w, axis=(0, 1))
        if name == "marina":  # an uncompressed round
            full = np.all(after.g == mean(after.gradient), axis=(0, 1))
            extra[0] += problem.n * (32 * problem.d - compressor.bits(problem.d)) * full
        assert np.array_equal(spent[number], start + number * each + extra)


@pytest.mark.parametrize("compressor", COMPRESSORS, ids=lambda c: c.name)
@pytest.mark.parametrize("cohort", [1, 3])
def test_5gcs_only_the_cohort_pays(cohort, compressor, problem):
    method, _, each = case("5gcs-cc", problem, compressor)
    states, spent = walk(replace(method, cohort=cohort), problem, compressor, ROUNDS)
    for number, state in enumerate(states):
        assert np.array_equal(spent[number] * problem.n, cohort * number * each + 0 * spent[0])
        assert (
            number == 0 or (np.any(state.u != states[number - 1].u, axis=1).sum(0) <= cohort).all()
        )


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_rare_events_fall_with_their_probability(p):
    """Moves of ADIANA's w and full rounds of MARINA, 900 draws each: false alarm below 1e-6."""
    problem = PROBLEMS["quadratic"]()
    adiana = replace(parameters("adiana", problem, RandK(1)), p=p)
    marina = replace(parameters("marina", problem, RandK(1)), p=p)
    _, spent = walk(adiana, problem, RandK(1), 300, together=False)
    moves = spent[-1][2].sum() / problem.n - RUNS * 301
    _, spent = walk(marina, problem, RandK(1), 300, together=False)
    rare, common = 32 * problem.d, RandK(1).bits(problem.d)
    full = (spent[-1][0].sum() / problem.n - RUNS * (rare + 300 * common)) / (rare - common)
    for events in (moves, full):
        assert abs(events - 900 * p) < 5 * np.sqrt(900 * p * (1 - p))


@pytest.mark.parametrize("variant", ["I", "II"])
def test_adiana_jumps_to_the_point_before_or_after(variant):
    problem = PROBLEMS["quadratic"]()
    method = replace(parameters("adiana", problem, RandK(1)), p=0.5, variant=variant)
    states, _ = walk(method, problem, RandK(1), 20)
    for before, after in pairwise(states[1:]):
        target = before.y if variant == "I" else after.y
        for r in range(RUNS):
            assert any(np.array_equal(after.w[..., r], w[..., r]) for w in (before.w, target))


FAMILIES = {
    "shared": lambda: Quadratic.random(10, 20, 1.0, 1e3, shared_eigenvectors=True, seed=2),
    "heterogeneous": lambda: Quadratic.random(10, 20, 1.0, np.geomspace(8, 1e3, 10), seed=3),
    "logistic": lambda: select("breast-cancer@10", kappa=1e3, split="similarity:0"),
}
RULES = [
    ("agd", "classical"), ("adiana", "paper"), ("adiana", "refined"), ("adiana", "best"),
    ("ef21", "paper"), ("marina", "paper"), ("dasha", "paper"), ("5gcs-cc", "best"),
]  # fmt: skip


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("name", "rule"), RULES)
def test_converges_at_least_at_the_promised_rate(name, rule, family):
    """The mean of Psi over 8 seeds falls by more than the theorem's factor, on two windows."""
    problem = FAMILIES[family]()
    compressor = None if name == "agd" else TopK(4) if name == "ef21" else RandK(4)
    card = METHODS[name]
    experiment = Experiment.of(card.parameters(problem, compressor, rule), problem, compressor)
    rate = card.theorems[0].rate(experiment.method, Setting.at(experiment))
    trace = recorded_run(experiment, card.theorems[0], seeds=8, budget=Budget(rounds=400))
    runs = [trace.run(i) for i in range(8)]
    recorded = [np.isfinite(one["lyapunov"]) for one in runs]  # elsewhere only f - f* is
    psi = np.mean(
        [one["lyapunov"][there] for one, there in zip(runs, recorded, strict=True)], axis=0
    )
    rounds = runs[0]["rounds"][recorded[0]]
    assert (rounds[0], rounds[-1]) == (0, 400)
    middle = np.searchsorted(rounds, 200)
    for start in (0, middle):
        if psi[start] > 1e-20 * psi[0]:
            promised = rate ** float(rounds[-1] - rounds[start])
            assert psi[-1] <= promised * psi[start] + 1e-20 * psi[0]


@pytest.mark.parametrize(
    ("name", "compressor", "message"),
    [
        ("agd", RandK(1), "agd sends uncompressed vectors and cannot use rand-k:1"),
        ("adiana", TopK(1), "top-k:1 is biased and adiana needs an unbiased compressor"),
        ("marina", TopK(1), "top-k:1 is biased and marina needs an unbiased compressor"),
        ("dasha", TopK(1), "top-k:1 is biased and dasha needs an unbiased compressor"),
        ("5gcs-cc", TopK(1), "top-k:1 is biased and 5gcs-cc needs an unbiased compressor"),
        ("ef21", RandK(1), "is no contraction; use scaled"),
    ],
)
def test_refuses_what_it_cannot_use(name, compressor, message):
    with pytest.raises(Refusal, match=message):
        parameters(name, PROBLEMS["quadratic"](), compressor)


@pytest.mark.parametrize("selector", ["top-k:2", "scaled(rand-k:2)", "natural", "sign"])
def test_econtrol_without_error_is_ef21(selector):
    problem = Quadratic.random(3, 6, mu=1.0, L=10.0, seed=2)
    ours, ef21 = (
        simulate(
            Experiment.of(method, problem, make_compressor(selector)),
            seeds=3,
            budget=Budget(rounds=30),
            record=Record(every=1),
        )
        for method in (EControl(0.02, 0.0), EF21(0.02))
    )
    for column in ("gap", "uplink_bits", "downlink_bits"):
        np.testing.assert_allclose(ours.columns[column], ef21.columns[column], rtol=1e-10)
