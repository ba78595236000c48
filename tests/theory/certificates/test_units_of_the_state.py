"""The largest certified step size does not depend on the unit in which a memory is written."""

from dataclasses import dataclass, replace

import pytest

from certibit import EF, FunctionClass, largest_step, mean


@dataclass(frozen=True)
class Scaled(EF):
    """EF with the memory e/gamma^power in place of e."""

    power: float = 0.0

    name = "scaled-ef"

    def communicate(self, s, problem, channel):
        unit = self.gamma**self.power
        step = unit * s.e + self.gamma * problem.grad(s.x)
        c = channel.uplink(step)
        return replace(s, x=channel.broadcast(s.x - mean(c)), e=(step - c) / unit)


def largest(power, start):
    functions = FunctionClass(2, 1.0, 30.0, alpha=0.5)
    return largest_step(
        lambda gamma: Scaled(gamma, power), functions, start, potential="search", accuracy=5e-2
    )


@pytest.mark.long
def test_the_largest_step_is_the_same_in_every_unit_and_from_every_start():
    """Written with e/gamma, a Psi found at one step size proved nothing at others."""
    limits = [largest(power, start) for power, start in ((0, 2e-4), (1, 0.1))]
    assert limits[0] > 2e-4
    assert limits[1] == pytest.approx(limits[0], rel=1e-1)
