"""What must hold for every method with every compressor on every problem, and on every library."""

from dataclasses import asdict, fields

import numpy as np
import pytest
from worlds import CASES, LIBRARIES, fitted, simulate, world

from bitbound.solvers import backend, local_solve
from bitbound.solvers.backend import host
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.state import each
from bitbound.theory.theorems.catalogue import METHODS

each_case = pytest.mark.parametrize("case", CASES, ids=str)


def freeze(state):
    """Make every array of a state read-only, so that a step that writes into it fails."""
    for field in fields(state):
        getattr(state, field.name).flags.writeable = False
    return state


def distances(state, other) -> list[float]:
    return [
        float(
            np.max(np.abs(np.subtract(getattr(state, f.name), getattr(other, f.name), dtype=float)))
        )
        for f in fields(state)
    ]


@pytest.mark.parametrize("wire", [False, True], ids=["simulated", "wire"])
@each_case
def test_solution_is_a_fixed_point(case, wire):
    """From the solution state no method moves, whatever coins and compressors do.

    Sent on the wire, values are rounded to 32 bits, so the model stays within that.
    """
    method, problem, compressor = fitted(case)
    w = world(method, problem, compressor, wire=wire)
    star = each(lambda x: np.repeat(x, 3, axis=2), method.fixed_point(w.problem))
    after = w.iterate(star, 12)
    scale = 1 + max(float(np.max(np.abs(getattr(star, f.name)))) for f in fields(star))
    tolerance = 3e-5 if wire else 1e-8
    assert max(distances(after, star)) <= tolerance * scale


@each_case
def test_invariants_and_purity(case):
    """What the method calls invariant is 0 in every state; no step writes into its argument."""
    method, problem, compressor = fitted(case)
    w = world(method, problem, compressor)
    s = freeze(method.start(w.channel.template, w.oracle, w.channel))
    size = 1.0
    for _ in range(15):
        s = freeze(w.iterate(s, 1))
        size = max(size, *(float(np.max(np.abs(getattr(s, f.name)))) for f in fields(s)))
        for invariant in method.invariants(s, w.problem):
            assert np.max(np.abs(invariant)) <= 1e-11 * size


@pytest.mark.parametrize("name", METHODS)
def test_a_run_depends_on_its_seed_only(name):
    """Alone or in a batch, first or last, the trace of a seed is the same to 1e-10 relative."""
    case = next(case for case in CASES if case.method == name and case.problem == "logistic")
    method, problem, compressor = fitted(case)
    options = {"budget": Budget(rounds=25, iterations=2000), "record": Record(every=5)}
    batch = simulate(method, problem, compressor, seeds=[*range(10, 40), 7, 3], **options)
    for seed in (3, 7, 39):
        alone = simulate(method, problem, compressor, seeds=[seed], **options)
        together = batch.run(batch.seeds.index(seed))
        for column, values in alone.columns.items():
            if column != "run":
                np.testing.assert_allclose(together[column], values, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("library", LIBRARIES)
@each_case
def test_every_library_gives_the_same(case, library):
    """On a library that has nothing but the standard, and on a GPU, every method does the same."""
    method, problem, compressor = fitted(case)
    ours, other = (world(method, problem, compressor, library=name) for name in ("numpy", library))
    states = [
        w.iterate(method.start(w.channel.template, w.oracle, w.channel), 8) for w in (ours, other)
    ]
    expected, got = (each(host, s) for s in states)
    for f in fields(expected):
        np.testing.assert_allclose(
            getattr(expected, f.name), getattr(got, f.name), rtol=1e-9, atol=1e-11
        )
    for spent, again in zip(vars(ours.ledger).values(), vars(other.ledger).values(), strict=True):
        np.testing.assert_array_equal(spent, again)


@each_case
def test_what_large_vectors_are_spared_changes_nothing(case, monkeypatch):
    """Entries that are not written out and clients that are left out give the same, at any size."""
    method, problem, compressor = fitted(case)
    found = []
    for large in (1, 1 << 40):
        monkeypatch.setattr(backend, "_LARGE", large)
        monkeypatch.setattr(local_solve, "_LARGE", large)
        w = world(method, problem, compressor)
        found.append((w.iterate(method.start(w.channel.template, w.oracle, w.channel), 8), w))
    (spared, small), (full, large) = found
    for f in fields(full):
        assert type(getattr(spared, f.name)) is np.ndarray
        np.testing.assert_allclose(
            getattr(spared, f.name), getattr(full, f.name), rtol=1e-9, atol=1e-11
        )
    for spent, again in zip(vars(small.ledger).values(), vars(large.ledger).values(), strict=True):
        np.testing.assert_array_equal(spent, again)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", METHODS)
def test_a_whole_run_on_every_library(name, library):
    """The engine with runs that communicate and end at different times gives the same trace."""
    case = next(case for case in CASES if case.method == name and case.problem == "logistic")
    method, problem, compressor = fitted(case)
    options = {"seeds": 4, "budget": Budget(gap=1e-3, iterations=400)}
    ours = simulate(method, problem, compressor, **options)
    other = simulate(method, problem, compressor, library=library, **options)
    assert other.ending == ours.ending
    for column, values in ours.columns.items():
        np.testing.assert_allclose(other.columns[column], values, rtol=1e-8, atol=1e-13)


@each_case
def test_wire_is_the_simulation_up_to_rounding(case):
    """With every message through its bytes the bits are equal and the models nearly so."""
    method, problem, compressor = fitted(case)
    options = {"seeds": 2, "budget": Budget(rounds=8, iterations=2000), "record": Record(every=1)}
    simulated = simulate(method, problem, compressor, **options)
    wired = simulate(method, problem, compressor, wire=True, **options)
    for column in ("rounds", "iteration", "uplink_bits", "downlink_bits"):
        np.testing.assert_array_equal(simulated.columns[column], wired.columns[column])
    np.testing.assert_allclose(wired.columns["gap"], simulated.columns["gap"], rtol=1e-3, atol=1e-9)
    if "natural" not in case.compressor:  # powers of two, and their means, need no rounding
        assert not np.array_equal(wired.columns["gap"], simulated.columns["gap"])


@each_case
def test_converges_to_the_solution(case):
    """With parameters from theory every run reaches f - f* <= 1e-9, and x* with it."""
    method, problem, compressor = fitted(case)
    trace = simulate(
        method, problem, compressor, seeds=2, budget=Budget(gap=1e-9, iterations=60_000)
    )
    assert trace.ending == ("gap", "gap")
    mu = problem.plain.constants.mu
    assert (trace.final("distance") <= 2 / mu * trace.final("gap") * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_values(name):
    """Parameters are frozen numbers, two methods with the same ones are equal and hash alike."""
    case = next(case for case in CASES if case.method == name)
    method, again = fitted(case)[0], fitted(case)[0]
    assert method == again
    assert hash(method) == hash(again)
    field = next(iter(asdict(method)))
    with pytest.raises(AttributeError):
        setattr(method, field, 0.0)
