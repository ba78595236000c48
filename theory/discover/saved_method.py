"""A method that was found, as a file: the algorithm box, how it was found, and its constants."""

import textwrap

from certibit.theory.discover.discovery import Discovery, Search
from certibit.theory.discover.method_file import method_file

_CARD = """

def found(setting):
    return {name}({constants})


CARD = Card({name}, rules={{"found": found}})
"""


def saved_method(found: Discovery, search: Search, name: str = "Found") -> str:
    """Return the text of a file with a method, usable as ``FILE.py:Name``, and a rule for it."""
    one = found.candidate.sentence
    strongly_convex = search.task.functions(one).mu > 0
    text = method_file(one, name, _head(found, search), strongly_convex)
    gamma, *others = (f"{value:.6g}" for value in found.candidate.values)
    pairs = zip(one.constants[1:], others, strict=True)
    constants = ", ".join([f"gamma={gamma} / setting.L", *(f"{a}={b}" for a, b in pairs)])
    first, _, rest = text.partition("from certibit import ")
    text = f"{first}from certibit import Card, {rest}"
    return text + _CARD.format(name=name, constants=constants)


def _head(found: Discovery, search: Search) -> str:
    task = search.task
    sent = task.compressor(found.candidate.sentence)
    known = f" It is {found.known}." if found.known else ""
    where = ", ".join(f"{name} = {value}" for name, value in task.described.items())
    received = f"up + {task.weight:g} down, " if task.fewest == "bits" else ""
    told = (
        f"Found by `certibit discover` among {search.sentences} structures, of which "
        f"{search.convergent} converge on quadratics, for the fewest {task.fewest} per "
        f"{task.unit}: {received}n = {task.n}, {where}, d = {task.d}, "
        f"{sent.name if sent else 'uncompressed'}. Certified there: "
        f"{task.promise(found.candidate.decrease)}, {found.candidate.cost:.4g} {task.fewest} per "
        f"{task.unit}; Psi was searched for.{known} The constants are for this task; elsewhere "
        "other ones are better, and only a certificate says whether it converges."
    )
    return f"A method with {found.candidate.sentence.kind}.\n\n{textwrap.fill(told, 98)}\n"
