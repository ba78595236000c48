"""The catalogue of planted faults: each a small change that a check of the library must catch.

Faults marked "field" have been seen in public code or texts of the field.
"""

from faults_of_compressors import COMPRESSOR_FAULTS
from faults_of_hypotheses import HYPOTHESIS_FAULTS
from faults_of_local_training import LOCAL_TRAINING_FAULTS
from faults_of_messages import MESSAGE_FAULTS
from faults_of_methods import METHOD_FAULTS
from faults_of_problems import PROBLEM_FAULTS
from faults_of_proofs import PROOF_FAULTS
from faults_of_runs import RUN_FAULTS
from faults_of_samples import SAMPLE_FAULTS
from faults_of_theorems import THEOREM_FAULTS

FAULTS = [
    *METHOD_FAULTS,
    *LOCAL_TRAINING_FAULTS,
    *THEOREM_FAULTS,
    *HYPOTHESIS_FAULTS,
    *COMPRESSOR_FAULTS,
    *MESSAGE_FAULTS,
    *RUN_FAULTS,
    *PROBLEM_FAULTS,
    *PROOF_FAULTS,
    *SAMPLE_FAULTS,
]
