"""Check a descent that certibit has written: python check_descent.py FILE.

The file has one step of a method on unknown vectors, as in check_certificate.py, which has to lie
beside this file. What is checked: no multiplier of an inequality is negative, and the forms

    Psi - E[Psi+] - c M + e sigma^2 + d zeta^2,    Psi,    |x - x*|^2 - Psi at the start of a run

(the last where functions have a solution and M is not Psi) minus multiples of inequalities and, in
the first, of what is 0 in the mean, have no function value and are sums of squares. Random vectors
have <u, v> = E<u, v>. Inequalities and what is 0 are built here, of functions, of their average, of
messages and of sampled gradients. f - f* is f - inf f where there is no solution, and zeta, a bound
of how much clients differ, is any number.
"""

from fractions import Fraction

from check_certificate import end, main, numbers, opened, positive, product, total
from check_certificate import require_fresh as fresh

LAWS = {"contraction", "noise", "sample", "difference"}
NOISE = {"relative", "gap", "difference", "expected"}
ASSUMED = {"infimum", "polyak lojasiewicz", "quasi strong convexity"}
ASSUMED |= {"mean smoothness", "similarity", "bounded dissimilarity"}


def form(file, blocks, values=None, variance=0, zeta=0):
    """Return blocks with coefficients of the function values, of sigma^2 and of zeta^2."""
    return [blocks, values or [0] * len(file["psi"]["values"]), variance, zeta]


def square(file, own):
    """Return (1/n) sum_i |v_i|^2 of the vectors of the classes, each in all blocks."""
    counts, found = file["counts"], []
    for kind, v in enumerate(own):
        shares = [counts[kind], *(int(kind == i) for i in range(len(counts)))]
        found.append([total((Fraction(s, sum(counts)), product(b, b))) for s, b in zip(shares, v)])
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
    n = sum(counts)
    count = counts[kind] if kind < len(counts) else n
    shares = [count, *(int(kind == i) for i in range(len(counts)))]
    pairs = zip(shares, message["vector"], message[law], strict=True)
    blocks = [
        total((s * parts[law] / n, product(v, v)), (-Fraction(s, n), product(w, w)))
        for s, v, w in pairs
    ]
    found = form(file, blocks, variance=Fraction(count, n) * (law == "sample"))
    if "at" in message:  # the variance, or the change from that at the solution, grows with f - f*
        assert counts == [n]
        (point,), (gradient,), value = shared(file, message["at"])
        assert message["vector"] == (gradient if law == "sample" else point)
        first = file["messages"][message["with"]] if "with" in message else message
        assert law == "sample" or at_solution(file, first)
        found = total((1, found), (2 * noise["gap" if law == "sample" else "expected"], value))
    return found


def at_solution(file, message):
    """Whether a noise is that at the solution, or compared with it."""
    return file["solution"] and ("difference" in message or not any(map(any, message["vector"])))


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
    kind, counts, own = one["class"], file["counts"], file["classes"][one["class"]]
    assert kind != len(counts)  # there is no g
    (x, g, a), (y, h, b) = (end(file, kind, one[name]) for name in ("from", "to"))
    known, mu = len(a), own["mu"]
    if not file["solution"]:
        assert max(*one["from"], *one["to"]) < known
    # f(x) - f(y) - <h, x - y> - (mu/2) |x - y|^2 - |g - h - mu (x - y)|^2/(2 (L - mu))
    shares = [counts[kind] if kind < len(counts) else sum(counts)]
    shares += [int(kind == i) for i in range(len(counts))]
    blocks, apart = [], total((1, x), (-1, y))
    for s, d, v, w in zip(shares, apart, h, total((1, g), (-1, h), (-mu, apart)), strict=True):
        parts = (
            (-1, product(v, d)),
            (-mu / 2, product(d, d)),
            (-1 / (own["L"] - mu) / 2, product(w, w)),
        )
        blocks.append(total((Fraction(s, sum(counts)), total(*parts))))
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
    assert max((one.get("zeta", 0) for one in file["assumptions"]), default=0) in {0, 1}
    assert min(file.get("omega_joint", 0), *file.get("noise", {0: 0}).values()) >= 0
    assert set(file.get("noise", {})) <= NOISE, "a constant of noise has another name"
    for one in file["assumptions"]:
        assert set(one) - {"zeta"} in [{name} for name in ASSUMED], "an assumption has another name"
        assert min(one.values()) >= 0
    for one in file["classes"]:
        assert one["mu"] < one["L"] > 0 <= one["omega"]
        assert 0 <= one["alpha"] <= 1
    losses = [(one, one[law]) for one in file["messages"] for law in set(one) & set(LAWS)]
    assert len(losses) == len(file["messages"])
    drawn = [(one["class"], unknown, [one["vector"]]) for one, unknown in losses]
    state, count = [file["psi"], file.get("start", file)["psi"]], len(file["psi"]["values"])
    for places in file["measure"].values():
        state.append(file["psi"] | {"values": [j in places for j in range(count)]})
    fresh(file, drawn, state)
    pairs = [(one["class"], one["with"]) for one in file["messages"] if "with" in one]
    about = "expected" in file.get("noise", {})  # noises are compared with that at the solution
    assert about or len(set(pairs)) == len(pairs), "a sample at more than two points"
    firsts = [file["messages"][i] for _, i in pairs]
    assert all("sample" in one or (about and "at" in one and "with" not in one) for one in firsts)
    assert all(file["messages"][i]["class"] == kind for kind, i in pairs)


