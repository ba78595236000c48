import pytest

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selection import RandK
from certibit.theory.catalogue.catalogue import parameters


@pytest.fixture(scope="module")
def problem():
    return Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)


@pytest.fixture(scope="module")
def locodl(problem):
    return parameters("locodl", problem, RandK(2))
