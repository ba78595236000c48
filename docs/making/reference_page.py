"""The reference of the public names, one page per folder, from their docstrings."""

import inspect
from collections.abc import Iterator
from typing import Any

import certibit
from making.method_page import toctree
from making.text import code, docstring, escaped, page, prose, table

_ROOMS = {
    "data": "Problems and data",
    "solvers": "Methods, compressors and runs",
    "theory": "Theorems, checks and certificates",
    "figures": "Comparisons and figures",
}
_LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Warns")


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of the index and of the page of each folder."""
    by_room = {room: [n for n in certibit.__all__ if _room(n) == room] for room in _ROOMS}
    rows = [
        (f"[{title}]({room}.md)", ", ".join(f"`{name}`" for name in by_room[room]))
        for room, title in _ROOMS.items()
    ]
    yield (
        "reference/index",
        page(
            "# Reference",
            "All names that `import certibit` offers. Arrays have the shapes of "
            "[how it is built](../../how-it-is-built.md).",
            table(("page", "names"), rows),
            toctree(_ROOMS),
        ),
    )
    for room, title in _ROOMS.items():
        yield f"reference/{room}", page(f"# {title}", *(_entry(name) for name in by_room[room]))


def _room(name: str) -> str:
    thing = getattr(certibit, name)
    module = getattr(thing, "__module__", None) or ""
    parts = module.split(".")
    return parts[1] if parts[0] == "certibit" and len(parts) > 1 else "theory"


def _entry(name: str) -> str:
    thing = getattr(certibit, name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return page(f"## {name}", f"A `{type(thing).__name__}`.").strip()
    told = docstring(thing)
    parts = [
        f"## {name}",
        code(f"{name}{_signature(thing)}"),
        escaped(told.summary),
        prose(told.body),
    ]
    for section in _LISTS:
        entries = [(f"`{head}`", escaped(meaning)) for head, meaning in told.entries(section)]
        parts += [f"**{section}**", table(("", ""), entries)] if entries else []
    parts.append(prose(told.sections.get("Notes", "")))
    if inspect.isclass(thing):
        parts.append(_methods(thing))
    if "Examples" in told.sections:
        parts.append(code(told.sections["Examples"], "pycon"))
    return page(*parts).strip()


def _methods(thing: type) -> str:
    rows = [
        (f"`{name}`", escaped(_summary(thing, name)))
        for name, member in vars(thing).items()
        if name[0] != "_" and (inspect.isfunction(member) or isinstance(member, property))
    ]
    return page("**Members**", table(("", ""), rows)).strip() if rows else ""


def _summary(thing: type, name: str) -> str:
    """Return what a member does, by its docstring or that of the first parent that has one."""
    owners = (vars(owner).get(name) for owner in inspect.getmro(thing))
    members = (getattr(owner, "fget", None) or owner for owner in owners if owner is not None)
    return next((docstring(member).summary for member in members if member.__doc__), "")


def _signature(thing: Any) -> str:
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"
