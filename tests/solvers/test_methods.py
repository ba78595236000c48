"""What must hold for every method with every compressor on every problem, and on every library."""

from dataclasses import asdict, fields

import numpy as np
import pytest
from comparisons import assert_same_columns, assert_same_spending, assert_same_state
from worlds import CASES, COMPRESSORS, LIBRARIES, Case, fitted, world_of

from certibit import METHODS, Budget, Record
from certibit.solvers.libraries import host
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.iteration import advance, world_of_runs
from certibit.solvers.state import each
from certibit.theory.checks.channel.walk import difference, size
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants

each_case = pytest.mark.parametrize("case", CASES, ids=str)
each_method = pytest.mark.parametrize("name", METHODS)


def logistic(name: str) -> Case:
    """Return a case on logistic regression, with compression if the method knows any."""
    return Case(name, COMPRESSORS[METHODS[name].method.needs.compressor][0], "logistic")


def freeze(state):
    """Make every array of a state read-only, so that a step that writes into it fails."""
    for field in fields(state):
        getattr(state, field.name).flags.writeable = False
    return state


@pytest.mark.long(keep=101)
@pytest.mark.parametrize("wire", [False, True], ids=["simulated", "wire"])
@each_case
def test_solution_is_a_fixed_point(case, wire):
    """From the solution state no method moves, whatever coins and compressors do.

    Sent on the wire, values are rounded to 32 bits, so the model stays within that.
    """
    w = world_of(fitted(case), wire=wire)
    star = each(lambda x: np.repeat(x, 3, axis=2), fixed_point(w.method, w.problem))
    tolerance = 3e-5 if wire else 1e-8
    assert difference(w.iterate(star, 12), star) <= tolerance * (1 + size(star))


@each_case
def test_invariants_and_purity(case):
    """What is called invariant is 0 in every state; no step writes into its argument."""
    w = world_of(fitted(case))
    largest = 1.0
    for s in map(freeze, w.walk(15)):
        largest = max(largest, size(s))
        for invariant in invariants(w.method, s, w.problem):
            assert np.max(np.abs(invariant)) <= 1e-11 * largest


@each_method
def test_a_method_starts_where_it_is_told(name):
    """At 0, the default, a vector in the place of another is not seen."""
    w = world_of(fitted(logistic(name)))
    x = w.channel.template + 2.0
    state = w.method.start(x, w.oracle, w.channel)
    np.testing.assert_allclose(w.method.model(state), x, rtol=1e-15)
    assert all(np.max(np.abs(i)) <= 1e-12 for i in invariants(w.method, state, w.problem))


@pytest.mark.long(keep=5)
@each_method
def test_a_run_depends_on_its_seed_only(name):
    """Alone or in a batch, first or last, the trace of a seed is the same to 1e-10 relative."""
    experiment = fitted(logistic(name))
    options = {"budget": Budget(rounds=25, iterations=2000), "record": Record(every=5)}
    batch = simulate(experiment, seeds=[*range(10, 40), 7, 3], **options)
    for seed in (3, 7, 39):
        alone = simulate(experiment, seeds=[seed], **options)
        together = batch.run(batch.seeds.index(seed))
        assert_same_columns(together, alone.columns, rtol=1e-10, atol=1e-300)


@pytest.mark.long(keep=26)
@pytest.mark.parametrize("library", LIBRARIES)
@each_case
def test_every_library_gives_the_same(case, library):
    """On a library that has nothing but the standard, and on a GPU, every method does the same."""
    ours, other = (world_of(fitted(case), library=name) for name in ("numpy", library))
    expected, got = (each(host, w.iterate(w.start(), 8)) for w in (ours, other))
    assert_same_state(got, expected, rtol=1e-10)
    assert_same_spending(other.ledger, ours.ledger)


@pytest.mark.long(keep=1)
@each_case
def test_compiled_code_changes_nothing(case):
    """Gradients and messages of any size by compiled code are those of numpy."""
    found = []
    for use in ("always", "never"):
        w = world_of(fitted(case), together=False)
        with use_extensions(use):
            channel, oracle = world_of_runs(w.channel, w.oracle)
            state = w.start()
            for iteration in range(8):
                state, _ = advance(w.method, state, oracle, channel, iteration + 1)
        found.append((state, w.ledger))
    (compiled, counted), (plain, expected) = found
    assert_same_state(compiled, plain, rtol=1e-10)
    assert_same_spending(counted, expected)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("library", LIBRARIES)
@each_method
def test_a_whole_run_on_every_library(name, library):
    """The engine with runs that communicate and end at different times gives the same trace."""
    experiment = fitted(logistic(name))
    options = {"seeds": 4, "budget": Budget(gap=1e-3, iterations=200)}
    ours = simulate(experiment, **options)
    other = simulate(experiment, library=library, **options)
    assert other.ending == ours.ending
    assert_same_columns(other.columns, ours.columns, rtol=1e-8, atol=1e-13)


@pytest.mark.long(keep=23)
@each_case
def test_wire_is_the_simulation_up_to_rounding(case):
    """With every message through its bytes the bits are equal and the models nearly so."""
    experiment = fitted(case)
    options = {"seeds": 2, "budget": Budget(rounds=8, iterations=2000), "record": Record(every=1)}
    simulated, wired = (simulate(experiment, wire=wire, **options) for wire in (False, True))
    for column in ("rounds", "iteration", "uplink_bits", "downlink_bits"):
        np.testing.assert_array_equal(simulated.columns[column], wired.columns[column])
    assert_same_columns(wired.columns, simulated.columns, rtol=1e-3, atol=1e-9, names=["gap"])
    if "natural" not in case.compressor:  # powers of two, and their means, need no rounding
        assert not np.array_equal(wired.columns["gap"], simulated.columns["gap"])


@pytest.mark.long(keep=1)
@each_case
def test_converges_to_the_solution(case):
    """With parameters from theory every run reaches f - f* <= 1e-9, and x* with it.

    Methods for convex functions, without a factor, reach 1e-4.
    """
    experiment, target = fitted(case), 1e-9 if METHODS[case.method].about("potential") else 1e-4
    trace = simulate(experiment, seeds=2, budget=Budget(gap=target, iterations=60_000))
    assert trace.ending == ("gap", "gap")
    mu = experiment.problem.plain.constants.mu
    assert (trace.final("distance") <= 2 / mu * trace.final("gap") * (1 + 1e-9)).all()


@each_method
def test_methods_are_values(name):
    """Parameters are frozen numbers, two methods with the same ones are equal and hash alike."""
    method, again = (fitted(logistic(name)).method for _ in range(2))
    assert method == again
    assert hash(method) == hash(again)
    with pytest.raises(AttributeError):
        setattr(method, next(iter(asdict(method))), 0.0)
