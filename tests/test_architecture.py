"""The arrows between the rooms run down: figures -> theory -> solvers -> data."""

import ast
from pathlib import Path

import pytest

import bitbound

ROOT = Path(bitbound.__file__).parent.parent
ROOMS = ["data", "solvers", "theory", "figures"]  # from the bottom up
FILES = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]


def imported(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} uses a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return names


def rooms_of(names: set[str]) -> set[str]:
    parts = [name.split(".") for name in names if name.split(".")[0] == "bitbound"]
    return {part[1] if len(part) > 1 else "front door" for part in parts}


def test_every_room_is_there():
    assert {file.relative_to(ROOT).parts[0] for file in FILES} == set(ROOMS)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_imports_run_down(file):
    room = file.relative_to(ROOT).parts[0]
    below = set(ROOMS[: ROOMS.index(room) + 1])
    assert rooms_of(imported(file)) <= below


@pytest.mark.parametrize(
    "file", sorted((ROOT / "solvers" / "methods").glob("[!_]*.py")), ids=lambda file: file.stem
)
def test_a_method_names_no_array_library(file):
    libraries = {"numpy", "scipy", "cupy", "array_api_compat", "array_api_strict", "random"}
    assert not {name.split(".")[0] for name in imported(file)} & libraries


@pytest.mark.parametrize(
    "file", sorted((ROOT / "solvers" / "methods").glob("[!_]*.py")), ids=lambda file: file.stem
)
def test_a_method_has_the_length_of_an_algorithm_box(file):
    """At most 100 lines of text; blank lines and the import block are not counted."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    length = len(lines) - sum(n.end_lineno - n.lineno + 1 for n in imports)
    assert length <= 100


def test_rooms_have_no_cycles():
    """No module imports another that imports it back, directly or on a way around."""
    names = {
        "bitbound." + ".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in FILES
    }
    arrows = {name: imported(file) & names.keys() for name, file in names.items()}
    while leaves := [name for name, targets in arrows.items() if not targets]:
        for leaf in leaves:
            del arrows[leaf]
        arrows = {name: targets - set(leaves) for name, targets in arrows.items()}
    assert not arrows
