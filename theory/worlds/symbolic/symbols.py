"""The world of symbols: a method's own step on unknown vectors.

Arrays are (n, basis, R): the feature axis is a basis of unknown vectors, all of them deviations
from the solution. A step of a linear method maps combinations of unknowns to combinations of
unknowns; a gradient and the noise of a compressor are new unknowns. E[Psi+] then is a quadratic
form of the unknowns, the same for every problem and every dimension.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import where
from certibit.solvers.method import Method, Sample, Slot, slot_of
from certibit.solvers.state import each
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.opaque.clients import (
    ClientArray,
    ClientMask,
    contents,
    require_asked,
    require_whole,
)
from certibit.theory.worlds.opaque.exact_numbers import Exact, rational, zeros
from certibit.theory.worlds.opaque.letters import FEATURES, noted, refuse
from certibit.theory.worlds.orbits import LEAST_DEGREE, Orbit, OrbitChannel, of_senders
from certibit.theory.worlds.symbolic.frames import Basis, Blocks, Frame, same_point
from certibit.theory.worlds.symbolic.local_solves import LocalSolve, accurate_solve, local_solve

Law = Literal["contraction", "noise", "sample", "difference"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An evaluated gradient: point and gradient in all blocks, and the number of its value.

    The function is "f" of the clients of a kind ("f2" for the second of several kinds), or "g" with
    kind -1. ``unknown`` is the number of the gradient, the first of those of all kinds.
    """

    function: str
    kind: int
    point: Blocks
    unknown: int

    @property
    def gradient(self) -> int:
        """The number of the gradient of this kind."""
        return self.unknown + max(self.kind, 0)


@dataclass(frozen=True, eq=False)
class MessageError:
    """What a message of clients of a kind, or of the server (-1), loses: its error, and the vector.

    ``place`` is its number among those of its outcome and its law: the error of a contraction, the
    noise of an unbiased compressor, or that of a sampled gradient, whose vector is the exact one.
    Of one sample at two points, the noise at the second one less that at the first is an error,
    too: its vector is the second point less the first, and ``beside`` the unknown noise of the
    clients of the kind at the first. Where noises are compared with that at the solution, that is
    the first point of every sample.
    """

    kind: int
    unknown: int
    vector: Blocks
    place: int
    law: Law
    beside: int | None = None

    @property
    def noise(self) -> bool:
        """Whether its mean is 0."""
        return self.law != "contraction"


class MessageErrors:
    """The errors of one outcome of a step, as unknowns that all outcomes share.

    They are drawn independently of the coins, so what the same vector loses at the same place is
    the same unknown in two outcomes. Within one outcome two errors are the same unknown only if
    contractions are deterministic; the bias of the clients' compressors is.
    """

    def __init__(
        self, basis: Basis, frame: Frame, known: list[MessageError], functions: FunctionClass
    ) -> None:
        self.basis, self.frame, self.known = basis, frame, known
        self.functions, self.places = functions, Counter[Law]()

    def unknown(
        self, sent: Mapping[int, Blocks], law: Law, beside: int | None = None
    ) -> tuple[int, ClientArray]:
        """Return the error of what is sent, given by kind: its number, that of the first kind.

        ``beside`` is the number of another noise of the same sample.
        """
        if any(block[self.basis.noise].any() for vector in sent.values() for block in vector):
            raise Refusal(
                "a vector is contracted that depends on the noise of this very step; such a step "
                "cannot be certified: begin it with this message"
            )
        server, place = -1 in sent, self.places[law]
        self.places[law] += 1
        known: dict[int, dict[int, Blocks]] = {}
        drawn = not self.functions.deterministic and (server or self.functions.bias is None)
        for one in self.known:
            same = one.place == place or (law == "contraction" and not drawn)
            if (one.kind < 0, one.law) == (server, law) and same and _beside(one) == beside:
                known.setdefault(one.unknown - max(one.kind, 0), {})[one.kind] = one.vector
        fitting = (
            first
            for first, found in known.items()
            if all(same_point(found[kind], sent[kind]) for kind in sent if kind in found)
        )
        first = next(fitting, None)
        if first is None:
            first = self.basis.index("error", len(self.known), every_client=not server)
        found = known.get(first, {})
        self.known += [
            MessageError(
                kind,
                first + max(kind, 0),
                vector,
                place,
                law,
                None if beside is None else beside + max(kind, 0),
            )
            for kind, vector in sent.items()
            if kind not in found
        ]
        return first, self.frame.unknown(self.basis, first)


