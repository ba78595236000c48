"""What must hold for every method with every compressor on every problem, and on every library."""

from dataclasses import asdict, fields

import numpy as np
import pytest
from comparisons import assert_same_columns, assert_same_spending, assert_same_state
from worlds import CASES, COMPRESSORS, LIBRARIES, Case, fitted, world_of

from certibit import METHODS, Budget
from certibit.solvers.libraries import host
from certibit.solvers.runs.engine import simulate
from certibit.solvers.state import each
from certibit.theory.checks.channel.walk import size
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


@each_method
def test_methods_are_values(name):
    """Parameters are frozen numbers, two methods with the same ones are equal and hash alike."""
    method, again = (fitted(logistic(name)).method for _ in range(2))
    assert method == again
    assert hash(method) == hash(again)
    with pytest.raises(AttributeError):
        setattr(method, next(iter(asdict(method))), 0.0)
