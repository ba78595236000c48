"""What a certificate of a step stands on, proved on symbols in rational numbers.

The symbols of a step are deviations from a state at rest, in which the flags are those of the
start, and relations hold between them. So the state at rest is kept by every outcome of a step, no
flags that the clients can have change what a step does, and a relation holds at rest, after every
outcome of the start, and, with the others, after every outcome of a step.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import mean, where
from certibit.solvers.method import Method, Slot
from certibit.solvers.simulation.iteration import theorem_step
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Gap, Potential
from certibit.theory.proofs.rational_algebra import floats
from certibit.theory.worlds.fixed_points import Combination, Rest, found_rest
from certibit.theory.worlds.flags import Pattern
from certibit.theory.worlds.invariants import invariants
from certibit.theory.worlds.opaque.clients import (
    ClientArray,
    ClientMask,
    depends_on_heads,
    mean_degree,
    require_asked,
)
from certibit.theory.worlds.opaque.exact_numbers import (
    Exact,
    exact_parameters,
    rational,
    same_chances,
    same_up_to_rounding,
    zeros,
)
from certibit.theory.worlds.opaque.letters import forgiven, watched
from certibit.theory.worlds.orbits import (
    LEAST_DEGREE,
    Orbit,
    cells_of_kinds,
    first_state,
    orbits,
    starts,
)
from certibit.theory.worlds.symbolic.frames import Basis, BasisFullError, Blocks, Frame, Matrix
from certibit.theory.worlds.symbolic.symbols import (
    Law,
    MessageError,
    MessageErrors,
    SymbolicChannel,
    SymbolicProblem,
    unknown_state,
)
from certibit.theory.worlds.units import MethodInUnits

Groups = list[Matrix]
"""The rows of a relation in the directions of each group of a frame."""

Step = tuple[list[Groups], list[Groups]]
"""The relations before and after an outcome of a step."""

Done = tuple[list[Matrix], list[Any], list[Any]]
"""Vectors and points, what else was drawn and asked, and the probabilities of coins."""

SIZES = (12, 24, 48, 96)
"""Of a basis, tried in turn."""

SLOPE = Exact(fmpq(1, 3))
"""Of gradients with which a state at rest is solved for: any number but 0."""


class _Translated:
    """Symbolic functions whose solution is an unknown vector, and their gradients there others.

    Those sum to 0, but with a shared g; they are 0 where all clients have one minimiser. Without a
    solution functions are what they are. With a ``slope`` all gradients are affine.
    """

    def __init__(self, inner: SymbolicProblem, method: Method, slope: Any = None) -> None:
        basis, frame = inner.basis, inner.frame
        self.inner, self.method, self.slope = inner, method, slope
        own = frame.unknown(basis, basis.index("gradients", every_client=True))
        self.x_star = frame.unknown(basis, basis.index("solution", every_client=False))
        self.grad_star = own if method.needs.composite else own - mean(own)
        if method.needs.shared_minimiser:
            self.grad_star = 0 * own

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def of_step(self, method: Method) -> "_Translated":
        """Return the functions as a step of a method gets them."""
        return _Translated(self.inner.of_step(method), self.method, self.slope)

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Gradients of the f_i; (n, basis, R)."""
        apart = x - self.x_star
        if isinstance(active, ClientMask):
            apart = where(active, apart, 0 * apart)
        if self.slope is not None:
            return self.grad_star + self.slope * apart
        return self.grad_star + self.inner.grad(apart, active, sample)

    def grad_g(self, y: Array) -> Array:
        """Gradient of g; (1, basis, R)."""
        apart, there = y - self.x_star, -mean(self.grad_star)
        if self.slope is not None or not self.inner.frame.rows(apart).any():
            return there + (self.slope or 0) * apart
        return there + self.inner.grad_g(apart)

    def gradient_steps(
        self, slope: Any, start: Array, active: Array, step: Any, count: int
    ) -> Array | None:
        """Return where gradient steps end: after the first, if only rest is asked for.

        Where clients end that are not active is not told, as in a step.
        """
        end, frame = start - step * slope(start) + 0 * self.grad_star, self.inner.frame
        own = self.inner.clients(active)
        moved = frame.rows(end - start)[own[frame.layout.representatives]].any()
        return None if moved and self.slope is None else frame.asked(end, own)

    def minimise(
        self, gradient: Any, start: Array, centre: Array, given: Any, active: Array, **limits: Any
    ) -> tuple[Array, Array]:
        """Return where local solves from the centre end: after a step, which is 0 at rest.

        Clients that are not active stay at the start, with the gradient 0.
        """
        at = centre + 0 * start
        z = -1 / limits["L"] * where(active, gradient(at, given, active, self), 0 * at)
        change = gradient(centre + z, given, active, self)
        return where(active, z, start), where(active, change, 0 * change)


