"""Logistic regression by a federated method, as an estimator of scikit-learn."""

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from certibit.data.errors import Refusal
from certibit.data.files.own_data import own_labels, own_rows
from certibit.data.problems.selector import problem
from certibit.figures.comparison.contestants import contestants
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate

_SOLVED = 1e-30
"""An f - f* of no model that is fitted: the classes of balanced rows are solved at the start."""


class FederatedLogisticRegression(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression with a ridge, fitted by a method that communicates.

    The objective is the mean logistic loss over all rows plus mu |x|^2, where x includes the
    intercept. With mu = 1/(2 C N) it is scikit-learn's ``LogisticRegression``. With
    more than two classes the loss is multinomial.

    Parameters
    ----------
    method : str
        As in ``compare``: ``METHOD``, ``METHOD[RULE]`` or with ``+COMPRESSOR``.
    compressor : str, optional
        The compressor, if ``method`` names none.
    clients : int or array of shape (N,)
        The number of clients, over which all rows are shuffled and split; or the client of every
        row.
    mu : float
        Half the modulus of the ridge.
    tol : float
        The run ends when f - f* is at most ``tol`` times its value at the start.
    max_rounds : int
        Upper bound on communication rounds, on iterations (local steps included) and on gradients
        per client. A run that ends there gives a ``ConvergenceWarning``.
    standardise : bool
        Whether every feature is divided by its standard deviation before the fit, and centred if
        rows are dense and there is an intercept. The ridge then applies to the standardised
        features; the coefficients are those of X. Off by default, as in scikit-learn.
    fit_intercept : bool
        Whether a constant feature is added; its coefficient has the ridge too.
    random_state : int, RandomState or None
        Seed of the method and of the dealing; None is 0.

    Attributes
    ----------
    classes_ : array
        The classes.
    coef_, intercept_ : array
        The model.
    n_bits_ : float
        Bits sent per client.
    n_rounds_ : int
        Communication rounds.
    n_iter_ : int
        Iterations, local steps among them.
    trace_ : Trace
        The run.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from certibit.estimator import FederatedLogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fitted = FederatedLogisticRegression(clients=9, mu=0.01).fit(scale(X), y)
    >>> fitted.score(scale(X), y) > 0.97, fitted.n_bits_ > 0
    (True, True)
    """

    def __init__(
        self,
        method: str = "locodl",
        compressor: str | None = "natural",
        clients: Any = 2,
        mu: float = 1e-2,
        tol: float = 1e-8,
        max_rounds: int = 20_000,
        standardise: bool = False,
        fit_intercept: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.method = method
        self.compressor = compressor
        self.clients = clients
        self.mu = mu
        self.tol = tol
        self.max_rounds = max_rounds
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Say that rows may be sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, clients: Any = None) -> Self:
        """Fit the model; the clients' rows are their own.

        ``clients``, (N,), has the client of every row in the place of that of the constructor: in
        cross-validation by ``params={"clients": ...}``, or routed by ``set_fit_request``.
        """
        given, seed = X, self._seed()
        whole = isinstance(self.max_rounds, int | np.integer) and self.max_rounds >= 1
        if not whole or isinstance(self.max_rounds, bool):
            raise Refusal(f"max_rounds = {self.max_rounds!r}; give a whole number of at least 1")
        if type(y) is not np.ndarray and getattr(y, "ndim", 1) == 1 and hasattr(y, "__len__"):
            own_labels(y, "targets y", len(y))  # types and masks, which arrays of sklearn lose
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        own_rows(given)
        own_labels(y, "targets y", X.shape[0])
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("the targets are of one class, and logistic regression takes two")
        several = len(self.classes_) > 2
        rows, mean, scale = self._scaled(X)
        solved = problem(
            self._with_constant(rows),
            np.asarray(y),
            clients=self._dealt(X.shape[0], seed) if clients is None else clients,
            loss="multinomial" if several else "logistic",
            mu=self.mu,
        )
        (chosen,) = contestants(solved, [(self.method, self.compressor)])
        gap = max(self.tol * float(solved.gap(solved.x_0)[0]), _SOLVED)
        trace = simulate(
            chosen.experiment,
            seeds=[seed],
            budget=Budget(
                gap=gap,
                rounds=self.max_rounds,
                iterations=self.max_rounds,
                gradients=self.max_rounds,
            ),
            keep_model=True,
        )
        models: Any = trace.x
        x = models[0, :, 0].reshape(-1, len(self.classes_) if several else 1).T
        self.trace_ = trace
        self.coef_ = x[:, : X.shape[1]] / scale
        constant = x[:, X.shape[1]] if self.fit_intercept else np.zeros(len(x))
        self.intercept_ = constant - self.coef_ @ mean
        self.n_bits_ = float(self.trace_.final("uplink_bits")[0])
        self.n_rounds_ = int(self.trace_.final("rounds")[0])
        self.n_iter_ = int(self.trace_.final("iteration")[0])
        if trace.ending != ("gap",):
            warnings.warn(
                f"the run was ended by its {trace.ending[0]} at f - f* ="
                f" {trace.final('gap')[0]:.2g}, before tol; scale the features or give"
                " standardise=True, or a larger max_rounds",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the predictions, (N,) for two classes and else (N, classes)."""
        check_is_fitted(self)
        given = X
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        own_rows(given)
        scores: NDArray[np.float64] = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class, (N, classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of every row, (N,)."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        classes: NDArray[Any] = self.classes_[best]
        return classes

    def _seed(self) -> int:
        """Return the seed of a fit."""
        state = self.random_state
        if state is None:
            return 0
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31 - 1))
        if isinstance(state, bool) or not isinstance(state, int | np.integer) or state < 0:
            raise Refusal(
                f"random_state = {state!r} is no seed; give a whole number of at least 0, a "
                "RandomState or None"
            )
        return int(state)

    def _dealt(self, N: int, seed: int) -> Any:
        """Return the client of every row."""
        if not np.isscalar(self.clients):
            return self.clients
        n = self.clients
        if not isinstance(n, int | np.integer) or isinstance(n, bool) or not 1 <= n <= N:
            raise Refusal(f"clients = {n!r} for {N} rows; choose from 1 to {N} clients")
        return np.random.default_rng(seed).permutation(N) % n

    def _scaled(self, X: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
        """Return the rows that are fitted, (X - mean) / scale, with mean and scale, (d,)."""
        mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
        if not self.standardise:
            return X, mean, scale
        centred = self.fit_intercept and not scipy.sparse.issparse(X)
        scaler = StandardScaler(with_mean=centred)
        return scaler.fit_transform(X), scaler.mean_ if centred else mean, scaler.scale_

    def _with_constant(self, X: Any) -> Any:
        if not self.fit_intercept:
            return X
        constant = np.ones((X.shape[0], 1))
        stack: Any = scipy.sparse.hstack if scipy.sparse.issparse(X) else np.hstack
        return stack([X, constant])
