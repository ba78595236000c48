"""The names of a page of imports, each loaded when it is first used."""

import ast
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

STARTED = time.time()
"""When the package was loaded; what is written into a file of text later need not be what runs."""


def _exported_names(text: str) -> Mapping[str, str]:
    """Return the module of each name that a program text exports: imports as NAME."""
    imports = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))
    return {
        alias.asname: node.module or "" for node in imports for alias in node.names if alias.asname
    }


def loaded_at_use(page: dict[str, Any]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose imports stand under ``if TYPE_CHECKING``.

    Editors and type checkers read the imports, each ``as`` its own name, which exports it, and is
    in ``__all__``; a program loads what it uses.

    Parameters
    ----------
    page : dict
        The globals of the module.
    """
    names: dict[str, str] = {}

    def load(name: str) -> Any:
        if not names:
            names.update(_exported_names(Path(page["__file__"]).read_text(encoding="utf-8")))
            page["__all__"] = sorted(names)
        if name == "__all__":
            return page[name]
        if name not in names:
            module = sys.modules[page["__name__"]]  # where Python looks for a near name
            sentence = f"module {page['__name__']!r} has no attribute {name!r}"
            raise AttributeError(sentence, name=name, obj=module)
        page[name] = getattr(import_module(names[name]), name)
        return page[name]

    return load
