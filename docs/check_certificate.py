"""Check a certificate that bitbound has written: python check_certificate.py FILE.

It needs the standard library only and computes with fractions. The file has one step of a method on
unknown vectors: Psi and E[Psi+] as quadratic forms, the points at which gradients are evaluated,
and multipliers. What is checked: Psi >= 0, no multiplier is negative, and

    (1 - decrease) Psi - E[Psi+] - sum of multipliers times inequalities

has no function value left and is a sum of squares. The inequalities, which all mu-strongly convex
and L-smooth functions and all contractive compressors satisfy, are built here. That the forms are
those of the method is taken from the file. A form has one block of vectors that the clients of each
class share, and one for each class of vectors whose sum over it is 0.
"""

import json
import sys
from fractions import Fraction


def product(u, v):
    """Return the symmetric matrix of <u, v>."""
    return [[(a * d + b * c) / 2 for c, d in zip(u, v)] for a, b in zip(u, v)]


def add(total, factor, matrix):
    """Add a multiple of a matrix, or of a vector, in place."""
    for i, entry in enumerate(matrix):
        if isinstance(entry, list):
            add(total[i], factor, entry)
        else:
            total[i] += factor * entry


def positive(matrix):
    """Whether a symmetric matrix is a sum of squares: no negative pivot in L D L'."""
    left = [list(row) for row in matrix]
    for k, row in enumerate(left):
        if row[k] < 0 or (row[k] == 0 and any(row[k + 1 :])):
            return False
        for below in left[k + 1 :] if row[k] else []:
            factor = below[k] / row[k]
            for j in range(k, len(left)):
                below[j] -= factor * row[j]
    return True


def reduced(matrix, basis):
    """Return the matrix of a form on the span of some vectors."""
    images = [[sum(a * b for a, b in zip(row, v) if b) for row in matrix] for v in basis]
    return [[sum(a * b for a, b in zip(w, u) if b) for w in images] for u in basis]


def numbers(entry):
    """Return the fractions that strings in lists and mappings stand for."""
    if isinstance(entry, list):
        return [numbers(x) for x in entry]
    if isinstance(entry, dict):
        return {key: numbers(x) for key, x in entry.items()}
    return Fraction(entry) if isinstance(entry, str) else entry


class Inequalities:
    """What is at least 0, by name: pairs of blocks and coefficients of function values."""

    def __init__(self, file):
        self.classes, self.shared = numbers(file["classes"]), numbers(file["shared"])
        self.evaluations = [{**one, "point": numbers(one["point"])} for one in file["evaluations"]]
        self.contractions = {one["name"]: one for one in file["contractions"]}
        self.n, self.size = sum(one["count"] for one in self.classes), len(file["unknowns"])

    def of(self, name):
        """Build one."""
        if name in self.contractions:
            return self.contraction(self.contractions[name])
        function, ends = name.split(": ")
        a, b = (self.end(function, end) for end in ends.split(" to "))
        kind = self.kind_of(function)
        own, counts = self.summed_over(kind)
        mu, L = own["mu"], own["L_f" if function == "average" else "L"]
        blocks = []
        for count, x, g, y, h in zip(counts, a[0], a[1], b[0], b[1]):
            u = [p - mu * q for p, q in zip(g, x)]
            v = [p - mu * q for p, q in zip(h, y)]
            block = product(v, [p - q for p, q in zip(x, y)])
            difference = [p - q for p, q in zip(u, v)]
            add(block, 1 / (2 * (L - mu)), product(difference, difference))
            blocks.append([[-entry * count / self.n for entry in row] for row in block])
        return blocks, [p - q for p, q in zip(a[2], b[2])]

    def kinds(self):
        """Return the numbers of the classes."""
        return range(len(self.classes))

    def summed_over(self, kind):
        """Return the constants of a class, or of what is shared (-1), and how a block counts."""
        own = self.shared if kind < 0 else self.classes[kind]
        return own, [own.get("count", self.n), *(int(c == kind) for c in self.kinds())]

    def kind_of(self, function):
        """Return the class of a function, -1 for what all clients share."""
        if function in {"g", "average"}:
            return -1
        return next(e["class"] for e in self.evaluations if e["function"] == function)

    def unit(self, place, factor=Fraction(1)):
        """Return a multiple of an unknown."""
        return [factor * (i == place) for i in range(self.size)]

    def end(self, function, end):
        """Return point, gradient and function values at a point or at the solution."""
        zeros = [[Fraction(0)] * self.size for _ in range(1 + len(self.classes))]
        values = [Fraction(0)] * len(self.evaluations)
        if end == "solution":
            return zeros, zeros, values
        number = int(end.removeprefix("point "))
        here = self.evaluations[number]
        if function != "average":
            assert here["function"] == function
            values[number] = Fraction(1)
            own = [self.unit(here["gradient"], Fraction(c == here["class"])) for c in self.kinds()]
            return here["point"], [self.unit(here["gradient"]), *own], values
        gradient = list(zeros[0])
        for kind, one in enumerate(self.classes):
            place = next(
                i
                for i, e in enumerate(self.evaluations)
                if e["class"] == kind and e["point"] == here["point"]
            )
            assert not any(map(any, here["point"][1:]))
            values[place] = Fraction(1)
            gradient[self.evaluations[place]["gradient"]] += Fraction(one["count"], self.n)
        return here["point"], [gradient, *zeros[1:]], values

    def contraction(self, one):
        """(1 - alpha) |v|^2 - |C(v) - v|^2 over the clients of a class, or of the server (-1)."""
        own, counts = self.summed_over(one["class"])
        blocks = []
        for count, vector in zip(counts, numbers(one["vector"])):
            block = product(vector, vector)
            block = [[(1 - own["alpha"]) * count * entry for entry in row] for row in block]
            block[one["error"]][one["error"]] -= count
            blocks.append(block)
        return blocks, [Fraction(0)] * len(self.evaluations)


def check(file):
    """Return why a certificate proves nothing, or an empty text."""
    inequalities, multipliers = Inequalities(file), numbers(file["multipliers"])
    psi, after = numbers(file["psi"]), numbers(file["expected_psi_after"])
    if any(value < 0 for value in multipliers.values()):
        return "a multiplier is negative"
    if min(psi["values"], default=0) < 0 or not all(
        map(positive, map(reduced, psi["blocks"], numbers(file["spans"])))
    ):
        return "Psi has a negative part"
    left = [[[0 * x for x in row] for row in block] for block in psi["blocks"]]
    values = [0 * x for x in psi["values"]]
    terms = [(1 - Fraction(file["decrease"]), psi), (Fraction(-1), after)]
    for factor, form in terms:
        add(left, factor, form["blocks"])
        add(values, factor, form["values"])
    for name, value in multipliers.items():
        blocks, at = inequalities.of(name)
        add(left, -value, blocks)
        add(values, -value, at)
    if any(values):
        return "a function value is left"
    if not all(map(positive, map(reduced, left, numbers(file["spans"])))):
        return "what is left is no sum of squares"
    return ""


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as opened:
        given = json.load(opened)
    reason = check(given)
    print(reason or f"proved: {given['claim']}")
    sys.exit(1 if reason else 0)
