"""Verdicts on claims about small networks, from trainings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from certibit.figures.deep.networks import NETWORKS, Case
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves
from certibit.figures.text.verdicts import OWN, ClaimVerdict, judged, true_or_false

NOT_TESTED_HERE = (
    "What the papers on EPISODE, EPISODE++, DiLoCo, SparseLoCo and DeMo claim about SNLI, "
    "Sentiment140, ImageNet and language models is not tested here: these networks and data are "
    "small ones, at hand. The claims below are ours, about them."
)


def clipping_verdicts(curves: TrainingCurves, cases: Sequence[Case]) -> list[ClaimVerdict]:
    """Judge whether the best method without clipping is as good as the best with it.

    NaiveParallelClip is left out: it sends I times as much.
    """
    verdicts = []
    for case in cases:
        ends = {
            name: curve.end
            for name, curve in _at(curves, case).items()
            if RIVALS[name].local and RIVALS[name].scale is None and name != "naive-parallel-clip"
        }
        clipped, plain = (
            min((name for name in ends if RIVALS[name].clips is clips), key=lambda name: ends[name])
            for clips in (True, False)
        )
        measured = (
            f"losses at the end: {ends[clipped]:.3g} by {RIVALS[clipped].label}, and "
            f"{ends[plain]:.3g} by {RIVALS[plain].label}, the best without clipping"
        )
        claim, ratio = f"clipping is needed at {case}", ends[plain] / ends[clipped]
        verdicts.append(judged(claim, OWN, measured, ratio, 1.5, 1.0))
    return verdicts


def compression_verdicts(curves: TrainingCurves, case: Case) -> list[ClaimVerdict]:
    """Judge compression against local steps: the bits to a training loss."""
    loss = _loss(case)
    bits = {
        name: curve.cost("bits", loss)
        for name, curve in _at(curves, case).items()
        if RIVALS[name].scale is None
    }
    (whole, plain), (fewer, compressed) = (
        min((bits[n], n) for n in bits if (RIVALS[n].compressor == "identity") is identity)
        for identity in (True, False)
    )
    measured = (
        f"bits of a client to a training loss of {loss:g}: {fewer:.2e} by "
        f"{RIVALS[compressed].label}, {whole:.2e} by {RIVALS[plain].label}, the best without "
        f"compression at I = {case.I}"
    )
    claim = "compression saves more bits than local steps"
    return [judged(claim, OWN, measured, whole / fewer, 1.25, 0.8)]


def interval_compression_verdicts(
    curves: TrainingCurves, cases: Sequence[Case]
) -> list[ClaimVerdict]:
    """Judge local steps of AdamW with compression against those without, for every I."""
    loss = _loss(cases[0])
    ratios = {
        case.I: curves[case, "diloco"].cost("bits", loss)
        / curves[case, "sparseloco"].cost("bits", loss)
        for case in cases
    }
    claim = "with compression local steps need fewer bits for all I"
    measured = (
        f"bits of DiLoCo by those of SparseLoCo to a training loss of {loss:g}: "
        f"{_list(ratios, '{:.3g}')}"
    )
    return [judged(claim, OWN, measured, _worst(ratios.values()), 1.25, 0.8)]


def little_communication_verdict(curves: TrainingCurves, case: Case) -> ClaimVerdict:
    """Judge whether local steps with compression need the fewest bits of all methods."""
    loss = _loss(case)
    bits = {name: curve.cost("bits", loss) for name, curve in _at(curves, case).items()}
    order = sorted(bits, key=lambda name: bits[name])
    costs = ", ".join(f"{bits[name]:.2e} by {RIVALS[name].label}" for name in order)
    return ClaimVerdict(
        "local steps and compression together need the fewest bits",
        OWN,
        f"bits of a client to a training loss of {loss:g}: {costs}",
        true_or_false(order[0] in {"sparseloco", "locodl"}),
        f"{NETWORKS[case.network].label}, {case.I} local steps",
    )


def _at(curves: TrainingCurves, case: Case) -> dict[str, TrainingCurve]:
    """Return the curves of a case by method."""
    return {name: curve for (where, name), curve in curves.items() if where == case}


def _loss(case: Case) -> float:
    """Return the training loss to which costs are counted."""
    return NETWORKS[case.network].loss


def _worst(ratios: Iterable[float]) -> float:
    """Return the least of some ratios, NaN if one is not a number."""
    return float(np.min([*ratios]))


def _list(values: Mapping[Any, float], form: str, symbol: str = "I") -> str:
    return ", ".join(f"{form.format(x)} ({symbol} = {at:g})" for at, x in values.items())
