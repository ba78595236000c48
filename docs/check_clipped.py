"""Check a decrease of a method that clips: python check_clipped.py FILE, as certibit writes it.

It is about one step x+ = x + D on (L0, L1)-smooth functions, G = |grad f(x)|. The file has regimes,
intervals of G, perhaps with answers that noise gives. On each of them

    D = -along grad f(x) + noise - turned u - v,

where the noise is one of mean 0, length at most ``reach`` and mean square at most ``fresh``, and
one of length at most ``known``, u is a mean of unit vectors with <u, grad f(x)> >= sqrt(G^2 -
radius^2), and v has at most the length ``spread`` and <v, grad f(x)> >= toward G, as long as the
functions ``assumed`` are nonnegative. What is checked: the regimes cover all G >= 0 and all
answers, and on each of them the conditions of a bound of the growth of f along D, and then

    E f(x+) <= f(x) - c min(eta G^2, gamma G) + e sigma^2.

These are rational functions of G, and each is nonnegative on every piece between the cuts of its
interval by the signs of its Bernstein coefficients, on a half-line of those in powers of G - low.
The bounds have their proofs in theory/relaxed/growth_bounds.py. Numbers are integers, or fractions
in strings; a rational function is a pair of lists, the lowest power first.
"""

from fractions import Fraction
from itertools import pairwise
from math import comb, factorial

from check_proof import main, numbers as fractions

TERMS, FEW, LONGEST = 14, 4, 4  # as in growth_bounds.py


class Ratio:
    """A rational function of G."""

    def __init__(self, num, den=(Fraction(1),)):
        """Keep lists of coefficients, without common powers of G."""
        num, den = trimmed(num), trimmed(den)
        assert {Fraction} >= set(map(type, [*num, *den])), "a number that is rounded"
        while len(den) > 1 and den[0] == 0 and (not num or num[0] == 0):
            num, den = num[1:], den[1:]
        self.num, self.den = num, den

    def __add__(self, other):
        """Return the sum, over one of the denominators if the other one divides it."""
        other = ratio(other)
        for one, two in ((self, other), (other, self)):
            if (part := quotient(two.den, one.den)) is not None:
                return Ratio(plus(times(one.num, part), two.num), two.den)
        num = plus(times(self.num, other.den), times(other.num, self.den))
        return Ratio(num, times(self.den, other.den))

    def __mul__(self, other):
        """Return the product."""
        other = ratio(other)
        return Ratio(times(self.num, other.num), times(self.den, other.den))

    def __sub__(self, other):
        """Return the difference."""
        return self + ratio(other) * -1

    def __truediv__(self, other):
        """Return the quotient."""
        other = ratio(other)
        return Ratio(times(self.num, other.den), times(self.den, other.num))

    def __pow__(self, power):
        """Return a power, at least 0."""
        found = ratio(1)
        for _ in range(power):
            found = found * self
        return found

    def __bool__(self):
        """Whether it is not 0."""
        return bool(self.num)

    def at(self, x):
        """Return the value at a number."""
        return value(self.num, x) / value(self.den, x)

    def last(self, high):
        """Return the value at the end of an interval, or the limit at infinity."""
        if high is not None:
            return self.at(high)
        assert len(self.num) <= len(self.den), "it is not bounded"
        return self.num[-1] / self.den[-1] if len(self.num) == len(self.den) else Fraction(0)


def ratio(x):
    """Return a number as a rational function."""
    return x if isinstance(x, Ratio) else Ratio([Fraction(x)])


def trimmed(p):
    """Return coefficients without highest powers of factor 0."""
    p = list(p)
    while p and p[-1] == 0:
        p.pop()
    return p


def plus(p, q):
    """Return the sum of two polynomials."""
    length = max(len(p), len(q))
    pad = [[*one, *[Fraction(0)] * (length - len(one))] for one in (p, q)]
    return [a + b for a, b in zip(*pad, strict=True)]


def times(p, q):
    """Return the product of two polynomials."""
    found = [Fraction(0)] * max(len(p) + len(q) - 1, 0)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


