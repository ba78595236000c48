"""Promised bits of a curve and its parameters, computed from the recipe."""

from collections.abc import Mapping
from typing import Any

from certibit.figures.locodl.jobs import experiment_of
from certibit.figures.locodl.panels import Curve, Panel
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.checks.method.promise import Promise, promise
from certibit.theory.setting import Setting


def strongest_promise(panel: Panel, curve: Curve) -> Promise | None:
    """Return the strongest promise of the theorems that hold for a curve; None if there is none."""
    experiment = experiment_of(panel, curve)
    held = METHODS[curve.method].holding(experiment.method, Setting.at(experiment))
    promises = [promise(theorem, experiment) for theorem in held]
    return min(promises, key=lambda each: each.bits_to(panel.floor, panel.downlink), default=None)


def explanation(panel: Panel, curve: Curve, accuracy: float, parameters: Mapping[str, Any]) -> str:
    """Say what is promised to an accuracy, and with which parameters."""
    best = strongest_promise(panel, curve)
    bits = (
        f"{best.bits_to(accuracy, panel.downlink):,.0f} bits promised"
        if best
        else "nothing promised"
    )
    values = ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in parameters.items()
        if not isinstance(value, list | tuple)
    )
    return f"{curve.label}: {bits}; {values}"
