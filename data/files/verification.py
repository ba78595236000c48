"""Verification of files against the catalogue, or against their first download."""

import hashlib
from pathlib import Path

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.files.dataset import Dataset
from certibit.data.files.manifest import LibSVMFile
from certibit.data.files.svmlight import content


def verify(
    dataset: Dataset, entry: LibSVMFile, path: Path, first: Path, exactly: bool = False
) -> None:
    """Refuse a file that is not what the catalogue says.

    Unknown values are None; the figure of the page for d binds only a file of that page. A file
    without a manifest is compared, byte for byte, with its pin ``first`` if that exists.
    """
    rows, features = dataset.A.shape
    manifest = entry.manifest
    checks: list[tuple[str, int | str, int | str | None]] = [("rows", rows, entry.rows)]
    if manifest is not None or exactly:
        checks.append(("features", features, entry.features))
    if manifest is not None:
        positives = int(np.count_nonzero(dataset.b > 0))
        checks += [
            ("rows", rows, manifest.rows),
            ("entries that are not zero", dataset.A.nnz, manifest.nonzeros),
            ("rows of the smaller label", rows - positives, manifest.negatives),
            ("rows of the larger label", positives, manifest.positives),
            ("as SHA-256 of its text", normalised_sha256(content(path)), manifest.sha256),
        ]
    elif first.exists():
        text = first.read_text(encoding="utf-8", errors="replace").strip()
        checks.append((f"as SHA-256, which {first} keeps,", file_sha256(path), text))
    for what, found, expected in checks:
        if expected not in (None, found):
            raise Refusal(
                f"{path} is not the set {dataset.name}: it has {found} {what}, expected {expected};"
                " remove it, or load it by its path"
            )


def pin(file: Path) -> Path:
    """Return where the SHA-256 that a set had when it was downloaded is kept."""
    return file.with_name(f"{file.name}.sha256")


def file_sha256(file: Path) -> str:
    """SHA-256 of the bytes of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def normalised_sha256(text: bytes) -> str:
    """SHA-256 of a text with LF line ends, no trailing white space, no blank lines."""
    lines = [line.rstrip() for line in text.splitlines()]
    return hashlib.sha256(b"".join(line + b"\n" for line in lines if line)).hexdigest()
