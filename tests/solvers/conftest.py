import pytest

from certibit import Quadratic, parameters
from certibit.solvers.compressors.selection import RandK


@pytest.fixture(scope="module")
def problem():
    return Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)


@pytest.fixture(scope="module")
def locodl(problem):
    return parameters("locodl", problem, RandK(2))
