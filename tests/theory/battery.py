"""All checks of the library about one subject: a method with its rule and compressor."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.selector import compressor as make_compressor
from bitbound.solvers.world.experiment import Experiment
from bitbound.theory.checks.boundary import at_the_boundary
from bitbound.theory.checks.compression import channel_checks, compressor_checks
from bitbound.theory.checks.identities import identities
from bitbound.theory.checks.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_quadratic,
)
from bitbound.theory.checks.soundness import soundness
from bitbound.theory.checks.whole_runs import whole_runs
from bitbound.theory.setting import Setting
from bitbound.theory.theorems.catalogue import METHODS
from bitbound.theory.verdict import Verdict

SELECTORS = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: None}
ACCURACY = 1e-4


def findings(
    name: str,
    rule: str | None = None,
    selector: str | None = None,
    options: dict | None = None,
    *,
    seed: int = 0,
    sampling: bool = True,
) -> Iterator[Verdict]:
    """Return all verdicts; what raises an error is a verdict that does not hold."""
    card, options = METHODS[name], options or {}
    need = card.method.needs.compressor
    chosen = make_compressor(selector or SELECTORS[need]) if need else None
    problem = Quadratic.random(3, 4, 1.0, [20.0, 12.0, 5.0], seed=seed)
    if sampling:
        used = chosen or make_compressor("identity")
        yield from _guarded("compressor", lambda: compressor_checks(used, 5, seed))
        yield from _guarded("channel", lambda: channel_checks(used, seed=seed))
    yield from _guarded("identities", lambda: (identities(card, problem, seed),))
    try:
        method = card.parameters(problem, chosen, rule, **options)
    except Exception as error:
        yield Verdict("parameters", math.inf, 0.0, repr(error))
        return
    experiment = Experiment.of(method, problem, chosen)
    yield from _guarded("soundness", lambda: soundness(card, experiment, seed))
    held = card.holding(method, Setting.at(experiment))
    yield Verdict("hypotheses", float(not held), 0.0)
    for theorem in held or card.theorems:
        for check in (steps_along_a_run, steps_at_random_states):
            yield from _guarded(
                "one step",
                lambda t=theorem, check=check: (check(t, experiment, seed=seed),),
            )
        with suppress(Refusal):  # it checks nothing if the rule meets the theorem nowhere
            yield worst_quadratic(theorem, card, rule, seed=seed, options=options)
        if not seed:  # it draws nothing
            with suppress(Refusal):
                yield at_the_boundary(theorem, card, rule)
        if held:
            yield from _guarded(
                "whole runs",
                lambda t=theorem: (
                    whole_runs(
                        t,
                        experiment,
                        seeds=range(seed, seed + 3),
                        accuracy=ACCURACY,
                        iterations=800,
                    ).verdicts
                ),
            )


def _guarded(check: str, make: Callable[[], tuple[Verdict, ...]]) -> Iterator[Verdict]:
    try:
        with np.errstate(all="ignore"):
            yield from make()
    except Refusal as error:
        yield Verdict(check, math.inf, 0.0, str(error))
    except (ValueError, TypeError, IndexError, ZeroDivisionError, np.linalg.LinAlgError) as error:
        yield Verdict(check, math.inf, 0.0, repr(error))
