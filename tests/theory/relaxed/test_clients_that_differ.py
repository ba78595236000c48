"""EPISODE with local steps and CELGC, where |grad f_i| <= kappa + rho |grad f|: both sides."""

import json
from dataclasses import replace
from itertools import product

import check_clipped
import numpy as np
import pytest
from test_relaxed_soundness import Everyone

from certibit import CELGC, EPISODE, Refusal, RelaxedFunctions, certify_clipped
from certibit.data.relaxed.families import Cosh, Extremal, Multiples, Steep, Tilted, stalemate
from certibit.solvers.clipping import ModelState
from certibit.theory.relaxed.clipped_account import clipped_account
from certibit.theory.relaxed.clipped_file import clipped_file

KAPPA = 0.3
FAMILIES = [
    Tilted.of(Cosh(), [[KAPPA], [-KAPPA]], 1.0),
    Tilted.of(Extremal(1.0, 1.0), [[KAPPA], [KAPPA], [-2 * KAPPA]], 1.0),
    Tilted.of(Cosh(), [[KAPPA, 0.0], [-KAPPA, 0.0], [0.0, 0.2], [0.0, -0.2]], [1.0, 2.0]),
    Multiples.of(Steep(1.0, 1.0), (1.3, 0.7), 1.0),
    Multiples.of(Cosh(), (1.2, 1.2, 0.6), 1.0),
]
METHODS = [CELGC(0.1, 0.1), CELGC(0.02, 0.1), EPISODE(0.05, 0.05, 2), EPISODE(0.02, 0.04, 4)]


class Functions:
    """The gradients of a problem, for all clients at any points."""

    def __init__(self, problem):
        self.n, self.own = problem.n, problem.grad

    def grad(self, x, active=None, sample=None):
        return self.own(x)


def decreases(method, problem, x):
    """What f falls by in one round from points x, (1, d, R), and |grad f| there."""
    after = method.communicate(ModelState(x), Functions(problem), Everyone()).x
    slopes = np.linalg.norm(problem.grad(x).mean(axis=0), axis=0)
    return problem.gap(x) - problem.gap(after), slopes


def class_of(problem):
    c = problem.constants
    return RelaxedFunctions(c.L0, c.L1, problem.n, 0.0, c.kappa, c.rho)


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("family", range(len(FAMILIES)))
@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name}-{m.I}-{m.eta}")
def test_clients_of_the_class_keep_the_promise(method, family):
    """At 2000 points of each family."""
    problem = FAMILIES[family]
    proof = certify_clipped(method, class_of(problem))
    assert proof.verify()
    d = problem.x_0.shape[1]
    generator = np.random.default_rng(0)
    x = generator.standard_normal((1, d, 2000)) * 10 ** generator.uniform(-2, 0.6, (1, 1, 2000))
    fallen, slopes = decreases(method, problem, x)
    promised = np.array([proof.decrease(slope) for slope in slopes])
    assert (fallen >= promised * (1 - 1e-9) - 1e-12 * (1 + problem.gap(x))).all()


def test_clients_that_are_alike_clip_as_one():
    """kappa = 0 and rho = 1: CELGC with I = 1 has the steps of clipped gradient descent."""
    alike = RelaxedFunctions(1.0, 1.0, 4, 0.0, 0.0, 1.0)
    one = certify_clipped(CELGC(0.1, 0.1), alike, "any-direction")
    other = certify_clipped(EPISODE(0.1, 0.1), alike, "any-direction")
    assert one.exact == other.exact


def test_where_celgc_does_not_move_it_has_no_certificate():
    """The example of section 3 of the EPISODE paper, and clients that may point away from f."""
    problem = stalemate(2.0)
    method = CELGC(eta=0.5, gamma=1.0)
    fallen, slopes = decreases(method, problem, np.zeros((1, 1, 1)))
    assert fallen[0] == 0 < slopes[0]
    with pytest.raises(Refusal, match=r"no multiple of grad f.x. at small gradients"):
        certify_clipped(method, class_of(problem))
    with pytest.raises(Refusal):
        certify_clipped(CELGC(0.1, 0.1), RelaxedFunctions(1.0, 1.0, 4, 0.0, 0.1, 2.0))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name}-{m.I}-{m.eta}")
def test_the_file_is_accepted_and_a_forged_one_refused(method):
    proof = certify_clipped(method, RelaxedFunctions(1.0, 1.0, 4, 0.0, 0.3, 1.2))
    file = json.loads(json.dumps(clipped_file(proof)))["decrease"]
    assert check_clipped.check(file) == ""
    forged = json.loads(json.dumps(file))
    forged["c"] = str(check_clipped.Fraction(file["c"]) * check_clipped.Fraction(1001, 1000))
    assert check_clipped.check(forged) != ""
    for one in file["regimes"]:
        if one["assumed"]:
            one["assumed"][0] = [["-1"], ["1"]]
    assert (check_clipped.check(file) != "") == (method.I > 1)


@pytest.mark.long
def test_what_is_known_of_both_sides():
    """A function attains no less than is certified; its clients are alike."""
    account = clipped_account(EPISODE(0.01, 0.01, 4), RelaxedFunctions(1.0, 1.0, 4, 0.0, 0.5, 1.0))
    assert 0.9 < account.certificate.c / account.attained.c < 1
    assert not account.is_attained


def test_noise_beside_local_steps_is_refused():
    with pytest.raises(Refusal, match="away from the model of the round"):
        certify_clipped(EPISODE(0.01, 0.01, 2), RelaxedFunctions(1.0, 1.0, 4, 0.01, 0.5, 1.0))


@pytest.mark.parametrize("method", METHODS[:2], ids=lambda m: f"{m.eta}")
def test_noise_of_clients_that_clip_on_their_own(method):
    """All outcomes of Rademacher noise of two clients."""
    sigma, problem = 0.1, FAMILIES[0]
    functions = replace(class_of(problem), sigma=sigma)
    proof = certify_clipped(method, functions)
    assert proof.verify()
    assert proof.c < certify_clipped(method, class_of(problem)).c
    x = np.linspace(0.01, 4.0, 400).reshape(1, 1, -1)
    slopes, expected = np.abs(problem.grad(x).mean(axis=0))[0], 0.0
    for signs in product((-sigma, sigma), repeat=2):
        noisy = Functions(problem)
        own = np.reshape(signs, (2, 1, 1))
        noisy.own = lambda x, own=own: problem.grad(x) + own
        after = method.communicate(ModelState(x), noisy, Everyone()).x
        expected = expected + problem.gap(after) / 4
    promised = np.array([proof.decrease(slope) for slope in slopes]) - proof.e * sigma**2
    assert (problem.gap(x) - expected >= promised - 1e-12).all()
