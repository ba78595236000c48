"""A chain of certificates: a proof about several steps, with potentials that change between steps.

Each link proves E[Psi_(t+1) after the step] <= (1 - d_t) Psi_t for all states, so that the factors
multiply. No potential between the first and the last needs to be positive.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.premises import Premises
from certibit.theory.proofs.proof import Proof
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.verdict import readable_factor, written
from certibit.theory.worlds.opaque.exact_numbers import rational
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of

ROUNDING = 1e-9
"""Relative difference of two vectors that is rounding."""

LARGEST_LOG = math.log(sys.float_info.max)
"""Of a float."""

FAST = 0.5
"""Decrease above which what is left of a potential has its own digits."""


@dataclass(frozen=True, repr=False)
class Chain:
    """A proof that E[the last potential] after all steps is at most a factor of the first.

    The factor is an upper bound: potentials and multipliers are searched for in floats, and others
    may prove a smaller one.

    Attributes
    ----------
    links : tuple of Proof
        The certificates in order; the weights of Psi+ in each are those of Psi in the next.
    counts : tuple of int
        The number of steps of each; more than one only if it does not change its potential.
    proviso : str
        The region in which it holds, and why runs stay there; "" if it holds everywhere.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify_steps
    >>> certify_steps(GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10), steps=5)
    Chain of 1 certificate of GD(gamma=0.1)
    E[Psi after 5 steps] <= (1 - 0.1899)^5 Psi
    """

    links: tuple[Proof, ...]
    counts: tuple[int, ...]
    proviso: str = ""

    @property
    def steps(self) -> int:
        """The number of steps."""
        return sum(self.counts)

    @property
    def log_factor(self) -> float:
        """The logarithm of the factor of all steps."""
        pairs = zip(self.links, self.counts, strict=True)
        return sum(count * _log_factor(link) for link, count in pairs)

    @property
    def factor(self) -> float:
        """The factor of all steps."""
        return math.exp(self.log_factor) if self.log_factor < LARGEST_LOG else math.inf

    @property
    def decrease(self) -> float:
        """1 minus the geometric mean of the factors of the steps."""
        return -math.expm1(self.log_factor / self.steps)

    @property
    def longest(self) -> int:
        """The place of the link that is used for most steps."""
        return self.counts.index(max(self.counts))

    def steps_to(self, ratio: float) -> float:
        """Return the number of steps for which this chain proves a factor, or infinity.

        The link that is repeated is used more or less often.
        """
        count, missing = self.counts[self.longest], math.log(ratio) - self.log_factor
        link = self.links[self.longest]
        if not _keeps(link) or link.decrease <= 0:
            return self.steps if missing >= 0 else math.inf
        more = math.ceil(missing / _log_factor(link))
        return self.steps + max(more, 1 - count)

    def promise(self, digits: int) -> str:
        """Return what is proved, with both functions where the last is not the first."""
        steps = f"{self.steps} step{'s' * (self.steps > 1)}"
        first, last = self.links[0], self.links[-1]
        following = last.following or last.weights
        if following == first.weights:
            exact = self.links[0].exact if len(self.links) == 1 else Fraction(self.decrease)
            factor = readable_factor(exact, digits)
            return f"E[Psi after {steps}] <= ({factor})^{self.steps} Psi"
        log = self.log_factor
        factor = f"exp({written(Fraction(log) if math.isfinite(log) else log, 10, up=True)})"
        parts = getattr(last.potential, "potentials", (None,))
        if isinstance(parts[-1], AtModel) and following == (*(0.0,) * (len(following) - 1), 1.0):
            alone = first.weights == (1, *(0,) * (len(first.weights) - 1))
            plain = isinstance(parts[0], AtModel) and alone
            start = parts[0] if plain else "Psi at the start"
            return f"E[{parts[-1]}] after {steps} <= {factor} ({start})"
        return (
            f"E[Phi] after {steps} <= {factor} Psi, the terms of Phi with the weights {following} "
            f"and those of Psi with {first.weights}"
        )

    def verify(self) -> bool:
        """Return whether the factor is proved.

        Every link is verified anew, is a factor without noise in the region of the chain, and fits
        the next; the first and the last potential are at least 0.
        """
        if not all(_is_factor(link) and link.proviso == self.proviso for link in self.links):
            return False
        if any(type(count) is not int or count < 1 for count in self.counts):
            return False
        fits = all(_keeps(link) for link, n in zip(self.links, self.counts, strict=True) if n > 1)
        fits &= all(_fit(one, other) for one, other in pairwise(self.links))
        fits &= all(link.exact <= 1 for link in self.links)
        fits = fits and all(
            link.holds_for(*link.step_and_start, linked=True) for link in self.links
        )
        first, last = self.links[0], self.links[-1]
        for link, weights in ((first, first.weights), (last, last.following or ())):
            if fits and link.following is not None:  # others prove Psi >= 0 themselves
                step, _ = link.step_and_start
                fits = step.psi(list(map(rational, weights)))[0].is_positive
        return fits

    def __repr__(self) -> str:
        count = f"{len(self.links)} certificate{'s' * (len(self.links) > 1)}"
        methods = ", ".join(dict.fromkeys(str(link.method) for link in self.links))
        return f"Chain of {count} of {methods}\n{self.promise(4)}" + (
            f"\nwhile {self.proviso}" if self.proviso else ""
        )


def _log_factor(link: Proof) -> float:
    """Return the logarithm of 1 - decrease, without rounding 1 - decrease where it is tiny."""
    left = 1 - link.exact
    if link.decrease < FAST:
        return math.log1p(-link.decrease)
    return math.log(left) if left > 0 else -math.inf


def _is_factor(link: Proof) -> bool:
    """Whether a link proves E[Psi+] <= (1 - c) Psi and no less."""
    added = link.exact_e, link.exact_dissimilarity, link.growth
    return link.measure.contracts and not any(added)


def _keeps(link: Proof) -> bool:
    """Whether the potential is the same after the step."""
    return link.following in {None, link.weights}


def _fit(link: Proof, following: Proof) -> bool:
    """Whether the second link begins where the first ends; parameters may change."""
    same = (type(link.method), link.functions) == (type(following.method), following.functions)
    same = same and (link.following or link.weights) == following.weights
    if same and link.potential is not following.potential:  # equal ones may be something else
        step, _ = following.step_and_start
        other = RationalStep.of(following.method, following.functions, link.potential)
        same = [form.entries for form in other.now] == [form.entries for form in step.now]
    methods = link.method, following.method
    return same and has_one_meaning(link.potential, methods, link.functions)


def has_one_meaning(
    potential: Potential, methods: Sequence[Method], functions: FunctionClass
) -> bool:
    """Whether the terms of Psi, less their weights, are the same for all parameters of a method.

    So are, in rational numbers, the states at rest, the flags that clients can have and the
    relations that every step keeps, so that those of a step hold after the others.
    """
    distinct = {id(m): m for m in methods}  # equal ones may do something else
    if len(distinct) == 1:
        return True
    first, *others = (_meaning(potential, m, functions) for m in distinct.values())
    return all(one == first for one in others)


def _meaning(potential: Potential, method: Method, functions: FunctionClass) -> tuple[Any, ...]:
    """Return the flags, the relations that hold, and what these and a potential are made of."""
    outcomes = outcomes_of(method, functions)
    premises = Premises(outcomes.natural.without_units(), functions, outcomes.patterns)
    return set(outcomes.patterns), premises.relations, premises.meaning(potential)
