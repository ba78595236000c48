"""What is compared in the tests of comparisons."""

from dataclasses import dataclass

from certibit import GD, Quadratic

PROBLEM = Quadratic.random(5, 12, mu=1.0, L=60.0)
ENTRIES = ["agd", ("locodl", "rand-k:2"), "diana+natural", ("scaffnew", None), GD(gamma=0.03)]
NAMES = ["agd", "locodl+rand-k:2", "diana+natural", "scaffnew", "gd"]
TARGETS = [1e-2, 1e-5]


@dataclass(frozen=True)
class Mine(GD):
    name = "mine"


@dataclass(frozen=True)
class Yours(GD):
    name, label = "yours", "GD-HB"
