"""Declarations of Figures 1 to 4 of the LoCoDL paper and of the demonstration.

Source: Condat, Maranjyan, Richtarik, arXiv:2403.04348, section 4 and appendix B. Their panels
compare f(x) - f* against the bits sent per client, with kappa = 1e4 and the parameters that the
theorems give.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.files.manifest import CATALOGUE
from certibit.data.problem import Constants
from certibit.figures.locodl.panels import Curve, Figure, Panel
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import Method, WithProbability
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.setting import Setting


@dataclass(frozen=True)
class _Recipe:
    """The data, axes and k of one figure; LoCoDL's k is given for each n."""

    dataset: str
    scaled: str
    bits: float
    adiana: int
    locodl: dict[int, int]


_RECIPES = {
    1: _Recipe("a5a", "a5a", 2e6, 30, {87: 2, 288: 1}),
    2: _Recipe("diabetes", "diabetes_scale", 4e5, 2, {6: 2, 37: 1, 73: 1}),
    3: _Recipe("australian", "australian_scale", 3e5, 3, {9: 2, 41: 1, 225: 1}),
    4: _Recipe("w1a", "w1a", 2e6, 75, {87: 4, 619: 1}),
}
FIGURES = tuple(_RECIPES)
"""Numbers of the figures that can be drawn."""


VERSIONS = ("paper", "best")
"""The parameters of a figure: the paper's, or the best that theory gives each method."""

_RULES = {
    "paper": {
        "locodl": "published",
        "adiana": "published",
        "diana": "a",
        "5gcs-cc": "ours-adaptive",
        "compressed-scaffnew": "published",
        "gradskip": "published",
        "scaffold": "published",
        "gd": "1/L",
    },
    "best": {
        "locodl": "ours",
        "adiana": "best",
        "diana": "b",
        "5gcs-cc": "ours-adaptive",
        "compressed-scaffnew": "best",
        "gradskip": "published",
        "scaffold": "best",
        "gd": "optimal",
    },
}
_SHOWN = "rand-k+natural"
"""The compressor with which the other constants of 5GCS-CC are drawn."""
_FORMS = ("rand-k:K", "natural", "rand-k:K+natural", "l1")


def compressed(
    method: str, k: Callable[[str], int] | int, rule: str | None = None
) -> tuple[Curve, ...]:
    """Return a method with the four compressors of the paper; k may depend on the form."""
    choose = k if callable(k) else lambda form: k
    return tuple(
        Curve(method, form.replace("K", str(choose(form))) if "K" in form else form, rule)
        for form in _FORMS
    )


def paper_figure(number: int, version: str = "paper", *, scaled: bool = False) -> Figure:
    """Return a figure of the LoCoDL paper, with its curves and its axes, and GD beside them.

    In version "paper", k is the paper's and the parameters are those of the published theorems.
    Where the paper leaves open whose constants it used, the curves of both are computed: DIANA by
    arXiv:1905.11261 (rule "a", f strongly convex) and by the original papers (rule "b", every f_i
    strongly convex); 5GCS-CC with the constants of 5GCS and with those of our theorem, as its own
    are not available here. One of each is drawn with all compressors. Beside them stands LoCoDL
    with the parameters of our own theorem (rule "ours").

    In version "best" every method has its best rule, and the k of every rand-k is the one with the
    fewest promised bits. GradSkip has one rule.

    The clients of 5GCS-CC stop by the criterion of its theorem in both versions: K steps need about
    the same bits and several times the gradients.

    Parameters
    ----------
    number : int
        1 to 4.
    version : "paper" or "best"
        Whose parameters.
    scaled : bool
        Take the data whose features were scaled to [-1, 1], where LibSVM has them (``diabetes``
        and ``australian``; the features of ``a5a`` and ``w1a`` are 0 and 1).

    Raises
    ------
    Refusal
        If there is no such figure.
    """
    if number not in _RECIPES:
        raise Refusal(f"there is no recipe for figure {number}; choose one of 1, 2, 3, 4")
    recipe = _RECIPES[number]
    dataset = recipe.scaled if scaled else recipe.dataset
    panels = tuple(
        Panel(
            title=f"({letter}) {dataset}, n = {n}{', best' if version == 'best' else ''}",
            problem=f"{dataset}@{n}",
            kappa=1e4,
            bits=recipe.bits,
            floor=1e-5,
            curves=_curves(recipe, dataset, n, version),
        )
        for letter, n in zip("abc", recipe.locodl, strict=False)
    )
    suffix = "-scaled" if dataset != recipe.dataset else ""
    return Figure(f"figure{number}{suffix}-{version}", panels)


def data_figures(number: int, version: str = "paper") -> dict[str, Figure]:
    """Return a figure by its data: "raw data", and "scaled data" where there are such."""
    raw, scaled = (paper_figure(number, version, scaled=scaled) for scaled in (False, True))
    return {"raw data": raw} | ({"scaled data": scaled} if scaled.name != raw.name else {})


