"""The library torch, which is an optional extra."""

import importlib
from typing import Any

from certibit.data.errors import Refusal


def torch_library() -> Any:
    """Import torch.

    Raises
    ------
    Refusal
        If it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise Refusal("torch is not installed; install certibit[torch]") from None
