"""Smaller experiments in which a failure is looked for again: fewest clients, then entries."""

from collections.abc import Iterator
from dataclasses import fields

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.theory.card import Card
from certibit.theory.worlds.linearity import linear_compressor

SIZES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (3, 3))
"""Clients and entries."""


def smaller(
    experiment: ConvexExperiment, card: Card | None = None, rule: str | None = None
) -> Iterator[ConvexExperiment]:
    """Return small quadratics with the constants of a problem, without compression and with it.

    The parameters are those of a rule of the card, or unchanged.
    """
    constants = experiment.problem.plain.constants
    linear = (Identity(), RandK(1), Scaled(RandK(1)), linear_compressor(experiment.method))
    needs = experiment.method.needs.compressor
    for n, d in SIZES:
        L = constants.L if d > 1 else constants.mu
        for compressor in dict.fromkeys(linear) if needs else (None,):
            try:
                shared = experiment.method.needs.shared_minimiser
                problem = Quadratic.random(n, d, constants.mu, L, shared_minimiser=shared)
                method = card.parameters(problem, compressor, rule) if card else experiment.method
                yield Experiment.of(method, problem, compressor)
            except Refusal:  # such as a compressor of another class, or more values than clients
                continue


def in_words(experiment: ConvexExperiment) -> str:
    """Say how large an experiment is, and with which parameters."""
    n, d, constants = experiment.n, experiment.d, experiment.problem.plain.constants
    identity = isinstance(experiment.compressor, Identity)
    sent = "no compression" if identity else experiment.compressor.name
    return (
        f"n = {n}, d = {d}, a quadratic with mu = {constants.mu:.4g} and L = {constants.L:.4g}, "
        f"{sent}, {_written(experiment.method)}"
    )


def _written(method: Method) -> str:
    """Write a method with its parameters in four digits."""
    values = [(field.name, getattr(method, field.name)) for field in fields(method)]
    words = [f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in values]
    return f"{type(method).__name__}({', '.join(words)})"
