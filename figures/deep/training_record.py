"""Trainings of networks as JSON values: a panel for every case, with what was measured there."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from certibit.figures.deep.measured_smoothness import MeasuredSmoothness
from certibit.figures.deep.networks import NETWORKS, Case, TrainingPlan
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves
from certibit.figures.episode.recorded_rounds import FloatArray
from certibit.figures.text.tables import json_number
from certibit.figures.text.verdicts import ClaimVerdict


def training_record(
    plan: TrainingPlan,
    curves: TrainingCurves,
    measured: Sequence[MeasuredSmoothness],
    verdicts: Sequence[ClaimVerdict],
) -> dict[str, Any]:
    """Return plan, curves, norms and verdicts as strict JSON values."""
    return {
        "plan": asdict(plan),
        "panels": [
            _panel(plan, case, curves, measured)
            for case in dict.fromkeys(case for case, _ in curves)
        ],
        "verdicts": [each.record() for each in verdicts],
    }


def _panel(
    plan: TrainingPlan, case: Case, curves: TrainingCurves, measured: Sequence[MeasuredSmoothness]
) -> dict[str, Any]:
    network = NETWORKS[case.network]
    problem = network.problem(case, (0,), plan)
    return asdict(case) | {
        "title": str(case),
        "label": network.label,
        "problem": problem.name,
        "n": problem.n,
        "m": problem.m,
        "d": problem.d,
        "steps": plan.steps // network.shorter,
        "seeds": plan.seeds,
        "curves": [_curve(name, curve) for (at, name), curve in curves.items() if at == case],
        "norms": [norms for one in measured if one.case == case for norms in _norms(one)],
    }


def _curve(name: str, curve: TrainingCurve) -> dict[str, Any]:
    return {
        "method": name,
        "label": RIVALS[name].label,
        "colour": RIVALS[name].colour,
        **{key: json_number(getattr(curve, key)) for key in ("eta", "tau", "diverged")},
        **{key: getattr(curve, key).tolist() for key in ("rounds", "steps", "bits")},
        **{key: _rounded(getattr(curve, key)) for key in ("loss", "accuracy")},
    }


def _norms(one: MeasuredSmoothness) -> list[dict[str, Any]]:
    """Return the norms at the models of every seed: (K,) of f, (K, n) of the f_i."""
    return [
        {
            key: _rounded(getattr(one, key)[:, seed])
            for key in ("slope", "curvature", "slopes", "curvatures")
        }
        for seed in range(one.slope.shape[1])
    ]


def _rounded(values: FloatArray) -> Any:
    """Return an array as lists of 4 digits, null where it is not finite."""
    if values.ndim > 1:
        return [_rounded(row) for row in values]
    return json_number([float(f"{x:.4g}") for x in values])
