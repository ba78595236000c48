"""What says that an input does not fit, that a file is not what was written, that jobs failed."""


class Refusal(ValueError):  # noqa: N818  (it reads better where it is raised)
    """Input that does not fit, told in one sentence.

    The sentence names the value, what was expected and what to do about it; it is one line,
    whatever the value is.

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
    """A file of ours that does not hold what was written; the message names it and the damage.

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
    """Some jobs have failed; the message names them and says why. What the others did is kept."""
