"""Sizes of the project; ``python tests/sizes.py`` prints them, and a test holds their limits."""

from collections.abc import Mapping
from pathlib import Path

from architecture import Modules, modules

GOALS = {
    "lines of the rooms": 64_000,
    "lines of tests": 42_000,
    "public definitions": 1_300,
    "private definitions": 1_053,
    "modules": 460,
    "lines of Python in docs": 2_301,
    "words of pages": 24_000,
}
"""What the project is to have at most."""

LIMITS = GOALS | {
    "lines of the rooms": 65_900,
    "lines of tests": 43_100,
}
"""What it has at most today: whoever adds deletes as much, and whoever deletes lowers it."""


def sizes(root: Path, files: Modules) -> Mapping[str, int]:
    """Return the sizes of the project in a folder, whose rooms have these modules."""
    own = [file.read_text(encoding="utf-8") for file in sorted((root / "tests").rglob("*.py"))]
    written = (
        file for file in sorted((root / "docs").rglob("*.py")) if "gallery" not in file.parts
    )
    docs = [file.read_text(encoding="utf-8") for file in written]
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    defined = [module.defined for module in files.values()]
    return {
        "lines of the rooms": sum(module.text.count("\n") for module in files.values()),
        "lines of tests": sum(text.count("\n") for text in own),
        "public definitions": sum(len(module.public) for module in files.values()),
        "private definitions": sum(name[0] == "_" for names in defined for name in names),
        "modules": sum(name != module.folder for name, module in files.items()),
        "lines of Python in docs": sum(text.count("\n") for text in docs),
        "words of pages": sum(len(page.read_text(encoding="utf-8").split()) for page in pages),
    }


if __name__ == "__main__":
    top = Path(__file__).parent.parent
    for name, size in sizes(top, modules(top)).items():
        print(f"{name:24} {size:6}   at most {LIMITS[name]:6}, and {GOALS[name]:6} wanted")
