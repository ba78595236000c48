"""Certified contraction factors of several steps, with potentials that change between steps.

Each link of a chain proves E[Psi_(t+1) after the step] <= (1 - d_t) Psi_t for all states, so that
the factors multiply. No potential between the first and the last needs to be positive.
"""

import math
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import scipy.linalg

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.certify import certify, proof_of_link
from certibit.theory.certificates.potential_family import Family
from certibit.theory.chains.chain_programme import ChainProgramme, Weights
from certibit.theory.exact.long_run import long_runs
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import LocalPotential, Potential
from certibit.theory.proofs.premises import Premises
from certibit.theory.proofs.proof import Proof, unit_of_step
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.symbolic_step import symbolic_step
from certibit.theory.quadratic_potential import AtModel, Joined, Reweighted
from certibit.theory.setting import Setting
from certibit.theory.verdict import readable_factor, written
from certibit.theory.worlds.linear_maps import Matrix, seen_by
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
        if not all(_is_factor(link) and link.proviso in {"", self.proviso} for link in self.links):
            return False
        if not self.proviso and any(_is_local(link.potential) for link in self.links):
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
        named = (f"{link.method}{unit_of_step(link.method)}" for link in self.links)
        methods = ", ".join(dict.fromkeys(named))
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


def _is_local(potential: Any) -> bool:
    """Whether a potential, or one that it is made of, is about a region only."""
    parts = getattr(potential, "potentials", ()) or (getattr(potential, "potential", None),)
    return isinstance(potential, LocalPotential) or any(map(_is_local, filter(None, parts)))


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
    return same and _has_one_meaning(link.potential, methods, link.functions)


