"""The methods of the trainings: how they are made, drawn and compressed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from certibit.figures.episode.tuning import TUNINGS
from certibit.solvers.method import Method
from certibit.solvers.methods.ef21_sgdm import EF21SGDM
from certibit.solvers.methods.sgd import SGD

MOMENTUM = 0.2
"""eta of EF21-SGDM."""


@dataclass(frozen=True)
class _Rival:
    """A method of a training: how it is made, drawn and compressed.

    Attributes
    ----------
    label : str
        Its name in figures.
    make : callable
        Makes the method from eta, tau, I and S.
    clips : bool
        Whether it uses tau.
    local : bool
        Whether it takes I steps in a round; otherwise one.
    compressor : str
        Its name.
    colour, marker, line : drawn so
    """

    label: str
    make: Callable[[Any, Any, int, int | None], Method]
    clips: bool
    local: bool = True
    compressor: str = "identity"
    colour: str = "#444444"
    marker: str = "+"
    line: str = "-"


RIVALS: dict[str, _Rival] = {
    name: _Rival(
        tuning.label, tuning.make, tuning.clips,
        colour=tuning.card.colour, marker=tuning.card.marker, line="-" if tuning.clips else "--",
    )
    for name, tuning in TUNINGS.items()
    if tuning.federated
} | {
    "sgd": _Rival("SGD",
        lambda eta, tau, steps, S: SGD(gamma=eta),
        False, False, colour="#7f7f7f", marker="p", line="--"),
    "ef21-sgdm 10 %": _Rival(
        "EF21-SGDM, top 10 %",
        lambda eta, tau, steps, S: EF21SGDM(gamma=eta, eta=MOMENTUM),
        False, False, "top-k:436",
        colour="#CC79A7", marker="P", line="--",
    ),
    "ef21-sgdm 1 %": _Rival(
        "EF21-SGDM, top 1 %",
        lambda eta, tau, steps, S: EF21SGDM(gamma=eta, eta=MOMENTUM),
        False, False, "top-k:44",
        colour="#882255", marker="X", line="--",
    ),
}  # fmt: skip
"""The methods by name: those of the EPISODE papers, SGD, and those with compression."""
