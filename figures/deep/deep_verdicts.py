"""Verdicts on claims about small networks, from trainings."""

from collections.abc import Sequence

from certibit.figures.deep.networks import NETWORKS, Case
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves
from certibit.figures.text.verdicts import OWN, ClaimVerdict, judged

NOT_TESTED_HERE = (
    "What the papers on EPISODE and EPISODE++ claim about SNLI, Sentiment140 and ImageNet is not "
    "tested here: these networks and data are small ones, at hand. The claims below are ours, "
    "about them."
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
            if RIVALS[name].local and name != "naive-parallel-clip"
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
    loss = NETWORKS[case.network].loss
    bits = {name: curve.cost("bits", loss) for name, curve in _at(curves, case).items()}
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


def _at(curves: TrainingCurves, case: Case) -> dict[str, TrainingCurve]:
    """Return the curves of a case by method."""
    return {name: curve for (where, name), curve in curves.items() if where == case}
