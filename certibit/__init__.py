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
    from certibit.data.deep.neural_problem import NeuralProblem as NeuralProblem
    from certibit.data.errors import DamagedFileError as DamagedFileError, Refusal as Refusal
    from certibit.data.files.libsvm import load as load
    from certibit.data.losses.base import Loss as Loss
    from certibit.data.losses.losses import (
        Huber as Huber,
        LeastSquares as LeastSquares,
        Logistic as Logistic,
        Poisson as Poisson,
        SmoothedHinge as SmoothedHinge,
        Tukey as Tukey,
        Welsch as Welsch,
    )
    from certibit.data.mini_batch import (
        MiniBatch as MiniBatch,
        SamplingConstants as SamplingConstants,
        sampling_constants as sampling_constants,
    )
    from certibit.data.noise import Uniform as Uniform
    from certibit.data.problem import (
        Constants as Constants,
        Problem as Problem,
        StronglyConvexProblem as StronglyConvexProblem,
    )
    from certibit.data.problems.heterogeneity import (
        Heterogeneity as Heterogeneity,
        heterogeneity as heterogeneity,
    )
    from certibit.data.problems.linear_model import (
        LinearModel as LinearModel,
        MultinomialRegression as MultinomialRegression,
    )
    from certibit.data.problems.logistic import LogisticRegression as LogisticRegression
    from certibit.data.problems.nonconvex_model import NonconvexModel as NonconvexModel
    from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic as NonconvexQuadratic
    from certibit.data.problems.quadratic import Quadratic as Quadratic
    from certibit.data.problems.selector import problem as problem
    from certibit.data.relaxed.polynomials import Quartics as Quartics

    # What is drawn
    from certibit.figures.comparison.compare import compare as compare
    from certibit.figures.comparison.comparison_result import Comparison as Comparison

    # What a method is written with
    from certibit.solvers.authoring import (
        Array as Array,
        Every as Every,
        Functions as Functions,
        Gradients as Gradients,
        Messages as Messages,
        Method as Method,
        Needs as Needs,
        Solution as Solution,
        Varying as Varying,
        WithProbability as WithProbability,
        copies as copies,
        everyone as everyone,
        masked as masked,
        mean as mean,
        squared_norm as squared_norm,
        total as total,
        where as where,
    )

    # What is sent
    from certibit.solvers.compressors.base import Biased as Biased, Compressor as Compressor
    from certibit.solvers.compressors.selector import compressor as compressor
    from certibit.solvers.compressors.wire import (
        Float32 as Float32,
        Index as Index,
        Layout as Layout,
        Level as Level,
        Norm as Norm,
        PowersOfTwo as PowersOfTwo,
        Shared as Shared,
        Sign as Sign,
    )

    # The methods
    from certibit.solvers.methods.adiana import ADIANA as ADIANA
    from certibit.solvers.methods.agd import AGD as AGD
    from certibit.solvers.methods.celgc import CELGC as CELGC
    from certibit.solvers.methods.clip21 import Clip21 as Clip21
    from certibit.solvers.methods.clipped_minibatch_sgd import (
        ClippedMinibatchSGD as ClippedMinibatchSGD,
    )
    from certibit.solvers.methods.clipped_scaffold import ClippedSCAFFOLD as ClippedSCAFFOLD
    from certibit.solvers.methods.clipped_sgd import ClippedSGD as ClippedSGD
    from certibit.solvers.methods.compressed_gd import CompressedGD as CompressedGD
    from certibit.solvers.methods.compressed_scaffnew import (
        CompressedScaffnew as CompressedScaffnew,
    )
    from certibit.solvers.methods.dasha import DASHA as DASHA
    from certibit.solvers.methods.dasha_mvr import DASHAMVR as DASHAMVR
    from certibit.solvers.methods.dasha_page import DASHAPAGE as DASHAPAGE
    from certibit.solvers.methods.diana import DIANA as DIANA
    from certibit.solvers.methods.econtrol import EControl as EControl
    from certibit.solvers.methods.ef import EF as EF
    from certibit.solvers.methods.ef21 import EF21 as EF21
    from certibit.solvers.methods.ef21_sgdm import EF21SGDM as EF21SGDM
    from certibit.solvers.methods.ef21p_diana import EF21PDIANA as EF21PDIANA
    from certibit.solvers.methods.ef_bv import EFBV as EFBV
    from certibit.solvers.methods.episode import EPISODE as EPISODE
    from certibit.solvers.methods.episode_plus_plus import EpisodePlusPlus as EpisodePlusPlus
    from certibit.solvers.methods.fedcomgate import FedCOMGATE as FedCOMGATE
    from certibit.solvers.methods.five_gcs_cc import FiveGCSCC as FiveGCSCC
    from certibit.solvers.methods.gd import GD as GD
    from certibit.solvers.methods.gradskip import GradSkip as GradSkip
    from certibit.solvers.methods.growing_adiana import GrowingADIANA as GrowingADIANA
    from certibit.solvers.methods.l_svrg import LSVRG as LSVRG
    from certibit.solvers.methods.local_sgd import LocalSGD as LocalSGD
    from certibit.solvers.methods.locodl import LoCoDL as LoCoDL
    from certibit.solvers.methods.locodl_both_ways import LoCoDLBothWays as LoCoDLBothWays
    from certibit.solvers.methods.marina import MARINA as MARINA
    from certibit.solvers.methods.momentum_clipping import MomentumClipping as MomentumClipping
    from certibit.solvers.methods.naive_parallel_clip import NaiveParallelClip as NaiveParallelClip
    from certibit.solvers.methods.nesterov import Nesterov as Nesterov
    from certibit.solvers.methods.normalised_ef21 import NormalisedEF21 as NormalisedEF21
    from certibit.solvers.methods.normalised_gd import NormalisedGD as NormalisedGD
    from certibit.solvers.methods.page import PAGE as PAGE
    from certibit.solvers.methods.scaffnew import Scaffnew as Scaffnew
    from certibit.solvers.methods.scaffold import SCAFFOLD as SCAFFOLD
    from certibit.solvers.methods.sgd import SGD as SGD
    from certibit.solvers.methods.tamuna import TAMUNA as TAMUNA
    from certibit.solvers.methods.vr_diana import VRDIANA as VRDIANA
    from certibit.solvers.methods.vr_marina import VRMARINA as VRMARINA
    from certibit.solvers.network import Network as Network

    # What a run takes and gives
    from certibit.solvers.runs.budget import Budget as Budget, Record as Record
    from certibit.solvers.runs.trace import Trace as Trace
    from certibit.solvers.simulation.experiment import Experiment as Experiment
    from certibit.solvers.store.store import Store as Store

    # What is promised, certified and checked, and the catalogue of methods
    from certibit.theory.assumptions.assumption import (
        Assumption as Assumption,
        BoundedDissimilarity as BoundedDissimilarity,
        MeanSmoothness as MeanSmoothness,
    )
    from certibit.theory.assumptions.gradient_noise import GradientNoise as GradientNoise
    from certibit.theory.assumptions.polyak_lojasiewicz import (
        PolyakLojasiewicz as PolyakLojasiewicz,
        QuasiStrongConvexity as QuasiStrongConvexity,
        Similarity as Similarity,
    )
    from certibit.theory.card import Card as Card
    from certibit.theory.catalogue.catalogue import (
        CARDS as CARDS,
        METHODS as METHODS,
        parameters as parameters,
    )
    from certibit.theory.catalogue.covered_run import run as run
    from certibit.theory.certificates.certify import (
        certify as certify,
        noise_frontier as noise_frontier,
    )
    from certibit.theory.certificates.largest_step import largest_step as largest_step
    from certibit.theory.certificates.search import cheapest_descent as cheapest_descent
    from certibit.theory.certificates.worst_instance import (
        divergence as divergence,
        worst_instance as worst_instance,
    )
    from certibit.theory.chains.certify_steps import (
        Chain as Chain,
        certify_run as certify_run,
        certify_steps as certify_steps,
    )
    from certibit.theory.checks.compressor.compression import compressor_checks as compressor_checks
    from certibit.theory.checks.examination import Examination as Examination, check as check
    from certibit.theory.checks.problem.assumed import check_assumption as check_assumption
    from certibit.theory.function_class import (
        ClientClass as ClientClass,
        FunctionClass as FunctionClass,
    )
    from certibit.theory.plan.planning import Plan as Plan, plan as plan
    from certibit.theory.potential import Gap as Gap, Squares as Squares
    from certibit.theory.proofs.proof import Proof as Proof
    from certibit.theory.relaxed.certify_clipped import (
        ClippedCertificate as ClippedCertificate,
        certify_clipped as certify_clipped,
    )
    from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions as RelaxedFunctions
    from certibit.theory.setting import Setting as Setting
    from certibit.theory.theorem import (
        Condition as Condition,
        RunTheorem as RunTheorem,
        Theorem as Theorem,
    )
    from certibit.theory.verdict import OutsideTheoremWarning as OutsideTheoremWarning
    from certibit.theory.worlds.probing import one_step as one_step

__version__ = "0.1.0"

if not TYPE_CHECKING:  # what is used is loaded, and nothing else
    from certibit.data.front_door import loaded_at_use

    __getattr__ = loaded_at_use(globals())

    def __dir__():
        return sorted({*globals(), *__getattr__("__all__")})
