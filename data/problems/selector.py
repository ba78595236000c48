"""Problems by one string, such as ``a5a@87``, or from rows and targets of your own."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.files.libsvm import load, load_numbers
from certibit.data.files.own_data import Dataset, own_data
from certibit.data.files.splits import Shares, by_client, divide
from certibit.data.losses.base import Loss
from certibit.data.losses.losses import Logistic, Multinomial, loss_named
from certibit.data.mini_batch import MiniBatch
from certibit.data.noise import Uniform
from certibit.data.numbers import whole
from certibit.data.own.own_file import file_and_name, is_own, load_file
from certibit.data.problems.linear_model import LinearModel, MultinomialRegression, Weighting
from certibit.data.problems.logistic import LogisticRegression
from certibit.data.problems.nonconvex_model import LAM, NonconvexModel
from certibit.data.problems.nonconvex_problem import NonconvexProblem
from certibit.data.problems.nonconvex_quadratic import SPREAD, NonconvexQuadratic
from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.ridge_problem import RidgeProblem

KAPPA = 1e4
"""The default condition number, that of the LoCoDL paper."""
_MULTINOMIAL = "multinomial"
_NONCONVEX = "nonconvex"
_NOISE = "noise"
_BATCH = "batch"
_REPLACEMENT = ":replacement"
_RELAXED = "certibit.data.relaxed"
"""An extension."""


def problem(
    data: Any,
    y: Any = None,
    *,
    clients: Any = None,
    loss: str | Loss = "logistic",
    kappa: float | None = None,
    mu: float | None = None,
    nonconvex: float | None = None,
    noise: float | None = None,
    batch: int | MiniBatch | None = None,
    seed: int = 0,
    split: str = "shuffled",
    weighting: Weighting = "rows",
    name: str = "own data",
    storage: str | None = None,
    download: bool = True,
) -> RidgeProblem | NonconvexProblem:
    """Make the problem that a selector names, or the problem of rows and targets of your own.

    Parameters
    ----------
    data : str, Path, array, sparse matrix or data frame
        ``<data>@<n>`` is logistic regression in the composite view, with data by a name of the
        catalogue or by a path: ``a5a@87``, ``breast-cancer@9``, ``/path/file@20``.
        ``quadratic:d=<d>@<n>`` is a random quadratic in the plain view.
        ``quartics:H=<H>@2``, ``exponentials:X=<X>@<n>`` and others that ``certibit list`` names are
        (L0, L1)-smooth, perhaps with ``:noise=<number>`` at the end.
        The first two end with ``:nonconvex`` or ``:nonconvex=<number>`` for a problem that is not
        convex; see ``nonconvex``. Then ``:noise=<number>`` may follow, and after data
        ``:batch=<b>`` or ``:batch=<b>:replacement``.
        ``path/to/file.py:NAME`` is a problem that a file of your own makes, or its function that
        returns one.
        Anything else are your own rows X, (N, d), with the targets y.
    y : array of shape (N,)
        The targets of your own rows: classes of any kind, or numbers.
    clients : int, str or array of shape (N,)
        For data without ``@<n>``: the number of clients; or a rule with it, such as
        ``dirichlet:0.3@9``; or the client of every row.
    loss : str or Loss
        ``logistic``, ``least-squares``, ``smoothed-hinge:<gamma>``, ``huber:<delta>``,
        ``poisson:<bound>``, ``multinomial``, or one of your own. ``welsch:<c>`` and ``tukey:<c>``
        are not convex, and the problem is a nonconvex one.
    kappa, mu : float
        At most one of the two; without either, kappa is 1e4. For data they are those of formula
        (11) of LoCoDL. A quadratic has mu = 1 and L_i = kappa, or the mu given and L_i = 1.
    nonconvex : float, optional
        For a nonconvex problem, which has neither kappa nor mu: of data, the weight lam of the
        regulariser lam sum_j x_j^2/(1 + x_j^2), 0.1 if the selector ends with ``:nonconvex``, and
        0 by default if the loss is not convex; of a quadratic, the largest distance of the f_i's
        matrices to their average, 1 if the selector names none.
    noise : float, optional
        For a nonconvex problem with stochastic gradients: their noise has independent entries that
        are uniform on [-noise, noise]/sqrt(d), so that its length is at most this number.
    batch : int or MiniBatch, optional
        For a problem of rows with stochastic gradients: those of so many rows of every client,
        drawn uniformly, without replacement if a number is given.
    seed : int
        Seed of the split, or of the random quadratic.
    split : str
        ``shuffled``, ``in-order`` (consecutive rows) and ``similarity:<percent>`` give every client
        the same number of rows and discard the remainder; ``dirichlet:<concentration>`` gives
        different numbers.
    weighting : {"rows", "clients"}
        Whether all rows or all clients have equal weights in f, if clients have different numbers
        of rows.
    name : str
        The name of the problem of your own rows.
    storage : {"dense", "sparse"}, optional
        How the rows are stored; by default dense from 15 % of entries on.
    download : bool
        Whether a file that is not here may be downloaded.

    Raises
    ------
    Refusal
        If the selector cannot be read, or data, clients and loss do not fit each other.

    Examples
    --------
    >>> from certibit import problem
    >>> problem("breast-cancer@9", kappa=1e3)
    LogisticRegression('breast-cancer@9', n=9, d=30, kappa=1000, storage='dense')
    >>> problem("quadratic:d=5@3", kappa=100)
    Quadratic('quadratic:d=5@3', n=3, d=5, kappa=100)
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> problem(X, y, clients=5, split="similarity:20", loss="huber:50", kappa=1e3)
    LinearModel('own data@5', n=5, d=10, kappa=1000, loss='huber')
    >>> problem(X, y, clients=5, loss="welsch:100")
    NonconvexModel('own data@5', n=5, d=10, lam=0, loss='welsch')
    """
    data = str(data) if isinstance(data, Path) else data
    if isinstance(data, str) and is_own(data):
        _require_alone(data, loss, split, y, clients, mu, kappa, nonconvex, noise, batch)
        return _from_file(data)
    _require_number("mu", mu, 0.001)
    _require_number("kappa", kappa, 1000)
    _require_number("nonconvex", nonconvex, 0.1)
    _require_number("noise", noise, 0.1)
    phi = _loss(loss)
    if isinstance(data, str):
        data, batch = _batched(data, batch)
        data, noise = _worded(data, _NOISE, noise, None)
        data, nonconvex = _worded(data, _NONCONVEX, nonconvex, LAM)
        data, clients = _selected(data, y, clients)
    else:
        _require_complete(y, clients)
    if isinstance(data, str) and (make := _relaxed(data)):
        _require_alone(data, loss, split, mu, kappa, nonconvex)
        return _sampled(make(data, _count(clients), seed), noise, batch)
    if nonconvex is None and isinstance(phi, Loss) and phi.weak_convexity:
        nonconvex = 0.0
    convexity = _convexity(mu, kappa, nonconvex)
    if isinstance(data, str) and data.partition(":")[0] == "quadratic":
        if (loss, split) != ("logistic", "shuffled"):
            raise Refusal("a quadratic has no rows, so no loss and no split; leave them out")
        made = _quadratic(data, _count(clients), seed, nonconvex, **convexity)
        return _sampled(made, noise, batch)
    if isinstance(clients, str):
        split, clients = _rule_and_count(clients)
    elif np.isscalar(clients):
        clients = _count(clients)
    dataset = _dataset(data, y, name, phi, download)
    choice: dict[str, Any] = {**convexity} if nonconvex is None else {"lam": nonconvex}
    choice |= {"seed": seed, "storage": storage}
    counted = isinstance(clients, int | np.integer)
    equal = counted and split.partition(":")[0] != "dirichlet"
    if type(phi) is Logistic and equal and nonconvex is None:
        plain = LogisticRegression.from_data(dataset, int(clients), split=split, **choice)
        return _sampled(plain, noise, batch)
    if counted:
        shares = divide(dataset, int(clients), split, seed)
    else:
        shares, split = by_client(clients, len(dataset.b)), "given"
    choice |= {"weighting": weighting, "split": split}
    return _sampled(_of_shares(dataset, shares, phi, choice), noise, batch)


def _require_alone(data: str, loss: str | Loss, split: str, *others: Any) -> None:
    if any(x is not None for x in others) or (loss, split) != ("logistic", "shuffled"):
        raise Refusal(f"{data} is complete; leave out clients, kappa, mu, loss and split")


def _require_complete(y: Any, clients: Any) -> None:
    if y is None:
        raise Refusal("rows of your own come without targets; give y, one a row")
    if clients is None:
        raise Refusal(
            "rows of your own come without clients; give clients=9, or the client of every row"
        )


def strongly_convex_problem(data: Any, **options: Any) -> RidgeProblem:
    """Return a problem as :func:`problem` does; a nonconvex one is refused.

    Raises
    ------
    Refusal
        Also if the problem is not strongly convex.
    """
    made = problem(data, **options)
    if isinstance(made, RidgeProblem):
        return made
    raise Refusal(f"{made.name} is not strongly convex, as is needed here; give another problem")


def _of_shares(
    dataset: Dataset, shares: Shares, phi: Loss | None, choice: dict[str, Any]
) -> RidgeProblem | NonconvexProblem:
    """Return the problem of rows that are dealt; with a lam among the choices, a nonconvex one."""
    if "lam" not in choice and phi is not None:
        return LinearModel.from_shares(dataset, shares, phi, **choice)
    if phi is not None:
        return NonconvexModel.from_shares(dataset, shares, phi, **choice)
    if "lam" in choice:
        raise Refusal(
            "the multinomial loss has no nonconvex problem; choose a loss of one prediction a row, "
            "such as logistic"
        )
    several = Multinomial(len(dataset.labels))
    return MultinomialRegression.from_shares(dataset, shares, several, **choice)


def _from_file(selector: str) -> RidgeProblem | NonconvexProblem:
    """Return the problem that a file of the user's defines, or that a function of it returns."""
    path, name, _ = file_and_name(selector)
    module = load_file(path, "a problem")
    if not hasattr(module, name):
        raise Refusal(f"{path} defines no problem {name!r}; name one as {path}:NAME")
    made = getattr(module, name)
    made = made() if callable(made) else made
    if not isinstance(made, RidgeProblem | NonconvexProblem):
        raise Refusal(
            f"{name} of {path} is no problem; name a problem, or a function that returns one"
        )
    return made


