"""Runs over convex functions: weights of f - f* that grow, for rates of 1/T and 1/T^2."""

from dataclasses import dataclass, replace

import pytest

from certibit import (
    ADIANA,
    AGD,
    DIANA,
    GD,
    FunctionClass,
    Refusal,
    Squares,
    certify_run,
    certify_steps,
)
from certibit.theory.chains.certify_steps import Chain
from certibit.theory.quadratic_potential import AtModel

CLOSE = 1e-6
"""Relative distance of a proved factor to the known one."""


class Start:
    """|y - x*|^2 + |y - x|^2 of accelerated gradient descent, which starts with y = x."""

    def lyapunov(self, m, s, star, setting, problem):
        return Squares(1.0, s.y - star.y), Squares(1.0, s.y - s.x)


def accelerated(steps, gamma=1.0):
    """Momentum t/(t + 3) in step t = 0, 1, ...: (1 - q)/(1 + q)."""
    return [AGD(gamma, 3 / (2 * t + 3)) for t in range(steps)]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("steps", [1, 3, 8])
def test_gradient_descent_has_its_exact_rate(n, steps):
    """L/(4 T + 2) for gamma = 1/L: Drori, Teboulle, Mathematical Programming 145 (2014)."""
    functions = FunctionClass(n, 0.0, 1.0)
    chain = certify_steps(GD(1.0), functions, steps, AtModel("distance"), "gap")
    assert chain.factor == pytest.approx(1 / (4 * steps + 2), rel=CLOSE)
    assert chain.factor >= 1 / (4 * steps + 2) * (1 - 1e-9)
    assert chain.verify()


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("steps", [3, 2, 8, 16])
def test_accelerated_gradient_descent_has_a_rate_of_one_over_the_square(steps):
    """Published is 2 L/(T + 1)^2: Su, Boyd, Candes, arXiv:1503.01243."""
    chain = certify_run(accelerated(steps), FunctionClass(1, 0.0, 1.0), Start())
    assert chain.factor == pytest.approx(2 / ((steps + 2) * (steps + 3)), rel=CLOSE)
    assert chain.factor < 2 / (steps + 1) ** 2
    assert chain.verify()
    assert len(chain.links) == chain.steps == steps


@pytest.mark.long
def test_a_run_is_only_as_good_as_its_links():
    chain = certify_run(accelerated(3), FunctionClass(1, 0.0, 1.0), Start())
    for place, link in enumerate(chain.links):
        for changes in (
            {"exact": link.exact + abs(link.exact) / 100},
            {"method": replace(link.method, q=link.method.q / 2)},
            {"method": GD(1.0)},
        ):
            links = [*chain.links]
            links[place] = replace(link, **changes)
            try:
                proved = replace(chain, links=tuple(links)).verify()
            except (Refusal, AttributeError):
                continue
            assert not proved


@dataclass(frozen=True)
class Moving:
    """|y - gamma x|^2 + |y - x|^2, for the gamma of each step or a given one."""

    gamma: float | None = None

    def lyapunov(self, m, s, star, setting, problem):
        gamma = m.gamma if self.gamma is None else self.gamma
        away, length = s.x - star.x, s.y - star.y
        return Squares(1.0, length - gamma * away), Squares(1.0, length - away)


def test_a_potential_that_changes_with_the_parameters_is_no_chain():
    """With steps 0.2 and 0.9 quadratics attain 0.107; links that do not fit would prove 0.03."""
    functions, methods = FunctionClass(1, 0.0, 1.0), [AGD(0.2, 0.6), AGD(0.9, 0.6)]
    with pytest.raises(Refusal, match="made of other vectors"):
        certify_run(methods, functions, Moving())
    chain = certify_run(methods, functions, Moving(0.2))
    assert chain.verify()
    assert chain.factor > 0.107
    own = [certify_steps(method, functions, 1, Moving()).links[0] for method in methods]
    assert not Chain(tuple(own), (1, 1)).verify()


class Gathered:
    """|z - x*|^2 where ADIANA starts with y = z = w and the gradients at w as shifts."""

    def lyapunov(self, m, s, star, setting, problem):
        shifts = Squares(1 / setting.n, s.h - s.gradient)
        return Squares(1.0, s.z - star.z), Squares(1.0, s.y - s.z), Squares(1.0, s.w - s.z), shifts


@pytest.mark.long
@pytest.mark.parametrize(("steps", "certified"), [(2, 0.2336), (4, 0.1411), (8, 0.06835)])
def test_compressed_acceleration_with_growing_momentum_is_certified(steps, certified):
    """ADIANA over convex functions; a proof with three times a step size is none."""
    functions = FunctionClass(10, 0.0, 1.0, omega=1.0)
    methods = [
        ADIANA(2 / (t + 4), 0.3, eta=0.4, gamma=0.1 * (t + 4), alpha=0.5, beta=1.0, p=0.5)
        for t in range(steps)
    ]
    chain = certify_run(methods, functions, Gathered())
    assert chain.verify()
    assert chain.factor == pytest.approx(certified, rel=1e-3)
    first, *others = chain.links
    longer = replace(first, method=replace(first.method, gamma=3 * first.method.gamma))
    assert not Chain((longer, *others), chain.counts).verify()


def test_misfits_are_refused():
    functions = FunctionClass(1, 0.0, 1.0)
    with pytest.raises(Refusal, match="2 to 16 steps of one method"):
        certify_run([GD(1.0), DIANA(0.1, 0.1)], functions, AtModel("distance"))
    with pytest.raises(Refusal, match="0 steps of no methods"):
        certify_run([], functions, AtModel("distance"))
    with pytest.raises(Refusal, match="certify one step"):
        certify_run([GD(1.0)] * 2, FunctionClass(1, -1.0, 1.0), AtModel("distance"))