def _curves(recipe: _Recipe, dataset: str, n: int, version: str) -> tuple[Curve, ...]:
    rules = _RULES[version]
    published = {"locodl": recipe.locodl[n], "adiana": recipe.adiana, "diana": 1, "5gcs-cc": 1}

    def k(method: str, form: str) -> int:
        if version == "paper":
            return published[method]
        d = CATALOGUE[dataset].features
        return recommended_k(method, rules[method], form, n, d, 1e4)

    owners: tuple[tuple[str, float], ...] = ()
    beside: tuple[Curve, ...] = ()
    if version == "paper":
        owners = (("s", 2),)
        beside = (
            Curve("locodl", f"rand-k:{published['locodl']}+natural", "ours", claimed=False),
            *(
                replace(c, drawn=c.kind == _SHOWN)
                for c in compressed("5gcs-cc", 1, "5gcs-adaptive")
            ),
            *(replace(c, drawn=False) for c in compressed("diana", 1, "b")),
        )
    return (
        *(
            curve
            for method in published
            for curve in compressed(method, partial(k, method), rules[method])
        ),
        Curve("compressed-scaffnew", None, rules["compressed-scaffnew"], owners),
        *(Curve(method, None, rules[method]) for method in ("gradskip", "scaffold")),
        Curve("gd", None, rules["gd"], claimed=False),
        *beside,
    )


def all_rules() -> Panel:
    """Return what Table 2 is measured on: every method with all its rules, on data without a file.

    The compressor is rand-k with k = ceil(d/n), the one that the paper recommends; top-k for
    methods that take contractive ones. A rule for another compressor is left out. The published
    parameters of FedCOMGATE are there: with them it diverges.
    """
    n, k = 9, 4
    kinds = {"unbiased": f"rand-k:{k}", "contractive": f"top-k:{k}", None: None}
    return Panel(
        title="Table 2",
        problem=f"breast-cancer@{n}",
        kappa=1e3,
        bits=2e7,
        floor=1e-5,
        curves=tuple(
            Curve(name, kinds[card.method.needs.compressor], rule)
            for name, card in METHODS.items()
            for rule in card.rules
            if _serves(card, rule, kinds[card.method.needs.compressor], n)
        ),
    )


def _serves(card: Card, rule: str, selector: str | None, n: int) -> bool:
    """Whether a rule gives parameters for a compressor; those of 5GCS are for none."""
    sent = compressor(selector) if selector else Identity()
    try:
        card.at(Setting(Constants(1.0, np.full(n, 10.0), 10.0), n, 10, sent), rule)
    except Refusal:
        return False
    return True


def demonstration() -> Figure:
    """Return the figure of the main job, on data that needs no file.

    Every method of the catalogue with one compressor: those with local training in one panel, all
    others in the second.
    """
    favourite = {"unbiased": "rand-k:2+natural", "contractive": "top-k:2", None: None}
    local, others = (
        tuple(
            Curve(name, favourite[card.method.needs.compressor])
            for name, card in METHODS.items()
            if _trains_locally(card) is training
        )
        for training in (True, False)
    )
    with_local = Panel(
        title="(a) breast-cancer, n = 9: local training",
        problem="breast-cancer@9",
        kappa=1e3,
        bits=2.5e5,
        floor=1e-6,
        curves=local,
        most_bits=1e6,
    )
    without = replace(
        with_local, title="(b) breast-cancer, n = 9: no local training", curves=others
    )
    return Figure("demo", (with_local, without))


def _trains_locally(card: Card) -> bool:
    """Whether clients take several steps between two rounds."""
    method = card.method
    return method.local_step is not Method.local_step or method.steps_of_a_round is not None


CANDIDATES = 40
"""At most so many k are tried, in geometric progression from 1 to d."""
TIE = 0.01
"""Of all k within this fraction of the fewest bits, the smallest is recommended."""


@lru_cache
def recommended_k(method: str, rule: str, form: str, n: int, d: int, kappa: float) -> int:
    """Return the k with the fewest promised uplink bits per digit of accuracy.

    That is bits(k) p/(-ln tau) of the best theorem of the method, at the parameters of the rule
    for this k; p is 1 where every iteration communicates. All L_i are taken as equal, with
    L/mu = kappa in the composite view and (kappa + 1)/2 in the plain one.

    Parameters
    ----------
    method, rule : str
        A method of the catalogue that takes a compressor, and one of its rules.
    form : str
        Selector of the compressor with ``K`` for its number, such as ``rand-k:K+natural``.
    n, d : int
        Number of clients and of features.
    kappa : float
        Condition number of the problem in the composite view.
    """
    choices = sorted({round(k) for k in np.geomspace(1, d, CANDIDATES)})
    bits = [_bits(method, rule, form.replace("K", str(k)), n, d, kappa) for k in choices]
    return next(k for k, each in zip(choices, bits, strict=True) if each <= (1 + TIE) * min(bits))


def _bits(method: str, rule: str, selector: str, n: int, d: int, kappa: float) -> float:
    card = METHODS[method]
    mu, L = (1.0, kappa) if card.method.needs.composite else (2.0, kappa + 1)
    setting = Setting(Constants(mu, np.full(n, L), L), n, d, compressor(selector))
    chosen = card.at(setting, rule)
    theorem = card.best_theorem(chosen, setting)
    if theorem is None:
        raise Refusal(f"no theorem about {method} holds with the rule {rule!r}; choose another")
    schedule = chosen.schedule
    p = schedule.p if isinstance(schedule, WithProbability) else 1.0
    return setting.compressor.bits(d) * p / -math.log(theorem.rate(chosen, setting))
