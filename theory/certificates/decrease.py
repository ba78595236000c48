"""The largest decrease of one step, for given weights of a potential or for the best ones."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, TypeVar

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.coordinates import LEAST_CURVATURE, Coordinates
from bitbound.theory.certificates.programme import (
    Solver,
    SolverResult,
    maximise,
    psi,
)
from bitbound.theory.certificates.proof import HIDDEN, SMALL_LOSS, Certificate, margin_form, proves
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import Potential
from bitbound.theory.worlds.symbolic.frames import Matrix
from bitbound.theory.worlds.symbolic.interpolation import Form, weighted_sum

Solved = TypeVar("Solved")

Weights = Literal["fixed", "free"]

SMALLEST_WEIGHT = 1e-6
"""How small a free weight may become, relative to the method's own."""

RETREATS = (
    *(1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 1.0),
    *(10.0, 1e3, 1e5, 1e7),
)
"""Parts of the solver's decrease that may be given up for a proof.

The last ones are for an exact proof to start from.
"""

CENTRES = (0.0, 0.25, 0.5)
"""Centres of the coordinates that are tried, one after the other, until a proof is good."""

COORDINATES = (
    *((CENTRES[0], least) for least in (LEAST_CURVATURE, 0.0)),
    *((centre, LEAST_CURVATURE) for centre in CENTRES[1:]),
)
"""Centres and least curvatures of coordinates for proofs; the first two are always tried."""

TURNS = 2
"""How often a proof of one decrease is tried: in coordinates of Psi, then of what is left over."""

MOST_ROUNDS = 40
"""How often weights are improved at most."""


@dataclass(frozen=True)
class StepProgramme:
    """The programmes of one step, in coordinates of some centre and least curvature."""

    step: SymbolicStep
    solver: Solver
    centre: float
    least: float = LEAST_CURVATURE

    def coordinates(self, now: Form) -> Coordinates:
        """Return the coordinates for a form Psi."""
        return Coordinates.of(self.step, now, self.centre, self.least)

    def maximise(
        self, fixed: Form, now: Form, forms: Sequence[Form] = (), **options: Any
    ) -> SolverResult:
        everything = [*forms, *self.step.inequalities.values()]
        options = {"coordinates": self.coordinates(now), "solver": self.solver, **options}
        return maximise(fixed, now, everything, **options)

    def at(
        self, weights: tuple[float, ...], following: tuple[float, ...] | None = None, **options: Any
    ) -> SolverResult:
        """Return the best decrease for fixed weights, perhaps to other weights of Psi+."""
        now, _ = psi(self.step, weights)
        return self.maximise(margin_form(self.step, weights, 0.0, following), now, **options)

    def sharpened(
        self,
        weights: tuple[float, ...],
        solution: SolverResult,
        following: tuple[float, ...] | None = None,
    ) -> SolverResult:
        """Solve once more in coordinates of what is left over, if a gap is open.

        That may be far smaller in one direction than in another, as small as what the solver
        rounds in coordinates of Psi.
        """
        if solution.gap <= HIDDEN * abs(solution.value):
            return solution
        now, _ = psi(self.step, weights)
        margin = margin_form(self.step, weights, solution.value, following)
        left = self._left(margin, solution.multipliers)
        least = solution.value - SMALL_LOSS * abs(solution.value)
        with suppress(Refusal):
            again = self.at(weights, following, coordinates=self.coordinates(now).levelled(left))
            return again if again.value >= least else solution
        return solution

    def _left(self, margin: Form, multipliers: Matrix) -> Form:
        """Return what multiples of the inequalities leave over of a form."""
        return weighted_sum((1.0, *multipliers), (margin, *self.step.inequalities.values()))

    def decrease(self, weights: Weights) -> tuple[tuple[float, ...], SolverResult]:
        """Return the weights and their decrease.

        Free ones alternate (Dinkelbach): the weights with most room at this factor, then their
        factor.
        """
        own = self.step.weights
        best, solution = own, self.at(own)
        rounds = MOST_ROUNDS if weights == "free" and len(own) > 1 else 0
        for _ in range(rounds):
            tried = self._roomier(best, solution.value)
            better = self.at(tried)
            if not better.value > solution.value + 1e-7 * abs(solution.value):
                break
            best, solution = tried, better
        return best, solution

    def _roomier(self, weights: tuple[float, ...], decrease: float) -> tuple[float, ...]:
        step, current = self.step, np.array(weights)
        now, _ = psi(step, weights)
        terms = [
            (after + before * (decrease - 1)) * weight
            for before, after, weight in zip(step.now, step.after, weights, strict=True)
        ]
        count, others = len(terms), np.zeros(len(step.inequalities))
        smallest = np.minimum(SMALLEST_WEIGHT * np.array(step.weights) / current, 1.0)
        room = self.maximise(
            now * 0.0,
            now,
            terms,
            lower=np.concatenate([smallest, others]),
            normal=np.concatenate([np.full(count, 1 / count), others]),
        )
        return tuple((current * room.multipliers[:count]).tolist())

    def proof(
        self,
        weights: tuple[float, ...],
        solution: SolverResult,
        following: tuple[float, ...] | None = None,
        above: float = -np.inf,
    ) -> tuple[float, dict[str, float]]:
        """Give up a little of the decrease, so that all inequalities hold strictly.

        How little is bisected; where that is much, and nothing is proved yet, all are tried. Only
        decreases ``above`` one that is proved already are. Where the solver's word proves nothing,
        coordinates of what is left over are next.
        """
        size = max(abs(solution.value), float(np.finfo(float).eps))
        if RETREATS[-1] * size < solution.gap:  # it is 0, but for what the solver leaves open
            size = solution.gap
        decreases = [solution.value - retreat * size for retreat in RETREATS]
        decreases = [decrease for decrease in decreases if decrease > above]
        found, low, high, place = None, 0, len(decreases), 0
        untried = list(decreases)
        while low < high:
            untried.remove(decreases[place])
            multipliers = self._strict(weights, decreases[place], following)
            if multipliers is None:
                low = place + 1
            else:
                found, high = (decreases[place], multipliers), place
            place = (low + high) // 2
        best = -np.inf if found is None else found[0]
        if above <= 0 and best < solution.value - SMALL_LOSS * size:
            for decrease in (some for some in untried if some > best):
                multipliers = self._strict(weights, decrease, following)
                if multipliers is not None:
                    return decrease, multipliers
        if found is None:
            raise Refusal(
                "the solver's multipliers are too inexact to prove a factor; take other "
                "parameters, or a smaller kappa"
            )
        return found

    def _strict(
        self,
        weights: tuple[float, ...],
        decrease: float,
        following: tuple[float, ...] | None = None,
    ) -> dict[str, float] | None:
        """Return multipliers that prove a decrease, if the solver finds some."""
        now, _ = psi(self.step, weights)
        margin, coordinates = margin_form(self.step, weights, decrease, following), None
        for _ in range(TURNS):
            coordinates = coordinates or self.coordinates(now)
            try:
                strict = self.maximise(margin, now, coordinates=coordinates, margin=True)
            except Refusal:  # the solver gives up at this one
                return None
            values = strict.multipliers.tolist()
            multipliers = dict(zip(self.step.inequalities, values, strict=True))
            if proves(self.step, weights, decrease, multipliers, following):
                return multipliers
            coordinates = coordinates.levelled(self._left(margin, strict.multipliers))
        return None


