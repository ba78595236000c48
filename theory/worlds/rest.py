"""Where a method rests (stated ones only, for the moment)."""

from typing import Any


def fixed_point(method: Any, problem: Any) -> Any:
    """Return the fixed point."""
    return method.fixed_point(problem)


def invariants(method: Any, s: Any, problem: Any) -> Any:
    """Return the invariants."""
    return method.invariants(s, problem) or ()
