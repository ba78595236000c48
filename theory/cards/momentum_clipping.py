"""Momentum clipping: its card."""

from certibit.solvers.methods.momentum_clipping import MomentumClipping
from certibit.theory.card import Card, Role

CARD = Card(
    MomentumClipping,
    label="momentum clipping",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT},
    threshold="gamma",
    colour="#E69F00",
    marker=">",
)
