"""The experiments with clipped methods: figures, tables and verdicts.

Source of the claims: Crawshaw, Bao, Liu, ICLR 2023 (EPISODE), section 5 and appendix E.2, and the
talk on EPISODE++ (NeurIPS 2023).
"""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.files.archive import write_record
from certibit.data.problem import RelaxedConstants
from certibit.data.terminal import paragraph, table
from certibit.figures.episode.clipping_drawing import (
    against_promise,
    against_slope,
    draw_comparison,
    figure_3,
)
from certibit.figures.episode.clipping_verdicts import (
    figure_3_verdicts,
    lower_bound_verdicts,
    necessity_verdicts,
    participation_verdicts,
    theorem_verdicts,
)
from certibit.figures.episode.theorem_runs import (
    DELTA,
    HARD_EPSILON,
    SLOPES,
    best_rounds,
    theorem_runs,
)
from certibit.figures.episode.tuning import TUNINGS, Contest, Results, hold
from certibit.figures.pool import Work
from certibit.figures.text.verdicts import ClaimVerdict, verdicts_text
from certibit.solvers.runs.grid import StepGrid
from certibit.theory.formulas.clipping_complexity import (
    ComplexityRow,
    episode_table,
    minibatch_lower_bound,
    partial_participation_table,
)

SYNTHETIC = Contest(
    "quartics",
    "H",
    (1, 2, 4, 8),
    StepGrid((0.1, 0.01, 0.001), (5, 10, 15)),
    rounds=500,
    tuning=100,
    accuracy=0.1,
)
"""Figure 3 of the EPISODE paper, with its grid."""
NEEDED = Contest(
    "crossed cosh", "X", (10, 15), StepGrid(tuple(10.0**-k for k in range(1, 8)), (1, 10, 100)),
    rounds=500, tuning=500, accuracy=0.01,
)  # fmt: skip
"""The problems on which clipping is needed."""
PARTIAL = tuple(
    Contest(
        "tilted wells", "kappa", (10,),
        StepGrid((0.1, 0.03, 0.01, 0.003, 0.001), (3, 10, 30, 100)),
        rounds=600, tuning=600, accuracy=0.01, participants=S,
    )
    for S in (20, 4, 1)
)  # fmt: skip
"""Partial participation; of 20 clients, S take part in a round."""
CONSTANTS = RelaxedConstants(2.0, 1.0, 1.0, 1.0, sigma=1.0, Delta=math.cosh(3.0) - 1)
"""The constants at which the complexity tables are evaluated: f_i = cosh x +- x from x_0 = 3 with
noise."""
SMOOTHNESS = math.cosh(3.0)
"""Largest |f_i''| where f(x) <= f(x_0)."""


