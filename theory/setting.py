"""The setting of a theorem: exact constants, numbers of clients and features, the compressor."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.mini_batch import MiniBatch, sampling_constants
from certibit.data.problem import Constants, Problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import downward
from certibit.solvers.libraries import host
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment, fitted_compressor, fitted_view

ROUNDING = 1e-9
"""Relative size below which a gradient at the solution counts as 0."""


@dataclass(frozen=True)
class OfSamples:
    """How much the noises of one sample at two points differ: by default not at all.

    Attributes
    ----------
    difference, expected
        As in :class:`Setting`.
    """

    difference: float = 0.0
    expected: float = 0.0


@dataclass(frozen=True)
class Setting:
    """The exact constants and the compressor at which theorems are evaluated.

    Attributes
    ----------
    constants : Constants
        Of the view of the problem that the method solves; of a nonconvex problem, with mu <= 0.
    n, d : int
        Number of clients and of features.
    compressor : Compressor
        The compressor of every client, perhaps with one of the server.
    shared_minimiser : bool
        Whether all f_i have the same minimiser; looked at only for a method that needs it.
    of_samples : OfSamples, optional
        The constants below, of the mini-batches of a problem; 0 for other problems.
    by_variance : bool
        Whether the method takes compressors by their bias and variance.
    sigma : float
        With (1/n) sum_i E|g_i(x) - grad f_i(x)|^2 <= sigma^2 for the stochastic gradients g_i of a
        problem, at every x; perhaps infinite, and 0 where gradients are exact.

    Examples
    --------
    >>> from certibit import DIANA, Quadratic, Setting, compressor
    >>> problem = Quadratic.random(4, 6, mu=1.0, L=10.0)
    >>> setting = Setting.of(DIANA, problem, compressor("rand-k:2"))
    >>> setting.n, setting.kappa, setting.omega, setting.omega_av
    (4, 10.0, 2.0, 0.5)
    """

    constants: Constants
    n: int
    d: int
    compressor: Compressor
    shared_minimiser: bool = True
    of_samples: OfSamples | None = None
    by_variance: bool = False
    sigma: float = 0.0

    @classmethod
    def of(
        cls, method: type[Method] | Method, problem: Any, compressor: Compressor | None = None
    ) -> Self:
        """Return the setting of a method, or of a class of methods, on a problem.

        Raises
        ------
        Refusal
            If method, problem and compressor do not fit each other.
        """
        view = fitted_view(method, problem)
        sent = fitted_compressor(method, compressor, problem.d)
        return cls._on(method, view, sent)

    @classmethod
    def at(cls, experiment: Experiment[Any]) -> Self:
        """Return the setting of an experiment, whose parts fit each other already."""
        return cls._on(experiment.method, experiment.problem, experiment.compressor)

    @classmethod
    def _on(cls, method: type[Method] | Method, view: Any, sent: Compressor) -> Self:
        of_samples, variance = _of_samples(view)
        return cls(
            view.constants,
            view.n,
            view.d,
            sent,
            _fits(method, view),
            of_samples,
            method.needs.by_variance,
            math.sqrt(variance),
        )

    def by_smoothness(self) -> Self:
        """Return the setting with the clients renumbered by their L_i, from small to large."""
        L_i = np.sort(host(self.constants.L_i))
        return replace(self, constants=replace(self.constants, L_i=L_i))

    @property
    def strongly_convex(self) -> bool:
        """Whether every f_i is strongly convex."""
        return self.constants.mu > 0

    @property
    def has_solution(self) -> bool:
        """Whether the functions are convex and have a solution."""
        return self.constants.mu >= 0

    @property
    def mu(self) -> float:
        """Strong convexity of every f_i, positive.

        Raises
        ------
        Refusal
            If the f_i are not strongly convex: what reads mu or kappa is about those that are.
        """
        if not self.strongly_convex:
            raise Refusal(
                f"the f_i have mu = {self.constants.mu:g} and the formula is for mu > 0; choose a "
                "rule for nonconvex f, or give each parameter its value"
            )
        return self.constants.mu

    @property
    def L(self) -> float:  # noqa: N802  (the paper's symbol)
        """Largest smoothness constant of an f_i."""
        return self.constants.L

    @property
    def kappa(self) -> float:
        """Condition number L/mu; refused like mu."""
        return self.L / self.mu

    @property
    def difference(self) -> float:
        """The l with (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= l^2 |x - y|^2 for noises of one sample.

        Where no problem is given it is L_tilde, which holds for samples of one L_i-smooth function.
        """
        return self.constants.L_tilde if self.of_samples is None else self.of_samples.difference

    @property
    def expected(self) -> float:
        """Expected smoothness A of convex samples: how much the noises of one at two points differ.

        (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= 2 A (f(x) - f(y) - <grad f(y), x - y>). Where no
        problem is given it is L, which holds for samples of one convex, L-smooth function.
        """
        return self.L if self.of_samples is None else self.of_samples.expected

    @property
    def omega(self) -> float:
        """Relative variance of the compressor."""
        return self.compressor.omega(self.d)

    @property
    def omega_av(self) -> float:
        """Relative variance of the mean of n compressed vectors."""
        return self.compressor.omega_av(self.d, self.n)

    @property
    def independent(self) -> bool:
        """Whether the clients draw independently."""
        return self.n == 1 or not self.compressor.shared

    @property
    def alpha(self) -> float:
        """Contraction of the compressor, E|C(x) - x|^2 <= (1 - alpha) |x|^2."""
        return self.compressor.alpha(self.d)

    @property
    def bias_and_variance(self) -> tuple[float, float, float]:
        """The eta, omega and omega_av of the compressor about its mean.

        |E C(x) - x| <= eta |x| and E|C(x) - E C(x)|^2 <= omega |x|^2; that of the mean of n
        messages is at most omega_av (1/n) sum_i |x_i|^2. Where the compressor is not taken so, they
        are those of a contraction, sqrt(1 - alpha) and 0.
        """
        sent = self.compressor
        if not self.by_variance:
            return math.sqrt(1 - self.alpha), 0.0, 0.0
        omega = sent.relative_variance(self.d)
        return sent.bias(self.d), omega, omega if sent.shared else omega / self.n

    @property
    def deterministic(self) -> bool:
        """Whether no message is drawn, so that equal vectors have equal errors."""
        both = self.compressor, downward(self.compressor)
        return all(one.deterministic(self.d) for one in both)

    @property
    def alpha_down(self) -> float:
        """Contraction of the server's compressor; 1 if it broadcasts uncompressed vectors."""
        return downward(self.compressor).alpha(self.d)

    @property
    def omega_down(self) -> float:
        """Relative variance of the server's compressor; 0 if it broadcasts uncompressed vectors."""
        return downward(self.compressor).omega(self.d)


def _of_samples(problem: Any) -> tuple[OfSamples, float]:
    """Return the constants of samples, and a bound of their variance."""
    if isinstance(problem.noise, MiniBatch):
        found = sampling_constants(problem)
        return OfSamples(found.difference, found.expected_noise), found.variance
    if problem.noise is None:
        return OfSamples(), 0.0
    return OfSamples(), problem.noise.largest_variance(problem)  # added alike at every point


def _fits(method: type[Method] | Method, problem: Problem) -> bool:
    """Whether all f_i have the same minimiser, if a method needs it: their gradients are 0 there.

    They are compared with those at the start, up to rounding.
    """
    if not method.needs.shared_minimiser or problem.n == 1:
        return True
    steep, rest = (
        float(np.max(np.abs(host(x)))) for x in (problem.grad(problem.x_0), problem.grad_star)
    )
    return rest <= ROUNDING * steep
