"""Methods that clip on (L0, L1)-smooth functions: published and certified constants and steps."""

import math
from dataclasses import replace

from certibit.data.errors import Refusal
from certibit.data.problem import RelaxedConstants
from certibit.figures.certified.classes.rule_tables import Row, tabulated
from certibit.figures.text.tables import digits_text
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CLIPPING
from certibit.theory.relaxed.certify_clipped import certify_clipped
from certibit.theory.relaxed.clipped_account import (
    ClippedAccount,
    clipped_account,
    published_step,
    scaled,
)
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions

POINTS = ((1, 0.0, 1.0, 0.0), (10, 1.0, 2.0, 0.0), (10, 1.0, 2.0, 0.1))
"""n, kappa, rho and sigma; L0 = L1 = 1."""

HEADER = (
    "n, kappa, rho, sigma",
    "published step",
    "c",
    "certified",
    "attained",
    "largest step",
    "best step",
    "rounds",
)

_CAPTION = (
    "One step over (L0, L1)-smooth f, L0 = L1 = 1: eta, gamma and c of the theorem (c of f(x+) <= "
    "f(x) - c min(eta G^2, gamma G), G = |grad f(x)|; of EPISODE, I = 1, none); the c certified "
    "there, for any f_i, and with noise of length sigma the e of e sigma^2; the c of the function "
    "that decreases least; by how much eta and gamma may grow together with a certified c > 0; the "
    "growth with the largest c eta, with its c; and how many times fewer rounds than the theorem's "
    "it needs, for the largest accuracy of that theorem."
)


def fewer_rounds(account: ClippedAccount) -> float:
    """Return how many times fewer rounds the best certified step needs than its theorem says.

    It is the ratio of the proved numbers of rounds until |grad f(x)| is, at one of them or in the
    mean, at most an accuracy: that of the theorem, or the kink of M if it has none; NaN without a
    theorem.
    """
    found, proof = account.published, account.certificate
    if found is None:
        return math.nan
    best = certify_clipped(scaled(proof.method, account.best), proof.functions)
    if math.isnan(found.epsilon):
        slope = float(proof.measure.kink)
        return best.decrease(slope) / (found.c * proof.measure.at(slope))
    published = 4 / (found.epsilon**2 * found.eta)
    return published / best.iterations(1.0, 3 * found.epsilon)


def relaxed_row(card: Card, n: int, kappa: float, rho: float, sigma: float) -> Row:
    """Certify a method with the largest parameters of its theorem; see `published_method`."""
    functions = RelaxedFunctions(1.0, 1.0, n, sigma, kappa, rho)
    try:
        constants = RelaxedConstants(1.0, 1.0, kappa, rho, sigma)
        method = published_method(card, functions, constants)
        one = clipped_account(method, functions, constants)
    except Refusal as refusal:
        return (), {"": str(refusal)}
    proof, stated = one.certificate, one.published
    noise = f", e {proof.e:.2g}" if proof.functions.sigma else ""
    cells = (
        f"{float(proof.measure.eta):.3g}, {float(proof.measure.gamma):.3g}",
        digits_text(stated.c if stated else math.nan),
        f"{proof.c:.4g}{noise}",
        digits_text(one.attained.c if one.attained else math.nan),
        f"{one.largest:.3g}",
        f"{one.best:.3g}, c {one.best_c:.3g}",
        digits_text(fewer_rounds(one)),
    )
    return cells, {}


def published_method(
    card: Card, functions: RelaxedFunctions, constants: RelaxedConstants | None = None
) -> Method:
    """Return a method with the largest parameters of its theorem.

    If no theorem of the method covers noise, the parameters are those without noise. If the method
    has no theorem, they are those of clipped gradient descent.
    """
    quiet = replace(functions, sigma=0.0)
    found = (
        published_step(card, functions, 1.0, 1.0, constants)
        or published_step(card, quiet, 1.0, 1.0, constants and replace(constants, sigma=0.0))
        or published_step(CLIPPING["clipped-sgd"], quiet, 1.0, 1.0)
    )
    assert found is not None, "that of clipped gradient descent holds for all L0 and L1"
    return card.method(**card.steps(found.eta, found.gamma / found.eta))


def relaxed_table() -> str:
    """Certify all clipping methods and tabulate them; those that are not certified are below."""
    return tabulated(_CAPTION, HEADER, POINTS, CLIPPING.values(), relaxed_row, texts=1)
