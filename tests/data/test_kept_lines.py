"""Values kept line by line: what is damaged or cut is told and left out, the others are read."""

import pytest
from fuzzing import flipped

from certibit.data.files.kept_lines import add_line, read_lines

VALUES = [["a", None], {"b": [1.5, "ü\n"]}, 0.1]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "folder" / "lines"
    for value in VALUES:
        add_line(path, value)
    return path


def test_what_was_kept_is_read(path, tmp_path):
    assert read_lines(path) == VALUES
    assert read_lines(tmp_path / "none") == read_lines(path / "below") == []


def test_every_flipped_bit_costs_only_its_own_line(path):
    good = path.read_bytes()
    for position in range(8 * len(good)):
        path.write_bytes(flipped(good, position))
        if flipped(good, position).split() == good.split():
            continue  # between two lines
        with pytest.warns(UserWarning, match="lines of .* are damaged; what they held is computed"):
            left = read_lines(path)
        assert len(left) >= len(VALUES) - 2
        assert all(value in VALUES for value in left)


def test_a_line_that_was_cut_does_not_spoil_the_next(path):
    path.write_bytes(path.read_bytes()[:-10])
    add_line(path, "next")
    with pytest.warns(UserWarning, match="1 of 4 lines"):
        assert read_lines(path) == [*VALUES[:2], "next"]
