"""Write the generated pages: ``python docs/making/site.py``; Sphinx does it before it builds."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
sys.path.insert(0, str(DOCS))

from certibit import Budget, compare, problem  # noqa: E402
from certibit.cli.words.progress import progress_bar  # noqa: E402
from certibit.data.files.cache import write_text  # noqa: E402
from certibit.figures.certified.rates import Rate, compared_rate  # noqa: E402
from certibit.figures.comparison.comparison_result import Comparison  # noqa: E402
from certibit.solvers.compressors.selector import compressor  # noqa: E402
from certibit.theory.audit.proofs import PROOFS, audit  # noqa: E402
from certibit.theory.catalogue.catalogue import (  # noqa: E402
    CARDS,
    CLIPPING,
    METHODS,
    SHARED_MINIMISER,
    STOCHASTIC,
)
from making import audit_page, compressor_page, method_page  # noqa: E402
from making.idea_page import idea_page  # noqa: E402
from making.reference_page import reference_pages  # noqa: E402
from making.relaxed_comparison import relaxed_comparison  # noqa: E402
from making.schema_page import schema_page  # noqa: E402

FAVOURITE = {"unbiased": "rand-k:2+natural", "contractive": "top-k:2"}
"""The compressor of each kind in the comparison."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every generated page."""
    compared = comparison()
    layout = compressor(FAVOURITE["unbiased"]).layout(compared.problem.d)
    yield "idea", idea_page(compared_rate("diana", "b", *method_page.SETTINGS[0]), compared, layout)
    yield "methods/index", method_page.index_page(CARDS)
    for name, card in METHODS.items():
        rates = _rates(name, method_page.SETTINGS)
        yield f"methods/{name}", method_page.method_page(card, rates, compared)
    alone = comparison_alone()
    for name, card in SHARED_MINIMISER.items():
        rates = _rates(name, method_page.SETTINGS_ALONE)
        yield f"methods/{name}", method_page.method_page(card, rates, alone)
    for name, card in STOCHASTIC.items():
        yield f"methods/{name}", method_page.method_page(card, [], compared)
    _tell("comparing the methods of relaxed smoothness")
    relaxed = relaxed_comparison()
    for name, card in CLIPPING.items():
        yield f"methods/{name}", method_page.method_page(card, [], relaxed)
    sent = {name: compressor(name) for name in compressor_page.EXAMPLES}
    yield "compressors/index", compressor_page.index_page(sent)
    for name, each in sent.items():
        file = compressor_page.file_name(name)
        yield f"compressors/{file}", compressor_page.compressor_page(each)
    _tell(f"auditing the proofs of {', '.join(PROOFS)}")
    records = [audit(name).record() for name in PROOFS]
    yield "proofs/index", audit_page.index_page(records)
    for record in records:
        yield f"proofs/{record['proof']}", audit_page.audit_page(record)
    yield from reference_pages()
    yield "schema", schema_page()


def _rates(name: str, settings: Sequence[tuple[int, float, float]]) -> list[Rate]:
    rule = next(iter(CARDS[name].rules))
    return [compared_rate(name, rule, *setting) for setting in settings]


def comparison_alone() -> Comparison:
    """Compare the methods for clients with the same minimiser, with one client."""
    entries = [
        (name, FAVOURITE[card.method.needs.compressor]) for name, card in SHARED_MINIMISER.items()
    ]
    return _compared("breast-cancer@1", [*entries, "gd", "agd"])


def comparison() -> Comparison:
    """Compare all methods on data that needs no file."""
    entries = [
        (name, FAVOURITE.get(card.method.needs.compressor)) for name, card in METHODS.items()
    ]
    return _compared("breast-cancer@9", entries)


def _compared(selector: str, entries: Sequence[Any]) -> Comparison:
    solved, until = problem(selector, kappa=100), Budget(bits=5e5)
    _tell(f"comparing {len(entries)} methods on {selector}")
    with progress_bar(selector) as tell:
        return compare(solved, entries, target=1e-5, seeds=3, budget=until, progress=tell)


def _tell(words: str) -> None:
    print(words, flush=True)


def write_site(folder: Path = DOCS) -> list[Path]:
    """Write all pages into the folder ``atlas``, and return the files."""
    atlas = folder / "atlas"
    shutil.rmtree(atlas, ignore_errors=True)
    written = []
    for name, text in pages():
        _tell(f"atlas/{name}")
        written.append(atlas / f"{name}.md")
        write_text(written[-1], text.rstrip())
    return written


if __name__ == "__main__":
    print(f"pages of methods, compressors and proofs: {len(write_site())}")
