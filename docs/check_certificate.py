"""Check a certificate that certibit has written: python check_certificate.py FILE.

The file has one step of a method on unknown vectors: Psi, E[Psi+], where gradients are evaluated
and messages sent, all taken for the method's, and multiples of inequalities. What is checked: each
gradient, error of a message and end of local steps is an unknown of its own, which is met after
what it depends on; Psi >= 0 has none that is met in the step; no multiplier is negative, and
(1 - decrease) Psi - E[Psi+] minus the multiples has no function value and is a sum of squares. The
inequalities, of strongly convex, smooth functions, local steps and contractive compressors, are
built here, and so are the solution and the gradients there, which are 0. Forms have a block that
all clients share and one per class, of what sums to 0 over it. After the f_i come g and their
average. Numbers are integers, or fractions in strings. The hash is of the JSON text of all else.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from pathlib import Path

WHOLE = {"counts", "class", "from", "to", "number"}  # of clients, of local steps, and places
WHOLE |= {"at", "slope at", "assumption", "message", "with", "between"}  # of descents
WHOLE |= {"block", "solution"}
MOST_STEPS = 10**6  # local steps whose factor is computed
FORMAT = "certibit proof 2"


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
    assert min(a, pull) > 0 or not pull  # with it they end by a criterion, for which r is enough
    assert min(share, steps["number"] - 1, top, steps["ratio"] * top**2 - (r * bottom) ** 2) >= 0
    return steps["ratio"]


def local_end(file, one, steps):
    """Return what is known before local steps end at a new point, given their gradients there."""
    share, ridge, pull = (steps[name] for name in ("share", "ridge", "pull"))
    y, h, _ = end(file, one["class"], steps["to"])
    rest = total((1, one["error"]), (-share, h), (-ridge, y))
    known = [total((1, y), (-1, steps["end"])), rest]
    if pull:  # the error is the gradient of the sum with pull |y - centre|^2/2, the vector without
        return [*known, total((1, one["error"]), (-1, one["vector"]), (-pull, y))]
    x, g, _ = end(file, one["class"], steps["from"])
    assert rest == total((1, one["vector"]), (-share, g), (-ridge, x)), "another function"
    return [*known, x, g]


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


def opened(file):
    """Return a file in fractions, with the evaluations at the solution, where gradients are 0."""
    file = numbers(file)
    sizes = [len(block) for block in file["psi"]["blocks"]]
    assert all([*file["counts"], file["counts"]]), "counts"
    assert len(sizes) == len(file["counts"]) + 1 <= len(file["classes"]) <= len(sizes) + 1
    assert len(file["psi"]["values"]) == len(file["evaluations"])
    nothing = [[Fraction(0)] * size for size in sizes]
    file["evaluations"] += [
        {"class": kind, "point": nothing, "gradient": nothing} for kind in range(len(sizes))
    ]
    return file


def require_fresh(file, drawn, forms):
    """Assert that what a step meets is an unknown of its own, and has no part in the forms.

    ``drawn`` has the class, the unknown and what it depends on of messages and local steps.
    """
    counts, known, late = file["counts"], len(file["psi"]["values"]), set()
    sizes = tuple(map(len, file["psi"]["blocks"]))
    met = [(e["class"], e["gradient"], [e["point"]], j) for j, e in enumerate(file["evaluations"])]
    met, last = met[:known] + [(*one, None) for one in drawn], [-1] * (len(counts) + 1)
    for kind, unknown, needed, number in sorted(met, key=lambda one: one[1][0].index(1)):
        own = {0, kind + 1} if kind < len(counts) and counts[kind] > 1 else {0}
        assert {tuple(map(len, v)) for v in [unknown, *needed]} == {sizes}, "sizes"
        for b, entries in enumerate(unknown):
            assert sorted(filter(None, entries)) == [1] * (b in own), "an unknown that is known"
            assert b not in own or last[b] < entries.index(1), "one unknown of two, or order"
            last[b] = entries.index(1) if b in own else last[b]
            assert not any(any(v[b][last[b] if b in own else 0 :]) for v in needed), "order"
        of_late = any(v[b][place] for v in needed for b, place in late)
        if of_late or number is None:
            late |= {(b, last[b]) for b in own}
            assert number is None or not any(form["values"][number] for form in forms)
    for form in forms:
        assert not any(any(form["blocks"][b][place]) for b, place in late), "Psi is of a state"


def require_sense(file):
    """Assert that constants are some, and that gradients, errors and ends are unknowns."""
    for one in file["classes"]:
        assert all([0 <= one["mu"] < one["L"], 0 < one["alpha"] <= 1]), "constants"
    errors = [one for one in file["inequalities"] if "error" in one]
    drawn = [
        (one["class"], one["steps"]["end"], local_end(file, one, one["steps"]))
        if "steps" in one
        else (one["class"], one["error"], [one["vector"]])
        for one in errors
    ]
    require_fresh(file, drawn, [file["psi"]])


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
    file = opened(file)
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


def assumed(file):
    """Return what is assumed of local steps, by the numbers of the file."""
    words = "local steps are {number} steps of size {size} on {share} f_i plus a quadratic of "
    words += "curvature {ridge}, with the gradients of the file"
    accurate = ", and end where |gradient|^2 <= {ratio} |gradient without the pull {pull}|^2"
    solves = [one["steps"] for one in file["inequalities"] if "steps" in one]
    return [(words + accurate * (Fraction(x["pull"]) > 0)).format(**x) for x in solves]


def main(check, key, told, claim, assumed=lambda file: []):
    """Print what the file that the command line names proves, or exit with the reason why not."""
    if not __debug__:
        sys.exit("what is asserted is part of the check: run it without -O")
    try:
        text = Path(sys.argv[1]).read_text(encoding="utf-8")
        given = json.loads(text, object_pairs_hook=once)
        if (version := given.pop("format", None)) != FORMAT:
            sys.exit(f"the format of the file is {version!a}, not {FORMAT!a}: write it anew")
        digest, content = given.pop("sha256", None), json.dumps(given, sort_keys=True).encode()
        if digest != hashlib.sha256(content).hexdigest():
            sys.exit("the file was altered: its content has not the hash that it names; write anew")
        file, about = given[key], str(given["about"])
        if reason := check(file):
            sys.exit(reason)
        print(f"proved: {told(file)}")
        for text in assumed(file):
            print(f"assumed: {text}")
        print(f"claimed by the file, not checked: {claim} those of {about!a}")
    except Exception as error:
        sys.exit(f"the file is no certificate ({error!r})")


if __name__ == "__main__":
    main(check, "certificate", told, "Psi, E[Psi+] and what is evaluated and sent are", assumed)
