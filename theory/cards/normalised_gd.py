"""Normalised gradient descent: its card."""

from certibit.solvers.methods.normalised_gd import NormalisedGD
from certibit.theory.card import Card, Role
from certibit.theory.cards.clipped_sgd import ClippedGD

CARD = Card(
    NormalisedGD,
    label="normalised SGD",
    theorems=(ClippedGD(c=0.25),),
    rules={"ours": ClippedGD().rule(lambda eta, gamma, I: NormalisedGD(gamma, gamma / eta, I))},
    roles={"eta": Role.STEP_SIZE, "I": Role.COUNT},
    threshold="beta",
    colour="#56B4E9",
    marker="<",
)
