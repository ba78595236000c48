"""CELGC: its card; without clipping it is FedAvg."""

from certibit.solvers.methods.celgc import CELGC
from certibit.theory.card import Card, Role
from certibit.theory.cards.clipped_sgd import ClippedGD

CARD = Card(
    CELGC,
    label="CELGC",
    theorems=(ClippedGD(equal=True),),
    rules={"ours": ClippedGD(equal=True).rule(CELGC)},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    colour="#0072B2",
    marker="^",
)
