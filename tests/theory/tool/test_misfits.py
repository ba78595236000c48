"""Misfits are refused, in one sentence that names them."""

import math
from functools import partial

import numpy as np
import pytest
from tool.small_experiment import small_experiment

from certibit import SCAFFOLD, Budget, Quadratic, Quartics, Refusal, compressor, problem
from certibit.data.memory import memory, require_memory
from certibit.solvers.compressors.composition import TwoWay
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import CARDS, card_from_file, read_settings

ROWS, CLASSES = np.random.default_rng(0).standard_normal((12, 3)), np.arange(12) % 3
TWO = CLASSES % 2


def said(attempt):
    """Return the sentence of a refusal."""
    with np.errstate(all="ignore"), pytest.raises(Refusal) as refusal:
        attempt()
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.rules])
def test_what_does_not_fit_a_method_is_refused(name):
    _, experiment = small_experiment(name)
    method, view, sent = experiment.method, experiment.problem, experiment.compressor
    needs, biased, sparse = method.needs, TopK(1), RandK(1)
    wrong = {None: sparse, "unbiased": biased, "contractive": sparse}[needs.compressor]
    pairs = [] if needs.by_variance else [(wrong, wrong)]  # which takes both
    up = sent.up if isinstance(sent, TwoWay) else sent
    servers = {None: (sparse, biased), "unbiased": (biased,), "contractive": (sparse,)}
    pairs += [(TwoWay(up, one), one) for one in servers[needs.downlink]]
    for given, unfit in pairs:
        assert unfit.name in said(partial(Experiment.of, method, view, given))
    if needs.strongly_convex and not needs.nonconvex:
        assert "has mu = 0" in said(partial(Experiment.of, method, Quartics.of(H=8)))
    name_of_one = next(iter(vars(method)))
    for words in ("no_parameter=1", f"{name_of_one}=much", name_of_one):
        assert words.split("=")[0] in said(partial(read_settings, CARDS[name].method, [words]))


STEPS = {"eta_l": 0.1, "eta_g": 1.0, "K": 2, "m": 2}
MISFITS = {
    "d=<features>": partial(problem, "quadratic:d=five@3"),
    "no-such-data": partial(problem, "no-such-data@3", download=False),
    "inf": partial(Quadratic.random, 3, 4, mu=1.0, L=math.inf),
    "20": partial(Quadratic.random, 3, 4, mu=20.0, L=10.0),
    "3 classes": partial(problem, ROWS, CLASSES, clients=2),
    "poisson": partial(problem, ROWS, TWO - 1.0, clients=2, loss="poisson:10"),
    "nan": partial(problem, ROWS, TWO + np.nan, clients=2, loss="least-squares"),
    "13": partial(problem, ROWS, TWO, clients=13),
    "targets": partial(problem, ROWS, None, clients=2),
    "option II": partial(SCAFFOLD, **STEPS, option="I", traffic="minimal"),
    "once": partial(compressor, "scaled(scaled(rand-k:2))"),
    "positive": partial(Budget, rounds=0),
    "GB of memory": partial(require_memory, memory(), "a vector"),
}


@pytest.mark.parametrize("words", MISFITS)
def test_what_cannot_be_meant_is_refused(words):
    assert words in said(MISFITS[words])


def test_a_method_of_a_file_that_is_no_dataclass_is_refused(tmp_path):
    path = tmp_path / "own_of_check.py"
    path.write_text("from certibit import GD\nclass Second(GD):\n    name = 'second'\n")
    assert "@dataclass" in said(partial(card_from_file, path, "Second"))
