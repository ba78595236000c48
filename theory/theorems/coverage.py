"""A run that says so where no theorem covers it, or is refused."""

import warnings
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.data.problem import Problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.method import Method
from bitbound.solvers.runs import engine
from bitbound.solvers.runs.trace import Trace
from bitbound.theory.theorem import Card, Setting
from bitbound.theory.theorems.catalogue import METHODS


class OutsideTheoremWarning(UserWarning):
    """The parameters of a method are outside every theorem about it."""


def run(
    method: Method,
    problem: Problem,
    compressor: Compressor | None = None,
    *,
    entry: Card | None = None,
    strict: bool = False,
    **settings: Any,
) -> Trace:
    """Run a method as :func:`bitbound.solvers.runs.engine.run` does, after a look at its theorems.

    Parameters
    ----------
    method, problem, compressor
        What is run.
    entry : Entry, optional
        Where the method comes from; by default, its entry in the catalogue if it is there.
    strict : bool
        Whether parameters outside every theorem are refused, and methods without a theorem.
    **settings
        Of the engine: ``budget`` (when a run ends), ``seeds`` (how many or which; default 5),
        ``record``, ``wire``, ``library``, ``dtype``, ``progress``.

    Raises
    ------
    Refusal
        If method, problem, compressor and settings do not fit each other, or for ``strict``.

    Warns
    -----
    OutsideTheoremWarning
        Once a run, if no theorem covers the parameters and ``strict`` is off.
    """
    if entry is None:
        found = METHODS.get(method.name)
        entry = found if found and isinstance(method, found.method) else None
    require_theorem(entry, method, Setting.of(method, problem, compressor), strict=strict)
    return engine.simulate(method, problem, compressor, **settings)


def require_theorem(
    entry: Card | None, method: Method, setting: Setting, *, strict: bool = True
) -> None:
    """Refuse, or only warn, if the parameters of a method are outside all of its theorems.

    Without ``strict``, a method that comes with no theorem is not warned of: nothing is claimed.

    Raises
    ------
    Refusal
        With ``strict``, also if there is no theorem.
    """
    theorems = entry.theorems if entry else ()
    if not theorems and strict:
        raise Refusal(f"{method.name} comes with no theorem; run it without strict")
    broken = [
        [condition for condition in theorem.conditions(method, setting) if not condition.holds]
        for theorem in theorems
    ]
    if not broken or not all(broken):
        return
    reason = "; ".join(
        f"{c.statement} fails with {c.left:.6g} and {c.right:.6g}" for c in min(broken, key=len)
    )
    sentence = f"the parameters of {method.name} are outside every theorem of the method: {reason}"
    if strict:
        raise Refusal(sentence)
    warnings.warn(sentence, OutsideTheoremWarning, stacklevel=3)
