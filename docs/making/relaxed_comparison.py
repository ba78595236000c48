"""The methods for (L0, L1)-smooth problems beside each other, each at the best of a grid."""

import numpy as np

from certibit import Budget, compare
from certibit.data.relaxed.polynomials import PhaseRetrieval
from certibit.figures.comparison.comparison_result import Comparison
from certibit.solvers.runs.grid import StepGrid
from certibit.theory.catalogue.catalogue import CLIPPING

TARGET = 1e-3
STEPS = StepGrid(
    tuple(np.geomspace(1e-3, 1, 13).tolist()), tuple(np.geomspace(0.1, 100, 7).tolist())
)
_SENT = {"unbiased": "+rand-k:2", "contractive": "+top-k:2"}


def relaxed_comparison() -> Comparison:
    """Compare them on phase retrieval, tuned, with 4 local steps where they have them."""
    entries = []
    for name, card in CLIPPING.items():
        local = "[I=4]" if "I" in card.roles else ""
        entries.append(f"{name}{local}{_SENT.get(card.method.needs.compressor or '', '')}")
    return compare(
        PhaseRetrieval.random(n=6, m=40, d=10),
        entries,
        target=TARGET,
        seeds=1,
        budget=Budget(rounds=500),
        measure="gap",
        tune=STEPS,
    )
