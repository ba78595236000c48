"""BLAS runs on one thread where products are small, also that of scipy, loaded when it is used."""

import os
import subprocess
import sys

ASKED = """
from threadpoolctl import threadpool_info
from certibit.data.quiet_machine import one_thread

with one_thread():
    inside = {each["filepath"]: each["num_threads"] for each in threadpool_info()}
import scipy.linalg
assert {each["filepath"] for each in threadpool_info()} == set(inside), "one is loaded later"
print(set(inside.values()))
"""


def test_every_blas_has_one_thread():
    variables = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", ASKED]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{1}"
