"""The verdicts of the one-step checks and of `bitbound check`: right numbers, and each can fail."""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from bitbound.cli import main
from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.selection import RandK, TopK
from bitbound.solvers.methods.ef21 import EF21
from bitbound.solvers.methods.gd import GD
from bitbound.solvers.methods.scaffnew import Scaffnew
from bitbound.solvers.world.experiment import Experiment
from bitbound.theory.cards.catalogue import METHODS
from bitbound.theory.cards.from_file import card_from_file, read_settings
from bitbound.theory.checks.examination import check as examine_method
from bitbound.theory.checks.method.conduct import bill_check, comes_back
from bitbound.theory.checks.method.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_like,
    worst_quadratic,
)
from bitbound.theory.checks.soundness import soundness
from bitbound.theory.setting import Setting
from bitbound.theory.theorems.gd import GradientDescent
from bitbound.theory.theorems.locodl import (
    Corollary32,
    Section31,
    Theorem31,
    iterations,
    probability,
    probability_for_rand_k,
    reals,
    relaxation,
    without_g,
)
from bitbound.theory.verdict import Verdict, largest
from bitbound.theory.worlds.linear_maps import worst_case

SCALAR = Quadratic.from_arrays(
    np.array([[[1.0, 0.0], [0.0, 4.0]]]), np.array([[1.0, 1.0]]), name="diagonal", seed=0
)


@pytest.mark.parametrize(
    ("value", "limit", "holds"),
    [(1.0, 1.0, True), (1 + 1e-12, 1.0, True), (1.001, 1.0, False), (math.nan, 1.0, False),
     (math.inf, 1.0, False), (-1.0, 0.0, True), (1e-300, 0.0, False)],
)  # fmt: skip
def test_verdict(value, limit, holds):
    assert Verdict("", value, limit).holds is holds


def test_steps_of_gradient_descent_by_hand():
    """Of diag(1, 4) with gamma = 1/4: from (1, 1) the distance falls by 9/16 of 1 in the first."""
    experiment, theorem = Experiment.of(GD(0.25), SCALAR), GradientDescent()
    first = steps_along_a_run(theorem, experiment, steps=(0,))
    assert first.value == pytest.approx(9 / 32)
    later = steps_along_a_run(theorem, experiment, steps=(0, 1, 5))
    assert later.value == pytest.approx(9 / 16)
    assert (later.limit, later.note, later.holds) == (pytest.approx(9 / 16), "exact", True)
    assert worst_case(experiment, theorem) == pytest.approx(9 / 16)
    random = steps_at_random_states(theorem, experiment)
    assert 0.01 < random.value <= 9 / 16 + 1e-12


class TooGood(GradientDescent):
    def rate(self, m, setting):
        return super().rate(m, setting) * 0.98


@pytest.mark.parametrize("check", [steps_along_a_run, steps_at_random_states])
def test_a_promise_that_is_too_good_is_seen(check):
    experiment = Experiment.of(GD(0.25), SCALAR)
    assert not check(TooGood(), experiment).holds
    assert check(GradientDescent(), experiment).holds


def test_worst_quadratic_is_tight_for_gd_and_sees_too_good_a_promise():
    card = METHODS["gd"]
    verdict = worst_quadratic(GradientDescent(), card)
    assert verdict.holds
    assert verdict.note == "tight"
    assert verdict.value == pytest.approx(1)
    wrong = worst_quadratic(TooGood(), card)
    assert wrong.value == pytest.approx(1 / 0.98)
    assert not wrong.holds


def test_worst_quadratic_says_where_there_is_nothing_to_check():
    with pytest.raises(Refusal, match="'published' meets FedCOMGATE"):
        worst_quadratic(METHODS["fedcomgate"].theorems[0], METHODS["fedcomgate"], "published")


def test_worst_like_sees_an_unstable_step():
    problem = Quadratic.random(6, 4, 1.0, 10.0, seed=0)

    def verdict(method):
        theorem = METHODS[method.name].theorems[0]
        return worst_like(theorem, Experiment.of(method, problem), limit=1.0)

    assert verdict(GD(0.1)).holds
    assert not verdict(GD(0.3)).holds
    assert not verdict(Scaffnew(0.3, 0.5)).holds
    with pytest.raises(Refusal, match="fit no problem of 3 clients"):
        verdict(METHODS["gradskip"].parameters(problem))


