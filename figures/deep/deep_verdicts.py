"""Verdicts on the claims of papers about networks, from trainings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from certibit.figures.deep.networks import NETWORKS, Case
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves
from certibit.figures.text.verdicts import OWN, ClaimVerdict, Quotation, judged, true_or_false

MATCHES = Quotation(
    "the test accuracy of EPISODE nearly matches that of Naive Parallel Clip for all I <= 8, while "
    "CELGC lags 2-3% behind Naive Parallel Clip for all values of I",
    "EPISODE, section 5.2",
)
FEWER = Quotation(
    "EPISODE requires significantly less communication rounds to reach the same training loss as "
    "CELGC.",
    "EPISODE, section 5.2",
)
RESILIENT = Quotation(
    "EPISODE is resilient against data heterogeneity: even with client similarity as low as s = "
    "10%, the performance of EPISODE is the same as s = 50%.",
    "EPISODE, section 5.2",
)
WORSENS = Quotation(
    "the performance of CELGC drastically worsens with more heterogeneity: even with s = 50%, the "
    "training loss of CELGC is significantly worse than EPISODE with s = 10%",
    "EPISODE, section 5.2",
)
DIVERGED = Quotation(
    "Note that the training process diverged when using SCAFFOLD, likely due to a gradient "
    "explosion issue, since SCAFFOLD does not use gradient clipping.",
    "EPISODE, section 5.1",
)
PARTIAL = Quotation(
    "EPISODE++ maintains superior performance as participation decreases, and as data "
    "heterogeneity increases.",
    "EPISODE++, talk, Experimental Results",
)
SYNCHRONOUS = Quotation("", "DiLoCo (arXiv:2311.08105), abstract")
SPARSE = Quotation(
    "extreme compression ratios of up to 1-3% sparsity and 2-bit quantization while outperforming "
    "full-precision DiLoCo",
    "SparseLoCo (arXiv:2508.15706v1), abstract",
)
COMPARABLE = Quotation(
    "while achieving comparable loss and accuracy",
    "DeMo (arXiv:2411.19870v2), abstract",
)
_CLOSE, _LAG = 0.01, 0.02
_AS_GOOD = 1.02, 1.1
"""How many times the loss of another method is as good as it, and how many are not."""


def interval_verdicts(curves: TrainingCurves, cases: Sequence[Case]) -> list[ClaimVerdict]:
    """Judge the claims about the interval I; the case of NaiveParallelClip is any of them."""
    naive = next(curves[case, "naive-parallel-clip"] for case in cases
                 if (case, "naive-parallel-clip") in curves)  # fmt: skip
    loss, note = _loss(cases[0]), _note(cases[0])
    episode, celgc = (
        {case.I: naive.right - curves[case, name].right for case in cases}
        for name in ("episode", "celgc")
    )
    ratios = {
        case.I: curves[case, "celgc"].cost("rounds", loss)
        / curves[case, "episode"].cost("rounds", loss)
        for case in cases
    }
    return [
        judged(
            "the test accuracy of EPISODE nearly matches NaiveParallelClip for I <= 8",
            MATCHES, f"it lags by {_list(episode, '{:.1%}')}; NaiveParallelClip has "
            f"{naive.right:.1%}",
            max(lag for interval, lag in episode.items() if interval <= 8), _CLOSE, _LAG, note,
        ),
        judged(
            "that of CELGC lags 2-3 % behind for all I",
            MATCHES, f"it lags by {_list(celgc, '{:.1%}')}",
            min(celgc.values()), _LAG, _CLOSE, note,
        ),
        judged(
            "EPISODE needs fewer rounds than CELGC to the same training loss, for all I",
            FEWER,
            f"rounds of CELGC by those of EPISODE to a loss of {loss:g}: {_list(ratios, '{:.2f}')}",
            _worst(ratios.values()), 1.5, 1.0, note,
        ),
    ]  # fmt: skip


def similarity_verdicts(curves: TrainingCurves, cases: Sequence[Case]) -> list[ClaimVerdict]:
    """Judge the claims about similarity; the cases are from unlike to alike."""
    unlike, alike, note = cases[0].similarity, cases[-1].similarity, _note(cases[0])
    episode, celgc = (
        {case.similarity: curves[case, name].end for case in cases} for name in ("episode", "celgc")
    )
    return [
        judged(
            f"the loss of EPISODE at s = {unlike:g} % is that at {alike:g} %",
            RESILIENT, f"losses at the end: {_list(episode, '{:.3g}', 's')}",
            episode[unlike] / episode[alike], 1.25, 2.0, note,
        ),
        judged(
            f"CELGC at s = {alike:g} % has a larger loss than EPISODE at {unlike:g} %",
            WORSENS, f"losses of CELGC at the end: {_list(celgc, '{:.3g}', 's')}",
            celgc[alike] / episode[unlike], 1.25, 1.0, note,
        ),
        divergence_verdict(curves, cases),
        *clipping_verdicts(curves, cases),
    ]  # fmt: skip


def divergence_verdict(curves: TrainingCurves, cases: Sequence[Case]) -> ClaimVerdict:
    """Judge whether SCAFFOLD, which does not clip, diverges in all of some cases."""
    scaffold = {case.similarity: curves[case, "scaffold"] for case in cases}
    ends = {similarity: curve.end for similarity, curve in scaffold.items()}
    most = max(curve.diverged for curve in scaffold.values())
    return ClaimVerdict(
        "SCAFFOLD diverges",
        DIVERGED,
        f"losses at the end, at the best step size: {_list(ends, '{:.3g}', 's')}; {most:.0%} of "
        "the runs of its grid are no longer finite",
        true_or_false(all(not curve.end < curve.loss[0].min() for curve in scaffold.values())),
        _note(cases[0]),
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


def participation_verdicts_of_networks(
    curves: TrainingCurves, cases: Sequence[Case]
) -> list[ClaimVerdict]:
    """Judge EPISODE++ where S of the clients take part in a round."""
    verdicts = []
    for case in cases:
        ends = {name: curve.end for name, curve in _at(curves, case).items()}
        plus = ends.pop("episode-plus-plus")
        rival = min(ends, key=lambda name: ends[name])
        measured = (
            f"losses at the end: {plus:.3g}, and {ends[rival]:.3g} by {RIVALS[rival].label}, "
            "the best of the others"
        )
        claim, ratio = f"EPISODE++ is ahead at S = {case.S}", ends[rival] / plus
        verdicts.append(judged(claim, PARTIAL, measured, ratio, 1.25, 0.8, _note(cases[0])))
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


def little_communication_verdicts(curves: TrainingCurves, case: Case) -> list[ClaimVerdict]:
    """Judge DiLoCo, SparseLoCo and DeMo by their losses at the end, and all methods by bits."""
    loss, note = _loss(case), f"{NETWORKS[case.network].label}, {case.I} local steps"
    trained = _at(curves, case)
    bits = {name: curve.cost("bits", loss) for name, curve in trained.items()}
    order = sorted(bits, key=lambda name: bits[name])
    costs = ", ".join(f"{bits[name]:.2e} by {RIVALS[name].label}" for name in order)
    verdicts = []
    for name, other, quoted, claim, limits in (
        ("diloco", "adamw", SYNCHRONOUS, "DiLoCo is as good as AdamW at every step", _AS_GOOD),
        ("sparseloco", "diloco", SPARSE, "SparseLoCo is better than DiLoCo", (1.0, 1.05)),
        ("demo", "adamw", COMPARABLE, "DeMo is comparable with AdamW at every step", _AS_GOOD),
    ):
        one, two = trained[name], trained[other]
        measured = (
            f"losses at the end: {one.end:.3g}, and {two.end:.3g} by {RIVALS[other].label}, which "
            f"sends {two.bits[-1] / one.bits[-1]:.3g} times as many bits"
        )
        verdicts.append(judged(claim, quoted, measured, one.end / two.end, *limits, note))
    return [
        *verdicts,
        ClaimVerdict(
            "local steps and compression together need the fewest bits",
            OWN,
            f"bits of a client to a training loss of {loss:g}: {costs}",
            true_or_false(order[0] in {"sparseloco", "locodl"}),
            note,
        ),
    ]


def _at(curves: TrainingCurves, case: Case) -> dict[str, TrainingCurve]:
    """Return the curves of a case by method."""
    return {name: curve for (where, name), curve in curves.items() if where == case}


def _loss(case: Case) -> float:
    """Return the training loss to which costs are counted."""
    return NETWORKS[case.network].loss


def _note(case: Case) -> str:
    """Return what is ours in a verdict on a claim of the EPISODE papers."""
    return f"{NETWORKS[case.network].label}, not SNLI"


def _worst(ratios: Iterable[float]) -> float:
    """Return the least of some ratios, NaN if one is not a number."""
    return float(np.min([*ratios]))


def _list(values: Mapping[Any, float], form: str, symbol: str = "I") -> str:
    return ", ".join(f"{form.format(x)} ({symbol} = {at:g})" for at, x in values.items())
