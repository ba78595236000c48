"""All checks of the library about one subject: a method with its rule and compressor."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.selector import compressor as make_compressor
from bitbound.theory.checks.compression import channel_checks, compressor_checks
from bitbound.theory.checks.identities import identities
from bitbound.theory.checks.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    unmet,
    worst_quadratic,
)
from bitbound.theory.checks.soundness import soundness
from bitbound.theory.checks.whole_runs import whole_runs
from bitbound.theory.theorem import Setting
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
    entry, options = METHODS[name], options or {}
    need = entry.method.needs.compressor
    chosen = make_compressor(selector or SELECTORS[need]) if need else None
    problem = Quadratic.random(3, 4, 1.0, [20.0, 12.0, 5.0], seed=seed)
    if sampling:
        used = chosen or make_compressor("identity")
        yield from _guarded("compressor", lambda: compressor_checks(used, 5, seed))
        yield from _guarded("channel", lambda: channel_checks(used, seed=seed))
    yield from _guarded("identities", lambda: (identities(name, problem, seed),))
    try:
        method = entry.parameters(problem, chosen, rule, **options)
    except Exception as error:
        yield Verdict("parameters", math.inf, 0.0, repr(error))
        return
    yield from _guarded("soundness", lambda: soundness(method, problem, chosen, seed))
    setting = Setting.of(method, problem, chosen)
    met = [theorem for theorem in entry.theorems if not unmet(theorem, method, setting)]
    yield Verdict("hypotheses", float(not met), 0.0)
    for theorem in met or entry.theorems:
        for check in (
            lambda t=theorem: steps_along_a_run(t, method, problem, chosen, seed=seed),
            lambda t=theorem: steps_at_random_states(t, method, problem, chosen, seed=seed),
        ):
            yield from _guarded("one step", lambda check=check: (check(),))
        with suppress(Refusal):  # it checks nothing if the rule meets the theorem nowhere
            yield worst_quadratic(theorem, entry, rule, seed=seed, options=options)
        if met:
            yield from _guarded(
                "whole runs",
                lambda t=theorem: (
                    whole_runs(
                        t,
                        method,
                        problem,
                        chosen,
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