def clipping_experiments(work: Work) -> list[Path]:
    """Run missing experiments, draw all figures, and write tables and verdicts.

    With limits no claim is judged. The files drawn are returned.
    """
    folder, seeds, processes, tell = work.folder, work.seeds, work.processes, work.tell
    store = work.store
    federated = [name for name, tuning in TUNINGS.items() if tuning.federated]
    results = hold([SYNTHETIC, NEEDED], TUNINGS, store, seeds, processes)
    few = max(1, seeds // 2)
    results |= hold(PARTIAL, federated, store, few, processes)
    synthetic, needed = results[SYNTHETIC], results[NEEDED]
    in_part = [results[contest] for contest in PARTIAL]

    said: list[dict[str, Any]] = []

    def judge(verdicts: list[ClaimVerdict], runs: int = seeds) -> None:
        if work.limits is not None:
            return
        records = [each.firm(runs).record() for each in verdicts]
        said.extend(records)
        tell(lambda: verdicts_text(records))

    paths = figure_3(SYNTHETIC, synthetic, folder)
    panels = [(f"H = {H:g}", SYNTHETIC, synthetic, i) for i, H in enumerate(SYNTHETIC.values)]
    paths += draw_comparison("episode-all", panels, 3e-6, folder, columns=2)
    tell(partial(_contest_text, "Figure 3, with all methods", SYNTHETIC, synthetic))
    judge(figure_3_verdicts(SYNTHETIC, synthetic))

    panels = [(f"X = {X:g}", NEEDED, needed, i) for i, X in enumerate(NEEDED.values)]
    paths += draw_comparison("episode-needed", panels, 1e-5, folder, columns=2)
    tell(partial(_contest_text, "Where clipping is needed", NEEDED, needed))
    judge(necessity_verdicts(NEEDED, needed))

    panels = [
        (f"S = {contest.participants} of 20", contest, result, 0)
        for contest, result in zip(PARTIAL, in_part, strict=True)
    ]
    paths += draw_comparison("episode-participation", panels, 1e-5, folder, columns=3)
    for contest, result in zip(PARTIAL, in_part, strict=True):
        title = f"Partial participation, S = {contest.participants}"
        tell(partial(_contest_text, title, contest, result))
    judge(participation_verdicts(PARTIAL, in_part), few)

    rounds = best_rounds(store, processes)
    bound = np.array([minibatch_lower_bound(DELTA, 1.0, 1.0, M, HARD_EPSILON) for M in SLOPES])
    paths += against_slope(SLOPES, rounds, bound, folder)
    title = "\nRounds on the hard family, best of the grid"
    tell(lambda: f"{title}\n{_rounds_table(rounds, bound)}")
    judge(lower_bound_verdicts(SLOPES, rounds, bound))

    runs = theorem_runs(store, max(1, seeds // 5), processes)
    paths += against_promise(runs, folder)
    tell(lambda: "\nRuns with the parameters of Theorem 1")
    judge(theorem_verdicts(runs))

    paths.append(folder / "report.json")
    write_record(paths[-1], {"verdicts": said})
    tell(lambda: "\n" + complexity_tables(CONSTANTS, SMOOTHNESS))
    tell(lambda: "\n" + "\n".join(map(str, paths)))
    return paths


def complexity_tables(
    constants: RelaxedConstants,
    L: float,
    *,
    n: int = 8,
    S: int = 2,
    I: int = 8,  # noqa: E741  (the paper's symbol)
    epsilon: float = 0.1,
) -> str:
    """Write the complexity tables of both papers at given constants: orders, not bounds.

    L is the smoothness where a method assumes one.
    """
    c = constants
    setting = (
        f"L0 = {c.L0:g}, L1 = {c.L1:g}, kappa = {c.kappa:g}, rho = {c.rho:g}, "
        f"sigma = {c.sigma:g},\nDelta = {c.Delta:.3g}, L = {L:.3g}, eps = {epsilon:g}, I = {I}"
    )
    parts = [
        f"Complexities, as orders without constants, at\n{setting}",
        f"\nEPISODE, Table 1, N = {n}",
        _complexity(episode_table(c, L, n, I, epsilon)),
        f"\nEPISODE++, talk, N = {n}, S = {S}, up to logarithms\n"
        "Theorem 1 of EPISODE++; constants not in the talk",
        _complexity(partial_participation_table(c, L, n, S, I, epsilon)),
    ]
    return "\n".join(parts)


def _complexity(rows: tuple[ComplexityRow, ...]) -> str:
    cells = [
        (
            row.method,
            row.setting,
            *(_number(x) for x in (row.rounds, row.iterations, row.largest_I)),
        )
        for row in rows
    ]
    return table(("method", "setting", "R", "T_min", "I_max"), cells, texts=2)


def _contest_text(title: str, contest: Contest, results: Results) -> str:
    rows = [
        (
            TUNINGS[name].label if place == 0 else "",
            f"{value:g}",
            *contest.steps.marked(best.eta, best.tau),
            _number(best.reach(contest.accuracy)),
            _number(best.end),
            _number(best.fastest),
            _number(best.lowest),
        )
        for name, bests in results.items()
        for place, (value, best) in enumerate(zip(contest.values, bests, strict=True))
    ]
    header = ("method", contest.axis, "eta", "tau", "rounds", "end", "fewest", "lowest")
    explained = paragraph(
        f"{title}: rounds until f - f* <= {contest.accuracy:g} for good, and f - f* at the end, "
        f"with the best pair for the first {contest.tuning} rounds (* on the edge of the grid); "
        "then the fewest rounds and the lowest end of the whole grid",
    )
    return f"\n{explained}\n{table(header, rows, texts=1)}"


def _rounds_table(rounds: dict[str, np.ndarray], bound: np.ndarray) -> str:
    names = [TUNINGS[name].label for name in rounds]
    columns = [*rounds.values(), bound]
    rows = [
        (f"{M:g}", *(_number(column[place]) for column in columns))
        for place, M in enumerate(SLOPES)
    ]
    return table(("M", *names, "bound"), rows, texts=0)


def _number(x: float) -> str:
    if math.isnan(x):
        return ""
    if math.isinf(x):
        return "never"
    if 10 <= x < 1e5 or x == int(x):
        return f"{x:.0f}"
    return f"{x:.2g}" if 0.1 <= x < 10 else f"{x:.1e}"
