from time import process_time

import numpy as np
import pytest
from flint import fmpq, fmpq_mat


@pytest.fixture(scope="session")
def unit():
    """The seconds of the processor in which two 60 x 60 matrices of fractions are multiplied.

    The least of three; what other computations may take is stated as a multiple.
    """
    numbers = np.random.default_rng(0).integers(1, 2**62, (2, 2, 3600)).tolist()
    a, b = (fmpq_mat(60, 60, list(map(fmpq, *pair))) for pair in numbers)
    seconds = []
    for _ in range(3):
        start = process_time()
        a * b
        seconds.append(process_time() - start)
    return min(seconds)
