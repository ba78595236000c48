"""The file of a certificate, which ``docs/check_certificate.py`` checks without this package."""

from dataclasses import fields
from textwrap import shorten
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.rational_algebra import Rationals
from certibit.theory.proofs.rational_step import RationalForm, RationalStep
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.symbolic.exact_numbers import (
    Exact,
    exact_parameters,
    rational,
    rationals,
)
from certibit.theory.worlds.symbolic.frames import same_point
from certibit.theory.worlds.symbolic.interpolation import end_of
from certibit.theory.worlds.symbolic.local_solves import LocalSolve
from certibit.theory.worlds.symbolic.symbols import Evaluation

LONGEST = 300
"""Longest text about the parameters of a method."""


def certificate_file(proof: Certificate) -> dict[str, Any]:
    """Return what stands in the file of a proof.

    Vectors are combinations of the unknowns that the invariants leave free, in each block. A class
    of functions is named by its number: those of the clients, then g, then the average.
    """
    rational_step = RationalStep.of(proof.method, proof.functions, proof.potential)
    step = rational_step.symbols
    kernels = [rationals(kernel) for kernel in step.kernels]
    now, after = rational_step.psi(proof.exact_weights[0])
    return {
        "about": _about(proof),
        "unknowns": [_free(step, kernel) for kernel in kernels],
        "certificate": {
            "counts": [int(one.count) for one in proof.functions.kinds],
            "classes": _classes(proof.functions),
            "evaluations": [*_evaluations(step, kernels), *_solutions(kernels)],
            "psi": _form(now),
            "expected": _form(after),
            "decrease": str(proof.exact),
            "inequalities": [
                _inequality(name, y, step, kernels) for name, y in proof.multipliers.items() if y
            ],
        },
    }


def _about(proof: Certificate) -> str:
    """Return of what Psi and E[Psi+] are said to be; nothing of it follows from the rest."""
    exact: Any = exact_parameters(proof.method)
    values = {field.name: getattr(exact, field.name) for field in fields(exact)}
    told = shorten(", ".join(f"{name} = {_word(x)}" for name, x in values.items()), LONGEST)
    functions, needs = proof.functions, proof.method.needs
    noises = []
    if needs.compressor == "unbiased":
        own = ", ".join(_text(one.omega) for one in functions.kinds)
        noises.append(f"; compressors with omega = {own}")
    if needs.downlink == "unbiased":
        noises.append(f"; a server with omega = {_text(functions.omega_down)}")
    noises.append("; contractions that draw nothing" * functions.deterministic)
    return f"{proof.method.name} ({told}){''.join(noises)}"


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_word, value))})"
    return str(value.value if isinstance(value, Exact) else value)


def _free(step: SymbolicStep, kernel: Rationals) -> list[str]:
    """Return the names of the unknowns that are free in a block."""
    names = [""] * step.basis.size
    for name, first in step.basis.names.items():
        kinds = step.basis.kinds if step.basis.kind[first] >= 0 else 1
        for kind in range(kinds):
            suffix = f" of class {kind + 1}" if kinds > 1 else ""
            names[first + kind] = " ".join(map(str, name)) + suffix
    units = np.eye(kernel.shape[1], dtype=int)
    rows = [next(i for i, row in enumerate(kernel) if np.all(row == unit)) for unit in units]
    return [names[row] for row in rows]


def _classes(functions: FunctionClass) -> list[dict[str, str]]:
    """Return the constants of the classes of clients, of g and the server, and of the average."""
    constants = [(one.mu, one.L, one.alpha) for one in functions.kinds]
    constants.append((functions.mu, functions.L, functions.alpha_down))
    if functions.L_f is not None:
        constants.append((exact_parameters(functions).average_convexity, functions.L_f, None))
    return [
        {"mu": _text(mu), "L": _text(L), "alpha": _text(1 if alpha is None else alpha)}
        for mu, L, alpha in constants
    ]


def _evaluations(step: SymbolicStep, kernels: list[Rationals]) -> list[dict[str, Any]]:
    kinds = len(kernels) - 1
    return [
        {
            "class": one.kind % (kinds + 1),
            "point": _vector(one.point, kernels),
            "gradient": _vector(_unknown(one.gradient, step), kernels),
        }
        for one in step.evaluations
    ]


