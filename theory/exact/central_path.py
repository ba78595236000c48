"""The best proof, found along the central path: rational numbers, whatever their conditioning.

What is left of a proof and its multipliers are at least 0. Their barrier, the sum of the logarithms
of multipliers and determinants, is largest at one proof of every decrease, its centre. From a
centre the decrease is made larger, up to next to where something is 0, then the centre of the new
decrease is found, and so on.

Only directions are floats. They are computed where what is left is the identity and all multipliers
are 1, so that no digits are lost however close a proof is to the best one. At a centre the
derivative of the barrier solves the dual programme, which bounds the decrease of all proofs.
Source: Nesterov, Nemirovskii, Interior-Point Polynomial Algorithms in Convex Programming (1994).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg
import scipy.optimize

from bitbound.theory.exact.exact_proof import RationalForm, RationalStep
from bitbound.theory.exact.rational_algebra import Rationals, Stack, ldl, whitening
from bitbound.theory.worlds.symbolic.exact_numbers import Exact
from bitbound.theory.worlds.symbolic.frames import Matrix
from bitbound.theory.worlds.symbolic.kernels import exact_kernel

CENTRED = 0.5
"""Newton decrement below which a proof counts as a centre; below 1 the dual is feasible."""

TOWARDS = 0.95
"""Part of the way to where something is 0 that is gone."""

FARTHEST = 1e3
"""Length of the longest step where nothing becomes 0."""

MOST_STEPS, HALVINGS = 400, 5
"""How many steps are taken, and how often one is halved that rounding makes too long."""

DEPENDENT = 1e-14
"""Relative length below which a direction follows from others."""


@dataclass(frozen=True, eq=False)
class StrictProof:
    """A proof that holds strictly, so that all of it may change a little.

    Attributes
    ----------
    numbers : (1 + K,)
        The decrease, then the multipliers.
    left : (k, k) matrices
        What is left, by blocks.
    """

    numbers: Rationals
    left: tuple[Rationals, ...]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A point, and what directions change in the coordinates in which it is the identity.

    Attributes
    ----------
    changes : (rows, directions)
        Of what is left, entry by entry, then of the multipliers.
    sizes : tuple of int
        Those of the blocks in these coordinates.
    """

    point: StrictProof
    changes: Matrix
    sizes: tuple[int, ...]

    def move(self, gains: Matrix) -> "Move":
        """Return what to do next; ``gains`` is what directions add to the decrease."""
        identity = np.concatenate([np.eye(size).ravel() for size in self.sizes])
        identity = np.append(identity, np.ones(len(self.changes) - len(identity)))
        norms = np.linalg.norm(self.changes, axis=0)
        norms = np.where(norms > 0, norms, 1.0)
        left, right, order = scipy.linalg.qr(self.changes / norms, mode="economic", pivoting=True)
        lengths = np.abs(np.diag(right))
        rank = int(np.sum(lengths > DEPENDENT * lengths[0]))
        left, right, order = left[:, :rank], right[:rank, :rank], order[:rank]
        up = scipy.linalg.solve_triangular(right, (gains / norms)[order], trans="T")
        inwards = left.T @ identity
        steepness = max(-float(inwards @ up) / float(up @ up), 0.0)
        newton = inwards + steepness * up
        bound = np.inf
        if steepness > 0 and np.linalg.norm(newton) < CENTRED:
            gap = (identity @ identity - float(inwards @ newton)) / steepness
            bound = float(self.point.numbers[0]) + gap
        upwards = bool(steepness == 0 or bound < np.inf)
        chosen = up / np.linalg.norm(up) if upwards else newton
        direction = np.zeros(len(norms))
        direction[order] = scipy.linalg.solve_triangular(right, chosen) / norms[order]
        return Move(direction, self._rates(left @ chosen), upwards, bound)

    def _rates(self, change: Matrix) -> Matrix:
        """Return the eigenvalues of a change, and its multipliers."""
        found, place = [], 0
        for size in self.sizes:
            block = change[place : place + size**2].reshape(size, size)
            found.append(np.linalg.eigvalsh((block + block.T) / 2))
            place += size**2
        return np.concatenate([*found, change[place:]])


