"""Settings that charts of checks name: n, d, kappa and the number of seeds."""

from collections.abc import Mapping, Sequence
from typing import Any

from certibit.figures.looks import method_label
from certibit.theory.checks.standard import KAPPA, D, N


def number_of_seeds(seeds: int) -> str:
    """Return the number of seeds in words."""
    return "one seed" if seeds == 1 else f"{seeds} seeds"


def scaling_setting(fits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the fixed n, d and kappa of fits in one quantity, and the number of seeds.

    Methods are named where their values differ. The fits are those of
    :func:`~certibit.figures.text.theory_tables.fit_summary`.
    """
    fixed = {
        method_label(fit["method"]): ", ".join(
            f"{name} = {fit[name]:g}" for name in ("n", "d", "kappa") if fit[name] is not None
        )
        for fit in fits
    }
    alike = len(set(fixed.values())) == 1
    values = [*fixed.values()][:1] if alike else [f"{k}: {text}" for k, text in fixed.items()]
    return [*values, number_of_seeds(fits[0]["seeds"])]


def standard_setting(seeds: int) -> str:
    """Return n, d, kappa of the standard problems, and the number of seeds of whole runs."""
    return f"n = {N}, d = {D} or 30, kappa = {KAPPA:g}; {number_of_seeds(seeds)}"
