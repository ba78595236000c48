"""The command ``certify`` for certified descents, and for factors with stochastic gradients."""

import argparse
from dataclasses import replace
from functools import partial
from typing import Any

from certibit.cli.words.exit_codes import FAILED
from certibit.cli.words.options import read_downlink_weight
from certibit.cli.words.plain_options import print_json
from certibit.cli.words.subject import CertifiedSubject
from certibit.data.errors import Refusal
from certibit.data.problems.selector import problem
from certibit.data.terminal import for_terminal
from certibit.figures.text.descents import (
    cheapest_summary,
    descent_summary,
    describe_cheapest,
    describe_descent,
)
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.assumptions.bounded_dissimilarity import BoundedDissimilarity
from certibit.theory.descent.cheapest_descent import cheapest_descent
from certibit.theory.descent.descent_account import descent_account
from certibit.theory.descent.factor_account import factor_account
from certibit.theory.function_class import FunctionClass


def certify_descents(chosen: argparse.Namespace, subject: CertifiedSubject) -> int:
    """Certify a descent over convex or nonconvex functions; the exit code says if c > 0.

    Over strongly convex functions with stochastic gradients it is a factor 1 - c.
    """
    if chosen.growth and subject.setting.has_solution:
        raise Refusal("--growth is of functions that need not be convex; leave it out")
    if chosen.potential or chosen.weights != "fixed":
        raise Refusal(
            "--potential and --weights are of strongly convex functions; leave them out: the Psi "
            "of a theorem and the best form are both certified"
        )
    method, where, functions = subject.method, subject.setting, differing(chosen, subject)
    if where.strongly_convex:
        if chosen.optimise:
            raise Refusal(
                "--optimise is of exact gradients where f is strongly convex; leave it out"
            )
        found = factor_account(subject.card, method, where, functions)
    else:
        found = descent_account(subject.card, method, where, functions, growth=chosen.growth)
    best, weight = None, read_downlink_weight(chosen)
    if chosen.optimise:
        best = cheapest_descent(
            method,
            where,
            functions,
            chosen.optimise,
            downlink=weight,
            begin=_begin(chosen, subject),
        )
    if chosen.json:
        optimum = {"optimum": cheapest_summary(best)} if best else {}
        print_json(descent_summary(found) | optimum)
    else:
        print(for_terminal(partial(describe_descent, found)))
        if best:
            print(for_terminal(partial(describe_cheapest, best, chosen.optimise, weight)))
    return 0 if found.certificate.c > 0 else FAILED


def differing(chosen: argparse.Namespace, subject: CertifiedSubject) -> FunctionClass:
    """Return the class of functions, with clients that differ by zeta if that is asked for."""
    functions = subject.functions
    if chosen.zeta is None:
        return functions
    unlike = BoundedDissimilarity(1.0, chosen.zeta)
    return replace(functions, assumptions=(*functions.assumptions, unlike))


def _begin(chosen: argparse.Namespace, subject: CertifiedSubject) -> Experiment[Any] | None:
    """Return the method on a problem, if the start of its runs counts."""
    functions = subject.functions
    if chosen.problem is None or functions.noise or functions.has_solution:
        return None
    return Experiment.of(subject.method, problem(chosen.problem), subject.compressor)
