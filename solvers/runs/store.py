"""A folder of finished traces, keyed by what made them; nothing finished is computed again."""

import ast
import hashlib
import inspect
import json
import os
import warnings
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import BadZipFile

import bitbound.data
import bitbound.solvers
from bitbound.data.problem import Problem
from bitbound.solvers.runs.engine import Progress, simulate, specification
from bitbound.solvers.runs.trace import Trace
from bitbound.solvers.world.experiment import Experiment


class Store:
    """Finished traces in a folder, one npz file per specification.

    The key is the hash of the specification and of the program text that a trace depends on:
    the rooms data and solvers and the method's own module, without comments and docstrings.
    A changed method is therefore run again; a changed figure is only drawn again.

    Parameters
    ----------
    folder : path
        Made when the first trace is saved.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bitbound import GD, Budget, Experiment, Quadratic, Store
    >>> experiment = Experiment.of(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0))
    >>> with TemporaryDirectory() as folder:
    ...     trace = Store(folder).trace(experiment, seeds=2, budget=Budget(rounds=3))
    ...     again = Store(folder).find(experiment, seeds=2, budget=Budget(rounds=3))
    >>> again.bits_to(1) == trace.bits_to(1)
    array([ True,  True])
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, experiment: Experiment[Problem], **options: Any) -> Path:
        """Return the file of a trace; the options are those of :func:`bitbound.solvers.run`."""
        settings = specification(experiment, **options)
        module = inspect.getmodule(type(experiment.method))
        text = json.dumps([settings, _engine_text(), _text(module)], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self.folder / f"{experiment.method.name}-{key}.npz"

    def find(self, experiment: Experiment[Problem], **options: Any) -> Trace | None:
        """Load a finished trace, or give None; a file that cannot be read is told and ignored."""
        path = self.path(experiment, **options)
        try:
            return Trace.load(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            warnings.warn(f"{path} cannot be read and is computed again: {error}", stacklevel=2)
            return None

    def trace(
        self,
        experiment: Experiment[Problem],
        *,
        progress: Progress | None = None,
        **options: Any,
    ) -> Trace:
        """Load a finished trace, or run it and save it; options as in :func:`simulate`."""
        trace = self.find(experiment, **options)
        if trace is None:
            trace = simulate(experiment, progress=progress, **options)
            trace.save(self.path(experiment, **options))
        return trace


@lru_cache
def _engine_text() -> str:
    """Hash the program text of data and solvers, the methods left out."""
    rooms = (Path(room) for module in (bitbound.data, bitbound.solvers) for room in module.__path__)
    files = sorted(
        file
        for room in rooms
        for file in room.rglob("*.py")
        if "methods" not in file.relative_to(room).parts
    )
    return _digest("\n".join(_bare(file.read_text(encoding="utf-8")) for file in files))


@lru_cache
def _text(module: ModuleType | None) -> str:
    """Hash the program text of a module; of one typed at a prompt nothing is known."""
    try:
        return _digest(_bare(inspect.getsource(module))) if module else ""
    except OSError:
        return ""


def _bare(source: str) -> str:
    """Return program text without comments, layout and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                part
                for part in body
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
    return ast.dump(tree)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
