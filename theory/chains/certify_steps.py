"""Certified contraction factors of several steps, with potentials that change between steps."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.certify import certify, proof_of_link
from certibit.theory.certificates.potential_family import Family
from certibit.theory.chains.chain import Chain, has_one_meaning
from certibit.theory.chains.chain_programme import ChainProgramme, Weights
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.proof import Proof
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.symbolic_step import symbolic_step
from certibit.theory.quadratic_potential import AtModel, Joined, Reweighted
from certibit.theory.setting import Setting

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
    if not has_one_meaning(joined, methods, functions):
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
