"""What a theorem promises of |grad f| on (L0, L1)-smooth functions."""

import math
from dataclasses import dataclass
from typing import ClassVar

from certibit.theory.verdict import readable


@dataclass(frozen=True)
class NormPromise:
    """E[Psi+] <= Psi - c H(|grad f(x)|) with H(G) = max {s G - s^2/(4 eta): least <= s <= most}.

    ``eta`` is a step size and s a length. With least = 0, H is Huber's function: eta G^2 up to
    G = most/(2 eta), and a line beyond. As H is convex, the mean of E|grad f| over T iterates, G,
    has c T H(G) <= Psi_0. Above 0, ``least`` is what the noise of gradients costs: H may be
    negative.

    Examples
    --------
    >>> promise = NormPromise(c=0.5, eta=0.25, most=0.25)  # clipped gradient descent, eta = gamma
    >>> promise.decrease(0.1) == 0.5 * 0.25 * 0.1**2, promise.decrease(2.0)
    (True, 0.21875)
    >>> promise.rounds_to(0.1**2, start=1.0)
    800.0
    """

    c: float
    eta: float
    most: float
    least: float = 0.0

    measure: ClassVar[str] = "squared_gradient"
    e: ClassVar[float] = 0.0
    """The noise is part of what is promised."""

    def decrease(self, norm: float) -> float:
        """Return c H(G), the least mean decrease of Psi where |grad f(x)| = ``norm`` = G."""
        s = max(self.least, min(2 * self.eta * norm, self.most))
        return self.c * (s * norm - s**2 / (4 * self.eta))

    def rounds_to(self, accuracy: float, start: float = 1.0, variance: float = 0.0) -> float:
        """Return how many iterates have a mean of E|grad f| whose square is at most an accuracy.

        It is infinite if the noise alone is larger.
        """
        left = self.decrease(math.sqrt(accuracy))
        return start / left if left > 0 else math.inf

    def __str__(self) -> str:
        c, least, most = (readable(x, 6) for x in (self.c, self.least, self.most))
        line = f"s |grad f| - s^2/{readable(4 * self.eta, 6)}"
        return f"E[Psi+] <= Psi - {c} ({line}) for every s from {least} to {most}"
