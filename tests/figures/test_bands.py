import numpy as np
import pytest

from certibit.figures.costs import POINTS, band

RATES = np.array([1.0, 1.3, 2.0, 2.2, 4.0])
"""Decimal digits gained by five runs in 1000 bits."""


@pytest.fixture
def lines(made):
    """Five runs with f - f* = 10^(-rate bits/1000), recorded every 7 bits until below 1e-6."""
    bits = [np.arange(0, 1000 * 6 / rate + 7, 7) for rate in RATES]
    return made(bits, [10 ** (-rate * b / 1000) for rate, b in zip(RATES, bits, strict=True)])


def test_percentiles_are_those_of_numpy(lines):
    result = band(lines, bits=1000, floor=1e-6)
    assert result.bits.size == POINTS
    assert result.bits[[0, -1]].tolist() == pytest.approx([7, 1000])
    logs = -RATES[:, None] * result.bits / 1000
    assert np.allclose(np.log10(result.median), np.median(logs, axis=0), rtol=0, atol=1e-12)
    assert np.allclose(np.log10(result.low), np.percentile(logs, 10, axis=0), rtol=0, atol=1e-12)
    assert np.allclose(np.log10(result.high), np.percentile(logs, 90, axis=0), rtol=0, atol=1e-12)


def test_ends_where_the_median_is_below_the_floor(lines):
    result = band(lines, bits=1e9, floor=1e-4)
    assert result.median[-1] <= 1e-4 < result.median[-2]
    # the median of the runs is the third: it is at 1e-4 after 4/2 thousand bits
    step = result.bits[1] / result.bits[0]
    assert 2000 <= result.bits[-1] <= 2000 * step


def test_a_run_that_ended_below_the_floor_stays_below(made):
    bits = [np.array([0, 100]), np.array([0, 100]), np.array([0, 400])]
    gaps = [np.array([1, 1e-6]), np.array([1, 1e-6]), np.array([1, 0.5])]
    result = band(made(bits, gaps, ["gap", "gap", "bits"]), bits=400, floor=1e-5)
    assert result.bits[-1] <= 100
    assert result.median[-1] <= 1e-5
    assert np.all(np.isfinite(result.high))


def test_a_run_that_ended_above_the_floor_is_unknown_afterwards(made):
    bits = [np.array([0, 100]), np.array([0, 400])]
    result = band(made(bits, [np.array([1, 0.5])] * 2, ["iterations", "bits"]), 400, 1e-5)
    known = result.bits <= 100
    assert np.all(np.isfinite(result.median[known]))
    assert np.all(np.isnan(result.median[~known]))


def test_a_diverged_run_counts_as_high(made):
    bits = [np.array([0.0, 50, 60]), np.array([0.0, 200]), np.array([0.0, 200])]
    gaps = [np.array([1, 1e3, np.nan]), np.array([1, 0.1]), np.array([1, 0.01])]
    result = band(made(bits, gaps, ["diverged", "bits", "bits"]), 200, 1e-5)
    assert np.all(np.isfinite(result.median))
    assert result.median[-1] == pytest.approx(0.1)
    assert result.high[-1] > 1e100


def test_zero_gap_is_drawn_as_below(made):
    result = band(made([np.array([0, 10])], [np.array([1.0, 0.0])]), 10, 1e-5)
    assert result.median[-1] <= 1e-5
