"""Checks that the known factor of gradient descent is certified, and no smaller one."""

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from certibit.solvers.methods.gd import GD
from certibit.theory.assumptions.client_class import ClientClass
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import squares_of
from certibit.theory.verdict import Verdict, worst_of

_CHECK = "certificates of what is known"
_CLOSE, _MORE = 1e-6, (1.00001, 1.01)
_MU, _L, _STEP = 1.0, 10.0, 0.15
_CLASSES = {
    "alike": (FunctionClass(3, _MU, _L), _L),
    "of a smoother average": (FunctionClass(3, _MU, _L, L_f=6.0), 6.0),
    "of two classes": (
        FunctionClass.of_classes([ClientClass(1, _MU, _L), ClientClass(2, _MU, 4.0)]),
        6.0,
    ),
}
"""Clients, and the smoothness of their average, which gradient descent depends on."""


def known_proofs() -> Verdict:
    """Check that gradient descent is certified with its known factor, in any unit, and no better.

    |x - x*|^2 shrinks by max{|1 - gamma mu|, |1 - gamma L_f|}^2. The parts that a potential is
    taken apart into must add up to it, even where one of them is 0.
    """
    off, what = worst_of([_apart(), *_proofs()])
    advice = f"A certificate of gradient descent is wrong, {what}: do not rely on any certificate."
    return Verdict(_CHECK, off, _CLOSE, f"{len(_CLASSES)} classes", advice)


def _proofs() -> Iterator[tuple[float, str]]:
    """Yield how far certificates are from what is known, and what is wrong with them."""
    for name, (functions, smooth) in _CLASSES.items():
        known = 1 - max(abs(1 - _STEP * _MU), abs(1 - _STEP * smooth)) ** 2
        for unit in (1.0, 1e5) if functions.L_f is None else (1.0,):
            what = f"clients {name}, in the unit {unit:g}"
            try:
                proved = certify(GD(_STEP * unit), functions.in_units(unit))
            except Exception as error:  # whatever is wrong is told
                yield math.inf, f"{what}: {type(error).__name__}, {error}"
                continue
            off = abs(proved.decrease / known - 1)
            yield off, f"{what}: {proved.decrease:.8g} is proved, and {known:.8g} is true"
            lost = proved.verify() != proved.factor
            yield float(lost), f"{what}: the proof does not verify"
            for more in _MORE:
                greedy = replace(proved, exact=Fraction(more * known))
                yield float(greedy.verify() < 1), f"{what}: more than is true verifies"


def _apart() -> tuple[float, str]:
    """Return the distance of a sum of squares from the form that it was computed from."""
    rows = np.array([[1.0, 2.0, 0.0, -1.0], [0.0, 1.0, 0.0, 1.0]])
    form = rows.T @ rows
    weights, squares = squares_of(form)
    off = float(np.max(np.abs((squares.T * weights) @ squares - form)))
    return off, "the squares of a potential do not add up to it"
