"""Write a distributed optimisation method once; run it, count its bits, check its theorem.

All public names stand on this page; a method of one's own needs no other import.

Examples
--------
>>> import bitbound
>>> problem = bitbound.problem("breast-cancer@9", kappa=100)
>>> compressor = bitbound.compressor("rand-k:2+natural")
>>> method = bitbound.parameters("locodl", problem, compressor)
>>> trace = bitbound.run(method, problem, compressor, seeds=2, budget=bitbound.Budget(gap=1e-3))
>>> trace.bits_to(1e-3)
array([2352., 1764.])
"""

from bitbound.data.interrupts import end_at_interrupts

end_at_interrupts()

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    # What is solved
    from bitbound.data.errors import DamagedFileError, Refusal
    from bitbound.data.files.libsvm import load
    from bitbound.data.losses.base import Loss
    from bitbound.data.losses.logistic_loss import Logistic
    from bitbound.data.losses.losses import Huber, LeastSquares, Poisson, SmoothedHinge
    from bitbound.data.noise import Uniform
    from bitbound.data.problem import Constants, Problem, StronglyConvexProblem
    from bitbound.data.problems.heterogeneity import Heterogeneity, heterogeneity
    from bitbound.data.problems.linear_model import LinearModel
    from bitbound.data.problems.logistic import LogisticRegression
    from bitbound.data.problems.multinomial import MultinomialRegression
    from bitbound.data.problems.quadratic import Quadratic
    from bitbound.data.problems.selector import problem
    from bitbound.data.relaxed.polynomials import Quartics
    from bitbound.data.relaxed.smoothness import relaxed_smoothness

    # What is drawn
    from bitbound.figures.comparison.compare import compare
    from bitbound.figures.comparison.comparison_result import Comparison

    # What a method is written with
    from bitbound.solvers.authoring import (
        Array,
        Every,
        Functions,
        Gradients,
        Messages,
        Method,
        Needs,
        Solution,
        WithProbability,
        copies,
        everyone,
        masked,
        mean,
        squared_norm,
        total,
        where,
    )

    # What is sent
    from bitbound.solvers.compressors.base import Biased, Compressor
    from bitbound.solvers.compressors.selector import compressor
    from bitbound.solvers.compressors.wire import (
        Float32,
        Index,
        Layout,
        Level,
        Norm,
        PowersOfTwo,
        Shared,
        Sign,
    )

    # The methods
    from bitbound.solvers.methods.adiana import ADIANA
    from bitbound.solvers.methods.agd import AGD
    from bitbound.solvers.methods.celgc import CELGC
    from bitbound.solvers.methods.clip21 import Clip21
    from bitbound.solvers.methods.clipped_minibatch_sgd import ClippedMinibatchSGD
    from bitbound.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
    from bitbound.solvers.methods.clipped_sgd import ClippedSGD
    from bitbound.solvers.methods.compressed_gd import CompressedGD
    from bitbound.solvers.methods.compressed_scaffnew import CompressedScaffnew
    from bitbound.solvers.methods.dasha import DASHA
    from bitbound.solvers.methods.diana import DIANA
    from bitbound.solvers.methods.econtrol import EControl
    from bitbound.solvers.methods.ef import EF
    from bitbound.solvers.methods.ef21 import EF21
    from bitbound.solvers.methods.ef21p_diana import EF21PDIANA
    from bitbound.solvers.methods.episode import EPISODE
    from bitbound.solvers.methods.episode_plus_plus import EpisodePlusPlus
    from bitbound.solvers.methods.fedcomgate import FedCOMGATE
    from bitbound.solvers.methods.five_gcs_cc import FiveGCSCC
    from bitbound.solvers.methods.gd import GD
    from bitbound.solvers.methods.gradskip import GradSkip
    from bitbound.solvers.methods.locodl import LoCoDL
    from bitbound.solvers.methods.locodl_both_ways import LoCoDLBothWays
    from bitbound.solvers.methods.marina import MARINA
    from bitbound.solvers.methods.momentum_clipping import MomentumClipping
    from bitbound.solvers.methods.naive_parallel_clip import NaiveParallelClip
    from bitbound.solvers.methods.normalised_ef21 import NormalisedEF21
    from bitbound.solvers.methods.normalised_gd import NormalisedGD
    from bitbound.solvers.methods.scaffnew import Scaffnew
    from bitbound.solvers.methods.scaffold import SCAFFOLD
    from bitbound.solvers.methods.tamuna import TAMUNA

    # What a run takes and gives
    from bitbound.solvers.runs.budget import Budget, Record
    from bitbound.solvers.runs.network import Network
    from bitbound.solvers.runs.trace import Trace
    from bitbound.solvers.store.store import Store
    from bitbound.solvers.world.experiment import Experiment

    # What is promised, certified and checked, and the catalogue of methods
    from bitbound.theory.card import Card
    from bitbound.theory.cards.catalogue import CARDS, METHODS, parameters
    from bitbound.theory.cards.coverage import run
    from bitbound.theory.certificates.certify import certify
    from bitbound.theory.certificates.largest_step import largest_step
    from bitbound.theory.certificates.worst_instance import divergence, worst_instance
    from bitbound.theory.chains.certify_steps import certify_steps
    from bitbound.theory.chains.chain import Chain
    from bitbound.theory.checks.compressor.compression import compressor_checks
    from bitbound.theory.checks.examination import Examination, check
    from bitbound.theory.function_class import ClientClass, FunctionClass
    from bitbound.theory.outside_theorem import OutsideTheoremWarning
    from bitbound.theory.plan.planning import Plan, plan
    from bitbound.theory.potential import Gap, Squares
    from bitbound.theory.proofs.certificate import Certificate
    from bitbound.theory.setting import Setting
    from bitbound.theory.theorem import Condition, Theorem
    from bitbound.theory.worlds.probing import one_step

