"""Comparison of methods on a problem by their cost to given accuracies."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.files.archive import write_record
from certibit.data.problem import Problem
from certibit.data.problems.selector import problem as problem_named
from certibit.figures.comparison.comparison_result import Comparison
from certibit.figures.comparison.contestants import Contestant, Entry, contestants
from certibit.figures.comparison.tuned_steps import Jobs, TunedSteps, tuned
from certibit.figures.curve_records import figure_record, panel_record
from certibit.figures.looks import distinct_looks
from certibit.solvers.network import Network, network_named
from certibit.solvers.registry import extension
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import Progress, simulate
from certibit.solvers.runs.grid import StepGrid
from certibit.solvers.runs.trace import MEASURES, Trace, require_measure
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob
from certibit.theory.catalogue.covered_run import measure_at_start, require_theorem, usual_measure

Named: TypeAlias = tuple[str, tuple[tuple[str, Any], ...]]
"""The selector of a problem, and pairs of options of :func:`certibit.problem`."""

_FINEST = 1e-30
"""The least f - f* or |grad f|^2 that is taken as a target."""


def compare(
    problem: Problem | str,
    methods: Sequence[Entry],
    *,
    target: float | Sequence[float] = 1e-6,
    measure: str | None = None,
    seeds: int | Sequence[int] = 5,
    budget: Budget | None = None,
    network: Network | str | None = None,
    store: Store | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    processes: Any = None,
    named: Named | None = None,
    tune: StepGrid | str | None = None,
) -> Comparison:
    """Run methods on a problem and compare their costs to reach an accuracy.

    Parameters
    ----------
    problem : Problem or str
        The problem min f, or its name.
    methods : sequence
        Each a method or its name, alone or in a pair with a compressor or its name. A name is
        ``METHOD``, ``METHOD[RULE]`` or ``METHOD[NAME=VALUE,...]`` and may end with
        ``+COMPRESSOR``, such as ``"locodl[ours]+rand-k:2"``; a method is one of the
        catalogue or ``path/to/method.py``.
    target : float or sequence of float
        Accuracies in the measure.
    measure : {"gap", "squared_gradient"}, optional
        f - f* or |grad f|^2; by default the former for a strongly convex problem.
    seeds : int or sequence of int
        The run seeds, or their number.
    budget : Budget, optional
        Limits of a run that does not reach the finest target.
    network : Network or str, optional
        The network for modelled seconds, or its name: ``lte``, ``dsl``, ``lan``, ``sensor``, or in
        words such as ``up=1e6,down=1e7,latency=0.01,gradient=1e-3``.
    store : Store, optional
        Where finished traces are kept and found again.
    strict : bool
        Whether parameters outside every theorem are refused, and methods without a theorem.
    progress : callable, optional
        Called with the fraction that is done.
    processes : int or Place, optional
        How many methods are run at once on this machine, or a cluster; then with a store, and
        ``progress`` is not called. By default one after the other in this process.
    named : tuple, optional
        How :func:`certibit.problem` makes the problem: its selector, and pairs of options. Other
        processes then read the data themselves; without it, each curve takes the problem along.
    tune : StepGrid or str, optional
        A grid of step sizes and thresholds, such as ``"eta=0.1,0.01:tau=5,10"``. Every method runs
        with every pair, with the same seeds and the same limits of bits, rounds or gradients, and
        takes part with its best pair: that with the fewest bits to the finest target in the median
        run, or that which is nearest to the target if none gets there. A method without threshold
        has a step size alone. The pair is the best of these seeds; others may have another one.

    Returns
    -------
    Comparison
        With the medians and bands, a table, a figure and the traces.

    Raises
    ------
    Refusal
        If a method, the problem, a compressor and the settings do not fit each other, or if steps
        are tuned without a limit.

    Warns
    -----
    OutsideTheoremWarning
        Once for every method whose parameters no theorem of it covers.

    Examples
    --------
    >>> from certibit import compare, problem
    >>> solved = problem("breast-cancer@9", kappa=100)
    >>> print(compare(solved, ["agd", "locodl+rand-k:2+natural"], target=1e-3, seeds=2))
    breast-cancer@9: n=9, d=30, kappa=100; medians over 2 seeds
    <BLANKLINE>
    f - f* <= 1e-3
    method                   bits up    down      10-90 %  rounds  gradients
    -----------------------  -------  ------  -----------  ------  ---------
    locodl+rand-k:2+natural    2,058  70,560  1.82k-2.29k      74        111
    agd                       13,440  13,440        13.4k      14         14
    """
    problem = problem_named(problem) if isinstance(problem, str) else problem
    measure = usual_measure(problem) if measure is None else measure
    if budget is not None and budget.accuracy is not None:
        raise Refusal(
            f"a budget of {budget.accuracy:g} {budget.measure}; give accuracies as target="
        )
    targets = _targets(target, problem, measure)
    until = (budget or Budget()).aimed(targets[-1], measure)
    on = network_named(network) if isinstance(network, str) else network
    options: dict[str, Any] = {"budget": until, "record": Record(accuracies=targets)}

    def run(jobs: Jobs, first: float = 0.0, share: float = 1.0) -> list[Trace]:
        if processes is not None:
            return _at_once(jobs, store, options, processes, named)
        finish, found = simulate if store is None else store.trace, []
        for place, (one, some) in enumerate(jobs):
            here, part = first + share * place / len(jobs), share / len(jobs)
            tell = progress and _part(progress, here, part)
            found.append(finish(one.experiment, seeds=some, progress=tell, **options))
        return found

    own = range(seeds) if isinstance(seeds, int) else seeds
    steps = StepGrid.of(tune) if isinstance(tune, str) else tune
    best: tuple[TunedSteps, ...] = ()
    if steps is None:
        taking_part, first = contestants(problem, methods), 0.0
    else:
        if until.bits is until.rounds is until.gradients is None:
            raise Refusal("tuning is at equal cost; give a limit of rounds, gradients or bits")
        first = 0.5
        taking_part = contestants(problem, methods, (steps.etas[0], (*steps.taus, math.inf)[0]))
        taking_part, best = tuned(
            taking_part, steps, own, targets[-1], lambda jobs: run(jobs, share=first)
        )
    for contestant in taking_part:
        require_theorem(contestant.card, contestant.experiment, strict=strict)
    traces = run([(one, seeds) for one in taking_part], first, 1.0 - first)
    if on is not None:
        traces = [trace.timed(on) for trace in traces]
    return Comparison(problem, taking_part, tuple(traces), targets, on, steps, best)


@dataclass(frozen=True)
class ContestantRun(StoredJob):
    """The runs of one method of a comparison, as a job for other processes."""

    contestant: Contestant
    store: Store
    options: dict[str, Any]
    named: Named | None = None

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return self.contestant.label

    def trace(self) -> Trace:
        """Load the trace, or compute and keep it."""
        return self.store.trace(self.contestant.experiment, **self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled, without the rows of a problem that has a name."""
        one, parts = self.contestant, (self.store, self.options, self.named)
        if self.named is not None:
            unread: Any = None
            one = replace(one, experiment=replace(one.experiment, problem=unread))
        return _run_again, (one, *parts)


