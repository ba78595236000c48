"""Files that carry their digest: every damage is seen, told and set aside; no remains stay."""

import errno
import os
import threading

import numpy as np
import pytest

from certibit.data.errors import DamagedFileError
from certibit.data.files.archive import load_arrays, load_or_set_aside, save_arrays
from certibit.data.files.cache import write_atomically, write_text

ARRAYS = {"x": np.arange(3.0), "header": np.array("text"), "empty": np.zeros((2, 0), dtype=int)}


@pytest.fixture
def path(tmp_path):
    save_arrays(tmp_path / "made.npz", ARRAYS)
    return tmp_path / "made.npz"


def test_what_is_saved_is_loaded(path):
    with np.load(path) as plain:
        for found in (load_arrays(path), plain):
            assert set(found) == set(ARRAYS)
            for name, array in ARRAYS.items():
                np.testing.assert_array_equal(found[name], array, strict=True)


def test_every_damage_is_seen(path):
    """A flipped bit of every third byte, and as many other lengths."""
    good = path.read_bytes()
    for place in range(0, len(good), 3):
        turned = bytes([good[place] ^ 1 << place % 8])
        flipped = good[:place] + turned + good[place + 1 :]
        for content in (flipped, good[:place], good + good[place:]):
            path.write_bytes(content)
            with pytest.raises(DamagedFileError, match="SHA-256"):
                load_arrays(path)


def test_what_cannot_be_read_is_damaged_too(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(DamagedFileError, match=r"folder cannot be read \(Is a directory\)"):
        load_arrays(tmp_path / "folder")


@pytest.mark.parametrize("missing", ["none", "made.npz/none"])
def test_what_is_missing_is_not_told(path, missing):
    assert load_or_set_aside(path.parent / missing, load_arrays) is None


def test_what_is_damaged_is_set_aside(path):
    path.write_text("damage")
    told = "it is set aside as made.npz.damaged and computed again"
    with pytest.warns(UserWarning, match=f"{told}$"):
        assert load_or_set_aside(path, load_arrays) is None
    assert [file.name for file in path.parent.iterdir()] == ["made.npz.damaged"]


def test_what_cannot_be_set_aside_is_told(path, monkeypatch):
    def refused(*arguments):
        raise PermissionError(13, "Permission denied")

    path.write_text("damage")
    monkeypatch.setattr(type(path), "replace", refused)
    with pytest.warns(UserWarning, match=r"left there, as it cannot be renamed \(Permission den"):
        assert load_or_set_aside(path, load_arrays) is None
    assert [file.name for file in path.parent.iterdir()] == ["made.npz"]


def test_what_another_process_sets_aside_meanwhile_is_told_there(path):
    def load(path):
        path.rename(path.with_name("made.npz.damaged"))
        raise DamagedFileError("damage")

    assert load_or_set_aside(path, load) is None
    assert [file.name for file in path.parent.iterdir()] == ["made.npz.damaged"]


def test_nothing_half_written_stays(tmp_path):
    def fail(file):
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_the_file(tmp_path):
    def fail(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*file'"):
        write_atomically(tmp_path / "file", fail)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name on this system")
def test_a_pipe_or_a_device_is_written_to_and_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_text(tmp_path / "pipe", "text")
    assert os.read(reader, 9) == b"text\n"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_threads_that_write_side_by_side_do_not_meet(tmp_path):
    texts = [str(k) * 1000 for k in range(8)]
    threads = [threading.Thread(target=write_text, args=(tmp_path / "file", t)) for t in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_text().strip() in texts
    assert len(list(tmp_path.iterdir())) == 1
