"""A folder of finished traces, keyed by everything they depend on; none is computed twice."""

import hashlib
import json
import os
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from certibit.data.errors import DamagedFileError, Refusal
from certibit.data.files.archive import load_or_set_aside
from certibit.data.front_door import STARTED
from certibit.data.own.description import Met, description, module_of, name_of, state
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


class NoSourceError(Refusal):
    """A program whose text is not known, so that nothing can be kept under it."""


class NotKeptWarning(UserWarning):
    """A result is not kept, as there is no program text to keep it under."""


def program(*values: Any, rooms: tuple[str, ...] = ("data", "solvers")) -> dict[str, Any]:
    """Return what decides what some objects do, as JSON values.

    Parameters
    ----------
    *values : any
        Methods, compressors, parts of problems, with all that they hold.
    rooms : tuple of str
        The folders of the package whose text counts, all of it.

    Returns
    -------
    dict
        ``values``, described; ``classes``: their attributes as they are now; ``package``: one
        digest. If a class or function is a user's: ``modules``, the digests of the modules that
        his file has imported and of all that are loaded from elsewhere than the standard library
        and installed distributions; ``globals``, what functions read in those of these modules
        that are reached from the classes and functions, as it is now.

    Raises
    ------
    NoSourceError
        If a class or function was made at a prompt, by ``exec`` or inside a function, or a file
        was written after Python began, so that its text need not be what runs.
    """
    met: Met = {}
    described = [description(value, met) for value in values]
    classes = {
        parent: _attributes(parent, met)
        for kind in list(met)
        if isinstance(kind, type)
        for parent in kind.__mro__
        if not _is_of_a_library(parent)
    }
    things = [thing for thing in (met | dict.fromkeys(classes)) if not _is_of_a_library(thing)]
    users = [thing for thing in things if not is_of_the_package(module_of(thing))]
    for thing in users:
        _require_source(thing)
    modules = {module_of(thing) for thing in users}
    if users:
        modules |= {name for name, module in list(sys.modules.items()) if _counts(name, module)}
    texts = {name: digest for each in modules for name, digest in _texts(each)}
    reached = _reached(users, texts)
    return {
        "values": described,
        "classes": sorted(([name_of(kind), found] for kind, found in classes.items()), key=repr),
        "package": _package_text(rooms),
        "modules": sorted((plain_name(name), digest) for name, digest in texts.items()),
        "globals": sorted(([plain_name(name), _globals_read(name)] for name in reached), key=repr),
    }


def _attributes(kind: type, met: Met) -> list[Any]:
    """Return the attributes of a class as they are now, which a program may have changed."""
    return [
        [name, _if_possible(_unwrapped(value), met)]
        for name, value in sorted(vars(kind).items())
        if isinstance(value, FunctionType) or not name.startswith("__")
    ]


def _if_possible(value: Any, met: Met) -> Any:
    """Return a description, None of what has none: text says how it was made."""
    try:
        return description(value, met)
    except Refusal:
        return None


def _unwrapped(value: Any) -> Any:
    """Return the function of a method of a class, of a property or of a cached property."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    return getattr(value, "__func__", value)


def is_of_the_package(name: str) -> bool:
    """Say whether a module is one of this package, by its name."""
    return name.partition(".")[0] == _PACKAGE


def _is_of_a_library(thing: Any) -> bool:
    """Say whether a thing is of Python or an installed library; no class derived from ours is."""
    parents = thing.__mro__ if isinstance(thing, type) else [thing]
    if any(is_of_the_package(module_of(parent)) for parent in parents):
        return False
    if isinstance(thing, type) and "__module__" not in vars(thing):  # written in C
        return True
    file = getattr(sys.modules.get(module_of(thing)), "__file__", None)
    if file is None:  # a class made by exec says that it is of builtins
        return module_of(thing) in sys.stdlib_module_names - {"builtins", "__main__"}
    return _is_installed(file)


@cache
def _is_installed(file: str) -> bool:
    """Say whether a file is of Python or of an installed library."""
    path = Path(file).resolve()
    return path.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(path.parts)


def _require_source(thing: type | FunctionType) -> None:
    """Refuse a class or function that does not stand in a file that was loaded."""
    name = f"{thing.__qualname__} of the module {plain_name(module_of(thing))}"
    loaded = sys.modules.get(module_of(thing))
    if not Path(getattr(loaded, "__file__", None) or "").is_file():
        raise NoSourceError(
            f"{name} was made at a prompt or by exec, where its text cannot be read; "
            "write it in a file"
        )
    if isinstance(thing, type):
        try:
            stands = attrgetter(thing.__qualname__)(loaded) is thing
        except AttributeError:
            stands = False
        parts = [_unwrapped(part) for part in vars(thing).values()]
    else:
        stands, parts = True, [thing]
    codes = [part.__code__ for part in parts if isinstance(part, FunctionType)]
    if not stands or not all(map(_is_in_a_file, codes)):
        raise NoSourceError(
            f"{name} is not what stands in its file: it was made by exec or inside a function, or "
            "loaded again; write it at the top of a file, and start Python again"
        )


def _is_in_a_file(code: CodeType) -> bool:
    """Say whether a code was compiled from a file, or made by a decorator for dataclasses."""
    return code.co_qualname.startswith("__create_fn__") or Path(code.co_filename).is_file()


def _counts(name: str, module: ModuleType) -> bool:
    """Say whether a loaded module counts wherever a user's class is run."""
    file = getattr(module, "__file__", None)
    return (
        file is not None
        and name not in _SCRIPTS
        and not is_own_module(name)
        and not is_of_the_package(name)
        and not _is_installed(file)
    )


