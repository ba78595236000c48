"""Write a distributed optimisation method once; run it, count its bits, check its theorem.

This module has all public names; a method of your own needs no other import.

Examples
--------
>>> import certibit
>>> problem = certibit.problem("breast-cancer@9", kappa=100)
>>> compressor = certibit.compressor("rand-k:2+natural")
>>> method = certibit.parameters("locodl", problem, compressor)
>>> trace = certibit.run(method, problem, compressor, seeds=2, budget=certibit.Budget(gap=1e-3))
>>> trace.bits_to(1e-3)
array([2352., 1764.])
"""

from certibit.solvers.registry import register

register("certibit.solvers.fast.fast_world")

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    # What is solved
    from certibit.data.deep.neural_problem import NeuralProblem
    from certibit.data.errors import DamagedFileError, Refusal
    from certibit.data.files.libsvm import load
    from certibit.data.losses.base import Loss
    from certibit.data.losses.losses import (
        Huber,
        LeastSquares,
        Logistic,
        Poisson,
        SmoothedHinge,
        Tukey,
        Welsch,
    )
    from certibit.data.mini_batch import MiniBatch, SamplingConstants, sampling_constants
    from certibit.data.noise import Uniform
    from certibit.data.problem import Constants, Problem, StronglyConvexProblem
    from certibit.data.problems.heterogeneity import Heterogeneity, heterogeneity
    from certibit.data.problems.linear_model import LinearModel, MultinomialRegression
    from certibit.data.problems.logistic import LogisticRegression
    from certibit.data.problems.nonconvex_model import NonconvexModel
    from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
    from certibit.data.problems.quadratic import Quadratic
    from certibit.data.problems.selector import problem
    from certibit.data.relaxed.polynomials import Quartics
    from certibit.data.relaxed.smoothness import relaxed_smoothness

    # What is drawn
    from certibit.figures.comparison.compare import compare
    from certibit.figures.comparison.comparison_result import Comparison

    # What a method is written with
    from certibit.solvers.authoring import (
        Array,
        Every,
        Functions,
        Gradients,
        Messages,
        Method,
        Needs,
        Solution,
        Varying,
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
    from certibit.solvers.compressors.base import Biased, Compressor
    from certibit.solvers.compressors.selector import compressor
    from certibit.solvers.compressors.wire import (
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
    from certibit.solvers.methods.adiana import ADIANA
    from certibit.solvers.methods.agd import AGD
    from certibit.solvers.methods.celgc import CELGC
    from certibit.solvers.methods.clip21 import Clip21
    from certibit.solvers.methods.clipped_minibatch_sgd import ClippedMinibatchSGD
    from certibit.solvers.methods.clipped_scaffold import ClippedSCAFFOLD
    from certibit.solvers.methods.clipped_sgd import ClippedSGD
    from certibit.solvers.methods.compressed_gd import CompressedGD
    from certibit.solvers.methods.compressed_scaffnew import CompressedScaffnew
    from certibit.solvers.methods.dasha import DASHA
    from certibit.solvers.methods.dasha_mvr import DASHAMVR
    from certibit.solvers.methods.dasha_page import DASHAPAGE
    from certibit.solvers.methods.diana import DIANA
    from certibit.solvers.methods.econtrol import EControl
    from certibit.solvers.methods.ef import EF
    from certibit.solvers.methods.ef21 import EF21
    from certibit.solvers.methods.ef21_sgdm import EF21SGDM
    from certibit.solvers.methods.ef21p_diana import EF21PDIANA
    from certibit.solvers.methods.ef_bv import EFBV
    from certibit.solvers.methods.episode import EPISODE
    from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus
    from certibit.solvers.methods.fedcomgate import FedCOMGATE
    from certibit.solvers.methods.five_gcs_cc import FiveGCSCC
    from certibit.solvers.methods.gd import GD
    from certibit.solvers.methods.gradskip import GradSkip
    from certibit.solvers.methods.growing_adiana import GrowingADIANA
    from certibit.solvers.methods.l_svrg import LSVRG
    from certibit.solvers.methods.local_sgd import LocalSGD
    from certibit.solvers.methods.locodl import LoCoDL
    from certibit.solvers.methods.locodl_both_ways import LoCoDLBothWays
    from certibit.solvers.methods.marina import MARINA
    from certibit.solvers.methods.momentum_clipping import MomentumClipping
    from certibit.solvers.methods.naive_parallel_clip import NaiveParallelClip
    from certibit.solvers.methods.nesterov import Nesterov
    from certibit.solvers.methods.normalised_ef21 import NormalisedEF21
    from certibit.solvers.methods.normalised_gd import NormalisedGD
    from certibit.solvers.methods.page import PAGE
    from certibit.solvers.methods.scaffnew import Scaffnew
    from certibit.solvers.methods.scaffold import SCAFFOLD
    from certibit.solvers.methods.sgd import SGD
    from certibit.solvers.methods.tamuna import TAMUNA
    from certibit.solvers.methods.vr_diana import VRDIANA
    from certibit.solvers.methods.vr_marina import VRMARINA
    from certibit.solvers.network import Network

    # What a run takes and gives
    from certibit.solvers.runs.budget import Budget, Record
    from certibit.solvers.runs.trace import Trace
    from certibit.solvers.simulation.experiment import Experiment
    from certibit.solvers.store.store import Store

    # What is promised, certified and checked, and the catalogue of methods
    from certibit.theory.assumptions.assumption import (
        Assumption,
        BoundedDissimilarity,
        MeanSmoothness,
    )
    from certibit.theory.assumptions.gradient_noise import GradientNoise
    from certibit.theory.assumptions.polyak_lojasiewicz import (
        PolyakLojasiewicz,
        QuasiStrongConvexity,
        Similarity,
    )
    from certibit.theory.card import Card
    from certibit.theory.catalogue.catalogue import CARDS, METHODS, parameters
    from certibit.theory.catalogue.covered_run import run
    from certibit.theory.certificates.certify import certify, noise_frontier
    from certibit.theory.certificates.largest_step import largest_step
    from certibit.theory.certificates.search import cheapest_descent
    from certibit.theory.certificates.worst_instance import divergence, worst_instance
    from certibit.theory.chains.certify_steps import Chain, certify_run, certify_steps
    from certibit.theory.checks.compressor.compression import compressor_checks
    from certibit.theory.checks.examination import Examination, check
    from certibit.theory.checks.problem.assumed import check_assumption
    from certibit.theory.function_class import ClientClass, FunctionClass
    from certibit.theory.plan.planning import Plan, plan
    from certibit.theory.potential import Gap, Squares
    from certibit.theory.proofs.proof import Proof
    from certibit.theory.relaxed.certify_clipped import ClippedCertificate, certify_clipped
    from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
    from certibit.theory.setting import Setting
    from certibit.theory.theorem import Condition, RunTheorem, Theorem
    from certibit.theory.verdict import OutsideTheoremWarning
    from certibit.theory.worlds.probing import one_step

__version__ = "0.1.0"

__all__ = [
    "ADIANA",
    "AGD",
    "CARDS",
    "CELGC",
    "DASHA",
    "DASHAMVR",
    "DASHAPAGE",
    "DIANA",
    "EF",
    "EF21",
    "EF21PDIANA",
    "EF21SGDM",
    "EFBV",
    "EPISODE",
    "GD",
    "LSVRG",
    "MARINA",
    "METHODS",
    "PAGE",
    "SCAFFOLD",
    "SGD",
    "TAMUNA",
    "VRDIANA",
    "VRMARINA",
    "Array",
    "Assumption",
    "Biased",
    "BoundedDissimilarity",
    "Budget",
    "Card",
    "Chain",
    "ClientClass",
    "Clip21",
    "ClippedCertificate",
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
    "GradientNoise",
    "Gradients",
    "GrowingADIANA",
    "Heterogeneity",
    "Huber",
    "Index",
    "Layout",
    "LeastSquares",
    "Level",
    "LinearModel",
    "LoCoDL",
    "LoCoDLBothWays",
    "LocalSGD",
    "Logistic",
    "LogisticRegression",
    "Loss",
    "MeanSmoothness",
    "Messages",
    "Method",
    "MiniBatch",
    "MomentumClipping",
    "MultinomialRegression",
    "NaiveParallelClip",
    "Needs",
    "Nesterov",
    "Network",
    "NeuralProblem",
    "NonconvexModel",
    "NonconvexQuadratic",
    "Norm",
    "NormalisedEF21",
    "NormalisedGD",
    "OutsideTheoremWarning",
    "Plan",
    "Poisson",
    "PolyakLojasiewicz",
    "PowersOfTwo",
    "Problem",
    "Proof",
    "Quadratic",
    "Quartics",
    "QuasiStrongConvexity",
    "Record",
    "Refusal",
    "RelaxedFunctions",
    "RunTheorem",
    "SamplingConstants",
    "Scaffnew",
    "Setting",
    "Shared",
    "Sign",
    "Similarity",
    "SmoothedHinge",
    "Solution",
    "Squares",
    "Store",
    "StronglyConvexProblem",
    "Theorem",
    "Trace",
    "Tukey",
    "Uniform",
    "Varying",
    "Welsch",
    "WithProbability",
    "certify",
    "certify_clipped",
    "certify_run",
    "certify_steps",
    "cheapest_descent",
    "check",
    "check_assumption",
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
    "noise_frontier",
    "one_step",
    "parameters",
    "plan",
    "problem",
    "relaxed_smoothness",
    "run",
    "sampling_constants",
    "squared_norm",
    "total",
    "where",
    "worst_instance",
]

if not TYPE_CHECKING:  # what is used is loaded, and nothing else
    from certibit.data.front_door import loaded_at_use

    __getattr__ = loaded_at_use(globals())

    def __dir__():
        return sorted({*globals(), *__all__})
