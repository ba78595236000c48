"""What theory promises about a curve: promised bits and parameters, computed from the recipe."""

from collections.abc import Mapping
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.figures.locodl.jobs import world
from bitbound.figures.locodl.panels import Curve, Panel
from bitbound.theory.checks.promise import Promise, promise
from bitbound.theory.theorems.catalogue import METHODS


def promised(panel: Panel, curve: Curve) -> Promise | None:
    """Return the strongest promise of the theorems that hold for a curve; None if there is none."""
    problem, method, compressor = world(panel, curve)
    promises = []
    for theorem in METHODS[curve.method].theorems:
        try:
            promises.append(promise(theorem, method, problem, compressor))
        except Refusal:  # a hypothesis fails: another theorem may hold
            continue
    return min(promises, key=lambda each: each.bits_to(panel.floor), default=None)


def explanation(panel: Panel, curve: Curve, accuracy: float, parameters: Mapping[str, Any]) -> str:
    """Say what is promised to an accuracy, and with which parameters."""
    best = promised(panel, curve)
    bits = f"{best.bits_to(accuracy):,.0f} bits promised" if best else "nothing promised"
    values = ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in parameters.items()
        if not isinstance(value, list | tuple)
    )
    return f"{curve.label}: {bits}; {values}"
