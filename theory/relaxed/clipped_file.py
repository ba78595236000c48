"""The file of a decrease of a method that clips, which ``docs/check_clipped.py`` checks."""

from pathlib import Path
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.theory.export.step_in_file import sealed
from certibit.theory.proofs.rational_function import RationalFunction
from certibit.theory.relaxed.clipped_certificate import ClippedCertificate, RegimeProof
from certibit.theory.relaxed.regimes import Regime, regimes
from certibit.theory.relaxed.rocq_decrease import rocq_decrease
from certibit.theory.relaxed.slope_parts import SLOPE
from certibit.theory.worlds.opaque.exact_numbers import rational


def write_clipped(proof: ClippedCertificate, path: Path) -> None:
    """Write a proof for the kernel of Rocq if the name ends in ``.v``, and else as JSON.

    The JSON is for ``docs/check_clipped.py``; its numbers are fractions in strings.

    Raises
    ------
    Refusal
        If the file has no words for a step.
    """
    rocq = path.suffix == ".v"
    text = rocq_decrease(proof) if rocq else sealed(clipped_file(proof))
    write_text(path, text.removesuffix("\n"))


def clipped_file(proof: ClippedCertificate) -> dict[str, Any]:
    """Return what stands in the file of a proof."""
    functions, measure = proof.functions, proof.measure
    found = regimes(proof.method, functions, (rational(measure.kink),))
    constants = {
        "L0": rational(functions.L0),
        "L1": rational(functions.L1),
        "sigma": rational(functions.sigma),
        "eta": measure.eta,
        "gamma": measure.gamma,
        "c": proof.exact,
        "e": proof.exact_e,
    }
    return {
        "about": f"{proof.method}, n = {functions.n}",
        "decrease": {
            **{name: str(x) for name, x in constants.items()},
            "regimes": [_written(*pair) for pair in zip(found, proof.proofs, strict=True)],
        },
    }


def _written(regime: Regime, proof: RegimeProof) -> dict[str, Any]:
    pointing = regime.along * SLOPE + regime.known + regime.turned + regime.spread
    return {
        "low": str(proof.low),
        "high": None if proof.high is None else str(proof.high),
        "answers": list(proof.answers),
        "along": _ratio(regime.along),
        "known": _ratio(regime.known),
        "turned": _ratio(regime.turned),
        "fresh": _number(regime.fresh),
        "reach": _number(regime.length - pointing),
        "toward": _ratio(regime.toward),
        "spread": _number(regime.spread),
        "radius": _ratio(regime.radius),
        "assumed": list(map(_ratio, regime.assumed)),
        "growth": proof.bound.name,
        "part": str(proof.bound.part),
        "cuts": [list(map(str, cuts)) for cuts in proof.cuts],
    }


def _ratio(ratio: RationalFunction) -> list[list[str]]:
    return [list(map(str, part.coeffs())) for part in (ratio.num, ratio.den)]


def _number(ratio: RationalFunction) -> str:
    if not ratio.is_constant:
        raise Refusal("noise that is scaled by |grad f(x)| has no word in the file of a decrease")
    return str(ratio.at(0))
