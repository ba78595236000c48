"""Exceptions: input that does not fit, damaged files, failed jobs."""


class Refusal(ValueError):  # noqa: N818  (it reads better where it is raised)
    """Input that does not fit; the message is one sentence.

    The sentence names the value, what was expected and what to do. It is always one line.

    Examples
    --------
    >>> from certibit import Quadratic, Refusal
    >>> try:
    ...     Quadratic.random(n=0, d=4)
    ... except Refusal as refusal:
    ...     print(refusal)
    a quadratic of 0 clients and 4 features; both are at least 1
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().split())


class DamagedFileError(ValueError):
    """A file of certibit whose content has changed since it was written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from certibit import DamagedFileError, Trace
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "trace.npz")
    ...     size = path.write_text("no trace")
    ...     try:
    ...         Trace.load(path)
    ...     except DamagedFileError as damage:
    ...         print(str(damage).removeprefix(str(path)))
     is damaged (it does not end with its SHA-256)
    """


class FailedJobsError(RuntimeError):
    """Some jobs have failed; the message names them with the reasons. Other results are stored."""
