"""A folder of finished traces, keyed by everything they depend on; none is computed twice."""

import hashlib
import json
import os
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from certibit.data.errors import DamagedFileError, Refusal
from certibit.data.files.archive import load_or_set_aside
from certibit.data.front_door import STARTED
from certibit.data.own.description import Met, description, module_of, state
from certibit.data.own.own_file import is_own_module, own_texts, plain_name
from certibit.data.problem import Problem
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.checkpoint import Checkpoint
from certibit.solvers.runs.engine import Progress, simulate, specification, versions
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment

_PACKAGE = __name__.partition(".")[0]
_INSTALLED = {"site-packages", "dist-packages"}
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
_SCRIPTS = {"__main__", "__mp_main__"}
_ROOMS = "data", "solvers"
"""The folders of the package whose text counts, all of it."""


class NoSourceError(Refusal):
    """A program whose text is not known, so that nothing can be kept under it."""


class NotKeptWarning(UserWarning):
    """A result is not kept, as there is no program text to keep it under."""


def program(*values: Any) -> dict[str, Any]:
    """Return what decides what some objects do, as JSON values.

    Parameters
    ----------
    *values : any
        Methods, compressors, parts of problems, with all that they hold.

    Returns
    -------
    dict
        ``values``, described; ``package``: one digest of the folders ``data`` and ``solvers``;
        ``modules``: the digests of your files whose classes and functions the values are of, of
        what these files have imported from beside them, and of all modules that are loaded from
        elsewhere than the standard library and installed distributions, but the script.

    Raises
    ------
    NoSourceError
        If a class or function is neither of the package or of an installed library nor of a file
        that certibit has loaded, or if another file that counts was written after Python began,
        so that its text need not be what runs.
    """
    met: Met = {}
    described = [description(value, met) for value in values]
    things = met | {
        parent: None for kind in met if isinstance(kind, type) for parent in kind.__mro__
    }
    texts: dict[str, str] = {}
    for thing in things:
        if not _is_of_the_package(module_of(thing)) and not _is_of_a_library(thing):
            _require_source(thing)
            texts |= own_texts(module_of(thing))
    for name, module in list(sys.modules.items()) if texts else ():
        file = getattr(module, "__file__", None)
        known = is_own_module(name) or _is_of_the_package(name) or name in _SCRIPTS
        if file and not known and not _is_installed(file) and Path(file).is_file():
            texts[name] = _text_since_start(Path(file))
    return {
        "values": described,
        "package": _package_text(),
        "modules": sorted((plain_name(name), digest) for name, digest in texts.items()),
    }


def _is_of_the_package(name: str) -> bool:
    """Say whether a module is one of this package, by its name."""
    return name.partition(".")[0] == _PACKAGE


def _is_of_a_library(thing: Any) -> bool:
    """Say whether a thing is of Python or of an installed library."""
    if isinstance(thing, type) and "__module__" not in vars(thing):  # written in C
        return True
    name = module_of(thing)
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name in _SCRIPTS:  # a class made by exec says that it is of builtins
        return name in sys.stdlib_module_names - {"builtins", *_SCRIPTS}
    return _is_installed(file)


@cache
def _is_installed(file: str) -> bool:
    """Say whether a file is of Python or of an installed library."""
    path = Path(file).resolve()
    return path.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(path.parts)


def _require_source(thing: type | FunctionType) -> None:
    """Refuse a class or function that is not of a file of the user as it was last loaded."""
    loaded = sys.modules.get(module_of(thing)) if is_own_module(module_of(thing)) else None
    names = vars(loaded) if loaded else {}
    if isinstance(thing, type):
        kept = names.get(thing.__qualname__) is thing
    else:
        kept = thing.__globals__ is names
    if not kept:
        raise NoSourceError(
            f"{thing.__qualname__} of the module {plain_name(module_of(thing))} does not stand at "
            "the top of a file that certibit has loaded; write it there, and name it FILE.py:NAME"
        )


@cache
def _files() -> list[tuple[Path, str]]:
    """Return the files of the rooms whose text counts, with their names in the package."""
    folders = [Path(import_module(f"{_PACKAGE}.{room}").__path__[0]) for room in _ROOMS]
    return [
        (file, str(file.relative_to(folder.parent)))
        for folder in folders
        for file in sorted(folder.rglob("*.py"))
    ]


