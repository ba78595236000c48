"""Methods that need no strong convexity: how they conduct themselves is checked on any problem."""

import pytest
from planting import fault, planted

import certibit
from certibit.data.relaxed.families import Cosh, Multiples, Tilted
from certibit.figures.episode.tuning import TUNINGS
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import card_of
from certibit.theory.checks.examination import soundness

PROBLEMS = [
    certibit.Quartics.of(H=2.0),
    Tilted.of(Cosh(), [[3, 0], [-1, 0], [-2, 0]], [1.0, 2.0]),
    Multiples.of(Cosh(), (0.5, 1.0, 1.5), [1.0, 2.0]),
]
WRONG = [
    ("a step where there is no gradient", "solvers.methods.normalised_gd",
     "(norm(g) + self.beta) * g", "(norm(g) + self.beta) * (g + self.eta)", "normalised-gd",
     "rests without gradients"),
    ("a momentum that is not 0 at first", "solvers.methods.momentum_clipping", "State(x, 0 * x)",
     "State(x, 1 + 0 * x)", "momentum-clipping", "rests without gradients"),
    ("models that are not sent", "solvers.methods.episode", "total(channel.send(y, cohort))",
     "total(y * cohort)", "episode", "the server uses only what was sent"),
    ("a step that is not sent", "solvers.methods.naive_parallel_clip",
     "x = channel.broadcast(x - self.clip(g), cohort)", "x -= self.clip(g)",
     "naive-parallel-clip", "bits counted are bits sent"),
    ("norms over the runs", "solvers.clipping", "return squared_norm(v) ** 0.5",
     "return (v**2).sum(axis=(1, 2), keepdims=True) ** 0.5", "clipped-sgd",
     "alone as in a batch"),
]  # fmt: skip
"""What, where, the right text and the wrong one, the tuning, and the check that sees it."""


def checked(name, problem, tau=5.0):
    method = TUNINGS[name].make(0.01, tau, 4, None)
    return soundness(card_of(method), Experiment.of(method, problem))


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
@pytest.mark.parametrize("name", TUNINGS)
def test_every_tuning_conducts_itself(name, problem):
    assert [str(verdict) for verdict in checked(name, problem) if not verdict.holds] == []


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong[0])
def test_what_is_wrong_is_seen(wrong):
    what, module, right, text, name, check = wrong
    with planted(fault(what, module, (right, text), on="gd")):
        failing = [v.check for v in checked(name, PROBLEMS[1], 0.5) if not v.holds]
    assert check in failing


@pytest.mark.parametrize("problem", [PROBLEMS[0], certibit.Quadratic.random(3, 4, 1.0, 10.0)])
def test_check_takes_such_a_method(problem):
    found = certibit.check(certibit.EPISODE(eta=0.003, gamma=0.05, I=4), problem)
    assert found.holds
    assert "nothing is promised" in str(found)