def _beside(error: MessageError) -> int | None:
    return None if error.beside is None else error.beside - max(error.kind, 0)


@dataclass(eq=False)
class _UnknownSample(Sample):
    """A sample: the first point that it is taken at, and the noise there with its number."""

    point: Array | None = None
    unknown: int = 0
    noise: Any = None
    used: bool = False

    def begin(self, point: Array, errors: MessageErrors, exact: Mapping[int, Blocks]) -> None:
        """Take the sample at its first point, with the exact gradients there."""
        self.point = point
        self.unknown, self.noise = errors.unknown(exact, "sample")


class SymbolicProblem:
    """Gradients of unknown functions: every new point gives new unknowns.

    The solution is the origin, and every gradient is the difference from the one at the solution.
    Functions without a ``solution`` have gradients as they are, and the origin is anywhere.
    All outcomes of a step share ``evaluations`` and ``solves``, the local solves that are described
    by an inequality. A given number of gradient steps is such a solve, too, unless the steps are
    done ``one_by_one`` or gradients are stochastic. Then ``samples`` has the noise of those with a
    sample, and ``about_solution`` says that these are compared with the noise at the solution. In
    a step a method gets them as it ``named`` its samples: if it names none, of a new one each time;
    and g only as a ``composite`` one.
    """

    named = composite = True

    def __init__(
        self,
        basis: Basis,
        frame: Frame,
        evaluations: list[Evaluation],
        solves: list[LocalSolve] | None = None,
        one_by_one: bool = True,
        solution: bool = True,
        samples: MessageErrors | None = None,
        about_solution: bool = False,
    ) -> None:
        self.n: int = Exact(frame.n) if basis.exact else frame.n  # type: ignore[assignment]
        self.d, self.basis = FEATURES, basis
        self.frame, self.evaluations, self.one_by_one = frame, evaluations, one_by_one
        self.solves: list[LocalSolve] = [] if solves is None else solves
        self.solution, self.samples, self.about_solution = solution, samples, about_solution
        rows_of_all = len(frame.row_cells)
        self.x_star = frame.array(zeros(1, basis.size, 1, exact=basis.exact))
        self.grad_star = frame.array(zeros(rows_of_all, basis.size, 1, exact=basis.exact))

    def of_step(self, method: Method) -> "SymbolicProblem":
        """Return the problem as a step of a method gets it, with its samples named or not."""
        seen = copy(self)
        vars(seen).pop("_call", None)
        seen.named, seen.composite = method.needs.samples, method.needs.composite
        return seen

    @property
    def always_new(self) -> bool:
        """Whether every gradient is of a new sample."""
        return self.samples is not None and not self.named

    @noted
    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> ClientArray:
        """Gradients of the f_i; (n, basis, R). Only what the active clients get is meant."""
        sample = slot_of(sample, self.named)
        rows_of_all = self.clients(active)
        if not rows_of_all.any():
            return self.frame.asked(0 * self.grad_star, rows_of_all)
        require_asked(x, rows_of_all[self.frame.layout.representatives])
        if not self.frame.rows(x).any():  # the solution
            if not self.solution:
                raise Refusal(
                    "a gradient at the solution is asked for, and these functions have none; take "
                    "a potential without it"
                )
            gradient = 0 * self.grad_star
        else:
            unknown = self.evaluate("f", x, rows_of_all)[0].unknown
            gradient = self.frame.unknown(self.basis, unknown)
        gradient = self.frame.asked(gradient, rows_of_all)
        if sample is None or self.samples is None:
            return gradient
        if not isinstance(sample, _UnknownSample):
            sample = _UnknownSample()
        if sample.point is None and self.about_solution:
            there = self.frame.expression(0 * gradient, rows_of_all)
            sample.begin(self.x_star, self.samples, there)
        elif sample.point is None:
            sample.begin(x, self.samples, self.frame.expression(gradient, rows_of_all))
            return gradient + sample.noise
        if sample.used and not self.about_solution:
            raise Refusal("a sample is taken at more than two points, which is not certified")
        sample.used = True
        apart = self.frame.expression(x - sample.point, rows_of_all)
        first = self.frame.expression(sample.point, rows_of_all)
        own = [blocks[1:] for points in (first, apart) for blocks in points.values()]
        if any(part.any() for parts in own for part in parts):
            raise Refusal(
                "one sample is taken at points that differ from client to client, where nothing "
                "is assumed of the change of its noise; take it at points that all share"
            )
        if any(part[sample.unknown :].any() for blocks in apart.values() for part in blocks):
            raise Refusal(
                "a sample is taken again at a point that may depend on it, where the mean of its "
                "noise need not be 0; draw another one"
            )
        _, change = self.samples.unknown(apart, "difference", sample.unknown)
        return gradient + sample.noise + change

    @noted
    def sample(self, slot: int | str) -> _UnknownSample:
        """Draw a sample, whose noise is unknown."""
        slot_of(slot, self.named)
        return _UnknownSample()

    @noted
    def grad_g(self, y: Array) -> ClientArray:
        """Gradient of g; (1, basis, R)."""
        if not self.composite or y.shape[0] > 1:
            raise Refusal(
                f"the gradient of g is asked for at a point of shape {y.shape} by a method with "
                f"composite = {self.composite} in its Needs; take a point (1, d, R), and "
                "composite=True"
            )
        unknown = self.evaluate("g", y, self.frame.everyone)[0].unknown
        return self.frame.unknown(self.basis, unknown)

    @noted
    def gradient_steps(
        self,
        slope: Callable[[Array], Array],
        start: Array,
        active: Array,
        step: Any,
        count: int,
    ) -> Array | None:
        """Return where gradient steps of all active clients end; None to do them one by one."""
        if self.one_by_one or not count or self.samples is not None:
            return None
        own = self.clients(active)
        end = local_solve(
            self.solves, slope, start, own, step, count, self.frame, self.basis, self.evaluations
        )
        return self.frame.asked(end, own)

    @noted
    def minimise(
        self,
        gradient: Callable[..., Array],
        start: Array,
        centre: Array,
        given: Any,
        active: Array,
        **criterion: Any,
    ) -> tuple[Array, Array]:
        """Return where local steps of all active clients end by a criterion, and the gradients."""
        if self.samples is not None:
            raise Refusal(
                "local steps that end by a criterion are certified with exact gradients only; give "
                "a number of steps, or leave the noise out"
            )

        def change(z: Array) -> Array:
            return gradient(centre + z, given, active, self)

        own = self.clients(active)
        solves, frame, seen = self.solves, self.frame, self.evaluations
        end, there = accurate_solve(
            solves, change, start, own, frame, self.basis, seen, **criterion
        )
        return where(active, end, start), where(active, there, 0 * there)

    def clients(self, active: Array | int | None) -> NDArray[np.bool_]:
        """Return which clients are active, (n,), given a mask or a number of them."""
        if active is None or isinstance(active, int):  # all, or how many
            everyone: NDArray[np.bool_] = self.frame.everyone
            return everyone if active is None or active > 0 else ~everyone
        require_whole(active)
        return contents(active, self.frame.layout)[:, 0, 0]

    def evaluate(
        self, function: str, x: Array, active: NDArray[np.bool_]
    ) -> tuple[Evaluation, ...]:
        """Return the evaluations of a function at the points of some clients, one per kind."""
        points = self.frame.expression(x, active)
        if function == "g":
            points = self.frame.shared(x)
        for point in points.values():
            if any(block[self.basis.noise].any() for block in point):
                raise Refusal(
                    "a gradient is evaluated at a point that depends on the noise of this very "
                    "step; such a step cannot be certified"
                )
        known: dict[int, dict[int, Evaluation]] = {}
        for one in self.evaluations:
            if (one.kind < 0) == (function == "g"):
                known.setdefault(one.unknown, {})[one.kind] = one
        fitting = (
            unknown
            for unknown, found in known.items()
            if all(same_point(found[kind].point, points[kind]) for kind in points if kind in found)
        )
        unknown = next(fitting, None)
        if unknown is None:
            name = "gradient", function, len(self.evaluations)
            unknown = self.basis.index(*name, every_client=function == "f")
        found = known.get(unknown, {})
        for kind, point in points.items():
            if kind not in found:
                suffix = str(kind + 1) if function == "f" and self.basis.kinds > 1 else ""
                found[kind] = Evaluation(function + suffix, kind, point, unknown)
                self.evaluations.append(found[kind])
        return tuple(found[kind] for kind in points)


