"""A trace names its origin: versions, data, commit."""

import subprocess

from user_project import OPTIONS

from certibit import GD, Experiment
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.runs.engine import commit, simulate


def test_the_origin_stands_in_the_trace(store, monkeypatch):
    """Another commit is no reason to compute again; other data, by its hash, or storage is."""
    dense, sparse, other = (
        Experiment.of(GD(0.1), select_problem("breast-cancer@3", kappa=9.0, **changes))
        for changes in ({"storage": "dense"}, {"storage": "sparse"}, {"seed": 1})
    )
    first = store.trace(dense, **OPTIONS)
    assert set(first.specification["origin"]) == {
        "certibit", "python", "numpy", "scipy", "commit", "storage", "x_star_error"
    }  # fmt: skip
    assert first.specification["origin"]["storage"] == "dense"
    assert 0 < first.specification["origin"]["x_star_error"] < 1e-9
    assert len(first.specification["problem"]["fingerprint"]) == 64
    monkeypatch.setattr("certibit.solvers.runs.engine.commit", lambda root: "another")
    assert simulate(dense, **OPTIONS).specification["origin"]["commit"] == "another"
    assert store.find(dense, **OPTIONS).specification == first.specification
    assert store.find(sparse, **OPTIONS) is None
    assert store.find(other, **OPTIONS) is None


def test_the_commit_is_that_of_a_checkout_or_none(tmp_path):
    assert commit(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    commit.cache_clear()
    assert commit(tmp_path) == head