def proved(file, left, used, equalities=()):
    """Whether a form minus multiples is a sum of squares without a function value."""
    terms = [(-one["multiplier"], inequality(file, one)) for one in used]
    terms += [(-one["multiplier"], vanishing(file, one)) for one in equalities]
    blocks, values, *constants = total((1, left), *terms)
    signs = all(one["multiplier"] >= 0 for one in used)
    return signs and not any(values) and min(constants) >= 0 and all(map(positive, blocks))


def check(file):
    """Return why a file proves no descent, or an empty text."""
    file = opened(file)
    require_sense(file)
    psi, after = (form(file, file[at]["blocks"], file[at]["values"]) for at in ("psi", "expected"))
    after[2], measured = file["expected"]["variance"], psi
    for name, places in file["measure"].items():
        x, g, value = shared(file, places)
        measured = {"at": value, "slope at": square(file, mean(file, g))}[name]
    noise = form(file, total((0, psi[0])), variance=file["e"], zeta=file["d"])
    left = total((1 + file["growth"], psi), (-1, after), (-file["c"], measured), (1, noise))
    if not proved(file, left, file["inequalities"], file["equalities"]):
        return "the descent is not proved"
    if not proved(file, psi, file["below"]):
        return "Psi may be negative"
    if not (file["measure"] or any(psi[1]) or any(any(map(any, block)) for block in psi[0])):
        return "Psi is 0, of which nothing follows"
    if file["solution"] and file["measure"]:
        rest = form(file, file["start"]["psi"]["blocks"], file["start"]["psi"]["values"])
        apart = total((1, square(file, x)), (-1, rest))
        if not proved(file, apart, file["start"]["inequalities"]):
            return "Psi at the start may be larger than |x - x*|^2"
    return ""


def told(file):
    """Return the promise, and which functions and messages it is about, by its own numbers."""
    file = numbers(file)
    (name,) = file["measure"] or ["Psi"]
    measure = {"at": "(f(x) - f*)", "slope at": "|grad f(x)|^2", "Psi": "Psi"}[name]
    noise = f" + {file['e']} sigma^2" if "noise" in file else ""
    noise += f" + {file['d']} zeta^2" * any("zeta" in one for one in file["assumptions"])
    words, counts = [], file["counts"]
    for kind, own in enumerate(file["classes"]):
        names = *(f"{count} clients" for count in counts), "the server", "the average"
        parts = {"alpha": own["alpha"] < 1, "omega": own["omega"] > 0}
        known = {"mu": own["mu"], "L": own["L"]} if kind != len(counts) else {}
        known |= {name: own[name] for name, used in parts.items() if used}
        if known:
            words.append(f"{names[kind]} with " + ", ".join(f"{n} = {x}" for n, x in known.items()))
    for one in file["assumptions"]:
        words += [f"{name} with {constant}" for name, constant in one.items() if name != "infimum"]
    words.append("f has a minimiser" if file["solution"] else "f is bounded from below")
    if "omega_joint" in file:
        words.append(f"messages that are drawn jointly with omega_joint = {file['omega_joint']}")
    if "noise" in file:
        parts = (f"{name} {x}" for name, x in file["noise"].items())
        words.append(f"sampled gradients with noise: {', '.join(parts)}")
    start = ", and Psi <= |x - x*|^2 at the start," * bool(file["solution"] and file["measure"])
    more = f"(1 + {file['growth']}) " * bool(file["growth"])
    return f"E[Psi+] <= {more}Psi - {file['c']} {measure}{noise}{start} for {'; '.join(words)}"


if __name__ == "__main__":
    main(
        check,
        "descent",
        told,
        "Psi (also at the start), E[Psi+], what is evaluated and sent, and x are",
    )
