"""Check a certificate that certibit has written: python check_certificate.py FILE.

The file has one step of a method on unknown vectors: Psi, E[Psi+], where gradients are evaluated,
what ends local solves, all taken for the method's, and multiples of inequalities. What is checked:
Psi >= 0, no multiplier is negative, and (1 - decrease) Psi - E[Psi+] minus the multiples has no
function value and is a sum of squares. The inequalities, of strongly convex, smooth functions,
local steps and contractive compressors, are built here. Forms have a block that all clients share
and one per class, of what sums to 0 over it. After the f_i come g and their average. Numbers are
integers, or fractions in strings.
"""

import json
import re
import sys
from fractions import Fraction
from pathlib import Path

WHOLE = {"counts", "class", "from", "to", "number"}  # of clients, of local steps, and places
WHOLE |= {"at", "slope at", "assumption", "message", "with", "between"}  # of descents
WHOLE |= {"block", "solution"}
MOST_STEPS = 10**6  # local steps whose factor is computed


def once(pairs):
    """Return the dictionary of pairs, of which no two have the same key."""
    assert len(dict(pairs)) == len(pairs), "a key stands twice"
    return dict(pairs)


def numbers(entry, name=""):
    """Return the fractions that integers and texts stand for; counts and places stay integers."""
    if isinstance(entry, dict):
        return {key: numbers(x, key) for key, x in entry.items()}
    if isinstance(entry, list):
        return [numbers(x, name) for x in entry]
    whole = type(entry) is int and (entry >= 0 or name not in WHOLE)  # true and 1.0 are none
    text = isinstance(entry, str) and name not in WHOLE
    if not (whole or (text and re.fullmatch("-?[0-9]+(/0*[1-9][0-9]*)?", entry))):
        raise ValueError(f"{name} is neither an integer nor a fraction in a string")
    return entry if name in WHOLE else Fraction(entry)


def total(*terms):
    """Return the sum of multiples, (factor, array), of arrays, which are nested lists."""
    factors, arrays = zip(*terms)
    if isinstance(arrays[0], list):
        return [total(*zip(factors, parts)) for parts in zip(*arrays, strict=True)]
    return sum(factor * entry for factor, entry in terms)


def product(u, v):
    """Return the symmetric matrix of <u, v>."""
    return [[(a * d + b * c) / 2 for c, d in zip(u, v, strict=True)] for a, b in zip(u, v)]


def positive(matrix):
    """Whether a symmetric matrix is a sum of squares: no negative pivot in L D L'."""
    left = [list(row) for row in matrix]
    for k, row in enumerate(left):
        if row[k] < 0 or (row[k] == 0 and any(row[k + 1 :])):
            return False
        for below in left[k + 1 :] if row[k] else []:
            below[:] = total((1, below), (-below[k] / row[k], row))
    return matrix == list(map(list, zip(*matrix)))


def end(file, kind, places):
    """Return point, gradient and values of an evaluation: of a class, or the average of all."""
    counts, classes, known = file["counts"], file["classes"], len(file["psi"]["values"])
    at, kinds, shares = [file["evaluations"][place] for place in places], [kind], [1]
    if kind > len(counts):
        kinds, shares = list(range(len(counts))), [Fraction(c, sum(counts)) for c in counts]
        assert not any(map(any, at[0]["point"][1:]))
    assert [(one["class"], one["point"]) for one in at] == [(c, at[0]["point"]) for c in kinds]
    assert max(places) < known or not any(any(v) for e in at for v in e["point"] + e["gradient"])
    mu = sum(share * classes[c]["mu"] for share, c in zip(shares, kinds))
    assert classes[kind]["L"] > classes[kind]["mu"] in (mu, -classes[kind]["L"])
    values = [Fraction(place in places) for place in range(known)]  # none: the solution
    return at[0]["point"], total(*zip(shares, (one["gradient"] for one in at))), values


def shortening(file, one, steps):
    """Return by what local steps on share f + ridge |x|^2/2 + ... multiply |gradient|^2 at most."""
    share, ridge, pull = (steps[name] for name in ("share", "ridge", "pull"))
    assert steps["number"] <= MOST_STEPS
    a, b = (share * file["classes"][one["class"]][c] + ridge for c in ("mu", "L"))
    r = max(abs(1 - steps["size"] * c) for c in (a, b)) ** steps["number"]
    top, bottom = (pull * (a - (b - a) * r) - abs(a - pull) * b * r, a * b) if pull else (1, 1)
    if not pull:  # else they end by a criterion, for which as many are enough
        (x, g, _), (y, h, _) = (end(file, one["class"], steps[name]) for name in ("from", "to"))
        change = total((share, h), (-share, g), (ridge, y), (-ridge, x))
        assert total((1, one["error"]), (-1, one["vector"])) == change
    assert min(share, steps["number"] - 1, top, steps["ratio"] * top**2 - (r * bottom) ** 2) >= 0
    return steps["ratio"]