def _has_one_meaning(
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


MOST_STEPS = 10**9
"""More steps than anybody does; nothing is promised that takes more."""

HARDLY = 1e-6
"""Relative gain for which the potential does not change."""

LINKS = 4
"""At most so many steps change the potential."""

MOST_POTENTIALS = 16
"""Steps of a run over convex functions, mu = 0, up to which all of them change the potential."""

Measure = Literal["potential", "gap", "distance"]


def certify_steps(
    method: Method,
    functions: FunctionClass | Setting,
    steps: int,
    potential: Potential | Literal["search"] | None = None,
    measure: Measure = "potential",
) -> Chain:
    """Return a proved factor of several steps over a class, as small as a search finds it.

    The first potential is the Lyapunov function Psi at the start, the last one the ``measure`` at
    the end: Psi itself, f - f* or |x - x*|^2 of the model. The potentials between them are
    quadratic forms of the state plus function values, one for each step, and are optimised
    together; for many steps one of them is used for most steps. The cost depends neither on the
    number of clients nor on the number of steps. Over convex functions, mu = 0, of which f - f* at
    the end is bounded by |x - x*|^2 and no factor is proved, all potentials of up to 16 steps are
    different: their weights of f - f* grow. If one step is certified in a region that Psi
    preserves, a run that starts there stays there, and all of its steps are certified.

    Parameters
    ----------
    steps : int
        The number of steps; 1 is :func:`~certibit.theory.certificates.certify.certify`.
    potential : Potential or "search", optional
        Psi; by default, that of the method's first theorem.
    measure : "potential", "gap" or "distance"
        The quantity that is bounded at the end.

    Raises
    ------
    Refusal
        If the method cannot be certified.

    Examples
    --------
    >>> from certibit import LoCoDL, FunctionClass, certify, certify_steps
    >>> method = LoCoDL(gamma=0.01, chi=0.04, rho=0.02, p=0.5, omega=4.0)
    >>> functions = FunctionClass(n=3, mu=1, L=100, omega=4)
    >>> chain, once = certify_steps(method, functions, 1000), certify(method, functions)
    >>> chain.decrease > once.decrease and chain.verify()
    True
    """
    if not 1 <= steps <= MOST_STEPS:
        raise Refusal(f"{steps} steps are not certified; give at least 1 and at most 10^9")
    if isinstance(functions, Setting):
        functions = FunctionClass.of(functions)
    functions.require_solution()
    once = certify(method, functions, potential, "potential")
    once.require_kept("a chain of several steps")
    method, functions = once.method, once.functions
    psi = Reweighted(once.potential, once.weights)
    found: list[Chain] = [Chain((once,), (steps,))] if measure == "potential" else []
    if not once.step_and_start[0].psi(once.exact_weights)[0].is_positive:
        if found:
            return replace(found[0], proviso=once.proviso)
        raise Refusal(
            f"the Psi that is found for {method.name} is no sum of squares and function values, as "
            "a chain to another function begins with; state a potential"
        )
    if measure != "potential":
        joined = Joined((psi, AtModel(measure)))
        ends = (*once.weights, 0.0), (*(0.0,) * len(once.weights), 1.0)
        first, *_ = ends
        counts = (steps - 1, 1) if steps > 1 else (1,)
        step, weights = RationalStep.of(method, functions, joined), [first, *ends]
        found.append(_proved(once, joined, step, weights[-len(counts) - 1 :], counts))
    if steps > 1 and functions.independent:
        with suppress(Refusal):
            found.append(_varied(once, psi, steps, measure))
    kept, best = found[0], min(found, key=lambda chain: chain.log_factor)
    gain = kept.log_factor - best.log_factor
    chain = best if gain > HARDLY * abs(kept.log_factor) else kept
    return replace(chain, proviso=once.proviso)


def certify_run(
    methods: Sequence[Method],
    functions: FunctionClass,
    potential: Potential,
    measure: Literal["gap", "distance"] = "gap",
) -> Chain:
    """Return a proved factor of steps whose parameters change, one method for each.

    It is an upper bound of the smallest factor, as small as a search finds it. It is as
    :func:`certify_steps`, with a potential of its own after each step: over convex functions
    accelerated methods, whose momentum grows, have rates of 1/T^2.

    Parameters
    ----------
    methods : sequence of Method
        The method with the parameters of each step, in order; at most 16.
    potential : Potential
        The Lyapunov function Psi at the start, such as |x - x*|^2.

    Raises
    ------
    Refusal
        If the methods are not all of one class or cannot be certified, or if Psi is made of other
        vectors when the parameters change.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify_run
    >>> from certibit.theory.quadratic_potential import AtModel
    >>> steps = [GD(gamma=1.0), GD(gamma=1.5)]
    >>> chain = certify_run(steps, FunctionClass(1, mu=0.0, L=1.0), AtModel("distance"))
    >>> round(chain.factor, 5), chain.verify()
    (0.08333, True)
    """
    kinds = {type(method) for method in methods}
    if len(kinds) != 1 or not 2 <= len(methods) <= MOST_POTENTIALS:
        raise Refusal(
            f"{len(methods)} steps of {', '.join(sorted(kind.name for kind in kinds)) or 'no'} "
            f"methods; give 2 to {MOST_POTENTIALS} steps of one method"
        )
    functions.require_solution()
    if not functions.independent:
        raise Refusal(
            "clients that draw together may do so in another way after each step; steps whose "
            "potentials differ are certified of clients that draw independently"
        )
    family = Family.largest(methods[0], functions)
    joined = Joined((potential, family.start.spread(), AtModel(measure)))
    if not _has_one_meaning(joined, methods, functions):
        raise Refusal(
            f"Psi, f - f* or |x - x*|^2 of {methods[0].name} is made of other vectors when its "
            "parameters change, so that the steps do not fit; state a potential without parameters"
        )
    steps = tuple(RationalStep.of(method, functions, joined) for method in methods)
    stated = len(symbolic_step(methods[0], functions, potential).now)
    others = len(steps[0].now) - stated
    first = (*steps[0].symbols.weights[:stated], *(0.0,) * others)
    last = (*(0.0,) * (stated + others - 1), 1.0)
    weights = ChainProgramme(steps, first, last).best()
    links = (
        proof_of_link(step, method, functions, joined, now, after)
        for step, method, (now, after) in zip(steps, methods, pairwise(weights), strict=True)
    )
    return _linked(tuple(links), (1,) * len(methods))


def _varied(once: Proof, psi: Potential, steps: int, measure: Measure) -> Chain:
    """Return a chain from Psi to what is wanted, by the best potentials between them."""
    family = Family.largest(once.method, once.functions)
    end = () if measure == "potential" else (AtModel(measure),)
    joined = Joined((psi, family.start.spread(), *end))
    step = RationalStep.of(once.method, once.functions, joined)
    rest = len(step.now) - len(once.weights)
    first = (*once.weights, *(0.0,) * rest)
    last = (*(0.0,) * (len(step.now) - 1), 1.0) if end else first
    most = MOST_POTENTIALS if once.functions.mu == 0 and steps <= MOST_POTENTIALS else LINKS
    links = min(steps, most)
    programme = ChainProgramme((step,) * links, first, last, steps - links)
    weights, counts = programme.best(), [1] * links
    if steps > links:
        weights.insert(programme.middle, weights[programme.middle])
        counts.insert(programme.middle, steps - links)
    return _proved(once, joined, step, weights, tuple(counts))


def _proved(
    once: Proof,
    potential: Potential,
    step: RationalStep,
    weights: list[Weights],
    counts: tuple[int, ...],
) -> Chain:
    """Return the chain of the best decreases from each potential to the next."""
    links = (
        proof_of_link(step, once.method, once.functions, potential, now, after)
        for now, after in pairwise(weights)
    )
    return _linked(tuple(links), counts)


def _linked(links: tuple[Proof, ...], counts: tuple[int, ...]) -> Chain:
    """Return the chain of links.

    Raises
    ------
    Refusal
        If a potential between them is not positive: it decreases by more than itself.
    """
    if any(link.exact > 1 for link in links):
        raise Refusal("no chain is proved: a potential between the steps is not positive")
    return Chain(links, counts)


def attained_log_factor(chain: Chain) -> float:
    """Return the log of the factor attained on the quadratics that are tried: no chain proves less.

    Compressed vectors are off by the largest error, with random signs or, where compressors
    contract, always with the same.

    Raises
    ------
    Refusal
        As for :func:`~certibit.theory.exact.long_run.slowest_decrease`.
    """
    first, last = chain.links[0], chain.links[-1]
    functions, method = first.functions, first.method
    ends = last.following or last.weights
    start, end = (Reweighted(first.potential, weights) for weights in (first.weights, ends))
    found = []
    for moments in long_runs(method, functions):
        power, exponent = _power(moments.step, chain.steps)
        after, now = power @ moments.form(end, functions), moments.form(start, functions)
        pairs = zip(moments.blocks(now), moments.blocks(after), strict=True)
        ratios = [_largest_ratio(*pair) for pair in pairs if len(pair[0])]
        largest = max(ratios, default=0.0)
        found.append(math.log(largest) + exponent if largest > 0 else -math.inf)
    return max(found)


def _power(matrix: Matrix, count: int) -> tuple[Matrix, float]:
    """Return a power of a matrix, divided by e to a number, and that number."""
    power, exponent = np.eye(len(matrix)), 0.0
    for digit in f"{count:b}":
        power, exponent = power @ power, 2 * exponent
        if digit == "1":
            power = power @ matrix
        size = float(np.abs(power).max(initial=0.0))
        if not size > 0:
            return power, 0.0
        power, exponent = power / size, exponent + math.log(size)
    return power, exponent


def _largest_ratio(now: Matrix, after: Matrix) -> float:
    """Return the largest ratio of two forms where the first is not 0."""
    seen = seen_by(now)
    ratios = scipy.linalg.eigh(seen.T @ after @ seen, seen.T @ now @ seen, eigvals_only=True)
    return float(ratios[-1])
