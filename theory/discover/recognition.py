"""Recognition of known methods: two methods are the same if their models have the same moments.

The first and second moments of the model along a run on a random quadratic are invariant under
linear changes of the coordinates of the state and do not depend on unused parts of the state.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import cast

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from certibit.solvers.method import Method
from certibit.solvers.methods.dasha import DASHA
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.ef21p_diana import EF21PDIANA
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.scaffnew import Scaffnew
from certibit.theory.discover.screen import Screen

KNOWN: tuple[type[Method], ...] = (GD, DIANA, EF21, DASHA, Scaffnew, EF21PDIANA)
"""The methods of the package that are sentences of the grammar."""

ITERATIONS, POINTS, CLIENTS = 8, 3, 3
"""Iterations of a run, number of random quadratics, and number of clients."""

SAME = 1e-8
"""Relative difference of moments that counts as rounding."""


def moments(method: Method, points: int = POINTS) -> NDArray[np.float64] | None:
    """Return the moments of the model along runs on random rational quadratics.

    None if the method has no fixed point. L is 1, so that step sizes are those of a candidate;
    compressors have relative errors of 1/2.
    """
    rng = np.random.default_rng(0)
    kinds = method.needs.compressor, method.needs.downlink
    found = []
    for point in range(points):
        numbers = [Fraction(int(a), 16) for a in rng.integers(1, 17, 2 * CLIENTS + 1)]
        curvatures = [float(a) for a in numbers[:CLIENTS]]
        screen = Screen.of([curvatures], (kinds[0], 0.5), (kinds[1], 0.5))
        number = point if "contractive" in kinds else 0  # cases where nothing is drawn come first
        with np.errstate(all="ignore"):
            run = screen.case(number).run(method, float(numbers[-1]), ITERATIONS)
        if run is None:
            return None
        found.append(run)
    return np.concatenate(found)


def recognised(method: Method, known: Sequence[type[Method]] = KNOWN) -> Method | None:
    """Return the known method that equals a method, with its constants; None if there is none.

    The equality is tested at random points, not proved.
    """
    aim = moments(method)
    for kind in known if aim is not None else ():
        if (kind.needs.compressor, kind.needs.downlink) == (
            method.needs.compressor,
            method.needs.downlink,
        ):
            found = fitted(kind, method)
            if found is not None:
                return found
    return None


def fitted(kind: type[Method], method: Method) -> Method | None:
    """Return the constants with which a class moves as a method does, if there are any."""
    aim, make = moments(method), cast(Callable[..., Method], kind)
    if aim is None or not np.isfinite(aim).all():
        return None
    goal = aim
    given = {field.name: getattr(method, field.name) for field in fields(method)}
    start = np.log([given.get(field.name, 0.5) for field in fields(kind)])
    most = [0.0 if field.name == "p" else 3.0 for field in fields(kind)]  # a probability

    def made(x: NDArray[np.float64]) -> Method:
        return make(*np.exp(np.clip(x, -20.0, most)).tolist())

    def residual(x: NDArray[np.float64]) -> NDArray[np.float64]:
        run = moments(made(x))
        return np.ones_like(goal) if run is None else (run - goal) / np.max(np.abs(goal))

    solved = scipy.optimize.least_squares(residual, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    if np.max(np.abs(solved.fun)) > SAME:
        return None
    return made(solved.x)


def moves_alike(one: Method, other: Method) -> bool:
    """Say whether the models of two methods move alike, at the random points."""
    a, b = moments(one), moments(other)
    if a is None or b is None:
        return False
    return bool(np.max(np.abs(a - b)) <= SAME * np.max(np.abs(a)))
