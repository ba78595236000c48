"""Runs in the event world, and their traces."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import reduce

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.mini_batch import NO_BATCHES, MiniBatch
from certibit.data.own.description import description
from certibit.data.problem import Problem
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.backend import mean, squared_norm
from certibit.solvers.clock.network import Network, network_named
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.events.event_method import EventMethod
from certibit.solvers.events.event_world import ClientWork, EventChannel, EventOracle
from certibit.solvers.libraries import host
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.origin import origin
from certibit.solvers.runs.points import Callback
from certibit.solvers.runs.seeds import fitted_seeds
from certibit.solvers.runs.trace import COLUMNS, SECONDS, Column, Trace
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams
from certibit.solvers.simulation.tape import Tape


def simulate_events(
    method: EventMethod,
    problem: Problem,
    compressor: Compressor | None = None,
    *,
    network: Network | str,
    seeds: int | Sequence[int] = 5,
    budget: Budget,
    record: Record | None = None,
    callback: Callback | None = None,
) -> Trace:
    """Run a method whose server acts on every arrival, from x_0 of a problem.

    Parameters
    ----------
    method : EventMethod
        The method with its parameters.
    problem : Problem
        The problem min f, in the plain view; every client draws from all data.
    compressor : Compressor, optional
        The unbiased compressor of a method that compresses; without one, nothing is compressed.
    network : Network or str
        The links and speeds of its n clients.
    seeds : int or sequence of int
        The run seeds, or their number.
    budget : Budget
        Limits of every run; iterations are arrivals, and rounds are steps of the server.
    record : Record, optional
        Which steps of the server are recorded.
    callback : callable, optional
        Called at every recorded step with its columns and the models ``x``, (1, d, R). The runs end
        if it returns true.

    Returns
    -------
    Trace
        With the column ``seconds``: when the server makes the step. Bits and gradients are means
        over clients; synchronisations are 0.

    Raises
    ------
    Refusal
        If the settings do not fit, or nothing but arrivals would end the runs.
    """
    if isinstance(network, str):
        network = network_named(network)
    problem, limits = (
        problem.plain,
        (
            *(budget.accuracy, budget.rounds, budget.bits, budget.gradients),
            budget.network_seconds,
        ),
    )
    if all(limit is None for limit in limits):
        raise Refusal(
            "an event run needs an accuracy, or a limit of rounds, bits, gradients or "
            "network_seconds"
        )
    if isinstance(problem.noise, MiniBatch):
        raise Refusal(f"{NO_BATCHES}; leave batch out, or give noise")
    run_seeds = fitted_seeds(seeds, 1)
    runs, n, d = np.arange(len(run_seeds)), problem.n, problem.d
    x = problem.x_0 + np.zeros((1, 1, runs.size))
    ledger, sent = Ledger(runs.size), _fitted(method, compressor, d)
    one = Channel(1, sent, runs, Streams(run_seeds), ledger, x)
    channel = EventChannel(one, network.clients(n), work_of(method, sent, d))
    tape = Tape.of(problem.noise, run_seeds) if problem.noise else None
    oracle = EventOracle(problem, runs, ledger, tape)
    points = _Points(problem, budget, record or Record(), ledger, callback)
    with quiet_machine():
        s = method.start(x, channel)
        going = points.look(method.model(s), 0, 0, 0.0)
        arrivals = 0
        while going:
            given, k = channel.next_arrival()
            g = method.message(given, oracle, channel)
            before, s = s.k, method.on_arrival(s, g, k, channel)
            arrivals += 1
            if s.k > before or arrivals == budget.iterations:
                going = points.look(method.model(s), arrivals, s.k, channel.now)
    specification = {
        "problem": problem.specification,
        "method": {
            "name": method.name,
            "parameters": {name: description(value) for name, value in vars(method).items()},
        },
        "compressor": sent.name,
        "seeds": list(run_seeds),
        "budget": budget.described,
        "record": asdict(record or Record()),
        "network": network.described,
        "origin": origin(problem),
    }
    return Trace(specification, points.columns, tuple(points.ending))


def work_of(method: EventMethod, compressor: Compressor, d: int) -> ClientWork:
    """Return what clients do between two messages of a method."""
    model = Identity().layout(d).bits
    bits = compressor.layout(d).bits if method.compressed else model
    up = np.asarray(method.messages) * bits
    return ClientWork(method.gradients, tuple(up.tolist()) if up.ndim else int(up), model)


def _fitted(method: EventMethod, compressor: Compressor | None, d: int) -> Compressor:
    """Return the compressor that a method is run with, or refuse it."""
    if compressor is None:
        return Identity()
    compressor.check(d)
    if not method.compressed and not isinstance(compressor, Identity):
        raise Refusal(f"{method.name} sends uncompressed vectors; leave {compressor.name} out")
    if not compressor.unbiased:
        raise Refusal(
            f"{compressor.name} is biased and {method.name} needs an unbiased compressor, "
            "such as rand-k"
        )
    return compressor


class _Points:
    """The recorded steps of the server, and the ends of runs."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        record: Record,
        ledger: Ledger,
        callback: Callback | None,
    ) -> None:
        self._problem, self._budget, self._record, self._ledger = problem, budget, record, ledger
        self._callback = callback
        self.ending = [""] * ledger.gradients.size
        self._rows: list[dict[str, Column]] = []
        self._due = 0

    def look(self, x: Column, arrivals: int, k: int, now: float) -> bool:
        """Record the model x^k if it is time, and say whether any run goes on."""
        budget, n = self._budget, self._problem.n
        spent = self._ledger.spent
        last = arrivals >= budget.iterations or (budget.rounds is not None and k >= budget.rounds)
        for limit, column in ((budget.bits, "uplink_bits"), (budget.gradients, "gradients")):
            last |= limit is not None and bool((spent[column] >= limit * n).any())
        last |= budget.network_seconds is not None and now >= budget.network_seconds
        if k < self._due and not last:
            return True
        self._due = int(self._record.following(np.array(k)))
        going = np.array([not ending for ending in self.ending])
        slope = mean(self._problem.grad(x)) + self._problem.grad_g(x)
        each = np.ones(going.size)
        row = {
            "run": np.arange(going.size),
            "iteration": np.full(going.size, arrivals),
            "rounds": np.full(going.size, k),
            "synchronisations": np.zeros(going.size, dtype=np.int64),
            **{name: spent[name] / n for name in ("gradients", "uplink_bits", "downlink_bits")},
            "gap": host(self._problem.gap(x)),
            "distance": host(squared_norm(x - self._problem.x_star))[0, 0],
            "squared_gradient": host(squared_norm(slope))[0, 0],
            "lyapunov": np.nan * each,
            SECONDS: now * each,
        }
        first = self._rows[0][budget.measure] if self._rows else row[budget.measure]
        used = budget.used(row | {"elapsed": 0 * each}, first)
        used["diverged"] = 1.0 - np.isfinite(row["gap"])
        self._rows.append({name: column[going] for name, column in row.items()})
        if self._callback is not None and self._callback(row | {"x": x}):
            used["callback"] = each
        done = reduce(np.maximum, used.values()) >= 1
        for ending, fraction in used.items():
            for run in np.flatnonzero(going & done & (fraction >= 1)):
                self.ending[run] = ending
        return bool((going & ~done).any())

    @property
    def columns(self) -> dict[str, Column]:
        """The recorded points, sorted by run."""
        names = (*COLUMNS, SECONDS)
        columns = {name: np.concatenate([row[name] for row in self._rows]) for name in names}
        order = np.argsort(columns["run"], kind="stable")
        return {name: column[order] for name, column in columns.items()}
