"""A comparison that is saved and loaded again is the same, or it is refused by name."""

import json
from dataclasses import replace

import numpy as np
import pytest
from compared import PROBLEM, Mine

from certibit import Comparison, DamagedFileError, Quadratic, Refusal, compare, problem
from certibit.data.files.archive import load_arrays, save_arrays


def same(one, other):
    assert str(one) == str(other)
    assert one.summary() == other.summary()
    assert (one.targets, one.network) == (other.targets, other.network)
    for a, b in zip(one.traces, other.traces, strict=True):
        assert (a.specification, a.ending) == (b.specification, b.ending)
        for name, column in a.columns.items():
            np.testing.assert_array_equal(column, b.columns[name])


def test_what_is_loaded_is_what_was_saved(found, tmp_path):
    """With a method, a problem and a network of one's own."""
    path = found.save(tmp_path / "found.npz")
    own = {type(each.method) for each in found.contestants}
    same(found, Comparison.load(path, PROBLEM, [*own]))


def test_a_problem_and_methods_of_the_catalogue_are_found_by_their_names(tmp_path):
    entries = ["agd", "gradskip", "locodl[balanced]+rand-k:2+natural", "ef21+top-k:2"]
    solved = problem("breast-cancer@3", kappa=20)
    found = compare(solved, entries, target=1e-2, seeds=2, network="lte")
    again = Comparison.load(found.save(tmp_path / "found.npz"))
    same(found, again)
    assert [each.name for each in again.contestants] == entries
    assert again.best(by="rounds").name == found.best(by="rounds").name


def test_another_problem_and_unknown_methods_are_refused(found, tmp_path):
    path = found.save(tmp_path / "found.npz")
    with pytest.raises(Refusal, match=r"the problem of .* is not that of the file"):
        Comparison.load(path, Quadratic.random(5, 12, mu=1.0, L=30.0), [Mine])
    alone = compare(PROBLEM, [Mine(0.01)], target=1e-1, seeds=1)
    mine = alone.save(tmp_path / "mine.npz")
    with pytest.raises(Refusal, match=r"no method of the catalogue; give its class in methods="):
        Comparison.load(mine, PROBLEM)
    assert Comparison.load(mine, methods=[Mine]).problem.fingerprint == PROBLEM.fingerprint


def test_a_problem_of_ones_own_rows_is_given_again(tmp_path):
    rows, labels = np.random.default_rng(0).normal(size=(12, 3)), np.tile([0, 1], 6)
    own = problem(rows, labels, clients=3, kappa=10)
    found = compare(own, ["gd"], target=1e-2, seeds=1)
    path = found.save(tmp_path / "own.npz")
    same(found, Comparison.load(path, own))
    with pytest.raises(Refusal, match="give"):
        Comparison.load(path)


def test_changed_parameters_are_refused(found, tmp_path):
    """A class of the same name that would make something else of the parameters."""
    alone = compare(PROBLEM, [Mine(0.01)], target=1e-1, seeds=1)
    path = alone.save(tmp_path / "mine.npz")

    class Other(Mine):
        def __init__(self, gamma):
            super().__init__(gamma / 2)

    with pytest.raises(Refusal, match=r"the method of .* is not that of the file"):
        Comparison.load(path, PROBLEM, [Other])


def test_damage_is_named(found, tmp_path):
    path = found.save(tmp_path / "found.npz")
    whole = path.read_bytes()
    for place in (0, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedFileError, match=r"found\.npz"):
            Comparison.load(path, PROBLEM)
    path.write_bytes(whole)
    arrays = load_arrays(path)
    for changed in ({"comparison": np.array("{}")}, {"comparison": np.array("[")}, {"0-run": None}):
        kept = {name: a for name, a in (arrays | changed).items() if a is not None}
        save_arrays(path, kept)
        with pytest.raises(DamagedFileError, match="holds no comparison"):
            Comparison.load(path, PROBLEM)
    with pytest.raises(FileNotFoundError):
        Comparison.load(tmp_path / "absent.npz")


def test_nothing_is_pickled(found, tmp_path):
    arrays = load_arrays(found.save(tmp_path / "found.npz"))
    assert all(array.dtype.kind != "O" for array in arrays.values())
    assert json.loads(str(arrays["comparison"]))["targets"] == list(found.targets)


def test_other_endings_are_figures(found, tmp_path):
    path = replace(found, targets=found.targets).save(tmp_path / "figure.svg")
    assert path.read_text(encoding="utf-8").startswith("<?xml")
