"""Lists that the product tests run over, and the world that a method is put in by hand."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.data.problems.selector import problem as select_problem
from bitbound.solvers.backend import namespace, transfer
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.fit import fitting_compressor, fitting_view
from bitbound.solvers.method import Every, Method, WithProbability
from bitbound.solvers.world.channel import Channel, Ledger, Oracle
from bitbound.solvers.world.randomness import Streams
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

NEEDS_TWO_CLIENTS = {"compressed-scaffnew", "tamuna"}


class Case(NamedTuple):
    method: str
    compressor: str
    problem: str

    def __str__(self) -> str:
        return "-".join(self)


CASES = [
    Case(name, selector, problem)
    for name, entry in METHODS.items()
    for selector in COMPRESSORS[entry.method.needs.compressor]
    for problem in PROBLEMS
    if not (problem == "one client" and name in NEEDS_TWO_CLIENTS)
]


class World(NamedTuple):
    method: Method
    problem: Any
    oracle: Oracle
    channel: Channel
    ledger: Ledger

    def iterate(self, s: Any, iterations: int) -> Any:
        """Do what the engine does, all runs together, with the coin of the first run."""
        for iteration in range(1, iterations + 1):
            s = self.method.local_step(s, self.oracle, self.channel)
            schedule = self.method.schedule
            if isinstance(schedule, Every):
                talks = iteration % schedule.iterations == 0
            else:
                assert isinstance(schedule, WithProbability)
                talks = bool(self.channel.streams.uniform("round", np.array([0]), (1, 1)) < 0.5)
            if talks:
                s = self.method.communicate(s, self.oracle, self.channel)
        return s


def fitted(case: Case, rule: str | None = None) -> tuple[Method, Any, Compressor]:
    """Return the method of a case with parameters from theory, its problem and its compressor."""
    problem, chosen = PROBLEMS[case.problem](), compressor(case.compressor)
    return METHODS[case.method].parameters(problem, chosen, rule), problem, chosen


def world(
    method: Method,
    problem: Any,
    chosen: Compressor | None = None,
    *,
    seeds: tuple[int, ...] = (0, 1, 2),
    wire: bool = False,
    library: str = "numpy",
) -> World:
    view = transfer(fitting_view(method, problem), library)
    runs = np.arange(len(seeds))
    ledger = Ledger(len(seeds))
    zero = namespace(library).zeros((1, view.d, len(seeds)))
    fit = fitting_compressor(method, chosen, view.d)
    channel = Channel(view.n, fit, runs, Streams(seeds), ledger, zero, wire)
    return World(method, view, Oracle(view, runs, ledger), channel, ledger)