class TestLoCoDL:
    """Theorem 3.1, equations (6) to (10), Corollary 3.2 and section 3.1."""

    @pytest.mark.parametrize("omega_av", [0.0, 0.3, 5.0])
    def test_relaxation_has_the_largest_chi(self, omega_av):
        rho = relaxation(omega_av)
        chi = lambda r: 2 * r - r**2 * (1 + omega_av)  # noqa: E731
        assert chi(rho) == pytest.approx(rho)
        assert max(chi(rho * (1 + e)) for e in (-0.01, 0.01)) < rho

    @pytest.mark.parametrize(("n", "d", "k"), [(5, 20, 4), (87, 122, 2), (288, 122, 1)])
    @pytest.mark.parametrize("kappa", [2.0, 1e4])
    def test_equation_9_is_8_for_rand_k(self, n, d, k, kappa):
        omega = d / k - 1
        nine = probability_for_rand_k(n, d, k, kappa)
        assert nine == pytest.approx(probability(omega, omega / n, kappa))

    def test_iterations_and_reals(self):
        assert iterations(100.0, 3.0, 1.0, 0.5) == 100 + 2 * 4 * 4
        assert reals(4, 100, 25.0) == pytest.approx(50 + 250 + 100)
        assert METHODS["locodl"].orders.reals(4, 100, 25.0) == pytest.approx(reals(4, 100, 25.0))

    def test_corollary_holds_for_its_parameters_only(self):
        problem = Quadratic.random(5, 20, 1.0, 100.0, seed=0)
        for k, holds in ((4, True), (3, False), (5, False)):
            setting = Setting.of(METHODS["locodl"].method, problem, RandK(k))
            method = METHODS["locodl"].at(setting, "paper")
            assert not Theorem31().unmet(method, setting)
            assert (not Corollary32().unmet(method, setting)) is holds
        shared = Setting.of(METHODS["locodl"].method, problem, RandK(4, shared=True))
        assert Corollary32().unmet(METHODS["locodl"].at(shared, "paper"), shared)

    def test_section_31_is_the_composite_view(self):
        problem = Quadratic.random(5, 20, 1.0, 100.0, seed=0)
        setting = Setting.of(METHODS["locodl"].method, problem, RandK(4))
        assert without_g(100.0, 1.0) == pytest.approx((setting.L, setting.mu))
        method = METHODS["locodl"].at(setting, "paper")
        assert Section31().rate(method, setting) == pytest.approx(Theorem31().rate(method, setting))
        large = replace(method, gamma=2.01 / setting.L)
        for theorem in (Section31(), Theorem31()):
            assert theorem.unmet(large, setting)


def test_every_method_has_its_leading_orders():
    """They are the formulas that are written in the tables."""
    numbers = {"n": 7.0, "d": 90.0, "kappa": 1234.0, "omega": 11.0, "alpha_down": 0.3}
    for card in METHODS.values():
        for order in (card.orders.rounds, card.orders.reals):
            if order is not None:
                expected = eval(order.formula, numbers | {"sqrt": math.sqrt})
                assert order(*numbers.values()) == pytest.approx(expected)


OWN = """
from dataclasses import dataclass
from typing import ClassVar
from bitbound.solvers.authoring import Array, Every, Method, Needs, mean


@dataclass(frozen=True)
class State:
    x: Array


@dataclass(frozen=True)
class Own(Method):
    gamma: float
    name: ClassVar[str] = "own"
    needs: ClassVar[Needs] = Needs(compressor="unbiased")
    schedule: ClassVar[Every] = Every()

    def start(self, x, problem, channel):
        return State(x)

    def communicate(self, s, problem, channel):
        m = channel.MESSAGE(problem.grad(s.x) - STAR)
        return State(channel.broadcast(s.x - self.gamma * mean(m)))

    def model(self, s):
        return s.x

    def fixed_point(self, problem):
        return State(problem.x_star)
"""
RULES = """
from bitbound.theory.card import Card
from bitbound.theory.potential import Squares
from bitbound.theory.theorem import Condition, Theorem


class Contracts(Theorem):
    method = Own
    title = "own theorem"

    def conditions(self, m, setting):
        return (Condition("gamma <= 1/L", m.gamma, 1 / setting.L),)

    def lyapunov(self, m, s, star, setting, problem):
        return (Squares(1.0, s.x - star.x),)

    def rate(self, m, setting):
        return (1 - m.gamma * setting.mu) ** FACTOR


CARD = Card(
    Own, theorems=(Contracts(),), rules={"simple": lambda setting: Own(1 / setting.L)}
)
"""


@pytest.fixture
def own(tmp_path):
    def write(message="send", star="0.0", rules="", factor="2"):
        path = tmp_path / "own.py"
        text = OWN.replace("MESSAGE", message).replace("STAR", star)
        path.write_text(text + rules.replace("FACTOR", factor), encoding="utf-8")
        return str(path)

    return write