def _convexity(
    mu: float | None, kappa: float | None, nonconvex: float | None
) -> dict[str, float | None]:
    """Return mu and kappa, with the default; a nonconvex problem has neither."""
    if nonconvex is not None and (mu, kappa) != (None, None):
        given = f"kappa = {kappa:g}" if mu is None else f"mu = {mu:g}"
        raise Refusal(f"{given} of a nonconvex problem, whose mu is negative; leave it out")
    return {"mu": mu, "kappa": KAPPA if mu is None and kappa is None else kappa}


def _worded(
    selector: str, word: str, said: float | None, default: float | None
) -> tuple[str, float | None]:
    """Return a selector without its last word ``:word`` or ``:word=<number>``, and the number."""
    rest, colon, words = selector.rpartition(":")
    found, equals, number = words.partition("=")
    if not colon or "@" not in rest or found != word:
        return selector, said
    if said is not None:
        raise Refusal(f"the problem {selector!r} and {word} = {said:g}; give one of the two")
    if not equals and default is not None:
        return rest, SPREAD if rest.partition(":")[0] == "quadratic" else default
    try:
        return rest, float(number)
    except ValueError:
        plain = f"{rest}:{word}, or " if default is not None else ""
        raise Refusal(
            f"the problem {selector!r} cannot be read; expected {plain}{rest}:{word}={LAM:g} with "
            "a number"
        ) from None


