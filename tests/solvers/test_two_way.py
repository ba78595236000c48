"""Compression on the way down: its bits, its own random numbers, and what is refused."""

import pytest

from certibit import DIANA, EF21PDIANA, Experiment, Quadratic, Refusal, compressor
from certibit.solvers.compressors.two_way import downward, upward

PROBLEM = Quadratic.random(3, 6, mu=1.0, L=10.0)
METHOD = EF21PDIANA(gamma=0.001, beta=0.3)


def test_a_pair_is_made_again_by_its_name():
    pair = compressor("two-way(rand-k:2;scaled(rand-k:1))")
    assert compressor(pair.name) == pair
    assert (upward(pair).name, downward(pair).name) == ("rand-k:2", "scaled(rand-k:1)")
    assert downward(compressor("natural")).name == "identity"


@pytest.mark.parametrize(
    ("method", "selector", "words"),
    [
        (DIANA(0.01, 0.3), "two-way(rand-k:2;top-k:2)", "broadcasts uncompressed vectors"),
        (METHOD, "two-way(top-k:2;top-k:2)", "biased and ef21p-diana needs an unbiased"),
        (METHOD, "two-way(rand-k:2;rand-k:2)", "is no contraction"),
        (METHOD, "two-way(rand-k:2;top-k:7)", "top-k:7"),
        (METHOD, "two-way(rand-k:2;two-way(natural;natural))", "goes both ways already"),
    ],
)
def test_what_does_not_fit_is_refused(method, selector, words):
    with pytest.raises(Refusal, match=words):
        Experiment.of(method, PROBLEM, compressor(selector))
