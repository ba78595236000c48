"""The file of a certificate, which ``docs/check_certificate.py`` checks without this package."""

from typing import Any

from certibit.data.errors import Refusal
from certibit.theory.export.step_in_file import (
    evaluations_of,
    free_unknowns,
    method_in_words,
    places_of_end,
    unknown_in_blocks,
    written_classes,
    written_form,
    written_number,
    written_vector,
)
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.rational_algebra import Rationals
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.opaque.exact_numbers import rational, rationals
from certibit.theory.worlds.symbolic.frames import same_point
from certibit.theory.worlds.symbolic.interpolation import end_of
from certibit.theory.worlds.symbolic.local_solves import LocalSolve
from certibit.theory.worlds.symbolic.symbols import Evaluation


def certificate_file(proof: Certificate) -> dict[str, Any]:
    """Return what stands in the file of a proof.

    Raises
    ------
    Refusal
        If Psi after the step is another function, or the file has no words for local steps.
    """
    if proof.following not in {None, proof.weights}:
        raise Refusal(
            f"this link of a chain ends with other weights {proof.following} than {proof.weights}, "
            "and a file is about one Psi; export the certificate of one step"
        )
    if proof.with_noises:
        raise Refusal("Psi is no sum of squares and function values, and has no word in the file")
    rational_step = RationalStep.of(proof.method, proof.functions, proof.potential)
    step = rational_step.symbols
    kernels = [rationals(kernel) for kernel in step.kernels]
    now, after = rational_step.psi(proof.exact_weights[0])
    return {
        "about": method_in_words(proof.method, proof.functions),
        "unknowns": [free_unknowns(step, kernel) for kernel in kernels],
        "certificate": {
            "counts": [int(one.count) for one in proof.functions.kinds],
            "classes": written_classes(proof.functions),
            "evaluations": evaluations_of(step, kernels),
            "psi": written_form(now),
            "expected": written_form(after),
            "decrease": str(proof.exact),
            "inequalities": [
                _inequality(name, y, step, kernels) for name, y in proof.multipliers.items() if y
            ],
        },
    }


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
            "vector": written_vector(solve.before, kernels),
            "error": written_vector(solve.after, kernels),
            "steps": _local_steps(solve, step, kernels),
        }
    if len(words) == 1:
        number = int(name.removeprefix("contraction "))
        kind = int(step.basis.kind[number]) % len(kernels)
        return {
            "multiplier": str(multiplier * step.functions.n),
            "class": kind,
            "vector": written_vector(dict(step.errors)[number], kernels),
            "error": written_vector(unknown_in_blocks(number, step), kernels),
        }
    function, ends = words
    if function == "average":
        kind = len(kernels)
    else:
        kind = next(e.kind for e in step.evaluations if e.function == function) % len(kernels)
    start, end = (places_of_end(end, kind, step, len(kernels) - 1) for end in ends.split(" to "))
    return {"multiplier": str(multiplier), "class": kind, "from": start, "to": end}


def _local_steps(solve: LocalSolve, step: SymbolicStep, kernels: list[Rationals]) -> dict[str, Any]:
    """Return what the factor of local steps follows from: size, number, function, first and last.

    The change of their gradient is that of a multiple of the function and of |x|^2/2. Steps that
    end by a criterion have the pull of it, and no first.
    """
    last = end_of(solve, step.evaluations)
    share, ridge = solve.function(last.gradient)
    ratio = solve.ratio(last.gradient, *step.functions.curvature(solve.kind))
    told = {
        "size": written_number(solve.step),
        "number": solve.count,
        "share": written_number(share),
        "ridge": written_number(ridge),
        "ratio": written_number(ratio),
        "pull": written_number(solve.pull),
        "end": written_vector(unknown_in_blocks(solve.place, step), kernels),
        "to": [step.evaluations.index(last)],
    }
    if solve.pull:
        return told
    change = [b - a for a, b in zip(solve.before, solve.after, strict=True)]

    def slope(one: Evaluation) -> list[Rationals]:
        pairs = zip(unknown_in_blocks(one.gradient, step), one.point, strict=True)
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
    return told | {"from": [first]}
