"""Problems by one string, such as ``a5a@87``: what, at how many clients."""

from bitbound.data.errors import Refusal
from bitbound.data.files.libsvm import load
from bitbound.data.numbers import whole
from bitbound.data.problems.logistic import LogisticRegression
from bitbound.data.problems.quadratic import Quadratic
from bitbound.data.problems.ridge_problem import RidgeProblem

KAPPA = 1e4
"""The condition number where neither mu nor kappa is given, that of the LoCoDL paper."""


def problem(
    selector: str,
    *,
    kappa: float | None = None,
    mu: float | None = None,
    seed: int = 0,
    split: str = "shuffled",
    storage: str | None = None,
    download: bool = True,
) -> RidgeProblem:
    """Make the problem that a selector names.

    Parameters
    ----------
    selector : str
        ``<data>@<n>`` is logistic regression in the composite view, with data by a name of the
        catalogue or by a path: ``a5a@87``, ``breast-cancer@9``, ``/path/file@20``.
        ``quadratic:d=<d>@<n>`` is a random quadratic in the plain view.
    kappa, mu : float
        At most one of the two; without either, kappa is 1e4. For logistic regression they are
        those of formula (11) of LoCoDL. A quadratic has mu = 1 and L_i = kappa, or the mu given
        and L_i = 1.
    seed : int
        Seed of the split, or of the random quadratic.
    split : str
        ``shuffled`` or ``similarity:<percent>``.
    storage : {"dense", "sparse"}, optional
        How the rows are stored; by default, whichever is faster here.
    download : bool
        Whether a file that is not here may be downloaded.

    Raises
    ------
    Refusal
        If the selector cannot be read or does not fit the data.

    Examples
    --------
    >>> from bitbound import problem
    >>> problem("breast-cancer@9", kappa=1e3)
    LogisticRegression('breast-cancer@9', n=9, d=30, kappa=1000, view='composite', storage='dense')
    >>> problem("quadratic:d=5@3", kappa=100)
    Quadratic('quadratic:d=5@3', n=3, d=5, kappa=100, view='plain')
    """
    what, at, clients = selector.rpartition("@")
    n = whole(clients)
    if not (what and at) or n is None:
        raise Refusal(
            f"the problem {selector!r} cannot be read; expected <data>@<clients>, such as a5a@87"
        )
    if mu is None and kappa is None:
        kappa = KAPPA
    if what.partition(":")[0] == "quadratic":
        return _quadratic(what, n, kappa, mu, seed)
    dataset = load(what, download=download)
    return LogisticRegression.from_data(
        dataset, n, mu=mu, kappa=kappa, split=split, seed=seed, storage=storage
    )


def _quadratic(what: str, n: int, kappa: float | None, mu: float | None, seed: int) -> Quadratic:
    prefix, equals, features = what.partition("=")
    d = whole(features)
    if prefix != "quadratic:d" or not equals or d is None:
        raise Refusal(f"the quadratic {what!r} cannot be read; expected quadratic:d=<features>")
    if mu is not None and kappa is not None:
        raise Refusal(f"mu = {mu} and kappa = {kappa}; give at most one of the two")
    smallest, largest = (1.0, kappa) if kappa is not None else (mu or 0.0, 1.0)
    return Quadratic.random(n, d, smallest, largest, seed=seed, name=f"{what}@{n}")
