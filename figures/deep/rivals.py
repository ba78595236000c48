"""The methods of the trainings: those of the EPISODE papers, SGD, and those with compression."""

from dataclasses import replace

from certibit.figures.episode.tuning import TUNINGS, Tuning
from certibit.theory.catalogue.catalogue import CARDS

_EF21 = CARDS["ef21-sgdm"]
RIVALS: dict[str, Tuning] = {name: one for name, one in TUNINGS.items() if one.federated} | {
    "sgd": Tuning(CARDS["sgd"], "SGD", clips=False),
    "ef21-sgdm 10 %": Tuning(_EF21, "EF21-SGDM, top 10 %", False, "top-k:436"),
    "ef21-sgdm 1 %": Tuning(
        replace(_EF21, colour="#882255", marker="X"), "EF21-SGDM, top 1 %", False, "top-k:44"
    ),
}
"""The methods by name."""
