"""One programme for a Lyapunov function and its proof: the form with the largest decrease."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_programme import (
    ConeProgramme,
    RatioProgramme,
)
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.cones.triangles import upper
from certibit.theory.proofs.best_proof import ProofProgramme
from certibit.theory.proofs.rational_algebra import ZERO, Rationals, flat, spanning_rows
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

CLOSE = 1e-7
"""A search ends when its decrease is relatively so close to that of the best form."""

SMALLEST_WEIGHT = rational(1e-6)
"""Lower bound on the sum of the terms with free weights, relative to the given weights."""

SMALLEST_LIFT = 50
"""Number of powers of 1/16 that are tried as the first multiplier of the gradient bounds."""


@dataclass(frozen=True, eq=False)
class FormProgramme:
    """Maximise t such that (1 - t) Psi - E[Psi+] minus multiples of the inequalities is >= 0.

    The unknowns are the weights of the terms of Psi, normalised such that their sizes sum to 1, the
    multipliers of the inequalities, and the multipliers of the bounds of gradients in Psi. All
    function values cancel, which determines the multiplier of each inequality "f at a point is at
    least f*": this multiplier is no unknown, but a row that is at least 0.

    Attributes
    ----------
    step : RationalStep
        With the terms of Psi.
    squares : sequence of (terms, k, k)
        The matrices of the terms, whose sum with the weights of Psi is positive semidefinite; 0
        for function values.
    unit : (terms,)
        The form whose matrices are identities, plus all function values: the search begins there.
    floor : (terms,)
        A lower bound on the form, up to multiples of the bounds of gradients.
    proving : list of int
        The number of leading blocks of the programme that prove the decrease; the other blocks
        only concern the form.
    """

    step: RationalStep
    squares: Sequence[Rationals]
    unit: Sequence[Rational]
    floor: Sequence[Rational]
    proving: list[int] = field(default_factory=list)

    @cached_property
    def bounds(self) -> list[RationalForm]:
        """The inequalities between each gradient in Psi and the point where it is evaluated."""
        found, forms = [], self.step.symbols.now
        for place, one in enumerate(self.step.symbols.evaluations):
            if any(block[one.gradient].any() for form in forms for block in form.blocks):
                back = f"{one.function}: solution to point {place}"
                pair = (self.step.inequalities[name] for name in (self.step.bounding[place], back))
                found.append(next(pair).plus(fmpq(1), next(pair)))
        return found

    @cached_property
    def sizes(self) -> list[Rational]:
        """The size of each term: the trace of its matrices, or 1 for a function value."""
        none = np.zeros(len(self.unit), dtype=int)
        traces = sum((np.trace(own, axis1=1, axis2=2) for own in self.squares), none)
        squares = [any(own[j].any() for own in self.squares) for j in range(len(self.unit))]
        return [fmpq(int(x) if own else 1) for x, own in zip(traces, squares, strict=True)]

    @cached_property
    def table(self) -> fmpq_mat:
        """The matrix that maps (1, t, u) to all weights and multipliers."""
        extra = [ZERO] * (len(self.step.others) + len(self.bounds))
        sizes, unit = [*self.sizes, *extra], [*self.unit, *extra]
        size = sum(a * b for a, b in zip(sizes, unit, strict=True))
        lead = sizes.index(fmpq(1))
        free = [[fmpq(i == j) for j in range(len(sizes))] for i in range(len(sizes))]
        free[lead] = [-x for x in sizes]
        rows = (row[:lead] + row[lead + 1 :] for row in free)
        return fmpq_mat([[x / size, ZERO, *row] for x, row in zip(unit, rows, strict=True)])

    @cached_property
    def programme(self) -> RatioProgramme:
        """The programme in the unknowns (t, u)."""
        step, unused = self.step, len(self.step.others) + len(self.bounds)
        bounded = [step.inequalities[name] for name in step.others]
        now, after, taken = (
            list(map(step.without_values, forms)) for forms in (step.now, step.after, bounded)
        )
        nothing = combination([ZERO], now[:1])
        least = combination(self.floor, step.now)
        psi = [form.plus(-x, least) for x, form in zip(self.sizes, step.now, strict=True)]
        psi += [nothing] * len(taken) + [combination([fmpq(-1)], [one]) for one in self.bounds]
        left = [form.plus(fmpq(-1), then) for form, then in zip(now, after, strict=True)]
        left += [combination([fmpq(-1)], [one]) for one in taken] + [nothing] * len(self.bounds)
        grown = now + [nothing] * unused
        above, below = [], []

        def add(stack: Sequence[Rationals], slower: Sequence[Rationals]) -> None:
            kept = spanning_rows([*stack, *slower])
            if kept:
                above.append(self._mapped([upper(matrix, kept) for matrix in stack]))
                below.append(self._mapped([upper(matrix, kept) for matrix in slower]))

        for place in range(len(nothing.blocks)):
            add(*([form.blocks[place] for form in own] for own in (left, grown)))
        self.proving.append(len(above))
        for place, empty in enumerate(nothing.blocks):
            add([form.blocks[place] for form in psi], [empty] * len(psi))
        for own in self.squares:
            nil = 0 * own[0]
            add([*own, *[nil] * unused], [nil] * len(psi))
        positive = [*range(len(self.unit), len(psi))]
        positive += [j for j in range(len(self.unit)) if not any(m[j].any() for m in self.squares)]
        signs = [[int(i == j) for i in positive] for j in range(len(psi))]
        lines = self._mapped([[*form.values, *one] for form, one in zip(left, signs, strict=True)])
        slopes = self._mapped([[*form.values, *[0] * len(positive)] for form in grown])
        gain = [1, *[0] * (self.table.ncols() - 2)]
        return RatioProgramme(
            ConeProgramme.of(gain, above, lines), ConeProgramme.of(gain, below, slopes)
        )

    def _mapped(self, entries: Sequence[Any]) -> fmpq_mat:
        """Return the matrix that maps (1, t, u) to the sum of entries, weighted by the unknowns."""
        return flat(entries) * self.table

    def best(
        self, close: float = CLOSE, least: float = -np.inf, enough: float = np.inf
    ) -> tuple[Rational, list[Rational]]:
        """Return the largest decrease t of a form, and its u.

        The search ends early when t exceeds ``enough``, or when t cannot reach ``least``.

        Raises
        ------
        Refusal
            If no finite factor is proved of the unit, or the unit minus the floor is not positive.
        """
        proofs = ProofProgramme(self.step, self.unit)
        t, multipliers = proofs.at(proofs.inside)
        size = sum(a * b for a, b in zip(self.sizes, self.unit, strict=True))
        start = [t, *[ZERO] * (len(self.unit) - 1)]
        start += [multipliers[name] / size for name in self.step.others]
        for power in range(SMALLEST_LIFT):
            lifted = [*start, *[fmpq(1, 16**power)] * len(self.bounds)]
            if Surroundings.of(self.programme, lifted) is not None:
                break
        else:
            raise Refusal(
                "no form is found to begin a search with: the sum of the squares of all parts, "
                "less what is known of their gradients, is not positive; state a potential"
            )
        path = follow(
            self.programme,
            lifted,
            close,
            lambda numbers: float(arb(numbers[0])) > enough,
            bounded=False,
            least=least,
        )
        t, *found = path.numbers
        return t, found

    def weights(self, free: Sequence[Rational]) -> Rationals:
        """Return the weights of the terms at u."""
        column = fmpq_mat([[fmpq(1)], [ZERO], *([x] for x in free)])
        return np.array((self.table * column).entries()[: len(self.unit)], dtype=object)


def best_weights(step: RationalStep, least: float | None = None) -> tuple[float, tuple[float, ...]]:
    """Return the largest decrease of a sum of the terms of a step, and their weights.

    With ``least`` the search ends when the decrease is known to be above or below it.

    Raises
    ------
    Refusal
        If no finite factor is proved with the given weights.
    """
    given = step.symbols.weights
    used = [place for place, weight in enumerate(given) if weight]
    one = step.weighted
    now, after = ([forms[place] for place in used] for forms in (one.now, one.after))
    ones = [fmpq(1)] * len(used)
    programme = FormProgramme(
        replace(one, now=tuple(now), after=tuple(after)), (), ones, [SMALLEST_WEIGHT] * len(used)
    )
    t, free = programme.best() if least is None else programme.best(least=least, enough=least)
    weights = [0.0] * len(given)
    for place, share in zip(used, programme.weights(free), strict=True):
        weights[place] = given[place] * float(fraction(share * len(used)))
    return float(fraction(t)), tuple(weights)
