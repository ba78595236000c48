"""What fails says which line to look at; what is correct is let alone."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from small_methods import Memory

from certibit import METHODS, Card, Every, Experiment, Method, Needs, Quadratic, copies, mean
from certibit.solvers.compressors.selection import RandK
from certibit.theory.checks.examination import check, soundness

DOCS = Path(__file__).parents[3] / "docs"


@dataclass(frozen=True)
class Scaffnewish(Method):
    """Local steps with control variates h that add up to 0, and one line that may be wrong."""

    gamma: float = 0.1

    name, needs, schedule = "own", Needs(), Every(3)

    def start(self, x, problem, channel):
        return Memory(copies(x, problem.n), 0 * problem.grad(x))

    def local_step(self, s, problem, channel):
        return Memory(s.x - self.gamma * (problem.grad(s.x) - s.h), s.h)

    def learned(self, s, average):
        return s.h + (average - s.x) / (3 * self.gamma)

    def communicate(self, s, problem, channel):
        average = channel.broadcast(mean(channel.send(s.x)))
        return Memory(copies(average, s.x.shape[0]), self.learned(s, average))

    def model(self, s):
        return mean(s.x)

    def invariants(self, s, problem):
        return (mean(s.h),)

    def fixed_point(self, problem):
        return Memory(copies(problem.x_star, problem.n), problem.grad_star)


PROBLEM = Quadratic.random(4, 5, mu=1.0, L=5.0)


def told(told_of):
    """Return rounds after which clients use an average although the server tells something else."""

    def communicate(m, s, f, c):
        average = told_of(mean(c.send(s.x)), c)
        return Memory(copies(average, s.x.shape[0]), m.learned(s, average))

    return communicate


def of_batches(m, s, average):
    return Scaffnewish.learned(m, s, average) * (1 + 0.01 * (s.x.shape[2] > 1))


def leaves(m, s, f, c):
    return Memory(s.x - m.gamma * (f.grad(s.x) + s.h), s.h)


WRONG = [
    ({"learned": lambda m, s, average: s.h - s.x / (3 * m.gamma)}, "invariants",
     "and was 0: look at the line that updates h."),
    ({"learned": of_batches}, "alone as in a batch",
     "of a run changes with the other runs of its batch"),
    ({"communicate": told(lambda average, c: average)}, "bits counted are bits sent",
     "communicate must broadcast"),
    # the server sends as many zeros
    ({"communicate": told(lambda average, c: average + c.broadcast(0 * average))},
     "clients use only what they received", "look for a mean or total that goes through no broad"),
    ({"local_step": leaves}, "stays at the solution", "look at the line that updates x"),
]  # fmt: skip


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("members", "name", "words"), WRONG)
def test_a_wrong_line_is_named(members, name, words):
    kind = type("Wrong", (Scaffnewish,), members)
    verdicts = soundness(Card(kind), Experiment.of(kind(), PROBLEM))
    failing = {verdict.check: verdict.advice for verdict in verdicts if not verdict.holds}
    assert words in failing[name]


def test_the_correct_one_passes():
    verdicts = soundness(Card(Scaffnewish), Experiment.of(Scaffnewish(), PROBLEM))
    assert [verdict for verdict in verdicts if not verdict.holds] == []


def momentum():
    """Return the method of docs/certify.md."""
    text = (DOCS / "certify.md").read_text(encoding="utf-8")
    names = {"__name__": "page"}
    exec(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0], names)
    return names["MomentumDIANA"]


@pytest.mark.long
def test_no_false_alarm_on_a_method_whose_server_mirrors():
    method = momentum()(gamma=0.02, alpha=0.2, beta=0.3)
    verdicts = soundness(Card(type(method)), Experiment.of(method, PROBLEM, RandK(2)))
    assert [verdict for verdict in verdicts if not verdict.holds] == []


def test_a_step_outside_of_every_theorem_is_what_is_named():
    """With 20 times the largest step all lines of GD are right, and its fixed point is one."""
    found = check(METHODS["gd"].method(gamma=4.0), PROBLEM, seeds=1)
    failing = {verdict.check: verdict.advice for verdict in found.verdicts if not verdict.holds}
    assert set(failing) == {"one step along a run", "worst case on small quadratics"}
    for advice in failing.values():
        assert advice.startswith("No theorem covers these parameters: gamma < 2/L_f fails with 4 ")
        assert "runs may diverge" in advice
    assert "look at the line" not in str(found)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize(("name", "sent"), [("gd", None), ("diana", RandK(2))])
def test_what_a_check_finds_does_not_depend_on_the_unit_of_l(name, sent, unit):
    def found(unit):
        problem = Quadratic.random(3, 4, mu=unit, L=10 * unit)
        method = METHODS[name].parameters(problem, sent)
        return check(method, problem, sent, seeds=2, accuracy=1e-6 * unit)

    for one, other in zip(found(1.0).verdicts, found(unit).verdicts, strict=True):
        assert (one.check, one.outcome) == (other.check, other.outcome)
        sizes = (-one.limit, -other.limit) if one.check == "descent along a run" else (1.0, 1.0)
        values = one.value / sizes[0], other.value / sizes[1]
        assert values[0] == pytest.approx(values[1], rel=1e-6, abs=1e-7)


class Unsaid(Scaffnewish):
    """What it keeps between its rounds of three steps is found: between them the models differ."""

    def invariants(self, s, problem):
        return None


def test_what_is_kept_from_round_to_round_is_not_asked_for_within_one():
    experiment = Experiment.of(Unsaid(), PROBLEM)
    failing = [verdict for verdict in soundness(Card(Unsaid), experiment) if not verdict.holds]
    assert failing == []
