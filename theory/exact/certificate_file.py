"""The file of a certificate, which ``docs/check_certificate.py`` checks without this package."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from bitbound.theory.certificates.interpolation import Form, weighted_sum
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.exact.exact_proof import ExactProof
from bitbound.theory.exact.rational_algebra import Rationals
from bitbound.theory.worlds.symbolic.exact_numbers import Exact, exact_parameters, rational


def write_certificate(proof: ExactProof, path: Path) -> None:
    """Write a proof as JSON; all numbers are fractions in strings."""
    path.write_text(json.dumps(certificate_file(proof), indent=1) + "\n", encoding="utf-8")


def certificate_file(proof: ExactProof) -> dict[str, Any]:
    """Return what stands in the file of a proof."""
    step = symbolic_step(proof.method, proof.functions, proof.potential, exact=True)
    functions = proof.functions
    weights = [Exact(weight) for weight in proof.weights]
    alike = {"mu": _text(functions.mu), "L": _text(functions.L)}
    if functions.L_f is not None:
        alike["L_f"] = _text(functions.L_f)
    if functions.alpha_down is not None:
        alike["alpha"] = _text(functions.alpha_down)
    return {
        "claim": f"E[Psi+] <= (1 - {proof.decrease}) Psi, the decrease being "
        f"{float(proof.decrease):.10g}",
        "method": proof.method.name,
        "parameters": _parameters(proof),
        "classes": [
            {
                "count": one.count,
                "mu": _text(one.mu),
                "L": _text(one.L),
                "omega": _text(one.omega),
                "alpha": _text(1 if one.alpha is None else one.alpha),
            }
            for one in functions.kinds
        ],
        "shared": alike,
        "unknowns": _unknowns(step),
        "spans": [_texts(kernel.T) for kernel in step.kernels],
        "evaluations": [
            {
                "function": one.function,
                "class": one.kind,
                "point": _texts(one.point),
                "gradient": one.gradient,
            }
            for one in step.evaluations
        ],
        "contractions": [
            {
                "name": f"contraction {number}",
                "class": int(step.basis.kind[number]),
                "error": number,
                "vector": _texts(vector),
            }
            for number, vector in step.errors
        ],
        "psi": _form(weighted_sum(weights, step.now), step),
        "expected_psi_after": _form(weighted_sum(weights, step.after), step),
        "decrease": _text(proof.decrease),
        "multipliers": {name: _text(y) for name, y in proof.multipliers.items() if y},
    }


def _parameters(proof: ExactProof) -> dict[str, str]:
    exact: Any = exact_parameters(proof.method)
    named = {one.name: getattr(exact, one.name) for one in fields(exact)}
    return {
        name: str(value.value) if isinstance(value, Exact) else str(value)
        for name, value in named.items()
    }


def _unknowns(step: SymbolicStep) -> list[str]:
    names = [""] * step.basis.size
    for name, first in step.basis.names.items():
        kinds = step.basis.kinds if step.basis.kind[first] >= 0 else 1
        for kind in range(kinds):
            suffix = f" of class {kind + 1}" if kinds > 1 else ""
            names[first + kind] = " ".join(map(str, name)) + suffix
    return names


def _form(form: Form, step: SymbolicStep) -> dict[str, Any]:
    values = form.values[: len(step.evaluations)]
    return {"blocks": _texts(form.blocks), "values": _texts(values)}


def _texts(numbers: Any) -> list[Any]:
    if isinstance(numbers, tuple) or (isinstance(numbers, np.ndarray) and numbers.ndim > 1):
        return [_texts(entry) for entry in numbers]
    row: Rationals = numbers
    return [_text(entry) for entry in row]


def _text(number: Any) -> str:
    return str(rational(number))