class _OfCells:
    """Functions as relations ask for them: a gradient at a point that cannot be told is unknown.

    A point may depend on who takes part, and be another one for clients of different cells.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def grad(self, x: Array, *_: Any, **__: Any) -> Array:
        """Gradients of the f_i of all clients; (n, basis, R)."""
        frame, basis, found = self.inner.frame, self.inner.basis, 0 * x + 0 * self.inner.grad_star
        for cell in frame.members:
            own = np.zeros((frame.n, 1, 1), dtype=bool)
            own[cell.start : cell.stop] = True
            mask = ClientMask(own, frame.layout.kinds)
            gradient = frame.unknown(basis, basis.index(len(basis.names), every_client=True))
            with suppress(Refusal), forgiven():
                gradient = self.inner.grad(x, active=mask)
            found = where(mask, gradient, found)
        return found


class _AtRest(MessageErrors):
    """Messages of a state at rest: none is changed, and those that are not 0 are known then."""

    def unknown(
        self, sent: Mapping[int, Blocks], law: Law, beside: int | None = None
    ) -> tuple[int, ClientArray]:
        """Return 0."""
        lost = ((kind, own) for kind, own in sent.items() if any(part.any() for part in own))
        self.known += [MessageError(kind, 0, own, 0, law) for kind, own in lost]
        return 0, self.frame.array(zeros(1, self.basis.size, 1, exact=True))


class Premises:
    """What is proved of a method, in rational numbers, over a class of functions.

    Parameters
    ----------
    method : MethodInUnits
        The method in the units in which its relations are given.
    given : FunctionClass
        The class.
    patterns : sequence of Pattern
        The flags that its clients can have.
    """

    def __init__(
        self, method: MethodInUnits, given: FunctionClass, patterns: Sequence[Pattern]
    ) -> None:
        self.method, self.given, self.patterns = method, given, patterns
        self.counts, self.size = given.counts, SIZES[0]
        self.exact: Any = exact_parameters(method)
        self.functions = exact_parameters(given.in_units(method.gradient))
        self.template = patterns[0].put(first_state(method.inner, given.n, given.counts))

    @cached_property
    def relations(self) -> tuple[int, ...]:
        """The relations of states that hold in all states of a run, by their numbers.

        Raises
        ------
        Refusal
            If the state at rest is not kept, if flags change what a step does, or if a relation
            that the method states is not kept, although gradients are exact.
        """
        for size in SIZES:
            with suppress(BasisFullError):
                self.size = size * len(self.counts)
                return self._relations()
        raise Refusal(
            f"a step of {self.method.name} has more than {SIZES[-1]} unknowns; take fewer local "
            "steps"
        )

    def _relations(self) -> tuple[int, ...]:
        states = [self._at_start(orbit) for orbit in starts_of(self.exact.inner, self.counts)]
        if self.given.has_solution:
            states.append(self._at_rest())
        holds = [[not _any(rows) for rows in state] for state in states]
        held = [k for k, hold in enumerate(zip(*holds, strict=True)) if all(hold)]
        steps = [step for pattern in self.patterns for step in self._steps(pattern)]
        # Of flags at rest nothing is used that depends on flags: it may hold where few clients have
        # others, and not where all have them.
        held = [
            k
            for k in held
            if all(_equal(now[k], rest[k]) or not _any(rest[k]) for now, _, rest, _ in steps)
        ]
        kept = [(before, then) for before, *states, _ in steps for then in states]
        held = _really_kept(kept, held)
        if any(not _follow(rows, before, held) for before, *_, apart in steps for rows in apart):
            raise Refusal(_DEPENDS.format(self.method.name))
        problem, _ = self._world(cells_of_kinds(self.counts))
        s = unknown_state(self.patterns[0].put(self.template, tossed=True), problem)
        if any(map(depends_on_heads, invariants(self.method, s, _OfCells(problem)))):
            raise Refusal(
                f"a relation of the states of {self.method.name} sums over the clients what "
                "depends on their fields of bool and has no certificate; state it without the sum"
            )
        stated = self.method.invariants(s, _OfCells(problem))
        if stated is not None and not self.given.noise and len(held) < len(stated):
            raise Refusal(f"{self.method.name} does not keep what it declares to be invariant")
        return tuple(held)

    def require_rest(self, potential: Potential) -> None:
        """Refuse a potential that is not 0 in the state at rest, where there is a solution."""
        problem, _ = self._world(cells_of_kinds(self.counts), _AtRest)
        shifted = _Translated(problem, self.method)
        star = self.method.plain(self._rest(shifted))
        seen = self.method.shown(shifted)
        with watched(self.method.name, is_step=False):
            terms = potential.lyapunov(self.method.inner, star, star, self.given, seen)
        for term in terms:
            left = term.point - shifted.x_star if isinstance(term, Gap) else term.vectors
            if problem.frame.rows(left).any():
                raise Refusal(
                    f"a term of the Lyapunov function is not 0 where {self.method.name} is at rest "
                    "and has no factor; compare each part of the state with that at rest"
                )
        if problem.evaluations:
            raise Refusal(_ELSEWHERE.format("the Lyapunov function", self.method.name))

    def meaning(self, potential: Potential) -> list[Any]:
        """Return the terms of a potential, the state at rest and the relations, as numbers."""
        self.size = SIZES[-1] * len(self.counts)
        problem, _ = self._world(cells_of_kinds(self.counts))
        shifted = _Translated(problem, self.method)
        state, star = unknown_state(self.template, problem), self._rest(shifted)
        pair = self.method.plain(state), self.method.plain(star)
        seen = self.method.shown(shifted)
        with watched(self.method.name, is_step=False):
            terms = potential.lyapunov(self.method.inner, *pair, self.given, seen)
        vectors = [one.point if isinstance(one, Gap) else one.vectors for one in terms]
        vectors += [*_vectors(star), *invariants(self.method, state, _OfCells(problem))]
        points = [part.tolist() for one in problem.evaluations for part in one.point]
        return [*points, *(problem.frame.rows(x).tolist() for x in vectors)]

    def _world(
        self,
        cells: Sequence[range],
        errors: type[MessageErrors] = MessageErrors,
        *,
        exact: bool = True,
    ) -> tuple[SymbolicProblem, MessageErrors]:
        """Return functions on symbols, and the errors of messages."""
        basis = Basis(self.size, len(self.counts), exact)
        frame = Frame(cells, self.counts, exact)
        lost, noise = errors(basis, frame, [], self._class(exact)), self.functions.noise
        samples = lost if noise and errors is MessageErrors else None
        about = noise is not None and noise.expected is not None
        solution = self.given.has_solution
        problem = SymbolicProblem(basis, frame, [], [], False, solution, samples, about)
        return problem, lost

    def _channel(
        self, problem: SymbolicProblem, errors: MessageErrors, orbit: Orbit
    ) -> SymbolicChannel:
        exact = problem.basis.exact
        method = self.exact if exact else self.method
        return SymbolicChannel(method, self._class(exact), problem, errors, orbit, kept=True)

    def _class(self, exact: bool) -> FunctionClass:
        return self.functions if exact else self.given.in_units(self.method.gradient)

    def _at(self, s: Any, problem: Any, degree: int = LEAST_DEGREE) -> list[Groups]:
        """Return the relations at a state, in the directions of each group."""
        frame, seen = problem.frame, _OfCells(problem)
        found = invariants(self.method, s, seen)
        if max(map(mean_degree, found), default=0) > degree:
            raise Refusal(
                f"a relation of the states of {self.method.name} sums over the clients once more "
                "than a step does and has no certificate; state it without these sums"
            )
        return [frame.groups(x) for x in found]

    def _at_start(self, orbit: Orbit) -> list[Groups]:
        """Return what relations are after an outcome of the start."""
        made = []
        for exact, method in ((False, self.method), (True, self.exact)):
            plain, errors = self._world(orbit.cells, exact=exact)
            problem: Any = _Translated(plain, self.method) if self.given.has_solution else plain
            x = plain.frame.unknown(plain.basis, plain.basis.index("start", every_client=False))
            channel = self._channel(plain, errors, orbit)
            with watched(method.name):
                s = method.start(x, problem.of_step(self.method), channel)
            channel.require_drawn(s)
            for vector in _vectors(s):
                require_asked(vector)
            made.append(self._done(s, method, plain, channel))
        self._require_same(*made)
        return self._at(s, problem, orbit.degree)

    def _done(
        self, s: Any, method: Method, problem: SymbolicProblem, channel: SymbolicChannel
    ) -> Done:
        """Return where a step came to, what was drawn, and all that was asked on the way."""
        words: list[Any] = [*channel.drawn[:2]]
        rows = [problem.frame.rows(x) for x in (method.model(s), *_vectors(s))]
        for one in (*problem.evaluations, *channel.errors.known, *problem.solves):
            for value in vars(one).values():
                if isinstance(value, tuple):
                    rows += [part.reshape(1, -1, 1) for part in value]
                elif isinstance(value, str | None):
                    words.append(value)
                else:
                    rows.append(np.array([[[rational(value)]]]))
        return rows, words, channel.drawn[2]

    def _require_same(self, rough: Done, exact: Done) -> None:
        """Refuse a method that does or draws with floats what it does not with rationals."""
        (near, words, chances), (there, known, exactly) = rough, exact
        alike = words == known and same_chances(chances, exactly)
        near, there = ([floats(x) if x.dtype == object else x for x in y] for y in (near, there))
        if not alike or not same_up_to_rounding(near, there):
            raise Refusal(
                f"{self.method.name} does not do with floats what it does with the rational "
                "numbers that they stand for and has no certificate; it must not ask what its "
                "numbers are"
            )

    def _at_rest(self) -> list[Groups]:
        """Return what relations are in the state at rest, having seen that a step keeps it."""
        self._require_same_rest()
        for pattern in self.patterns:
            for orbit in _orbits_of(self.exact.inner, pattern, self.template):
                plain, lost = self._world(orbit.cells, _AtRest)
                problem = _Translated(plain, self.method)
                star = pattern.put(self._rest(problem))
                channel = self._channel(plain, lost, orbit)
                with watched(self.method.name):
                    after = theorem_step(self.exact, star, problem.of_step(self.method), channel)
                channel.require_drawn(after)
                pairs = [(problem.x_star, self.method.model(star))]
                pairs += zip(_vectors(star), _vectors(after), strict=True)
                moved = any(plain.frame.rows(a - b).any() for a, b in pairs)
                if moved or plain.evaluations or lost.known:
                    raise Refusal(
                        f"{self.method.name} does not stay at its fixed point and has no factor "
                        "there"
                    )
        plain, _ = self._world(cells_of_kinds(self.counts), _AtRest)
        problem = _Translated(plain, self.method)
        found = self._at(self._rest(problem), problem)
        if plain.evaluations:
            raise Refusal(_ELSEWHERE.format("a relation of the states", self.method.name))
        return found

    def _require_same_rest(self) -> None:
        """Refuse a method that states another state at rest in floats than in rational numbers."""
        made: list[Done] = []
        for exact, method in ((False, self.method), (True, self.exact)):
            plain, _ = self._world(cells_of_kinds(self.counts), exact=exact)
            star = method.fixed_point(_Translated(plain, self.method))
            if star is None:
                return
            vectors = [method.model(star), *_vectors(star)]
            made.append(([plain.frame.rows(x) for x in vectors], [], []))
        self._require_same(*made)

    def _rest(self, problem: _Translated) -> Any:
        """Return the state at rest that the method states, or the one that is found."""
        stated = self.exact.fixed_point(problem)
        if stated is None:
            stated = self._solved.of(problem.x_star, problem.grad_star)
        elif type(stated) is not type(self.template):
            raise Refusal(
                f"{self.method.name} states {type(stated).__name__} as its fixed point, not "
                f"{type(self.template).__name__} as its start does; let a state stay of one class"
            )
        return self.patterns[0].put(stated)

    @cached_property
    def _solved(self) -> Rest:
        """The state at rest that is found, its coefficients in rational numbers.

        A step is affine in them where all gradients have the same slope.
        """
        rest = found_rest(self.method, self.given.n)
        fields = {name: x for name, x in rest.fields.items() if isinstance(x, Combination)}
        places = [(name, key) for name, x in fields.items() for key in "abc" if getattr(x, key)]
        first = [rational(float(getattr(fields[name], key))) for name, key in places]
        worlds = []
        for orbit in _orbits_of(self.exact.inner, self.patterns[0], self.template):
            worlds.append((orbit, *self._world(orbit.cells, _AtRest)))

        def changed(values: Sequence[Any]) -> Rest:
            own = dict(fields)
            for (name, key), value in zip(places, values, strict=True):
                coefficient: Any = {key: Exact(value)}
                own[name] = replace(own[name], **coefficient)
            return replace(rest, fields={**rest.fields, **own})

        def residual(values: Sequence[Any]) -> list[Any]:
            rows = []
            for orbit, plain, lost in worlds:
                problem = _Translated(plain, self.method, SLOPE)
                s = self.patterns[0].put(changed(values).of(problem.x_star, problem.grad_star))
                channel = self._channel(plain, lost, orbit)
                after = theorem_step(self.exact, s, problem.of_step(self.method), channel)
                pairs = [(problem.x_star, self.method.model(s))]
                pairs += zip(_vectors(s), _vectors(after), strict=True)
                rows += [plain.frame.rows(a - b).ravel() for a, b in pairs]
            return np.concatenate(rows).tolist()

        start = residual(first)
        if not any(start):
            return changed(first)
        units = ([x + (i == j) for j, x in enumerate(first)] for i in range(len(first)))
        slopes = [[a - b for a, b in zip(residual(u), start, strict=True)] for u in units]
        columns = fmpq_mat([*slopes, [-x for x in start]]).transpose()
        reduced, rank = columns.rref()
        for i in range(rank):
            lead = next(j for j in range(reduced.ncols()) if reduced[i, j])
            if lead < len(first):
                first[lead] += reduced[i, reduced.ncols() - 1]
        return changed(first)

    def _steps(self, pattern: Pattern) -> Iterator[tuple[*Step, list[Groups], list[Groups]]]:
        """Yield for each outcome of a step the relations before and after it, and what flags do.

        That is what relations are before the step with the flags at rest, with which it is
        certified, and how these change the step.
        """
        resting = self.patterns[0].within(pattern.cells)
        for orbit in _orbits_of(self.exact.inner, pattern, self.template):
            problem, errors = self._world(orbit.cells)
            runs = []
            for flags in dict.fromkeys((pattern, resting)):
                s = unknown_state(flags.put(self.template), problem)
                errors.places.clear()
                channel = self._channel(problem, errors, orbit)
                with watched(self.method.name):
                    after = theorem_step(self.exact, s, problem.of_step(self.exact), channel)
                channel.require_drawn(after)
                for vector in _vectors(after):
                    require_asked(vector)
                runs.append((s, after, channel.drawn))
                if len(runs) == 1:
                    done = self._done(after, self.exact, problem, channel)
            (before, after, drawn), *others = runs
            apart = [
                problem.frame.groups(a - b)
                for _, other, _ in others
                for a, b in zip(_vectors(after), _vectors(other), strict=True)
            ]
            rough, lost = self._world(orbit.cells, exact=False)
            channel = self._channel(rough, lost, orbit)
            s = unknown_state(pattern.put(self.template), rough)
            near = theorem_step(self.method, s, rough.of_step(self.method), channel)
            self._require_same(self._done(near, self.method, rough, channel), done)
            if any(one != drawn for _, _, one in others):
                raise Refusal(_DEPENDS.format(self.method.name))
            degree = orbit.degree
            rest = self._at(runs[-1][0], problem)
            yield self._at(before, problem), self._at(after, problem, degree), rest, apart


_ELSEWHERE = (
    "{} of {} asks at rest for gradients elsewhere than at x* and has no certificate; ask for them "
    "at points of the state"
)

_DEPENDS = (
    "the step of {} depends on a field of bool and has no certificate; let such a field only say "
    "what changes nothing"
)


def starts_of(method: Method, counts: Sequence[int]) -> list[Orbit]:
    """Return the outcomes of the start of a method."""
    return [
        Orbit(one.probability, tuple(one.script), tuple(one.cells), 1, False, one.degree, 0)
        for one, _ in starts(method, sum(counts), counts)
    ]


def _orbits_of(method: Method, pattern: Pattern, template: Any) -> tuple[Orbit, ...]:
    """Return the outcomes of a step from a state with some flags."""
    state, n = pattern.put(template), sum(pattern.counts)
    return orbits(method, n, counts=pattern.counts, state=state, cells=pattern.cells)[0]


def _vectors(s: Any) -> list[Array]:
    return [x for x in vars(s).values() if x.dtype != bool]


def _really_kept(steps: Sequence[Step], held: Sequence[int]) -> list[int]:
    """Return the relations that every outcome of a step keeps, if they hold before it.

    What a step makes of each must follow from the others.

    Parameters
    ----------
    steps : pairs of lists
        For each outcome the relations before and after it.
    held : sequence of int
        The relations that hold at the start.
    """
    held = [*held]
    while True:
        left = [k for k in held if all(_follow(then[k], before, held) for before, then in steps)]
        if left == held:
            return held
        held = left


def _equal(rows: Groups, others: Groups) -> bool:
    return len(rows) == len(others) and all(map(np.array_equal, rows, others))


def _any(rows: Groups) -> bool:
    return any(part.any() for part in rows)


def _follow(rows: Groups, before: Sequence[Groups], held: Sequence[int]) -> bool:
    """Whether what is 0 in each group of directions follows from relations that hold."""
    return all(
        not own.any() or _are_combinations(own, [before[j][group] for j in held])
        for group, own in enumerate(rows)
    )


def _are_combinations(rows: Matrix, others: Sequence[Matrix]) -> bool:
    """Whether rows of rational numbers are combinations of others."""
    if not others:
        return not rows.any()
    known = np.concatenate(others)
    ranks = [
        fmpq_mat([list(map(rational, row)) for row in own]).rank()
        for own in (known, np.concatenate([known, rows]))
    ]
    return ranks[0] == ranks[1]
