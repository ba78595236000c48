"""Rows of one's own become the same problem whatever they are stored in, at clients of any size."""

from fractions import Fraction

import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.linear_model import LogisticRegression as Reference, PoissonRegressor, Ridge

from certibit import Quadratic, Refusal, heterogeneity, load, problem
from certibit.data.files.own_data import own_rows
from certibit.data.problems.ridge_problem import mean_gradient
from certibit.estimator import FederatedLogisticRegression

GENERATOR = np.random.default_rng(3)
X = GENERATOR.standard_normal((40, 4)) * (GENERATOR.random((40, 4)) < 0.7)
Y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + GENERATOR.standard_normal(40) > 0, "yes", "no")
NUMBERS = X @ [1.0, -2.0, 0.5, 0.0] + 3.0
COUNTS = GENERATOR.poisson(np.exp(X @ [0.3, -0.2, 0.1, 0.0]))
UNEQUAL = np.array(["a"] * 3 + ["b"] * 10 + ["c"] * 27)

KINDS = {
    "array": (X, Y),
    "list": (X.tolist(), Y.tolist()),
    "csr": (scipy.sparse.csr_array(X), Y),
    "coo": (scipy.sparse.coo_array(X), Y == "yes"),
    "frame": (pandas.DataFrame(X, columns=list("pqrs")), pandas.Series(Y)),
    "float32": (X.astype(np.float32).astype(np.float64), np.where(Y == "yes", 7, 2)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clients", [4, UNEQUAL, "dirichlet:1@4"], ids=str)
def test_any_container_gives_the_same_problem(kind, clients):
    rows, y = KINDS[kind]
    made, expected = (
        problem(*each, clients=clients, mu=0.1) for each in ((rows, y), KINDS["array"])
    )
    np.testing.assert_allclose(made.x_star, expected.x_star, rtol=1e-5)
    assert type(made) is type(expected)


def test_own_rows_are_what_a_selector_names():
    dataset = load("breast-cancer")
    own = problem(dataset.A, dataset.b, clients=9, kappa=1e3, seed=2)
    assert own.fingerprint == problem("breast-cancer@9", kappa=1e3, seed=2).fingerprint


@pytest.mark.parametrize("clients", [1, "dirichlet:0.5@5", UNEQUAL, np.arange(40) % 7], ids=str)
@pytest.mark.parametrize("loss", ["logistic", "least-squares", "poisson", "multinomial"])
def test_the_solution_is_that_of_all_rows_whatever_the_clients(loss, clients):
    """Every row counts alike: scikit-learn, which knows no clients, finds the same."""
    if loss in ("least-squares", "poisson") and isinstance(clients, str):
        pytest.skip("numbers have no classes to deal")
    y = {"least-squares": NUMBERS, "poisson": COUNTS}.get(loss, Y)
    made = problem(X, y, clients=clients, loss=loss, mu=0.05)
    assert np.linalg.norm(mean_gradient(made, made.x_star)) < 1e-13
    options = {"fit_intercept": False, "tol": 1e-12}
    references = {
        "logistic": Reference(C=1 / (0.1 * 40), solver="newton-cholesky", **options),
        "least-squares": Ridge(alpha=0.1 * 40, fit_intercept=False),
        "poisson": PoissonRegressor(alpha=0.1, max_iter=1000, **options),
        # two rows of coefficients, opposite: the penalty is that of the difference, halved
        "multinomial": Reference(C=2 / (0.1 * 40), solver="newton-cholesky", **options),
    }
    found = made.x_star.ravel()
    if loss == "multinomial":
        found = found[1::2] - found[::2]
    np.testing.assert_allclose(found, references[loss].fit(X, y).coef_.ravel(), rtol=1e-5)


def test_clients_may_count_alike():
    """Beside the mean over rows; f is then the mean of the clients' means."""
    made = problem(X, Y, clients=UNEQUAL, mu=0.05, weighting="clients")
    x = GENERATOR.standard_normal((1, 4, 1))
    signs = np.where(Y == "yes", 1.0, -1.0)
    for i, name in enumerate("abc"):
        rows, b = X[name == UNEQUAL], signs[name == UNEQUAL]
        gradient = (rows.T @ (-b / (1 + np.exp(b * (rows @ x.ravel()))))) / len(b)
        expected = gradient + 0.05 * x.ravel()
        np.testing.assert_allclose(made.grad(x)[i, :, 0], expected, rtol=1e-12)
        L = np.linalg.eigvalsh(rows.T @ rows)[-1] / (4 * len(b)) + 0.05
        assert made.constants.L_i[i] == pytest.approx(L, rel=1e-12)
    other = problem(X, Y, clients=UNEQUAL, mu=0.05)
    assert np.abs(made.x_star - other.x_star).max() > 1e-3


def test_a_file_of_numbers(tmp_path):
    path = tmp_path / "prices"
    path.write_text("1.5 1:1\n2 1:2\n0.5 2:1\n4 2:3\n")
    made = problem(f"{path}@2", mu=0.5, loss="least-squares", split="similarity:0")
    assert (made.name, made.n, made.d) == ("prices@2", 2, 2)
    assert problem(str(path), clients=["u", "u", "u", "v"], mu=0.5, loss="huber").n == 2


def test_heterogeneity_is_measured():
    made = problem(X, Y, clients=UNEQUAL, mu=0.1, weighting="clients")
    found = heterogeneity(made)
    gradients = made.plain.grad(made.x_star)[:, :, 0]
    expected = np.mean(np.sum((gradients - gradients.mean(axis=0)) ** 2, axis=1))
    assert found.at_solution == pytest.approx(expected, rel=1e-12)
    assert found.division.sizes == (3, 10, 27)
    shares = [np.mean(Y[name == UNEQUAL] == "no") for name in "abc"]
    np.testing.assert_allclose(found.shares[:, 0], shares)
    lines = str(found).splitlines()
    assert lines[1] == "40 rows over 3 clients, 3 to 27 each"
    ends = " to ".join(f"{round(end, 2):g}" for end in (min(shares), max(shares)))
    assert lines[2] == f"class no: {ends} of a client's rows"


@pytest.mark.parametrize(
    ("rows", "y", "choice", "sentence"),
    [
        (X, None, {"clients": 4}, "rows of your own come without targets; give y, one a row"),
        (X, Y, {}, "rows of your own come without clients; give clients=9, or the client"),
        ("breast-cancer@9", Y, {}, "the problem 'breast-cancer@9' comes with its targets; leave"),
        (X, Y[:3], {"clients": 4}, "targets y of shape (3,) for 40 rows; give one a row"),
        (X[0], Y, {"clients": 4}, "rows X of shape (4,); give a matrix with one row an example"),
        (0 * X, Y, {"clients": 4}, "rows X of shape (40, 4) have no entry but zeros; give some"),
        (X * np.nan, Y, {"clients": 4}, "rows X have the value nan in row 1; fill it or"),
        ([["u"], ["v"]], [1, 2], {"clients": 1}, "rows X have the value 'u' in row"),
        (X, np.arange(40), {"clients": 4}, "the targets y are of 40 classes and logistic takes"),
        (X, 0 * NUMBERS, {"clients": 4}, "the targets y are all of one class and logistic takes"),
        (X, np.where(X[:, 0] > 0, np.nan, 1.0), {"clients": 4}, "targets y have the value nan in"),
        ("quadratic:d=3@2", None, {"loss": "huber"}, "a quadratic has no rows, so no loss and no"),
        (X, Y, {"clients": [1, 2]}, "labels of clients of shape (2,) for 40 rows; give one"),
        (X, Y, {"clients": 50}, "50 clients for 40 rows; choose from 1 to 40 clients"),
        (X, Y, {"clients": "dirichlet:0@3"}, "a Dirichlet concentration of 0; expected a positive"),
        (X, Y, {"clients": "dirichlet:x@3"}, "the split 'dirichlet:x' cannot be read; expected"),
        (X, Y, {"clients": "dirichlet:1@x"}, "clients = 'x'; expected a whole number here"),
        (X, Y, {"clients": "dirichlet:1"}, "clients = 'dirichlet:1' does not say how"),
        (X, Y, {"clients": ["a", None] * 20}, "labels of clients have the value None"),
        (X, Y, {"clients": [1.0, 2.0, np.nan, 1.0] * 10}, "labels of clients have the value nan"),
        (X, Y, {"clients": np.array(["a", 1] * 20, object)}, "labels of clients are of several"),
        (X, Y, {"clients": "pathological:2@4"}, "the split 'pathological:2' is unknown; choose"),
        (X, Y, {"clients": "dirichlet:1e-4@9"}, "dirichlet:0.0001 leaves one of 9 clients"),
        (X, Y, {"clients": UNEQUAL, "weighting": "x"}, "the weighting 'x' is unknown; choose rows"),
        (X, NUMBERS, {"clients": "dirichlet:1@3", "loss": "huber"}, "the split 'dirichlet:1'"),
        (X, -COUNTS, {"clients": 4, "loss": "poisson"}, "the targets do not fit the loss poisson"),
        (X, COUNTS, {"clients": 4, "loss": "poisson:-1"}, "the solution predicts exp("),
    ],
)  # fmt: skip
def test_refusals(rows, y, choice, sentence):
    with pytest.raises(Refusal) as refusal:
        problem(rows, y, **{"mu": 0.1} | choice)
    assert str(refusal.value).startswith(sentence)


def masked(values):
    """Return values of which the second is masked."""
    return np.ma.MaskedArray(values, np.arange(np.size(values)).reshape(np.shape(values)) == 1)


WRONG_NUMBERS = {
    "masked": (masked, "have masked values"),
    "list of masked": (lambda x: list(masked(x)), "have masked values"),
    "complex": (lambda x: x + 1j, "of the type complex128; give numbers"),
    "list of complex": (lambda x: (x + 1j).tolist(), "of the type complex; give numbers"),
    "dates": (lambda x: x.astype("M8[D]"), "of the type datetime64; give numbers"),
    "durations": (lambda x: x.astype("m8[s]"), "of the type timedelta64; give numbers"),
    "durations of objects": (lambda x: x.astype("m8[D]").astype(object), "of the type timedelta"),
    "words": (lambda x: x.astype(str), "of the type str_; give numbers"),
    "words in a list": (lambda x: [*x[:-1].tolist(), *x[-1:].astype(str).tolist()], "type str"),
    "None": (lambda x: np.where(x == x.flat[0], None, x), "have the value None in row 1; fill"),
    "nullable": (lambda x: pandas.DataFrame(x).astype("Float64")
                 .mask(lambda frame: frame == x.flat[0]).squeeze(axis=1),
                 "in row 1; fill it or leave the row out"),
    "NaN": (lambda x: np.where(x == x.flat[-1], np.nan, x), "have the value nan in row 6; fill"),
    "set": (lambda x: set(x.flat), "of the type set; give an array"),
    "generator": (iter, "give an array, a list or a data frame"),
    "records": (lambda x: x.astype([("a", float)]), "of the type void; give numbers"),
    "integers of 400 digits": (lambda x: [10**400 + each.astype(int).astype(object) for each in x],
                               "have a number beyond those of 64 bits"),
}  # fmt: skip
WRONG_ROWS = {
    **WRONG_NUMBERS,
    "ragged": (lambda x: [each[: 1 + k % 2].tolist() for k, each in enumerate(x)],
               "cannot be read as an array (setting an array element with a sequence); give"),
    "sparse and complex": (lambda x: scipy.sparse.csr_array(x + 1j), "of the type complex128"),
    "sparse with NaN": (lambda x: scipy.sparse.coo_array(np.where(x == x[4, 1], np.nan, x)),
                        "have the value nan in row 5; fill"),
}  # fmt: skip
CLASSES = ["ill", "well", "ill", "well", "well", "ill"]
WRONG_LABELS = {
    "None": ([*CLASSES[:5], None], "have the value None in row 6; fill it or leave the row out"),
    "NaN among words": ([*CLASSES[:5], np.nan], "have the value nan in row 6; fill it"),
    "NaN of objects": (np.array([0, 1, 1, 0, 1, np.nan], object), "have the value nan in row 6"),
    "NaT": (np.array(["2020", "2021"] * 2 + ["2020", "NaT"], "M8[Y]"), "value NaT in row 6"),
    "nullable words": (pandas.array([*CLASSES[:5], None], "string"), "in row 6; fill it"),
    "nullable numbers": (pandas.array([1, 2, 2, 1, 1, None], "Int64"), "in row 6; fill it"),
    "nullable truth": (pandas.array([True, False] * 2 + [True, None], "boolean"), "in row 6; fill"),
    "categories": (pandas.Categorical([*CLASSES[:5], None]), "have the value nan in row 6; fill"),
    "masked": (masked([1, 2, 1, 2, 1, 2]), "have masked values"),
    "infinite": (np.array([0, 1, 1, 0, 1, np.inf], object), "have the value inf in row 6"),
    "numbers and words": ([1, "1"] * 3, "are of several types (int, str); give one type"),
    "numbers and truth": ([1, True, 0] * 2, "are of several types (bool, int); give one type"),
    "complex": ([1j, 1.0] * 3, "of the type complex; give numbers"),
    "lists": ([[1], [1, 2]] * 3, "of the type list; give numbers"),
    "set": ({1, 2, 3, 4, 5, 6}, "of the type set; give an array, a list or a data frame"),
    "dictionary": (dict.fromkeys(range(6), 1), "of the type dict; give an array"),
    "too few": (CLASSES[:5], "of shape (5,) for 6 rows; give one a row"),
}
FEW = np.arange(1.0, 13.0).reshape(6, 2)


def assert_refused(sentence, function, *arguments, **options):
    """One sentence, and no warning that something was lost."""
    with pytest.raises(Refusal) as refusal:
        function(*arguments, **options)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("kind", WRONG_ROWS)
@pytest.mark.parametrize("loss", ["logistic", "multinomial", "least-squares", "welsch"])
def test_rows_are_never_reinterpreted(kind, loss):
    wrong, sentence = WRONG_ROWS[kind]
    assert_refused(sentence, problem, wrong(FEW), [1, 2] * 3, clients=2, loss=loss)


@pytest.mark.parametrize("kind", WRONG_NUMBERS)
def test_targets_and_constants_are_never_reinterpreted(kind):
    wrong, sentence = WRONG_NUMBERS[kind]
    y = wrong(FEW[:, 0])
    assert_refused(sentence, problem, FEW, y, clients=2, loss="huber:1", mu=0.1)
    assert_refused(sentence, Quadratic.random(2, 6).started_at, y)
    if kind not in ("NaN", "nullable"):
        matrices = wrong(np.eye(6)[None] * 3)
        assert_refused(sentence, Quadratic.from_arrays, matrices, FEW[None, :, 0])


@pytest.mark.parametrize("kind", WRONG_LABELS)
@pytest.mark.parametrize("loss", ["logistic", "multinomial", "smoothed-hinge"])
def test_labels_are_never_reinterpreted(kind, loss):
    labels, sentence = WRONG_LABELS[kind]
    assert_refused(f"targets y {sentence}" if sentence[:4] == "have" else sentence,
                   problem, FEW, labels, clients=2, loss=loss)  # fmt: skip
    assert_refused(sentence, problem, FEW, CLASSES, clients=labels, loss=loss)


@pytest.mark.parametrize("kind", WRONG_LABELS)
def test_clients_of_files_and_of_the_estimator_are_the_same(kind, tmp_path):
    labels, sentence = WRONG_LABELS[kind]
    path = tmp_path / "rows"
    path.write_text("1 1:1\n2 1:2\n" * 3)
    assert_refused(sentence, problem, path, clients=labels)
    estimator = FederatedLogisticRegression(clients=labels)
    assert_refused(sentence, estimator.fit, FEW, CLASSES)


@pytest.mark.parametrize(
    "kind", ["masked", "list of masked", "dates", "durations", "words", "words in a list"]
)
def test_the_estimator_takes_no_other_rows(kind):
    """Scikit-learn refuses the other kinds itself."""
    wrong, sentence = WRONG_ROWS[kind]
    estimator = FederatedLogisticRegression("agd", None)
    assert_refused(sentence, estimator.fit, wrong(FEW), CLASSES)
    estimator.fit(FEW, CLASSES)
    assert_refused(sentence, estimator.predict, wrong(FEW))


@pytest.mark.parametrize("kind", ["None", "nullable words", "masked", "numbers and words"])
def test_the_estimator_takes_no_other_labels(kind):
    labels, sentence = WRONG_LABELS[kind]
    assert_refused(sentence, FederatedLogisticRegression("agd", None).fit, FEW, labels)


@pytest.mark.parametrize("clients", [True, np.True_, 2.0, "x@True"])
@pytest.mark.parametrize("data", ["quadratic:d=3", FEW])
def test_a_number_of_clients_is_whole(clients, data):
    y = CLASSES if data is FEW else None
    assert_refused("expected a whole number here", problem, data, y, clients=clients)


@pytest.mark.parametrize(
    "rows",
    [FEW.astype(np.float32), FEW.astype(np.int8), FEW.astype(object), pandas.DataFrame(FEW),
     pandas.DataFrame(FEW, dtype="Int64"), [tuple(map(Fraction, row)) for row in FEW.tolist()],
     np.ma.MaskedArray(FEW), scipy.sparse.coo_array(FEW.astype(np.int8))],
    ids=lambda rows: type(rows).__name__,
)  # fmt: skip
def test_numbers_of_any_type_are_read(rows):
    expected = problem(FEW, CLASSES, clients=2, mu=0.1)
    assert problem(rows, CLASSES, clients=2, mu=0.1).fingerprint == expected.fingerprint


def test_duplicate_entries_are_added_up_as_64_bit_numbers():
    rows = scipy.sparse.coo_array((np.array([100, 100, 1], np.int8), ([0, 0, 1], [0, 0, 0])))
    assert own_rows(rows).toarray().ravel().tolist() == [200.0, 1.0]


def test_dates_and_durations_are_labels():
    days = np.array(["2020-01-01", "2020-01-02"] * 3, "M8[D]")
    for labels in (days, days.astype(object).tolist(), days - days[0]):
        assert problem(FEW, labels, clients=labels, mu=0.1).n == 2


def test_a_path_comes_with_its_targets(tmp_path):
    path = tmp_path / "rows"
    path.write_text("1 1:1\n2 1:2\n" * 3)
    assert problem(path, clients=2, mu=0.1).fingerprint == problem(f"{path}@2", mu=0.1).fingerprint
    assert_refused("comes with its targets; leave y out", problem, path, [1, 2] * 3, clients=2)
    assert_refused("expected <data>@<clients>, such as a5a@87", problem, path)


def test_targets_beside_a_file_of_ones_own_are_refused(tmp_path):
    assert_refused("is complete; leave out", problem, f"{tmp_path}/own.py:made", FEW[:, 0])