def quotient(p, q):
    """Return p/q if q divides p, else None."""
    p, found = list(p), []
    while len(p) >= len(q):
        found.append(p[-1] / q[-1])
        p = plus(p, times([Fraction(0)] * (len(p) - len(q)) + [-found[-1]], q))[:-1]
    return None if any(p) else found[::-1]


def value(p, x):
    """Return a polynomial at a number, or at a polynomial."""
    found = p[:0]
    if isinstance(x, list):
        for factor in reversed(p):
            found = plus(times(found, x), [factor])
        return found
    return sum(factor * x**k for k, factor in enumerate(p))


def coefficients(p, low, high):
    """Return the Bernstein coefficients on an interval, or those in powers of G - low."""
    if low == high:
        return [value(p, low)]
    moved = value(p, [low, 1 if high is None else high - low]) or [Fraction(0)]
    if high is None:
        return moved
    n = len(moved) - 1
    own = [moved[k] / comb(n, k) for k in range(n + 1)]
    return [sum(comb(k, i) * own[i] for i in range(k + 1)) for k in range(n + 1)]


def nonnegative(one, low, high, cuts):
    """Whether a rational function is nonnegative on each piece of an interval, by signs."""
    ends = [low, *cuts, high]
    for a, b in pairwise(ends):
        if b is not None and a > b:
            return False
        below = coefficients(one.den, a, b)
        if min(below) < 0 or not (below[0] > 0 < below[-1]):
            return False
        if min(coefficients(one.num, a, b)) < 0:
            return False
    return True


def polynomial(T, factors):
    """Return the sum of factors[k] T^k."""
    found = ratio(0)
    for factor in reversed(factors):
        found = found * T + factor
    return found


def largest_ratio(top):
    """Return an upper bound of (e^T - 1 - T)/T^2 for 0 <= T <= top."""
    factors = [Fraction(1, factorial(k)) for k in range(2, TERMS + 1)]
    return value([*factors[:-1], factors[-1] / (1 - top / (TERMS + 1))], top)


def alternating(T, first, last):
    """Return an upper bound of the powers of e^-T from one on, over (-1)^first T^first."""
    assert (last - first) % 2 == 0
    powers = range(last - first + 1)
    return polynomial(T, [Fraction((-1) ** k, factorial(first + k)) for k in powers])


def growth(file, regime, length, square):
    """Return the growth of f but for <grad f(x), D>, and what has to be nonnegative for it."""
    L0, L1, name = file["L0"], file["L1"], regime["growth"]
    steep, low, high = G * L1 + L0, regime["low"], regime["high"]
    if name == "lemma-5":
        e = 1 + 1 + largest_ratio(Fraction(1))
        half = (G * ((e - 1) * L1) + 2 * L0) * Fraction(1, 2)
        return half * (length**2 if square is None else square), [ratio(1) - length * L1]
    longest = max(length.at(low), length.last(high))
    top = L1 * longest
    assert top <= LONGEST
    conditions = [ratio(longest) - length, ratio(LONGEST - top)]
    if name == "any-direction":
        return steep * (length**2 if square is None else square) * largest_ratio(top), conditions
    q = regime["part"]
    assert (name, square) == ("against-gradient", None)
    assert 0 <= q <= 1
    T, T1, most = length * L1, length * L1 * q, largest_ratio(top * (1 - q))
    Q = alternating(T1, 2, TERMS) * q**2 + alternating(T1, 1, TERMS - 1) * (q * (1 - q))
    Q = Q + alternating(T1, 0, TERMS) * (most * (1 - q) ** 2)
    if q:
        below = steep * (ratio(1) - T1 * alternating(T1, 1, 2 * FEW - 1))
        u, y = below - L0, below * T * (most * (1 - q) / 4)
        e, own = sum(Fraction(1, factorial(k)) for k in range(TERMS)), G * L1
        bound = [own ** (FEW - k) * (L0**k / factorial(k)) for k in range(FEW + 1)]
        turned = own ** (FEW + 1) / (sum(bound[1:], bound[0]) * e)
        conditions += [u - y, u - turned, u * (u - y) ** 2 - turned * (u + y) ** 2]
    return steep * length**2 * Q, conditions


