"""A user's own file of Python, outside the package: methods and compressors are taken from it."""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from bitbound.data.errors import Refusal


def load_file(path: Path, meaning: str) -> ModuleType:
    """Run a file as a module; files beside it can be imported by their names, as from a script.

    Parameters
    ----------
    path : Path
        Of the file, which ends in ``.py``.
    meaning : str
        What it ought to define, such as "a method", for what is said where it is not there.

    Raises
    ------
    Refusal
        If there is no such file or it cannot be run.
    """
    if not os.path.isfile(path):  # also where the name is too long for one
        raise Refusal(f"there is no file {path}; give the path of a file that defines {meaning}")
    name = f"bitbound_own_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise Refusal(f"{path} is no file of Python; it must end in .py")
    module = importlib.util.module_from_spec(specification)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    before, sys.modules[name] = sys.modules.get(name), module
    try:
        specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        raise Refusal(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module
