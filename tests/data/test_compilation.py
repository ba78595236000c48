"""Compiled code is stored, and is compiled anyway where it cannot be."""

import os
import subprocess
import sys

import pytest
from numba.core import caching

from certibit.data.files.cache import cache_folder
from certibit.data.passes import compilation

COUNT = """
import numpy as np
from certibit.data.passes.row_passes import slopes

one = np.ones(3)
slopes(one, one.copy(), 1.0)
print(sum(slopes.stats.cache_hits.values()))
"""


@pytest.mark.long
def test_a_second_process_loads_what_is_compiled(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COUNT]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [run.stdout.strip() for run in runs] == ["0", "1"]


def one_more(number):
    return number + 1


def test_where_no_folder_can_be_written_it_is_compiled_as_well(monkeypatch):
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    assert compilation.compiled(one_more)(1) == 2


@pytest.mark.parametrize("variable", ["", "cache"])
def test_the_cache_folder_is_absolute(variable, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", variable)
    assert cache_folder().is_absolute()
