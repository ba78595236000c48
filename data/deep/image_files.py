"""CIFAR-10, from the binary files of https://www.cs.toronto.edu/~kriz/cifar.html."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST = ("test_batch.bin",)
_SHAPE, _CLASSES = (3, 32, 32), 10
_RECORD = 1 + 3 * 32 * 32


@dataclass(frozen=True, eq=False)
class Images:
    """Labelled images.

    Attributes
    ----------
    pixels : array of shape (N, 3, 32, 32)
        Red, green and blue, from 0 to 255, uint8.
    labels : array of shape (N,)
        Classes 0 to 9.
    """

    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]

    @property
    def inputs(self) -> NDArray[np.float32]:
        """The pixels from 0 to 1."""
        return self.pixels.astype(np.float32) / np.float32(255)


def cifar10(folder: str | os.PathLike[str], *, test: bool = False) -> Images:
    """Read CIFAR-10 from its unpacked folder ``cifar-10-batches-bin``.

    A record is a byte for the class and 3,072 for the pixels: the red ones row by row, then the
    green and the blue ones.

    Parameters
    ----------
    folder : path
        With ``data_batch_1.bin`` to ``data_batch_5.bin``, or ``test_batch.bin``.
    test : bool
        Whether the test images are read.

    Raises
    ------
    Refusal
        If a file is missing, has no whole number of records, or a class above 9.
    """
    parts = [_records(Path(folder, name)) for name in (TEST if test else TRAINING)]
    records = np.concatenate(parts)
    return Images(records[:, 1:].reshape(-1, *_SHAPE), records[:, 0].astype(np.int64))


def _records(path: Path) -> NDArray[np.uint8]:
    if not path.is_file():
        raise Refusal(
            f"there is no file {path}; give the unpacked folder of the binary version of CIFAR-10"
        )
    octets = np.fromfile(path, dtype=np.uint8)
    if not octets.size or octets.size % _RECORD:
        raise Refusal(
            f"{path} has {octets.size:,} bytes, not a multiple of {_RECORD:,}; download it again"
        )
    records = octets.reshape(-1, _RECORD)
    if records[:, 0].max() >= _CLASSES:
        raise Refusal(f"{path} has a class {records[:, 0].max()}; expected 0 to 9")
    return records
