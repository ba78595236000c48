"""The methods of the trainings: how they are made, drawn and compressed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from certibit.figures.episode.tuning import TUNINGS
from certibit.solvers.authoring import Gradients, Messages
from certibit.solvers.deep.demo import DeMo
from certibit.solvers.deep.diloco import DiLoCo
from certibit.solvers.deep.sparseloco import SparseLoCo
from certibit.solvers.method import Method, Needs
from certibit.solvers.methods.ef21_sgdm import EF21SGDM
from certibit.solvers.methods.locodl import LoCoDL
from certibit.solvers.methods.sgd import SGD

MOMENTUM = 0.2
"""eta of EF21-SGDM."""
ADAMW, SIGN = 0.004, 0.002
"""What step sizes are multiplied by for AdamW, and where a step is a sign."""


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
    scale : float, optional
        What the step sizes of a plan are multiplied by; by default a scale of the network.
    colour, marker, line : drawn so
    """

    label: str
    make: Callable[[Any, Any, int, int | None], Method]
    clips: bool
    local: bool = True
    compressor: str = "identity"
    scale: float | None = None
    colour: str = "#444444"
    marker: str = "+"
    line: str = "-"


@dataclass(frozen=True)
class _SampledLoCoDL(LoCoDL):
    """LoCoDL with stochastic gradients, on functions that no theorem of it is about; g = 0."""

    needs: ClassVar[Needs] = Needs("unbiased", strongly_convex=False, samples=True)

    def local_step(self, s: Any, problem: Gradients, channel: Messages) -> Any:
        """Do the local step with the gradients of a sample."""
        q = problem.grad(s.x, sample=0) - s.u
        return replace(s, x=s.x - self.gamma * q, y=s.y + self.gamma * s.v)


RIVALS: dict[str, _Rival] = {
    name: _Rival(
        tuning.label, tuning.make, tuning.clips,
        colour=tuning.colour, marker=tuning.marker, line="-" if tuning.clips else "--",
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
    "ef21-sgdm": _Rival(
        "EF21-SGDM, top 2 of 128",
        lambda eta, tau, steps, S: EF21SGDM(gamma=eta, eta=MOMENTUM),
        False, False, "chunked:128(top-k:2)",
        colour="#882255", marker="X", line="--",
    ),
    "locodl": _Rival(
        "LoCoDL, natural",
        lambda eta, tau, steps, S: _SampledLoCoDL(eta, chi=0.9, rho=0.9, p=1 / steps, omega=1 / 8),
        False, True, "natural", colour="#117733", marker="o", line="--"
    ),
    "adamw": _Rival(
        "AdamW, H = 1",
        lambda eta, tau, steps, S: DiLoCo(eta, 1, alpha=1.0, beta=0.0),
        False, False, scale=ADAMW, colour="#444444", marker="s", line="--"
    ),
    "diloco": _Rival(
        "DiLoCo",
        lambda eta, tau, steps, S: DiLoCo(eta, steps, alpha=0.7, beta=0.5),
        False, scale=ADAMW, colour="#332288", marker="D", line="--"
    ),
    "sparseloco": _Rival(
        "SparseLoCo",
        lambda eta, tau, steps, S: SparseLoCo(eta, steps),
        False, True, "chunked:512(top-k:8+2-bit)", ADAMW,
        "#DDAA33", "*", "--",
    ),
    "demo": _Rival(
        "DeMo",
        lambda eta, tau, steps, S: DeMo(eta),
        False, False, "chunked:64(dct(top-k:4))", SIGN, "#EE7733", "v", "--"
    ),
}  # fmt: skip
"""The methods by name: those of the EPISODE papers, and those with compression or of AdamW."""
