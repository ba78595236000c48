"""SCAFFOLD with clipping: its card."""

from certibit.solvers.clipping import UNCLIPPED
from certibit.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
from certibit.theory.card import Card, Role, Tuning

CARD = Card(
    ClippedSCAFFOLD,
    label="SCAFFOLD (clipped)",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    tunings=(
        Tuning(
            "clipped-scaffold",
            "SCAFFOLD (clipped)",
            lambda eta, tau, I, S: ClippedSCAFFOLD(eta, tau * eta, I, S),
            colour="#009E73",
            marker="D",
        ),
        Tuning(
            "scaffold",
            "SCAFFOLD",
            lambda eta, tau, I, S: ClippedSCAFFOLD(eta, UNCLIPPED, I, S),
            clips=False,
            colour="#009E73",
            marker="D",
        ),
    ),
    colour="#009E73",
    marker="D",
)
