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


def _imported_names(text: str) -> Mapping[str, str]:
    """Return the module that each name of a program text is imported from."""
    imports = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom))
    return {
        alias.asname or alias.name: node.module or "" for node in imports for alias in node.names
    }


def loaded_at_use(page: dict[str, Any]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose imports stand under ``if TYPE_CHECKING``.

    Editors and type checkers read the imports; a program loads what it uses.

    Parameters
    ----------
    page : dict
        The globals of the module.
    """
    names: dict[str, str] = {}

    def load(name: str) -> Any:
        if not names:
            names.update(_imported_names(Path(page["__file__"]).read_text(encoding="utf-8")))
        if name not in page["__all__"]:
            module = sys.modules[page["__name__"]]  # where Python looks for a near name
            sentence = f"module {page['__name__']!r} has no attribute {name!r}"
            raise AttributeError(sentence, name=name, obj=module)
        page[name] = getattr(import_module(names[name]), name)
        return page[name]

    return load
