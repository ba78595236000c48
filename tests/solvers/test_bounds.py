"""An index from a user or from bytes that is no feature is refused, and no memory is touched."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from certibit import Budget, Quadratic, Refusal, compressor, compressor_checks, parameters, run
from certibit.solvers.backend import gather, scatter
from certibit.solvers.compressors.selection import RandK, TopK
from certibit.solvers.fast.fast_world import received
from certibit.solvers.registry import use_extensions

N, D, K, RUNS = 4, 6, 2, 3
WRONG = [D, -1, -D - 1, 10**9, 2**62, -(2**63)]


@dataclass(frozen=True)
class OffByOne(RandK):
    def message(self, x, uniforms):
        indices, values = super().message(x, uniforms)
        return indices + 1, values


@pytest.fixture(params=["0", "1"], ids=["plain", "compiled"])
def compile_(request, monkeypatch):
    monkeypatch.setenv("CERTIBIT_FAST", request.param)
    with use_extensions("always"):
        yield


def entries(wrong=0):
    indices = np.tile(np.arange(K)[:, None], (N, 1, RUNS))
    indices[2, 1, 1] = wrong
    return indices, np.ones((N, K, RUNS))


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("sent", [RandK(K), TopK(K), compressor("rand-k:2+natural")])
def test_a_message_with_an_index_outside_has_no_vector(compile_, sent, wrong):
    with pytest.raises(Refusal, match=rf"the index {wrong} is no feature of d = 6; give 0\.\.5"):
        sent.vector(entries(wrong), D)


def test_the_last_feature_is_inside(compile_):
    indices, values = entries(D - 1)
    assert np.asarray(scatter(indices, values, D))[2, D - 1, 1] == 1


@pytest.mark.parametrize("wrong", [(np.zeros((N, K, RUNS)), "float64"), (np.zeros(K, int), "fit")])
def test_what_is_no_array_of_indices_is_refused(wrong):
    with pytest.raises(Refusal, match=wrong[1]):
        RandK(K).vector((wrong[0], np.ones((N, K, RUNS))), D)


@pytest.mark.parametrize("wrong", WRONG)
def test_entries_outside_are_not_read(wrong):
    with pytest.raises(Refusal, match="is no feature of d = 6"):
        gather(np.zeros((N, D, RUNS)), entries(wrong)[0])


def test_a_compressor_that_is_off_by_one_is_refused_by_a_run(compile_):
    problem = Quadratic.random(N, D, 1.0, 10.0)
    method = parameters("diana", problem, RandK(1))
    with pytest.raises(Refusal, match="the index 6 is no feature of d = 6"):
        run(method, problem, OffByOne(1), seeds=2, budget=Budget(rounds=100))


def test_a_compressor_that_is_off_by_one_fails_its_checks(compile_):
    with np.errstate(all="ignore"):
        failing = [v for v in compressor_checks(OffByOne(1), draws=500) if not v.holds]
    assert any("is no feature of d" in verdict.advice for verdict in failing)


@pytest.mark.parametrize("number", [1.0, -0.5, np.nan, 1e300])
@pytest.mark.parametrize("name", ["rand-k:1", "rand-k:2", "rand-k:2+natural"])
def test_numbers_that_are_not_uniform_are_refused(name, number):
    sent, x = compressor(name), np.zeros((N, D, RUNS))
    uniforms = np.full((N, sent.uniforms(D), RUNS), number)
    for use in (sent.message, sent.compress, partial(received, sent)):
        with (
            use_extensions("always"),
            np.errstate(invalid="ignore"),
            pytest.raises(Refusal, match=r"is no|is not in"),
        ):
            use(x, uniforms)
