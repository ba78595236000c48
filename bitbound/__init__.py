"""Write a distributed optimisation method once; run it, count its bits, check its theorem.

The public names::

    problem = bitbound.problem("breast-cancer@9", kappa=1e3)
    compressor = bitbound.compressor("rand-k:2+natural")
    method = bitbound.parameters("locodl", problem, compressor)
    trace = bitbound.run(method, problem, compressor, budget=bitbound.Budget(gap=1e-6))
    trace.bits_to(1e-6)
"""

from bitbound.data.errors import Refusal
from bitbound.data.files.libsvm import load
from bitbound.data.problem import Constants, Problem, StronglyConvexProblem
from bitbound.data.problems.logistic import LogisticRegression
from bitbound.data.problems.quadratic import Quadratic
from bitbound.data.problems.selector import problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.method import Method
from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.store import Store
from bitbound.solvers.runs.trace import Trace
from bitbound.theory.setting import Setting
from bitbound.theory.theorem import Condition, Theorem
from bitbound.theory.theorems.catalogue import METHODS, parameters
from bitbound.theory.theorems.coverage import OutsideTheoremWarning, run

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
    "StronglyConvexProblem",
    "Theorem",
    "Trace",
    "compressor",
    "load",
    "parameters",
    "problem",
    "run",
]
