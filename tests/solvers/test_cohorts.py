"""Runs in which only the clients of a cohort are computed are those of all clients."""

import math
from collections import Counter
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.data.relaxed.polynomials import Quartics
from certibit.solvers.authoring import Array, Method, Needs, copies, mean
from certibit.solvers.cohorts import client_streams
from certibit.solvers.cohorts.cohort_loop import CohortLoop
from certibit.solvers.cohorts.crowd import VectorsOfClients
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.checkpoint import Checkpoint
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.ownership import members_drawn
from certibit.solvers.store.store import Store
from certibit.theory.catalogue.catalogue import CLIPPING, METHODS, parameters

QUADRATIC = Quadratic.random(7, 5, mu=1.0, L=30.0, seed=3)
COHORT = {"m": 3, "cohort": 3, "S": 3}
"""The sizes of cohorts, by what methods call them."""


def fitted(name, made, sent, **changes):
    """Return an experiment with a method of the catalogue; cohorts have 3 clients."""
    card = {**METHODS, **CLIPPING}[name]
    names = {field.name for field in fields(card.method)}
    if card.method.needs.strongly_convex:
        method = parameters(name, made, sent)
    else:
        made = Quartics.of(H=1)
        steps = {
            "eta": 1e-3,
            "gamma": 0.05,
            "alpha": 0.5,
            "I": 3,
            "beta": 0.5,
            "p": 0.5,
            "tau": 1.0,
        }
        method = card.method(**{key: x for key, x in steps.items() if key in names})
    small = {key: min(m, made.n) for key, m in COHORT.items() if key in names}
    if name == "tamuna":
        small["s"] = 2
    return Experiment.of(replace(method, **small, **changes), made, sent)


def cases():
    sent = {None: (None,), "unbiased": ("rand-k:2+natural", "rand-k:2@shared"),
            "contractive": ("top-k:2",)}  # fmt: skip
    for name, card in {**METHODS, **CLIPPING}.items():
        down = {"unbiased": "natural", "contractive": "top-k:3"}.get(card.method.needs.downlink)
        for words in sent[card.method.needs.compressor]:
            yield name, f"two-way({words};{down})" if words and down else words


def assert_close(found, expected):
    """Counts are equal, and numbers to 1e-12."""
    assert found.ending == expected.ending
    for name, column in expected.columns.items():
        if column.dtype.kind in "iu":
            np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
        elif name != "lyapunov":
            np.testing.assert_allclose(found.columns[name], column, rtol=1e-12, err_msg=name)


@pytest.mark.long(keep=12)
@pytest.mark.parametrize(("name", "words"), list(cases()))
def test_a_run_by_cohort_is_that_of_all_clients(name, words):
    """Also for methods without cohorts."""
    try:
        experiment = fitted(name, QUADRATIC, words and compressor(words))
    except Refusal as refusal:
        pytest.skip(f"no parameters: {refusal}")
    options = {"seeds": 2, "budget": Budget(rounds=9, iterations=300), "wire": words is None}
    expected = simulate(experiment, **options)
    assert_close(simulate(experiment, by_cohort=True, **options), expected)


def test_who_was_never_drawn_takes_no_memory():
    made = Quadratic.random(5000, 3, mu=1.0, L=10.0, seed=1)
    experiment = fitted("scaffold", made, None)
    options = {"seeds": 1, "budget": Budget(rounds=8)}
    assert_close(simulate(experiment, by_cohort=True, **options), simulate(experiment, **options))
    loops = []

    def loop(*arguments, **named):
        loops.append(CohortLoop(*arguments, **named))
        return loops[-1]

    simulate(experiment, loop=loop, by_cohort=True, **options)
    (only,) = loops
    assert isinstance(only.kept["c_i"], VectorsOfClients)
    assert 3 < only.kept["c_i"].written <= 24
    assert only.kept["c_i"].shape == (5000, 3, 1)


@pytest.mark.parametrize(("n", "m"), [(5, 2), (4, 3), (5, 5), (4, 1)])
def test_every_cohort_is_drawn_alike(n, m):
    """Over all outcomes of the m draws, of n - m + 1, ..., n equally likely ones."""
    draws = product(*(range(last) for last in range(n - m + 1, n + 1)))
    numbers = np.array([[(x + 0.5) / (n - m + 1 + k) for k, x in enumerate(one)] for one in draws])
    members = members_drawn(numbers.T, n)
    found = Counter(map(tuple, members.T.tolist()))
    assert len(found) == math.comb(n, m)
    assert set(found.values()) == {math.factorial(m)}


@dataclass(frozen=True)
class Sums:
    """State of a method that needs the mean of all vectors in every round."""

    x: Array
    h: Array


@dataclass(frozen=True)
class Summing(Method):
    """A method with cohorts that uses the mean of the vectors of all clients."""

    name: ClassVar[str] = "summing"
    needs: ClassVar[Needs] = Needs()

    def start(self, x, problem, channel):
        return Sums(x, copies(x, problem.n))

    def communicate(self, s, problem, channel):
        cohort = channel.cohort(2)
        change = channel.send(problem.grad(s.x, active=cohort) - s.h, cohort)
        return Sums(s.x - 0.01 * mean(s.h) - 0.01 * mean(change), s.h + change)


def test_the_sum_over_all_clients_is_kept(monkeypatch):
    experiment = Experiment.of(Summing(), QUADRATIC)
    options = {"seeds": 2, "budget": Budget(rounds=50)}
    expected = simulate(experiment, **options)
    assert_close(simulate(experiment, by_cohort=True, **options), expected)
    monkeypatch.setattr(VectorsOfClients, "_add", lambda self, x: None)
    with pytest.raises(AssertionError):
        assert_close(simulate(experiment, by_cohort=True, **options), expected)