def _solutions(kernels: list[Rationals]) -> list[dict[str, Any]]:
    """Return the evaluations at the solution, of all classes; they have no function value."""
    nothing = [["0"] * kernel.shape[1] for kernel in kernels]
    return [{"class": kind, "point": nothing, "gradient": nothing} for kind in range(len(kernels))]


def _inequality(
    name: str, given: Any, step: SymbolicStep, kernels: list[Rationals]
) -> dict[str, Any]:
    """Return an inequality with its multiplier, in the mean over the clients."""
    kind, words, multiplier = len(kernels) - 1, name.split(": "), rational(given)
    if name.startswith("local steps"):
        solve = next(one for one in step.solves if one.name == name)
        return {
            "multiplier": str(multiplier * step.functions.n),
            "class": solve.kind,
            "vector": _vector(solve.before, kernels),
            "error": _vector(solve.after, kernels),
            "steps": _local_steps(solve, step),
        }
    if len(words) == 1:
        number = int(name.removeprefix("contraction "))
        kind = int(step.basis.kind[number]) % len(kernels)
        return {
            "multiplier": str(multiplier * step.functions.n),
            "class": kind,
            "vector": _vector(dict(step.errors)[number], kernels),
            "error": _vector(_unknown(number, step), kernels),
        }
    function, ends = words
    if function == "average":
        kind = len(kernels)
    else:
        kind = next(e.kind for e in step.evaluations if e.function == function) % len(kernels)
    start, end = (_places(end, kind, step, len(kernels) - 1) for end in ends.split(" to "))
    return {"multiplier": str(multiplier), "class": kind, "from": start, "to": end}


def _local_steps(solve: LocalSolve, step: SymbolicStep) -> dict[str, Any]:
    """Return what the factor of local steps follows from: size, number, function, first and last.

    The change of their gradient is that of a multiple of the function and of |x|^2/2. Steps that
    end by a criterion have the pull of it, and neither first nor last.
    """
    last = end_of(solve, step.evaluations)
    share, ridge = solve.function(last.gradient)
    ratio = solve.ratio(last.gradient, *step.functions.curvature(solve.kind))
    told = {
        "size": _text(solve.step),
        "number": solve.count,
        "share": _text(share),
        "ridge": _text(ridge),
        "ratio": _text(ratio),
        "pull": _text(solve.pull),
    }
    if solve.pull:
        return told
    change = [b - a for a, b in zip(solve.before, solve.after, strict=True)]

    def slope(one: Evaluation) -> list[Rationals]:
        pairs = zip(_unknown(one.gradient, step), one.point, strict=True)
        return [share * gradient + ridge * point for gradient, point in pairs]

    firsts = (
        place
        for place, one in enumerate(step.evaluations)
        if one.kind == solve.kind
        and all(
            same_point((b - a,), (c,))
            for a, b, c in zip(slope(one), slope(last), change, strict=True)
        )
    )
    first = next(firsts, None)
    if first is None:
        raise Refusal("local steps on functions that change have no word in the file")
    return told | {"from": [first], "to": [step.evaluations.index(last)]}


def _places(end: str, kind: int, step: SymbolicStep, kinds: int) -> list[int]:
    """Return the numbers of the evaluations of a class, or of all that make the average."""
    everyone = range(kinds)
    if end == "solution":
        solutions = len(step.evaluations)
        return [solutions + one for one in (everyone if kind > kinds else [kind])]
    number = int(end.removeprefix("point "))
    if kind <= kinds:
        return [number]
    unknown = step.evaluations[number].unknown
    return [
        i for i, e in enumerate(step.evaluations) if e.kind in everyone and e.unknown == unknown
    ]


def _unknown(number: int, step: SymbolicStep) -> list[Rationals]:
    """Return an unknown in all blocks: what all share, and what its own class has."""
    unit = np.array([int(place == number) for place in range(step.basis.size)], dtype=object)
    own = step.basis.kind[number]
    return [unit, *(unit * int(own == kind) for kind in range(len(step.kernels) - 1))]


def _vector(blocks: Any, kernels: list[Rationals]) -> list[list[str]]:
    return [
        [str(entry) for entry in rationals(block) @ kernel]
        for block, kernel in zip(blocks, kernels, strict=True)
    ]


def _form(form: RationalForm) -> dict[str, Any]:
    return {
        "blocks": [[list(map(str, row)) for row in block] for block in form.blocks],
        "values": list(map(str, form.values)),
    }


def _text(number: Any) -> str:
    return str(rational(number))
