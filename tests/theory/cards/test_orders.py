"""Bits to an accuracy grow at most as the leading orders of the cards say.

One of kappa, d, n and 1 + omega grows. Bits are measured on quadratics whose clients share their
eigenvectors, the hardest for most of the methods. An index counts like a number, so that log d
hides no exponent.
"""

import numpy as np
import pytest
import scipy.stats

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS

ACCURACY, TOLERANCE = 1e-6, 0.15
"""How far an exponent may be above that of the orders: constants and logarithms vary a little."""

FAR, MIDDLE, NEAR = (100, 300, 1000, 3000), (30, 100, 300, 1000), (30, 100, 300)
LAWS = [
    *(
        (name, "kappa", values, {})
        for name, values in (
            ("gd", FAR), ("agd", FAR), ("diana", MIDDLE), ("ef21", NEAR), ("adiana", MIDDLE),
            ("5gcs-cc", NEAR), ("scaffnew", FAR), ("compressed-scaffnew", FAR), ("locodl", FAR),
            ("fedcomgate", (10, 30, 100)),
        )
    ),
    *((name, "d", (8, 16, 32, 64), {"n": 4, "kappa": 300})
      for name in ("diana", "compressed-scaffnew", "locodl")),
    ("diana", "n", (2, 4, 8, 16), {"d": 32, "kappa": 300}),
    ("compressed-scaffnew", "n", (4, 8, 16, 32), {"d": 32, "kappa": 300}),
    ("locodl", "n", (2, 4, 8, 16), {"d": 32, "kappa": 300}),
    ("diana", "1 + omega", (8, 16, 32, 64), {"n": 2, "d": 64, "kappa": 30}),
    ("locodl", "1 + omega", (2, 4, 8, 16), {"d": 32, "kappa": 300}),
]  # fmt: skip
RULES = {
    "gd": "1/L", "agd": "classical", "diana": "b", "ef21": "published", "5gcs-cc": "ours",
    "locodl": "ours", "fedcomgate": "damped",
}  # fmt: skip


def measured_and_promised(name, n, d, kappa, k):
    """Return the bits of four runs, and the reals of the orders for messages of rand-k."""
    card, omega = METHODS[name], d / k - 1
    problem = Quadratic.random(n, d, 1.0, float(kappa), shared_eigenvectors=True, seed=0)
    need = card.method.needs.compressor
    sent = {"unbiased": RandK(k), "contractive": Scaled(RandK(k)), None: None}[need]
    options = {"s": 2} if card.shares_masks else {}
    method = card.parameters(problem, sent, RULES.get(name, "best"), **options)
    accuracy = ACCURACY * float(np.sum((problem.x_star - problem.x_0) ** 2)) / 2
    trace = simulate(
        Experiment.of(method, problem, sent),
        seeds=4,
        budget=Budget(gap=accuracy, iterations=400_000),
        record=Record(ratio=1.02),
    )
    bits, message = trace.cost_to(accuracy, "uplink_bits"), 2 * k
    if sent is None:
        message, omega = (2 * d / n, n / 2 - 1) if card.shares_masks else (d, 0.0)
    else:
        bits = bits * 64 * k / sent.bits(d)
    return bits, message * card.orders.rounds(n, d, kappa, omega)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law[0]} in {law[1]}")
def test_bits_grow_as_the_orders_say(law):
    name, quantity, values, fixed = law
    bits, orders = [], []
    for value in values:
        where = {"n": 10, "d": 20, "kappa": 1000} | fixed | {quantity: value}
        k = -(-where["d"] // where["n"]) if quantity != "1 + omega" else where["d"] // value
        measured, order = measured_and_promised(name, where["n"], where["d"], where["kappa"], k)
        bits.append(measured)
        orders.append(order)
    assert np.isfinite(bits).all()
    x = np.log(values)
    line = scipy.stats.linregress(np.repeat(x, 4), np.log(bits).ravel())
    error = line.stderr * scipy.stats.t.ppf(0.975, len(x) * 4 - 2)
    assert line.slope - error <= scipy.stats.linregress(x, np.log(orders)).slope + TOLERANCE
