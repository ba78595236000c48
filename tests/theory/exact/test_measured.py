"""The long run by numbers: second moments of the method's own step, and those of symbols."""

import ast
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from enumerated import enumerated_moments

from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import class_setting
from certibit.theory.exact.long_run import (
    limit_of_potentials,
    long_runs,
    measured_factor,
    require_measured,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.verdict import ContradictionError
from certibit.theory.worlds.symbolic import kernels


def by_rule(name, n=3, kappa=100.0, **changes):
    card = METHODS[name]
    omega = 4.0 if card.method.needs.compressor else None
    where = class_setting(card.method, n, kappa, omega, None, 1)
    return card.at(where), replace(FunctionClass.of(where), **changes)


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("kappa", [10.0, 1e4])
@pytest.mark.parametrize(
    "name", [name for name, card in METHODS.items() if card.about("potential")]
)
def test_numbers_and_symbols_agree(name, kappa):
    changes = {"omega_down": 2.0} if METHODS[name].method.needs.downlink == "unbiased" else {}
    method, functions = by_rule(name, kappa=kappa, **changes)
    compared = 0
    for moments in long_runs(method, functions):
        measured = measured_factor(method, moments.extreme)
        if measured is not None and not moments.solved:
            compared += 1
            assert abs(measured - moments.factor) <= 1e-4 * abs(1 - moments.factor) + 1e-9
            require_measured(method, moments)
    assert compared


@pytest.mark.parametrize("name", ["diana", "ef21", "locodl", "marina", "scaffnew"])
def test_unit_errors_are_worth_all_outcomes(name):
    """The same spectral radius by enumerating messages that are off by either sign."""
    method, functions = by_rule(name, n=2, kappa=10.0)
    for moments in long_runs(method, functions):
        listed = np.abs(np.linalg.eigvals(enumerated_moments(method, moments.extreme))).max()
        measured = measured_factor(method, moments.extreme)
        assert abs(measured - listed) <= 1e-5 * abs(1 - listed) + 1e-9


def test_randomness_that_is_shared_and_many_clients_are_not_measured():
    method, functions = by_rule("diana", omega_joint=4.0)
    assert all(measured_factor(method, one.extreme) is None for one in long_runs(method, functions))
    method, functions = by_rule("diana", n=1000)
    assert all(measured_factor(method, one.extreme) is None for one in long_runs(method, functions))


HALVED = [("locodl", 3), ("locodl", 1), ("fedcomgate", 3), ("adiana", 3), ("marina", 3)]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("name", "n"), HALVED)
def test_half_the_variance_in_symbols_is_a_contradiction(name, n, monkeypatch):
    """On the slowest quadratics ADIANA and MARINA are as slow without noise; on others not."""
    method, functions = by_rule(name, n=n)
    proved = certify(method, functions)
    right, _ = limit_of_potentials(proved)
    assert right is not None
    assert right >= proved.decrease * (1 - 1e-9)
    half = kernels._variance
    monkeypatch.setattr(kernels, "_variance", lambda *about: half(*about) / 2)
    with pytest.raises(ContradictionError, match="in symbols"):
        limit_of_potentials(proved)


def test_nothing_of_what_is_measured_is_symbolic():
    met, left = set(), ["certibit.theory.worlds.worst_states"]
    while left:
        name = left.pop()
        spec = find_spec(name) if name.startswith("certibit") else None
        if name in met or spec is None or not (spec.origin or "").endswith(".py"):
            continue
        met.add(name)
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        left += [one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)]
    assert not [name for name in met if ".symbolic" in name or ".exact" in name]