def _texts(name: str) -> Iterable[tuple[str, str]]:
    """Yield the names of a module and of those that it stands for, with the digests of texts."""
    if is_own_module(name):
        return own_texts(name).items()
    file = Path(sys.modules[name].__file__ or "")
    return [(name, _text_since_start(file))] if file.is_file() else []


def _reached(things: Iterable[Any], modules: Collection[str]) -> set[str]:
    """Return which modules things are of, and those that the globals of these come from."""
    found: set[str] = set()
    waiting = [module_of(thing) for thing in things]
    while waiting:
        name = waiting.pop()
        if name in modules and name not in found:
            found.add(name)
            for value in list(vars(sys.modules[name]).values()):
                of = value.__name__ if isinstance(value, ModuleType) else value
                waiting.append(str(of if isinstance(of, str) else getattr(of, "__module__", "")))
    return found


def _globals_read(name: str) -> list[Any]:
    """Return the globals that the functions of a module read, as they are now."""
    found = vars(sys.modules[name])
    names = {read for function in _functions(found, name) for read in _names(function.__code__)}
    return [
        [read, _if_possible(found[read], {})]
        for read in sorted(names & found.keys())
        if not read.startswith("__")
    ]


def _functions(namespace: Any, module: str) -> Iterator[FunctionType]:
    for value in map(_unwrapped, list(namespace.values())):
        if getattr(value, "__module__", None) == module:
            if isinstance(value, FunctionType):
                yield value
            elif isinstance(value, type):
                yield from _functions(vars(value), module)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and those inside it read."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _package_text(rooms: tuple[str, ...]) -> str:
    """Return one digest of all files of some folders of the package."""
    digests = [[str(file), _text_since_start(folder / file)] for folder, file in _files(rooms)]
    return hashlib.sha256(repr(digests).encode()).hexdigest()


@cache
def _files(rooms: tuple[str, ...]) -> list[tuple[Path, Path]]:
    folders = [Path(import_module(f"{_PACKAGE}.{room}").__path__[0]) for room in rooms]
    return [
        (folder.parent, file.relative_to(folder.parent))
        for folder in folders
        for file in sorted(folder.rglob("*.py"))
    ]


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
    the package and, for your own class, of your modules, with the globals that these read
    (:mod:`certibit.solvers.store.store`); the versions of Python, numpy and scipy. The
    commit is recorded in the trace and is not part of the key. Traces of a class that was defined
    at a prompt, or of a program that changes while it runs, are not stored.

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
            If the text of a class cannot be read, as it was made at a prompt.
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
            If the text of a class cannot be read, as it was made at a prompt, or has changed
            while it was run.
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
                    "while it ran (a file was written, a function has imported a module, or a "
                    "global that functions read has another value)",
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
    of_the_package = [kind for kind in type(problem).__mro__ if is_of_the_package(kind.__module__)]
    named = {name for kind in of_the_package for name in getattr(kind, "__dataclass_fields__", ())}
    parts = {}
    for name, part in state(problem).items():
        if name in named and is_of_the_package(type(part).__module__):
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
