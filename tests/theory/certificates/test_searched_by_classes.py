"""Potentials that are found where clients differ: each class has its own means and deviations."""

from dataclasses import dataclass

import numpy as np
import pytest
from small_methods import Memory

from certibit.data.errors import Refusal
from certibit.solvers.methods.gradskip import GradSkip
from certibit.theory.assumptions.client_class import ClientClass
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates import forms
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import QuadraticPotential


def case(name, counts, kappa=100.0):
    """Return a method and a family of two classes whose L_i are ten times apart."""
    L = (kappa, kappa / 10, kappa / 3)[: len(counts)]
    omega, alpha = {"diana": (4.0, None), "ef21": (0.0, 0.3)}.get(name, (0.0, None))
    classes = [ClientClass(k, 1.0, top, omega, alpha) for k, top in zip(counts, L, strict=True)]
    q = [
        (1 - 1 / top) / (1 - 1 / kappa) for k, top in zip(counts, L, strict=True) for _ in range(k)
    ]
    method = {
        "diana": lambda: METHODS["diana"].method(gamma=0.002, alpha=0.2),
        "ef21": lambda: METHODS["ef21"].method(gamma=0.002),
        "scaffnew": lambda: METHODS["scaffnew"].method(1 / kappa, kappa**-0.5),
        "gradskip": lambda: GradSkip(1 / kappa, kappa**-0.5, tuple(q)),
    }[name]()
    return method, FunctionClass.of_classes(classes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "counts", "gain"),
    [
        ("diana", (1, 2), 1.0),
        ("ef21", (1, 2), 1.0),
        ("scaffnew", (1, 2), 1.003),
        ("gradskip", (1, 2), 1.13),
        ("gradskip", (1, 1, 1), 1.0),  # f - f* would have to be taken at 36 points
        ("gradskip", (200_000, 800_000), 1.0),
    ],
)
def test_forms_of_classes_prove_no_less_than_those_that_are_alike(name, counts, gain, monkeypatch):
    method, family = case(name, counts)
    found = certify(method, family, potential="search")
    monkeypatch.setattr(forms, "MOST_CLASSES", 0)
    alike = certify(method, family, potential="search")
    assert not getattr(alike.potential, "counts", ())
    assert found.decrease >= gain * alike.decrease * (1 - 1e-5) > 0
    assert found.verify()


@pytest.mark.long
@pytest.mark.parametrize("name", ["scaffnew", "gradskip"])
def test_they_are_printed_by_class(name):
    counts = 1, 2
    method, family = case(name, counts, 20.0)
    found = certify(method, family, potential="search")
    assert found.potential.counts == counts
    assert "mean_2" in repr(found.potential)
    assert found.verify()


@dataclass(frozen=True)
class Clients:
    n: int


def test_a_form_of_other_clients_is_refused():
    potential = QuadraticPotential(np.eye(2), np.eye(2), names=(("h", True),), counts=(1, 1))
    state = Memory(np.zeros((3, 1, 1)), np.zeros((3, 1, 1)))
    with pytest.raises(Refusal, match="one of 2 clients, and there are 3"):
        potential.lyapunov(None, state, state, Clients(3), None)
