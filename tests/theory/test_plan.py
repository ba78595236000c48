"""A plan is what theorems promise, ranked by a stated model of the network."""

import json
import re
from dataclasses import astuple, replace
from time import process_time
from types import SimpleNamespace

import numpy as np
import pytest

from certibit import CARDS, Budget, Quadratic, Quartics, Record, Refusal, Setting, plan
from certibit.cli import main
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.network import NETWORKS, Network, amount, read_amount
from certibit.solvers.runs.engine import simulate
from certibit.theory.catalogue.covered_run import measure_at_start
from certibit.theory.checks.method.promise import Promise, RoundCost, promise
from certibit.theory.plan.planning import SAMPLED_WORK, Costs, promised_costs, reigns
from certibit.theory.theorem import ContractionPromise

PROBLEM = Quadratic.random(4, 12, mu=1.0, L=50.0)
METHODS = ["locodl", "agd", "diana", "scaffnew"]
SHALLOW = {"problem": "breast-cancer@5:nonconvex", "target": 0.5}
"""A problem on which promised rounds are few, so that they can be run."""


@pytest.fixture(scope="module")
def made():
    return plan(PROBLEM, target=1e-3, network="dsl", methods=METHODS, compressors=["natural"])


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [("1Mbit", "bit", 1e6), ("10 kbit/s", "bit", 1e4), ("2.5Gbit", "bit", 2.5e9),
     ("7bit", "bit", 7.0), ("50ms", "s", 0.05), ("0.1s", "s", 0.1), ("20us", "s", 2e-5)],
)  # fmt: skip
def test_amounts_are_read_and_written(text, unit, value):
    assert read_amount(text, unit) == pytest.approx(value, rel=1e-12)
    assert read_amount(amount(value, unit), unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["", "1", "Mbit", "1MB", "1mbit", "50s", "1..2Mbit", "-1bit"])
def test_what_is_no_rate_is_refused(text):
    with pytest.raises(Refusal, match="cannot be read; expected a number with its unit"):
        read_amount(text, "bit")


def test_an_offer_is_the_strongest_promise(made):
    for offer in made.offers:
        method, setting = offer.experiment.method, Setting.at(offer.experiment)
        promises = [promise(t, offer.experiment) for t in offer.card.holding(method, setting)]
        assert offer.promised.up == min(each.bits_to(1e-3) for each in promises)
        assert offer.promised.rounds == min(each.rounds_to(1e-3) for each in promises)


def test_offers_are_sorted_and_the_best_of_their_rules(made):
    seconds = [offer.promised.seconds(made.network) for offer in made.offers]
    assert seconds == sorted(seconds)
    assert [offer.pair for offer in made.offers if "locodl" in offer.pair] == ["locodl+natural"]
    slow = made.on(NETWORKS["sensor"])
    assert {offer.pair for offer in slow.offers} == {offer.pair for offer in made.offers}


def test_gradients_are_sampled_where_they_depend_on_the_state_only():
    adaptive = {
        offer.name: offer
        for offer in plan(PROBLEM, target=1e-3, methods=["5gcs-cc", "gradskip"],
                          compressors=["natural"]).offers
    }  # fmt: skip
    assert {name: offer.sampled for name, offer in adaptive.items()} == {
        "5gcs-cc[ours-adaptive]+natural": True,
        "gradskip[published]": False,
    }
    offer = adaptive["5gcs-cc[ours-adaptive]+natural"]
    trace = simulate(offer.experiment, seeds=1, budget=Budget(rounds=30))
    per_round = offer.promised.gradients / offer.promised.rounds
    assert per_round == pytest.approx(trace.final("gradients")[0] / 30, rel=1e-12)


def test_what_is_measured_costs_less_than_what_is_promised(made):
    for name, costs in made.measured(best=len(made.offers), seeds=3).items():
        (offer,) = [offer for offer in made.offers if offer.name == name]
        assert costs.rounds <= offer.promised.rounds
        assert costs.up <= offer.promised.up


def test_what_is_promised_is_paid_from_the_start_on():
    """A factor 1/2 and 1/p = 4: from 8 to 3/4 are 4 steps, 1 round, after 10, 20 and 3 at start."""
    cost = RoundCost(100.0, 200.0, 4.0, 5.0, begin=(10.0, 20.0, 3.0))
    promised = Promise(ContractionPromise(0.5), 8.0, 4.0, cost)
    assert promised_costs(promised, 0.75) == Costs(110.0, 220.0, 1.0, 8.0)
    assert promised_costs(promised, 0.75, 7.0) == Costs(110.0, 220.0, 1.0, 10.0)
    assert promised_costs(promised, 0.75).total(0.5) == 220.0
    assert promised.bits_to(0.75) == 110.0
    assert promised.bits_to(0.75, 0.5) == 220.0
    assert promised_costs(promised, 0.3) == Costs(135.0, 270.0, 1.25, 9.25)