def test_the_sum_does_not_drift():
    """A plain sum loses all of what is small beside 1e16."""
    vectors = VectorsOfClients(10**6, np.ones((1, 1, 1)))
    draw = np.random.default_rng(5)
    for _ in range(500):
        clients = np.unique(draw.integers(0, 10**6, 7))
        size = 10.0 ** draw.integers(-8, 12)
        vectors.write(clients, size * draw.standard_normal((len(clients), 1, 1)))
    written = vectors.as_arrays()["rows"].ravel().tolist()
    exact = math.fsum([*written, 10**6 - vectors.written])
    assert vectors.total.item() == pytest.approx(exact, rel=1e-12)


def test_own_numbers_of_every_client(monkeypatch):
    """The planted fault: clients have the numbers of the first ones."""
    experiment = fitted("5gcs-cc", QUADRATIC, compressor("rand-k:2"))
    options = {"seeds": 1, "budget": Budget(rounds=9)}
    expected = simulate(experiment, **options)
    of_clients = client_streams.ClientStreams.of_clients
    monkeypatch.setattr(
        client_streams.ClientStreams,
        "of_clients",
        lambda *asked: lambda clients: of_clients(*asked)(np.arange(len(clients))),
    )
    with pytest.raises(AssertionError):
        assert_close(simulate(experiment, by_cohort=True, **options), expected)


@dataclass(frozen=True)
class Changing(Summing):
    """A method that changes the vectors of clients that do not take part."""

    def communicate(self, s, problem, channel):
        cohort = channel.cohort(2)
        received = channel.send(s.h, cohort)
        return Sums(s.x - mean(received), s.h * s.h + received)


@dataclass(frozen=True)
class Averaging(Summing):
    """A method that averages what only the cohort has computed."""

    def communicate(self, s, problem, channel):
        cohort = channel.cohort(2)
        return Sums(s.x - mean(problem.grad(s.x, active=cohort)), s.h)


@dataclass(frozen=True)
class Whole(Summing):
    """A method that has a cohort and all clients in one round."""

    def communicate(self, s, problem, channel):
        channel.cohort(2)
        return Sums(s.x - mean(channel.send(problem.grad(s.x))), s.h)


@dataclass(frozen=True)
class Twice(Summing):
    """A method that draws two cohorts in a round, which are independent elsewhere."""

    def communicate(self, s, problem, channel):
        first = channel.send(s.h, channel.cohort(2))
        return Sums(s.x - mean(first), s.h + channel.send(s.h, channel.cohort(2)))


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (Twice(), "a second cohort of 2 clients is drawn in a round"),
        (Changing(), "a round changes h of clients outside of the cohort"),
        (Averaging(), "a sum over all clients of vectors that only the cohort computes"),
        (Whole(), "gradients of all 7 clients are evaluated in a round with a cohort of 2"),
    ],
)
def test_what_needs_all_clients_is_refused(method, sentence):
    with pytest.raises(Refusal, match=sentence):
        simulate(Experiment.of(method, QUADRATIC), budget=Budget(rounds=2), by_cohort=True)


class Stop(BaseException):
    """The end of a process."""


class Stopping(Checkpoint):
    """Writes every time, and stops after some."""

    calls = 0

    def write_if_due(self, batch, carried):
        self.write(batch, carried)
        self.calls += 1
        if self.calls == 4:
            raise Stop


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(
    ("name", "words"), [("scaffold", None), ("tamuna", None), ("5gcs-cc", "rand-k:2"),
                        ("diana", "rand-k:2@shared")]
)  # fmt: skip
def test_a_run_that_was_stopped_goes_on(tmp_path, name, words):
    experiment = fitted(name, QUADRATIC, words and compressor(words))
    options = {"seeds": 2, "budget": Budget(rounds=11), "by_cohort": True, "keep_model": True}
    expected, stops = simulate(experiment, **options), 0
    while True:
        try:
            found = simulate(experiment, checkpoint=Stopping(tmp_path / "trace.npz", {}), **options)
            break
        except Stop:
            stops += 1
            assert stops < 20
    assert stops > 3
    for column, values in expected.columns.items():
        np.testing.assert_array_equal(found.columns[column], values, err_msg=column)
    np.testing.assert_array_equal(found.x, expected.x)


def test_a_trace_is_stored_under_a_name_of_its_own(tmp_path):
    experiment, store = fitted("scaffold", QUADRATIC, None), Store(tmp_path)
    options = {"seeds": 1, "budget": Budget(rounds=3)}
    traces = [store.trace(experiment, **options, by_cohort=by) for by in (False, True, True)]
    assert [trace.specification.get("by_cohort") for trace in traces] == [None, True, True]
    assert len(list(tmp_path.rglob("*.npz"))) == 2


def test_a_diverging_run_ends():
    experiment = fitted("scaffold", QUADRATIC, None, eta_l=1e6)
    options = {"seeds": 1, "budget": Budget(rounds=200)}
    with np.errstate(all="ignore"):
        expected = simulate(experiment, **options)
        found = simulate(experiment, by_cohort=True, **options)
    assert found.ending == expected.ending == ("diverged",)
    assert found.final("rounds") == expected.final("rounds")


def test_what_a_cohort_world_has_not_is_refused():
    with pytest.raises(Refusal, match="by_cohort is for numpy"):
        simulate(fitted("scaffold", QUADRATIC, None), budget=Budget(rounds=2), by_cohort=True,
                 library="array-api-strict")  # fmt: skip
    one = Quadratic.random(1, 3, mu=1.0, L=10.0)
    with pytest.raises(Refusal, match="several clients"):
        simulate(Experiment.of(METHODS["gd"].method(gamma=0.1), one), by_cohort=True,
                 budget=Budget(rounds=2))  # fmt: skip