def inequality(file, one):
    """Return the blocks and the coefficients of function values of what is at least 0."""
    kind, counts, own = one["class"], file["counts"], file["classes"][one["class"]]
    if "error" in one:  # ratio |v|^2 - |w|^2, w being C(v) - v, or the gradient after local steps
        ratio = shortening(file, one, one["steps"]) if "steps" in one else 1 - own["alpha"]
        values, pairs = [0] * len(file["psi"]["values"]), zip(one["vector"], one["error"])
        blocks = [total((ratio, product(v, v)), (-1, product(w, w))) for v, w in pairs]
    else:  # h(a) - h(b) - <v, a - b> - |u - v|^2/(2 (L - mu)) of h(x) = f(x) - (mu/2) |x - x*|^2
        (x, g, a), (y, h, b) = (end(file, kind, one[name]) for name in ("from", "to"))
        apart, values = total((1, x), (-1, y)), total((1, a), (-1, b))
        v, turned = total((1, h), (-own["mu"], y)), total((1, g), (-1, h), (-own["mu"], apart))
        part, triples = -1 / (2 * (own["L"] - own["mu"])), zip(apart, v, turned, strict=True)
        blocks = [total((-1, product(v, d)), (part, product(w, w))) for d, v, w in triples]
    shares = [(*counts, n := sum(counts), n)[kind], *(kind == i for i in range(len(counts)))]
    return [[total((Fraction(s, n), b)) for s, b in zip(shares, blocks, strict=True)], values]


def require_sense(file):
    """Assert that counts and constants are some, and that each error is that of one message."""
    assert all([*file["counts"], file["counts"]]), "counts"
    for one in file["classes"]:
        assert all([0 <= one["mu"] < one["L"], 0 < one["alpha"] <= 1]), "constants"
    errors = [one for one in file["inequalities"] if "error" in one and "steps" not in one]
    for one in errors:  # unknowns stand in the order in which a step meets them
        for b, (error, sent) in enumerate(zip(one["error"], one["vector"])):
            place = error.index(1) if any(error) else len(error)
            rows = file["psi"]["blocks"][b] + [each["gradient"][b] for each in file["evaluations"]]
            rows = rows + [each["error"][b] for each in errors if each is not one]
            known = [x for row in rows for x in row[place : place + 1]]
            known += error[:place] + error[place + 1 :] + sent[place:]
            assert not any(known), "an error that is known, or of two messages"


def told(file):
    """Return what is proved, of which functions and contractions, by the numbers of the file."""
    decrease, file = file["decrease"], numbers(file)
    names = [
        *(f"{count} client{'s' * (count > 1)}" for count in file["counts"]),
        "g and the server",
        "the average",
    ]
    used, words = {one["class"] for one in file["inequalities"]}, []
    for kind, (name, own) in enumerate(zip(names, file["classes"])):
        if kind < len(file["counts"]) or kind in used:
            alpha = f", alpha = {own['alpha']}" if own["alpha"] < 1 else ""
            words.append(f"{name} with mu = {own['mu']}, L = {own['L']}{alpha}")
    return f"E[Psi+] <= (1 - {decrease}) Psi for {'; '.join(words)}"


def check(file):
    """Return why a certificate proves nothing, or an empty text."""
    file = numbers(file)
    require_sense(file)
    psi, after = ([file[name]["blocks"], file[name]["values"]] for name in ("psi", "expected"))
    if any(one["multiplier"] < 0 for one in file["inequalities"]):
        return "a multiplier is negative"
    for name, (blocks, values) in (("Psi", psi), ("E[Psi+]", after)):
        if min(values, default=0) < 0 or not all(map(positive, blocks)):
            return f"{name} has a negative part"
    if not (any(psi[1]) or any(any(map(any, block)) for block in psi[0])):
        return "Psi is 0, of which nothing follows"
    used = [(-one["multiplier"], inequality(file, one)) for one in file["inequalities"]]
    blocks, values = total((1 - file["decrease"], psi), (-1, after), *used)
    proved = not any(values) and all(map(positive, blocks))
    return "" if proved else "what is left has function values or is no sum of squares"


def main(check, key, told, claim):
    """Print what the file that the command line names proves, or exit with the reason why not."""
    if not __debug__:
        sys.exit("what is asserted is part of the check: run it without -O")
    try:
        text = Path(sys.argv[1]).read_text(encoding="utf-8")
        given = json.loads(text, object_pairs_hook=once)
        file, about = given[key], str(given["about"])
        if reason := check(file):
            sys.exit(reason)
        print(f"proved: {told(file)}")
        print(f"claimed by the file, not checked: {claim} those of {about!a}")
    except Exception as error:
        sys.exit(f"the file is no certificate ({error!r})")


if __name__ == "__main__":
    main(check, "certificate", told, "Psi and E[Psi+] are")
