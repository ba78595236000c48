"""The constants of the functions and compressors of some clients."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from certibit.data.arrays import plain_numbers
from certibit.data.errors import Refusal
from certibit.data.numbers import exactly


@dataclass(frozen=True)
class ClientClass:
    """Clients with functions and compressors of the same class.

    Attributes
    ----------
    count : int
        The number of these clients.
    mu, L : float
        Their f_i are mu-strongly convex and L-smooth, mu < L; weakly convex where mu < 0.
    omega, alpha
        Of their compressors, as in :class:`FunctionClass`.

    Examples
    --------
    >>> from certibit import ClientClass, FunctionClass
    >>> rough, smooth = ClientClass(1, mu=1.0, L=100.0), ClientClass(9, mu=1.0, L=10.0)
    >>> FunctionClass.of_classes([rough, smooth]).n
    10
    """

    count: int
    mu: float
    L: float
    omega: float = 0.0
    alpha: float | None = None

    def __post_init__(self) -> None:
        plain_numbers(self)
        if not (isinstance(self.count, int) and self.count >= 1):
            raise Refusal(
                f"a class of {self.count!r} clients is none; give an integer of at least 1"
            )
        require_curvature(self.mu, self.L)
        require_compression(omega=self.omega)
        require_contraction(alpha=self.alpha)

    @property
    def described(self) -> str:
        """The class in words."""
        alpha = "" if self.alpha is None else f", alpha = {exactly(self.alpha)}"
        omega = f", omega = {exactly(self.omega)}" if self.omega else ""
        curves = f"mu = {exactly(self.mu)}, L = {exactly(self.L)}"
        return f"{self.count} of the f_i with {curves}{omega}{alpha}"


def require_curvature(mu: Any, L: Any) -> None:
    """Refuse constants of no class of functions."""
    unbounded = isinstance(mu, float) and math.isinf(mu)
    if unbounded or not (mu < L and L > 0):
        raise Refusal(
            f"mu = {mu:g} and L = {L:g} describe no class of functions; give mu < L and L > 0"
        )


def require_compression(**constants: Any) -> None:
    """Refuse relative variances of compressors, by name, that are negative."""
    for name, omega in constants.items():
        if not (omega is None or omega >= 0):
            raise Refusal(f"{name} = {omega:g} must be at least 0")


def require_contraction(**constants: Any) -> None:
    """Refuse constants of contractions, by name, that are none."""
    for name, alpha in constants.items():
        if alpha is not None and not 0 < alpha <= 1:
            raise Refusal(f"{name} = {alpha:g} must be above 0 and at most 1")


def ends_of_groups(sizes: Sequence[float], groups: int) -> tuple[int, ...]:
    """Return where groups of ascending sizes end so that the sum of the largest is the least.

    Every member counts as the largest of its group.

    Examples
    --------
    >>> ends_of_groups([1.0, 1.0, 5.0, 6.0], 2)
    (2, 4)
    """
    none: tuple[int, ...] = ()
    best = [(0.0, none)] + [(math.inf, none)] * len(sizes)
    for _ in range(groups):  # best[k]: the least sum for the first k
        best = [
            min(
                ((best[j][0] + (k - j) * sizes[k - 1], (*best[j][1], k)) for j in range(k)),
                default=(math.inf, none),
            )
            for k in range(len(sizes) + 1)
        ]
    return best[-1][1]
