"""Clipped minibatch SGD: its card; its lower bound is in the tables of clipping."""

from certibit.solvers.methods.clipped_minibatch_sgd import ClippedMinibatchSGD
from certibit.theory.card import Card, Role
from certibit.theory.cards.clipped_sgd import ClippedGD

CARD = Card(
    ClippedMinibatchSGD,
    label="clipped minibatch SGD",
    theorems=(ClippedGD(),),
    rules={"ours": ClippedGD().rule(ClippedMinibatchSGD)},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT, "S": Role.COUNT},
    threshold="gamma",
    colour="#CC79A7",
    marker="P",
)
