"""An experiment: method, problem and compressor, which are refused if they do not fit."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeGuard, TypeVar

from certibit.data.errors import Refusal
from certibit.data.problem import Problem, StronglyConvexProblem, is_strongly_convex
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import downward
from certibit.solvers.method import Method

P = TypeVar("P", bound=Problem)
P_co = TypeVar("P_co", bound=Problem, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class Experiment(Generic[P_co]):
    """A method, the view of a problem that it solves, and its compressor; made by :meth:`of`.

    Attributes
    ----------
    method : Method
        With its parameters.
    problem : Problem
        The view that the method solves: with a shared function g, or without.
    compressor : Compressor
        The compressor of the clients, perhaps with one of the server; the identity for a method
        that sends uncompressed vectors.

    Examples
    --------
    >>> from certibit import GD, Experiment, Quadratic
    >>> Experiment.of(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0))
    Experiment of GD(gamma=0.1)
    on Quadratic('quadratic:d=4@3', n=3, d=4, kappa=10)
    with identity
    """

    method: Method
    problem: P_co
    compressor: Compressor

    @staticmethod
    def of(method: Method, problem: P, compressor: Compressor | None = None) -> "Experiment[P]":
        """Combine method, problem and compressor; without a compressor nothing is compressed.

        Raises
        ------
        Refusal
            If the method needs another class of compressors or problems, or the compressor another
            dimension, or if a name stands in the place of one of the three.
        """
        require_method(method)
        return Experiment(
            method, fitted_view(method, problem), fitted_compressor(method, compressor, problem.d)
        )

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.problem.n

    @property
    def d(self) -> int:
        """Number of features."""
        return self.problem.d

    def __repr__(self) -> str:
        return f"Experiment of {self.method}\non {self.problem}\nwith {self.compressor.name}"


ConvexExperiment: TypeAlias = Experiment[StronglyConvexProblem]
"""An experiment on a strongly convex problem: theorems and certificates may apply to it."""


def is_convex(experiment: Experiment[Problem]) -> TypeGuard[ConvexExperiment]:
    """Whether the problem is strongly convex, and so theorems can speak about the experiment."""
    return is_strongly_convex(experiment.problem)


def fitted_compressor(
    method: Method | type[Method], compressor: Compressor | None, d: int
) -> Compressor:
    """Return the compressor that a method is run with; without one, the identity.

    Raises
    ------
    Refusal
        If the method needs another class of compressors, or the compressor another dimension.
    """
    compressor = Identity() if compressor is None else compressor
    _require(
        isinstance(compressor, Compressor),
        f'{compressor!r} is no compressor; give one, such as certibit.compressor("rand-k:2")',
    )
    compressor.check(d)
    need = method.needs.compressor
    if need is None and not isinstance(compressor, Identity):
        raise Refusal(
            f"{method.name} sends uncompressed vectors and cannot use {compressor.name}; "
            "leave the compressor out or choose a method with compression"
        )
    if need == "unbiased" and not compressor.unbiased:
        raise Refusal(
            f"{compressor.name} is biased and {method.name} needs an unbiased compressor, "
            "such as rand-k, natural or l1"
        )
    if need == "contractive" and not method.needs.by_variance:
        compressor.alpha(d)
    down = downward(compressor)
    if method.needs.downlink == "contractive":
        down.alpha(d)
    elif method.needs.downlink == "unbiased":
        if not down.unbiased:
            raise Refusal(
                f"{down.name} is biased and {method.name} needs an unbiased compressor of the "
                "server, such as rand-k"
            )
    elif not isinstance(down, Identity):
        raise Refusal(
            f"{method.name} broadcasts uncompressed vectors and cannot use {compressor.name}; "
            "leave the compressor of the server out"
        )
    return compressor


def fitted_view(method: Method | type[Method], problem: P) -> P:
    """Return the view of a problem that a method solves, with a shared g or without.

    Raises
    ------
    Refusal
        If the method is for strongly convex problems alone and mu is not positive.
    """
    _require(
        not isinstance(problem, str),
        f"{problem!r} is the name of a problem; give certibit.problem({problem!r})",
    )
    needs = method.needs
    if needs.strongly_convex and not (needs.nonconvex or is_strongly_convex(problem.plain)):
        raise Refusal(
            f"{method.name} needs a strongly convex problem and {problem.name} has "
            f"mu = {problem.plain.constants.mu:g}; choose another method, or add regularisation "
            "(mu > 0)"
        )
    return problem.composite if needs.composite else problem.plain


def require_method(method: object) -> None:
    """Refuse what is no method with its parameters, such as a name."""
    _require(
        isinstance(method, Method),
        f"{method!r} is no method with its parameters; give one, such as "
        'certibit.parameters("gd", problem)',
    )


def _require(fits: bool, sentence: str) -> None:
    if not fits:
        raise Refusal(sentence)
