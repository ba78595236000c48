"""Write a distributed optimisation method once; run it, count its bits, check its theorem.

The public names::

    problem = bitbound.problem("breast-cancer@9", kappa=1e3)
    compressor = bitbound.compressor("rand-k:2+natural")
    method = bitbound.parameters("locodl", problem, compressor)
    trace = bitbound.run(method, problem, compressor, budget=bitbound.Budget(gap=1e-6))
    trace.bits_to(1e-6)
"""

from bitbound.data.errors import Refusal
from bitbound.data.libsvm import load
from bitbound.data.logistic import LogisticRegression
from bitbound.data.problem import Constants, Problem
from bitbound.data.quadratic import Quadratic
from bitbound.data.selector import problem
from bitbound.solvers.budget import Budget, Record
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.method import Method
from bitbound.solvers.store import Store
from bitbound.solvers.trace import Trace
from bitbound.theory.catalogue import METHODS, parameters
from bitbound.theory.covered import OutsideTheoremWarning, run
from bitbound.theory.theorem import Condition, Setting, Theorem

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "Budget",
    "Compressor",
    "Condition",
    "Constants",
    "LogisticRegression",
    "Method",
    "OutsideTheoremWarning",
    "Problem",
    "Quadratic",
    "Record",
    "Refusal",
    "Setting",
    "Store",
    "Theorem",
    "Trace",
    "compressor",
    "load",
    "parameters",
    "problem",
    "run",
]
