"""One step of a method on symbols: the forms of Psi and E[Psi+], and the known inequalities."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import each
from certibit.theory.assumptions.assumption import Assumption
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Gap, Potential, Squares, Terms
from certibit.theory.proofs.premises import Premises
from certibit.theory.worlds.fixed_points import AboutModel, fixed_point
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.opaque.clients import require_asked
from certibit.theory.worlds.opaque.exact_numbers import exact_parameters, in_rational_numbers, zeros
from certibit.theory.worlds.opaque.letters import Opaque, watched
from certibit.theory.worlds.orbits import Orbit, cells_of_kinds
from certibit.theory.worlds.symbolic.frames import Basis, BasisFullError, Blocks, Frame
from certibit.theory.worlds.symbolic.interpolation import (
    Form,
    SharedEvaluation,
    assumed,
    expected_change,
    interpolation,
    joint_noise,
    local_progress,
    lost,
    of_noise,
    shared_evaluations,
)
from certibit.theory.worlds.symbolic.kernels import expected_gram, kernels_of_blocks, unknowns_met
from certibit.theory.worlds.symbolic.local_solves import LocalSolve
from certibit.theory.worlds.symbolic.step_outcomes import StepOutcomes, outcomes_of
from certibit.theory.worlds.symbolic.symbols import (
    Evaluation,
    MessageError,
    MessageErrors,
    SymbolicChannel,
    SymbolicProblem,
    unknown_state,
)
from certibit.theory.worlds.units import MethodInUnits


def _inequalities_of_errors(
    errors: list[MessageError],
    basis: Basis,
    functions: FunctionClass,
    evaluations: list[Evaluation],
) -> tuple[dict[str, Form], dict[str, Form]]:
    """Return what is at least 0 for errors of messages and noises, and what is 0 in the mean."""
    inequalities: dict[str, Form] = {}
    equalities: dict[str, Form] = {}
    compared: list[tuple[MessageError, SharedEvaluation]] = []
    for one in errors:
        at = sampled_at(one, functions, evaluations)
        if at is not None and one.beside is not None:
            inequalities |= _expected(one, at, compared, functions)
            compared.append((one, at))
        inequalities[f"{one.law} {one.unknown}"] = lost(one, functions, at.value if at else None)
        if one.noise:
            equalities |= of_noise(one, basis, functions, evaluations)
            if functions.omega_joint is not None and one.law == "noise" and one.kind >= 0:
                inequalities[f"joint noise {one.unknown}"] = joint_noise(one, functions)
    return inequalities, equalities


def sampled_at(
    sample: MessageError, functions: FunctionClass, evaluations: list[Evaluation]
) -> SharedEvaluation | None:
    """Return the point where gradients are sampled whose variance grows with f - f* there.

    By expected smoothness it is the change of the noise from the solution that grows.

    Raises
    ------
    Refusal
        If the clients do not share the point, or differ.
    """
    noise = functions.noise
    grows = noise and (noise.gap if sample.law == "sample" else noise.expected is not None)
    if sample.law not in {"sample", "difference"} or not grows or not np.any(sample.vector[0]):
        return None
    if len(functions.kinds) == 1:
        for one in shared_evaluations(evaluations, functions):
            seen = one.gradients if sample.law == "sample" else one.point
            if np.all(seen.kinds[0][0] == sample.vector[0]):
                return one
    raise Refusal(
        f"{noise!r} grows with f - f*, which is certified of samples at points that all clients "
        "share, of clients of one class; leave it out"
    )


def _expected(
    error: MessageError,
    at: SharedEvaluation,
    others: list[tuple[MessageError, SharedEvaluation]],
    functions: FunctionClass,
) -> dict[str, Form]:
    """Return how little the noise of one sample changes from a point to others, by name."""
    A: Any = functions.noise and functions.noise.expected
    named = {}
    for other, there in others:
        if other.beside != error.beside:
            continue
        for (a, x), (b, y) in permutations([(error, at), (other, there)], 2):
            bregman = x.value - y.value - y.gradients.dot(x.point - y.point)
            form = expected_change(a.unknown, b.unknown, a.kind, A, bregman, functions.n)
            named[f"expected {a.unknown} to {b.unknown}"] = form
    return named


def _seen_errors(
    errors: list[MessageError], after: Sequence[Form], evaluations: Sequence[Evaluation]
) -> list[MessageError]:
    """Leave out noises of samples that cancel: Psi+ and no other vector depends on them."""
    vectors = [*(one.point for one in evaluations), *(one.vector for one in errors)]
    matrices = [block for form in after for block in form.blocks]
    parts = [*matrices, *(part for vector in vectors for part in vector)]

    def seen(one: MessageError) -> bool:
        return any(np.any(part[one.unknown]) for part in parts)

    return [one for one in errors if one.law != "sample" or seen(one)]


LARGEST_BASIS = 32
"""Largest number of unknowns; beyond it the programme is slow and badly conditioned."""

ROOMS = ((True, 16), (False, 16), (False, LARGEST_BASIS))
"""Whether local steps are done one by one, and room for so many unknowns: what is tried in turn.