def _run_again(
    one: Contestant, store: Store, options: dict[str, Any], named: Named | None
) -> ContestantRun:
    if named is not None:
        method, compressor = one.method, one.compressor
        one = replace(one, experiment=Experiment.of(method, _read(named), compressor))
    return ContestantRun(one, store, options, named)


@lru_cache(maxsize=2)
def _read(named: Named) -> Problem:
    """Return a problem by its name, read once in a process."""
    selector, options = named
    made: Problem = problem_named(selector, **dict(options))
    return made


def _at_once(
    taking_part: Jobs,
    store: Store | None,
    options: dict[str, Any],
    processes: Any,
    named: Named | None,
) -> list[Trace]:
    """Return the traces, in order, computed in several processes."""
    pool = extension("certibit.figures.pool")
    if pool is None or store is None:
        raise Refusal(
            f"processes = {processes!r} without "
            f"{'figures/pool' if pool is None else 'a store'}; "
            "give store=, or leave processes out"
        )
    jobs = [
        ContestantRun(contestant, store, options | {"seeds": seeds}, named)
        for contestant, seeds in taking_part
    ]
    return [trace for _, trace in sorted(pool.traces(jobs, processes), key=itemgetter(0))]


def _part(progress: Progress, first: float, share: float) -> Progress:
    """Return what tells the progress of a share of the whole as that of the whole."""
    return lambda fraction: progress(first + share * fraction)


def _targets(target: float | Sequence[float], problem: Problem, measure: str) -> tuple[float, ...]:
    """Return the accuracies, the finest last."""
    require_measure(measure)
    targets = tuple(sorted({*np.ravel(target).tolist()}, reverse=True))
    start = measure_at_start(problem, measure)
    for accuracy in targets or (0.0,):
        if not _FINEST <= accuracy < start:
            raise Refusal(
                f"the target {MEASURES[measure]} = {accuracy:g} is not possible; "
                f"give at least {_FINEST:g} and less than {start:.3g}, which it is at the start"
            )
    return targets


def require_name(name: str) -> None:
    """Refuse a name under which no comparison can be kept."""
    if not re.fullmatch(r"\w[\w-]{0,60}", name):
        raise Refusal(
            f"{name!r} is no name for the report; "
            "give letters, digits and hyphens, such as kappa-100"
        )


def keep_comparison(found: Comparison, name: str, folder: Path, downlink: float = 0.0) -> Path:
    """Write what the report shows of a comparison into a folder of results, and its picture.

    Returns the file of the numbers.

    With a weight of the downlink, it is drawn against total bits.

    Raises
    ------
    Refusal
        If the name is of something else than letters, digits and hyphens, or if a contestant sends
        nothing, so that there are no bits to draw against.
    """
    require_name(name)
    path = folder / "compared" / f"{name}.json"
    write_record(path, _record(found, name, downlink))
    found.save(path.with_suffix(".svg"), "total bits" if downlink else "bits", downlink)
    return path


def _record(found: Comparison, name: str, downlink: float) -> dict[str, Any]:
    pairs = list(zip(found.contestants, found.traces, strict=True))
    for contestant, trace in pairs:
        if not trace.columns["uplink_bits"].any():
            raise Refusal(
                f"{contestant.name} sends nothing, and the report draws against bits; "
                "leave it out, or compare without --report"
            )
    looks = distinct_looks([contestant.card for contestant in found.contestants])
    curves = [
        (_look(contestant, look["color"]), trace)
        for (contestant, trace), look in zip(pairs, looks, strict=True)
    ]
    panel = panel_record(
        name, found.problem.name, found.kappa, found.targets[-1], curves, downlink=downlink
    )
    return figure_record(f"compared-{name}", [panel])


def _look(contestant: Contestant, colour: str) -> dict[str, Any]:
    return {
        "label": contestant.label,
        "method": contestant.name,
        "compressor": contestant.compressor.name,
        "rule": contestant.variant or None,
        "colour": colour,
    }
