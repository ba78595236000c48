"""Whether what the file of a proof states is false of quadratics: f_i(x) = (h_i/2) x^2 + b_i x.

It shares nothing with the checkers. The vectors of the file are rows of numbers on the unknowns of
the state: gradients h_i x_i + b_i, errors of contractions sqrt(1 - alpha) v or its opposite, ends
of local steps after the steps. So Psi, E[Psi+] and the measure are matrices, of one dimension.
"""

from fractions import Fraction
from itertools import product

import numpy as np

ROUNDING = 1e-9


def refuted(file):
    """Whether one of some quadratics of the printed constants contradicts what is proved."""
    choices = product((0.0, 1.0, 0.3, None), (1, -1))
    return any(_Quadratics(file, part, sign).contradict() for part, sign in choices)


def _array(entry):
    return np.array([float(Fraction(x)) for x in entry])


class _Quadratics:
    def __init__(self, file, part, sign):
        self.file, self.sign, self.counts = file, sign, file["counts"]
        self.classes = [
            {name: float(Fraction(x)) for name, x in one.items()} for one in file["classes"]
        ]
        self.kind = np.repeat(np.arange(len(self.counts)), self.counts)
        n, sizes = len(self.kind), [len(block) for block in file["psi"]["blocks"]]
        ends = [(self.classes[k]["mu"], self.classes[k]["L"]) for k in self.kind]
        parts = np.linspace(0, 1, n) if part is None else np.full(n, part)
        self.h = np.array([a + t * (b - a) for t, (a, b) in zip(parts, ends, strict=True)])
        if self.h.mean() < 0:
            self.h = self.h - self.h.min() * (self.h < 0)  # f is bounded from below
        free = sizes[0] + n * sum(sizes[1:]) + n
        rows, at = np.eye(free), sizes[0]
        self.mean, self.apart = rows[:at].copy(), []
        for k, size in enumerate(sizes[1:]):
            own = np.zeros((size, n, free))
            for j in range(size):
                own[j] = self._centred(rows[at : at + n], k)
                at += n
            self.apart.append(own)
        self.b = np.zeros((n, free))
        for k in range(len(self.counts)):  # that of the mean is 0, so that the solution is
            self.b += self._centred(rows[at : at + n], k)
        self.b *= not file["solution"]
        for _, meet in sorted(self._events(), key=lambda event: event[0]):
            meet()

    def _centred(self, rows, kind):
        own = (self.kind == kind)[:, None]
        return own * (rows - (own * rows).sum(axis=0) / own.sum())

    def of(self, vector):
        """Return a vector of all clients, (n, unknowns); blocks of other classes are left out."""
        shared = _array(vector[0]) @ self.mean
        found = np.tile(shared, (len(self.kind), 1))
        for entries, own in zip(vector[1:], self.apart, strict=True):
            found += np.einsum("j,jnf->nf", _array(entries), own)
        return found

    def meet(self, unknown, kind, rows):
        """Give an unknown of a class its rows."""
        own = self.kind == kind if kind < len(self.counts) else np.ones_like(self.kind, bool)
        mean = rows[own].mean(axis=0)
        self.mean[unknown[0].index("1")] = mean
        if kind < len(self.counts) and "1" in unknown[kind + 1]:
            self.apart[kind][unknown[kind + 1].index("1")] = own[:, None] * (rows - mean)

    def _events(self):
        file = self.file
        curve = np.append(self.h, 0.0)
        for one in file["evaluations"]:
            kind = one["class"]
            h = curve[:-1] if kind < len(self.counts) else np.full(len(self.h), self._of_g())
            b = self.b if kind < len(self.counts) else 0.0

            def gradient(one=one, h=h, b=b):
                rows = h[:, None] * self.of(one["point"]) + b
                self.meet(one["gradient"], one["class"], rows)

            yield one["gradient"][0].index("1"), gradient
        losses = [(one, "error") for one in file["inequalities"] if "steps" in one]
        losses += [(one, "contraction") for one in file["messages"]]
        for one, name in losses:

            def error(one=one, name=name):
                size = self.sign * np.sqrt(1 - self.classes[one["class"]]["alpha"])
                self.meet(one[name], one["class"], size * self.of(one["vector"]))

            def steps(one=one):
                self._solve(one, one["steps"])

            unknown = one["steps"]["end"] if "steps" in one else one[name]
            yield unknown[0].index("1"), steps if "steps" in one else error

    def _of_g(self):
        own = self.classes[len(self.counts)]
        return own["mu"] if self.sign > 0 else own["L"]

    def _solve(self, one, steps):
        share, ridge, size = (float(Fraction(steps[name])) for name in ("share", "ridge", "size"))
        assert Fraction(steps["pull"]) == 0
        h = share * self.h + ridge
        change = ((1 - size * h) ** steps["number"] - 1) / h
        first = self.of(self.file["evaluations"][steps["from"][0]]["point"])
        last = first + change[:, None] * self.of(one["vector"])
        end, point = steps["end"], self.file["evaluations"][steps["to"][0]]["point"]
        rest = [
            [str(Fraction(x) - Fraction(u)) for x, u in zip(a, b, strict=True)]
            for a, b in zip(point, end, strict=True)
        ]
        self.meet(end, one["class"], last - self.of(rest))

    def form(self, form):
        """Return a form of the file as a matrix."""
        own = np.array([_array(row) for row in form["blocks"][0]])
        found = self.mean.T @ own @ self.mean
        for rows, block in zip(self.apart, form["blocks"][1:], strict=True):
            if block:
                own = np.array([_array(row) for row in block])
                found = found + np.einsum("inf,ij,jng->fg", rows, own, rows)
        for place, weight in enumerate(form["values"]):
            found = found + float(Fraction(weight)) * self.value([place])
        return found

    def value(self, places):
        """Return f - f* of some classes."""
        found = 0.0
        for one in (self.file["evaluations"][place] for place in places):
            x, kind = self.of(one["point"]), one["class"]
            if kind == len(self.counts):
                found = found + self._of_g() / 2 * np.outer(x[0], x[0])
                continue
            for i in np.flatnonzero(self.kind == kind):
                part = self.h[i] / 2 * np.outer(x[i], x[i])
                part = part + (np.outer(self.b[i], x[i]) + np.outer(x[i], self.b[i])) / 2
                found = found + part / len(self.kind)
        return found

    def measure(self):
        for name, places in self.file["measure"].items():
            if name == "at":
                return self.value(places)
            slope = np.mean(
                [self.h[i] * self.of(self._at(places, i))[i] for i in range(len(self.h))], axis=0
            )
            return np.outer(slope, slope)
        return self.form(self.file["psi"])

    def _at(self, places, i):
        return self.file["evaluations"][places[self.kind[i]]]["point"]

    def contradict(self):
        psi, after = self.form(self.file["psi"]), self.form(self.file["expected"])
        growth, c = (float(Fraction(self.file[name])) for name in ("growth", "c"))
        left = (1 + growth) * psi - after - c * self.measure()
        size = max(np.abs(psi).max(), np.abs(after).max())
        return min(np.linalg.eigvalsh(m)[0] for m in (psi, left)) < -ROUNDING * (size + 1e-3)
