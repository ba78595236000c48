"""Files of results with damage, or of another version: named and left out of the page."""

import warnings
from copy import deepcopy
from hashlib import sha256
from itertools import product

import pytest
from written_results import write_results

from certibit.data.files.archive import read_record, record_bytes, write_record
from certibit.figures.report.page import page, read_parts

TARGETS = {
    "demo.json": "demo", "verdicts.json": "figures", "table2.txt": "figures",
    "theory/report.json": "theory", "theory/faults.txt": "faults",
    "certified/rates.json": "certified", "audit/audit-locodl.json": "audit",
    "episode/report.json": "episode", "episode/report.txt": "episode", "bench/1.json": "bench",
    "deep/report.json": "deep", "deep/report.txt": "deep",
}  # fmt: skip
RECORDS = [name for name in TARGETS if name.endswith(".json")]
TEXTS = [name for name in TARGETS if name.endswith(".txt")]


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A good folder of results, its curves shortened to what shows whether they are read."""
    folder = tmp_path_factory.mktemp("results")
    write_results(folder)
    drawn = read_record(folder / "demo.json")
    for curve in drawn["panels"][0]["curves"]:
        curve["line"] = {name: values[::30] for name, values in curve["line"].items()}
    write_record(folder / "demo.json", drawn)
    return folder


def read_again(name, content, folder):
    """Return the parts of a folder with one file of this content, and what was told of it."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        parts = read_parts(folder)
    for aside in path.parent.glob("*.damaged"):
        aside.unlink()
    return parts, [str(each.message) for each in told]


def nodes(value, path=()):
    """Yield the path of every value inside a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield (*path, key)
        if isinstance(member, dict | list):
            yield from nodes(member, (*path, key))


def inside(value, path):
    for key in path:
        value = value[key]
    return value


def test_a_good_folder_is_read_whole(written, recwarn):
    absent = {part.target for part in read_parts(written) if not part.blocks}
    figures = {f"make figure{number}" for number in "1234"}
    assert absent == {"certibit compare --report NAME", *figures}
    assert not recwarn


def sealed(body):
    """Return bytes with the digest that makes them a record."""
    return body + b'"sha256": "%s"}\n' % sha256(body).hexdigest().encode()


DAMAGES = [b"{", b"\xff", b"[" * 100_000, b"[1]", b"NaN"]
DAMAGES += [sealed(b'{"content": %s,\n' % damage) for damage in DAMAGES] + [sealed(b"{")]


@pytest.mark.parametrize(
    ("name", "content"), [*product(RECORDS, DAMAGES), *product(TEXTS, [b"\xff"])]
)
def test_what_is_no_record_is_named_and_left_out(tmp_path, name, content):
    parts, (told,) = read_again(name, content, tmp_path)
    assert told.startswith(f"{tmp_path / name} is damaged (")
    assert told.endswith(f"left out until make {TARGETS[name]} writes it again")
    assert page(parts) == page(read_parts(tmp_path / "empty"))


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("name", RECORDS)
def test_every_field_that_the_page_needs_is_asked_for(written, tmp_path, name):
    """An older version did not write it: it is told, and never a traceback."""
    good = read_record(written / name)
    fields = {}
    for path in nodes(good):
        if isinstance(path[-1], str):
            fields.setdefault(tuple(key for key in path if isinstance(key, str)), path)
    for path in fields.values():
        changed = deepcopy(good)
        del inside(changed, path[:-1])[path[-1]]
        parts, told = read_again(name, record_bytes(changed), tmp_path)
        assert page(parts)
        assert len(told) <= 1
