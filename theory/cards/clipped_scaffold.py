"""SCAFFOLD with clipping: its card."""

from certibit.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
from certibit.theory.card import Card, Role

CARD = Card(
    ClippedSCAFFOLD,
    label="SCAFFOLD (clipped)",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    colour="#009E73",
    marker="D",
)
