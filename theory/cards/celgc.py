"""CELGC: its card; without clipping it is FedAvg."""

from certibit.solvers.clipping import UNCLIPPED
from certibit.solvers.methods.celgc import CELGC
from certibit.theory.card import Card, Role, Tuning
from certibit.theory.cards.clipped_sgd import ClippedGD

CARD = Card(
    CELGC,
    label="CELGC",
    theorems=(ClippedGD(equal=True),),
    rules={"ours": ClippedGD(equal=True).rule(CELGC)},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    tunings=(
        Tuning(
            "celgc",
            "CELGC",
            lambda eta, tau, I, S: CELGC(eta, tau * eta, I, S),
            colour="#0072B2",
            marker="^",
        ),
        Tuning(
            "fedavg",
            "FedAvg",
            lambda eta, tau, I, S: CELGC(eta, UNCLIPPED, I, S),
            clips=False,
            colour="#0072B2",
            marker="^",
        ),
    ),
    colour="#0072B2",
    marker="^",
)
