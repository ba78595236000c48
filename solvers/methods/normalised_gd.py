"""Normalised gradient descent on a single machine."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Gradients, Messages, Method, Needs, mean
from certibit.solvers.clipping import ModelState, norm
from certibit.solvers.method import require_positive


@dataclass(frozen=True)
class NormalisedGD(Method):
    """Normalised SGD for min f(x), on one machine that holds all f_i, f = (1/n) sum_i f_i.

    Each iteration, with g = (1/n) sum_i g_i(x; sample)::

        x <- x - (eta/(|g| + beta)) g

    Parameters
    ----------
    eta : float
        Length of a step at large gradients.
    beta : float
        The gradient norm at which a step is half as long.
    I : int
        Iterations that are counted as one round.

    Notes
    -----
    Between half of and all of a clipped step with the step size eta/beta and the threshold beta.
    Source: Zhang, He, Sra, Jadbabaie, "Why gradient clipping accelerates training", ICLR 2020.

    Examples
    --------
    >>> from certibit import Budget, NormalisedGD, Quartics, run
    >>> problem = Quartics.of(H=1)
    >>> method = NormalisedGD(eta=0.05, beta=20.0, I=4)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("gap").round(2)
    array([6.67])
    """

    eta: float
    beta: float
    I: int = 1  # noqa: E741  (as for the other methods)

    name: ClassVar[str] = "normalised-gd"
    needs: ClassVar[Needs] = Needs(strongly_convex=False, samples=True)
    steps_of_a_round: ClassVar[str] = "I"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "eta", "beta", "I")

    def start(self, x: Array, problem: Gradients, channel: Messages) -> ModelState:
        return ModelState(x)

    def communicate(self, s: ModelState, problem: Gradients, channel: Messages) -> ModelState:
        x = s.x
        for k in range(self.I):
            g = mean(problem.grad(x, sample=k))
            x = x - self.eta / (norm(g) + self.beta) * g
        return ModelState(x)
