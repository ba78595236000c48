"""Verdicts on the claims of the EPISODE papers, and what the experiments do not show."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from certibit.figures.episode.theorem_runs import THEOREM_EPSILON, Slope
from certibit.figures.episode.tuning import TUNINGS, Contest, Results
from certibit.figures.text.verdicts import OWN, ClaimVerdict, Quotation, judged, true_or_false

_SYNTHETIC = "EPISODE, section 5, Synthetic"
FAST = Quotation("In contrast, EPISODE maintains fast convergence as H varies.", _SYNTHETIC)
SLOW = Quotation("as H increases, the optimization progress becomes slower and slower", _SYNTHETIC)
MINIMUM = Quotation(
    "EPISODE converges to the minimum of global loss, while CELGC fails to do so when H is larger.",
    _SYNTHETIC,
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
BOUND = Quotation("", "lower bound, proved")
THEOREM_1 = Quotation("", "EPISODE, Theorem 1")


def figure_3_verdicts(contest: Contest, results: Results) -> list[ClaimVerdict]:
    """Judge the claims about Figure 3, and whether the experiment shows that clipping is needed.

    For a claim about speed every method has the fastest pair of step size and threshold of its
    grid; for a claim about the final objective, the pair with the lowest one.
    """
    values, accuracy = contest.values, contest.accuracy
    lowest = {name: [best.lowest for best in bests] for name, bests in results.items()}
    fastest = {name: [best.fastest for best in bests] for name, bests in results.items()}
    episode, celgc = fastest["episode"], fastest["celgc"]
    slower = all(a <= b for a, b in pairwise(celgc)) and celgc[0] < celgc[-1]
    worst = max(max(lowest[name]) for name in ("episode-unclipped", "scaffold"))
    ends, speeds = "lowest f - f* at the end:", f"fewest rounds to f - f* <= {accuracy:g}:"
    return [
        judged(
            "EPISODE converges to the global minimum for every H",
            MINIMUM, f"{ends} {_list(values, lowest['episode'], 'H')}",
            max(lowest["episode"]), accuracy, 10 * accuracy,
        ),
        judged(
            "EPISODE stays fast as H grows",
            FAST, f"{speeds} {_list(values, episode, 'H')}", episode[-1] / episode[0], 2.0, 4.0,
        ),
        ClaimVerdict(
            "CELGC becomes slower and slower as H grows",
            SLOW, f"{speeds} {_list(values, celgc, 'H')}", true_or_false(slower),
        ),
        judged(
            "CELGC does not reach the minimum when H is larger",
            MINIMUM, f"{ends} {_list(values, lowest['celgc'], 'H')}",
            lowest["celgc"][-1], 10 * accuracy, accuracy,
        ),
        judged(
            "the experiment shows that clipping is needed",
            OWN, "EPISODE (unclipped) and SCAFFOLD, on the same grid, end at f - f* <= "
            f"{worst:.1e} for every H", worst, 10 * accuracy, accuracy,
        ),
        judged(
            "not only the missing correction, also its clipping holds CELGC back at large H",
            OWN, f"at H = {values[-1]:g} FedAvg, which is CELGC without clipping, ends at "
            f"{lowest['fedavg'][-1]:.1e} and CELGC at {lowest['celgc'][-1]:.1e}",
            lowest["fedavg"][-1] / lowest["celgc"][-1], 0.5, 1.0,
        ),
    ]  # fmt: skip


def necessity_verdicts(contest: Contest, results: Results) -> list[ClaimVerdict]:
    """Judge whether clipping is needed far from the solution of an exponential function."""
    clipped = [name for name in results if TUNINGS[name].clips and TUNINGS[name].federated]
    plain = [name for name in results if not TUNINGS[name].clips]
    verdicts = []
    for place, X in enumerate(contest.values):
        with_it, without = (
            min(results[name][place].lowest for name in names) for names in (clipped, plain)
        )
        measured = (
            f"f - f* after {contest.rounds} rounds: {with_it:.1e} for the best clipped method, "
            f"{without:.1e} for the best without clipping"
        )
        claim = f"clipping is needed from x_0 = ({X:g}, -{X:g})"
        verdicts.append(judged(claim, OWN, measured, without / with_it, 100.0, 10.0))
    return verdicts


def participation_verdicts(
    contests: Sequence[Contest], results: Sequence[Results]
) -> list[ClaimVerdict]:
    """Judge EPISODE++ under partial participation; the last contest has the fewest clients."""
    last = {name: bests[0].lowest for name, bests in results[-1].items()}
    S, plus, scaffold = contests[-1].participants, last["episode-plus-plus"], last["scaffold"]
    stored = ("episode-plus-plus", "clipped-scaffold", "scaffold")
    end, rival = min((end, name) for name, end in last.items() if name not in stored)
    return [
        judged(
            f"EPISODE++ is ahead of methods without stored corrections at S = {S}",
            SUPERIOR, f"f - f* at the end: {plus:.1e}, and {end:.1e} for the best of the others, "
            f"{TUNINGS[rival].label}", end / plus, 10.0, 1.0,
        ),
        judged(
            f"episodic clipping is what makes the difference at S = {S}",
            OWN, f"SCAFFOLD without clipping ends at {scaffold:.1e}, EPISODE++ at {plus:.1e}",
            scaffold / plus, 10.0, 4.0,
        ),
    ]  # fmt: skip


def lower_bound_verdicts(
    slopes: Sequence[float],
    rounds: Mapping[str, NDArray[np.float64]],
    bound: NDArray[np.float64],
) -> list[ClaimVerdict]:
    """Judge the growth of the rounds with M, and the bound itself."""

    def growth(name: str) -> float:
        if not np.isfinite(rounds[name]).all():
            return float("nan")
        return float(np.polyfit(np.log(slopes), np.log(rounds[name]), 1)[0])

    minibatch = growth("clipped-minibatch-sgd")
    least = float(np.min(rounds["clipped-minibatch-sgd"] / bound))
    fastest = max(growth(name) for name in ("episode-plus-plus", "clipped-sgd"))
    return [
        ClaimVerdict(
            "clipped minibatch SGD never beats the lower bound",
            BOUND, f"at least {least:.0f} times the bound, on the grid", true_or_false(least >= 1),
        ),
        judged(
            "the rounds of clipped minibatch SGD grow in proportion to M",
            DEPENDENCE, f"as M^{minibatch:.2f}", minibatch, 0.8, 0.5,
        ),
        judged(
            "those of EPISODE++ and of clipped GD do not grow with M",
            NO_M, f"at most as M^{fastest:.2f}", fastest, 0.2, 0.5,
        ),
    ]  # fmt: skip


def theorem_verdicts(runs: Sequence[Slope]) -> list[ClaimVerdict]:
    """Judge the promise of Theorem 1 in runs with its parameters."""
    return [
        ClaimVerdict(
            f"with the theorem's parameters the average gradient norm is at most 3 eps, "
            f"sigma = {run.sigma:g}",
            THEOREM_1,
            f"{run.running[-1]:.3f} after {run.rounds[-1]} rounds, {run.promised[-1]:.3f} promised "
            f"and 3 eps = {3 * THEOREM_EPSILON:g}: "
            f"{run.promised[-1] / run.running[-1]:.0f} times less",
            true_or_false(run.running[-1] <= 3 * THEOREM_EPSILON),
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
