"""The estimator keeps the contract of scikit-learn, and finds what scikit-learn finds."""

import numpy as np
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from certibit import Refusal
from certibit.estimator import FederatedLogisticRegression

FAST = FederatedLogisticRegression(method="agd", compressor=None, tol=1e-4)


@pytest.mark.long(keep=1)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([FAST, FederatedLogisticRegression()])
def test_the_contract_of_scikit_learn(estimator, check):
    """Of the estimator as it comes, too: its work is bounded whatever the rows."""
    check(estimator)


def test_unscaled_rows_end_with_a_warning():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"ended by its gradients at .* standardise=True"):
        fitted = FederatedLogisticRegression(max_rounds=2000).fit(X, y)
    assert fitted.trace_.final("gradients")[0] <= 2001
    assert fitted.n_iter_ <= 2001


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_standardised_rows_are_those_of_scikit_learn(sparse, fit_intercept):
    """The model is that of a pipeline with a scaler, given for the rows as they are."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = scipy.sparse.csr_array(X) if sparse else X
    fitted = FederatedLogisticRegression(
        "agd", None, tol=1e-12, standardise=True, fit_intercept=fit_intercept
    ).fit(rows, y)
    scaler = StandardScaler(with_mean=fit_intercept and not sparse).fit(rows)
    plain = FederatedLogisticRegression("agd", None, tol=1e-12, fit_intercept=fit_intercept)
    expected = plain.fit(scaler.transform(rows), y).predict_proba(scaler.transform(rows))
    np.testing.assert_allclose(fitted.predict_proba(rows), expected, atol=1e-5)


def sets():
    X, y = load_breast_cancer(return_X_y=True)
    yield scale(X), np.where(y, "benign", "malignant")
    yield scipy.sparse.csr_array(scale(X)), y
    X, y = load_iris(return_X_y=True)
    yield scale(X), y


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("X", "y"), list(sets()))
@pytest.mark.parametrize("clients", [1, 5, "unequal"])
def test_it_finds_what_scikit_learn_finds(X, y, clients):
    """However the rows are dealt: every row counts alike."""
    N, mu = X.shape[0], 0.01
    unequal = np.minimum(np.arange(N) % 11, 3)
    estimator = FederatedLogisticRegression(
        "scaffnew", None, unequal if clients == "unequal" else clients, mu, 1e-12,
        fit_intercept=False,
    )  # fmt: skip
    fitted = estimator.fit(X, y)
    reference = LogisticRegression(C=1 / (2 * mu * N), fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), reference.predict_proba(X), atol=1e-4)
    assert fitted.coef_.shape == reference.coef_.shape
    assert fitted.n_bits_ == fitted.trace_.final("uplink_bits")[0] > 0


@pytest.mark.parametrize("clients", [1000, 0, -1, 2.5, True, "9"])
def test_numbers_of_clients_that_do_not_fit_are_refused(clients):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=r"for 569 rows; choose from 1 to 569 clients"):
        FederatedLogisticRegression(clients=clients).fit(scale(X), y)


ROWS = scale(load_breast_cancer().data), load_breast_cancer().target
CLIENTS = np.arange(len(ROWS[0])) % 8


@pytest.mark.parametrize("routed", [False, True])
def test_clients_are_those_of_a_fold(routed):
    """Every fold of a cross-validation has the model of the clients of its own rows."""
    folds = list(GroupKFold(4).split(*ROWS, CLIENTS // 2))
    with config_context(enable_metadata_routing=routed):
        chosen = clone(FAST).set_fit_request(clients=True) if routed else FAST
        given = {"cv": folds, "params": {"clients": CLIENTS}, "return_estimator": True}
        found = cross_validate(clone(chosen), *ROWS, **given)["estimator"]
        search = GridSearchCV(chosen, {"mu": [0.01]}, cv=folds).fit(*ROWS, clients=CLIENTS)
    expected = [
        clone(FAST).set_params(clients=CLIENTS[train]).fit(*(x[train] for x in ROWS))
        for train, _ in folds
    ]
    assert [one.coef_.tolist() for one in found] == [one.coef_.tolist() for one in expected]
    whole = clone(FAST).set_params(clients=CLIENTS).fit(*ROWS)
    assert search.best_estimator_.coef_.tolist() == whole.coef_.tolist()


def test_a_random_state_is_drawn_from():
    def model(state):
        chosen = FederatedLogisticRegression("locodl", "rand-k:2", tol=1e-2, random_state=state)
        return chosen.fit(*ROWS).coef_.tolist()

    assert model(np.random.RandomState(3)) == model(np.random.RandomState(3))
    state = np.random.RandomState(3)
    assert model(state) != model(state)
    assert model(None) == model(0)


@pytest.mark.parametrize(
    ("name", "value"),
    [("random_state", -1), ("random_state", 1.5), ("random_state", True), ("max_rounds", 0),
     ("max_rounds", 2.5), ("max_rounds", True)],
)  # fmt: skip
def test_other_parameters_are_refused(name, value):
    with pytest.raises(Refusal, match=f"{name} = {value}"):
        clone(FAST).set_params(**{name: value}).fit(*ROWS)
