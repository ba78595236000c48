"""A layout of one's own is compared with the bytes of the first message in every run."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from certibit import EF21, Budget, Float32, Index, Layout, Level, Quadratic, Refusal, Shared, run
from certibit.solvers.compressors.selection import TopK

D = 5


class Negative(Float32):
    width = -80


class Broken(Float32):
    width = 32.5


class Nothing(Float32):
    """It has no bits, and gives 0."""

    width = 0

    def to_codes(self, values):
        return np.zeros(values.shape, np.uint64)

    def from_codes(self, codes):
        return np.zeros(codes.shape)


class Free(Layout):
    bits = 0


INDEX, NUMBER = (Index(D), 1), (Float32(), 1)
WRONG = {
    "negative width": Layout((INDEX, (Negative(), 1))),
    "half a bit": Layout((INDEX, (Broken(), 1))),
    "negative count": Layout((INDEX, NUMBER, (Float32(), -1))),
    "empty": Layout(()),
    "a field left out": Layout((INDEX,)),
    "a field too many": Layout((INDEX, NUMBER, NUMBER)),
    "a field of d numbers for one": Layout((INDEX, (Float32(), D))),
    "the other order": Layout((NUMBER, INDEX)),
    "a field without bits": Layout((INDEX, (Nothing(), 1))),
    "an index that is not sent": Layout(((Shared(Index(D)), 1), NUMBER)),
    "a number that is not sent": Layout((INDEX, (Shared(), 1))),
    "other bits than its fields": Free((INDEX, NUMBER)),
    "levels for numbers": Layout((INDEX, (Level(3), 1))),
    "too few indices": Layout(((Index(2), 1), NUMBER)),
}


@dataclass(frozen=True)
class Own(TopK):
    """The largest entry, in a layout of one's own."""

    k: int = 1
    kind: str = ""

    @property
    def name(self):
        return f"own-{self.kind}"

    def layout(self, d):
        return WRONG[self.kind]


def trace(sent, **options):
    problem = Quadratic.random(3, D, mu=1.0, L=10.0)
    return run(EF21(gamma=0.01), problem, sent, seeds=2, budget=Budget(rounds=4), **options)


WORLDS = {
    "plain": {},
    "wire": {"wire": True},
    "strict": {"library": "array-api-strict"},
}


@pytest.mark.parametrize(("kind", "world"), [*product(WRONG, WORLDS)])
def test_a_wrong_layout_is_refused_in_every_run(kind, world):
    with pytest.raises(Refusal, match=r"layout|wire"):
        trace(Own(kind=kind), **WORLDS[world])


@pytest.mark.parametrize("world", WORLDS)
def test_the_right_layout_is_counted(world):
    bits = trace(TopK(1), **WORLDS[world]).final("uplink_bits")
    np.testing.assert_array_equal(bits, 5 * (32 + 3))
