"""Lists that the product tests run over, and the world that a method is put in by hand."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from certibit import METHODS, Compressor, Experiment, Quadratic, Setting, Theorem, Trace, compressor
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.authoring import Method, Refusal
from certibit.solvers.libraries import namespace, transfer
from certibit.solvers.runs import engine
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.checks.channel.walk import with_pace

COMPRESSORS = {
    "unbiased": ["rand-k:2", "natural", "rand-k:2+natural", "l1", "dithering:3", "rand-k:1@shared"],
    "contractive": [
        *("top-k:2", "sign", "scaled(rand-k:2)", "natural"),
        "chunked:4(top-k:2)",
    ],
    None: ["identity"],
}

BOTH_WAYS = {
    "contractive": ["two-way(natural;top-k:2)", "two-way(rand-k:2;scaled(rand-k:2))"],
    "unbiased": ["two-way(natural;natural)", "two-way(rand-k:2;rand-k:3)"],
    None: [],
}
"""For methods whose server compresses, by the class that it needs."""

PROBLEMS = {
    "quadratic": cache(lambda: Quadratic.random(4, 6, mu=1.0, L=30.0, seed=3)),
    "logistic": cache(lambda: select_problem("breast-cancer@5", kappa=50.0, seed=1)),
    "one client": cache(lambda: Quadratic.random(1, 5, mu=1.0, L=10.0, seed=4)),
}


def _why_not(library: str) -> str:
    """Say why a library cannot be tested here, or nothing if it can."""
    if library == "torch" and find_spec("torch"):
        return ""  # it takes seconds to load
    try:
        namespace(library)
    except Refusal as refusal:
        return str(refusal)
    return ""


LIBRARIES = [
    pytest.param(
        library, marks=pytest.mark.skipif(bool(_why_not(library)), reason=_why_not(library))
    )
    for library in ("array-api-strict", "torch", "torch:cuda", "cupy")
]


class Case(NamedTuple):
    method: str
    compressor: str
    problem: str

    def __str__(self) -> str:
        return "-".join(self)


MILD = {"unbiased": "natural", "contractive": "natural", None: "identity"}
"""The compressors with the smallest variance."""

CASES = [
    Case(name, selector, problem)
    for name, card in METHODS.items()
    for problem in PROBLEMS
    for selector in COMPRESSORS[card.method.needs.compressor]
    if problem == "quadratic" or selector == MILD[card.method.needs.compressor]
    if not (problem == "one client" and card.shares_masks)
] + [
    Case(name, selector, "quadratic")
    for name, card in METHODS.items()
    for selector in BOTH_WAYS[card.method.needs.downlink]
]
"""Every method with every compressor on the quadratic, and with one on the other problems."""


class World(NamedTuple):
    experiment: Experiment
    oracle: Oracle
    channel: Channel

    @property
    def method(self) -> Method:
        return self.experiment.method

    @property
    def problem(self) -> Any:
        return self.experiment.problem

    @property
    def ledger(self) -> Ledger:
        return self.channel.ledger

    def start(self) -> Any:
        return self.method.start(self.channel.template, self.oracle, self.channel)

    def walk(self, iterations: int, s: Any = None) -> Iterator[Any]:
        """Yield a state, by default the first, and the state after every iteration."""
        s = self.start() if s is None else s
        yield s
        for iteration in range(1, iterations + 1):
            s, _ = advance(self.method, s, self.oracle, self.channel, iteration)
            yield s

    def iterate(self, s: Any, iterations: int) -> Any:
        """Return the state after some iterations."""
        *_, s = self.walk(iterations, s)
        return s


def fitted(case: Case, rule: str | None = None) -> Experiment:
    """Return the method of a case with parameters from theory, its problem and its compressor."""
    problem, chosen = PROBLEMS[case.problem](), compressor(case.compressor)
    return Experiment.of(METHODS[case.method].parameters(problem, chosen, rule), problem, chosen)


def world_of(
    experiment: Experiment,
    *,
    seeds: tuple[int, ...] = (0, 1, 2),
    wire: bool = False,
    library: str = "numpy",
    together: bool = True,
) -> World:
    """Return the world of an experiment.

    Where runs communicate at random they do so together, and all coins are fair; else each does as
    its own coins say.
    """
    moved = replace(experiment, problem=transfer(experiment.problem, library))
    channel, oracle = simulated_world(moved, seeds, wire)
    return World(moved, oracle, with_pace(channel) if together else channel)


def world(method: Method, problem: Any, chosen: Compressor | None = None, **options: Any) -> World:
    """Return the world of a method that is fitted to its problem first; see :func:`world_of`."""
    return world_of(Experiment.of(method, problem, chosen), **options)


def recorded_run(experiment: Experiment, theorem: Theorem, **options: Any) -> Trace:
    """Run an experiment and record the Lyapunov function of a theorem."""
    potential = lyapunov_record(theorem, Setting.at(experiment))
    return engine.simulate(experiment, potential=potential, **options)


def simulate(
    method: Method, problem: Any, chosen: Compressor | None = None, **options: Any
) -> Trace:
    """Run a method that is fitted to its problem first; the options are those of the engine."""
    return engine.simulate(Experiment.of(method, problem, chosen), **options)
