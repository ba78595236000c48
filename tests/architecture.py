"""Rules on source files: who may know whom, and how names and folders are kept."""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOMS = ("data", "solvers", "theory", "figures", "certibit")
"""The folders of the source; ``certibit`` is the front door."""
ARRAY_LIBRARIES = {"numpy", "scipy", "cupy", "array_api_compat", "array_api_strict", "random"}
_PROJECT = "certibit"


@dataclass(frozen=True)
class Module:
    """A file: its dotted name, the folder that it is in, and its text; names are from the root."""

    name: str
    folder: str
    text: str
    tree: ast.Module

    @property
    def defined(self) -> set[str]:
        """The classes and functions at module level."""
        kinds = ast.ClassDef | ast.FunctionDef
        return {node.name for node in self.tree.body if isinstance(node, kinds)}

    @property
    def public(self) -> set[str]:
        """Those that are public."""
        return {name for name in self.defined if name[0] != "_"}

    @cached_property
    def bindings(self) -> set[tuple[str, str]]:
        """What is imported, anywhere in the file: the name here, and the full name."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {(alias.asname or alias.name, alias.name) for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                start = "." * node.level + (node.module or "")
                found |= {(a.asname or a.name, f"{start}.{a.name}") for a in node.names}
        return found

    @cached_property
    def imported(self) -> set[str]:
        """The full names of what is imported."""
        return {full for _, full in self.bindings}


Modules = Mapping[str, Module]
Arrows = set[tuple[str, str]]
"""From a module to one that it imports."""


def modules(root: Path) -> Modules:
    """Read the rooms of a tree; a package has the name of its folder."""
    found = {}
    for room in ROOMS:
        for file in sorted((root / room).rglob("*.py")):
            parts = file.relative_to(root).with_suffix("").parts
            folder, text = ".".join(parts[:-1]), file.read_text(encoding="utf-8")
            name = folder if parts[-1] == "__init__" else ".".join(parts)
            found[name] = Module(name, folder, text, ast.parse(text))
    return found


def arrows(files: Modules) -> Arrows:
    """Return who imports whom."""
    found = set()
    for module in files.values():
        targets = {_module(name, files) for name in module.imported} - {None, module.name}
        found |= {(module.name, target) for target in targets}
    return found


def _module(name: str, files: Modules) -> str | None:
    """Return the module of the project that an imported name is in, or None."""
    parts = name.split(".")
    if parts[0] != _PROJECT:
        return None
    inner = parts[1:] if len(parts) > 1 and parts[1] in ROOMS else parts
    starts = (".".join(inner[:length]) for length in range(len(inner), 0, -1))
    return next((start for start in starts if start in files), None)


def undeclared(files: Modules, levels: Iterable[Iterable[str]]) -> set[str]:
    """Return the folders that are not declared exactly once, and those that are not there."""
    folders = {module.folder for module in files.values()}
    declared = Counter(folder for level in levels for folder in level)
    return folders ^ set(declared) | {folder for folder, times in declared.items() if times > 1}


def rising(files: Modules, levels: Iterable[Iterable[str]]) -> Arrows:
    """Return the arrows from one folder to another on the same level or above."""
    height = {folder: place for place, level in enumerate(levels) for folder in level}
    return {
        (start, end)
        for start, end in arrows(files)
        if (a := files[start].folder) != (b := files[end].folder) and height[b] >= height[a]
    }


def known_extensions(files: Modules, extensions: Iterable[str], apart: str) -> Arrows:
    """Return the arrows from the core to an extension, but for those of the module ``apart``.

    An extension is a folder or a module; what is in none of them is the core.
    """
    inside = {
        name
        for name in files
        if any(name == extension or name.startswith(f"{extension}.") for extension in extensions)
    }
    found = {(start, end) for start, end in arrows(files) if end in inside and start not in inside}
    return {(start, end) for start, end in found if start != apart}


def cycle(graph: Arrows) -> list[str]:
    """Return one way around, or nothing if there is none."""
    targets: dict[str, set[str]] = {}
    for start, end in graph:
        targets.setdefault(start, set()).add(end)
    try:
        TopologicalSorter(targets).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def between_folders(files: Modules, graph: Arrows) -> Arrows:
    """Return the arrows from folder to folder."""
    pairs = {(files[start].folder, files[end].folder) for start, end in graph}
    return {(start, end) for start, end in pairs if start != end}


def relative_imports(files: Modules) -> set[str]:
    """Return the modules that import relatively to themselves."""
    return {m.name for m in files.values() if any(name[0] == "." for name in m.imported)}


def private_imports(files: Modules) -> Arrows:
    """Return the modules that use a private name of another, and that name."""
    found = set()
    for module in files.values():
        ours = {(here, full) for here, full in module.bindings if _module(full, files)}
        found |= {(module.name, full) for _, full in ours if _is_private(full.split(".")[-1])}
        names = {here for here, _ in ours}
        found |= {
            (module.name, f"{node.value.id}.{node.attr}")
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if node.value.id in names and _is_private(node.attr)
        }
    return found


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def shared_names(files: Modules) -> set[str]:
    """Return the public classes and functions that stand in several modules."""
    return _several(name for module in files.values() for name in module.public)


def shared_modules(files: Modules) -> set[str]:
    """Return the names, with their room, that several modules of a room have."""
    names = [name.split(".") for name, module in files.items() if name != module.folder]
    return _several(f"{name[0]}.{name[-1]}" for name in names)


def _several(names: Iterable[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}


def crowded(files: Modules, most: int) -> set[str]:
    """Return the folders with more files than that beside ``__init__``."""
    sizes = Counter(module.folder for module in files.values() if module.name != module.folder)
    return {folder for folder, size in sizes.items() if size > most}


def deep(files: Modules, floors: int) -> set[str]:
    """Return the folders that are further down than so many floors; a room is the first."""
    folders = {module.folder for module in files.values()}
    return {folder for folder in folders if folder.count(".") >= floors}


def with_array_libraries(files: Modules, folder: str) -> set[str]:
    """Return the modules of a folder that name an array library."""
    return {
        module.name
        for module in files.values()
        if module.folder == folder
        and {name.split(".")[0] for name in module.imported} & ARRAY_LIBRARIES
    }


def heavy(files: Modules, folder: str, most: int) -> set[str]:
    """Return the modules of a folder that need more lines, with all that they import in turn."""
    graph = arrows(files)
    return {
        name
        for name, module in files.items()
        if module.folder == folder
        and sum(files[one].text.count("\n") + 1 for one in _reached(name, graph)) > most
    }


def _reached(name: str, graph: Arrows) -> set[str]:
    found, waiting = {name}, [name]
    while waiting:
        start = waiting.pop()
        new = {end for begin, end in graph if begin == start} - found
        found |= new
        waiting += new
    return found


def longer(files: Modules, folder: str, most: int) -> set[str]:
    """Return the modules of a folder with more lines; blank lines and imports are not counted."""
    found = set()
    for module in files.values():
        lines = [line for line in module.text.splitlines() if line.strip()]
        imports = [n for n in module.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        length = len(lines) - sum(n.end_lineno - n.lineno + 1 for n in imports)
        if module.folder == folder and length > most:
            found.add(module.name)
    return found
