"""The weights of potentials that change: one programme for all steps of a chain.

The unknowns are the potentials between the first and the last, and the multipliers of every step;
all are linear in them, so nothing is alternated. Where there are many steps, one potential in the
middle is kept for most of them: the programme does not grow.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from certibit.data.errors import Refusal
from certibit.theory.chains.chain_programme import maximise, psi
from certibit.theory.chains.coordinates import Coordinates
from certibit.theory.proofs.symbolic_step import SymbolicStep
from certibit.theory.worlds.independent import independent
from certibit.theory.worlds.symbolic.interpolation import Form, weighted_sum

LINKS = 4
"""At most so many steps change the potential."""

STRICT = 1e-6
"""How much of the first potential is added to all others, so that what is proved is strict."""

DIGITS = 10
"""Of the weights that are found."""

INDEPENDENT = 1e-9
"""Relative length of what is left of a term that does not follow from others."""

SMALLEST = -60
"""The power of 2 below which no decrease is looked for."""

RESIDUAL = 1e-5
"""Relative size of a gain that counts as none: nothing decreases as fast as it was tried."""

FINEST = 0.03
"""To what power of 2 the decrease is searched of the steps that keep their potential."""

Weights = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ChainProgramme:
    """The potentials with the least factor of several steps, from the first to the last.

    Attributes
    ----------
    step : SymbolicStep
        One step, with the terms of all potentials.
    first, last : tuple of float
        The weights of the potential at the start, and of what is wanted at the end.
    steps : int
        How many there are.
    following : tuple of SymbolicStep
        The steps after the first one, if the parameters of the method change.
    most : int
        At most so many steps change the potential.
    """

    step: SymbolicStep
    first: Weights
    last: Weights
    steps: int
    following: tuple[SymbolicStep, ...] = ()
    most: int = LINKS

    @property
    def links(self) -> int:
        """How many steps change the potential."""
        return min(self.steps, self.most)

    @property
    def middle(self) -> int:
        """The place of the potential that is kept where there are more steps."""
        return self.links // 2

    def best(self, decrease: float) -> list[Weights]:
        """Return the weights of all potentials, from the first to the last.

        The decrease of the steps that keep theirs is searched from a first guess.

        Raises
        ------
        Refusal
            If the solver finds none.
        """
        found: dict[float, tuple[float, list[Weights]]] = {}

        def value(power: float) -> float:
            """Return the logarithm of the factor of all steps."""
            if power not in found:
                found[power] = -np.inf, []
                with suppress(Refusal):
                    found[power] = self.solved(2.0**power)
            gain, _ = found[power]
            least = max(gain for gain, _ in found.values()) + np.log(RESIDUAL)
            return self.steps * float(np.log1p(-(2.0**power))) - gain if gain > least else np.inf

        place, width = float(np.log2(decrease if decrease > 0 else 1 / self.steps)), 1.0
        while value(place) == np.inf:
            place -= 1
            if place < SMALLEST:
                raise Refusal(f"no chain of {self.steps} steps is found")
        while width > FINEST and self.steps > self.links:
            tried = (place, *(power for power in (place - width, place + width) if power < 0))
            near = min(tried, key=value)
            place, width = near, width / 2 if near == place else width
        return found[place][1]

    def solved(self, decrease: float) -> tuple[float, list[Weights]]:
        """Return how much larger the last potential may be, as a logarithm, and all weights.

        The decrease is that of the steps that keep their potential.

        Raises
        ------
        Refusal
            If the solver finds none.
        """
        links, free, unit = self.links, self._free, self._unit
        factor, held = 1 - decrease, self.steps > self.links
        forms_of = self._forms if self.following else self._forms * (links + held)

        def placed(*parts: tuple[int, Form, float]) -> Form:
            """Return a form of all steps: multiples of forms of some of them."""
            blocks = [[0 * block for block in now[0].blocks] for now, _, _ in forms_of]
            values = [0 * now[0].values for now, _, _ in forms_of]
            for row, form, multiple in parts:
                pairs = zip(blocks[row], form.blocks, strict=True)
                blocks[row] = [a + multiple * b for a, b in pairs]
                values[row] = values[row] + multiple * form.values
            return Form(tuple(b for own in blocks for b in own), np.concatenate(values))

        def potential(place: int, term: int) -> Form:
            """Return what a term of the potential after so many steps adds."""
            before, here = forms_of[place - 1][1][term], forms_of[place][0][term]
            parts = [(place - 1, before, 1.0), (place, here, -factor)]
            if held and place == self.middle:
                now, after, _ = forms_of[links]
                parts += [(links, after[term], 1.0), (links, now[term], -factor)]
            return placed(*parts)

        forms = [potential(place, term) for place in range(1, links) for term in free]
        forms += [
            placed((row, form, 1.0)) for row, (_, _, known) in enumerate(forms_of) for form in known
        ]
        count = len(forms) - (links - 1) * len(free)
        now, _, _ = forms_of[0]
        signed = [0.0 if now[term].values.any() else -np.inf for term in free] * (links - 1)
        kernels = tuple(np.eye(len(b)) for own, _, _ in forms_of for b in own[0].blocks)
        solved = maximise(
            placed((0, weighted_sum(self.first, now), -factor)),
            placed((links - 1, weighted_sum(self.last, forms_of[links - 1][1]), 1.0)),
            forms,
            Coordinates(kernels, unit),
            lower=np.array([*signed, *(0.0,) * count]),
        )
        if not solved.value > 0:
            raise Refusal(f"no chain of {self.steps} steps is found")
        inner = solved.multipliers[: len(signed)].reshape(links - 1, len(free))
        weights = [self.first]
        for place, row in enumerate(inner, start=1):
            full = STRICT * np.array(self.first)
            full[free] += row
            full *= solved.value ** (-place / links)
            weights.append(tuple(float(f"{weight:.{DIGITS}g}") for weight in full))
        return float(np.log(solved.value)), [*weights, self.last]

    @cached_property
    def _unit(self) -> float:
        return Coordinates.of(self.step, psi(self.step, self.first)[0]).unit

    @cached_property
    def _forms(self) -> list[tuple[list[Form], list[Form], list[Form]]]:
        """All terms before and after each step, and the inequalities, in coordinates."""
        found = []
        for step in (self.step, *self.following):
            coordinates = Coordinates.of(step, psi(step, self.first)[0])
            now, after, known = (
                [Form(coordinates.blocks(form), form.values) for form in forms]
                for forms in (step.now, step.after, step.inequalities.values())
            )
            found.append((now, after, known))
        return found

    @cached_property
    def _free(self) -> list[int]:
        """The places of terms that all others are combinations of."""
        now, _, _ = self._forms[0]
        rows = [np.concatenate([*(b.ravel() for b in form.blocks), form.values]) for form in now]
        return independent(np.array(rows), INDEPENDENT)