def _batched(selector: str, said: int | MiniBatch | None) -> tuple[str, int | MiniBatch | None]:
    """Return a selector without its last words ``:batch=<b>`` and ``:replacement``, and the b."""
    again = selector.endswith(_REPLACEMENT)
    rest, colon, words = selector.removesuffix(_REPLACEMENT).rpartition(":")
    found, equals, number = words.partition("=")
    if not colon or "@" not in rest or found != _BATCH:
        return selector, said
    b = whole(number) if equals else None
    if b is None or said is not None:
        raise Refusal(
            f"the problem {selector!r} cannot be read; expected {rest}:{_BATCH}=8 with a whole "
            "number, and no batch beside it"
        )
    return rest, MiniBatch(b, replacement=again)


def _sampled(
    made: RidgeProblem | NonconvexProblem, sigma: float | None, batch: int | MiniBatch | None
) -> RidgeProblem | NonconvexProblem:
    """Return a problem with stochastic gradients, where they are asked for."""
    if batch is None:
        return _noisy(made, sigma)
    if sigma is not None:
        raise Refusal(f"noise = {sigma:g} and mini-batches of one problem; give one of the two")
    if isinstance(batch, int) and not isinstance(batch, bool):
        batch = MiniBatch(batch)
    if not isinstance(batch, MiniBatch):
        raise Refusal(f"batch = {batch!r} is no number of rows; give such as batch=8")
    given: Any = made
    batch.require_possible(given)
    again = _REPLACEMENT if batch.replacement else ""
    return replace(given, noise=batch, name=f"{made.name}:{_BATCH}={batch.b}{again}")


