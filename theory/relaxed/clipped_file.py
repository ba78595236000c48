"""The file of a decrease of a method that clips, which ``docs/check_clipped.py`` checks."""

from pathlib import Path
from typing import Any

from flint import fmpq_poly

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.theory.export.proof_file import sealed
from certibit.theory.export.rocq_words import (
    DEEPER,
    LINE,
    ROCQ,
    rocq_list,
    rocq_number,
    rocq_record,
    rocq_text,
)
from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.relaxed.certify_clipped import ClippedCertificate, RegimeProof, SlopeMeasure
from certibit.theory.relaxed.growth_bounds import largest_ratio
from certibit.theory.relaxed.regimes import Regime, regimes
from certibit.theory.relaxed.slope_world import SLOPE
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational


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
        "fresh": str(_constant(regime.fresh)),
        "reach": str(_constant(regime.length - pointing)),
        "toward": _ratio(regime.toward),
        "spread": str(_constant(regime.spread)),
        "radius": _ratio(regime.radius),
        "assumed": list(map(_ratio, regime.assumed)),
        "growth": proof.bound.name,
        "part": str(proof.bound.part),
        "cuts": [list(map(str, cuts)) for cuts in proof.cuts],
    }


def _ratio(ratio: RationalFunction) -> list[list[str]]:
    return [list(map(str, part.coeffs())) for part in (ratio.num, ratio.den)]


def _constant(ratio: RationalFunction) -> Any:
    if not ratio.is_constant:
        raise Refusal("noise that is scaled by |grad f(x)| has no word in the file of a decrease")
    return ratio.at(0)


_NAMES = ["smooth", "turning", "polynomials", "exponentials", "against", "decreases", "clipped"]
THEORIES = [ROCQ / "Sums.v", *(ROCQ / "relaxed" / f"{name}.v" for name in _NAMES)]
"""What all decreases have in common, in the order of the file."""

ABOUT = """\
   Written by certibit. The kernel checks that f decreases as it is said in [decreases], for all
   (L0, L1)-smooth functions f on R^d as they are defined in [relaxed_smooth]: the bounds of the
   growth of f, of exponentials by polynomials, and the signs of polynomials in G = |grad f(x)|.
   That the regimes, the step for all G and all answers of the noise as in [step_of], are those of
   the method is not checked here: certibit has computed them by running the method on symbols.
   A step of clipped gradient descent has a theorem without regimes at the end, [clipped].
"""
"""What stands above a decrease."""


def rocq_decrease(proof: ClippedCertificate) -> str:
    """Return the proof of a decrease as a file that ``coqc`` or ``rocq compile`` accepts.

    Raises
    ------
    Refusal
        If the file has no words for a step.
    """
    functions, measure = proof.functions, proof.measure
    found = regimes(proof.method, functions, (rational(measure.kink),))
    numbers = rational(functions.L0), rational(functions.L1)
    written = [_regime(*pair, numbers, measure) for pair in zip(found, proof.proofs, strict=True)]
    ends = sorted({one.span.low for one in found})
    noise = rational(proof.exact_e) * rational(functions.sigma) ** 2
    constants = *numbers, measure.eta, measure.gamma, proof.exact
    words = " ".join(map(rocq_number, constants))
    promise = str(proof).splitlines()[-1]
    claim = f"{proof.method}, n = {functions.n}: {promise}, over all {functions.described}, with "
    claim += f"c = {proof.exact}, e = {proof.exact_e}."
    body = f"""\
(** * The decrease *)

Local Open Scope Q_scope.

Definition the_regimes : list regime := {rocq_list(written, LINE)}.

Theorem certified : decreases {words} {rocq_number(noise)} the_regimes.
Proof.
  apply sound with (ends := {rocq_list(map(rocq_number, ends))}).
  vm_cast_no_check (eq_refl true).
Qed.
"""
    if all(_only_clips(one, measure) for one in found):
        body += f"""
Theorem clipped : clipped_decreases {words}.
Proof.
  apply clipped_sound with the_regimes; [exact certified | vm_cast_no_check (eq_refl true)].
Qed.
"""
    return rocq_text(claim, ABOUT, [], THEORIES, body)


