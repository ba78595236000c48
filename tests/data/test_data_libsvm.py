"""Data sets by name and path: where they are searched, what is checked, what is said."""

import bz2
import json
import os
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from certibit.data.errors import Refusal
from certibit.data.files.libsvm import load, load_numbers, normalised_sha256
from certibit.data.files.manifest import BUNDLED, CATALOGUE, NAMES, LibSVMFile, Manifest

TEXT = b"2 1:0.5 3:1\n1 2:1 3:0\n1\n"
"""Three rows, four features by the catalogue below, three entries of which one is zero."""

MANIFEST = Manifest(3, 3, 2, 1, sha256(TEXT).hexdigest())


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Two folders of CERTIBIT_DATA, a cache, a small catalogue, and no network."""
    first, second, cache = tmp_path / "first", tmp_path / "second", tmp_path / "cache"
    for folder in (first, second, cache / "libsvm"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("CERTIBIT_DATA", os.pathsep.join([str(first), str(second)]))
    monkeypatch.setenv("CERTIBIT_CACHE", str(cache))
    monkeypatch.setitem(CATALOGUE, "made", LibSVMFile("made", "made.bz2", 4, manifest=MANIFEST))
    monkeypatch.setitem(CATALOGUE, "libsvm:loose", LibSVMFile("libsvm:loose", "loose", 2, rows=2))

    def no_network(*_, **__):
        raise ConnectionError("no route")

    monkeypatch.setattr("pooch.retrieve", no_network)
    return first, second, cache / "libsvm"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_search_order(places, place):
    for folder in places[place:]:
        (folder / "made").write_bytes(TEXT)
    assert load("made").origin == str(places[place] / "made")


def test_what_is_loaded(places):
    (places[1] / "made").write_bytes(TEXT)
    dataset = load("made")
    assert dataset.name == "made"
    assert dataset.labels == (1.0, 2.0)
    np.testing.assert_array_equal(dataset.b, [1.0, -1.0, -1.0])
    np.testing.assert_array_equal(dataset.A.toarray(), [[0.5, 0, 1, 0], [0, 1, 0, 0], [0] * 4])
    assert dataset.A.nnz == 3


@pytest.mark.parametrize("ending", [b"\r\n", b" \n", b"\n\n"])
def test_copies_that_differ_in_line_ends_pass(places, ending):
    (places[0] / "made").write_bytes(TEXT.replace(b"\n", ending))
    assert load("made").A.shape == (3, 4)


def test_packed_files_are_found(places):
    (places[0] / "made.bz2").write_bytes(bz2.compress(TEXT))
    assert load("made").A.shape == (3, 4)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TEXT + b"1 1:1\n", "it has 4 rows, expected 3"),
        (TEXT.replace(b"3:1", b"5:1"), "it has 5 features, expected 4"),
        (TEXT.replace(b"3:0", b"3:1"), "it has 4 entries that are not zero, expected 3"),
        (b"1 1:0.5 3:1\n2 2:1 3:0\n2\n", "it has 1 rows of the smaller label, expected 2"),
        (TEXT.replace(b"0.5", b"0.6"), "as SHA-256 of its text, expected"),
    ],
)
def test_a_mismatch_with_the_manifest_is_refused(places, text, told):
    path = places[0] / "made"
    path.write_bytes(text)
    with pytest.raises(Refusal) as refusal:
        load("made")
    assert str(refusal.value).startswith(f"{path} is not the set made: ")
    assert told in str(refusal.value)
    assert load(path).name == "made"


def test_features_without_manifest_are_a_lower_bound(places):
    (places[0] / "loose").write_bytes(b"1 1:1\n2 1:1\n")
    assert load("loose").A.shape == (2, 2)
    (places[0] / "loose").write_bytes(b"1 7:1\n2 1:1\n")
    assert load("loose").A.shape == (2, 7)


def test_downloads_go_to_the_cache(places, monkeypatch):
    asked = {}

    def retrieve(address, *, known_hash, fname, path, progressbar):
        asked.update(address=address, progressbar=progressbar)
        target = Path(path) / fname
        target.write_bytes(bz2.compress(TEXT))
        return str(target)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    assert load("made").origin == str(places[2] / "made.bz2")
    assert asked == {
        "address": "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/made.bz2",
        "progressbar": True,
    }
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("rows", "told"), [(2, "only N = 2 and that no index"), (None, "only that no index")]
)
def test_a_download_without_a_sum_says_what_was_checked(places, monkeypatch, rows, told):
    entry = LibSVMFile("libsvm:loose", "loose", 2, rows=rows)
    monkeypatch.setitem(CATALOGUE, "libsvm:loose", entry)
    monkeypatch.setattr("pooch.retrieve", sending(LOOSE))
    with pytest.warns(UserWarning, match=f"content of libsvm:loose.*{told} is above 2 was checked"):
        assert load("libsvm:loose").A.shape == (2, 2)
    assert load("libsvm:loose").A.shape == (2, 2)  # it is there, and nothing is told
    kept = places[2] / "loose"
    assert kept.with_name("loose.sha256").read_text().strip() == sha256(LOOSE).hexdigest()


LOOSE = b"1 1:1\n2 2:1\n"


def sending(text):
    """Return what stands in the place of a download of a text."""

    def retrieve(address, *, known_hash, fname, path, progressbar):
        target = Path(path) / fname
        target.write_bytes(text)
        return str(target)

    return retrieve


def pinned(path, text):
    """Write a file as if it had been downloaded."""
    path.write_bytes(text)
    path.with_name(f"{path.name}.sha256").write_text(sha256(text).hexdigest() + "\n")


@pytest.mark.parametrize(
    "damaged", [LOOSE.replace(b"1:1", b"1:2"), LOOSE[:-1], LOOSE.replace(b"\n", b"\r\n")]
)
def test_a_download_stays_the_same_byte_for_byte(places, damaged):
    pinned(places[2] / "loose", LOOSE)
    assert load("libsvm:loose").A.shape == (2, 2)
    (places[2] / "loose").write_bytes(damaged)
    with pytest.raises(Refusal, match=r"loose is not the set libsvm:loose: it has .* as SHA-256"):
        load("libsvm:loose")


def test_a_download_that_has_lost_its_sum_is_refused(places):
    pinned(places[2] / "loose", LOOSE)
    (places[2] / "loose.sha256").unlink()
    with pytest.raises(Refusal, match=r"loose\.sha256, .*, is not there; remove .*loose to downl"):
        load("libsvm:loose")
    (places[0] / "loose").write_bytes(LOOSE)  # a file of the user's own needs none
    assert load("libsvm:loose").A.shape == (2, 2)


def test_the_sum_is_there_before_the_file(places, monkeypatch):
    """Whenever a process is killed, no file is there that is not bound by its sum."""
    monkeypatch.setattr("pooch.retrieve", sending(LOOSE))
    replace = Path.replace

    def killed(file, target):
        if Path(target).name == "loose":
            raise KeyboardInterrupt
        return replace(file, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            load("libsvm:loose")
    assert [file.name for file in places[2].iterdir()] == ["loose.sha256"]
    monkeypatch.setattr("pooch.retrieve", sending(LOOSE.replace(b"1:1", b"1:2")))
    with pytest.raises(Refusal, match=r"not kept, as .* it has .* as SHA-256"):
        load("libsvm:loose")
    monkeypatch.setattr("pooch.retrieve", sending(LOOSE))
    with pytest.warns(UserWarning, match="the content of .* is not verified"):
        assert load("libsvm:loose").A.shape == (2, 2)


def test_rows_are_checked_in_files_of_the_folders_too(places):
    (places[0] / "loose").write_bytes(b"1 1:1\n2 1:1\n2 2:1\n")
    with pytest.raises(Refusal, match="is not the set loose: it has 3 rows, expected 2; remove it"):
        load("loose")


DOWNLOADS = {
    "page": ("made", b"<html>no such page</html>", "made.bz2 cannot be read"),
    "page as text": ("libsvm:loose", b"<html>no such page</html>", "the label '<html>no' is"),
    "nothing": ("libsvm:loose", b"", "loose is empty"),
    "another sum": ("made", bz2.compress(TEXT.replace(b"0.5", b"0.6")), "as SHA-256 of its text"),
    "half": ("made", bz2.compress(TEXT)[:-8], "made.bz2 cannot be read"),
    "more rows": ("libsvm:loose", b"1 1:1\n2 1:1\n2 2:1\n", "it has 3 rows, expected 2"),
    "more features": ("libsvm:loose", b"1 1:1\n2 3:1\n", "it has 3 features, expected 2"),
}


@pytest.mark.parametrize(("name", "sent", "told"), DOWNLOADS.values(), ids=DOWNLOADS)
def test_what_is_not_the_set_never_enters_the_cache(places, monkeypatch, name, sent, told):
    monkeypatch.setattr("pooch.retrieve", sending(sent))
    with pytest.raises(Refusal, match="what was downloaded is not kept, as") as refusal:
        load(name)
    assert told in str(refusal.value)
    assert list(places[2].iterdir()) == []


@pytest.mark.parametrize(
    ("download", "reason"),
    [(True, "the download failed with ConnectionError"), (False, "downloading is switched off")],
)
def test_no_network_says_what_to_do(places, download, reason):
    with pytest.raises(Refusal) as refusal:
        load("made", download=download)
    assert str(refusal.value) == (
        f"made is in no folder of CERTIBIT_DATA and {reason}; fetch"
        " https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/made.bz2"
        " by other means into a folder that CERTIBIT_DATA names"
    )


@pytest.mark.parametrize("read", [load, load_numbers])
def test_a_file_without_a_sum_is_asked_for_with_a_prefix(places, read):
    """What an earlier download left in the cache is not the user's own file either."""
    pinned(places[2] / "loose", b"1 1:1\n2 1:1\n")
    with pytest.raises(Refusal) as refusal:
        read("loose")
    assert str(refusal.value) == (
        "loose is in no folder of CERTIBIT_DATA and its SHA-256 is not known here; libsvm:loose "
        "downloads the file of the LibSVM page, whose content is not verified"
    )
    assert read("libsvm:loose").A.shape == (2, 2)
    (places[0] / "loose").write_bytes(b"1 1:2\n2 1:1\n")
    dataset = read("loose")
    assert (dataset.name, dataset.A.shape) == ("loose", (2, 2))
    assert dataset.origin == str(places[0] / "loose")


