"""Verdicts on the claims of papers about networks, from trainings."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from certibit.figures.deep.networks import NETWORKS, Case
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurve, TrainingCurves
from certibit.figures.text.verdicts import (
    OURS,
    SUPPORTED,
    ClaimVerdict,
    Quotation,
    claim_outcome,
)
from certibit.theory.verdict import FAILS

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
    loss = _loss(cases[0])
    behind = {
        name: {case.I: naive.right - curves[case, name].right for case in cases}
        for name in ("episode", "celgc")
    }
    short = max(lag for interval, lag in behind["episode"].items() if interval <= 8)
    ratios = {
        case.I: curves[case, "celgc"].cost("rounds", loss)
        / curves[case, "episode"].cost("rounds", loss)
        for case in cases
    }
    return [
        ClaimVerdict(
            "the test accuracy of EPISODE nearly matches NaiveParallelClip for I <= 8",
            MATCHES.place,
            f"it lags by {_list(behind['episode'], '{:.1%}')}; NaiveParallelClip has "
            f"{naive.right:.1%}",
            claim_outcome(short, holds=_CLOSE, fails=_LAG),
            MATCHES.words,
            _note(cases[0]),
        ),
        ClaimVerdict(
            "that of CELGC lags 2-3 % behind for all I",
            MATCHES.place,
            f"it lags by {_list(behind['celgc'], '{:.1%}')}",
            claim_outcome(min(behind["celgc"].values()), holds=_LAG, fails=_CLOSE),
            MATCHES.words,
            _note(cases[0]),
        ),
        ClaimVerdict(
            "EPISODE needs fewer rounds than CELGC to the same training loss, for all I",
            FEWER.place,
            f"rounds of CELGC by those of EPISODE to a loss of {loss:g}: {_list(ratios, '{:.2f}')}",
            claim_outcome(_worst(ratios.values()), holds=1.5, fails=1.0),
            FEWER.words,
            _note(cases[0]),
        ),
    ]


def similarity_verdicts(curves: TrainingCurves, cases: Sequence[Case]) -> list[ClaimVerdict]:
    """Judge the claims about similarity; the cases are from unlike to alike."""
    unlike, alike = cases[0], cases[-1]
    ends = {
        name: {case.similarity: curves[case, name].end for case in cases}
        for name in ("episode", "celgc")
    }
    episode, celgc = ends["episode"], ends["celgc"]
    return [
        ClaimVerdict(
            f"the loss of EPISODE at s = {unlike.similarity:g} % is that at {alike.similarity:g} %",
            RESILIENT.place,
            f"losses at the end: {_list(episode, '{:.3g}', 's')}",
            claim_outcome(
                episode[unlike.similarity] / episode[alike.similarity], holds=1.25, fails=2.0
            ),
            RESILIENT.words,
            _note(cases[0]),
        ),
        ClaimVerdict(
            f"CELGC at s = {alike.similarity:g} % has a larger loss than EPISODE at "
            f"{unlike.similarity:g} %",
            WORSENS.place,
            f"losses of CELGC at the end: {_list(celgc, '{:.3g}', 's')}",
            claim_outcome(
                celgc[alike.similarity] / episode[unlike.similarity], holds=1.25, fails=1.0
            ),
            WORSENS.words,
            _note(cases[0]),
        ),
        divergence_verdict(curves, cases),
        *clipping_verdicts(curves, cases),
    ]


def divergence_verdict(curves: TrainingCurves, cases: Sequence[Case]) -> ClaimVerdict:
    """Judge whether SCAFFOLD, which does not clip, diverges in all of some cases."""
    scaffold = {case: curves[case, "scaffold"] for case in cases}
    ends = {case.similarity: curve.end for case, curve in scaffold.items()}
    most = max(curve.diverged for curve in scaffold.values())
    return ClaimVerdict(
        "SCAFFOLD diverges",
        DIVERGED.place,
        f"losses at the end, at the best step size: {_list(ends, '{:.3g}', 's')}; {most:.0%} of "
        "the runs of its grid are no longer finite",
        SUPPORTED
        if all(not curve.end < curve.loss[0].min() for curve in scaffold.values())
        else FAILS,
        DIVERGED.words,
        _note(cases[0]),
    )


def clipping_verdicts(curves: TrainingCurves, cases: Sequence[Case]) -> list[ClaimVerdict]:
    """Judge whether the best method without clipping is as good as the best with it."""
    found = []
    for case in cases:
        # NaiveParallelClip sends I times as much
        best = {True: ("", np.inf), False: ("", np.inf)}
        for (where, name), curve in curves.items():
            clips = RIVALS[name].clips
            of_sgd = RIVALS[name].local and RIVALS[name].scale is None
            belongs = where == case and of_sgd and name != "naive-parallel-clip"
            if belongs and (not best[clips][0] or curve.end < best[clips][1]):
                best[clips] = name, curve.end
        (clipped, low), (plain, high) = best[True], best[False]
        found.append(
            ClaimVerdict(
                f"clipping is needed at {case}",
                OURS,
                f"losses at the end: {low:.3g} by {RIVALS[clipped].label}, and {high:.3g} by "
                f"{RIVALS[plain].label}, the best without clipping",
                claim_outcome(high / low, holds=1.5, fails=1.0),
            )
        )
    return found


def participation_verdicts_of_networks(
    curves: TrainingCurves, cases: Sequence[Case]
) -> list[ClaimVerdict]:
    """Judge EPISODE++ where S of the clients take part in a round."""
    found = []
    for case in cases:
        ends = {name: curve.end for (where, name), curve in curves.items() if where == case}
        plus = ends.pop("episode-plus-plus")
        rival = min(ends, key=lambda name: ends[name])
        found.append(
            ClaimVerdict(
                f"EPISODE++ is ahead at S = {case.S}",
                PARTIAL.place,
                f"losses at the end: {plus:.3g}, and {ends[rival]:.3g} by {RIVALS[rival].label}, "
                "the best of the others",
                claim_outcome(ends[rival] / plus, holds=1.25, fails=0.8),
                PARTIAL.words,
                _note(cases[0]),
            )
        )
    return found


def compression_verdicts(curves: TrainingCurves, case: Case) -> list[ClaimVerdict]:
    """Judge compression against local steps: the bits to a training loss."""
    loss = _loss(case)
    bits = {
        name: curve.cost("bits", loss)
        for (where, name), curve in curves.items()
        if where == case and RIVALS[name].scale is None
    }
    compressed = min((bits[name], name) for name in bits if RIVALS[name].compressor != "identity")
    whole = min((bits[name], name) for name in bits if RIVALS[name].compressor == "identity")
    return [
        ClaimVerdict(
            "compression saves more bits than local steps",
            OURS,
            f"bits of a client to a training loss of {loss:g}: {compressed[0]:.2e} by "
            f"{RIVALS[compressed[1]].label}, {whole[0]:.2e} by {RIVALS[whole[1]].label}, the best "
            f"without compression at I = {case.I}",
            claim_outcome(whole[0] / compressed[0], holds=1.25, fails=0.8),
        )
    ]


def interval_compression_verdicts(
    curves: TrainingCurves, cases: Sequence[Case]
) -> list[ClaimVerdict]:
    """Judge local steps of AdamW with compression against those without, for every I."""
    loss = _loss(cases[0])
    bits = {
        name: {case.I: curves[case, name].cost("bits", loss) for case in cases}
        for name in ("diloco", "sparseloco")
    }
    ratios = {steps: whole / bits["sparseloco"][steps] for steps, whole in bits["diloco"].items()}
    return [
        ClaimVerdict(
            "with compression local steps need fewer bits for all I",
            OURS,
            f"bits of DiLoCo by those of SparseLoCo to a training loss of {loss:g}: "
            f"{_list(ratios, '{:.3g}')}",
            claim_outcome(_worst(ratios.values()), holds=1.25, fails=0.8),
        )
    ]


def little_communication_verdicts(curves: TrainingCurves, case: Case) -> list[ClaimVerdict]:
    """Judge DiLoCo, SparseLoCo and DeMo by their losses at the end, and all methods by bits."""
    loss, note = _loss(case), f"{NETWORKS[case.network].label}, {case.I} local steps"
    found = {name: curve for (where, name), curve in curves.items() if where == case}
    bits = {name: curve.cost("bits", loss) for name, curve in found.items()}
    order = sorted(bits, key=lambda name: bits[name])
    told = ", ".join(f"{bits[name]:.2e} by {RIVALS[name].label}" for name in order)

    def against(
        name: str, other: str, claim: Quotation, text: str, limits: tuple[float, float]
    ) -> Any:
        one, two = found[name].end, found[other].end
        sent = found[other].bits[-1] / found[name].bits[-1]
        return ClaimVerdict(
            text,
            claim.place,
            f"losses at the end: {one:.3g}, and {two:.3g} by {RIVALS[other].label}, which sends "
            f"{sent:.3g} times as many bits",
            claim_outcome(one / two, holds=limits[0], fails=limits[1]),
            claim.words,
            note,
        )

    return [
        against(
            "diloco", "adamw", SYNCHRONOUS, "DiLoCo is as good as AdamW at every step", _AS_GOOD
        ),
        against("sparseloco", "diloco", SPARSE, "SparseLoCo is better than DiLoCo", (1.0, 1.05)),
        against(
            "demo", "adamw", COMPARABLE, "DeMo is comparable with AdamW at every step", _AS_GOOD
        ),
        ClaimVerdict(
            "local steps and compression together need the fewest bits",
            OURS,
            f"bits of a client to a training loss of {loss:g}: {told}",
            SUPPORTED if order[0] in {"sparseloco", "locodl"} else FAILS,
            note=note,
        ),
    ]


def _loss(case: Case) -> float:
    """Return the training loss to which costs are counted."""
    return NETWORKS[case.network].loss


def _note(case: Case) -> str:
    """Return what is ours in a verdict on a claim of the EPISODE papers."""
    return f"{NETWORKS[case.network].label}, not SNLI"


def _worst(ratios: Any) -> float:
    """Return the least of some ratios, NaN if one is not a number."""
    values = list(ratios)
    return float("nan") if any(np.isnan(value) for value in values) else min(values)


def _list(values: dict[Any, float], form: str, symbol: str = "I") -> str:
    pairs = values.items()
    return ", ".join(f"{form.format(value)} ({symbol} = {at:g})" for at, value in pairs)


def curve_text(curve: TrainingCurve, loss: float) -> tuple[str, ...]:
    """Return the cells of a table: eta, tau, loss, accuracy, and what a loss costs."""
    tau = "" if np.isinf(curve.tau) else f"{curve.tau:g}"
    costs = [curve.cost(of, loss) for of in ("rounds", "steps", "bits")]
    told = ["never" if np.isinf(c) else f"{c:.0f}" if c < 1e5 else f"{c:.2e}" for c in costs]
    return (f"{curve.eta:g}", tau, f"{curve.end:.3g}", f"{curve.right:.1%}", *told,
            f"{curve.diverged:.0%}")  # fmt: skip
