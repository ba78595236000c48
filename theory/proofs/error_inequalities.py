"""The inequalities about errors of messages, noises of gradients and their samples in one step."""

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.symbolic.frames import Basis
from certibit.theory.worlds.symbolic.interpolation import (
    Form,
    expected_change,
    joint_noise,
    lost,
    of_noise,
)
from certibit.theory.worlds.symbolic.shared_points import SharedEvaluation, shared_evaluations
from certibit.theory.worlds.symbolic.symbols import Evaluation, MessageError


def inequalities_of_errors(
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


def seen_errors(
    errors: list[MessageError], after: Sequence[Form], evaluations: Sequence[Evaluation]
) -> list[MessageError]:
    """Leave out noises of samples that cancel: Psi+ and no other vector depends on them."""
    vectors = [*(one.point for one in evaluations), *(one.vector for one in errors)]
    matrices = [block for form in after for block in form.blocks]
    parts = [*matrices, *(part for vector in vectors for part in vector)]

    def seen(one: MessageError) -> bool:
        return any(np.any(part[one.unknown]) for part in parts)

    return [one for one in errors if one.law != "sample" or seen(one)]