def _package_text() -> str:
    """Return one digest of all files of the rooms."""
    digests = [[name, _text_since_start(file)] for file, name in _files()]
    return hashlib.sha256(repr(digests).encode()).hexdigest()


def _text_since_start(file: Path) -> str:
    """Return the SHA-256 of a file that nobody has written since Python began."""
    times = file.stat()
    if STARTED < max(times.st_mtime, times.st_ctime) <= time.time():
        raise NoSourceError(
            f"{file} was written after this Python began, so that another text may run; "
            "start Python again"
        )
    return _digest(file)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class CutWarning(UserWarning):
    """Limits have ended runs that would have gone on."""


class NotStoredError(LookupError):
    """A trace is not in its store, where none is to be computed."""


_ONLY: ContextVar[list[str] | None] = ContextVar("only stored", default=None)


@contextmanager
def only_stored() -> Iterator[list[str]]:
    """Load traces in the context, of a fresh store as well, and compute none.

    Yields the list of their keys; what is not there raises :class:`NotStoredError`.
    """
    keys: list[str] = []
    before = _ONLY.set(keys)
    try:
        yield keys
    finally:
        _ONLY.reset(before)


class StoredJob:
    """Base of the jobs whose ``trace`` is one trace of their ``store``; they travel to workers."""

    store: "Store"


