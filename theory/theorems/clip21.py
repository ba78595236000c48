"""Clip21: its card; no theorem is proved here."""

from bitbound.solvers.methods.clip21 import Clip21
from bitbound.solvers.methods.gd import GD
from bitbound.theory.bill import uncompressed_both_ways
from bitbound.theory.card import Card, Role

CARD = Card(
    Clip21,
    label="Clip21",
    bill=uncompressed_both_ways,
    identities=(lambda c, n: (Clip21(0.9 / c.L, float("inf")), GD(0.9 / c.L)),),
    roles={"gamma": Role.STEP_SIZE, "tau": Role.CONSTANT},
    colour="#AA4499",
    marker="P",
)