def proved(file, regime):
    """Whether the decrease is proved on a regime."""
    names = "along", "known", "turned", "toward", "radius"
    along, known, turned, toward, radius = (Ratio(num, den) for num, den in map(regime.get, names))
    fresh, reach, spread = (regime[name] for name in ("fresh", "reach", "spread"))
    low, high, kink = regime["low"], regime["high"], file["gamma"] / file["eta"]
    assert min(fresh, reach, spread) >= 0
    assert fresh <= reach**2
    straight = (along,) if turned else ()
    straight += (ratio(spread) - toward,)  # or there is no such v
    assert all(nonnegative(one, low, high, []) for one in (known, turned, radius, *straight))
    length, square = along * G + known + turned + reach + spread, None
    if known or turned or toward or spread:
        square = length**2
    elif fresh or reach:
        square = (along * G) ** 2 + fresh
    excess, conditions = growth(file, regime, length, square)
    short = high is not None and high <= kink
    assert short or low >= kink
    measure = G**2 * file["eta"] if short else G * file["gamma"]
    left = along * G**2 + (toward - known) * G - excess - measure * file["c"]
    conditions += [Ratio(num, den) for num, den in regime["assumed"]]
    if turned:
        conditions.append(G - radius)
        left = (G**2 - radius**2) * turned**2 - left**2
    else:
        conditions.append(along)
        left = left + file["e"] * file["sigma"] ** 2
    asked = [*conditions, left]
    pairs = zip(asked, regime["cuts"], strict=True)
    return all(nonnegative(one, low, high, cuts) for one, cuts in pairs)


def covered(regimes):
    """Whether points and intervals follow each other from 0 to infinity, with all answers."""
    spans = {}
    for one in regimes:
        spans.setdefault((one["low"], one["high"]), []).append(tuple(one["answers"]))
    end, is_point = Fraction(0), False
    for low, high in spans:
        if low != end or (low == high) == is_point:
            return False
        end, is_point = high, low == high
    return end is None and all(map(complete, spans.values()))


def complete(answers):
    """Whether each sequence of yes and no begins with exactly one of these."""
    if answers == [()]:
        return True
    parts = [[one[1:] for one in answers if one and one[0] is yes] for yes in (False, True)]
    return () not in answers and all(map(complete, parts)) if all(parts) else False


def check(file):
    """Return why a file proves no decrease, or an empty text."""
    file = numbers(file)
    assert min(file["L0"], file["L1"], file["sigma"], file["e"]) >= 0 < file["L0"] + file["L1"]
    assert min(file["eta"], file["gamma"], file["c"]) > 0
    if not covered(file["regimes"]):
        return "the regimes do not cover all G and all answers"
    failing = [one for one in file["regimes"] if not proved(file, one)]
    return f"the decrease is not proved for G from {failing[0]['low']} on" if failing else ""


def numbers(entry):
    """Return the fractions that integers and texts stand for; answers and names stay."""
    if isinstance(entry, dict):
        words = {"growth", "answers"}
        return {key: x if key in words else numbers(x) for key, x in entry.items()}
    if isinstance(entry, list):
        return [numbers(x) for x in entry]
    return entry if entry is None else fractions(entry)


def told(file):
    """Return what is proved, by the numbers of the file."""
    noise = f" + {file['e']} sigma^2, sigma = {file['sigma']}" if Fraction(file["sigma"]) else ""
    return (
        f"E f(x+) <= f(x) - {file['c']} min({file['eta']} G^2, {file['gamma']} G){noise}, for all "
        f"f with |Hess f| <= {file['L0']} + {file['L1']} |grad f|"
    )


G = Ratio([Fraction(0), Fraction(1)])

if __name__ == "__main__":
    main(check, "decrease", told, "the regimes are")
