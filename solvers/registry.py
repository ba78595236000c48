"""The registry of extensions, which may do the work of a run in place of the core.

An extension may give the runs a channel and an oracle that compute gradients and messages another
way, from plain arrays to plain arrays. Modules are registered by name and imported when the loop
first asks; one that is not installed is left out.
With ``CERTIBIT_FAST=0`` the registry is empty, and the core does everything on plain arrays; for a
part of a program :func:`use_extensions` says the same.

A registered module defines the functions of
:class:`~certibit.solvers.simulation.iteration.Extension`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module

from certibit.data.errors import Refusal

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    from types import ModuleType

_NAMES: list[str] = []
_USE = ContextVar("extensions", default="where they pay")


def register(module: str) -> None:
    """Add the module of an extension by its absolute name; it need not be installed."""
    if module not in _NAMES:
        _NAMES.append(module)


def registered() -> "Iterator[ModuleType]":
    """Yield the modules of the extensions, the one that was registered last first."""
    if os.environ.get("CERTIBIT_FAST") == "0" or _USE.get() == "never":
        return
    for name in reversed(_NAMES):
        module = extension(name)
        if module is not None:
            yield module


@contextmanager
def use_extensions(when: str) -> "Iterator[None]":
    """Use extensions in the context ``"never"``, as for a few rounds, or ``"always"``.

    Otherwise they decide themselves whether there is enough work for what they must prepare.
    """
    before = _USE.set(when)
    try:
        yield
    finally:
        _USE.reset(before)


def are_forced() -> bool:
    """Whether extensions are to be used for little work as well."""
    return _USE.get() == "always"


def on_device() -> "ModuleType":
    """Return the module of runs on a device.

    Raises
    ------
    Refusal
        If its folder has been removed.
    """
    module = extension("certibit.solvers.device.device_runs")
    if module is None:
        raise Refusal("this copy of certibit has no solvers/device; choose the library numpy")
    return module


def extension(name: str) -> "ModuleType | None":
    """Return the module of an extension by its absolute name; None if it is not installed."""
    from importlib.util import find_spec  # noqa: PLC0415  (slow to import)

    try:
        installed = find_spec(name) is not None
    except ModuleNotFoundError:  # the folder of the module has been removed
        installed = False
    return import_module(name) if installed else None
