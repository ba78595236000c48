"""The estimator keeps the contract of scikit-learn, and finds what scikit-learn finds."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from bitbound.estimator import FederatedLogisticRegression

FAST = FederatedLogisticRegression(method="agd", compressor=None, tol=1e-4)


@parametrize_with_checks([FAST])
def test_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def sets():
    X, y = load_breast_cancer(return_X_y=True)
    yield scale(X), np.where(y, "benign", "malignant")
    yield scipy.sparse.csr_array(scale(X)), y
    X, y = load_iris(return_X_y=True)
    yield scale(X), y


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
