"""Files of results with damage, or of another version: named, set aside and left out of the page.

Each of the files is tried with its share of 10,000 damages, and with every field taken away.
"""

import warnings
from contextlib import suppress
from copy import deepcopy
from hashlib import sha256
from itertools import product

import pytest
from fuzzing import flipped, generators
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
OTHERS = [None, "", "x", "holds", "#000000", True, -1, 0, 1, 1e300, 1e-320, 10**400, [], [1], {}]


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


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("name", RECORDS)
def test_another_digit_is_named(written, tmp_path, name):
    """Whatever digit it is, and though the record would be drawn with it."""
    text = (written / name).read_bytes()
    digits = [place for place, byte in enumerate(text) if chr(byte).isdigit()]
    for rng in generators(100):
        place = digits[rng.integers(len(digits))]
        other = (text[place] - ord("0") + int(rng.integers(1, 10))) % 10
        content = text[:place] + str(other).encode() + text[place + 1 :]
        _, (told,) = read_again(name, content, tmp_path)
        assert told.startswith(f"{tmp_path / name} is damaged (it does not end with its SHA-256)")


def damaged(value, places, rng):
    """Return a value of JSON with one or two changes inside."""
    value = deepcopy(value)
    for _ in range(rng.integers(1, 3)):
        *path, last = places[rng.integers(len(places))]
        with suppress(LookupError, TypeError):  # what has just been taken away
            owner = inside(value, path)
            match rng.integers(4), owner[last]:
                case 0, _:
                    del owner[last]
                case 1, list(there):
                    owner[last] = there[: rng.integers(3)]
                case 2, int() | float():
                    owner[last] = [0, -1, 1, 1e-6, 1e-300, 1e300, 5e-324][rng.integers(7)]
                case _:
                    owner[last] = deepcopy(OTHERS[rng.integers(len(OTHERS))])
    return value


@pytest.mark.long
@pytest.mark.parametrize("name", RECORDS)
def test_records_with_any_content_are_drawn_or_left_out(written, tmp_path, name):
    text = (written / name).read_bytes()
    good = read_record(written / name)
    places, drawn = list(nodes(good)), 0
    for number, rng in enumerate(generators(10_000 // len(RECORDS))):
        content = record_bytes(damaged(good, places, rng))
        whole = number % 10 > 0
        if not whole:
            content = flipped(text, int(rng.integers(8 * len(text))))
        parts, told = read_again(name, content, tmp_path)
        assert len(told) == 1 or (whole and not told)
        if not told:
            drawn += 1
            assert page(parts)
    assert drawn
