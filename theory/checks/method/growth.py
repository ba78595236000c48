"""Explanations of a failed check: smallest counterexample, growing part, certificate."""

from contextlib import suppress
from dataclasses import fields, replace

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.theory.card import Card
from certibit.theory.certificates.certify import certify
from certibit.theory.checks.method.smallest import in_words, smaller
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem
from certibit.theory.verdict import ROUNDING
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.linear_maps import worst_case
from certibit.theory.worlds.probing import one_step


def why_it_grows(
    theorem: Theorem,
    experiment: ConvexExperiment,
    card: Card | None = None,
    rule: str | None = None,
    limit: float | None = None,
) -> str:
    """Return sentences for a promise that is not kept; empty where nothing more is found.

    Parameters
    ----------
    card, rule : optional
        Where the parameters of smaller problems come from; without a card they stay.
    limit : float, optional
        In the place of the promised factor; the hypotheses are then not looked at.
    """
    sentences = []
    for small in smaller(experiment, card, rule):
        with suppress(Exception):  # what cannot be tried is no counterexample
            setting = Setting.at(small)
            if limit is None and theorem.unmet(small.method, setting):
                continue
            promised = theorem.rate(small.method, setting) if limit is None else limit
            worst = worst_case(small, theorem)
            if worst > promised * (1 + ROUNDING):
                sentences = [
                    f"Smallest counterexample: {in_words(small)}; there one step may multiply the "
                    f"Lyapunov function by {worst:.4g}, and {promised:.4g} is promised.",
                    _growing_field(theorem, small, promised, blamed=limit is None),
                ]
                break
    sentences.append(_certified(theorem, experiment))
    return " ".join(sentence for sentence in sentences if sentence)


def _growing_field(
    theorem: Theorem, small: ConvexExperiment, promised: float, *, blamed: bool
) -> str:
    """Name the field of the state whose deviation alone makes the Lyapunov function grow most.

    If a theorem promises a decrease, the line that updates this field is named as well.
    """
    star = fixed_point(small.method, small.problem)
    growth = {}
    for field in fields(star):
        kept = getattr(star, field.name)
        if kept.dtype != bool:
            moved = np.random.default_rng(0).standard_normal(kept.shape)
            if kept.shape[0] > 1:  # a sum over the clients stays as it is
                moved -= moved.mean(axis=0)
            state = replace(star, **{field.name: kept + moved})
            with suppress(ZeroDivisionError):  # a part that the Lyapunov function does not see
                growth[field.name] = one_step(small, theorem, state).factor
    name = max(growth, key=lambda name: np.nan_to_num(growth[name], nan=-np.inf))
    if not growth[name] > promised * (1 + ROUNDING):
        return ""
    where = f": look at the line that updates {name}" if blamed else ""
    return (
        f"From the solution with only {name} moved, the Lyapunov function is multiplied by "
        f"{growth[name]:.4g}{where}."
    )


def _certified(theorem: Theorem, experiment: ConvexExperiment) -> str:
    """Say which factor a certificate proves, if one is quickly found."""
    try:
        functions = FunctionClass.of(Setting.at(experiment))
        factor = certify(experiment.method, functions, potential=theorem).factor
    except (Refusal, ArithmeticError, np.linalg.LinAlgError):
        return ""
    proved = f"the best factor that is proved is {factor:.4g}"
    return f"certify: over all functions of this class {proved}{', a growth' * (factor > 1)}."
