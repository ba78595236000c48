"""Stochastic gradients of a network from a few examples of every client."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal


class SumOfExamples(Protocol):
    """A problem whose f_i are means over m examples."""

    @property
    def m(self) -> int:
        """Examples of the largest client."""

    @property
    def sizes(self) -> Array | None:
        """Examples of every client, (n,), where these differ."""

    def grad_of_examples(self, x: Array, places: Array) -> Array:
        """Gradients on the examples at some places (n, b, R), as (n, d, R)."""


@dataclass(frozen=True)
class ExampleBatch:
    """Stochastic gradients from b examples of every client, drawn with replacement.

    Gradients of such a problem are counted in examples: b for a stochastic one, and for an exact
    one those of the largest client.

    Parameters
    ----------
    b : int
        Number of examples.

    Raises
    ------
    Refusal
        Unless b is a whole number of at least 1.
    """

    b: int

    def __post_init__(self) -> None:
        if not isinstance(self.b, int) or isinstance(self.b, bool) or self.b < 1:
            raise Refusal(f"a batch of {self.b!r} examples is not possible; give a whole number")

    def numbers(self, problem: SumOfExamples) -> int:
        """Return how many uniform numbers a batch of a client takes: b."""
        return self.b

    def gradient(
        self,
        problem: SumOfExamples,
        x: Array,
        uniforms: Array,
        exact: Callable[[Array], Array],
    ) -> Array:
        """Return the gradients of batches at points, (n, d, R), from (n, b, R) uniform numbers."""
        xp = array_namespace(uniforms)
        m = problem.m if problem.sizes is None else xp.asarray(problem.sizes)[:, None, None]
        return problem.grad_of_examples(x, xp.astype(uniforms * m, xp.int64))

    def counted(self, problem: SumOfExamples, sampled: bool) -> int:
        """Return what a gradient of a client counts: b examples, or m."""
        return self.b if sampled else problem.m

    def largest_variance(self, problem: SumOfExamples) -> float:
        """Return infinity: no bound is known."""
        return math.inf
