"""Misfits are refused, in one sentence that names them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tool.small_experiment import small_experiment

from certibit.data.errors import Refusal
from certibit.data.memory import memory
from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.compressors.two_way import TwoWay
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.scaffold import SCAFFOLD
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.memory_of_runs import require_memory_of_runs
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.catalogue.from_file import card_from_file, read_settings
from certibit.theory.function_class import FunctionClass

_ROWS = np.random.default_rng(0).standard_normal((12, 3))
_THREE = np.arange(12) % 3
_BYTES = 8
_TWO_METHODS = """
from dataclasses import dataclass
from certibit import GD

@dataclass(frozen=True)
class First(GD):
    name = "first"

class Second(GD):
    name = "second"
"""


@dataclass(frozen=True)
class Misfit:
    """An input that must be refused.

    Attributes
    ----------
    what : str
        What does not fit.
    said : str
        What the sentence must have in it: the value, or what was expected.
    attempt : callable
        Does it.
    """

    what: str
    said: str
    attempt: Callable[[], Any]

    @property
    def fault(self) -> str:
        """The fault of the refusal, or "" if there is none."""
        try:
            self.attempt()
        except Refusal as refusal:
            sentence = str(refusal)
            if self.said in sentence and "\n" not in sentence:
                return ""
            return f"is refused by {sentence!r}, which does not say {self.said!r}"
        except Exception as error:
            return f"ends in {type(error).__name__}: {error}"
        return "is accepted"


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.rules])
def test_what_does_not_fit_a_method_is_refused(name):
    assert faults(_of_the_method(*small_experiment(name))) == []


def test_what_cannot_be_meant_is_refused(tmp_path):
    assert faults((*_of_problems(), *_of_options(), *_of_files(tmp_path))) == []


def faults(tried):
    """Return the misfits that are not refused, or not in a sentence that names them."""
    with np.errstate(all="ignore"):
        return [f"{misfit.what} {misfit.fault}" for misfit in tried if misfit.fault]


def _of_the_method(card: Card, experiment: Experiment[Any]) -> Iterator[Misfit]:
    method, view, d = experiment.method, experiment.problem, experiment.d
    needs, name = method.needs, method.name
    biased, sparse = TopK(1), RandK(1)
    wrong = {None: sparse, "unbiased": biased, "contractive": sparse}[needs.compressor]
    sent = experiment.compressor
    up = sent.up if isinstance(sent, TwoWay) else sent
    servers = {None: (sparse, biased), "unbiased": (biased,), "contractive": (sparse,)}
    if d > 2:  # with fewer entries some of them would fit
        clients = () if needs.by_variance else ((wrong, wrong),)  # which takes both
        pairs = [*clients, *((TwoWay(up, one), one) for one in servers[needs.downlink])]
        for given, unfit in pairs:
            yield Misfit(
                f"the compressor {given.name} of {name}",
                unfit.name,
                partial(Experiment.of, method, view, given),
            )
    if needs.strongly_convex:
        yield Misfit(
            f"a problem of {name} that is not strongly convex",
            "mu = 0",
            lambda: Experiment.of(method, problem(_ROWS, _THREE % 2, clients=2, mu=0.0)),
        )
    yield Misfit(
        f"a parameter of another name than those of {name}",
        "no_parameter",
        partial(read_settings, card.method, ["no_parameter=1"]),
    )
    for field in fields(card.method):
        if field.type in (float, int):
            yield Misfit(
                f"a word for the number {field.name}",
                f"{field.name}=much",
                partial(read_settings, card.method, [f"{field.name}=much"]),
            )
    if card.rules:
        rules, unknown = ", ".join(card.rules), partial(card.parameters, view, sent, "nothing")
        yield Misfit(f"the rule nothing of {name}", rules, unknown)


def _of_problems() -> Iterator[Misfit]:
    two = _THREE % 2
    text = {
        "quadratic:d=5": "<data>@<clients>",
        "quadratic:d=five@3": "d=<features>",
        "quadratic:d=5@0": "0",
        "no-such-data@3": "no-such-data",
    }
    for selector, said in text.items():
        yield Misfit(f"the problem {selector}", said, partial(problem, selector, download=False))
    for mu, L in ((0.0, 10.0), (20.0, 10.0), (1.0, math.inf)):
        yield Misfit(
            f"a quadratic with mu = {mu:g} and L = {L:g}",
            "mu" if math.inf > L else "inf",
            partial(Quadratic.random, 3, 4, mu=mu, L=L),
        )
    given: list[tuple[str, str, Any, dict[str, Any]]] = [
        ("a target of three classes for a loss of two", "3 classes", _THREE, {}),
        ("a negative number as a target of a count", "poisson", two - 1.0, {"loss": "poisson:10"}),
        ("a target that is no number", "nan", two + np.nan, {"loss": "least-squares"}),
        ("a loss that nobody knows", "logistik", two, {"loss": "logistik"}),
        ("both mu and kappa", "one of the two", two, {"mu": 1.0, "kappa": 10.0}),
        ("more clients than rows", "13", two, {"clients": 13}),
        ("rows without targets", "targets", None, {}),
    ]
    for what, said, y, options in given:
        yield Misfit(what, said, partial(problem, _ROWS, y, **{"clients": 2} | options))


def _of_options() -> Iterator[Misfit]:
    steps: dict[str, Any] = {"eta_l": 0.1, "eta_g": 1.0, "K": 2, "m": 2}
    yield Misfit(
        "SCAFFOLD's option I with the least traffic",
        "option II",
        partial(SCAFFOLD, **steps, option="I", traffic="minimal"),
    )
    for selector, said in (("rand-q:3", "rand-k"), ("scaled(scaled(rand-k:2))", "once")):
        yield Misfit(f"the compressor {selector}", said, partial(compressor, selector))
    yield Misfit("a budget of no rounds", "positive", partial(Budget, rounds=0))
    yield Misfit("a class with mu = L", "mu < L", partial(FunctionClass, 3, 1.0, 1.0))
    yield Misfit("states that leave no memory for random numbers", "GB of memory", _too_many_runs)


def _too_many_runs() -> None:
    """Ask for as many runs as there is memory for their states and gradients alone."""
    experiment = Experiment.of(DIANA(0.1, 0.1), Quadratic.random(3, 4, 1.0, 10.0), RandK(2))
    channel, oracle = simulated_world(experiment)
    state = experiment.method.start(channel.template, oracle, channel)
    numbers = sum(x.size for x in vars(state).values()) + experiment.n * experiment.d
    require_memory_of_runs(experiment, int(memory() // (_BYTES * numbers)))


def _of_files(folder: Path) -> Iterator[Misfit]:
    """Yield files of methods that cannot be read as meant."""
    texts = {"two": _TWO_METHODS, "none": "", "broken": "def ("}
    for name, text in texts.items():
        (folder / f"{name}_of_check.py").write_text(text, encoding="utf-8")
    for what, said, file, name in (
        ("a file of two methods without a name", "2 methods and no CARD", "two", ""),
        ("a method that is not in a file", "no method Third", "two", "Third"),
        ("a method that is no dataclass", "@dataclass", "two", "Second"),
        ("a file without a method", "write class NAME(Method)", "none", ""),
        ("a file that is no Python", "broken", "broken", ""),
        ("a file that is not there", "missing", "missing", ""),
    ):
        yield Misfit(what, said, partial(card_from_file, folder / f"{file}_of_check.py", name))
