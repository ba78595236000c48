"""When two trajectories, two states or two traces are the same."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from certibit.solvers.libraries import host
from certibit.solvers.runs.trace import COLUMNS, Column
from certibit.solvers.simulation.ledger import Ledger


def assert_same_points(found: Any, expected: Any) -> None:
    """Assert that two lists of arrays are equal to 1e-12 of the largest entry, and not constant."""
    found, expected = np.asarray(found), np.asarray(expected)
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected + 0 * found, rtol=0, atol=1e-12 * size)
    assert np.abs(expected[-1] - expected[0]).max() > 1e-3 * size


def assert_same_state(found: Any, expected: Any, rtol: float = 1e-9, atol: float = 1e-11) -> None:
    for field in fields(expected):
        np.testing.assert_allclose(
            getattr(found, field.name), getattr(expected, field.name), rtol=rtol, atol=atol
        )


def assert_same_spending(found: Ledger, expected: Ledger) -> None:
    for name, spent in vars(expected).items():
        np.testing.assert_array_equal(host(getattr(found, name)), spent, err_msg=name)


def assert_same_columns(
    found: dict[str, Column],
    expected: dict[str, Column],
    rtol: float,
    atol: float = 0.0,
    names: Iterable[str] = tuple(name for name in COLUMNS if name != "run"),
) -> None:
    """Assert that the columns of two traces agree, by default all but the number of the run."""
    for name in names:
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=atol, err_msg=name)