UNSENT = "0.0) * 0 + (problem.grad(s.x)"
PROBLEM = ["quadratic:d=4@3", "--kappa", "10", "--seeds", "2"]


def check(capsys, path, *words):
    code = main(["check", PROBLEM[0], path, *words, *PROBLEM[1:], "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_method_of_a_file_with_theorem_and_rules(capsys, own):
    code, found = check(capsys, own(rules=RULES))
    assert code == 0
    (theorem,) = found["theorems"]
    assert theorem["title"] == "own theorem"
    assert theorem["hypotheses"][0]["used"] == pytest.approx(1)
    assert len(theorem["verdicts"]) == 6
    assert all(verdict["holds"] for verdict in theorem["verdicts"] + found["sound"])


def test_a_wrong_theorem_of_a_file_fails(capsys, own):
    code, found = check(capsys, own(rules=RULES, factor="4"))
    assert code == 1
    wrong = [v["check"] for v in found["theorems"][0]["verdicts"] if not v["holds"]]
    assert "worst case on quadratics / tau" in wrong


@pytest.mark.parametrize(
    ("message", "star", "factor", "check_name", "words"),
    [
        ("send", "0.0", "4", "worst case on quadratics / tau", "One step does not decrease"),
        ("send", "1.0", "2", "stays at the solution", "Started at its fixed point"),
        ("send", UNSENT, "2", "nothing passes unsent", "went through no uplink or send"),
    ],
)
def test_what_fails_says_where_to_look(capsys, own, message, star, factor, check_name, words):
    code, found = check(capsys, own(message, star, RULES, factor))
    assert code == 1
    verdicts = found["theorems"][0]["verdicts"] + found["sound"]
    (failing,) = (v for v in verdicts if v["check"] == check_name)
    assert not failing["holds"]
    assert words in failing["advice"]


def test_every_check_has_its_sentence():
    card, problem = METHODS["diana"], Quadratic.random(3, 4, mu=1.0, L=10.0)
    method = card.parameters(problem, RandK(2), "b")
    found = examine_method(method, problem, RandK(2), rule="b", seeds=2, accuracy=1e-3)
    assert [verdict.check for verdict in found.verdicts if not verdict.advice] == []


def test_not_a_number_is_passed_by_nowhere():
    assert largest([0.0, 1.0]) == 1.0
    assert largest([0.0, math.nan]) == math.inf
    assert largest([math.nan, 0.0]) == math.inf


def test_a_method_of_a_file_without_theorem(capsys, own):
    code, found = check(capsys, own(), "--set", "gamma=0.1")
    assert code == 0
    certified = found["theorems"][0]
    assert certified["title"] == "certified, with a potential that was searched for"
    assert certified["factor"] == pytest.approx(0.81, abs=1e-6)
    assert all(verdict["holds"] for verdict in (*found["sound"], *certified["verdicts"]))
    code, found = check(capsys, own(), "--set", "gamma=0.5")
    assert (code, found["theorems"]) == (1, [])
    assert "may grow by a factor" in found["unpromised"]
    failing = [v["check"] for v in found["sound"] if not v["holds"]]
    assert failing == ["f - f* does not grow", "comes back to the solution"]
    code, found = check(capsys, own("uplink"), "rand-k:1", "--set", "gamma=0.1")
    assert code == 1  # without shifts the solution is left again


def test_given_parameters_are_not_those_of_the_rule(capsys, own):
    """They go into small problems as they are; the rule would choose others."""
    names = {}
    for words in ((), ("--set", "gamma=0.05")):
        code, found = check(capsys, own(rules=RULES), *words)
        assert code == 0
        names[words] = {verdict["check"] for verdict in found["theorems"][0]["verdicts"]}
    ruled, given = names.values()
    assert ruled - given == {
        "one step at random states",
        "worst case on quadratics / tau",
        "worst case / tau at the boundary",
    }
    assert given - ruled == {"worst case on small quadratics"}


def test_outside_every_theorem(capsys, own):
    path = own(rules=RULES)
    code, found = check(capsys, path, "--set", "gamma=0.15")
    assert code == 1
    assert not found["theorems"][0]["met"]
    assert main(["check", PROBLEM[0], path, "--set", "gamma=0.15", "--strict", *PROBLEM[1:]]) == 2
    assert "gamma <= 1/L fails with 0.15 and 0.1" in capsys.readouterr().err


def test_text_says_margins_and_constants(capsys):
    assert main(["check", PROBLEM[0], "locodl", "rand-k:2", *PROBLEM[1:]]) == 0
    text = capsys.readouterr().out
    assert "gamma < 2/L" in text
    assert "0.50 of its limit" in text
    assert "of the composite view: L = max_i L_i = 9.5" in text
    assert text.rstrip().endswith("no check fails")


def test_run_takes_a_file(capsys, own):
    words = ["run", PROBLEM[0], own(), "--set", "gamma=0.1", *PROBLEM[1:], "--until", "1e-3"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"]["gamma"] == 0.1


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("x = 1", [], "defines 0 methods and no CARD"),
        ("x = ", [], "cannot be run: SyntaxError"),
        (OWN, [], "give gamma with --set"),
        (OWN, ["--set", "beta=1"], "has no parameter 'beta'; it has gamma"),
        (OWN, ["--set", "gamma"], "cannot be read; expected such as gamma=0.1"),
        (OWN, ["--set", "gamma=1", "--parameters", "best"], "has no rules"),
        (None, [], "there is no file"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(capsys, tmp_path, text, words, sentence):
    path = tmp_path / "own.py"
    if text is not None:
        path.write_text(text.replace("MESSAGE", "send").replace("STAR", "0.0"), encoding="utf-8")
    assert main(["check", PROBLEM[0], str(path), *words, *PROBLEM[1:]]) == 2
    assert sentence in capsys.readouterr().err


def test_settings_are_read():
    assert read_settings(METHODS["gradskip"].method, ["q=(1, 0.5)"]) == {"q": (1, 0.5)}
    assert read_settings(METHODS["adiana"].method, ["variant=II"]) == {"variant": "II"}
    assert read_settings(METHODS["scaffold"].method, ["K=3"]) == {"K": 3}


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("gd", "gamma=abc"),
        ("gd", "gamma=nan"),
        ("gd", "gamma=1e999"),
        ("gd", "gamma"),
        ("gd", "step=1"),
        ("scaffold", "K=2.5"),
        ("scaffold", "option=III"),
        ("adiana", "variant=III"),
        ("gradskip", "q=3"),
    ],
)
def test_settings_of_another_kind_are_refused(name, setting):
    with pytest.raises(Refusal):
        read_settings(METHODS[name].method, [setting])


def test_file_is_a_class_of_its_own(own):
    card = card_from_file(Path(own()))
    setting = Setting.of(card.method, SCALAR)
    assert card.with_values(setting, values={"gamma": 0.1}).gamma == 0.1


@pytest.mark.parametrize("cohort", [4, 9])
def test_leaving_out_clients_that_are_done_changes_no_account(cohort):
    """Of nine clients few go on for long; what is counted and the state are as for all together."""
    problem, compressor = Quadratic.random(9, 5, 1.0, 20.0, seed=1), RandK(2)
    card = METHODS["5gcs-cc"]
    method = card.parameters(problem, compressor, "best", cohort=cohort)
    experiment = Experiment.of(method, problem, compressor)
    assert all(verdict.holds for verdict in soundness(card, experiment))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_bill(name):
    """It is that of the ledger, to the bit."""
    card = METHODS[name]
    compressor = {"unbiased": RandK(2), "contractive": TopK(2), None: None}[
        card.method.needs.compressor
    ]
    problem = Quadratic.random(4, 5, 1.0, 20.0, seed=1)
    experiment = Experiment.of(card.parameters(problem, compressor), problem, compressor)
    assert bill_check(card, experiment).holds
    for more in ((1, 0), (0, 1)):
        wrong = replace(card, bill=lambda *of, more=more: np.add(card.bill(*of), more))
        assert not bill_check(wrong, experiment).holds
    assert bill_check(replace(card, bill=None), experiment) is None


SENT = {None: None, "unbiased": RandK(2), "contractive": TopK(2)}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_the_package_come_back(name):
    card, problem = METHODS[name], Quadratic.random(3, 4, mu=1.0, L=10.0)
    sent = SENT[card.method.needs.compressor]
    experiment = Experiment.of(card.parameters(problem, sent), problem, sent)
    assert comes_back(experiment).holds


@dataclass(frozen=True)
class Forgetting(EF21):
    """Its estimates of the gradients move away from them; f - f* does not show it at first."""

    name = "forgetting"

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        return replace(after, g=2 * s.g - after.g)


def test_what_runs_away_is_named():
    problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    verdict = comes_back(Experiment.of(Forgetting(gamma=0.02), problem, TopK(2)))
    assert not verdict.holds
    assert "look at the line that updates g," in verdict.advice
