"""Normalised EF21: its card; no theorem is proved here."""

from bitbound.solvers.methods.normalised_ef21 import NormalisedEF21
from bitbound.theory.bill import compressed_up
from bitbound.theory.card import Card, Role

CARD = Card(
    NormalisedEF21,
    label="normalised EF21",
    bill=compressed_up,
    roles={"gamma": Role.STEP_SIZE},
    colour="#332288",
    marker="d",
)
