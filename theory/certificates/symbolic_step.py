"""One step of a method on symbols: the forms of Psi and E[Psi+], and what holds for unknowns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.solvers.world.iteration import theorem_step
from bitbound.theory.certificates.interpolation import Form, contraction, interpolation, zero
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import Gap, Potential, Squares, Terms
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.invariants import invariants
from bitbound.theory.worlds.linearity import require_linear
from bitbound.theory.worlds.orbits import Orbit, orbits
from bitbound.theory.worlds.symbols import (
    Basis,
    BasisFullError,
    Blocks,
    Evaluation,
    Frame,
    Matrix,
    SymbolicChannel,
    SymbolicProblem,
    unknown_state,
)
from bitbound.theory.worlds.units import MethodInUnits, in_units

LARGEST_BASIS = 32
"""Largest number of unknowns; beyond it the programme is slow and badly conditioned."""


@dataclass(frozen=True)
class SymbolicStep:
    """What one step does to a Lyapunov function, over a whole class of functions.

    Attributes
    ----------
    method : MethodInUnits
        The method in the units of the unknowns.
    functions : FunctionClass
        The class of the functions divided by L, which the unknown gradients are of.
    basis : Basis
        The names of the unknowns.
    now, after : tuples of Form
        Psi and E[Psi+], by the terms of the Lyapunov function with weight 1.
    weights : tuple of float
        The weights of the terms.
    inequalities : dict of Form
        What is at least 0, by name.
    kernels : two (basis, k) matrices
        Bases of what the unknowns of each block can be, the invariants being 0.
    evaluations : tuple of Evaluation
        All gradients that were asked for.
    errors : tuple
        The unknown error of each contraction, the vector that was compressed, and alpha.
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
    errors: tuple[tuple[int, Blocks, float], ...]


def symbolic_step(
    method: Method, functions: FunctionClass, potential: Potential, *, trusted: bool = False
) -> SymbolicStep:
    """Run one step of a method on symbols, over all its outcomes.

    What is ``trusted`` is not tried on numbers first: another step size of what was tried.

    Raises
    ------
    Refusal
        If the method is not linear, its clients are not exchangeable, or its compressors are not
        of the functions.
    """
    _check(method, functions)
    natural = in_units(method, functions.n, functions.L)
    if not trusted:
        require_linear(natural, functions.n)
    found, _ = orbits(method, functions.n)
    size = 16
    while True:
        try:
            return _symbolic_step(natural, functions, potential, found, Basis(size))
        except BasisFullError:
            size *= 2
        if size > LARGEST_BASIS:
            raise Refusal(
                f"{method.name} with these parameters has more than {LARGEST_BASIS} unknowns per "
                "step; take fewer local steps"
            )


def _check(method: Method, functions: FunctionClass) -> None:
    need = method.needs.compressor
    if need == "contractive" and functions.alpha is None:
        raise Refusal(
            f"{method.name} needs contractive compressors; give the function class an alpha"
        )
    if need is None and functions.omega > 0:
        raise Refusal(
            f"{method.name} sends uncompressed vectors; give a function class with omega = 0"
        )


