"""Verdicts on the claims of the EPISODE papers, and what the experiments do not show."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certibit.figures.episode.theorem_runs import THEOREM_EPSILON, Slope
from certibit.figures.episode.tuning import Contest, Results
from certibit.figures.episode.tunings import TUNINGS
from certibit.figures.text.verdicts import (
    OURS,
    SUPPORTED,
    ClaimVerdict,
    Quotation,
    claim_outcome,
)
from certibit.theory.verdict import FAILS

FAST = Quotation(
    "In contrast, EPISODE maintains fast convergence as H varies.", "EPISODE, section 5, Synthetic"
)
SLOW = Quotation(
    "as H increases, the optimization progress becomes slower and slower",
    "EPISODE, section 5, Synthetic",
)
MINIMUM = Quotation(
    "EPISODE converges to the minimum of global loss, while CELGC fails to do so when H is larger.",
    "EPISODE, section 5, Synthetic",
)
SUPERIOR = Quotation(
    "EPISODE++ maintains superior performance as participation decreases, and as data "
    "heterogeneity increases.",
    "EPISODE++, talk, Experimental Results",
)
NO_M = Quotation("", "EPISODE++, talk, Theorem 1, whose rounds do not name M")
DEPENDENCE = Quotation(
    "The dependence on M shows that, in our setting, adding gradient clipping to Minibatch SGD "
    "does not eliminate exploding gradients.",
    "EPISODE++, talk, Theorem 2",
)


def figure_3_verdicts(contest: Contest, results: Results) -> list[ClaimVerdict]:
    """Judge the claims about Figure 3, and whether the experiment shows that clipping is needed.

    For a claim about speed every method has the fastest pair of step size and threshold of its
    grid; for a claim about the final objective, the pair with the lowest one.
    """
    values, accuracy = contest.values, contest.accuracy
    lowest = {name: [best.lowest for best in bests] for name, bests in results.items()}
    fastest = {name: [best.fastest for best in bests] for name, bests in results.items()}
    celgc = fastest["celgc"]
    slower = all(a <= b for a, b in pairwise(celgc)) and celgc[0] < celgc[-1]
    worst = max(max(lowest[name]) for name in ("episode-unclipped", "scaffold"))
    ends, speeds = "lowest f - f* at the end:", f"fewest rounds to f - f* <= {accuracy:g}:"
    return [
        ClaimVerdict(
            "EPISODE converges to the global minimum for every H",
            MINIMUM.place,
            f"{ends} {_list(values, lowest['episode'], 'H')}",
            claim_outcome(max(lowest["episode"]), holds=accuracy, fails=10 * accuracy),
            quotation=MINIMUM.words,
        ),
        ClaimVerdict(
            "EPISODE stays fast as H grows",
            FAST.place,
            f"{speeds} {_list(values, fastest['episode'], 'H')}",
            claim_outcome(fastest["episode"][-1] / fastest["episode"][0], holds=2.0, fails=4.0),
            quotation=FAST.words,
        ),
        ClaimVerdict(
            "CELGC becomes slower and slower as H grows",
            SLOW.place,
            f"{speeds} {_list(values, celgc, 'H')}",
            SUPPORTED if slower else FAILS,
            quotation=SLOW.words,
        ),
        ClaimVerdict(
            "CELGC does not reach the minimum when H is larger",
            MINIMUM.place,
            f"{ends} {_list(values, lowest['celgc'], 'H')}",
            claim_outcome(lowest["celgc"][-1], holds=10 * accuracy, fails=accuracy),
            quotation=MINIMUM.words,
        ),
        ClaimVerdict(
            "the experiment shows that clipping is needed",
            OURS,
            "EPISODE (unclipped) and SCAFFOLD, on the same grid, end at f - f* <= "
            f"{worst:.1e} for every H",
            claim_outcome(worst, holds=10 * accuracy, fails=accuracy),
        ),
        ClaimVerdict(
            "not only the missing correction, also its clipping holds CELGC back at large H",
            OURS,
            f"at H = {values[-1]:g} FedAvg, which is CELGC without clipping, ends at "
            f"{lowest['fedavg'][-1]:.1e} and CELGC at {lowest['celgc'][-1]:.1e}",
            claim_outcome(lowest["fedavg"][-1] / lowest["celgc"][-1], holds=0.5, fails=1.0),
        ),
    ]


def necessity_verdicts(contest: Contest, results: Results) -> list[ClaimVerdict]:
    """Judge whether clipping is needed far from the solution of an exponential function."""
    clipped = [name for name in results if TUNINGS[name].clips and TUNINGS[name].federated]
    plain = [name for name in results if not TUNINGS[name].clips]
    verdicts = []
    for place, X in enumerate(contest.values):
        best = {
            kind: min(results[name][place].lowest for name in names)
            for kind, names in (("clipped", clipped), ("plain", plain))
        }
        verdicts.append(
            ClaimVerdict(
                f"clipping is needed from x_0 = ({X:g}, -{X:g})",
                OURS,
                f"f - f* after {contest.rounds} rounds: {best['clipped']:.1e} for the best "
                f"clipped method, {best['plain']:.1e} for the best without clipping",
                claim_outcome(best["plain"] / best["clipped"], holds=100.0, fails=10.0),
            )
        )
    return verdicts


def participation_verdicts(
    contests: Sequence[Contest], results: Sequence[Results]
) -> list[ClaimVerdict]:
    """Judge EPISODE++ under partial participation; the last contest has the fewest clients."""
    ends = [{name: bests[0].lowest for name, bests in result.items()} for result in results]
    last, S = ends[-1], contests[-1].participants
    stored = ("episode-plus-plus", "clipped-scaffold", "scaffold")
    others = {name: end for name, end in last.items() if name not in stored}
    rival = min(others, key=lambda name: others[name])
    plus = "episode-plus-plus"
    return [
        ClaimVerdict(
            f"EPISODE++ is ahead of methods without stored corrections at S = {S}",
            SUPERIOR.place,
            f"f - f* at the end: {last[plus]:.1e}, and {others[rival]:.1e} for the best of the "
            f"others, {TUNINGS[rival].label}",
            claim_outcome(others[rival] / last[plus], holds=10.0, fails=1.0),
            quotation=SUPERIOR.words,
        ),
        ClaimVerdict(
            f"episodic clipping is what makes the difference at S = {S}",
            OURS,
            f"SCAFFOLD without clipping ends at {last['scaffold']:.1e}, EPISODE++ at "
            f"{last[plus]:.1e}",
            claim_outcome(last["scaffold"] / last[plus], holds=10.0, fails=4.0),
        ),
    ]


def lower_bound_verdicts(
    slopes: Sequence[float], rounds: dict[str, NDArray[np.float64]], bound: NDArray[np.float64]
) -> list[ClaimVerdict]:
    """Judge the growth of the rounds with M, and the bound itself."""

    def growth(name: str) -> float:
        if not np.isfinite(rounds[name]).all():
            return float("nan")
        return float(np.polyfit(np.log(slopes), np.log(rounds[name]), 1)[0])

    minibatch, others = "clipped-minibatch-sgd", ("episode-plus-plus", "clipped-sgd")
    least = float(np.min(rounds[minibatch] / bound))
    fastest = max(growth(name) for name in others)
    return [
        ClaimVerdict(
            "clipped minibatch SGD never beats the lower bound",
            "lower bound, proved",
            f"at least {least:.0f} times the bound, on the grid",
            SUPPORTED if least >= 1 else FAILS,
        ),
        ClaimVerdict(
            "the rounds of clipped minibatch SGD grow in proportion to M",
            DEPENDENCE.place,
            f"as M^{growth(minibatch):.2f}",
            claim_outcome(growth(minibatch), holds=0.8, fails=0.5),
            quotation=DEPENDENCE.words,
        ),
        ClaimVerdict(
            "those of EPISODE++ and of clipped GD do not grow with M",
            NO_M.place,
            f"at most as M^{fastest:.2f}",
            claim_outcome(fastest, holds=0.2, fails=0.5),
        ),
    ]


def theorem_verdicts(runs: Sequence[Slope]) -> list[ClaimVerdict]:
    """Judge the promise of Theorem 1 in runs with its parameters."""
    return [
        ClaimVerdict(
            f"with the theorem's parameters the average gradient norm is at most 3 eps, "
            f"sigma = {run.sigma:g}",
            "EPISODE, Theorem 1",
            f"{run.running[-1]:.3f} after {run.rounds[-1]} rounds, {run.promised[-1]:.3f} promised "
            f"and 3 eps = {3 * THEOREM_EPSILON:g}: "
            f"{run.promised[-1] / run.running[-1]:.0f} times less",
            SUPPORTED if run.running[-1] <= 3 * THEOREM_EPSILON else FAILS,
        )
        for run in runs
    ]


def _list(values: Sequence[float], numbers: Sequence[float], symbol: str) -> str:
    def text(number: float) -> str:
        if not np.isfinite(number):
            return "never"
        return f"{number:.2g}" if 0.1 <= number < 100 else f"{number:.1e}"

    pairs = zip(values, numbers, strict=True)
    return ", ".join(f"{text(number)} ({symbol} = {value:g})" for value, number in pairs)
