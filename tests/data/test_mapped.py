"""Problems whose rows stay in files are those of rows in memory."""

import bz2
import pickle
import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy

from certibit import MiniBatch, heterogeneity, sampling_constants
from certibit.data.errors import Refusal
from certibit.data.losses.logistic_loss import Logistic
from certibit.data.mapped import mapped_rows
from certibit.data.mapped.mapped_model import MappedModel
from certibit.data.mapped.mapped_rows import MappedRows, mapped_pieces
from certibit.data.problem import Constants
from certibit.data.problems.selector import problem
from certibit.solvers.cohorts import cohort_world
from certibit.solvers.methods.scaffold import SCAFFOLD
from certibit.solvers.methods.tamuna import TAMUNA
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation import channel
from certibit.solvers.simulation.experiment import Experiment


def drawn(rows, d, seed=0):
    """Return rows with about a third of the entries, and labels."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((rows, d)) * (draw.random((rows, d)) < 0.3)
    X[:, -1] = 1.0
    scores = X @ draw.standard_normal(d)
    return X, np.where(scores > np.median(scores), 2.0, 1.0)


def written(path, X, labels, column=None):
    """Write a LibSVM file; a column of numbers comes first."""
    lines = []
    for k, (row, label) in enumerate(zip(X, labels, strict=True)):
        pairs = [f"{j + 1 + (column is not None)}:{float(row[j])!r}" for j in np.flatnonzero(row)]
        first = [] if column is None else [f"1:{column[k]}"]
        lines.append(" ".join([f"{label:g}", *first, *pairs]))
    text = ("\n".join(lines) + "\n").encode()
    path.write_bytes(bz2.compress(text) if path.suffix == ".bz2" else text)
    return str(path)


def assert_same(found, expected):
    """Constants, solution, gradients and gaps, up to the order of sums."""
    x = np.random.default_rng(1).standard_normal((1, expected.d, 2))
    own = np.random.default_rng(2).standard_normal((expected.n, expected.d, 2))
    for view in ("composite", "plain"):
        one, other = getattr(found, view), getattr(expected, view)
        pairs = [
            (one.constants.L_i, other.constants.L_i),
            (one.constants.L_f, other.constants.L_f),
            (one.constants.mu, other.constants.mu),
            (one.grad(x), other.grad(x)),
            (one.grad(own), other.grad(own)),
            (one.mean_grad(x), other.mean_grad(x)),
            (one.value(x), other.value(x)),
            (one.gap(x), other.gap(x)),
            (one.hessian(x[:, :, :1]), other.hessian(x[:, :, :1])),
            (one.hessian_product(x[:, :, :1], x), other.hessian_product(x[:, :, :1], x)),
        ]
        for k, (a, b) in enumerate(pairs):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-13, err_msg=f"{view} {k}")
    np.testing.assert_allclose(found.x_star, expected.x_star, atol=1e-9)


@pytest.mark.parametrize("suffix", ["", ".bz2"])
@pytest.mark.parametrize(("loss", "weighting"), [("logistic", "rows"), ("huber:1", "clients")])
def test_consecutive_rows(tmp_path, monkeypatch, suffix, loss, weighting):
    X, labels = drawn(47, 6)
    monkeypatch.setattr(mapped_rows, "_PIECE", 300)  # bytes: some rows
    path = written(tmp_path / f"rows{suffix}", X, labels)
    options = {"kappa": 50, "loss": loss, "weighting": weighting}
    found = problem(f"{path}@9", split="in-order", **options)
    expected = problem(X[:45], labels[:45], clients=np.repeat(np.arange(9), 5), **options)
    assert_same(found, expected)
    x = np.random.default_rng(4).standard_normal((1, found.d, 2))
    np.testing.assert_allclose(found.part(np.arange(9)).grad(x), expected.grad(x), rtol=1e-10)
    assert_same(pickle.loads(pickle.dumps(found)), expected)


@pytest.mark.parametrize("blocks", [1, 40])
def test_clients_named_by_a_column(tmp_path, monkeypatch, blocks):
    """Clients are unequal, and their rows stand anywhere in the file."""
    X, labels = drawn(60, 5)
    clients = np.random.default_rng(3).choice([3, 17, 18, 40, 99], 60)
    path = written(tmp_path / "rows", X, labels, clients)
    monkeypatch.setattr(mapped_rows, "_PIECE", 500)
    monkeypatch.setattr("certibit.data.mapped.mapped_model._ENTRIES", 200 // blocks)
    padded = np.hstack([np.zeros((60, 1)), X])
    found = problem(f"{path}@5", split="column:1", kappa=50)
    assert_same(found, problem(padded, labels, clients=clients, kappa=50))


def test_many_features(tmp_path, monkeypatch):
    monkeypatch.setattr("certibit.data.mapped.rows_in_file._GRAM", 3)
    X, labels = drawn(40, 12)
    found = problem(f"{written(tmp_path / 'rows', X, labels)}@4", split="in-order", kappa=50)
    assert_same(found, problem(X, labels, clients=np.repeat(np.arange(4), 10), kappa=50))


@pytest.mark.parametrize(
    ("selector", "split", "sentence"),
    [
        ("rows@41", "in-order", "41 clients for 40 rows"),
        ("rows@3", "column:1", "column 1 names 4 clients and 3 are asked for; give @4"),
        ("rows@4", "column:9", "no column 9"),
        ("rows@4", "column:2", "expected whole numbers"),
        ("rows@4", "column", "expected in-order, or column:<j>"),
        ("rows@4", "in-order:2", "expected in-order, or column:<j>"),
        ("none@4", "in-order", "there is no file"),
        ("three@2", "in-order", "3 label values"),
        ("broken@2", "in-order", "from line 34 on, line 9: .x:1. is malformed"),
    ],
)
def test_misfits_are_refused(tmp_path, monkeypatch, selector, split, sentence):
    monkeypatch.setattr(mapped_rows, "_PIECE", 100)
    X, labels = drawn(40, 3)
    written(tmp_path / "rows", X, labels, np.arange(40) % 4)
    written(tmp_path / "three", X, np.arange(40) % 3)
    (tmp_path / "broken").write_text("1 1:1\n" * 40 + "1 1:1\n2 x:1\n")
    with pytest.raises(Refusal, match=sentence):
        problem(str(tmp_path / selector), split=split)


def test_other_data_have_no_such_split():
    X, labels = drawn(10, 3)
    with pytest.raises(Refusal, match="give the path of the file"):
        problem(X, labels, clients=2, split="in-order")


def test_a_file_is_read_a_piece_at_a_time(tmp_path, monkeypatch):
    X, labels = drawn(6000, 20)
    path = written(tmp_path / "rows", X, labels, np.arange(6000) % 300)
    size = len((tmp_path / "rows").read_bytes())
    mapped_rows.mapped_file(tmp_path / "rows", 10)  # what is imported is not counted
    monkeypatch.setattr(mapped_rows, "_PIECE", 1 << 15)
    tracemalloc.start()
    rows = mapped_rows.mapped_file(tmp_path / "rows", 300, column=1)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < size / 2
    assert (rows.n, rows.N, rows.d) == (300, 6000, 21)
    before = rows.folder.stat().st_mtime_ns
    assert problem(f"{path}@300", split="column:1", kappa=9).rows.folder == rows.folder
    assert rows.folder.stat().st_mtime_ns == before  # not made again


def test_what_is_not_finished_is_not_found(tmp_path):
    def pieces():
        yield scipy.sparse.csr_array(np.eye(3)), np.array([1.0, 2.0, 1.0])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mapped_pieces(pieces(), "stopped", 3)
    whole = [(scipy.sparse.csr_array(np.eye(3)), np.array([1.0, 2.0, 1.0]))]
    rows = mapped_pieces(whole, "stopped", 3)
    assert (rows.n, rows.N) == (3, 3)
    assert [path.name for path in rows.folder.parent.glob("stopped*")] == ["stopped-3"]


def many(n, entries=3, rows=10, d=100):
    """Return a problem of n clients, with a wrong solution: it is for the time of rounds."""

    def pieces():
        draw = np.random.default_rng(n)
        for first in range(0, n * rows, 100_000):
            count = min(100_000, n * rows - first)
            indices = np.sort(draw.integers(0, d // entries, (count, entries)), axis=1)
            indices += np.arange(entries) * (d // entries)
            data = draw.standard_normal(count * entries)
            indptr = np.arange(count + 1) * entries
            yield (
                scipy.sparse.csr_array((data, indices.ravel(), indptr), shape=(count, d)),
                np.where(draw.random(count) < 0.5, -1.0, 1.0),
            )

    rows_of_all = mapped_pieces(pieces(), f"many-{entries}-{rows}-{d}", n)
    return MappedModel(
        name=f"many@{n}", seed=0, fingerprint="many", bare=Constants(0.0, np.full(n, 5.0), 1.0),
        ridge=0.02, ridge_g=0.01, x_star=np.zeros((1, d, 1)), loss=Logistic(),
        rows=rows_of_all, weighting="rows",
    )  # fmt: skip


def seconds_of_rounds(method, n, more=100):
    """Return the processor time of so many rounds with cohorts of 100 clients."""
    experiment, taken = Experiment.of(method, many(n)), []
    for rounds in (1, 10, 10 + more):  # the first computes what is kept of a problem
        start = time.process_time()
        simulate(experiment, seeds=1, budget=Budget(rounds=rounds), by_cohort=True,
                 record=Record(every=1000))  # fmt: skip
        taken.append(time.process_time() - start)
    return taken[2] - taken[1]


@pytest.mark.long
@pytest.mark.parametrize(
    "method",
    [SCAFFOLD(K=3, eta_l=1e-3, eta_g=1.0, m=100), TAMUNA(gamma=0.05, p=0.3, chi=0.5, s=10, m=100)],
    ids=["scaffold", "tamuna"],
)
def test_a_round_of_a_million_clients_costs_what_its_cohort_costs(monkeypatch, method):
    """At most 3 times a round of 100 clients."""
    monkeypatch.setattr(MappedModel, "gap", lambda self, x: np.ones(x.shape[2]))  # of all rows
    small, large = (seconds_of_rounds(method, n) for n in (100, 10**6))
    assert 0.0 < large <= 3 * small


@pytest.mark.long
def test_planted_a_cohort_that_is_drawn_by_a_number_of_every_client_is_seen(monkeypatch):
    monkeypatch.setattr(MappedModel, "gap", lambda self, x: np.ones(x.shape[2]))
    for module in (channel, cohort_world):
        monkeypatch.setattr(module, "is_large", lambda n: False)
    method = SCAFFOLD(K=3, eta_l=1e-3, eta_g=1.0, m=100)
    small, large = (seconds_of_rounds(method, n, more=10) for n in (100, 10**6))
    assert large > 3 * small


def test_a_part_and_the_whole_have_one_name():
    made = many(40)
    part = made.part(np.array([7, 3]))
    assert (part.name, part.n) == (made.name, 2)
    x = np.random.default_rng(0).standard_normal((1, made.d, 1))
    np.testing.assert_allclose(part.grad(x), made.grad(x)[[7, 3]], rtol=1e-12)
    other = replace(made, ridge=0.04)
    assert not np.allclose(other.part(np.array([7])).grad(x), other.mean_grad(x))


def with_batches(tmp_path, law, split="in-order", **options):
    """Return the same problem with mini-batches, with rows in a file and in memory."""
    X, labels = drawn(60, 6)
    if split == "in-order":
        path, clients = written(tmp_path / "rows", X, labels), np.repeat(np.arange(5), 12)
    else:
        clients = np.random.default_rng(3).choice([3, 17, 18, 40, 99], 60)
        path = written(tmp_path / "rows", X, labels, clients)
        X = np.hstack([np.zeros((60, 1)), X])
    again = ":replacement" * law.replacement
    found = problem(f"{path}@5:batch={law.b}{again}", split=split, kappa=50, **options)
    return found, problem(X, labels, clients=clients, kappa=50, batch=law, **options)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("blocks", [1, 40])
@pytest.mark.parametrize("split", ["in-order", "column:1"])
@pytest.mark.parametrize("law", [MiniBatch(2), MiniBatch(7, replacement=True)], ids=str)
def test_batches_of_rows_in_a_file(tmp_path, monkeypatch, law, split, blocks):
    """The law, its constants and runs are those of rows in memory; only drawn rows are read."""
    monkeypatch.setattr("certibit.data.mapped.rows_in_file._ENTRIES", 200 // blocks)
    options = {"loss": "huber:1", "weighting": "clients"}
    found, expected = with_batches(tmp_path, law, split, **options)
    assert_same(found, expected)
    assert_same(pickle.loads(pickle.dumps(found)), expected)
    assert found.division.sizes == expected.division.sizes
    assert "60 rows over 5 clients" in str(heterogeneity(found))
    for name, value in vars(sampling_constants(expected)).items():
        np.testing.assert_allclose(getattr(sampling_constants(found), name), value, rtol=1e-10)
    x, read, right = np.random.default_rng(5).standard_normal((1, expected.d, 3)), [], MappedRows.of
    uniforms = np.random.default_rng(6).random((5, law.numbers(found), 3))
    monkeypatch.setattr(MappedRows, "of", lambda rows, n: read.append(len(n)) or right(rows, n))
    gradients = law.gradient(found, x, uniforms, found.grad)
    assert read == [5 * law.b * 3]
    alone = law.gradient(expected, x, uniforms.copy(), expected.grad)
    np.testing.assert_allclose(gradients, alone, rtol=1e-12, atol=1e-13)


def test_cohorts_read_the_drawn_rows_of_their_clients_alone(tmp_path, monkeypatch):
    found, expected = with_batches(tmp_path, MiniBatch(2))
    method = SCAFFOLD(K=3, eta_l=1e-2, eta_g=1.0, m=2)
    budget, record = Budget(rounds=6), Record(every=6)
    whole = simulate(Experiment.of(method, expected), seeds=1, budget=budget, record=record)
    read, right = [], MappedRows.of
    monkeypatch.setattr(MappedRows, "of", lambda rows, n: read.append(len(n)) or right(rows, n))
    experiment = Experiment.of(method, found)
    few = simulate(experiment, seeds=1, budget=budget, record=record, by_cohort=True)
    assert whole.columns["gradients"].tolist() == few.columns["gradients"].tolist()
    np.testing.assert_allclose(whole.columns["gap"], few.columns["gap"], rtol=1e-10)
    assert read.count(2 * 2) >= 6 * 3
    assert set(read) == {2 * 2, 2 * 12, 60}  # all rows for what is recorded
    assert read.count(2 * 12) == 1  # to compare the part of the first cohort with the whole
