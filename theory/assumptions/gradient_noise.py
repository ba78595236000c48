"""Stochastic gradients: what is assumed of the noise of the gradients that a method samples."""

from dataclasses import dataclass, replace
from typing import Self

from certibit.data.arrays import plain_numbers
from certibit.data.errors import Refusal
from certibit.theory.assumptions.assumption import is_constant


@dataclass(frozen=True)
class GradientNoise:
    """A sampled gradient is grad f_i(x) + xi_i, with E[xi_i] = 0.

    Every gradient that a method asks for is of a sample of its own; if the method names its samples
    (``needs.samples``), only those are that it names. The xi_i are independent over clients and
    samples, and E|xi_i|^2 <= sigma^2 + relative |grad f_i(x)|^2. A certificate is for every sigma:
    E[Psi+] <= Psi - c M + e sigma^2. For mini-batches of b samples sigma^2 and ``relative`` are
    those of one sample divided by b.

    Attributes
    ----------
    relative : float
        The part of the variance that grows with the gradient.
    difference : float, optional
        l with (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= l^2 |x - y|^2 for one sample at two points, as
        variance reduction takes it. For mini-batches of b samples, each of which is l-smooth in the
        mean, it is l/sqrt(b). Without it nothing is known of such a sample.
    gap : float
        The part A of the variance that grows with f: (1/n) sum_i E|xi_i|^2 is at most sigma^2 + 2 A
        (f(x) - f*) + relative (1/n) sum_i |grad f_i(x)|^2, with f* = inf f where there is no
        solution. Source: Khaled, Richtarik, arXiv:2002.03329, Assumption 2.
    expected : float, optional
        Expected smoothness A of convex samples: (1/n) sum_i E|xi_i(x) - xi_i(y)|^2 <= 2 A
        (f(x) - f(y) - <grad f(y), x - y>) for one sample at points x, y that all clients share.
        Then sigma^2 bounds (1/n) sum_i E|xi_i(x*)|^2, at the solution only. Source: Gower, Loizou,
        Qian, Sailanbayev, Shulgin, Richtarik, arXiv:1901.09401, Assumption 2.1, here of the noise.

    Examples
    --------
    >>> from certibit import FunctionClass, GradientNoise
    >>> FunctionClass.nonconvex(10, L=1.0, noise=GradientNoise()).noise.relative
    0.0
    """

    relative: float = 0.0
    difference: float | None = None
    gap: float = 0.0
    expected: float | None = None

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not is_constant(self.relative):
            raise Refusal(
                f"relative = {self.relative!r} is no part of a variance; give a finite number "
                "of at least 0"
            )
        if not is_constant(self.gap):
            raise Refusal(
                f"gap = {self.gap!r} is no part of a variance; give a finite number of at least 0"
            )
        if not (self.difference is None or is_constant(self.difference)):
            raise Refusal(
                f"difference = {self.difference!r} is no bound of the change of a noise; give a "
                "finite number of at least 0"
            )
        if not (self.expected is None or is_constant(self.expected)):
            raise Refusal(
                f"expected = {self.expected!r} is no expected smoothness of a noise; give a finite "
                "number of at least 0"
            )
        if self.expected is not None and (self.relative or self.gap or self.difference is not None):
            raise Refusal(
                f"expected = {self.expected:g} says how large a noise is everywhere; leave "
                "relative, difference and gap out"
            )

    def __repr__(self) -> str:
        stated = {name: x for name, x in vars(self).items() if x != getattr(GradientNoise, name)}
        return f"GradientNoise({', '.join(f'{name}={x!r}' for name, x in stated.items())})"

    def in_units(self, unit: float) -> Self:
        """Return the noise for the functions divided by a unit."""
        change = None if self.difference is None else self.difference / unit
        expected = None if self.expected is None else self.expected / unit
        return replace(self, difference=change, gap=self.gap / unit, expected=expected)
