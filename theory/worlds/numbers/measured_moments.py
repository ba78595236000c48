"""The map of second moments of one step, computed from runs on numbers and not from symbols.

The unchanged method is run on quadratics of one dimension, from all unit deviations from the
solution and with an error of length 1 in each message. These runs and the variances of the errors
determine the linear map of the expected products of two deviations.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.method import Method
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.linear_maps import (
    Matrix,
    natural_sizes,
    unit_deviations,
)
from certibit.theory.worlds.numbers.worst_states import (
    MOST_OUTCOMES,
    ErrorLaw,
    UnitErrorChannel,
    size_of,
)
from certibit.theory.worlds.outcomes import outcomes
from certibit.theory.worlds.ranks import null_space

MOST_UNITS = 120
"""Up to so many numbers of a state; the cost grows with the third power."""


def measured_moments(
    method: Method,
    L: float,
    curvatures: Sequence[float],
    ridge: float,
    laws: Sequence[ErrorLaw],
    down: ErrorLaw,
) -> Matrix:
    """Return the map of the second moments of a state on quadratics of one dimension.

    Its spectral radius is the factor per iteration in the long run. Clients with the same curvature
    and law are exchangeable, and so are their moments.

    Parameters
    ----------
    L : float
        Of the functions that the method is made for: the unit of gradients.
    curvatures : (n,)
        Of the f_i.
    ridge : float
        The curvature of g, where there is one.
    laws, down : ErrorLaw
        How the compressors of the clients and of the server err.

    Raises
    ------
    Refusal
        If there are too many clients or outcomes.

    Examples
    --------
    >>> from certibit import GD
    >>> exact = ErrorLaw(share=1.0, ratio=0.0)
    >>> moments = measured_moments(GD(gamma=0.1), 3.0, [1.0, 3.0], 0.0, [exact, exact], exact)
    >>> abs(moments.item() - (1 - 0.1 * 2) ** 2) < 1e-12
    True
    """
    n = len(curvatures)
    if n > MOST_UNITS:
        raise Refusal(f"{n} clients are too many; take fewer")
    matrices = (np.array(curvatures) + ridge)[:, None, None]
    view: Any = replace(Quadratic.from_arrays(matrices, np.zeros((n, 1))), ridge_g=ridge)
    star = fixed_point(method, view)
    size = size_of(star)
    if size > MOST_UNITS:
        raise Refusal(f"a state of {size} numbers is too large; take fewer clients")
    units = unit_deviations(star)
    sizes = natural_sizes(method, n, L, star)
    kinds = list(zip(curvatures, laws, strict=True))
    forms = _symmetric_forms(star, [kinds.index(one) for one in kinds])
    kept = [x.reshape(-1, size) * sizes for x in invariants(method, units, view)]
    violated = [np.concatenate([k @ form for k in kept]).ravel() for form in forms] if kept else []
    allowed = null_space(np.array(violated).T) if kept else np.eye(len(forms))

    def channel(script: Sequence[int]) -> UnitErrorChannel:
        return UnitErrorChannel(laws, down, 1, size, script)

    def run(world: UnitErrorChannel, errors: int) -> Matrix:
        runs = size + 1 + errors
        batch = each(lambda x, at: np.concat([x, *[at] * (1 + errors)], axis=2), units, star)
        after = theorem_step(method, batch, Oracle(view, np.arange(runs), Ledger(runs)), world)
        rows = _flat(after, runs)
        return np.asarray((rows - rows[:, size : size + 1]) / sizes[:, None])

    def moments(world: UnitErrorChannel) -> Matrix:
        dry = channel(world.script)
        run(dry, 0)
        if np.prod([float(number) for number in dry.options]) > MOST_OUTCOMES:
            raise Refusal(f"{n} clients have too many cohorts, masks or coins; take fewer")
        moved = run(world, len(dry.variances))
        step, errors = moved[:, :size] * sizes, moved[:, size + 1 :]
        variances = np.array(world.variances).reshape(-1, size, size) * np.outer(sizes, sizes)
        columns = []
        for form in forms:
            added = np.tensordot(variances, form, axes=2)
            after = step @ form @ step.T + (errors * added) @ errors.T
            columns.append([np.sum(after * other) for other in forms])
        return np.array(columns).T

    mean: Any = sum(probability * one for probability, one in outcomes(moments, channel))
    return np.asarray(allowed.T @ mean @ allowed)


def _symmetric_forms(star: Any, kinds: Sequence[int]) -> list[Matrix]:
    """Return an orthonormal basis of the products of a state's numbers that clients share.

    Those of one kind are exchangeable: what products of two fields are is the same for each of
    them, and for any two of them.
    """
    labels: list[tuple[int, int, int]] = []
    for number, field in enumerate(fields(star)):
        x = getattr(star, field.name)
        if x.dtype == bool:
            continue
        own = 1 < len(kinds) == x.shape[0]
        labels += [(number, kinds[i], i) if own else (number, -1, -1) for i in range(x.shape[0])]
    found: dict[Any, Matrix] = {}
    for i, (a, kind, client) in enumerate(labels):
        for j, (b, other, at) in enumerate(labels):
            pair = sorted([(a, kind), (b, other)])
            key = (*pair, client == at if client >= 0 <= at else None)
            found.setdefault(key, np.zeros((len(labels),) * 2))[i, j] = 1.0
    return [form / np.linalg.norm(form) for form in found.values()]


def _flat(s: Any, runs: int) -> Matrix:
    """Return the numbers of a state, one column per run."""
    arrays = (getattr(s, field.name) for field in fields(s))
    wide = (np.broadcast_to(x, (*x.shape[:2], runs)) for x in arrays if x.dtype != bool)
    return np.concatenate([x.reshape(-1, runs) for x in wide])
