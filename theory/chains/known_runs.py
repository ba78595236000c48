"""Proofs of bounds on runs of any length: potentials whose weights are functions of the step t.

For one convex, 1-smooth function f, exact gradients and messages that are not compressed, a step
number t >= 0 is one more unknown: the parameters of the method, the weights of Psi_t and the
multipliers are rational functions of t with rational coefficients. Then

    Psi_t - Psi_(t+1) - sum_k y_k(t) I_k = a sum of squares,    y_k(t) >= 0,

with the interpolation inequalities I_k >= 0, is an identity whose signs are checked for all t. The
sum of squares is an L D L' factorisation; each pivot is a quotient of polynomials without negative
coefficients. It is about one client: a method that asks n clients for gradients at one point that
they share, and uses their mean alone, does the same to the average of their functions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.method import Every, Functions, Method
from certibit.solvers.methods.agd import AGD
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.nesterov import Nesterov
from certibit.solvers.state import each
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Gap, Potential, Squares, Terms
from certibit.theory.proofs.positivity import (
    VARIABLE,
    AllValues,
    RationalFunction,
    Span,
    positive_by_signs,
)
from certibit.theory.theorem import RunPromise
from certibit.theory.worlds.opaque.clients import ClientArray, ClientRows, rows_of
from certibit.theory.worlds.opaque.exact_numbers import rational
from certibit.theory.worlds.opaque.letters import watched
from certibit.theory.worlds.orbits import checked_state

ROOM = 9
"""Most unknown vectors of one step."""

ZERO, ONE = RationalFunction.of(0), RationalFunction.of(1)


def _plain(x: Any) -> Any:
    """Return a number, or all numbers of an array, as rational functions of proofs."""
    if isinstance(x, np.ndarray):
        return np.array([_plain(entry) for entry in x.flat], dtype=object).reshape(x.shape)
    return x.plain if isinstance(x, AllValues) else RationalFunction.of(x)


_ONE_CLIENT = ClientRows.of([range(1)], [range(1)], _plain)
"""The layout of vectors: one client."""

Polynomial = tuple[int | Fraction, ...]
"""Coefficients, that of t^0 first."""

Multipliers = Mapping[str, Polynomial]
"""Of the inequalities f(a) - f(b) - <grad f(b), a - b> - |grad f(a) - grad f(b)|^2/2 >= 0, named
"a to b", between the "solution" and the points where f is evaluated, "point 0", "point 1", ..."""

ALWAYS = Span(rational(0), None)
"""All t >= 0."""


@dataclass(frozen=True)
class RunCertificate:
    """A proof that f(x_T) - f* <= Psi_0/w(T) after T >= 1 steps, for all T; f is 1-smooth.

    Attributes
    ----------
    method : callable
        The method of step t, with parameters in units of L = 1.
    potential : callable
        Psi_t of step t >= 1, an object with ``lyapunov``; its weights may be functions of t.
    weight : polynomial
        w, without negative coefficients.
    step : mapping
        The multipliers of Psi_(t+1) <= Psi_t, as polynomials in t >= 1. The points are those at
        which Psi_t, the step and Psi_(t+1) evaluate f, in this order.
    end : mapping
        The multipliers of w(T) (f(x_T) - f*) <= Psi_T, as polynomials in T >= 1.
    begin : Potential
        Psi_0.
    first : mapping
        The multipliers of Psi_1 <= Psi_0.

    Examples
    --------
    >>> from certibit.theory.chains.known_runs import GRADIENT_DESCENT
    >>> GRADIENT_DESCENT.verify(), GRADIENT_DESCENT.weight
    (True, (1, 2))
    """

    method: Callable[[Any], Method]
    potential: Callable[[Any], Potential]
    weight: Polynomial
    step: Multipliers
    end: Multipliers
    begin: Potential
    first: Multipliers

    @property
    def promise(self) -> RunPromise:
        """What is proved, for L = 1."""
        return RunPromise(tuple(map(float, self.weight)))

    def verify(self) -> bool:
        """Whether the method, run on symbols anew, has this bound for all T, in exact numbers."""
        t = AllValues(VARIABLE.num, VARIABLE.den) + 1
        later = _decrease(self.method(t), self.potential(t), self.potential(t + 1))
        first = _decrease(self.method(ZERO), self.begin, self.potential(ZERO + 1))
        last = _Step(self.method(t))
        end = last.psi(self.potential(t))
        bound = last.psi(_Bound(t.polynomial(_rationals(self.weight))))
        return (
            min(self.weight, default=0) >= 0
            and last.proves(end.less(bound), self.end, t)
            and later[0].proves(later[1], self.step, t)
            and first[0].proves(first[1], self.first, ZERO)
        )


@dataclass(frozen=True)
class _Bound:
    """w (f - f*) at the model."""

    weight: RationalFunction

    def lyapunov(self, m: Any, s: Any, star: Any, setting: Any, problem: Any) -> Any:
        return (Gap(self.weight, m.model(s)),)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class _Form:
    """A quadratic form of the unknown vectors, (ROOM, ROOM), and the weights of f - f* by point."""

    matrix: Array
    values: Mapping[int, RationalFunction]

    def less(self, other: "_Form", factor: Any = 1) -> "_Form":
        places = {*self.values, *other.values}
        values = {j: self.values.get(j, ZERO) - other.values.get(j, ZERO) * factor for j in places}
        return _Form(self.matrix - other.matrix * factor, values)


@dataclass(eq=False)
class _Step:
    """The world of one step: unknown vectors with rational functions of t as coefficients.

    A vector is opaque, and has the rows (1, ROOM, 1) of its coefficients; the solution is the first
    unknown.
    """

    method: Method
    n: int = 1
    used: int = 0
    points: list[tuple[Array, Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.x_star = ClientArray(self._unknown(), _ONE_CLIENT)
        world: Any = self
        if self.method.schedule != Every():
            raise Refusal(
                f"{self.method.name} does not communicate at every iteration; runs of any length "
                "are certified of methods that do"
            )
        with watched(self.method.name):
            rest = self.method.start(self.x_star, world, world)
        self.points, self.used = [], 1  # what a start evaluates is forgotten
        if not all(isinstance(getattr(rest, one.name), ClientArray) for one in fields(rest)):
            raise Refusal(f"a run of {self.method.name} keeps what is no vector of one client")
        self.star = rest
        self.state = each(lambda x: ClientArray(self._unknown(), _ONE_CLIENT), rest)

    def after(self) -> Any:
        """Return the state after the step."""
        world: Any = self
        with watched(self.method.name):
            after = self.method.communicate(
                self.method.local_step(self.state, world, world), world, world
            )
        return checked_state(self.method, after, self.state)

    def _unknown(self) -> Array:
        if self.used == ROOM:
            raise Refusal(f"a step of {self.method.name} has more than {ROOM} unknown vectors")
        vector = np.full((1, ROOM, 1), ZERO, dtype=object)
        vector[0, self.used, 0] = ONE
        self.used += 1
        return vector

    def number(self, x: Any) -> int:
        """Return the number of a point where f is evaluated."""
        rows = rows_of(x, _ONE_CLIENT)
        for number, (point, _) in enumerate(self.points):
            if (point == rows).all():
                return number
        self.points.append((rows, self._unknown()))
        return len(self.points) - 1

    def grad(self, x: Any, active: Any = None, sample: Any = None) -> ClientArray:
        """Return the gradient at a point, a new unknown."""
        if not (active is None or active == self.n):
            raise Refusal(
                f"{self.method.name} asks some of the clients for gradients; runs of any length "
                "are certified of methods in which all take part"
            )
        if (rows_of(x, _ONE_CLIENT) == rows_of(self.x_star, _ONE_CLIENT)).all():
            return x * 0
        return ClientArray(self.points[self.number(x)][1], _ONE_CLIENT)

    def send(self, v: ClientArray) -> ClientArray:
        """Return a vector as it is: nothing is compressed."""
        return v

    broadcast = send

    def __getattr__(self, name: str) -> Any:
        raise Refusal(
            f"a step of {self.method.name} takes {name}; runs of any length are certified of "
            "methods with exact gradients and messages that are not compressed"
        )

    def psi(self, potential: Potential, state: Any = None) -> _Form:
        """Return a potential at a state."""
        s = self.state if state is None else state
        terms = potential.lyapunov(self.method, s, self.star, _CLASS, self)
        matrix, values = np.full((ROOM, ROOM), ZERO, dtype=object), dict[int, RationalFunction]()
        for term in terms:
            weight = _plain(term.weight)
            if isinstance(term, Gap):
                place = self.number(term.point)
                values[place] = values.get(place, ZERO) + weight
            else:
                v = rows_of(term.vectors, _ONE_CLIENT)[0, :, 0]
                matrix = matrix + np.multiply.outer(v, v) * weight
        return _Form(matrix, values)

    def inequality(self, name: str) -> _Form:
        """Return what is at least 0 for a convex, 1-smooth function at two points."""
        ends = name.split(" to ")
        if len(ends) != 2:
            raise Refusal(f"{name!r} is no inequality; give one such as 'point 0 to solution'")
        (x, u), (y, v) = (self._end(one) for one in ends)
        away, bent = x - y, u - v
        matrix = (np.multiply.outer(v, away) + np.multiply.outer(away, v)) * Fraction(-1, 2)
        matrix = matrix + np.multiply.outer(bent, bent) * Fraction(-1, 2)
        left, right = (
            _Form(0 * matrix, {int(one.removeprefix("point ")): ONE} if one != "solution" else {})
            for one in ends
        )
        return _Form(matrix, left.less(right).values)

    def _end(self, name: str) -> tuple[Array, Array]:
        if name == "solution":
            return rows_of(self.x_star, _ONE_CLIENT)[0, :, 0], np.full(ROOM, ZERO, dtype=object)
        number = name.removeprefix("point ")
        if not number.isdigit() or int(number) >= len(self.points):
            raise Refusal(f"{name!r} is no point; f is evaluated at {len(self.points)}, from 0")
        point, gradient = self.points[int(number)]
        return point[0, :, 0], gradient[0, :, 0]

    def proves(self, form: _Form, multipliers: Multipliers, t: RationalFunction) -> bool:
        """Whether a form is at least 0 by these multipliers, which are polynomials in t."""
        for name, factors in multipliers.items():
            y = _plain(t).polynomial(_rationals(factors))
            if y and not positive_by_signs(y, ALWAYS):
                return False
            form = form.less(self.inequality(name), y)
        return not any(form.values.values()) and _is_nonnegative(form.matrix)


_CLASS = FunctionClass(1, mu=0.0, L=1.0)
"""The class of f."""


def _decrease(method: Method, now: Potential, after: Potential) -> tuple[_Step, _Form]:
    """Return Psi - Psi+ of a step, and the world in which it is done."""
    world = _Step(method)
    before = world.psi(now)
    return world, before.less(world.psi(after, world.after()))


def _rationals(factors: Sequence[Any]) -> list[Any]:
    return list(map(rational, factors))


def _is_nonnegative(matrix: Array) -> bool:
    """Whether a matrix of rational functions without poles is positive semidefinite for all t >= 0.

    It is for t > 0, where all pivots are positive, and at 0 because it is continuous.
    """
    if not all(positive_by_signs(RationalFunction(ONE.num, x.den), ALWAYS) for x in matrix.flat):
        return False
    rest = matrix.copy()
    for k in range(len(rest)):
        pivot, column = rest[k, k], rest[k + 1 :, k]
        if not pivot:
            if any(column):
                return False
            continue
        if not positive_by_signs(pivot, ALWAYS):
            return False
        rest[k + 1 :, k + 1 :] = rest[k + 1 :, k + 1 :] - np.multiply.outer(column, column) / pivot
    return True


HALF: Any = Fraction(1, 2)


@dataclass(frozen=True)
class _OfGradientDescent:
    """u (f(x) - f*) + (u (u + 1)/2) |grad f(x)|^2 + (1/2) |x - x*|^2 with u = t h."""

    h: Any
    t: Any

    def lyapunov(
        self, m: GD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        u = self.t * self.h
        return (
            Gap(u, s.x),
            Squares(u * (u + 1) * HALF, problem.grad(s.x)),
            Squares(HALF, s.x - star.x),
        )


@dataclass(frozen=True)
class _OfAcceleration:
    """((t + 1)^2/4) (f(x) - f*) + (1/2) |z - x*|^2 with z = ((t + 2) y - t x)/2."""

    t: Any

    def lyapunov(
        self, m: AGD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        t = self.t
        z = ((t + 2) * s.y - t * s.x) * HALF
        return Gap((t + 1) ** 2 * HALF**2, s.x), Squares(HALF, z - star.x)


@dataclass(frozen=True)
class _Begin:
    """(1/2) |y - x*|^2, where accelerated gradient descent starts with y = x."""

    def lyapunov(
        self, m: AGD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(HALF, s.y - star.y),)


def gradient_descent(h: int | Fraction) -> RunCertificate:
    """Return f(x_T) - f* <= L |x_0 - x*|^2/(4 h T + 2) for gamma = h/L, 0 < h^2 <= 2, and L = 1.

    It is the exact rate: Drori, Teboulle, Mathematical Programming 145 (2014), Theorem 3.1, for
    h <= 1. With these multipliers the form that is left of a step has, in grad f(x_t) and
    grad f(x_(t+1)), the determinant 0 and the first entry v (v (2 - h) + 2 (1 - h))/(2 h), where
    v = (t + 1) h; (1/2) |x - x* - (h T + 1) grad f(x)|^2 is left at the end.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from certibit.theory.chains.known_runs import gradient_descent
    >>> [gradient_descent(h).verify() for h in (1, Fraction(1, 3), Fraction(7, 5), Fraction(3, 2))]
    [True, True, True, False]
    """
    step: Multipliers = {
        "point 0 to point 1": (1 + h, 1 + 2 * h, h),  # (t + 1) (t h + h + 1)
        "point 1 to point 0": (1, 1 + h, h),  # (t + 1) (t h + 1)
        "solution to point 0": (h,),
    }
    return RunCertificate(
        method=lambda t: GD(gamma=h),  # type: ignore[arg-type]  # an exact number
        potential=partial(_OfGradientDescent, h),
        weight=(1, 2 * h),
        step=step,
        end={"solution to point 0": (1, h)},
        begin=_OfGradientDescent(h, 0),
        first={name: factors[:1] for name, factors in step.items()},
    )


GRADIENT_DESCENT = gradient_descent(1)
"""f(x_T) - f* <= |x_0 - x*|^2/(4 T + 2) for gamma = 1/L and L = 1."""

ACCELERATED = RunCertificate(
    method=Nesterov(gamma=1).at,
    potential=_OfAcceleration,
    weight=(HALF**2, HALF, HALF**2),
    step={
        "point 1 to point 2": (1, 1, HALF**2),  # (t + 2)^2/4
        "point 0 to point 1": (0, HALF, HALF**2),  # t (t + 2)/4
        "solution to point 1": (1, HALF),  # (t + 2)/2
        "point 0 to solution": (HALF**2,),
    },
    end={},
    begin=_Begin(),
    first={"point 0 to point 1": (1,), "solution to point 0": (1,)},
)
"""f(x_T) - f* <= 2 |x_0 - x*|^2/(T + 1)^2 with the momentum t/(t + 3) in step t = 0, 1, ...

gamma = 1/L and L = 1; published by Su, Boyd, Candes, arXiv:1503.01243, Theorem 6.
"""

KNOWN_RUNS = {"gd": GRADIENT_DESCENT, "nesterov": ACCELERATED}
"""Proofs of bounds on whole runs, by method."""
