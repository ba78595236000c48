"""Scaling laws: fitted exponents of bits to an accuracy, against those of the tables.

Bits are measured on quadratics whose clients share their eigenvectors, the hardest for most of the
methods, while one of kappa, d, n and 1 + omega grows and the others stay. The exponent is the slope
of log(bits) over log(quantity). A table's exponent is that of its formula over the same values, so
that terms which are not leading yet do not disturb the comparison.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import total_bits
from certibit.theory.catalogue.catalogue import METHODS

TOLERANCE = 0.15
"""How far a measured exponent may be above the table's: constants and logarithms vary a little."""

ACCURACY = 1e-6

LAW_ITERATIONS = 400_000
"""The limit of a run."""


@dataclass(frozen=True)
class Law:
    """A scaling experiment: the bits of a method while one quantity grows.

    Attributes
    ----------
    method, rule : str
        The method and the rule of its parameters.
    quantity : "kappa", "d", "n" or "1 + omega"
        What grows.
    values : tuple of float
        Its values.
    n, d, kappa : number
        What stays, where it is not the quantity.
    compressed : bool
        Whether messages are rand-k, with k = ceil(d/n), or the k that gives 1 + omega.
    """

    method: str
    rule: str
    quantity: str
    values: tuple[float, ...]
    n: int = 10
    d: int = 20
    kappa: float = 1000.0
    compressed: bool = True

    def at(self, value: float) -> tuple[int, int, float, int]:
        """Return n, d, kappa and k."""
        n = round(value) if self.quantity == "n" else self.n
        d = round(value) if self.quantity == "d" else self.d
        kappa = value if self.quantity == "kappa" else self.kappa
        k = round(d / value) if self.quantity == "1 + omega" else -(-d // n)
        return n, d, kappa, k

    def order(self, value: float, downlink: float = 0.0) -> float:
        """Evaluate the table: reals, as rounds times the reals of a message and of a broadcast.

        A message of rand-k counts as 2 k reals, its indices among them, and a broadcast as d.
        """
        n, d, kappa, k = self.at(value)
        card = METHODS[self.method]
        if card.orders is None:
            raise Refusal(f"the card of {self.method} has no leading orders; give it some")
        message, omega = 2.0 * k, d / k - 1
        if not self.compressed:
            message, omega = d, 0.0
        elif card.shares_masks:
            message, omega = 2 * d / n, n / 2 - 1
        return total_bits(message, d, downlink) * card.orders.rounds(n, d, kappa, omega)


_KAPPAS = (100.0, 300.0, 1000.0, 3000.0)
LAWS = (
    Law("gd", "1/L", "kappa", _KAPPAS, compressed=False),
    Law("agd", "classical", "kappa", _KAPPAS, compressed=False),
    Law("diana", "b", "kappa", (30.0, 100.0, 300.0, 1000.0)),
    Law("ef21", "paper", "kappa", (30.0, 100.0, 300.0)),
    Law("adiana", "best", "kappa", (30.0, 100.0, 300.0, 1000.0)),
    Law("5gcs-cc", "paper", "kappa", (30.0, 100.0, 300.0)),
    Law("scaffnew", "best", "kappa", _KAPPAS, compressed=False),
    Law("compressed-scaffnew", "best", "kappa", _KAPPAS),
    Law("locodl", "balanced", "kappa", _KAPPAS),
    Law("fedcomgate", "damped", "kappa", (10.0, 30.0, 100.0)),
    Law("diana", "b", "d", (8.0, 16.0, 32.0, 64.0), n=4, kappa=300.0),
    Law("compressed-scaffnew", "best", "d", (8.0, 16.0, 32.0, 64.0), n=4, kappa=300.0),
    Law("locodl", "balanced", "d", (8.0, 16.0, 32.0, 64.0), n=4, kappa=300.0),
    Law("diana", "b", "n", (2.0, 4.0, 8.0, 16.0), d=32, kappa=300.0),
    Law("compressed-scaffnew", "best", "n", (4.0, 8.0, 16.0, 32.0), d=32, kappa=300.0),
    Law("locodl", "balanced", "n", (2.0, 4.0, 8.0, 16.0), d=32, kappa=300.0),
    Law("diana", "b", "1 + omega", (8.0, 16.0, 32.0, 64.0), n=2, d=64, kappa=30.0),
    Law("locodl", "balanced", "1 + omega", (2.0, 4.0, 8.0, 16.0), d=32, kappa=300.0),
)
"""The laws that are measured; the last of each quantity are those of local training."""


@dataclass(frozen=True)
class Fit:
    """A measured law.

    Attributes
    ----------
    law : Law
        What was measured.
    bits : (values, seeds) array
        Bits per client to the accuracy, in reals of a rand-k message where indices are sent;
        infinite where a run never arrives, NaN where a limit has cut it.
    downlink : float
        The weight of a bit received in them.
    exponent, error : float
        The fitted exponent and half its 95 % confidence interval; NaN where bits are.
    table : float
        The exponent of the table's formula over the same values.
    """

    law: Law
    bits: NDArray[np.float64]
    exponent: float
    error: float
    table: float
    downlink: float = 0.0

    @property
    def tested(self) -> bool:
        """Whether no limit has cut a run."""
        return not np.isnan(self.bits).any()

    @property
    def holds(self) -> bool:
        """Whether the exponent is at most the table's, up to its error and the tolerance.

        True where that is not tested.
        """
        return not self.tested or self.exponent - self.error <= self.table + TOLERANCE


def measured_law(
    law: Law,
    seeds: int = 4,
    downlink: float = 0.0,
    limits: Budget | None = None,
    accuracy: float = ACCURACY,
) -> Fit:
    """Measure a law.

    With a weight of the downlink, the bits are total bits, as are the reals of the table. Limits
    may end runs before the accuracy; the exponents of such laws are not fitted.
    """
    bits = np.array([_bits(law, value, seeds, accuracy, downlink, limits) for value in law.values])
    return fit(law, bits, downlink)


def fit(law: Law, bits: NDArray[np.float64], downlink: float = 0.0) -> Fit:
    """Fit exponents: of the bits, (values, seeds), where all are known, and of the table."""
    x = np.log(law.values)
    table = scipy.stats.linregress(x, np.log([law.order(value, downlink) for value in law.values]))
    if not np.isfinite(bits).all():
        return Fit(law, bits, np.nan, np.nan, float(table.slope), downlink)
    places = np.repeat(x, bits.shape[1])
    line = scipy.stats.linregress(places, np.log(bits).ravel())
    error = line.stderr * scipy.stats.t.ppf(0.975, max(1, bits.size - 2))
    return Fit(law, bits, float(line.slope), float(error), float(table.slope), downlink)


def _bits(
    law: Law, value: float, seeds: int, accuracy: float, downlink: float, limits: Budget | None
) -> NDArray[np.float64]:
    """Measure at one value of the quantity; each run stands for a seed.

    The accuracy is relative to (mu/2) |x_0 - x*|^2, so that the slowest direction counts. An index
    counts like a number: a message of k numbers has 64 k bits, so that log d hides no exponent.
    Bits are infinite where a run never arrives, and NaN where a limit has cut it.
    """
    n, d, kappa, k = law.at(value)
    problem = Quadratic.random(n, d, 1.0, kappa, shared_eigenvectors=True, seed=0)
    card = METHODS[law.method]
    need = card.method.needs.compressor
    compressor = {"unbiased": RandK(k), "contractive": Scaled(RandK(k)), None: None}[need]
    options = {"s": 2} if card.shares_masks else {}
    method = card.parameters(problem, compressor, law.rule, **options)
    whole = Budget(iterations=LAW_ITERATIONS)
    distance = float(np.sum((problem.x_star - problem.x_0) ** 2))
    trace = simulate(
        Experiment.of(method, problem, compressor),
        seeds=seeds,
        budget=replace(whole.within(limits), gap=accuracy * distance / 2),
        record=Record(ratio=1.02),
    )
    up, down = (trace.cost_to(accuracy * distance / 2, f"{way}link_bits") for way in ("up", "down"))
    if compressor is not None:
        up = up * 64 * k / compressor.bits(d)
    bits = total_bits(up, down, downlink)
    cut = [ending in whole.lowered(limits) for ending in trace.ending]
    return np.where(np.isnan(bits) & ~np.array(cut), np.inf, bits)