@dataclass(frozen=True, eq=False)
class Move:
    """A direction, upwards or to the centre, and a bound of the decrease of all proofs.

    ``rates`` are those at which what is left and the multipliers change, from 1 on.
    """

    direction: Matrix
    rates: Matrix
    upwards: bool
    bound: float

    @property
    def length(self) -> float:
        """How far to go: next to where something is 0, or to where the barrier is largest."""
        lowest = float(self.rates.min())
        end = min(-1 / lowest if lowest < 0 else np.inf, FARTHEST)

        def slope(length: float) -> float:
            return float(np.sum(self.rates / (1 + length * self.rates)))

        if self.upwards or slope(TOWARDS * end) >= 0:
            return TOWARDS * end
        found: float = scipy.optimize.brentq(slope, 0.0, TOWARDS * end, rtol=1e-3)
        return found


@dataclass(frozen=True, eq=False)
class CentralPath:
    """The proofs of one step, and the directions in which no function value is left.

    Attributes
    ----------
    kernel : (1 + K, directions)
        What directions change in the decrease and the multipliers.
    changes : tuple of Stack
        And in what is left, by blocks.
    """

    kernel: Rationals
    changes: tuple[Stack, ...]

    @classmethod
    def of(cls, step: RationalStep, now: RationalForm) -> "CentralPath":
        """Return the path for a potential."""
        forms = [now, *step.inequalities.values()]
        rows = [[Exact(form.values[place]) for form in forms] for place in range(len(now.values))]
        values = np.array(rows, dtype=object).reshape(len(rows), len(forms))
        free = exact_kernel(values, np.ones(len(forms), dtype=bool))
        kernel = np.array([[x.value for x in row] for row in free], dtype=object)
        changes = []
        for block in range(len(now.blocks)):
            stack = Stack.of([-form.blocks[block] for form in forms])
            changes.append(Stack.of([stack.combined(direction) for direction in kernel.T]))
        return cls(kernel, tuple(changes))

    def best(self, start: StrictProof, close: float) -> tuple[StrictProof, float]:
        """Return the best proof, and a bound of the decrease of all.

        They are relatively ``close``, unless rounding or the number of steps ends the path before.
        """
        gains = self.kernel[0].astype(float)
        here, bound = self.around(start), float("inf")
        for _ in range(MOST_STEPS):
            if here is None:
                break
            start, move = here.point, here.move(gains)
            bound, decrease = min(bound, move.bound), float(start.numbers[0])
            if bound - decrease <= close * abs(decrease):
                break
            lengths = (move.length / 2**halved for halved in range(HALVINGS))
            tried = (self.around(self._moved(start, move.direction, x)) for x in lengths)
            here = next(filter(None, tried), None)
        return start, bound

    def around(self, point: StrictProof) -> Surroundings | None:
        """Return the coordinates at a point; None if it is no proof with room."""
        multipliers = point.numbers[1:]
        if min(multipliers) <= 0:
            return None
        rows, sizes = [], []
        for block, own in zip(point.left, self.changes, strict=True):
            factors = ldl(block)
            if factors is None:
                return None
            coordinates = whitening(*factors)
            sizes.append(coordinates.shape[1])
            rows.append(own.scaled(coordinates).reshape(len(own.integers), -1).T)
        relative = self.kernel[1:] / multipliers[:, None]
        return Surroundings(point, np.concatenate([*rows, relative.astype(float)]), tuple(sizes))

    def _moved(self, point: StrictProof, direction: Matrix, length: float) -> StrictProof:
        parts = np.array([Fraction(float(length * x)) for x in direction], dtype=object)
        pairs = zip(point.left, self.changes, strict=True)
        left = tuple(block + own.combined(parts) for block, own in pairs)
        return StrictProof(point.numbers + self.kernel @ parts, left)
