"""Momentum clipping: its card."""

from certibit.solvers.methods.momentum_clipping import MomentumClipping
from certibit.theory.card import Card, Role, Tuning

CARD = Card(
    MomentumClipping,
    label="momentum clipping",
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT},
    tunings=(
        Tuning(
            "momentum-clipping",
            "momentum clipping",
            lambda eta, tau, I, S: MomentumClipping(eta, tau * eta, I, beta=0.9),
            federated=False,
            colour="#E69F00",
            marker=">",
        ),
    ),
    colour="#E69F00",
    marker=">",
)
