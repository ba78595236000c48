"""The verdict on a step: search for a counterexample, exact confirmation, proof of polynomials."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.theory.audit.machinery.evaluate import (
    Point,
    draw_point,
    evaluate,
    exact,
    excess,
    fractions,
    near,
    rationalised,
)
from certibit.theory.audit.machinery.numbers import text
from certibit.theory.audit.machinery.polynomial import Outcome, Polynomial, at_most_zero
from certibit.theory.audit.machinery.step import Amendment, Cell, ProofStep, Severity, Space, Values
from certibit.theory.audit.machinery.unknowns import same
from certibit.theory.verdict import FAILS, ONLY_IF, Known


def hypotheses_of_proof(
    step: ProofStep, constants: Mapping[str, Fraction]
) -> frozenset[str] | None:
    """Return the hypotheses that prove a step on its unknowns, in every case; None if none do.

    An equality is proved if both sides are the same expansion in unknowns; an inequality if
    right - left is the same as its argument, which is at least 0.
    """
    if step.space.unknowns is None or not (step.equality or step.argument):
        return None
    used: frozenset[str] = frozenset()
    for v in step.space.unknowns(constants):
        left, right = step.left(v), step.right(v)
        if step.argument is not None and not step.equality:
            argument = step.argument(v)
            left, right = right - left, argument.value
            used |= argument.hypotheses
        if not same(left, right):
            return None
    return used


SUSPICION = 1e-9
"""Relative excess in floating point that calls for exact arithmetic."""
EXACT = 12
"""How many suspicious points are evaluated exactly at once, the worst ones first."""
NEVER = 1e-25
"""Relative excess in exact arithmetic below which nothing is violated."""


@dataclass(frozen=True)
class Witness:
    """A concrete instance that violates a step, confirmed in exact arithmetic."""

    cell: dict[str, str]
    variables: dict[str, Any]
    derived: dict[str, str]
    left: str
    right: str
    arithmetic: str


@dataclass(frozen=True)
class Finding:
    """The result of the audit of a step.

    Attributes
    ----------
    step : Step
        Which.
    verdict : "holds", "fails" or "only if"
        "only if": it fails as stated and holds under the hypothesis in ``repair``.
    known : Known
        Proved, by polynomial arithmetic in fractions or by the witness; or searched.
    gap : float
        (right - left)/max(|left|, |right|) where it is least: margin, or minus the excess.
    points : int
        Admissible points searched.
    hypotheses : tuple of str or None
        What a proof on unknowns, of any number and size, relies on; None without such a proof.
    severity : Severity or None
        Of a step that fails where its smallest repair is made, whatever it does to the theorem.
    witness : Witness or None
        Where it fails.
    repair : str
        The smallest repair found, "" if it holds or none was found.
    tight : str
        For a step that holds: the tightest constants that pass the same check.
    seconds : float
        Time it took.
    """

    step: ProofStep
    verdict: str
    known: Known
    gap: float
    points: int
    hypotheses: tuple[str, ...] | None = None
    severity: Severity | None = None
    witness: Witness | None = None
    repair: str = ""
    tight: str = ""
    seconds: float = 0.0

    @property
    def outcome(self) -> str:
        """The verdict in the words of all verdicts."""
        if self.verdict == "holds":
            return self.known.words(self.points)
        return ONLY_IF if self.verdict == "only if" else FAILS

    @property
    def words(self) -> str:
        """The same, with the hypothesis under which it holds."""
        return f"{ONLY_IF} {self.repair}" if self.verdict == "only if" else self.outcome


@dataclass
class Auditor:
    """Examines steps; points of a space are drawn and evaluated once for all its steps."""

    constants: Mapping[str, Fraction]
    seed: int = 0
    effort: float = 1.0
    _drawn: dict[Any, list[tuple[Cell, Point, Values]]] = field(default_factory=dict)

    def examine(self, step: ProofStep) -> Finding:
        """Return the verdict on a step, with witness, and with repair or tightest constants."""
        start = time.perf_counter()
        finding = self.judge(step)
        if finding.verdict == "holds":
            finding = replace(finding, tight=self._scaled(step, holds=True))
        else:
            finding = self._repaired(finding)
        return replace(finding, seconds=time.perf_counter() - start)

    def judge(self, step: ProofStep) -> Finding:
        """Return the bare verdict on a step."""
        gap, points = np.inf, 0
        for cell, point, v in self._points(step.space):
            found = excess(step, v, self._count(step.space))
            points += int(np.isfinite(found.relative).sum())
            witness, best = self._worst(step, cell, point, found.relative)
            gap = min(gap, -best)
            if witness:
                return Finding(step, "fails", Known.PROVED, gap, points, witness=witness)
        if not points:
            raise Refusal(
                f"no admissible point was found for {step.place}; widen its space or its hypotheses"
            )
        used = hypotheses_of_proof(step, self.constants)
        if used is not None:
            return Finding(step, "holds", Known.PROVED, gap, points, tuple(sorted(used)))
        outcome = self._proof(step, self.constants)
        if outcome.verdict == "refuted" and outcome.corner is not None:
            witness = self._at(step, outcome.corner)
            return Finding(step, "fails", Known.PROVED, gap, points, witness=witness)
        known = Known.PROVED if outcome.verdict == "proved" else Known.SEARCHED
        return Finding(step, "holds", known, gap, points)

    def _count(self, space: Space) -> int:
        return max(int(space.count * self.effort), 20)

    def _points(self, space: Space) -> list[tuple[Cell, Point, Values]]:
        read = tuple(self.constants[name] for name in space.reads)
        key = (replace(space, hypotheses=()), read)
        if key not in self._drawn:
            generator = np.random.default_rng(self.seed)
            drawn = []
            for cell in space.cells:
                point = draw_point(replace(space, count=self._count(space)), generator)
                drawn.append((cell, point, evaluate(space, cell, point, self.constants, "float")))
            self._drawn[key] = drawn
        # The constants may have changed where the space does not read them.
        k = SimpleNamespace(**{n: float(c) for n, c in self.constants.items()})
        return [(c, p, SimpleNamespace(**{**vars(v), "k": k})) for c, p, v in self._drawn[key]]

    def _worst(
        self, step: ProofStep, cell: Cell, point: Point, relative: Any
    ) -> tuple[Witness | None, float]:
        """Look for a violation in a cell; give it, or none, and the largest excess met."""
        if not np.isfinite(relative.max()):
            return None, -np.inf
        order = np.argsort(-relative)
        suspects = order[: int((relative > SUSPICION).sum())]
        rest = float(relative[relative <= SUSPICION].max(initial=-np.inf))
        if not suspects.size:
            start, best = self._climbed(step, cell, {n: x[..., order[0]] for n, x in point.items()})
            if best <= SUSPICION:
                return None, best
            around = [{name: x[..., None] for name, x in start.items()}]
        else:
            groups = np.array_split(suspects, -(-suspects.size // EXACT))
            around = [{name: x[..., g] for name, x in point.items()} for g in groups]
        for group in around:
            rational = {name: fractions(x) for name, x in group.items()}
            found = exact(step, cell, rational, self.constants)[0].relative
            j = int(np.argmax(found))
            if found[j] > NEVER:
                start = {name: x[..., j] for name, x in group.items()}
                return self._witness(step, cell, start), float(found[j])
            rest = max(rest, float(found[j]))
        return None, rest

    def _witness(self, step: ProofStep, cell: Cell, start: Point) -> Witness | None:
        """Make a violation simple where exact arithmetic agrees, else give it as it is."""
        simple = rationalised(step, cell, start, self.constants)
        plain = {name: fractions(x) for name, x in start.items()}
        return confirmed(step, cell, simple, self.constants) or confirmed(
            step, cell, plain, self.constants
        )

    def _climbed(self, step: ProofStep, cell: Cell, start: Point) -> tuple[Point, float]:
        """Search near a point for a larger excess."""
        generator = np.random.default_rng(self.seed + 1)
        best, count = -np.inf, 48
        for scale in (0.3, 0.1, 0.03):
            around = near(step.space, start, scale, count, generator)
            v = evaluate(step.space, cell, around, self.constants, "float")
            relative = excess(step, v, count).relative
            j = int(np.argmax(relative))
            start, best = {n: x[..., j] for n, x in around.items()}, float(relative[j])
        return start, best

    def _proof(self, step: ProofStep, constants: Mapping[str, Fraction]) -> Outcome:
        space = step.space
        if space.method != "polynomial" or space.hypotheses:
            return Outcome("open", Fraction(0))
        n = len(space.variables)
        point = {
            u.name: Polynomial.variable(n, j) * (Fraction(u.high) - Fraction(u.low)) + u.low
            for j, u in enumerate(space.variables)
        }
        outcomes = []
        for cell in space.cells:
            v = evaluate(space, cell, point, constants, "fraction")
            difference = Polynomial(n, {}) + step.left(v) - step.right(v)
            outcomes.append(at_most_zero(difference))
            if step.equality:
                outcomes.append(at_most_zero(-difference))
        return next((o for o in outcomes if o.verdict != "proved"), outcomes[0])

    def _at(self, step: ProofStep, corner: tuple[Fraction, ...]) -> Witness | None:
        point = {
            u.name: np.array(u.low + (Fraction(u.high) - u.low) * c, dtype=object)
            for u, c in zip(step.space.variables, corner, strict=True)
        }
        witnesses = (confirmed(step, cell, point, self.constants) for cell in step.space.cells)
        return next((w for w in witnesses if w), None)

    def _repaired(self, finding: Finding) -> Finding:
        """Try the amendments, then scaled constants."""
        scaled = self._scaled(finding.step, holds=False)
        for amendment in finding.step.amendments:
            if self._helps(finding.step, amendment):
                verdict = "only if" if amendment.restricts else "fails"
                severity = Severity.GAP_IN_PROOF if amendment.restricts else amendment.severity
                repair = "; or ".join(words for words in (amendment.words, scaled) if words)
                return replace(finding, verdict=verdict, severity=severity, repair=repair)
        severity = Severity.WRONG_CONSTANT if scaled else Severity.GAP_IN_PROOF
        return replace(finding, severity=severity, repair=scaled)

    def _helps(self, step: ProofStep, amendment: Amendment) -> bool:
        changed = {name: Fraction(c) for name, c in amendment.constants.items()}
        other = replace(self, constants={**self.constants, **changed})
        return other.judge(replace(step, **amendment.changes)).verdict == "holds"

    def _scaled(self, step: ProofStep, holds: bool) -> str:
        """Find the factor on the movable constants at which the verdict changes."""
        if not step.movable:
            return ""
        limits = [s for s in (1024.0, 1 / 1024) if self._passes(step, s) != holds]
        if not limits:
            return ""
        inner, outer = 1.0, limits[0]
        while abs(np.log(outer / inner)) > 1e-4:
            middle = float(np.sqrt(inner * outer))
            inner, outer = (
                (middle, outer) if self._passes(step, middle) == holds else (inner, middle)
            )
        factor = inner if holds else outer
        return ", ".join(
            f"{name} = {factor * float(self.constants[name]):.5g}" for name in step.movable
        )

    def _passes(self, step: ProofStep, factor: float) -> bool:
        scale = Fraction(factor)
        changed = {name: self.constants[name] * scale for name in step.movable}
        constants = {**self.constants, **changed}
        outcome = self._proof(step, constants)
        if outcome.verdict != "open":
            return outcome.verdict == "proved"
        other = replace(self, constants=constants)
        count = self._count(step.space)
        return all(
            excess(step, v, count).relative.max() <= SUSPICION
            for _, _, v in other._points(step.space)
        )


def confirmed(
    step: ProofStep, cell: Cell, rational: dict[str, Any], constants: Mapping[str, Fraction]
) -> Witness | None:
    """Evaluate a step in exact arithmetic; give the witness if it is violated there."""
    found, v = exact(step, cell, {n: x[..., None] for n, x in rational.items()}, constants)
    if found.relative[0] <= NEVER:
        return None
    derived = {
        name: text(np.asarray(getattr(v, name)).ravel()[0])
        for name in step.space.shows
        if np.size(getattr(v, name)) == 1
    }
    return Witness(
        {name: str(value) for name, value in cell},
        {u.name: _written(rational[u.name]) for u in step.space.variables if u.belongs(cell)},
        derived,
        text(found.left[0]),
        text(found.right[0]),
        "50 digits" if step.space.method == "decimal" else "fractions",
    )


def _written(x: Any) -> Any:
    x = np.asarray(x, dtype=object)
    return text(Fraction(x[()])) if x.ndim == 0 else [_written(y) for y in x]