def _noisy(
    made: RidgeProblem | NonconvexProblem, sigma: float | None
) -> RidgeProblem | NonconvexProblem:
    """Return a problem with stochastic gradients, where they are asked for."""
    if sigma is None:
        return made
    if isinstance(made, RidgeProblem):
        raise Refusal(
            f"noise = {sigma:g} is of problems that need not be convex; end the selector with "
            f":nonconvex:noise={sigma:g}, or leave noise out"
        )
    changes: Any = {"noise": Uniform(sigma), "name": f"{made.name}:noise={sigma:g}"}
    if isinstance(made, NonconvexModel):
        changes["fingerprint"] = f"{made.fingerprint}, noise {sigma!r}"
    return replace(made, **changes)


def _selected(selector: str, y: Any, clients: Any) -> tuple[str, Any]:
    """Return what a selector names, and its clients, which stand in it or beside it."""
    if y is not None:
        raise Refusal(f"the problem {selector!r} comes with its targets; leave y out")
    if clients is not None:
        return selector, clients
    what, at, number = selector.rpartition("@")
    n = whole(number)
    if not (what and at) or n is None:
        raise Refusal(
            f"the problem {selector!r} cannot be read; expected <data>@<clients>, such as a5a@87"
        )
    return what, n


def _rule_and_count(clients: str) -> tuple[str, int]:
    """Return the rule and the number of clients of words such as ``dirichlet:0.3@9``."""
    rule, at, number = clients.partition("@")
    if not at:
        raise Refusal(
            f"clients = {clients!r} does not say how many; give such as clients='{clients}@10', "
            f"or clients=10 and split={clients!r}"
        )
    return rule, _count(number)


def _count(clients: Any) -> int:
    """Return a number of clients."""
    number = whole(clients) if isinstance(clients, str) else clients
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise Refusal(f"clients = {clients!r}; expected a whole number here")
    return int(number)


def _loss(loss: str | Loss) -> Loss | None:
    """Return a loss, or None for the multinomial one, which depends on the classes."""
    if isinstance(loss, Loss):
        return loss
    return None if loss == _MULTINOMIAL else loss_named(loss)


def _relaxed(what: str) -> Callable[..., NonconvexProblem] | None:
    """Return what makes (L0, L1)-smooth problems by name, if this is such a name."""
    if "=" not in what or find_spec(_RELAXED) is None:
        return None
    named = import_module(f"{_RELAXED}.named")
    return named.relaxed_problem if what.partition(":")[0] in named.EXAMPLES else None


def _dataset(data: Any, y: Any, name: str, loss: Loss | None, download: bool) -> Dataset:
    """Return rows and targets as a loss takes them: numbers, positions, or -1 and +1."""
    classes = loss is None or loss.targets == "two classes"
    if isinstance(data, str):
        if loss is not None and classes:
            return load(data, download=download)
        given = load_numbers(data, download)
        return own_data(given.A, given.b, name=given.name, classes=True) if classes else given
    given = own_data(data, y, name=name, classes=classes)
    if loss is None or not classes:
        return given
    if len(given.labels) == 1:
        raise Refusal(f"the targets y are all of one class and {loss.name} takes two; give both")
    if len(given.labels) != 2:
        raise Refusal(
            f"the targets y are of {len(given.labels)} classes and {loss.name} takes two; "
            "merge classes, or choose loss='multinomial'"
        )
    return replace(given, b=2.0 * given.b - 1.0)


def _require_number(name: str, number: object, example: float) -> None:
    if isinstance(number, bool) or not isinstance(number, Real | None):
        raise Refusal(f"{name} = {number!r} is no number; give such as {name}={example}")


def _quadratic(
    what: str, n: int, seed: int, spread: float | None, *, kappa: float | None, mu: float | None
) -> Quadratic | NonconvexQuadratic:
    """Return the quadratic of a selector; with a spread, a nonconvex one."""
    prefix, equals, features = what.partition("=")
    d = whole(features)
    if prefix != "quadratic:d" or not equals or d is None:
        raise Refusal(f"the quadratic {what!r} cannot be read; expected quadratic:d=<features>")
    if spread is not None:
        return NonconvexQuadratic.random(n, d, spread=spread, seed=seed)
    if mu is not None and kappa is not None:
        raise Refusal(f"mu = {mu} and kappa = {kappa}; give at most one of the two")
    smallest, largest = (1.0, kappa) if kappa is not None else (mu or 0.0, 1.0)
    return Quadratic.random(n, d, smallest, largest, seed=seed, name=f"{what}@{n}")
