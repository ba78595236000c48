"""The reference of the public names, from their docstrings."""

import inspect
from typing import Any

import certibit
from making.text import code, docstring, escaped, page, prose, table

_ROOMS = {
    "data": "What is solved",
    "solvers": "What is run",
    "theory": "What is promised",
    "figures": "What is drawn",
}
_LISTS = ("Parameters", "Attributes", "Returns", "Raises", "Warns")


def reference_page() -> str:
    """Return all public names, by room."""
    parts = ["# Reference", "All names that `import certibit` gives."]
    for room, title in _ROOMS.items():
        names = [name for name in certibit.__all__ if _room(name) == room]
        parts += [f"## {title}", *(_entry(name) for name in names)]
    return page(*parts)


def _room(name: str) -> str:
    thing = getattr(certibit, name)
    module = getattr(thing, "__module__", None) or ""
    parts = module.split(".")
    return parts[1] if parts[0] == "certibit" and len(parts) > 1 else "theory"


def _entry(name: str) -> str:
    thing = getattr(certibit, name)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return page(f"### {name}", f"A `{type(thing).__name__}`.").strip()
    told = docstring(thing)
    parts = [
        f"### {name}",
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
        (
            f"`{name}`",
            escaped(docstring(member.fget if isinstance(member, property) else member).summary),
        )
        for name, member in vars(thing).items()
        if name[0] != "_" and (inspect.isfunction(member) or isinstance(member, property))
    ]
    return page("**Members**", table(("", ""), rows)).strip() if rows else ""


def _signature(thing: Any) -> str:
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"
