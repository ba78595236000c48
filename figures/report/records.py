"""What the make targets write, as far as the page shows it: the forms of their files."""

import re
from typing import Any

from certibit.figures.report.forms import (
    Form,
    between,
    both,
    flag,
    kind,
    lists_of_one_length,
    maybe,
    named,
    number,
    record,
    several,
    text,
)
from certibit.figures.text.verdicts import SUPPORTED
from certibit.theory.verdict import FAILS, NOT_TESTED, ONLY_IF, UNDECIDED, Known

_FIXED = (FAILS, ONLY_IF, NOT_TESTED, Known.MEASURED.words(), Known.PROVED.words())


def outcome_kind(outcome: str) -> str:
    """Return an outcome without the numbers and hypotheses in it, which a reader may filter by."""
    if outcome.startswith("holds at "):
        return SEARCHED
    return next((kind for kind in _FIXED if outcome.startswith(kind)), FAILS)


SEARCHED = "holds at points searched"
"""Of what was searched, at however many points."""

_outcome = kind("an outcome", lambda told: isinstance(told, str) and told.startswith(_FIXED))
_judged = kind("an outcome", lambda told: told in (SUPPORTED, FAILS, UNDECIDED))
_colour = kind(
    "a colour", lambda told: isinstance(told, str) and bool(re.fullmatch("#[0-9A-Fa-f]{6}", told))
)


def _has_costs(panel: dict[str, Any]) -> bool:
    return all(set(panel["targets"]) <= set(curve["costs"]) for curve in panel["curves"])


_positive = between(1e-100, 1e100)
_perhaps, _above = maybe(number), maybe(_positive)
_weight = between(0, 1e100)
_decrease = maybe(between(-1e100, 1e100))
_drawn = maybe(between(1e-300, 1e300))
_costs = lists_of_one_length(
    **{"bits": _perhaps, "downlink bits": _perhaps, "rounds": _perhaps, "gradients": _perhaps}
)
_curve = record(
    label=text,
    method=text,
    colour=_colour,
    kind=maybe(text),
    specification=record(),
    ending=several(text),
    costs=named(_costs),
    line=lists_of_one_length(bits=_drawn, median=_drawn, low=_drawn, high=_drawn),
)
_panel = both(
    record(
        title=text,
        problem=text,
        n=number,
        d=number,
        kappa=_above,
        seeds=number,
        floor=_positive,
        downlink_weight=_weight,
        targets=several(text, least=1),
        curves=several(_curve, least=1),
    ),
    kind("with the costs to its targets", _has_costs),
)
_cost = record(curve=text, panel=text, median=_perhaps)
_comparison = record(fewer=_cost, more=_cost, outcome=_judged)
_verdict = record(
    {
        "claim": text,
        "source": text,
        "measured": text,
        "outcome": _judged,
        "note?": text,
        "quotation?": text,
        "why?": several(text),
        "decisive?": _comparison,
        "comparisons?": several(_comparison),
    }
)
_claims = several(_verdict)
_clipped = both(
    lists_of_one_length(rounds=_drawn, median=_drawn, low=_drawn, high=_drawn),
    record(label=text, eta=number, colour=_colour, clips=flag),
)
_step = record(
    place=text,
    claim=text,
    space=text,
    constants=text,
    verdict=_outcome,
    known=text,
    severity=maybe(text),
    margin=number,
    points=number,
    repair=text,
    tight=text,
    witness=maybe(
        record(cell=named(text), variables=record(), left=text, right=text, arithmetic=text)
    ),
)
_ratio = record(
    subject=text, name=text, problem=text, runs=number, value=number, low=number, high=number
)

JUDGEMENT = record(
    rule=text,
    figures=several(
        record(
            {
                "figure": text,
                "panels": several(record(panel=text, claims=_claims)),
                "across panels": _claims,
            }
        )
    ),
)
THEOREMS = several(
    record(
        {
            "theorem": text,
            "family": text,
            "rule": text,
            "compressor": text,
            "holds": flag,
            "outcome": _outcome,
            "least room": record(condition=text, used=_perhaps),
            "worst case / promised factor": _perhaps,
            "rate, measured / promised": _perhaps,
            "bits, promised / measured": _above,
            "downlink_weight": _weight,
        }
    )
)
SCALING = several(
    both(
        lists_of_one_length(values=_positive, bits=_above),
        record(
            quantity=text,
            method=text,
            exponent=number,
            table=number,
            holds=flag,
            downlink_weight=_weight,
        ),
    )
)
RATES = several(
    record(
        method=text,
        rule=text,
        varied=text,
        n=_positive,
        kappa=_positive,
        omega=between(0, 1e100),
        published=_decrease,
        certified=_decrease,
        reason=text,
    )
)
SAVINGS = several(
    record(
        panel=text,
        method=text,
        published=_above,
        optimal=_above,
        measured=_above,
        measured_optimal=_above,
        downlink_weight=_weight,
    )
)
CLIPPING = record(
    panels=several(record(title=text, series=several(_clipped, least=1))), verdicts=_claims
)
AUDIT = record(proof=text, source=text, seconds=number, steps=several(_step))
BENCHMARK = record(
    date=text,
    commit=text,
    hardware=record(processor=text, cores=number),
    versions=record(),
    absent=several(text),
    ratios=several(_ratio),
)


def drawn_figure(name: str) -> Form:
    """Return the form of the record of a figure of a name."""
    called = kind(f"that of {name}", lambda figure: figure["figure"] == name)
    return both(record(figure=text, versions=record(), panels=several(_panel, least=1)), called)
