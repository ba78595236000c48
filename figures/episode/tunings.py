"""Ways to make methods from a step size and a threshold, which the figures tune on a grid."""

from certibit.theory.card import Tuning
from certibit.theory.catalogue.catalogue import CARDS

TUNINGS: dict[str, Tuning] = {
    tuning.name: tuning
    for tuning in sorted(
        (tuning for card in CARDS.values() for tuning in card.tunings),
        key=lambda tuning: (not tuning.federated, not tuning.clips),
    )
}
"""By name: federated and clipped, federated and not clipped, on one machine."""