def _only_clips(regime: Regime, measure: SlopeMeasure) -> bool:
    """Whether the step is min(eta, gamma/G) grad f(x)."""
    if regime.square is not None:
        return False
    if measure.is_short(regime.span):
        return bool(regime.along == RationalFunction.of(rational(measure.eta)))
    return bool(regime.along * SLOPE == RationalFunction.of(rational(measure.gamma)))


def _regime(
    regime: Regime, proof: RegimeProof, numbers: tuple[Rational, Rational], measure: SlopeMeasure
) -> str:
    names = ("along", "known", "turned", "toward", "radius", "length")
    ratios = {name: getattr(regime, name) for name in names}
    base = fmpq_poly([1])
    for one in (*ratios.values(), *regime.assumed):
        base = base * (one.den // base.gcd(one.den))
    base = base * base.denom()
    growth_cuts = proof.cuts[: len(proof.cuts) - len(regime.assumed) - 2]
    assumed_cuts = proof.cuts[len(growth_cuts) : -2]
    pointing = regime.along * SLOPE + regime.known + regime.turned + regime.spread
    span = regime.span
    high = "None" if span.high is None else f"Some {rocq_number(span.high)}"
    fields = {
        "where_": rocq_record({"low": rocq_number(span.low), "high": high}),
        "answers": rocq_list(str(answer).lower() for answer in regime.answers),
        "base": _integers(base),
        **{
            {"length": "length_"}.get(name, name): _rocq_ratio(one, base)
            for name, one in ratios.items()
        },
        "fresh_square": rocq_number(_constant(regime.fresh)),
        "reach": rocq_number(_constant(regime.length - pointing)),
        "spread": rocq_number(_constant(regime.spread)),
        "assumed": rocq_list(
            f"({_rocq_ratio(one, base)}, {_cuts(cuts)})"
            for one, cuts in zip(regime.assumed, assumed_cuts, strict=True)
        ),
        "grows": _growth(regime, proof, growth_cuts, numbers),
        "is_short": str(measure.is_short(span)).lower(),
        "straight_cuts": _cuts(proof.cuts[-2]),
        "decrease_cuts": _cuts(proof.cuts[-1]),
    }
    return rocq_record(fields, DEEPER)


def _growth(
    regime: Regime, proof: RegimeProof, cuts: Any, numbers: tuple[Rational, Rational]
) -> str:
    """Return the bound of the growth; that of Lemma 5 follows from that in any direction."""
    _, L1 = numbers
    name, part = proof.bound.name, rational(proof.bound.part)
    top = rational(1) if name == "lemma-5" else L1 * (regime.longest or rational(0))
    if name != "against-gradient" or not part:
        return f"any_way {rocq_number(top)} {rocq_number(largest_ratio(top))} {_cuts(cuts[0])}"
    rest = top * (1 - part)
    words = " ".join(map(rocq_number, (part, rest, largest_ratio(rest))))
    return f"against {words} {rocq_list(map(_cuts, (cuts[0], *cuts[2:])))}"


def _cuts(cuts: Any) -> str:
    return rocq_list(map(rocq_number, cuts))


def _integers(polynomial: Any) -> str:
    return f"{rocq_list(int(x) for x in polynomial.coeffs())}%Z"


def _rocq_ratio(ratio: RationalFunction, base: Any) -> str:
    """Return a ratio over the common denominator, or over 1."""
    power = int(ratio.den.degree() > 0)
    num = ratio.num * base // ratio.den if power else ratio.num
    over = int(num.denom())
    return rocq_record(
        {"num": _integers(num * over), "over": f"{over}%positive", "power": f"{power}%nat"}
    )
