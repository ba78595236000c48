"""The search for methods by descents: what bounds it, what it finds, and runs of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.data.problems.selector import problem
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.dasha import DASHA
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.scaffnew import Scaffnew
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.catalogue.from_file import find_card
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_forms import largest_constant
from certibit.theory.descent.programme.start import values_at_start
from certibit.theory.discover.descent_task import DescentTask
from certibit.theory.discover.discovery import Discovery, discover, each_once
from certibit.theory.discover.grammar import Sentence, Term, sentences
from certibit.theory.discover.method_file import method_class, method_file
from certibit.theory.discover.recognition import recognised
from certibit.theory.discover.screen import Steps
from certibit.theory.discover.tuning import Candidate
from certibit.theory.setting import Setting
from certibit.theory.worlds.fixed_points import AboutModel

SENT = 10, compressor("rand-k:5"), compressor("top-k:5")
TASKS = {False: DescentTask(2, *SENT), True: DescentTask(2, *SENT, convex=True)}
METHODS = [
    (GD(0.7), Sentence("gradient")),
    (EF21(0.25), Sentence("gradient", "contractive")),
    (DIANA(0.2, 0.4), Sentence("gradient", "unbiased")),
    (DASHA(0.3, 0.3), Sentence("gradient", "unbiased")),
    (Scaffnew(0.1, 0.5), Sentence("model")),
]
"""Methods, each with a structure of its kind."""


def bound(method, one, task):
    """Return the largest c of any certificate, by quadratics."""
    screen = task.screen(one)
    return task.attained(screen, method, screen.steps(method))


def of_kind(kind, most):
    return [one for one in sentences(most) if one.kind == kind]


@pytest.mark.parametrize("gamma", [0.3, 1.0, 1.7])
def test_the_bound_of_gradient_descent_is_attained(gamma):
    """c = gamma (1 - gamma L/2), with Psi = f - inf f, for any run that starts anywhere."""
    method, one, task = GD(gamma), Sentence("gradient"), TASKS[False]
    right = gamma * (1 - gamma / 2)
    assert bound(method, one, task) == pytest.approx(right, rel=1e-12)
    proof = certify_descent(method, task.functions(one), begin="rest")
    assert proof.verify() == proof.c == pytest.approx(right, rel=1e-5)


@pytest.mark.parametrize("convex", TASKS)
@pytest.mark.parametrize(("method", "one"), METHODS, ids=lambda one: getattr(one, "name", ""))
def test_no_certificate_exceeds_the_bound(method, one, convex):
    task = TASKS[convex]
    certified = largest_constant(method, task.functions(one), at_rest=True)
    assert certified <= bound(method, one, task) * (1 + 1e-9)


def test_planted_a_form_that_is_not_f_at_rest_exceeds_the_bound():
    """Psi = f - inf f + w |grad f|^2 has a larger c, which is none of (f(x_0) - inf f)/(c T)."""
    one, task = Sentence("gradient"), TASKS[False]
    assert largest_constant(GD(1.0), task.functions(one)) > 1.4 * bound(GD(1.0), one, task)


def test_planted_a_sum_without_its_noise_is_no_bound(monkeypatch):
    """The mean of the model alone: compression errors are left out of E|grad f|^2."""

    def of_means(self, start, row):
        mean = np.tensordot(self.odds[0], np.moveaxis(self.together, 1, 0), 1)
        first = np.linalg.solve(np.eye(mean.shape[-1]) - mean, start[..., None])[..., 0]
        return (first @ row) ** 2

    method, one = METHODS[3]
    right = bound(method, one, TASKS[False])
    monkeypatch.setattr(Steps, "squares", of_means)
    assert bound(method, one, TASKS[False]) != pytest.approx(right, rel=0.1)


@pytest.mark.parametrize(("method", "one"), METHODS, ids=lambda one: getattr(one, "name", ""))
def test_the_sum_of_a_run_is_the_sum_over_its_steps(method, one):
    """Step by step, on the first choice of curvatures."""
    task = TASKS[False]
    first = task.screen(one).case(0)
    steps = first.steps(method)
    size = steps.alone.shape[-1]
    start = np.linalg.qr(steps.kernel[0])[0] @ np.ones(steps.kernel.shape[-1])
    row = np.linspace(1.0, 2.0, size)
    mean, second, total = start, np.outer(start, start), 0.0
    for _ in range(3000):
        total += row @ second @ row
        mean, second = steps.moments(mean, second)
    assert steps.squares(start[None], row)[0] == pytest.approx(total, rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "constants", "certificates", "known"),
    [
        ("contractive up", 1, 4, EF21),
        ("unbiased up", 2, 20, DASHA),
        ("local steps, uncompressed", 2, 8, Scaffnew),
    ],
)
def test_known_methods_are_found_again(kind, constants, certificates, known):
    task = replace(TASKS[False], n=3)
    search = discover(task, of_kind(kind, constants), certificates=certificates)
    first = search.found[0]
    assert type(first.known) is known
    assert first.certificate.verify() == first.candidate.decrease > 0
    assert first.screened <= first.candidate.cost * (1 + 1e-6)


def test_what_is_found_is_saved_certified_and_keeps_its_promise(tmp_path, capsys):
    """On a problem, from the start of its own runs; a promise from an eighth of Psi_0 is broken."""
    path = tmp_path / "found.py"
    words = ["discover", "--class", "nonconvex", "--n", "3", "--d", "10", "--constants", "1",
             "--up", "contractive", "--down", "none", "--local", "no", "--contractive", "top-k:5",
             "--best", "1", "--certificates", "4", "--output", str(tmp_path)]  # fmt: skip
    assert main([*words, "--save", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["class"], told["fewest"]) == ("nonconvex", "bits")
    assert told["unit"] == "L (f(x_0) - inf f)/eps"
    assert told["found"][0]["known_as"] == "ef21"
    card, sent = find_card(f"{path}:Found"), compressor("top-k:5")
    solved = problem("quadratic:d=10@3:nonconvex")
    method = card.at(Setting.of(card.method, solved, sent), "found")
    experiment = Experiment.of(method, solved, sent)
    functions = Setting.at(experiment)
    proof = certify_descent(method, functions, begin=experiment)
    start = sum(values_at_start(proof.potential, experiment, proof.functions))
    trace = simulate(experiment, seeds=1, budget=Budget(rounds=400), record=Record(1.0, every=1))
    means = np.cumsum(trace.columns["squared_gradient"]) / np.arange(1, 402)
    promised = start / (proof.c * np.arange(1, 402))
    assert (means <= promised).all()
    assert (means > promised / 8).any()


def test_the_cost_is_of_what_is_asked():
    one = of_kind("local steps, uncompressed", 2)[0]
    method = method_class(one)(0.5, 0.25)
    costs = {
        fewest: DescentTask(2, *SENT, fewest=fewest).cost(one, method, 0.1)
        for fewest in ("bits", "rounds", "gradients")
    }
    assert costs == pytest.approx({"bits": 10 * 0.25 * 320, "rounds": 2.5, "gradients": 10.0})
    with pytest.raises(Refusal, match="a weight of received bits is for fewest bits"):
        DescentTask(2, *SENT, weight=1.0, fewest="rounds")
    with pytest.raises(Refusal, match="'seconds' is no cost"):
        DescentTask(2, *SENT, fewest="seconds")


def test_a_condition_number_is_refused_where_functions_have_none(capsys):
    assert main(["discover", "--class", "nonconvex", "--kappa", "9"]) == 2
    assert "--kappa is of strongly convex functions" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["unbiased up", "contractive up", "local steps, unbiased up"])
def test_files_of_descents_start_at_rest(kind):
    """With h = 0 runs of saved methods broke their promise, as the second of EF21's kind by 3 %.

    By quadratics, (1/T) sum_t E|grad f(x_t)|^2 was up to 1.08 times (f(x_0) - inf f)/(c T).
    """
    solved = problem("quadratic:d=3@2:nonconvex")
    for one in of_kind(kind, 2):
        space = {}
        exec(method_file(one, strongly_convex=False), space)
        method = space["Found"](*[0.5] * len(one.constants))
        channel, oracle = simulated_world(Experiment(method, solved, Identity()))
        state = method.start(solved.x_0, oracle, channel)
        rest = method.fixed_point(AboutModel(solved, method.model(state)))
        for name, there in vars(rest).items():
            np.testing.assert_allclose(getattr(state, name), there, err_msg=f"{one} {name}")


def test_a_method_is_listed_once():
    """A known method with two choices of constants, and a structure that moves alike."""
    sides = None, True, True
    plain = Sentence("gradient", "contractive", *sides, (Term("estimate"),), (Term("message"),))
    weighed = replace(plain, x=(Term("message"), Term("memory", free=True)))
    found = []
    for one, values, cost in (plain, (0.2,), 3.0), (plain, (0.3,), 1.0), (weighed, (0.3, 0.9), 2.0):
        candidate = Candidate(one, values, 0.1, cost)
        found.append(Discovery(candidate, None, None, recognised(candidate.method(1.0))))
    assert [type(one.known) for one in found] == [EF21, EF21, type(None)]
    assert [one.candidate.cost for one in each_once(found)] == [1.0, 2.0]
    assert len(each_once(found[2:] * 2)) == 1
