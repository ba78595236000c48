"""A fault in compiled code is caught by the checks of a method that runs it, on data."""

import numpy as np
import pytest
from faults import BESIDE_COMPILED, BY_PART, COMPILED
from planting import compiled_from, planted
from tool.compiled import compiled_as_plain
from tool.long_runs import long_and_many_runs_as_plain, runs_as_plain

from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import METHODS

DATA = problem("breast-cancer@9", kappa=1e3)


def experiment(name, rule, sent):
    chosen = compressor(sent) if sent else None
    return Experiment.of(METHODS[name].parameters(DATA, chosen, rule), DATA, chosen)


def failing(subject):
    """Yield what is not as in plain runs, the quick checks first."""
    with np.errstate(all="ignore"):
        for check in (runs_as_plain, long_and_many_runs_as_plain):
            verdict = check(experiment(*subject))
            if not verdict.holds:
                yield verdict.advice
        if not (verdict := compiled_as_plain(DATA)).holds:
            yield verdict.advice


@pytest.mark.long
@pytest.mark.parametrize("subject", dict.fromkeys(fault.subject for fault in BY_PART[COMPILED]))
def test_right_code_is_as_plain(subject):
    assert not list(failing(subject))


@pytest.mark.long
@pytest.mark.parametrize("fault", BY_PART[COMPILED], ids=lambda fault: fault.name)
def test_a_fault_of_compiled_code_is_caught(fault):
    with compiled_from(fault):
        assert next(failing(fault.subject), None)


@pytest.mark.long
@pytest.mark.parametrize("fault", BY_PART[BESIDE_COMPILED], ids=lambda fault: fault.name)
def test_a_fault_beside_compiled_code_is_caught(fault):
    with planted(fault, compiled=True):
        assert next(failing(fault.subject), None)
