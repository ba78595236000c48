"""The results of the make targets that the page shows: the schemas of their files."""

import re

from certibit.figures.report.schemas import Schema, between, maybe, numbers, record, several
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

_text: Schema = {"type": "string"}
_number: Schema = {"type": "number"}
_flag: Schema = {"type": "boolean"}
_outcome: Schema = {"type": "string", "pattern": f"^({'|'.join(map(re.escape, _FIXED))})"}
_judged: Schema = {"enum": [SUPPORTED, FAILS, UNDECIDED]}
_colour: Schema = {"type": "string", "pattern": r"^#[0-9A-Fa-f]{6}\Z"}
_positive = between(1e-100, 1e100)
_perhaps, _above = maybe(_number), maybe(_positive)
_weight = between(0, 1e100)
_decrease = maybe(between(-1e100, 1e100))
_costs = numbers(-1e307, 1e307, "bits", "downlink bits", "rounds", "gradients")
_curve = record(
    label=_text,
    method=_text,
    colour=_colour,
    specification=record(),
    ending=several(_text),
    costs={"type": "object", "additionalProperties": _costs},
)
_panel = record(
    title=_text,
    problem=_text,
    n=_number,
    d=_number,
    kappa=_above,
    seeds=_number,
    measure=_text,
    floor=_positive,
    downlink_weight=_weight,
    targets=several(_text, least=1),
    curves=several(_curve, least=1),
) | {"keysOf": ["targets", "curves", "costs"]}
_cost = record(curve=_text, panel=_text, median=_perhaps)
_comparison = record(fewer=_cost, more=_cost, outcome=_judged)
_verdict = record(
    {
        "claim": _text,
        "source": _text,
        "measured": _text,
        "outcome": _judged,
        "note?": _text,
        "quotation?": _text,
        "why?": several(_text),
        "decisive?": _comparison,
        "comparisons?": several(_comparison),
    }
)
_claims = several(_verdict)
_step = record(
    place=_text,
    claim=_text,
    space=_text,
    constants=_text,
    verdict=_outcome,
    known=_text,
    severity=maybe(_text),
    margin=_number,
    points=_number,
    repair=_text,
    tight=_text,
    witness=maybe(
        record(
            cell={"type": "object", "additionalProperties": _text},
            variables=record(),
            left=_text,
            right=_text,
            arithmetic=_text,
        )
    ),
)
_ratio = record(
    subject=_text, name=_text, problem=_text, runs=_number, value=_number, low=_number, high=_number
)

JUDGEMENT = record(
    rule=_text,
    figures=several(
        record(
            {
                "figure": _text,
                "panels": several(record(panel=_text, claims=_claims)),
                "across panels": _claims,
            }
        )
    ),
)
THEOREMS = several(
    record(
        {
            "theorem": _text,
            "family": _text,
            "rule": _text,
            "compressor": _text,
            "holds": _flag,
            "outcome": _outcome,
            "least room": record(condition=_text, used=_perhaps),
            "worst case / promised factor": _perhaps,
            "rate, measured / promised": _perhaps,
            "bits, promised / measured": _above,
            "seeds": _number,
            "downlink_weight": _weight,
        }
    )
)
SCALING = several(record(quantity=_text, method=_text, holds=_flag))
RATES = several(
    record(
        method=_text,
        rule=_text,
        varied=_text,
        n=_positive,
        kappa=_positive,
        omega=between(0, 1e100),
        published=_decrease,
        certified=_decrease,
        reason=_text,
    )
)
SAVINGS = several(
    record(
        panel=_text,
        method=_text,
        published=_above,
        optimal=_above,
        measured=_above,
        measured_optimal=_above,
        downlink_weight=_weight,
    )
)
CLIPPING = record(verdicts=_claims)
TRAININGS = record(verdicts=_claims)
AUDIT = record(proof=_text, source=_text, seconds=_number, steps=several(_step))
BENCHMARK = record(
    date=_text,
    commit=_text,
    hardware=record(processor=_text, cores=_number),
    versions=record(),
    absent=several(_text),
    ratios=several(_ratio),
)


def drawn_figure(name: str) -> Schema:
    """Return the schema of the record of a figure of a name."""
    return record(figure={"const": name}, versions=record(), panels=several(_panel, least=1))