def test_the_prefix_does_not_make_a_set_another(places):
    (places[1] / "made").write_bytes(TEXT)
    assert load("libsvm:made").name == load_numbers("libsvm:made").name == "made"


def test_any_file_of_the_folders_has_a_name(places):
    (places[1] / "mine.svm").write_bytes(TEXT)
    assert load("mine.svm").name == "mine.svm"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("a5", "a5a"),
        ("mushroom", "libsvm:mushrooms"),
        ("libsvm:mushroom", "libsvm:mushrooms"),
        ("diabetes-scale", "diabetes_scale"),
    ],
)
def test_unknown_names_are_told_the_nearest(places, name, near):
    with pytest.raises(Refusal) as refusal:
        load(name)
    told = str(refusal.value)
    assert told.startswith(f"the data set {name!r} is unknown; the nearest names are ")
    assert near in told


def test_a_missing_path_is_refused(places, tmp_path):
    path = tmp_path / "none"
    with pytest.raises(Refusal, match=f"there is no file {path}; give the path"):
        load(path)


def test_a_refusal_is_one_line_whatever_the_name_is(places):
    with pytest.raises(Refusal) as refusal:
        load("a folder/a\nname")
    assert str(refusal.value).startswith("there is no file a folder/a name; give")


def test_bad_lines_name_the_file(places, tmp_path):
    path = tmp_path / "bad"
    path.write_bytes(b"1 1:1\n2 0:1\n")
    with pytest.raises(Refusal, match=f"{path}, line 2: '0:1' has the index 0"):
        load(path)