More of them than fit are one inequality, which then proves more than many steps that are chained.
"""


@dataclass(frozen=True)
class SymbolicStep:
    """The effect of one step on a Lyapunov function, for a whole class of functions.

    Attributes
    ----------
    method : MethodInUnits
        The method in the units of the unknowns.
    functions : FunctionClass
        The class of the functions divided by the unit of the unknown gradients.
    basis : Basis
        The names of the unknowns.
    now, after : tuples of Form
        Psi and E[Psi+], by the terms of the Lyapunov function with weight 1.
    weights : tuple of float
        The weights of the terms.
    inequalities : dict of Form
        The forms that are nonnegative for the functions of the class, by name.
    kernels : (basis, k) matrices
        For each block a basis of the unknowns on which the invariants are 0.
    evaluations : tuple of Evaluation
        All evaluated gradients.
    errors : tuple
        The unknown error of each contraction, and the vector that was compressed.
    pairs : dict
        The second noise of each sample that is taken at two points, and its first, by kinds.
    sampled_at : dict
        The noises of samples whose variance grows with f - f*, and the evaluations at their points.
    solves : tuple of LocalSolve
        The local solves that are one inequality.
    measured : tuple of Form
        The terms of a measure before the step, with weight 1.
    equalities : dict of Form
        The forms that are 0 in the mean, by name, where noises are unknowns.
    """

    method: MethodInUnits
    functions: FunctionClass
    basis: Basis
    now: tuple[Form, ...]
    after: tuple[Form, ...]
    weights: tuple[float, ...]
    inequalities: dict[str, Form]
    kernels: Blocks
    evaluations: tuple[Evaluation, ...]
    errors: tuple[tuple[int, Blocks], ...]
    solves: tuple[LocalSolve, ...] = ()
    measured: tuple[Form, ...] = ()
    equalities: dict[str, Form] = field(default_factory=dict)
    pairs: dict[int, int] = field(default_factory=dict)
    sampled_at: dict[int, tuple[int, ...]] = field(default_factory=dict)


def symbolic_step(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    *,
    exact: bool = False,
    trusted: bool = False,
    measure: Potential | None = None,
) -> SymbolicStep:
    """Run one step of a method on symbols, over all its outcomes.

    A ``measure`` is what a promise is about besides Psi, at the state before the step. With one,
    and where functions have no solution, the noises of compressors are unknowns like others, whose
    second moments are bounded: random vectors with <u, v> = E<u, v>. Otherwise they are replaced by
    their variances.

    With ``exact`` everything is computed in rational numbers, which the given floats stand for, and
    in the given units; the potential has its coefficients in floats. A ``trusted`` step is not
    tested on numbers first, because the same method was tested with another step size.

    Raises
    ------
    Refusal
        If the method is not linear, its clients are not exchangeable, or its compressors are not
        of the functions.
    """
    _check(method, functions)
    outcomes = outcomes_of(method, functions)
    natural = outcomes.natural
    if not trusted:

        def seen(s: Any, problem: Any) -> list[Array]:
            shown = [psi for psi in (potential, measure) if psi is not None]
            terms = [term for psi in shown for term in _terms(psi, natural, functions, s, problem)]
            vectors = (x.weight * (x.point if isinstance(x, Gap) else x.vectors) for x in terms)
            return [natural.model(s), *vectors]

        outcomes.require_same_on_numbers(seen)
    kept = () if exact else Premises(natural, functions, outcomes.patterns).relations
    kinds = len(functions.kinds)
    one_by_one = True
    for one_by_one, size in ROOMS:
        with suppress(BasisFullError):
            basis = Basis(size * kinds, kinds)
            step = _symbolic_step(outcomes, natural, potential, basis, one_by_one, measure, kept)
            if functions.zeta and basis.used == basis.size:  # no value is left for zeta^2
                raise BasisFullError
            break
    else:
        raise Refusal(
            f"{method.name} with these parameters has more than {LARGEST_BASIS} unknowns per step; "
            "take fewer local steps"
        )
    if not exact:
        return step
    basis = Basis(step.basis.used + bool(functions.zeta), kinds, exact=True)
    natural = natural.without_units()
    try:
        with in_rational_numbers(method.name):
            premises = _premises(outcomes)
            kept = premises.relations
            if functions.has_solution:
                for psi in (potential, *([measure] if measure else [])):
                    premises.require_rest(psi)
            return _symbolic_step(outcomes, natural, potential, basis, one_by_one, measure, kept)
    except BasisFullError:
        raise Refusal(
            f"points of {method.name} that are equal up to rounding differ in rational numbers; "
            "make what is rounded a parameter of its own"
        ) from None


@lru_cache(maxsize=1)
def _premises(outcomes: StepOutcomes) -> Premises:
    """Return what is proved of a method without units; its outcomes are those of one search."""
    return Premises(outcomes.natural.without_units(), outcomes.functions, outcomes.patterns)


def _check(method: Method, functions: FunctionClass) -> None:
    for parameter in fields(method):
        if hasattr(getattr(method, parameter.name), "shape"):
            raise Refusal(
                f"{parameter.name} of {method.name} is an array, with one value for each run; a "
                "certificate is for one number"
            )
    if functions.zeta and functions.has_solution and not method.needs.shared_minimiser:
        raise Refusal(
            f"an assumption bounds gradients of {method.name} by zeta = {functions.zeta:g}, and "
            "with a solution only their differences from those there are known; give a class "
            "without a solution, or zeta = 0"
        )
    if method.needs.composite and method.needs.shared_minimiser:
        raise Refusal(
            f"{method.name} needs one minimiser of all f_i, and minimises f + g, whose solution is "
            "another point; let its Needs say one of composite and shared_minimiser"
        )
    if method.needs.composite and functions.has_solution:
        if functions.mu < 0:
            raise Refusal(
                f"mu = {functions.mu:g} < 0 lets f fall below its value at the solution of f + g, "
                f"which {method.name} minimises; give mu >= 0"
            )
        known: list[Any] = [
            one for one in functions.assumptions if type(one).at is not Assumption.at
        ]
        noise = functions.noise
        if noise and (noise.relative or noise.gap):
            known.append(noise)
        for one in known:
            raise Refusal(
                f"{one!r} is about f, and {method.name} minimises f + g, at whose solution it is "
                "not known; take an assumption about changes of gradients, such as Similarity"
            )
    need = method.needs.compressor
    if need == "contractive" and functions.alpha is None and functions.bias is None:
        raise Refusal(
            f"{method.name} needs contractive compressors; give the function class an alpha, or a "
            "bias and an omega"
        )
    if method.needs.downlink == "contractive" and functions.alpha_down is None:
        raise Refusal(
            f"{method.name} needs a contractive compressor of the server; give the function class "
            "an alpha_down, 1 if broadcasts are exact"
        )
    if need == "unbiased" and functions.bias is not None:
        raise Refusal(
            f"{method.name} needs unbiased compressors, and bias = {functions.bias:g}; leave it out"
        )
    if need is None and functions.omega > 0:
        raise Refusal(
            f"{method.name} sends uncompressed vectors; give a function class with omega = 0"
        )


def _symbolic_step(
    outcomes: StepOutcomes,
    method: MethodInUnits,
    potential: Potential,
    basis: Basis,
    one_by_one: bool,
    measure: Potential | None = None,
    held: Sequence[int] = (),
) -> SymbolicStep:
    given, template = outcomes.functions, outcomes.template
    evaluations: list[Evaluation] = []
    solves: list[LocalSolve] = []
    message_errors: list[MessageError] = []
    noisy = measure is not None or not given.has_solution
    counts, functions = given.counts, given.in_units(method.gradient)
    method_: Any = method
    if basis.exact:
        method_, functions = exact_parameters(method), exact_parameters(functions)

    def world(orbit: Orbit | None = None) -> World:
        frame = Frame(orbit.cells if orbit else cells_of_kinds(counts), counts, basis.exact)
        errors = MessageErrors(basis, frame, message_errors, functions)
        solution, samples = functions.has_solution, errors if functions.noise else None
        about = functions.noise is not None and functions.noise.expected is not None
        problem = SymbolicProblem(
            basis, frame, evaluations, solves, one_by_one, solution, samples, about
        )
        return problem, SymbolicChannel(method_, functions, problem, errors, orbit, noisy)

    def forms(
        s: Any, problem: SymbolicProblem, channel: SymbolicChannel, psi: Potential = potential
    ) -> list[Form]:
        return [
            _form(term, method, functions, problem, channel)
            * (method.gradient if isinstance(term, Gap) else 1)
            for term in _terms(psi, method, given, s, problem)
        ]

    problem, channel = world()
    state = unknown_state(template, problem)
    now = forms(state, problem, channel)
    measured = forms(state, problem, channel, measure) if measure else []
    terms = _terms(potential, method, given, state, problem)
    if not terms:
        raise Refusal("a potential without terms proves nothing; give it a Squares or a Gap")
    relations = invariants(method, state, problem)
    for x in relations:
        require_asked(x)
    after: list[Form] = []
    for orbit in outcomes.found:
        there, channel = world(orbit)
        before = unknown_state(template, there)
        with watched(method.name):
            s = theorem_step(method_, before, there.of_step(method), channel)
        channel.require_drawn(s)
        for x in vars(s).values():
            require_asked(x)
        weighted = [form * channel.probability for form in forms(s, there, channel)]
        after = [a + b for a, b in zip(after, weighted, strict=True)] if after else weighted
    known = interpolation(evaluations, functions) | assumed(evaluations, functions)
    inequalities = {name: form * method.gradient for name, form in known.items()}
    message_errors = _seen_errors(message_errors, after, evaluations)
    of_errors, equalities = _inequalities_of_errors(message_errors, basis, functions, evaluations)
    inequalities |= of_errors
    for solve in solves:
        inequalities[solve.name] = local_progress(solve, evaluations, functions)
    evaluated = {e.gradient for e in evaluations} | {one.unknown for one in message_errors}
    allowed = ~basis.noise & unknowns_met(basis, evaluated)
    kept = [relations[k] for k in held]
    kernels = kernels_of_blocks(kept, problem.frame, basis, allowed)
    weights = tuple(float(term.weight) for term in terms)
    return SymbolicStep(
        method,
        functions,
        basis,
        tuple(now),
        tuple(after),
        weights,
        inequalities,
        kernels,
        tuple(evaluations),
        tuple((one.unknown, one.vector) for one in message_errors),
        tuple(solves),
        tuple(measured),
        equalities,
        {one.unknown: one.beside for one in message_errors if one.beside is not None},
        {
            one.unknown: at.numbers
            for one in message_errors
            if (at := sampled_at(one, functions, evaluations)) is not None
        },
    )


class _Unread(Opaque):
    """A field of bool in the place where a Lyapunov function looks at a state."""

    WORD, IS_WHAT = "a field of bool", "has a model or a Lyapunov function that depends on flags"
    INSTEAD = "let it depend on the vectors of a state only"
    dtype = np.dtype(bool)


UNREAD = _Unread()

World = tuple[SymbolicProblem, SymbolicChannel]


def _terms(
    psi: Potential, method: MethodInUnits, given: FunctionClass, s: Any, problem: Any
) -> Terms:
    """Return the terms of a Lyapunov function at a state."""
    plain = _with_one_model(method, s)
    about = problem
    if not given.has_solution:
        about = AboutModel(problem, method.inner.model(plain))
    star = method.plain(fixed_point(method, about))
    with watched(method.name, is_step=False):
        return psi.lyapunov(method.inner, plain, star, given, method.shown(problem))


def _with_one_model(method: MethodInUnits, s: Any) -> Any:
    """Return a state without units and flags, of which all clients have the same model."""
    plain = each(lambda x: UNREAD if x.dtype == bool else x, method.plain(s))
    with watched(method.name):
        model = method.inner.model(plain)
    if model.shape[0] > 1:
        raise Refusal(
            f"the model of {method.name} is a vector of every client; return one that all share, "
            "such as their mean"
        )
    return plain


def _form(
    term: Squares | Gap,
    method: Method,
    functions: FunctionClass,
    problem: SymbolicProblem,
    channel: SymbolicChannel,
) -> Form:
    """Return a term with weight 1 as a form, the noises replaced by their variances.

    At a point with noise the value is at most that without, plus (L_f/2) |noise|^2 in the mean.
    """
    basis, frame = problem.basis, problem.frame
    values = zeros(basis.size, exact=basis.exact)
    if isinstance(term, Squares):
        require_asked(term.vectors)
        gram = expected_gram(frame.gram(term.vectors), functions, problem, channel)
        return Form(frame.blocks(gram, basis), values)
    if term.point.shape[0] > 1:
        raise Refusal(
            f"a gap f(x) - f* of {method.name} is at a point of every client; take one that all "
            "share, such as their mean"
        )
    noise = frame.mapped(lambda rows: rows * basis.noise[None, :, None], term.point)
    smoothness = functions.average_smoothness + (functions.L if method.needs.composite else 0)
    gram = expected_gram(smoothness / 2 * frame.gram(noise), functions, problem, channel)
    blocks = frame.blocks(gram, basis)
    for function in ("f", "g") if method.needs.composite else ("f",):
        for evaluation in problem.evaluate(function, term.point - noise, frame.everyone):
            values[problem.evaluations.index(evaluation)] += 1
            mu, _ = functions.curvature(evaluation.kind)
            count = functions.n if evaluation.kind < 0 else functions.kinds[evaluation.kind].count
            least = (np.outer(p, p) * mu * count / (2 * functions.n) for p in evaluation.point)
            if not functions.plain_values:
                blocks = tuple(block + more for block, more in zip(blocks, least, strict=True))
    return Form(blocks, values)
