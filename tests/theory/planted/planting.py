"""Plants a fault: while the context lasts, the functions of a module have a changed source text.

The module's text is compiled with the change and the new code is put into the living functions, so
that everybody who has imported them gets the fault, and everybody gets the right code back; changed
attributes of classes are put in place as well. The context has no compiled passes; a fault in one
of these is compiled from the changed text.
"""

import ast
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getsource
from tempfile import TemporaryDirectory
from types import CodeType, FunctionType
from unittest.mock import patch

from certibit.data.files.cache import cache_folder, write_text

_CACHED = type(cache(len))


@dataclass(frozen=True)
class Fault:
    """A small change of the text of a module.

    ``subject`` is the method, its rule and its compressor that the checks are made with.
    """

    name: str
    module: str
    changes: tuple[tuple[str, str], ...]
    subject: tuple[str, str | None, str | None]
    options: tuple[tuple[str, object], ...] = ()


def fault(
    name: str,
    module: str,
    *changes: tuple[str, str],
    on: str,
    rule: str | None = None,
    compressor: str | None = None,
    **options: object,
) -> Fault:
    return Fault(name, module, changes, (on, rule, compressor), tuple(options.items()))


def texts(fault: Fault) -> tuple[str, str]:
    """Return the text of the module of a fault, right and wrong."""
    right = wrong = getsource(import_module(f"certibit.{fault.module}"))
    for old, new in fault.changes:
        assert right.count(old) == 1, f"{fault.name}: {old!r} occurs {right.count(old)} times"
        assert old.count("\n") == new.count("\n"), "lines must keep their numbers"
        wrong = wrong.replace(old, new)
    return right, wrong


@contextmanager
def compiled_from(fault: Fault) -> Iterator[None]:
    """Put compiled functions of a changed text in place of those of a module."""
    _, wrong = texts(fault)
    name = f"planted_{sha256(wrong.encode()).hexdigest()[:16]}"
    path = cache_folder() / "planted" / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != f"{wrong}\n":
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, wrong)
    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        dispatchers = {key: x for key, x in vars(module).items() if hasattr(x, "py_func")}
        own = {key: x for key, x in dispatchers.items() if x.py_func.__module__ == name}
        with patch.multiple(f"certibit.{fault.module}", **own):
            yield
    finally:
        del sys.modules[name]


@contextmanager
def planted(fault: Fault, compiled: bool = False) -> Iterator[None]:
    """Plant a fault, without compiled passes unless these are what reaches it."""
    module = import_module(f"certibit.{fault.module}")
    right, wrong = texts(fault)
    functions = dict(_functions(vars(module), module.__name__))
    before, after = (
        dict(_codes(compile(text, module.__file__, "exec"))) for text in (right, wrong)
    )
    changed = [n for n in functions if n in before and before[n] != after[n]]
    attributes = dict(_attributes(wrong) - _attributes(right))
    assert changed or attributes, f"{fault.name} changes no function and no attribute of a class"
    kept = {name: functions[name].__code__ for name in changed}
    for name in changed:
        functions[name].__code__ = after[name]
    forget_results()
    try:
        with ExitStack() as stack:
            for (name, attribute), value in attributes.items():
                living = getattr(module, name)
                stack.enter_context(patch.object(living, attribute, eval(value, vars(module))))
            stack.enter_context(nullcontext() if compiled else _alone())
            yield
    finally:
        for name in changed:
            functions[name].__code__ = kept[name]
        forget_results()


def forget_results() -> None:
    """Empty the caches of functions: they keep what right, or wrong, code has returned."""
    for module in [one for name, one in sys.modules.items() if name.startswith("certibit.")]:
        for thing in list(vars(module).values()):
            for one in (thing, *(vars(thing).values() if isinstance(thing, type) else ())):
                if isinstance(one, _CACHED):
                    one.cache_clear()


@contextmanager
def _alone() -> Iterator[None]:
    """Do without compiled code, which cannot be changed, and keep solutions in a folder apart."""
    with (
        TemporaryDirectory() as folder,
        patch.dict(os.environ, CERTIBIT_FAST="0", CERTIBIT_CACHE=folder),
    ):
        yield


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant.co_qualname, constant
            yield from _codes(constant)


def _attributes(text: str) -> set[tuple[tuple[str, str], str]]:
    """Return the attributes that the text of a module gives its classes, and their expressions."""
    return {
        ((one.name, line.targets[0].id), ast.unparse(line.value))
        for one in ast.parse(text).body
        if isinstance(one, ast.ClassDef)
        for line in one.body
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
    }


def _functions(namespace: dict, module: str) -> Iterator[tuple[str, FunctionType]]:
    """Return the functions that a module's own text defines, by qualified name."""
    for thing in list(namespace.values()):
        for wrapped in ("fget", "func", "__func__", "__wrapped__"):
            if hasattr(type(thing), wrapped) or wrapped in getattr(thing, "__dict__", ()):
                thing = getattr(thing, wrapped, None) or thing  # noqa: PLW2901
        if isinstance(thing, type) and thing.__module__ == module:
            yield from _functions(dict(vars(thing)), module)
        elif isinstance(thing, FunctionType) and thing.__module__ == module:
            yield thing.__qualname__, thing