def made_up(count, seed):
    """Return offers with random costs, some of them alike."""
    numbers = np.round(10 ** np.random.default_rng(seed).uniform(0, 4, (count, 4)))
    return [SimpleNamespace(promised=Costs(*row), name=str(k)) for k, row in enumerate(numbers)]


@pytest.mark.parametrize("seed", range(20))
def test_the_crossover_is_what_trying_every_uplink_gives(seed):
    found, network = made_up(12, seed), Network(1.0, 50.0, 0.3, 0.1)
    walk = reigns(found, network)
    limits = [reign.up_to for reign in walk]
    assert limits == sorted(limits)
    assert limits[-1] == np.inf
    for uplink in np.geomspace(1e-5, 1e9, 300):
        seconds = [o.promised.seconds(replace(network, uplink=uplink)) for o in found]
        reign = next(reign for reign in walk if uplink <= reign.up_to)
        assert reign.offer.promised.seconds(replace(network, uplink=uplink)) == pytest.approx(
            min(seconds), rel=1e-9
        )


COMMAND = f"plan quadratic:d=12@4 --kappa 50 --until 1e-3 --methods {','.join(METHODS)}".split()


def test_the_table_fits_a_terminal_and_says_what_is_promised(capsys):
    assert (
        main([*COMMAND, "--compressors", "rand-k:2+natural", "--run", "--network", "up=9kbit"]) == 0
    )
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for words in ("promised by theorem, in the mean", "9 kbit/s up, 20 Mbit/s down",
                  "Measured on runs, medians", "Fastest by promise"):  # fmt: skip
        assert words in " ".join(out.split())


def test_both_ways_are_planned_and_a_long_name_has_a_line_of_its_own(capsys):
    words = ["plan", "quadratic:d=12@4", "--kappa", "50", "--methods", "locodl-both-ways"]
    assert main([*words, "--until", "1e-3", "--rows", "40"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    place = lines.index("locodl-both-ways+two-way(natural;natural)")
    assert lines[place + 1].split()[0] == "ours"


def test_total_bits_are_a_column_where_bits_received_have_a_weight(capsys):
    words = [*COMMAND, "--compressors", "rand-k:2+natural", "--downlink-weight", "0.5"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "total = up + 0.5 down" in " ".join(out.split())
    assert "down    total" in out or "down  total" in out
    assert main([*words, "--json"]) == 0
    for offer in json.loads(capsys.readouterr().out)["offers"]:
        costs = offer["promised"]
        assert costs["total"] == costs["up"] + 0.5 * costs["down"]


@pytest.mark.parametrize(
    ("selector", "choice", "sentence"),
    [
        ("quadratic:d=12@4", {"network": "5g"}, "the network '5g' is unknown; choose one of lte"),
        ("quadratic:d=12@4", {"network": "let"}, "'let' is unknown; did you mean lte?"),
        ("quadratic:d=12@4", {"target": 0.0}, "the target f - f* = 0; give one between 0 and"),
        ("quadratic:d=12@4", {"methods": ["celgc"]}, "promises anything about these methods"),
        ("quadratic:d=12@4", {"methods": ["acd"]}, "the method 'acd' is unknown"),
        (SHALLOW["problem"], {"measure": "gap"}, "give an accuracy of |grad f|^2"),
        (SHALLOW["problem"], {"target": 99.0}, "give one between 0 and"),
        (SHALLOW["problem"], {"methods": ["fedcomgate"]}, "no theorem promises anything"),
        (SHALLOW["problem"], {"measure": "rounds"}, "rounds"),
    ],
)
def test_refusals(selector, choice, sentence):
    with pytest.raises(Refusal, match=re.escape(sentence)):
        plan(select_problem(selector), **choice)


def test_a_plan_is_bounded_where_local_solves_may_take_for_ever():
    """At kappa = 1e14 one local solve takes minutes; what it takes at most stands for the mean."""
    solved = select_problem("quadratic:d=12@4", kappa=1e14)
    (offer,) = plan(solved, methods=["5gcs-cc"], compressors=["natural"]).offers
    assert offer.sampled
    per_round = offer.promised.gradients / offer.promised.rounds
    assert per_round == pytest.approx(offer.experiment.method.K, rel=1e-12)
    assert offer.experiment.method.K > SAMPLED_WORK / (4 * 12 * 12)


BOUNDED = {
    "at the largest kappa": ("breast-cancer@9", 1e15),
    "at a large kappa": ("breast-cancer@9", 1e9),
    "with many features": ("quadratic:d=600@10", 100.0),
    "with many clients": ("breast-cancer@250", 1e4),
}
MOST_UNITS = 30.0  # they take a third of it alone on a machine


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * ("many" in name)) for name in BOUNDED],
)
def test_a_plan_of_all_methods_takes_seconds(name, unit):
    selector, kappa = BOUNDED[name]
    start = process_time()
    made = plan(select_problem(selector, kappa=kappa))
    assert {offer.card.name for offer in made.offers} >= {"agd", "gd"}
    assert process_time() - start < MOST_UNITS * unit


