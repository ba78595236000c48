"""Problems by one string."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import LeastSquares, Quartics, Refusal, heterogeneity, problem
from certibit.data.relaxed.families import hard_instances
from certibit.data.relaxed.named import EXAMPLES


def test_bundled_set():
    made = problem("breast-cancer@9")
    assert (made.name, made.n, made.d, made.view) == ("breast-cancer@9", 9, 30, "composite")
    assert made.constants.kappa == pytest.approx(1e4)


def test_a_path(tmp_path):
    path = tmp_path / "a@b"
    path.write_text("1 1:1\n2 1:2\n1 2:1\n2 1:1\n")
    made = problem(f"{path}@2", mu=0.5, seed=3, split="similarity:0", storage="sparse")
    assert (made.name, made.n, made.d, made.constants.mu) == ("a@b@2", 2, 2, 0.5)
    assert (made.seed, made.split, made.storage) == (3, "similarity:0", "sparse")


@pytest.mark.parametrize(
    ("choice", "mu", "L"), [({}, 1.0, 1e4), ({"kappa": 50.0}, 1.0, 50.0), ({"mu": 0.1}, 0.1, 1.0)]
)
def test_quadratics(choice, mu, L):
    made = problem("quadratic:d=20@10", seed=7, **choice)
    assert (made.name, made.n, made.d, made.view) == ("quadratic:d=20@10", 10, 20, "plain")
    assert (made.constants.mu, made.constants.L, made.seed) == (mu, L, 7)


@dataclass(frozen=True)
class Dipping(LeastSquares):
    """Negative near its target."""

    name = "dipping"

    def value(self, z, b):
        return super().value(z, b) - 1


@pytest.mark.parametrize(
    ("selector", "choice", "sentence"),
    [
        ("a5a", {}, "the problem 'a5a' cannot be read; expected <data>@<clients>"),
        ("a5a@", {}, "the problem 'a5a@' cannot be read; expected <data>@<clients>"),
        ("@5", {}, "the problem '@5' cannot be read; expected <data>@<clients>"),
        ("a5a@x", {}, "the problem 'a5a@x' cannot be read; expected <data>@<clients>"),
        ("a5a@-1", {}, "the problem 'a5a@-1' cannot be read; expected <data>@<clients>"),
        ("breast-cancer@570", {}, "570 clients for 569 rows; choose from 1 to 569 clients"),
        ("breast-cancer@0", {}, "0 clients for 569 rows; choose from 1 to 569 clients"),
        ("breast-cancer@9", {"mu": 1.0, "kappa": 2.0}, "mu = 1.0 and kappa = 2.0; give exactly"),
        ("quadratic@10", {}, "the quadratic 'quadratic' cannot be read; expected quadratic:d="),
        ("quadratic:d=@10", {}, "the quadratic 'quadratic:d=' cannot be read; expected"),
        ("quadratic:d=3@10", {"mu": 1.0, "kappa": 2.0}, "mu = 1.0 and kappa = 2.0; give at most"),
        ("quadratic:d=3@10", {"mu": 0.0}, "mu = 0 and L = 1.0; expected 0 < mu <= L_i"),
        ("quadratic:d=3@10", {"kappa": 0.5}, "mu = 1 and L = 0.5; expected 0 < mu <= L_i"),
        ("breast-cancer@9", {"kappa": "10"}, "kappa = '10' is no number; give such as kappa=1000"),
        ("breast-cancer@9:nonconvex", {"kappa": 10.0}, "kappa = 10 of a nonconvex problem, whose "),
        ("breast-cancer@9:nonconvex", {"mu": 1.0}, "mu = 1 of a nonconvex problem, whose mu is"),
        ("breast-cancer@9", {"loss": "welsch:1", "kappa": 5.0}, "kappa = 5 of a nonconvex problem"),
        ("breast-cancer@9:nonconvex=x", {}, "the problem 'breast-cancer@9:nonconvex=x' cannot be"),
        ("breast-cancer@9:nonconvex=-1", {}, "lam = -1 is no weight of the nonconvex regulariser;"),
        ("breast-cancer@9:nonconvex=0", {}, "lam = 0 with the convex loss logistic leaves a"),
        ("breast-cancer@9:nonconvex=nan", {}, "lam = nan is no weight of the nonconvex regularise"),
        ("breast-cancer@9:noncovex", {}, "the problem 'breast-cancer@9:noncovex' cannot be read"),
        ("breast-cancer@9:nonconvex", {"nonconvex": 1.0}, "the problem 'breast-cancer@9:nonconvex"),
        ("breast-cancer@9:nonconvex", {"loss": "multinomial"}, "the multinomial loss has no"),
        ("breast-cancer@9:nonconvex", {"loss": "poisson"}, "the loss poisson is -"),
        ("breast-cancer@9:nonconvex", {"loss": Dipping()}, "the loss dipping is -"),
        ("breast-cancer@9", {"nonconvex": "1"}, "nonconvex = '1' is no number; give such as"),
        ("breast-cancer@9:nonconvex", {"noise": True}, "noise = True is no number; give such as"),
        ("quadratic:d=4@1:nonconvex", {}, "a nonconvex quadratic of 1 clients and 4 features"),
        ("quadratic:d=1@3:nonconvex", {}, "a nonconvex quadratic of 3 clients and 1 features"),
        ("quadratic:d=4@3:nonconvex=0", {}, "spread = 0 and kappa = 100; give spread > 0"),
        ("quadratic:d=4@3:nonconvex=1e-5", {}, "no matrix has a negative eigenvalue; make a"),
        ("quadratic:d=4@3:nonconvex", {"kappa": 5.0}, "kappa = 5 of a nonconvex problem, whose mu"),
        ("quadratic:d=4@3:nonconvex", {"loss": "welsch:1"}, "a quadratic has no rows, so no loss"),
        ("breast-cancer@9:batch=64", {}, "batch = 64 of clients that have 63 rows or more; give"),
        ("breast-cancer@9:batch=0", {}, "batch = 0 of clients that have 63 rows or more; give a"),
        ("breast-cancer@9:batch", {}, "the problem 'breast-cancer@9:batch' cannot be read"),
        ("breast-cancer@9:batch=x", {}, "the problem 'breast-cancer@9:batch=x' cannot be read"),
        ("breast-cancer@9:batch=4", {"batch": 4}, "the problem 'breast-cancer@9:batch=4' cannot"),
        ("breast-cancer@9:replacement", {}, "the problem 'breast-cancer@9:replacement' cannot"),
        ("breast-cancer@9", {"batch": "4"}, "batch = '4' is no number of rows; give such as"),
        ("breast-cancer@9", {"batch": True}, "batch = True is no number of rows; give such as"),
        ("breast-cancer@9:nonconvex:noise=1:batch=4", {}, "noise = 1 and mini-batches of one"),
        ("breast-cancer@9:batch=4", {"loss": "multinomial"}, "breast-cancer@9 has no rows of one"),
        ("quadratic:d=4@3:nonconvex:batch=4", {}, "quadratic:d=4@3:nonconvex has no rows of one"),
    ],
)
def test_refusals(selector, choice, sentence):
    with pytest.raises(Refusal) as refusal:
        problem(selector, download=False, **choice)
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("noise", ["", ":noise=0.1"])
@pytest.mark.parametrize("selector", EXAMPLES.values())
def test_relaxed_problems(selector, noise):
    """The name is that of the problem, which differs by it alone from one without."""
    made = problem(selector + noise)
    assert (made.name, made.constants.sigma) == (selector + noise, 0.1 if noise else 0.0)
    assert made.n == int(selector.rpartition("@")[2])
    assert made.constants.L0 >= 0
    assert made.constants.Delta > 0
    assert heterogeneity(selector + noise).at_start >= 0


def test_relaxed_problems_are_those_of_python():
    start = [[[3.0], [-3.0], [3.0]]]
    found = problem("exponentials:X=3@6")
    np.testing.assert_array_equal(found.x_0, start)
    np.testing.assert_array_equal(found.b[:2, :, 0], [[3, 0, 0], [-3, 0, 0]])
    _, bias, slope = hard_instances(10.0, 1000.0, 4.0)
    named = "quartics:H=4@2", "hard-bias:M=10@3", "hard-slope:Delta=1000,eps=4@3"
    for selector, own in zip(named, (Quartics.of(H=4), bias, slope), strict=True):
        assert replace(problem(selector), name=own.name).fingerprint == own.fingerprint


@pytest.mark.parametrize(
    ("selector", "sentence"),
    [
        ("quartics:H=4@3", "of 3 clients is not possible; give @2"),
        ("quartics:H=x@2", "expected H with numbers, such as quartics:H=4@2"),
        ("quartics:H=inf@2", "expected H with numbers"),
        ("quartics:H=4,H=5@2", "expected H with numbers"),
        ("quartics:H=-4@2", "give positive numbers"),
        ("wells:kappa=1@4", "expected kappa and d with numbers"),
        ("wells:kappa=1,d=1.5@4", "expected kappa and d with numbers"),
        ("wells:kappa=1,d=2@0", "of 0 clients is not possible; give at least one"),
        ("hard-bias:M=0.1@3", "give M >= L0/L1 = 1"),
        ("quartics:H=4@2:nonconvex", "is complete; leave out"),
        ("quartics:H=4@2:batch=3", "leave batch out"),
    ],
)
def test_relaxed_problems_that_are_not_possible(selector, sentence):
    with pytest.raises(Refusal, match=sentence):
        problem(selector)
    with pytest.raises(Refusal, match="is complete; leave out"):
        problem("quartics:H=4@2", kappa=3.0)
