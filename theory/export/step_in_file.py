"""A step on symbols as it stands in a file: vectors, forms and evaluations in rational numbers.

Vectors are combinations of the unknowns that the invariants leave free, in each block. A class of
functions is named by its number: those of the clients, then g or the server, then the average.
"""

import hashlib
import json
from dataclasses import fields
from textwrap import shorten
from typing import Any

import numpy as np

from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.rational_algebra import Rationals
from certibit.theory.proofs.rational_step import RationalForm
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.opaque.exact_numbers import (
    Exact,
    exact_parameters,
    rational,
    rationals,
)

FORMAT = "certibit proof 3"
"""The version of the files of proofs, which they name."""

LONGEST = 300
"""Longest text about the parameters of a method."""


def method_in_words(method: Method, functions: FunctionClass) -> str:
    """Return which method and setting Psi and E[Psi+] belong to; the checker cannot check this."""
    exact: Any = exact_parameters(method)
    values = {field.name: getattr(exact, field.name) for field in fields(exact)}
    told = shorten(", ".join(f"{name} = {_word(x)}" for name, x in values.items()), LONGEST)
    needs = method.needs
    noises = []
    if needs.compressor == "unbiased":
        own = ", ".join(written_number(one.omega) for one in functions.kinds)
        noises.append(f"; compressors with omega = {own}")
    if needs.downlink == "unbiased":
        noises.append(f"; a server with omega = {written_number(functions.omega_down)}")
    noises.append("; contractions that draw nothing" * functions.deterministic)
    shared = needs.shared_minimiser and functions.n > 1 and functions.has_solution
    noises.append("; one minimiser of all f_i" * shared)
    return f"{method.name} ({told}){''.join(noises)}"


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_word, value))})"
    return str(value.value if isinstance(value, Exact) else value)


def written_classes(functions: FunctionClass) -> list[dict[str, str]]:
    """Return the constants of the classes of clients, of g and the server, and of the average."""
    kinds = range(len(functions.kinds))
    omegas = [*(one.omega for one in functions.kinds), functions.omega_down]
    rows = [
        (*functions.curvature(kind), functions.contraction(kind), omega)
        for kind, omega in zip((*kinds, -1), omegas, strict=True)
    ]
    if functions.L_f is not None:
        rows.append((exact_parameters(functions).average_convexity, functions.L_f, 1.0, 0.0))
    names = "mu", "L", "alpha", "omega"
    return [dict(zip(names, map(written_number, row), strict=True)) for row in rows]


def free_unknowns(step: SymbolicStep, kernel: Rationals) -> list[str]:
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


def evaluations_of(step: SymbolicStep, kernels: list[Rationals]) -> list[dict[str, Any]]:
    """Return the evaluated gradients, with their points."""
    kinds = len(kernels) - 1
    return [
        {
            "class": one.kind % (kinds + 1),
            "point": written_vector(one.point, kernels),
            "gradient": written_vector(unknown_in_blocks(one.gradient, step), kernels),
        }
        for one in step.evaluations
    ]


def places_of_end(end: str, kind: int, step: SymbolicStep, kinds: int) -> list[int]:
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


def unknown_in_blocks(number: int, step: SymbolicStep) -> list[Rationals]:
    """Return an unknown in all blocks: what all share, and what its own class has."""
    unit = np.array([int(place == number) for place in range(step.basis.size)], dtype=object)
    own = step.basis.kind[number]
    return [unit, *(unit * int(own == kind) for kind in range(len(step.kernels) - 1))]


def written_vector(blocks: Any, kernels: list[Rationals]) -> list[list[str]]:
    """Return a vector in the coordinates of all blocks."""
    return [
        [str(entry) for entry in rationals(block) @ kernel]
        for block, kernel in zip(blocks, kernels, strict=True)
    ]


def written_form(form: RationalForm) -> dict[str, Any]:
    """Return a form: its blocks, and its function values."""
    return {
        "blocks": [[list(map(str, row)) for row in block] for block in form.blocks],
        "values": list(map(str, form.values)),
    }


def sealed(content: dict[str, Any]) -> str:
    """Return the text of a file with its format and the hash of its content."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return json.dumps({"format": FORMAT, "sha256": digest, **content}, indent=1)


def written_number(number: Any) -> str:
    """Return a number as an integer or a fraction."""
    return str(rational(number))