__version__ = "0.1.0"

__all__ = [
    "ADIANA",
    "AGD",
    "CARDS",
    "CELGC",
    "DASHA",
    "DIANA",
    "EF",
    "EF21",
    "EF21PDIANA",
    "EPISODE",
    "GD",
    "MARINA",
    "METHODS",
    "SCAFFOLD",
    "TAMUNA",
    "Array",
    "Biased",
    "Budget",
    "Card",
    "Certificate",
    "Chain",
    "ClientClass",
    "Clip21",
    "ClippedMinibatchSGD",
    "ClippedSCAFFOLD",
    "ClippedSGD",
    "Comparison",
    "CompressedGD",
    "CompressedScaffnew",
    "Compressor",
    "Condition",
    "Constants",
    "DamagedFileError",
    "EControl",
    "EpisodePlusPlus",
    "Every",
    "Examination",
    "Experiment",
    "FedCOMGATE",
    "FiveGCSCC",
    "Float32",
    "FunctionClass",
    "Functions",
    "Gap",
    "GradSkip",
    "Gradients",
    "Heterogeneity",
    "Huber",
    "Index",
    "Layout",
    "LeastSquares",
    "Level",
    "LinearModel",
    "LoCoDL",
    "LoCoDLBothWays",
    "Logistic",
    "LogisticRegression",
    "Loss",
    "Messages",
    "Method",
    "MomentumClipping",
    "MultinomialRegression",
    "NaiveParallelClip",
    "Needs",
    "Network",
    "Norm",
    "NormalisedEF21",
    "NormalisedGD",
    "OutsideTheoremWarning",
    "Plan",
    "Poisson",
    "PowersOfTwo",
    "Problem",
    "Quadratic",
    "Quartics",
    "Record",
    "Refusal",
    "Scaffnew",
    "Setting",
    "Shared",
    "Sign",
    "SmoothedHinge",
    "Solution",
    "Squares",
    "Store",
    "StronglyConvexProblem",
    "Theorem",
    "Trace",
    "Uniform",
    "WithProbability",
    "certify",
    "certify_steps",
    "check",
    "compare",
    "compressor",
    "compressor_checks",
    "copies",
    "divergence",
    "everyone",
    "heterogeneity",
    "largest_step",
    "load",
    "masked",
    "mean",
    "one_step",
    "parameters",
    "plan",
    "problem",
    "relaxed_smoothness",
    "run",
    "squared_norm",
    "total",
    "where",
    "worst_instance",
]

if not TYPE_CHECKING:  # what is used is loaded, and nothing else
    from bitbound.data.front_door import loaded_at_use

    __getattr__ = loaded_at_use(globals())

    def __dir__():
        return sorted({*globals(), *__all__})
