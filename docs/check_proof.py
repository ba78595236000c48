"""Check a proof that certibit has written: python check_proof.py FILE.

The file has one step of a method on unknown vectors: Psi, E[Psi+], where gradients are evaluated
and messages sent, all taken for the method's, and multiples of inequalities. What is checked: each
gradient, error of a message and end of local steps is an unknown of its own, which is met after
what it depends on; Psi has none that is met in the step; no multiplier of an inequality is
negative, and the forms

    Psi - E[Psi+] - c M + e sigma^2 + d zeta^2,    Psi,    |x - x*|^2 - Psi at rest about x

(M is Psi where nothing is measured; the last where functions have a solution and M is not Psi)
minus multiples of inequalities and, in the first, of what is 0 in the mean, have no function value
and are sums of squares. Random vectors have <u, v> = E<u, v>. Inequalities and what is 0 are built
here, of functions, of their average, of messages, local steps and sampled gradients, and so are the
solution and the gradients there, which are 0. f - f* is f - inf f where there is no solution, and
zeta, a bound of how much clients differ, is any number. Forms have a block that all clients share
and one per class, of what sums to 0 over it. After the f_i come g and their average. Numbers are
integers, or fractions in strings. The hash is of the JSON text of all else.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from pathlib import Path

WHOLE = {"counts", "class", "from", "to", "number"}  # of clients, of local steps, and places
WHOLE |= {"at", "slope at", "assumption", "message", "with", "between", "block", "solution"}
LAWS = {"contraction", "noise", "sample", "difference"}
NOISE = {"relative", "gap", "difference", "expected"}
OF_CHANGES = {"mean smoothness", "similarity"}  # of gradients from point to point
ASSUMED = {"infimum", "polyak lojasiewicz", "quasi strong convexity", "bounded dissimilarity"}
ASSUMED |= OF_CHANGES
MOST_STEPS = 10**6  # local steps whose factor is computed
FORMAT = "certibit proof 3"


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


def end(file, kind, places):
    """Return point, gradient and values of an evaluation: of a class, or the average of all."""
    counts, classes, known = file["counts"], file["classes"], len(file["psi"]["values"])
    at, kinds, shares = [file["evaluations"][place] for place in places], [kind], [1]
    if kind > len(counts):
        kinds, shares = list(range(len(counts))), [Fraction(c, sum(counts)) for c in counts]
        assert not any(map(any, at[0]["point"][1:]))
    assert [(one["class"], one["point"]) for one in at] == [(c, at[0]["point"]) for c in kinds]
    assert file["solution"] or max(places) < known, "there is no solution"
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


def used(file):
    """Return all inequalities that a file uses: of the step, of Psi, and of the start."""
    starting = file["start"]["inequalities"] if file["solution"] and file["measure"] else []
    return file["inequalities"] + file["below"] + starting


def local_solves(file):
    """Return the inequalities of local steps, each once, without their multipliers."""
    found = []
    for one in used(file):
        own = {name: value for name, value in one.items() if name != "multiplier"}
        if "steps" in own and own not in found:
            found.append(own)
    return found


def form(file, blocks, values=None, variance=0, zeta=0):
    """Return blocks with coefficients of the function values, of sigma^2 and of zeta^2."""
    return [blocks, values or [0] * len(file["psi"]["values"]), variance, zeta]


def shares(file, kind):
    """Return how often each block counts in the mean over the clients of a class, or over all."""
    counts, n = file["counts"], sum(file["counts"])
    return [
        Fraction(s, n) for s in ((*counts, n, n)[kind], *(kind == i for i in range(len(counts))))
    ]


def square(file, own):
    """Return (1/n) sum_i |v_i|^2 of the vectors of the classes, each in all blocks."""
    found = []
    for kind, v in enumerate(own):
        found.append([total((s, product(b, b))) for s, b in zip(shares(file, kind), v)])
    return form(file, total(*((1, blocks) for blocks in found)))


def mean(file, own):
    """Return the mean over the clients of the vectors of the classes, for each class."""
    counts = file["counts"]
    shares = [Fraction(count, sum(counts)) for count in counts]
    equal = total(*zip(shares, (v[0] for v in own)))
    return [[equal, *total((0, v[1:]))] for v in own]


def shared(file, places):
    """Return the point of all clients, their gradients, and the value of f - f* there."""
    at, known = [file["evaluations"][place] for place in places], len(file["psi"]["values"])
    assert [(one["class"], one["point"]) for one in at] == [
        (kind, at[0]["point"]) for kind in range(len(file["counts"]))
    ]
    assert not any(map(any, at[0]["point"][1:]))
    assert max(places) < known
    value = form(file, total((0, file["psi"]["blocks"])), [int(j in places) for j in range(known)])
    return [one["point"] for one in at], [one["gradient"] for one in at], value


def assumed(file, one):
    """Return what an assumption about the average or about all f_i says is at least 0."""
    constants = dict(file["assumptions"][one["assumption"]])
    zeta = constants.pop("zeta", 0)
    ((name, constant),) = constants.items()
    if name in {"mean smoothness", "similarity"}:
        (x, g, _), (y, h, _) = (shared(file, one[at]) for at in ("from", "to"))
        apart, change = total((1, x), (-1, y)), total((1, g), (-1, h))
        if name == "similarity":  # of the gradients less their mean
            change = total((1, change), (-1, mean(file, change)))
        return total((constant**2, square(file, apart)), (-1, square(file, change)))
    x, g, value = shared(file, one["at"])
    slope, own = square(file, mean(file, g)), square(file, g)
    if name == "infimum":
        counts, classes = file["counts"], file["classes"]
        L = sum(count * each["L"] for count, each in zip(counts, classes)) / sum(counts)
        assert constant >= (classes[-1]["L"] if len(classes) > len(counts) + 1 else L) > 0
        return total((1, value), (-1 / (2 * constant), slope))
    if name == "polyak lojasiewicz":
        return total((1, slope), (-2 * constant, value))
    if name == "bounded dissimilarity":
        assert not (zeta and file["solution"]), "gradients there need not be 0"
        unlike = form(file, total((0, file["psi"]["blocks"])), zeta=zeta**2)
        return total((constant**2, slope), (-1, own), (1, unlike))
    assert file["solution"]  # and quasi strong convexity
    along = square(file, total((1, mean(file, g)), (1, x)))
    along = total((Fraction(1, 2), along), (-Fraction(1, 2), slope))
    return total((1, along), (-(1 + constant) / 2, square(file, x)), (-1, value))


def lost(file, message):
    """Return a bound on the square of what messages of a class lose, less the square."""
    (law,) = set(message) & set(LAWS)
    kind, counts = message["class"], file["counts"]
    own = file["classes"][kind]
    parts, noise = {"contraction": 1 - own["alpha"], "noise": own["omega"]}, file.get("noise", {})
    if law == "sample":
        parts["sample"] = noise["relative"]
        resting, known = at_solution(file, message), len(file["psi"]["values"])
        asked = [e["gradient"] for e in file["evaluations"][:known] if e["class"] == kind]
        assert resting or message["vector"] in asked, "a sample of no gradient"
        assert resting or "at" in message or not noise.get("gap")
        assert "expected" not in noise or resting
        assert not (file["solution"] and noise["relative"]), "gradients there need not be 0"
    if law == "difference":  # of the noises of one sample at two points, whose distance is given
        parts["difference"] = 0 if "at" in message else noise["difference"] ** 2
        points = [e["point"] for e in file["evaluations"] if not any(map(any, e["point"][1:]))]
        points = points if file["solution"] else points[: len(file["psi"]["values"])]
        distances = (total((1, x), (-1, y)) for x in points for y in points)
        assert "at" in message or (len(counts) == 1 and message["vector"] in distances)
        if "with" in message:
            starts = starts_of(file, message)
            assert not any(any(v[start:]) for v, start in zip(message["vector"], starts))
    own_shares = shares(file, kind)
    triples = zip(own_shares, message["vector"], message[law], strict=True)
    blocks = [total((s * parts[law], product(v, v)), (-s, product(w, w))) for s, v, w in triples]
    found = form(file, blocks, variance=own_shares[0] * (law == "sample"))
    if "at" in message:  # the variance, or the change from that at the solution, grows with f - f*
        assert len(counts) == 1
        (point,), (gradient,), value = shared(file, message["at"])
        assert message["vector"] == (gradient if law == "sample" else point)
        first = file["messages"][message["with"]] if "with" in message else message
        assert law == "sample" or at_solution(file, first)
        found = total((1, found), (2 * noise["gap" if law == "sample" else "expected"], value))
    return found


def at_solution(file, message):
    """Whether a noise is that at the solution, as all are compared with it, or its change."""
    there = "expected" in file["noise"] and not any(map(any, message["vector"]))
    return file["solution"] and ("difference" in message or there)


def smooth(file, one):
    """Return 2 A (f(x) - f(y) - <grad f(y), x - y>) - |change|^2 of one sample at two points."""
    first, last = own = [file["messages"][number] for number in one["between"]]
    assert len({m.get("with", number) for m, number in zip(own, one["between"])}) == 1
    ((x,), _, f), ((y,), (slope,), h) = (shared(file, each["at"]) for each in (first, last))
    assert (x, y) == (first["vector"], last["vector"])
    along = total((0, file["psi"]["blocks"]))
    along[0] = product(slope[0], total((1, x[0]), (-1, y[0])))
    change = total((1, first["difference"]), (-1, last["difference"]))
    bregman = total((1, f), (-1, h), (-1, form(file, along)))
    return total((2 * file["noise"]["expected"], bregman), (-1, square(file, [change])))


def joint(file, message):
    """Return omega_joint (1/n) sum_i |v_i|^2 - |mean noise|^2 for clients that draw together."""
    assert (len(file["counts"]), message["class"]) == (1, 0)
    sent = square(file, [message["vector"]])
    return total((file["omega_joint"], sent), (-1, square(file, mean(file, [message["noise"]]))))


def inequality(file, one):
    """Return a form that is at least 0."""
    if "assumption" in one:
        return assumed(file, one)
    if "between" in one:
        return smooth(file, one)
    if "message" in one:
        message = file["messages"][one["message"]]
        return joint(file, message) if one["joint"] else lost(file, message)
    kind, own = one["class"], file["classes"][one["class"]]
    if "steps" in one:  # ratio |v|^2 - |w|^2 of the gradients before and after local steps
        ratio, pairs = shortening(file, one, one["steps"]), zip(one["vector"], one["error"])
        blocks = [total((ratio, product(v, v)), (-1, product(w, w))) for v, w in pairs]
        return form(file, [total((s, block)) for s, block in zip(shares(file, kind), blocks)])
    (x, g, a), (y, h, b) = (end(file, kind, one[name]) for name in ("from", "to"))
    mu = own["mu"]
    # f(x) - f(y) - <h, x - y> - (mu/2) |x - y|^2 - |g - h - mu (x - y)|^2/(2 (L - mu))
    blocks, apart, part = [], total((1, x), (-1, y)), -1 / (2 * (own["L"] - mu))
    turned = total((1, g), (-1, h), (-mu, apart))
    for s, d, v, w in zip(shares(file, kind), apart, h, turned, strict=True):
        parts = (-s, product(v, d)), (-s * mu / 2, product(d, d)), (s * part, product(w, w))
        blocks.append(total(*parts))
    return form(file, blocks, total((1, a), (-1, b)))


def vanishing(file, one):
    """Return a form that is 0 in the mean, of a noise of messages or of sampled gradients."""
    message, counts = file["messages"][one["message"]], file["counts"]
    (law,) = set(message) & (LAWS - {"contraction"})
    noise, kind, blocks = message[law], message["class"], total((0, file["psi"]["blocks"]))
    alone = law != "noise" or "omega_joint" not in file
    count = counts[kind] if kind < len(counts) else 1
    if "together" in one:  # both noises of a sample, of two clients
        first = file["messages"][message["with"]]["sample"]
        assert count > 1
        blocks[0] = total((count - count**2, product(noise[0], first[0])))
        blocks[1 + kind] = product(noise[1 + kind], first[1 + kind])
        return form(file, blocks)
    if "known" not in one:  # clients draw independently: E sum_i |w_i|^2 = E |sum_i w_i|^2
        assert alone
        assert count > 1
        blocks[0] = total((count - count**2, product(noise[0], noise[0])))
        blocks[1 + kind] = product(noise[1 + kind], noise[1 + kind])
        return form(file, blocks)
    place, known = one["block"], one["known"]  # orthogonal to what was known before it was drawn
    assert any(noise[place])
    assert not any(known[noise[place].index(1) :])
    assert "with" not in message or before(file, message, place, known)
    assert place == 0 or (place == kind + 1 and count > 1)
    assert alone or len(counts) == 1
    blocks[place] = product(noise[place], known)
    return form(file, blocks)


def starts_of(file, message):
    """Return the places of the first noise of a sample, in all blocks."""
    (first,) = (each for law, each in file["messages"][message["with"]].items() if law in LAWS)
    return [w.index(1) if any(w) else len(w) for w in first]


def before(file, message, place, known):
    """Whether what is known was known before a sample, or is a gradient at a point that was."""
    starts = starts_of(file, message)
    earlier = [
        one["gradient"][place]
        for one in file["evaluations"]
        if not any(any(x[start:]) for x, start in zip(one["point"], starts, strict=True))
    ]
    return known in earlier or not any(known[starts[place] :])


def require_sense(file):
    """Assert that constants are some, and that each unknown is met after what it depends on."""
    assert len(file["measure"]) < 2
    assert min(file["e"], file["d"], file["growth"], file["expected"]["variance"]) >= 0
    assert file["psi"]["variance"] == 0, "Psi is of a state"
    noisy = "noise" in file or file["e"] == file["expected"]["variance"] == 0
    assert noisy, "a variance of gradients without noise"
    assert file["d"] == 0 or any("zeta" in one for one in file["assumptions"]), "d without zeta"
    assert max((one.get("zeta", 0) for one in file["assumptions"]), default=0) in {0, 1}
    assert min(file.get("omega_joint", 0), *file.get("noise", {0: 0}).values()) >= 0
    assert set(file.get("noise", {})) <= NOISE, "a constant of noise has another name"
    for one in file["assumptions"]:
        assert set(one) - {"zeta"} in [{name} for name in ASSUMED], "an assumption has another name"
        assert min(one.values()) >= 0
    names = {name for one in file["assumptions"] for name in one}
    convex = file["solution"] and "quasi strong convexity" not in names
    of_g = any(one.get("class") == len(file["counts"]) for one in used(file))
    grows = any(file.get("noise", {}).get(name, 0) > 0 for name in ("relative", "gap"))
    known = names <= OF_CHANGES and not grows and not file["measure"]
    assert not of_g or known, "not known at a solution of f + g"
    for one in file["classes"]:
        assert one["mu"] < one["L"] > 0 <= one["omega"], "constants"
        assert 0 <= one["alpha"] <= 1, "constants"
        assert one["mu"] >= 0 or not convex, "constants"
    losses = [(one, one[law]) for one in file["messages"] for law in set(one) & set(LAWS)]
    assert len(losses) == len(file["messages"])
    drawn = [(one["class"], unknown, [one["vector"]]) for one, unknown in losses]
    drawn += [
        (one["class"], one["steps"]["end"], local_end(file, one, one["steps"]))
        for one in local_solves(file)
    ]
    state, count = [file["psi"], file.get("start", file)["psi"]], len(file["psi"]["values"])
    for places in file["measure"].values():
        state.append(file["psi"] | {"values": [j in places for j in range(count)]})
    require_fresh(file, drawn, state)
    pairs = [(one["class"], one["with"]) for one in file["messages"] if "with" in one]
    about = "expected" in file.get("noise", {})  # noises are compared with that at the solution
    assert about or len(set(pairs)) == len(pairs), "a sample at more than two points"
    firsts = [file["messages"][i] for _, i in pairs]
    assert all("sample" in one or (about and "at" in one and "with" not in one) for one in firsts)
    assert all(file["messages"][i]["class"] == kind for kind, i in pairs)


def proved(file, left, known, equalities=()):
    """Whether a form minus multiples is a sum of squares without a function value."""
    terms = [(-one["multiplier"], inequality(file, one)) for one in known]
    terms += [(-one["multiplier"], vanishing(file, one)) for one in equalities]
    blocks, values, *constants = total((1, left), *terms)
    return not any(values) and min(constants) >= 0 and all(map(positive, blocks))


def plain(file, form):
    """Whether a form is a sum of squares and values, each at least what the solution says of it."""
    values, known = form[1], len(form[1])
    terms = [
        {"multiplier": value, "class": one["class"], "from": [j], "to": [known + one["class"]]}
        for j, (value, one) in enumerate(zip(values, file["evaluations"]))
        if value
    ]
    return file["solution"] and min(values, default=0) >= 0 and proved(file, form, terms)


def check(file):
    """Return why a file proves nothing, or an empty text."""
    file = opened(file)
    require_sense(file)
    starting = file["start"]["inequalities"] if file["solution"] and file["measure"] else []
    psi, after = (form(file, file[at]["blocks"], file[at]["values"]) for at in ("psi", "expected"))
    nothing, variance = total((0, psi[0])), file["expected"]["variance"]
    reasons = {
        "a multiplier is negative": all(one["multiplier"] >= 0 for one in used(file)),
        "Psi is 0, of which nothing follows": psi != form(file, nothing),
        "Psi has a negative part": proved(file, psi, file["below"]),
        "E[Psi+] has a negative part": plain(file, after) or not plain(file, psi),
    }
    measured = psi
    for name, places in file["measure"].items():
        x, g, value = shared(file, places)
        measured = {"at": value, "slope at": square(file, mean(file, g))}[name]
    spent = form(file, nothing, variance=file["e"] - variance, zeta=file["d"])
    left = total((1 + file["growth"], psi), (-1, after), (-file["c"], measured), (1, spent))
    reasons["what is left has function values or is no sum of squares"] = proved(
        file, left, file["inequalities"], file["equalities"]
    )
    if file["solution"] and file["measure"]:
        rest = form(file, file["start"]["psi"]["blocks"], file["start"]["psi"]["values"])
        apart = total((1, square(file, x)), (-1, rest))
        reasons["Psi at rest about x may be larger than |x - x*|^2"] = proved(file, apart, starting)
    return next((reason for reason, holds in reasons.items() if not holds), "")


def told(file):
    """Return the promise, and which functions and messages it is about, by its own numbers."""
    file = numbers(file)
    (name,) = file["measure"] or ["Psi"]
    measure = {"at": "(f(x) - f*)", "slope at": "|grad f(x)|^2", "Psi": "Psi"}[name]
    noise = f" + {file['e']} sigma^2" if "noise" in file else ""
    noise += f" + {file['d']} zeta^2" * any("zeta" in one for one in file["assumptions"])
    counts, words = file["counts"], []
    known_of = {one["class"] for one in used(file) if "class" in one}
    lossy = {one["class"] for one in file["messages"] if "contraction" in one}
    noisy = {one["class"] for one in file["messages"] if "noise" in one}
    names = [f"{count} client{'s' * (count > 1)}" for count in counts]
    names += ["g and the server" if len(counts) in known_of else "the server", "the average"]
    for kind, own in enumerate(file["classes"]):
        known = {"mu": own["mu"], "L": own["L"]} if kind != len(counts) or kind in known_of else {}
        parts = {
            "alpha": own["alpha"] < 1 and kind in lossy,
            "omega": own["omega"] > 0 and kind in noisy,
        }
        known |= {name: own[name] for name, is_told in parts.items() if is_told}
        if known:
            words.append(f"{names[kind]} with " + ", ".join(f"{n} = {x}" for n, x in known.items()))
    for one in file["assumptions"]:
        words += [f"{name} with {constant}" for name, constant in one.items() if name != "infimum"]
    if min(own["mu"] for own in file["classes"]) <= 0:
        words.append("f has a minimiser" if file["solution"] else "f is bounded from below")
    if "omega_joint" in file:
        words.append(f"messages that are drawn jointly with omega_joint = {file['omega_joint']}")
    if "noise" in file:
        parts = (f"{name} {x}" for name, x in file["noise"].items())
        words.append(f"sampled gradients with noise: {', '.join(parts)}")
    rest = ", and Psi <= |x - x*|^2 in the state at rest about x,"
    start = rest * bool(file["solution"] and file["measure"])
    more = f"(1 + {file['growth']}) " * bool(file["growth"])
    promise = f"{more}Psi - {file['c']} {measure}"
    if name == "Psi" and not more:
        promise = f"(1 - {file['c']}) Psi"
    return f"E[Psi+] <= {promise}{noise}{start} for {'; '.join(words)}"


def of_local_steps(file):
    """Return what is assumed of local steps, by the numbers of the file."""
    words = "local steps are {number} steps of size {size} on {share} f_i plus a quadratic of "
    words += "curvature {ridge}, with the gradients of the file"
    accurate = ", and end where |gradient|^2 <= {ratio} |gradient without the pull {pull}|^2"
    solves = [one["steps"] for one in local_solves(file)]
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
    main(
        check,
        "proof",
        told,
        "Psi (also in the state at rest about x), E[Psi+], what is evaluated and sent, and x are",
        of_local_steps,
    )
