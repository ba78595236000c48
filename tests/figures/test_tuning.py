"""Step sizes and thresholds from a grid: the best pair, and where it lies on the edge."""

import json
from itertools import product

import numpy as np
import pytest

from certibit import Budget, Refusal, compare, problem
from certibit.cli import main
from certibit.figures.comparison.contestants import contestants
from certibit.solvers.runs.grid import StepGrid

pytestmark = pytest.mark.filterwarnings("ignore::certibit.OutsideTheoremWarning")
GRID = StepGrid((0.01, 0.1, 0.001), (5.0, 20.0, 1.0))
SOLVED = problem("quartics:H=4@2:noise=0.1")
METHODS = "episode[I=2]", "normalised-gd", "clip21", "gd", "ef21+sign"


@pytest.mark.long(keep=4)
@pytest.mark.parametrize("target", [1.0, 1e-12])
@pytest.mark.parametrize("name", METHODS)
def test_no_pair_of_the_grid_is_better(name, target):
    """Each is compared by itself, where the target is reached and where it is not."""
    options = {"target": target, "seeds": 3, "budget": Budget(rounds=60), "measure": "gap"}
    found = compare(SOLVED, [name], tune=GRID, **options)
    scores = {}
    for steps in product(GRID.etas, GRID.taus):
        (one,) = contestants(SOLVED, [name], steps)
        alone = compare(SOLVED, [(one.method, one.compressor)], **options)
        end = [np.inf if e == "diverged" else x for e, x in
               zip(alone.traces[0].ending, alone.traces[0].final("gap"), strict=True)]  # fmt: skip
        costs = [*alone.costs("bits").values(), *alone.costs("gradients").values(), end]
        scores[one.method] = np.median(np.nan_to_num(costs, nan=np.inf), axis=1).tolist()
    ((best,), (pair,)) = found.contestants, found.tuned
    assert scores[best.method] == min(scores.values())
    assert contestants(SOLVED, [name], (pair.eta, pair.tau))[0].method == best.method
    assert (pair.tau < np.inf) == bool(best.card.threshold) == (name in METHODS[:3])
    assert (scores[best.method][0] < np.inf) == (target == 1.0)


def test_the_edge_of_the_grid_is_told_and_a_pair_inside_it_preferred(capsys, tmp_path):
    """Thresholds above every gradient are all the same; a step size of two is always an edge."""
    words = ["compare", "quartics:H=4@2", "celgc", "gd", "--tune", "eta=0.01,1e-5:tau=1e5,1e6,1e7"]
    words += ["--rounds", "9", "--seeds", "2", "--until", "1e-3", "--output", str(tmp_path)]
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the best pair of eta = 0.01, 1e-05 and tau = 100000, 1e+06, 1e+07, tuned" in said
    assert "celgc: eta = 0.01, tau = 1e+06; eta is the largest of the grid, so a wider" in said
    assert "gd: eta = 0.01; eta is the largest" in said
    assert main([*words, "--json", "--jobs", "2"]) == 0
    found = json.loads(capsys.readouterr().out)["contestants"]
    assert found[0]["tuned"] == {"eta": 0.01, "tau": 1e6, "edges": {"eta": "largest"}}
    assert found[0]["parameters"]["gamma"] == 1e4
    assert GRID.edges(0.01, 1.0) == {"tau": "smallest"}
    assert GRID.marked(0.1, 5.0) == ("0.1*", "5")
    assert GRID.marked(0.01, np.inf) == ("0.01", "")


@pytest.mark.parametrize(
    ("words", "name", "sentence"),
    [(words, "celgc", "cannot be read; expected different positive numbers") for words in
     ("0.1", "eta=", "eta=x", "eta=1,1:tau=2", "eta=0", "eta=1:tau=-1", "tau=1", "eta=1:eta=2")]
    + [("eta=1", "celgc", "celgc has a threshold, and the grid of step sizes has none"),
       ("eta=1:tau=2", "celgc[eta=1]", "gives eta, which is tuned"),
       ("eta=1:tau=2", "celgc", "give a limit of rounds, gradients or bits")],
)  # fmt: skip
def test_grids_that_are_not_possible(words, name, sentence):
    limits = None if "limit" in sentence else Budget(rounds=9)
    with pytest.raises(Refusal, match=sentence):
        compare(SOLVED, [name], tune=words, target=1.0, measure="gap", budget=limits)