class SymbolicChannel(OrbitChannel):
    """Messages arrive with a new unknown: noise of mean 0, or the error of a contraction.

    ``noises`` holds for each noise that is averaged out its unknown and the compressed vector;
    ``errors`` are the contractions, and noises that are ``kept`` as unknowns.
    """

    def __init__(
        self,
        method: Method,
        functions: FunctionClass,
        problem: SymbolicProblem,
        errors: MessageErrors,
        orbit: Orbit | None = None,
        kept: bool = False,
    ) -> None:
        script, degree = (orbit.script, orbit.degree) if orbit else ((), LEAST_DEGREE)
        counts, cells = problem.frame.counts, orbit.begun if orbit else None
        super().__init__(functions.n, script, counts, degree=degree, cells=cells)
        self.probability = Exact(1) if problem.basis.exact else 1.0
        self.method, self.functions, self.problem = method, functions, problem
        self.errors, self.kept = errors, kept
        self.noises: list[tuple[int, Array]] = []
        self.masks: list[ClientMask] = []
        self.orbit = orbit

    def require_drawn(self, s: Any) -> None:
        """Refuse a step, or a start, that draws other than on vectors without entries.

        The state after it must need no more counts of heads than were enumerated there.
        """
        orbit, exact = self.orbit, self.problem.basis.exact
        if orbit and (
            len(self.options) != len(orbit.script)
            or self.degree_of(s) > orbit.degree
            or (exact and rational(self.probability) != rational(orbit.probability))
        ):
            raise Refusal(
                f"{self.method.name} draws on symbols what it does not draw without them and has "
                "no certificate; let it ask nothing but the channel"
            )

    @noted
    def choose(self, options: Sequence[tuple[Any, Any]], *, signed: bool = False) -> Any:
        """Take the option of the script."""
        return super().choose(options, signed=signed)

    def coin(self, p: float) -> ClientMask:
        """Toss one coin."""
        self.masks.append(super().coin(p))
        return self.masks[-1]

    def _refine(self, heads: Sequence[int], **marks: bool) -> ClientMask:
        self.masks.append(super()._refine(heads, **marks))
        return self.masks[-1]

    @noted
    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Return v, unless runs show only the entries of a mask for all clients."""
        if mask is not None and mask.shape[0] == 1 and not any(mask is one for one in self.masks):
            refuse(
                "broadcasts what runs hide",
                "sends a vector to all clients by a mask that the channel did not draw",
                "leave the mask out, or take one of the channel",
            )
        return super().broadcast(v, mask)

    @noted
    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Return v plus new unknowns per client: what a contraction loses, and noise."""
        require_whole(cohort)
        functions, received = self.functions, of_senders(v, self.n)
        biased = self.method.needs.compressor == "contractive"
        if biased and any(functions.contraction(k) < 1 for k in range(len(functions.kinds))):
            received = received + self.errors.unknown(self._sent(v, cohort), "contraction")[1]
        if functions.omega and (functions.bias is not None or not biased):
            received = received + self._noise(v, cohort)
        return self.send(received, cohort)

    def _noise(self, v: Array, cohort: Array | None) -> Array:
        require_whole(v)
        basis, frame = self.problem.basis, self.problem.frame
        if self.functions.omega_joint is not None and len(frame.members) > 1:
            raise Refusal(
                "compressors that share their randomness cannot be certified together with client "
                "sampling, or for clients that differ; let them draw independently"
            )
        if self.kept:
            return self.errors.unknown(self._sent(v, cohort), "noise")[1]
        number = basis.index("noise", len(self.noises), every_client=True, noise=True)
        self.noises.append((number, v))
        return frame.unknown(basis, number)

    @noted
    def downlink(self, v: Array) -> Array:
        """Return v plus the server's noise or its contraction's error, a new unknown of all."""
        basis, frame = self.problem.basis, self.problem.frame
        of_senders(v, 1)
        if self.method.needs.downlink == "unbiased":
            if self.functions.omega_down == 0:
                return v
            require_whole(v)
            if self.kept:
                return v + self.errors.unknown(frame.shared(v), "noise")[1]
            number = basis.index("noise", len(self.noises), every_client=False, noise=True)
            self.noises.append((number, v))
            return v + frame.unknown(basis, number)
        if self.functions.contraction(-1) == 1:
            return v
        return v + self.errors.unknown(frame.shared(v), "contraction")[1]

    def _sent(self, v: Array, cohort: Array | None) -> Mapping[int, Blocks]:
        """Return what the clients of a cohort send, by kind."""
        frame = self.problem.frame
        return frame.expression(
            v, contents(True if cohort is None else cohort, frame.layout)[:, 0, 0]
        )


def unknown_state(template: Any, problem: SymbolicProblem) -> Any:
    """Return a state of unknowns, one per field; fields of bool stay as they are."""
    numbers = iter(range(1000))

    def unknowns(x: Array) -> Array:
        number = next(numbers)
        if x.dtype == bool:
            return x
        name = problem.basis.index("state", number, every_client=x.shape[0] == problem.n)
        return problem.frame.unknown(problem.basis, name)

    return each(unknowns, template)