def _symbolic_step(
    method: MethodInUnits,
    given: FunctionClass,
    potential: Potential,
    found: tuple[Orbit, ...],
    basis: Basis,
) -> SymbolicStep:
    evaluations: list[Evaluation] = []
    errors: list[tuple[int, Blocks, float]] = []
    functions = given.in_units()

    def lyapunov(s: Any, problem: SymbolicProblem) -> Terms:
        star = method.plain(fixed_point(method, problem))
        steeper = method.steeper(problem)
        return potential.lyapunov(method.inner, method.plain(s), star, given, steeper)

    def forms(s: Any, problem: SymbolicProblem, channel: SymbolicChannel) -> list[Form]:
        return [
            _form(term, method, functions, problem, channel)
            * (given.L if isinstance(term, Gap) else 1.0)
            for term in lyapunov(s, problem)
        ]

    frame = Frame(np.zeros(functions.n, dtype=np.intp))
    problem = SymbolicProblem(basis, frame, evaluations)
    state = unknown_state(method, problem)
    now = forms(state, problem, SymbolicChannel(method, functions, problem, errors))
    terms = lyapunov(state, problem)
    relations = [
        np.broadcast_to(x, (*x.shape[:2], frame.runs)) for x in invariants(method, state, problem)
    ]
    after = [zero(basis.size) for _ in now]
    for orbit in found:
        problem = SymbolicProblem(basis, Frame(orbit.cells), evaluations)
        channel = SymbolicChannel(method, functions, problem, errors, orbit.script)
        s = theorem_step(method, unknown_state(method, problem), problem, channel)
        after = [
            total + form * orbit.probability
            for total, form in zip(after, forms(s, problem, channel), strict=True)
        ]
    inequalities = interpolation(evaluations, functions)
    for number, vector, alpha in errors:
        own = bool(basis.every_client[number])
        inequalities[f"contraction {number}"] = contraction(alpha, number, vector, own)
    used = np.arange(basis.size) < len(basis.names)
    kernels = (
        _kernel([x[:, :, 0] for x in relations], used & ~basis.noise),
        _kernel(
            [x[:, :, 2] for x in relations if frame.n > 1],
            used & ~basis.noise & basis.every_client & (frame.n > 1),
        ),
    )
    return SymbolicStep(
        method,
        functions,
        basis,
        tuple(now),
        tuple(after),
        tuple(float(term.weight) for term in terms),
        inequalities,
        kernels,
        tuple(evaluations),
        tuple(errors),
    )


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
    values = np.zeros(basis.size)
    least = [np.zeros((basis.size, basis.size))] * 2
    if isinstance(term, Squares):
        gram = frame.gram(term.vectors)
    else:
        noise = term.point * basis.noise[None, :, None]
        smoothness = functions.average_smoothness + (functions.L if method.needs.composite else 0.0)
        gram = smoothness / 2 * frame.gram(noise)
        for function in ("f", "g") if method.needs.composite else ("f",):
            rows = np.ones(functions.n, dtype=bool)
            evaluation = problem.evaluate(function, term.point - noise, rows)
            values[problem.evaluations.index(evaluation)] = 1.0
            share = functions.mu / 2 / (functions.n if function == "f" else 1)
            for block, p in enumerate(evaluation.point):
                least[block] = least[block] + share * np.outer(p, p)
    for number, sent in reversed(channel.noises):
        gram = gram + _variance(gram, number, sent, functions, frame)
        gram[:, number, :] = 0.0
        gram[:, :, number] = 0.0
    return Form(frame.blocks(gram, basis), values) + Form((least[0], least[1]), 0 * values)


def _variance(
    gram: Matrix, number: int, sent: Matrix, functions: FunctionClass, frame: Frame
) -> Matrix:
    """Return what a noise adds in the mean to a form: its variance as a form of what was sent."""
    if functions.omega_joint is None:
        return functions.omega * frame.gram(sent, frame.diagonal(gram, number))
    if len(frame.members) > 1:
        raise Refusal(
            "compressors that share their randomness cannot be certified together with client "
            "sampling; let them draw independently"
        )
    equal = gram[0, number, number]
    different = gram[2, number, number] if frame.n > 1 else 0.0
    factor = max(equal - different, 0.0) * functions.omega_joint + different * functions.omega
    return frame.gram(sent, np.full(frame.n, factor))


def _kernel(relations: list[Matrix], allowed: NDArray[np.bool_]) -> Matrix:
    """Return an orthonormal basis of the vectors on allowed unknowns with no relation violated."""
    inside = np.eye(len(allowed))[:, allowed]
    if not relations or not inside.shape[1]:
        return inside
    rows = np.unique(np.concatenate(relations) @ inside, axis=0)
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    kernel: Matrix = inside @ scipy.linalg.null_space(rows, rcond=1e-10)
    return kernel