class Store:
    """Finished traces in a folder, one npz file per key.

    The key is the hash of everything that a trace depends on: the specification; the fields of the
    method, the compressor and your own problem; the text of the folders ``data`` and ``solvers`` of
    the package and, for your own class, of its file and of all modules that are not installed;
    the versions of Python, numpy and scipy. The commit is recorded in the trace and is not part of
    the key. Traces of a class are stored if it is of a file that you have named, ``FILE.py:NAME``,
    and not if it is of a script or was defined at a prompt.

    A trace that was stopped while it was computed goes on where it was
    (:mod:`certibit.solvers.runs.checkpoint`).

    Parameters
    ----------
    folder : path
        Created when the first trace is saved.
    fresh : bool
        Whether stored traces are ignored and replaced.
    limits : Budget, optional
        Limits that end runs before their own budgets do. They are part of the key.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from certibit import GD, Budget, Experiment, Quadratic, Store
    >>> experiment = Experiment.of(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0))
    >>> with TemporaryDirectory() as folder:
    ...     trace = Store(folder).trace(experiment, seeds=2, budget=Budget(rounds=3))
    ...     again = Store(folder).find(experiment, seeds=2, budget=Budget(rounds=3))
    >>> again.bits_to(1) == trace.bits_to(1)
    array([ True,  True])
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        fresh: bool = False,
        limits: Budget | None = None,
    ) -> None:
        self.folder = Path(folder).absolute()  # a worker of a cluster may run elsewhere
        self.fresh = fresh
        self.limits = limits

    def path(self, experiment: Experiment[Problem], **options: Any) -> Path:
        """Return the file of a trace; the options are those of :func:`simulate`.

        Raises
        ------
        NoSourceError
            If a class is of no file that certibit has loaded.
        Refusal
            If the options do not fit, or a field holds what cannot be told from others.
        """
        options = self._limited(options)
        method, problem = experiment.method, experiment.problem
        made_of = [
            specification(experiment, **options),
            program(method, experiment.compressor, type(problem), _own_parts(problem)),
            versions(),
        ]
        key = hashlib.sha256(_as_text(made_of).encode()).hexdigest()[:16]
        return self.folder / f"{method.name}-{key}.npz"

    def find(self, experiment: Experiment[Problem], **options: Any) -> Trace | None:
        """Load a finished trace or return None; a damaged file is renamed, with a warning."""
        if self.fresh:
            return None
        options = self._limited(options)
        try:
            path = self.path(experiment, **options)
        except NoSourceError:
            return None
        return _load(path, specification(experiment, **options))

    def trace(
        self,
        experiment: Experiment[Problem],
        *,
        progress: Progress | None = None,
        simulated: Callable[..., Trace] | None = None,
        **options: Any,
    ) -> Trace:
        """Load a finished trace, or compute and save it; options as in :func:`simulate`.

        ``simulated`` computes it in place of that function, with the same result.

        Warns
        -----
        NotKeptWarning
            If a class is of no file that certibit has loaded, or the program has changed while
            it was run.
        CutWarning
            If the limits of the store have ended runs.
        """
        trace = self._finished(experiment, simulated or simulate, progress, self._limited(options))
        self._tell_cut(trace, experiment, options["budget"])
        return trace

    def _finished(
        self,
        experiment: Experiment[Problem],
        simulated: Callable[..., Trace],
        progress: Progress | None,
        options: dict[str, Any],
    ) -> Trace:
        """Load a finished trace, or run it and save it."""
        only = _ONLY.get()
        try:
            path = self.path(experiment, **options)
        except NoSourceError as reason:
            if only is not None:
                raise NotStoredError from None
            warnings.warn(f"this trace is not kept: {reason}", NotKeptWarning, stacklevel=3)
            return simulated(experiment, progress=progress, **options)
        asked = specification(experiment, **options)
        if only is not None:
            stored = _load(path, asked)
            if stored is None:
                raise NotStoredError(path.name)
            only.append(path.stem)
            return stored
        checkpoint = Checkpoint(path, asked)
        if self.fresh:
            checkpoint.remove()
        trace = None if self.fresh else _load(path, asked)
        if trace is None:
            trace = simulated(experiment, progress=progress, checkpoint=checkpoint, **options)
            if not self._is_still(path, experiment, options):
                warnings.warn(
                    f"this trace of {experiment.method.name} is not kept: its program has changed "
                    "while it ran (a file was written, or a function has imported a module)",
                    NotKeptWarning,
                    stacklevel=3,
                )
            elif "seconds" not in trace.ending:  # what a clock cuts off is not the same again
                trace.save(path)
        checkpoint.remove()
        return trace

    def _limited(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options with a budget within the limits of the store."""
        return {**options, "budget": options["budget"].within(self.limits)}

    def _tell_cut(self, trace: Trace, experiment: Experiment[Problem], whole: Budget) -> None:
        """Warn of runs that would have gone on without the limits of the store."""
        lowered = whole.lowered(self.limits)
        ended = [ending for ending in trace.ending if ending in lowered]
        if ended:
            told = " and ".join(f"{getattr(self.limits, n):,g} {n}" for n in sorted({*ended}))
            warnings.warn(
                f"{len(ended)} of {len(trace.ending)} runs of {experiment.method.name} with "
                f"{experiment.compressor.name} on {experiment.problem.name} were cut at {told}",
                CutWarning,
                stacklevel=3,
            )

    def _is_still(
        self, path: Path, experiment: Experiment[Problem], options: Mapping[str, Any]
    ) -> bool:
        """Say whether a trace has the path that it had before it was run."""
        try:
            return self.path(experiment, **options) == path
        except NoSourceError:
            return False


def _own_parts(problem: Problem) -> dict[str, Any]:
    """Return what a problem holds beside the data and constants that its specification names."""
    of_the_package = [kind for kind in type(problem).__mro__ if _is_of_the_package(kind.__module__)]
    named = {name for kind in of_the_package for name in getattr(kind, "__dataclass_fields__", ())}
    parts = {}
    for name, part in state(problem).items():
        if name in named and _is_of_the_package(type(part).__module__):
            parts[name] = type(part)  # such as the storage of the rows
        elif name not in named or not isinstance(part, float | np.ndarray):
            parts[name] = part
    return parts


def _load(path: Path, asked: Mapping[str, object]) -> Trace | None:
    """Load the trace of a specification; None if there is none, or if it is damaged or another."""

    def load(path: Path) -> Trace:
        trace = Trace.load(path)
        if _as_text({name: trace.specification.get(name) for name in asked}) != _as_text(asked):
            raise DamagedFileError(f"{path} is damaged (it holds the trace of something else)")
        return trace

    return load_or_set_aside(path, load)


def _as_text(described: object) -> str:
    return json.dumps(described, sort_keys=True)
