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
    text = method_file(one, name, _head(found, search))
    gamma, *others = (f"{value:.6g}" for value in found.candidate.values)
    pairs = zip(one.constants[1:], others, strict=True)
    constants = ", ".join([f"gamma={gamma} / setting.L", *(f"{a}={b}" for a, b in pairs)])
    first, _, rest = text.partition("from certibit import ")
    text = f"{first}from certibit import Card, {rest}"
    return text + _CARD.format(name=name, constants=constants)


def _head(found: Discovery, search: Search) -> str:
    task, proof = search.task, found.certificate
    sent = task.compressor(found.candidate.sentence)
    known = f" It is {found.known}." if found.known else ""
    told = (
        f"Found by `certibit discover` among {search.sentences} structures, of which "
        f"{search.convergent} converge on quadratics, for the fewest bits per digit: up "
        f"+ {task.weight:g} down, n = {task.n}, kappa = {task.kappa:g}, d = {task.d}, "
        f"{sent.name if sent else 'uncompressed'}. Certified there: E[Psi+] <= "
        f"{proof.factor:.6f} Psi, {found.candidate.cost:.0f} bits per digit; Psi was searched for."
        f"{known} The constants are for this task; elsewhere other ones are better, and only a "
        "certificate says whether it converges."
    )
    return f"A method with {found.candidate.sentence.kind}.\n\n{textwrap.fill(told, 98)}\n"
