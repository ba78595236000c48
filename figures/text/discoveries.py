"""Results of a search for methods as text and as JSON."""

from dataclasses import asdict
from typing import Any

from certibit.data.terminal import paragraph, table
from certibit.figures.text.tables import ABSENT, count_text
from certibit.theory.discover.discovery import Search
from certibit.theory.discover.step_lines import step_lines


def describe_search(search: Search) -> str:
    """Return the table of what was found, and the algorithm box of the best."""
    task = search.task
    header = ["", "structure", "known as", task.fewest, "at least", *task.proved(0.0)]
    rows = [
        [
            str(place),
            one.candidate.sentence.kind,
            one.known.name if one.known else ABSENT,
            count_text(one.candidate.cost),
            ABSENT if one.screened is None else count_text(one.screened),
            *(f"{value:.6f}" for value in task.proved(one.candidate.decrease).values()),
        ]
        for place, one in enumerate(search.found, start=1)
    ]
    size = (
        f"{search.sentences} structures screened on quadratics, {search.convergent} converge "
        f"there; of the best {len(search.found)} are certified, {search.uncertified} are not."
    )
    if not search.found:
        return size
    received = ", up plus weighted down" if task.fewest == "bits" else ""
    meaning = (
        f"{task.fewest.capitalize()} per {task.unit} are certified{received}; on quadratics none "
        "needs less than the column beside them."
    )
    best = search.found[0].candidate
    pairs = zip(best.sentence.constants, best.values, strict=True)
    constants = [f"{name} = {value:.4g}{'/L' * (name == 'gamma')}" for name, value in pairs]
    return "\n".join(
        [
            table(header, rows, texts=3),
            "",
            paragraph(f"{meaning} {size}"),
            "",
            f"The best, with {', '.join(constants)}:",
            "",
            *(f"    {line}" for line in step_lines(best.sentence).text(best.sentence.local)),
        ]
    )


def search_summary(search: Search) -> dict[str, Any]:
    """Return the same as JSON values."""
    return {
        "n": search.task.n,
        **search.task.described,
        "d": search.task.d,
        "unbiased": search.task.unbiased.name,
        "contractive": search.task.contractive.name,
        "downlink_weight": search.task.weight,
        "fewest": search.task.fewest,
        "unit": search.task.unit,
        "structures": search.sentences,
        "convergent": search.convergent,
        "uncertified": search.uncertified,
        "found": [
            {
                "cost": one.candidate.cost,
                "cost_at_least": one.screened,
                **search.task.proved(one.candidate.decrease),
                "kind": one.candidate.sentence.kind,
                "constants": asdict(one.certificate.method),
                "known_as": one.known.name if one.known else None,
                "structure": one.candidate.sentence.to_json(),
                "step": step_lines(one.candidate.sentence).text(one.candidate.sentence.local),
            }
            for one in search.found
        ],
    }
