"""Files of proofs with one entry changed, and whether their checkers refuse them."""

import copy
import json

from certibit.theory.export.proof_file import sealed


def changed(file, where, change):
    """Return a file with one entry, named by its keys, changed."""
    other = copy.deepcopy(file)
    *path, last = where
    place = other
    for key in path:
        place = place[key]
    place[last] = change(place[last])
    return other


def refused(checker, file):
    """Whether a checker refuses a file, or finds that it makes no sense."""
    try:
        return checker.check(file) != ""
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError):
        return True


def resealed(text):
    """Return a changed file as who forges writes it, with the hash of what it is now."""
    content = json.loads(text)
    return sealed({name: x for name, x in content.items() if name not in {"format", "sha256"}})