def best_proof(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    step: SymbolicStep,
    solve: Callable[[StepProgramme], tuple[tuple[float, ...], SolverResult]],
    solver: Solver = "clarabel",
    following: tuple[float, ...] | None = None,
    above: float = -np.inf,
) -> Certificate:
    """Return the best certificate of a symbolic step of a method.

    Coordinates are tried, after the first two until a proof gives up next to nothing; ``solve``
    gives weights and result. Only decreases ``above`` one that is proved already are tried.

    Raises
    ------
    Refusal
        If there is no such proof in any coordinates.
    """
    start = perf_counter()
    found: list[Certificate] = []
    reason: Refusal | None = None
    seen: list[tuple[Any, ...]] = []
    most = np.nan
    for place, (centre, least) in enumerate(COORDINATES):
        if place > 1 and abs(most - above) <= SMALL_LOSS * abs(most):
            break
        programme = StepProgramme(step, solver, centre, least)
        try:
            own, solution = solve(programme)
            if (own, solution.value, solution.gap) in seen:  # the same coordinates
                continue
            seen.append((own, solution.value, solution.gap))
            solution = programme.sharpened(own, solution, following)
            most = np.fmax(most, solution.value)
            decrease, multipliers = programme.proof(own, solution, following, above)
        except Refusal as refusal:
            reason = refusal
            continue
        above = decrease
        found.append(
            Certificate(
                method,
                functions,
                potential,
                decrease,
                own,
                multipliers,
                solution.value,
                solution.residual,
                solution.gap,
                solver,
                perf_counter() - start,
                following,
            )
        )
    if not found:
        raise reason or Refusal("no coordinates are tried")
    return found[-1]


def largest_decrease(step: SymbolicStep) -> float:
    """Return what the solver reports for the step's own weights, in the better coordinates.

    Raises
    ------
    Refusal
        If it gives up in all.
    """
    found: list[float] = []
    reason = Refusal("no coordinates are tried")
    for centre, least in COORDINATES[:2]:
        programme = StepProgramme(step, "clarabel", centre, least)
        try:
            solution = programme.sharpened(step.weights, programme.at(step.weights))
            found.append(solution.value)
        except Refusal as refusal:
            reason = refusal
    if not found:
        raise reason
    return max(found)


def solver_decrease(
    method: Method,
    functions: FunctionClass,
    potential: Potential,
    weights: Weights = "fixed",
    *,
    trusted: bool = True,
) -> float:
    """Return 1 - factor as the solver reports it, without a proof: for searches.

    What is ``trusted`` is as in :func:`~bitbound.theory.certificates.symbolic_step.symbolic_step`.
    """
    step = symbolic_step(method, functions, potential, trusted=trusted)
    return first_solved(step, lambda programme: programme.decrease(weights)[1].value)


def first_solved(step: SymbolicStep, solve: Callable[[StepProgramme], Solved]) -> Solved:
    """Return what programmes give in the first coordinates in which the solver does not give up."""
    *first, last = (StepProgramme(step, "clarabel", centre) for centre in CENTRES)
    for programme in first:
        with suppress(Refusal):
            return solve(programme)
    return solve(last)
