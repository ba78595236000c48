"""(L0, L1)-smooth problems by name, such as ``quartics:H=4@2``."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.numbers import whole
from certibit.data.relaxed.families import crossed_cosh, hard_instances, stalemate, tilted_wells
from certibit.data.relaxed.polynomials import PhaseRetrieval, Quartics, RelaxedProblem

_MAKERS: Mapping[str, Callable[..., RelaxedProblem]] = {
    "quartics:H=4@2": lambda n, seed, H: Quartics.of(H),
    "exponentials:X=10@4": lambda n, seed, X: crossed_cosh(X, n=n),
    "wells:kappa=10,d=5@20": lambda n, seed, kappa, d: tilted_wells(kappa, n=n, d=d),
    "stalemate:gamma=2@2": lambda n, seed, gamma: stalemate(gamma),
    "hard-explosion:M=100@3": lambda n, seed, M: hard_instances(M, 1.0, 1.0)[0],
    "hard-bias:M=100@3": lambda n, seed, M: hard_instances(M, 1.0, 1.0)[1],
    "hard-slope:Delta=1000,eps=4@3": lambda n, seed, Delta, eps: hard_instances(1.0, Delta, eps)[2],
    "phase-retrieval:m=40,d=10@6": lambda n, seed, m, d: PhaseRetrieval.random(n, m, d, seed=seed),
}
EXAMPLES = {example.partition(":")[0]: example for example in _MAKERS}
"""A selector of every problem."""


def relaxed_problem(what: str, n: int, seed: int) -> RelaxedProblem:
    """Make the problem of the words before ``@`` in a selector, with n clients.

    Raises
    ------
    Refusal
        If the words cannot be read, or the problem has another number of clients.
    """
    kind, _, words = what.partition(":")
    pairs = [word.partition("=") for word in words.split(",")]
    values = {name: _number(name, number) for name, _, number in pairs}
    make = _MAKERS[EXAMPLES[kind]]
    named = [*signature(make).parameters][2:]
    if set(values) != set(named) or len(pairs) != len(named) or None in values.values():
        raise Refusal(
            f"the problem {what!r} cannot be read; expected {' and '.join(named)} with numbers, "
            f"such as {EXAMPLES[kind]}"
        )
    made = make(n, seed, **values) if n else None
    if made is None or made.n != n:
        usual = "at least one" if made is None else f"@{made.n}"
        raise Refusal(f"{what} of {n} clients is not possible; give {usual}")
    name: Any = {"name": f"{what}@{n}"}  # a field of every class
    return replace(made, **name)


def _number(name: str, text: str) -> float | None:
    """Read a number, a whole one of features and rows; None if it is none."""
    if name in {"d", "m"}:
        return whole(text) or None
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        return None
