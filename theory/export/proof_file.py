"""The file of a proof, which ``docs/check_proof.py`` checks without this package.

Vectors are combinations of the unknowns that the invariants leave free, in each block. A class of
functions is named by its number: those of the clients, then g or the server, then the average.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from textwrap import shorten
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.assumptions.assumption import (
    Assumption,
    BoundedDissimilarity,
    Infimum,
    MeanSmoothness,
    labels,
)
from certibit.theory.assumptions.polyak_lojasiewicz import (
    PolyakLojasiewicz,
    QuasiStrongConvexity,
    Similarity,
)
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.proof import NO_GROWTH, Descent, Proof, Start
from certibit.theory.proofs.rational_algebra import Rationals
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.opaque.exact_numbers import (
    Exact,
    Rational,
    exact_parameters,
    rational,
    rationals,
)
from certibit.theory.worlds.symbolic.frames import same_point
from certibit.theory.worlds.symbolic.interpolation import end_of, shared_calls, shares_of
from certibit.theory.worlds.symbolic.local_solves import LocalSolve
from certibit.theory.worlds.symbolic.symbols import Evaluation

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


def _written_classes(functions: FunctionClass) -> list[dict[str, str]]:
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


def _free_unknowns(step: SymbolicStep, kernel: Rationals) -> list[str]:
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


def _evaluations_of(step: SymbolicStep, kernels: list[Rationals]) -> list[dict[str, Any]]:
    """Return the evaluated gradients, with their points."""
    kinds = len(kernels) - 1
    return [
        {
            "class": one.kind % (kinds + 1),
            "point": _written_vector(one.point, kernels),
            "gradient": _written_vector(_unknown_in_blocks(one.gradient, step), kernels),
        }
        for one in step.evaluations
    ]


def _places_of_end(end: str, kind: int, step: SymbolicStep, kinds: int) -> list[int]:
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


def _unknown_in_blocks(number: int, step: SymbolicStep) -> list[Rationals]:
    """Return an unknown in all blocks: what all share, and what its own class has."""
    unit = np.array([int(place == number) for place in range(step.basis.size)], dtype=object)
    own = step.basis.kind[number]
    return [unit, *(unit * int(own == kind) for kind in range(len(step.kernels) - 1))]


def _written_vector(blocks: Any, kernels: list[Rationals]) -> list[list[str]]:
    """Return a vector in the coordinates of all blocks."""
    return [
        [str(entry) for entry in rationals(block) @ kernel]
        for block, kernel in zip(blocks, kernels, strict=True)
    ]


def _written_form(form: RationalForm) -> dict[str, Any]:
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


KNOWN = (
    BoundedDissimilarity,
    Infimum,
    MeanSmoothness,
    PolyakLojasiewicz,
    QuasiStrongConvexity,
    Similarity,
)
"""The assumptions that the file has words for, each by its first constant."""


def parts_of(proof: Proof, *, grown: bool = False) -> tuple[RationalStep, Start | None, Descent]:
    """Return the step of a proof, its start, and what is proved in the numbers of a programme.

    With ``grown`` E[Psi+] is given less the growth of Psi.

    Raises
    ------
    Refusal
        If Psi after the step is another function.
    """
    if proof.following not in {None, proof.weights}:
        raise Refusal(
            f"this link of a chain ends with other weights {proof.following} than {proof.weights}, "
            "and a file is about one Psi; export the certificate of one step"
        )
    alone = replace(proof, following=None, growth=proof.growth if grown else NO_GROWTH)
    step, start = alone.step_and_start
    descent = alone.descent(step)
    if proof.measure.contracts:
        step = replace(step, measured=step.psi(descent.weights)[:1])
    return step, start, descent


def proof_file(proof: Proof) -> dict[str, Any]:
    """Return what stands in the file of a proof.

    Raises
    ------
    Refusal
        If the file has no words for an assumption or a step, or Psi after the step is another
        function.
    """
    whole, start, descent = parts_of(proof)
    writer = _Writer(whole)
    step, functions = whole.symbols, proof.functions
    now, after = whole.psi(descent.weights)
    written: dict[str, Any] = {
        "counts": [int(one.count) for one in functions.kinds],
        "classes": _written_classes(functions),
        "assumptions": [writer.assumption(one) for one in writer.assumptions.values()],
        "solution": int(functions.has_solution),
        "evaluations": _evaluations_of(step, writer.kernels),
        "messages": writer.messages,
        "psi": writer.form(now),
        "expected": writer.form(after),
        "c": str(descent.c),
        "e": str(descent.e),
        "d": str(descent.dissimilarity),
        "growth": str(proof.growth),
        "measure": writer.measure(proof.measure.name),
        "inequalities": writer.inequalities(descent.multipliers),
        "equalities": [writer.equality(name, u) for name, u in descent.free.items() if u],
        "below": writer.inequalities(descent.below),
    }
    if functions.noise is not None:
        written["noise"] = {
            one.name: written_number(value)
            for one in fields(functions.noise)
            if (value := getattr(functions.noise, one.name)) is not None
        }
    if functions.omega_joint is not None:
        written["omega_joint"] = written_number(functions.omega_joint)
    if start is not None:
        rest = writer.form(combination(descent.weights, start.terms))
        written["start"] = {"psi": rest, "inequalities": writer.inequalities(descent.starting)}
    return {
        "about": method_in_words(proof.method, functions),
        "unknowns": [_free_unknowns(step, kernel) for kernel in writer.kernels],
        "proof": written,
    }


class _Writer:
    """What a step has in a file: its messages, its assumptions, and inequalities by their names."""

    def __init__(self, whole: RationalStep) -> None:
        self.whole, self.step = whole, whole.symbols
        self.functions = self.step.functions
        self.kernels: list[Rationals] = [rationals(kernel) for kernel in self.step.kernels]
        self.sent = dict(self.step.errors)
        self.laws = {
            int(name.split()[1]): name.split()[0]
            for name in whole.inequalities
            if re.fullmatch(r"(contraction|noise|sample|difference) \d+", name)
        }
        self.numbers = {unknown: place for place, unknown in enumerate(self.laws)}
        self.assumptions = _assumptions(self.functions)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that lose something, and the sampled gradients."""
        server = len(self.kernels) - 1
        return [
            {
                "class": server if (kind := int(self.step.basis.kind[unknown])) < 0 else kind,
                "vector": _written_vector(self.sent[unknown], self.kernels),
                law: _written_vector(_unknown_in_blocks(unknown, self.step), self.kernels),
                **({"at": list(at)} if (at := self.step.sampled_at.get(unknown)) else {}),
                **(
                    {}
                    if (first := self._first(unknown)) == unknown
                    else {"with": self.numbers[first]}
                ),
            }
            for unknown, law in self.laws.items()
        ]

    def _first(self, unknown: int) -> int:
        """Return the first noise of the sample of a noise, if that is no other's its own number."""
        sample = self.step.pairs.get(unknown, unknown)
        of_sample = (one for one in self.laws if self.step.pairs.get(one) == sample)
        return sample if sample in self.laws else next(of_sample)

    def form(self, form: RationalForm) -> dict[str, Any]:
        """Return a form with its coefficient of sigma^2.

        Its values are of f - f*, also where those of the step are less (mu/2) |x - x*|^2.
        """
        count, blocks = len(self.step.evaluations), form.blocks
        for value, one in zip(form.values, self.step.evaluations, strict=False):
            if value and not self.functions.plain_values:
                mu, shares = (
                    self.functions.curvature(one.kind)[0],
                    shares_of(one.kind, self.functions),
                )
                points = (rationals(p) @ k for p, k in zip(one.point, self.kernels, strict=True))
                part = value * rational(mu) / (2 * int(self.functions.n))
                blocks = tuple(
                    block - part * share * np.outer(p, p)
                    for block, share, p in zip(blocks, shares, points, strict=True)
                )
        sampled = self.functions.noise is not None
        variance = form.values[count] if sampled else 0
        plain = RationalForm(blocks, form.values[:count])
        return _written_form(plain) | {"variance": str(variance)}

    def assumption(self, one: Assumption) -> dict[str, str]:
        """Return the constants of an assumption; zeta as a multiple of that of the promise."""
        found = {one.name: written_number(getattr(one, fields(one)[0].name))}
        if isinstance(one, BoundedDissimilarity) and one.zeta:
            found["zeta"] = str(rational(one.zeta) / rational(self.functions.zeta))
        return found

    def measure(self, name: str) -> dict[str, list[int]]:
        """Return where the model is evaluated, and what of it is measured."""
        if name == "potential":
            return {}
        (measured,) = self.whole.measured
        for places in shared_calls(self.step.evaluations, self.functions):
            values = [int(j in places) for j in range(len(measured.values))]
            if name == "gap" and list(measured.values) == values:
                return {"at": places}
            if name != "gap" and self._squared_mean(places) == measured.entries:
                return {"slope at": places}
        raise Refusal("a measure of a point where no gradient is evaluated has no word in the file")

    def _squared_mean(self, places: list[int]) -> list[Any]:
        """Return the entries of |grad f|^2 where all clients evaluate."""
        slope = 0 * self.kernels[0][0]
        for place in places:
            one = self.step.evaluations[place]
            share = rational(self.functions.kinds[one.kind].count) / int(self.functions.n)
            slope = slope + share * self.kernels[0][one.gradient]
        blocks = [slope[:, None] * slope[None], *(0 * k.T @ k for k in self.kernels[1:])]
        return RationalForm(tuple(blocks), tuple(0 * x for x in self.whole.now[0].values)).entries

    def inequalities(self, multipliers: Mapping[str, Rational]) -> list[dict[str, Any]]:
        """Return the inequalities that are used."""
        return [self._inequality(name, y) for name, y in multipliers.items() if y]

    def _inequality(self, name: str, multiplier: Rational) -> dict[str, Any]:
        own, kinds = {"multiplier": str(multiplier)}, len(self.kernels) - 1
        if found := re.fullmatch(r"(joint noise|contraction|noise|sample|difference) (\d+)", name):
            number = self.numbers[int(found[2])]
            own["multiplier"] = str(multiplier * self.functions.n)
            return {**own, "message": number, "joint": int(found[1] == "joint noise")}
        if found := re.fullmatch(r"expected (\d+) to (\d+)", name):
            own["multiplier"] = str(multiplier * self.functions.n)
            return {**own, "between": [self.numbers[int(number)] for number in found.groups()]}
        if name.startswith("local steps"):
            solve = next(one for one in self.step.solves if one.name == name)
            own["multiplier"] = str(multiplier * self.functions.n)
            return {
                **own,
                "class": solve.kind,
                "vector": _written_vector(solve.before, self.kernels),
                "error": _written_vector(solve.after, self.kernels),
                "steps": _local_steps(solve, self.step, self.kernels),
            }
        label, ends = name.split(": ")
        if label in self.assumptions:
            number, kind = list(self.assumptions).index(label), kinds + 1
            at = [_places_of_end(end, kind, self.step, kinds) for end in ends.split(" to ")]
            pair = dict(zip(("from", "to"), at, strict=False)) if len(at) > 1 else {"at": at[0]}
            return {**own, "assumption": number, **pair}
        kind = kinds + 1
        if label != "average":
            kind = next(e.kind for e in self.step.evaluations if e.function == label) % (kinds + 1)
        first, last = (_places_of_end(end, kind, self.step, kinds) for end in ends.split(" to "))
        return {**own, "class": kind, "from": first, "to": last}

    def equality(self, name: str, multiplier: Rational) -> dict[str, Any]:
        """Return what is 0 in the mean for a noise."""
        label, words = name.split(": ")
        own = {"multiplier": str(multiplier), "message": self.numbers[int(label.split()[1])]}
        if words == "of clients":
            return own
        if words.endswith("of clients"):
            return {**own, "together": 1}
        number, block = map(int, re.findall(r"\d+", words))
        return {**own, "block": block, "known": [str(x) for x in self.kernels[block][number]]}


def _assumptions(functions: FunctionClass) -> dict[str, Assumption]:
    """Return the assumptions of a class as proofs name them."""
    every: list[Assumption] = list(functions.assumptions)
    if functions.mu < 0:
        every.insert(0, Infimum(functions.average_smoothness))
    for one in every:
        if not isinstance(one, KNOWN):
            raise Refusal(f"{one!r} has no word in the file of a proof; leave it out")
    return dict(zip(labels(every), every, strict=True))


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
        "end": _written_vector(_unknown_in_blocks(solve.place, step), kernels),
        "to": [step.evaluations.index(last)],
    }
    if solve.pull:
        return told
    change = [b - a for a, b in zip(solve.before, solve.after, strict=True)]

    def slope(one: Evaluation) -> list[Rationals]:
        pairs = zip(_unknown_in_blocks(one.gradient, step), one.point, strict=True)
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
