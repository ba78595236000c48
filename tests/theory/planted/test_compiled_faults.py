"""A fault in compiled code is caught by the checks of a method that runs it, on data."""

import numpy as np
import pytest
from faults_of_compiled_code import COMPILED_FAULTS
from planting import compiled_from

from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.world.experiment import Experiment
from certibit.theory.cards.catalogue import METHODS
from certibit.theory.checks.problem.compiled import compiled_as_plain
from certibit.theory.checks.trace.long_runs import long_and_many_runs_as_plain, runs_as_plain

DATA = problem("breast-cancer@9", kappa=1e3)


def experiment(name, rule, sent):
    chosen = compressor(sent) if sent else None
    return Experiment.of(METHODS[name].parameters(DATA, chosen, rule), DATA, chosen)


def found(subject):
    made = experiment(*subject)
    return runs_as_plain(made), long_and_many_runs_as_plain(made), compiled_as_plain(DATA)


@pytest.mark.parametrize("subject", dict.fromkeys(fault.subject for fault in COMPILED_FAULTS))
def test_right_code_is_as_plain(subject):
    with np.errstate(all="ignore"):
        assert [verdict.advice for verdict in found(subject) if not verdict.holds] == []


@pytest.mark.parametrize("fault", COMPILED_FAULTS, ids=lambda fault: fault.name)
def test_a_fault_of_compiled_code_is_caught(fault):
    with compiled_from(fault), np.errstate(all="ignore"):
        failing = [verdict.advice for verdict in found(fault.subject) if not verdict.holds]
    assert failing
