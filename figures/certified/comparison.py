"""Certified against published rates of all methods, and what their parameters cost in bits."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Any

from certibit.data.files.archive import write_record
from certibit.data.files.cache import write_text
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.measured_bits import ACCURACY, MOST_ITERATIONS, Runs, least_bits
from certibit.figures.certified.potential_gains import SEARCHED, PotentialGain, gains_of
from certibit.figures.certified.rates import Rate, rates_of
from certibit.figures.certified.variants import MEANING
from certibit.figures.looks import method_label
from certibit.figures.pool import Call, Work, results
from certibit.figures.text.tables import ABSENT, accuracy_name, digits_text, json_number, short_cost
from certibit.solvers.total_bits import total_text
from certibit.theory.catalogue.catalogue import METHODS, SHARED_MINIMISER


def rates_table(measured: list[Rate]) -> str:
    """Tabulate at one family what each method's theorem loses."""
    rows = [
        (
            method_label(rate.method),
            rate.rule,
            digits_text(rate.published),
            digits_text(rate.certified),
            "not certified (below)" if rate.reason else rate.verdict,
        )
        for rate in measured
    ]
    notes = [
        paragraph(f"{method_label(rate.method)}, {rate.rule}: {rate.reason}")
        for rate in measured
        if rate.reason
    ]
    first = measured[0]
    caption = (
        f"1 - factor per step at n = {first.n}, kappa = {first.kappa:g}, omega = {first.omega:g} "
        "(alpha = 1/(1 + omega) for contractions): published and certified, with the weights of "
        f"the method's Lyapunov function; {MEANING}"
    )
    header = ("method", "rule", "published", "certified", "the theorem is")
    parts = [paragraph(caption), table(header, rows, texts=2), "\n".join(notes)]
    return "\n\n".join(part for part in parts if part)


def measured_table(gains: list[PotentialGain], downlink: float = 0.0) -> str:
    """Tabulate per family what is proved for each rule beside the bits measured with it.

    With a weight of the downlink, total bits are a column.
    """
    header = ["", "promised", "found", "attained", "bits up", "down"]
    header += ["total"] if downlink else []
    rows: list[list[str]] = []
    for family in dict.fromkeys((gain.n, gain.kappa, gain.omega) for gain in gains):
        n, kappa, omega = family
        rows.append([f"{n}, {kappa:g}, {omega:g}", *[""] * (len(header) - 1)])
        floor = short_cost(least_bits(n, kappa, omega))
        rows.append(["lower bound, an order", *[ABSENT] * 3, floor, *[ABSENT] * (len(header) - 5)])
        for gain in gains:
            if (gain.n, gain.kappa, gain.omega) == family:
                decreases = (gain.promised, gain.found, gain.attained)
                bits = (gain.bits.up, gain.bits.down, *([gain.bits.total] if downlink else []))
                cells = [
                    *(digits_text(x, 3) for x in decreases),
                    *map(short_cost, bits),
                ]
                rows.append([f"{method_label(gain.method)}, {gain.rule}", *cells])
    caption = (
        "1 - factor per step at n, kappa, omega with the parameters of each rule and with those of "
        f"the fewest certified bits that a short search finds ({SEARCHED}): promised by the best "
        "theorem, certified for the best quadratic potential that is found, attained in the long "
        "run on quadratics; and bits per client, measured on a random quadratic of the family "
        f"until f - f* is {accuracy_name(ACCURACY)} of what it is at the start, {ABSENT} if "
        f"{MOST_ITERATIONS:,} iterations, or a limit that was given, do not reach it; {MEANING}; "
        "the lower bound with "
        "independent unbiased compressors (arXiv:2305.16297) is an order, for the worst functions"
    )
    caption = "; ".join(filter(None, [caption, total_text(downlink)]))
    return f"{paragraph(caption)}\n\n{table(header, rows, texts=1)}"


def certified_comparison(work: Work) -> list[Path]:
    """Compare certified and published rates; write tables.

    Limits end runs before the accuracy that is measured. The files are returned.
    """
    folder, downlink = work.folder, work.downlink
    runs = Runs(work.seeds, work.store, downlink)
    rated = [name for name, card in METHODS.items() if card.about("potential")]
    jobs: list[Call[Any]] = [
        *(Call(f"rates of {name}", rates_of, (name,)) for name in rated),
        *(Call(f"potentials of {n}", gains_of, (n, runs)) for n in METHODS | SHARED_MINIMISER),
    ]
    done = iter(results(jobs, work.processes))
    measured: list[Rate] = list(chain.from_iterable(islice(done, len(rated))))
    gains: list[PotentialGain] = list(chain.from_iterable(done))

    def text() -> str:
        return f"{rates_table(measured)}\n\n{measured_table(gains, downlink)}"

    work.tell(text)
    records: dict[str, Sequence[Any]] = {"rates.json": measured, "potentials.json": gains}
    for name, rows in records.items():
        write_record(folder / name, json_number([asdict(row) for row in rows]))
    write_text(folder / "certified.txt", text())
    work.tell(lambda: f"\nwritten to {folder}")
    return [folder / name for name in (*records, "certified.txt")]