def test_measured_runs_keep_to_the_limits_of_a_budget(made):
    (costs,) = made.measured(best=1, seeds=1, budget=Budget(iterations=1)).values()
    assert np.isnan(costs.rounds)


@pytest.mark.long
@pytest.mark.parametrize("noise", [None, 0.05])
def test_a_promise_of_a_small_gradient_is_kept(noise):
    """The mean of |grad f|^2 over the promised steps and over runs, for every method and rule."""
    solved = select_problem(SHALLOW["problem"], noise=noise)
    made = plan(solved, target=SHALLOW["target"], compressors=["rand-k:6", "top-k:6"])
    offered = {each.card.name for each in made.offers}
    exact = {"gd", "ef21", "marina", "dasha"}
    assert {"sgd", "scaffold", "dasha-mvr"} <= offered
    assert offered & exact == (exact if noise is None else set())
    assert made.measure == "squared_gradient"
    for offer in made.offers:
        steps = int(offer.promised.rounds)
        means = []
        trace = simulate(offer.experiment, seeds=3, budget=Budget(rounds=steps),
                         record=Record(ratio=1, every=1))  # fmt: skip
        for run in range(3):
            slopes = trace.columns["squared_gradient"][trace.columns["run"] == run]
            means.append(slopes[:steps].mean())
        assert np.mean(means) <= SHALLOW["target"], offer.name


def test_a_certificate_promises_fewer_rounds():
    solved = select_problem(SHALLOW["problem"])
    made = plan(solved, target=0.05, methods=["marina"], compressors=["natural"])
    better = made.certified(best=1)
    assert better.best.by == "certificate"
    assert better.best.promised.rounds < made.best.promised.rounds
    few = better.measured(best=1, seeds=2)[better.best.name]
    assert few.rounds <= better.best.promised.rounds


def test_an_accuracy_of_the_gradient_on_a_strongly_convex_problem(capsys):
    words = ["plan", "breast-cancer@5", "--kappa", "100", "--until-gradient", "0.01", "--json"]
    assert main([*words, "--methods", "gd,ef21"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["measure"] == "squared_gradient"
    assert {offer["promised_by"] for offer in told["offers"]} <= {
        theorem.title
        for name in ("gd", "ef21")
        for theorem in CARDS[name].about("squared_gradient")
    }


def test_relaxed_smooth_functions_have_a_plan_of_their_theorems():
    found = plan(Quartics.of(H=1), target=1.0)
    assert found.measure == "squared_gradient"
    assert {offer.rule for offer in found.offers} == {"ours"}
    with pytest.raises(Refusal, match=re.escape("what is promised of f - f* needs mu > 0")):
        plan(Quartics.of(H=1), measure="gap")
    with pytest.raises(Refusal, match="no theorem promises anything"):
        plan(Quartics.of(H=1), methods=["episode-plus-plus"], target=1.0)


def test_the_start_of_a_run_is_paid_for():
    """DASHA was promised 288 bits up and 2 gradients, and its first message alone takes 512.

    The gradients of PAGE were no number, nor its seconds, by which offers are sorted.
    """
    H = np.array([np.eye(16)] * 60)
    H[:2, 0, 0] = -1.0, 3.0
    solved = NonconvexQuadratic.from_arrays(H, np.ones((60, 16)))
    target = 0.95 * measure_at_start(solved, "squared_gradient")
    names, sent = ["marina", "dasha", "page", "ef21"], ["natural", "rand-k:8"]
    made = plan(solved, target=target, methods=names, compressors=sent)
    assert len(made.offers) == 6
    seconds = [offer.promised.seconds(made.network) for offer in made.offers]
    assert seconds == sorted(seconds)
    measured = made.measured(best=6, seeds=3)
    for offer in made.offers:
        promised, spent = astuple(offer.promised), astuple(measured[offer.name])
        assert all(a <= b for a, b in zip(spent, promised, strict=True)), offer.name
