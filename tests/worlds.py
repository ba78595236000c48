"""Lists that the product tests run over, and the world that a method is put in by hand."""

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.data.problems.selector import problem as select_problem
from bitbound.solvers.backend import namespace, transfer
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.method import Method
from bitbound.solvers.runs import engine
from bitbound.solvers.world.channel import Ledger, Oracle
from bitbound.solvers.world.experiment import Experiment
from bitbound.solvers.world.iteration import advance
from bitbound.solvers.world.simulation import simulated_world
from bitbound.theory.checks.walk import PacedChannel, paced
from bitbound.theory.theorems.catalogue import METHODS

COMPRESSORS = {
    "unbiased": ["rand-k:2", "natural", "rand-k:2+natural", "l1", "dithering:3", "rand-k:1@shared"],
    "contractive": ["top-k:2", "sign", "scaled(rand-k:2)", "natural"],
    None: ["identity"],
}

PROBLEMS = {
    "quadratic": lambda: Quadratic.random(4, 6, mu=1.0, L=30.0, seed=3),
    "logistic": lambda: select_problem("breast-cancer@5", kappa=50.0, seed=1),
    "one client": lambda: Quadratic.random(1, 5, mu=1.0, L=10.0, seed=4),
}


def _gpu() -> str:
    """Say why cupy cannot be tested here, or nothing if it can."""
    try:
        namespace("cupy")
    except Refusal as refusal:
        return str(refusal)
    return ""


LIBRARIES = [
    "array-api-strict",
    pytest.param("cupy", marks=pytest.mark.skipif(bool(_gpu()), reason=_gpu())),
]


class Case(NamedTuple):
    method: str
    compressor: str
    problem: str

    def __str__(self) -> str:
        return "-".join(self)


CASES = [
    Case(name, selector, problem)
    for name, card in METHODS.items()
    for selector in COMPRESSORS[card.method.needs.compressor]
    for problem in PROBLEMS
    if not (problem == "one client" and card.shares_masks)
]


class World(NamedTuple):
    experiment: Experiment
    oracle: Oracle
    channel: PacedChannel

    @property
    def method(self) -> Method:
        return self.experiment.method

    @property
    def problem(self) -> Any:
        return self.experiment.problem

    @property
    def ledger(self) -> Ledger:
        return self.channel.ledger

    def iterate(self, s: Any, iterations: int) -> Any:
        """Do what the engine does, all runs together, with the coin of the first run."""
        for iteration in range(1, iterations + 1):
            s, _ = advance(self.method, s, self.oracle, self.channel, iteration)
        return s


def fitted(case: Case, rule: str | None = None) -> Experiment:
    """Return the method of a case with parameters from theory, its problem and its compressor."""
    problem, chosen = PROBLEMS[case.problem](), compressor(case.compressor)
    return Experiment.of(METHODS[case.method].parameters(problem, chosen, rule), problem, chosen)


def world(
    method: Method,
    problem: Any,
    chosen: Compressor | None = None,
    *,
    seeds: tuple[int, ...] = (0, 1, 2),
    wire: bool = False,
    library: str = "numpy",
) -> World:
    experiment = Experiment.of(method, problem, chosen)
    moved = replace(experiment, problem=transfer(experiment.problem, library))
    channel, oracle = simulated_world(moved, seeds, wire)
    return World(moved, oracle, paced(channel))


def simulate(method: Method, problem: Any, chosen: Compressor | None = None, **options: Any):
    """Run a method that is fitted to its problem first; the options are those of the engine."""
    return engine.simulate(Experiment.of(method, problem, chosen), **options)
