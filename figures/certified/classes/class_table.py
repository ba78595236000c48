"""Methods by classes of functions: their theorems, certificates, and reasons for none."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, TypeAlias

from tqdm import tqdm

from certibit.data.errors import Refusal
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.relaxed_table import published_method
from certibit.figures.certified.classes.rule_point import L, RulePoint, with_some_step
from certibit.solvers.method import Method
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS, CLIPPING, SHARED_MINIMISER
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.relaxed.certify_clipped import certify_clipped
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions

N, OMEGA = 10, 1.0
"""Clients, one for methods that need a shared minimiser; and the variance of compressors."""

_FACTOR = "strongly convex, stochastic"

CLASSES = ("strongly convex", _FACTOR, "convex", "PL", "nonconvex", "stochastic", "(L0, L1)")
"""The columns."""

_UP_TO_ZETA = ("nonconvex", "stochastic")
"""Over these clients of a method for a shared minimiser differ by zeta, up to which it descends."""

_CAPTION = (
    "T: a published theorem on the card, t: one that is proved by us, k: the kernel of Rocq has "
    "checked one of them from definitions, c: a certificate that is "
    f"computed now, with n = {N} clients (1 for EF and compressed GD), omega = {OMEGA:g} or alpha "
    f"= 1/2, L = {L:g}, and the step of a rule or one that is 10 to 1000 times smaller. Strongly "
    "convex: a factor, mu = 1; stochastic: with e sigma^2 and samples that are smooth in "
    "expectation, A = L, or else of bounded variance. Convex: f - f*. PL: a factor, |grad f|^2 >= "
    "2 mu (f - inf f) with mu = 1 and f_i that need not be convex. Nonconvex: |grad f|^2. "
    "Stochastic: the same with noise of gradients. (L0, L1): T of runs of methods that clip, c of "
    "one step, f(x+) <= f(x) - c min(eta G^2, gamma G), G = |grad f(x)|, of CELGC for equal f_i. A "
    "number is that of the sentence below."
)


@dataclass(frozen=True)
class Cell:
    """The marks of one method over one class, or the reason why there are none."""

    marks: str
    reason: str = ""


def class_cells(card: Card, classes: Sequence[str] = CLASSES) -> tuple[Cell, ...]:
    """Return the cells of a method, by class of functions."""
    factors, samples = card.about("potential"), card.method.needs.samples
    stated = {
        "strongly convex": _mark(factors),
        _FACTOR: _mark(
            (one for one in factors if _allows_noise(one) or one.noise_at_solution), samples
        ),
        "convex": _mark(card.about("gap")),
        "nonconvex": _mark(card.about("squared_gradient")),
        "stochastic": _mark(
            (one for one in card.about("squared_gradient") if _allows_noise(one)), samples
        ),
        "(L0, L1)": _mark(card.about("gradient_norm")) or "t" * bool(card.along_runs),
    }
    found = []
    for label in classes:
        try:
            _certified(card, label)
            proved, reason = "c", ""
        except Refusal as refusal:
            proved, reason = "", str(refusal).replace(card.name, "the method")
        marks = stated.get(label, "") + proved
        found.append(Cell(marks, "" if marks else reason))
    return tuple(found)


def _mark(theorems: Any, tied: bool = True) -> str:
    """Return the marks of theorems, of which those in Rocq are about the same gradients or not."""
    theorems = list(theorems)
    checked = "k" if tied and any(one.kernel for one in theorems) else ""
    published = "T" if any(one.published for one in theorems) else "t"
    return f"{published}{checked}" if theorems else ""


def _allows_noise(theorem: Any) -> bool:
    """Whether a theorem has its own e: that of exact gradients is 0."""
    return "noise" in vars(type(theorem))


def _certified(card: Card, label: str) -> None:
    """Certify a method over a class.

    Raises
    ------
    Refusal
        If it cannot be certified, or nothing is proved.
    """
    if label == "(L0, L1)":
        if card.name not in CLIPPING:
            raise Refusal("its parameters are for L-smooth f_i")
        relaxed = RelaxedFunctions(1.0, 1.0, N, kappa=0.0)  # only CELGC makes use of kappa
        certify_clipped(published_method(card, relaxed), relaxed)
        return
    if card.name in CLIPPING:
        some: Any = dict.fromkeys(card.needed, 0.1)
        method, strongly = card.method(**some), FunctionClass(N, 1.0, L, alpha=0.5)
        smooth = replace(strongly, mu=-L)
    else:
        n = 1 if card.name in SHARED_MINIMISER else N
        rule = next(iter(card.rules)) if label in {"strongly convex", _FACTOR} else None
        at = RulePoint.of(card, n, OMEGA, rule, convex=label == "convex")
        method, strongly, smooth = at.method, *map(FunctionClass.of, (at.strongly, at.smooth))
    if smooth.n > 1 and card.method.needs.shared_minimiser and label in _UP_TO_ZETA:
        smooth = replace(smooth, assumptions=(BoundedDissimilarity(1.0, 1.0),))
    with_some_step(card, method, _asked(label, strongly, smooth, _potentials(card)))


Form: TypeAlias = Potential | Literal["search"]


def _potentials(card: Card) -> list[Form]:
    """Return the Psi that are tried for a factor with noise.

    That of a theorem about samples that are smooth in expectation, if any is; then any.
    """
    stated = sorted(card.about("potential"), key=lambda one: not one.noise_at_solution)[:1]
    return [*stated, "search"]


def _asked(
    label: str, strongly: FunctionClass, smooth: FunctionClass, potentials: Sequence[Form]
) -> Callable[[Method], None]:
    """Return what refuses a method that is not certified over a class."""
    smooth_samples, bounded = (
        replace(strongly, noise=noise)
        for noise in (GradientNoise(expected=strongly.L), GradientNoise())
    )
    convex, noisy = (
        replace(smooth, mu=0.0),
        replace(smooth, noise=GradientNoise(difference=smooth.L)),
    )
    under = replace(smooth, assumptions=(*smooth.assumptions, PolyakLojasiewicz(1.0)))

    def factor(method: Method) -> float:
        *others, last = product(potentials, (smooth_samples, bounded))
        for potential, functions in others:
            with suppress(Refusal):
                return certify(method, functions, potential, "potential").c
        potential, functions = last
        return certify(method, functions, potential, "potential").c

    constants: dict[str, Callable[[Method], float]] = {
        "strongly convex": lambda method: certify(method, strongly).decrease,
        _FACTOR: factor,
        "convex": lambda method: certify(method, convex).c,
        "PL": lambda method: certify(method, under, measure="potential").c,
        "nonconvex": lambda method: certify(method, smooth).c,
        "stochastic": lambda method: certify(method, noisy).c,
    }

    def require(method: Method) -> None:
        if not constants[label](method) > 0:
            raise Refusal("nothing is proved with any step that was tried")

    return require


def class_table(cards: dict[str, Card] | None = None) -> str:
    """Certify all methods over all classes, and tabulate theorems and certificates."""
    rows: list[tuple[str, ...]] = []
    numbers: dict[str, int] = {}
    for card in tqdm((cards or CARDS).values(), desc="methods", leave=False, disable=None):
        cells = class_cells(card)
        texts = (
            one.marks or str(numbers.setdefault(one.reason, len(numbers) + 1)) for one in cells
        )
        rows.append((card.label, *texts))
    notes = [paragraph(f"{number}: {reason}.") for reason, number in numbers.items()]
    header = ("method", *CLASSES)
    parts = [paragraph(_CAPTION), table(header, rows, texts=len(header)), "\n".join(notes)]
    return "\n\n".join(parts)
