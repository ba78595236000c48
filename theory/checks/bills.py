"""What a round costs by the published accounting, against what the code spends on the channel."""

from collections.abc import Callable
from typing import Any

from bitbound.data.problem import Problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.fit import fitting_compressor
from bitbound.solvers.method import Method
from bitbound.theory.checks.promise import round_cost
from bitbound.theory.checks.walk import EXACT
from bitbound.theory.verdict import Verdict

Bill = Callable[[Any, int, float, float], tuple[float, float]]
"""Of a method m, n, the bits of an uncompressed vector and of a message: uplink and downlink bits,
the mean over clients and coins."""


def _whole(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of uncompressed vectors both ways."""
    return vector, vector


def _compressed(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    """Return the cost of one message up and an uncompressed vector down."""
    return message, vector


def _scaffold(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    minimal = m.traffic == "minimal"
    up, down = (1 if minimal else 2), (1 if minimal and m.m == n else 2)
    return up * vector * m.m / n, down * vector * m.m / n


def _tamuna(m: Any, n: int, vector: float, message: float) -> tuple[float, float]:
    owned = m.s * vector / n
    return owned, vector if m.m == n else m.m * vector / n + owned


BILLS: dict[str, Bill] = {
    "gd": _whole,
    "agd": _whole,
    "diana": _compressed,
    "adiana": lambda m, n, vector, message: (2 * message, vector),
    "ef21": _compressed,
    "marina": lambda m, n, vector, message: (m.p * vector + (1 - m.p) * message, vector),
    "dasha": _compressed,
    "5gcs-cc": lambda m, n, vector, message: (m.cohort * message / n, m.cohort * vector / n),
    "locodl": _compressed,
    "scaffnew": _whole,
    "compressed-scaffnew": lambda m, n, vector, message: (m.s * vector / n, vector),
    "tamuna": _tamuna,
    "gradskip": _whole,
    "scaffold": _scaffold,
    "fedcomgate": _compressed,
}
"""By the name of the method.

GD and AGD send gradients and models of d numbers of 32 bits; DIANA, EF21, DASHA, LoCoDL and
FedCOMGATE one compressed message; ADIANA two, of which papers that compare with it often forget
one; MARINA, with its probability p, an uncompressed vector. 5GCS-CC, SCAFFOLD and TAMUNA serve a
cohort only. In CompressedScaffnew and TAMUNA every entry has s owners, which send it without an
index, since the mask is shared. SCAFFOLD sends two vectors each way, or one where the other can be
found from it.
"""


def costs(method: Method, problem: Problem, compressor: Compressor | None = None) -> Verdict | None:
    """Check that a round costs what it should; none for a method that is not in the table."""
    if method.name not in BILLS:
        return None
    fitted = fitting_compressor(method, compressor, problem.d)
    spent = round_cost(method, problem, compressor)
    bill = BILLS[method.name](method, problem.n, 32 * problem.d, fitted.bits(problem.d))
    off = max(abs(spent.uplink_bits - bill[0]), abs(spent.downlink_bits - bill[1]))
    note = f"{bill[0]:,.6g} up, {bill[1]:,.6g} down"
    return Verdict("bits of a round as published", off / (1 + max(bill)), EXACT, note)