def test_bundled_set_needs_no_file():
    dataset = load("breast-cancer", download=False)
    assert dataset.A.shape == (569, 30)
    assert dataset.labels == (0.0, 1.0)
    assert int((dataset.b > 0).sum()) == 357
    columns = dataset.A.toarray()
    np.testing.assert_allclose(columns.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(columns.std(axis=0), 1.0, rtol=1e-13)
    data, target = load_breast_cancer(return_X_y=True)
    np.testing.assert_array_equal(columns, (data - data.mean(axis=0)) / data.std(axis=0))
    np.testing.assert_array_equal(dataset.b, 2.0 * target - 1.0)


def test_names_are_of_sets_whose_sum_is_known():
    """Every other file of the page is asked for with its prefix."""
    own = {name for name in CATALOGUE if not name.startswith("libsvm:")}
    assert set(NAMES) == {BUNDLED, *own}
    assert own == {name for name, entry in CATALOGUE.items() if entry.manifest}
    assert all(name == entry.name for name, entry in CATALOGUE.items())


def test_files_of_the_page_are_complete():
    listed = [f"a{i}a" for i in range(1, 10)] + [f"w{i}a" for i in range(1, 9)]
    listed += ["diabetes", "diabetes_scale", "australian", "australian_scale", "mushrooms"]
    listed += ["phishing", "ijcnn1", "splice", "german.numer", "breast-cancer", "sonar", "heart"]
    listed += ["ionosphere", "covtype.binary", "real-sim", "rcv1.binary", "news20.binary"]
    assert set(listed) <= {name.removeprefix("libsvm:") for name in CATALOGUE}


@pytest.mark.parametrize("name", [name for name in CATALOGUE if f"{name}_scale" in CATALOGUE])
def test_scaled_data_have_the_size_of_the_others(name):
    plain, scaled = CATALOGUE[name], CATALOGUE[f"{name}_scale"]
    assert (plain.features, plain.rows) == (scaled.features, scaled.rows)


@pytest.mark.parametrize("name", [n for n, entry in CATALOGUE.items() if entry.manifest])
def test_files_of_the_manifest(name):
    folders = [Path(f) for f in os.environ.get("CERTIBIT_DATA", "").split(os.pathsep) if f]
    if not any((folder / name).is_file() for folder in folders):
        pytest.skip(f"CERTIBIT_DATA has no file {name}")
    dataset = load(name, download=False)
    assert dataset.labels == (-1.0, 1.0)
    facts = next((f / "MANIFEST.json" for f in folders if (f / "MANIFEST.json").is_file()), None)
    if facts is not None:
        entry = CATALOGUE[name]
        listed = {fact["name"]: fact for fact in json.loads(facts.read_text())["files"]}[name]
        assert listed["sha256_normalised"] == entry.manifest.sha256
        assert listed["sha256_normalised"] == normalised_sha256(Path(dataset.origin).read_bytes())
        assert (listed["rows"], listed["features"]) == dataset.A.shape
        assert listed["nonzeros"] == dataset.A.nnz
        assert listed["labels"] == {
            "+1": int((dataset.b > 0).sum()),
            "-1": int((dataset.b < 0).sum()),
        }
