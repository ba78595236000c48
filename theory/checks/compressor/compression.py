"""Checks of the stated moments, constants and bytes of a compressor, and moments over draws."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.theory.verdict import Verdict, largest, searched, worst_of

DEVIATIONS = 7.0
"""Standard errors that a mean may be off; a normal mean is with probability 3e-12."""

DRAWS = 30_000

Vectors = NDArray[np.float64]


def _awkward_vectors(d: int, seed: int) -> Vectors:
    """Return vectors where compressors are at their worst, one client each: (n, d, 1)."""
    generator = np.random.default_rng(seed)
    ternary = np.full(d, 1 / (1 + np.sqrt(d)))
    ternary[-1] = 1.0
    rows = [
        np.ones(d),
        np.eye(d)[0] * -5.0,
        np.full(d, 4 / 3) * (-1.0) ** np.arange(d),
        ternary,
        np.arange(1.0, d + 1),
        np.zeros(d),
        *generator.standard_normal((3, d)),
    ]
    return np.array(rows)[:, :, None]


def draw(
    compressor: Compressor, x: Vectors, seed: int, draws: int
) -> tuple[tuple[NDArray[Any], ...], Vectors]:
    """Return messages and their vectors, in many runs: (n, d, R)."""
    n, d, _ = x.shape
    senders = 1 if compressor.shared else n
    uniforms = np.random.default_rng(seed).random((senders, compressor.uniforms(d), draws))
    message = compressor.message(np.repeat(x, draws, axis=2), uniforms)
    received = np.asarray(compressor.vector(message, d))
    if received.shape != (n, d, draws):
        raise ValueError(f"vector returns the shape {received.shape} for {(n, d, draws)}")
    return message, received


def _mean_of_messages(compressor: Compressor, d: int, seed: int, draws: int = DRAWS) -> Verdict:
    """Compare the mean over draws with x, or with what a biased compressor says."""
    x = _awkward_vectors(d, seed)
    _, received = draw(compressor, x, seed, draws)
    said = (x if compressor.unbiased else compressor.mean(x))[:, :, 0]
    mean, scale = received.mean(axis=2), 1e-9 * np.linalg.norm(x, axis=1)
    spread = received.std(axis=2) / np.sqrt(draws)
    off = np.abs(mean - said) / (DEVIATIONS * spread + scale + 1e-300)
    place = _place_of_largest(off)
    text = "which is not x" if compressor.unbiased else f"and mean(x) says {said[place]:.6g}"
    advice = (
        f"The mean of C(x) has {mean[place]:.6g} at entry {place[1] + 1} of x = "
        f"{_as_text(x[place[0]])}, {text}: look at the scale in vector, and at probabilities."
    )
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return Verdict("mean of C(x)", largest(off.ravel()), 1.0, note, advice)


def _variance_of_messages(compressor: Compressor, d: int, seed: int, draws: int = DRAWS) -> Verdict:
    """Compare the mean of |C(x) - x|^2 over draws with the variance that is stated."""
    x = _awkward_vectors(d, seed)
    _, received = draw(compressor, x, seed, draws)
    errors, said = np.sum((received - x) ** 2, axis=1), compressor.variance(x)[:, 0]
    found, scale = errors.mean(axis=1), 1e-9 * np.sum(x**2, axis=(1, 2))
    allowed = DEVIATIONS * errors.std(axis=1) / np.sqrt(draws) + scale + 1e-300
    off = np.abs(found - said) / allowed
    place = _place_of_largest(off)
    advice = (
        f"E|C(x) - x|^2 is {found[place]:.6g} at x = {_as_text(x[place])}, and variance says "
        f"{said[place]:.6g}: look at message and vector, and at variance."
    )
    note = f"{draws} draws, {DEVIATIONS:g} standard errors"
    return Verdict("variance of C(x)", largest(off), 1.0, note, advice)


def _place_of_largest(off: Vectors) -> Any:
    """Return where the largest number stands, NaN before all."""
    place = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
    return place if off.ndim > 1 else place[0]


def _as_text(x: Vectors) -> str:
    """Write a vector (d, 1)."""
    return f"({', '.join(f'{value + 0.0:.4g}' for value in x[:, 0])})"


_OTHERS = (1, 2, 4, 7, 12, 36)
"""Numbers of entries that the exact checks are made with as well."""

LARGEST = 500
"""Most entries of a problem at which they are made, too."""

_FEW = 64
"""Fewer entries at which a failure is looked for again."""

_PADDED = 7
"""And the sampled ones: a number that nothing divides."""

_SEARCHED, _CLIMBS = 64, 30
_BESIDE = "it depends on the clients or runs beside it; sums and maxima go over axis 1"

_DRAWS = 64
_HIDDEN = "infinite and NaN entries become finite, which hides that a run has diverged"

Check = Callable[[Compressor, int, int], Verdict]
"""Of a compressor, a number of entries and a seed."""


def compressor_checks(
    compressor: Compressor, d: int = 5, seed: int = 0, draws: int = DRAWS, own: int = 0
) -> tuple[Verdict, ...]:
    """Check a compressor's moments, constants and bytes at awkward vectors of R^d.

    Moments are means over draws, within 7 standard errors; all other checks are exact, and are
    repeated at other dimensions d, and at an ``own`` one of at most ``LARGEST``. If the compressor
    names a vector at which its omega or alpha is attained, the constant must be attained there. A
    failing check is repeated at smaller d, and the smallest failing d is reported. Dimensions that
    the compressor refuses in ``check(d)`` are left out.

    Examples
    --------
    >>> from certibit import compressor
    >>> from certibit.theory.checks.compressor.compression import compressor_checks
    >>> all(verdict.holds for verdict in compressor_checks(compressor("rand-k:2"), draws=1000))
    True
    """
    compressor.check(d)
    others = (*_OTHERS, own) if 0 < own <= LARGEST else _OTHERS
    sampled = partial(_mean_of_messages, draws=draws), partial(_variance_of_messages, draws=draws)
    with np.errstate(all="ignore"):
        found = [
            *(_smallest(check, compressor, (d, _PADDED), seed) for check in sampled),
            *(_smallest(check, compressor, (d, *others), seed) for check in _EXACT),
        ]
    once = {verdict.check: verdict for verdict in reversed(found)}  # what raises fails in all
    return tuple(verdict for verdict in found if once[verdict.check] is verdict)


def _smallest(check: Check, compressor: Compressor, sizes: tuple[int, ...], seed: int) -> Verdict:
    """Return a verdict at the first size, or where it does not hold that of the fewest entries."""
    d, *others = sizes
    verdict = _told(check, compressor, d, seed)
    for other in others if verdict.holds else ():
        with suppress(Refusal):
            compressor.check(other)
            found = _told(check, compressor, other, seed)
            if not found.holds:
                verdict, d = found, other
                break
    if verdict.holds:
        return verdict
    for fewer in range(1, min(d, _FEW)):
        with suppress(Refusal):
            compressor.check(fewer)
            failing = _told(check, compressor, fewer, seed)
            if not failing.holds:
                verdict, d = failing, fewer
                break
    return replace(verdict, advice=f"{verdict.advice} Smallest counterexample: d = {d}.")


def _told(check: Check, compressor: Compressor, d: int, seed: int) -> Verdict:
    """Return a verdict; what a compressor raises is one that does not hold."""
    try:
        return check(compressor, d, seed)
    except Refusal as refusal:
        advice = f"{compressor.name} refuses: {refusal}. If it is d, let its check(d) refuse it."
        return Verdict("C(x)", np.inf, 0.0, advice=advice)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        advice = (
            f"{compressor.name} raises {type(error).__name__} ({error}) in {where.name}: arrays "
            "are (n, d, R), and sums go over axis 1. If it serves some d only, let its check(d) "
            "refuse the others."
        )
        return Verdict("C(x)", np.inf, 0.0, advice=advice)


def _constants(compressor: Compressor, d: int, seed: int) -> Verdict:
    """Compare the largest relative moments of the error with the constants, and omega_av."""
    excess, advice, tried = -np.inf, "", 0
    for name, of, ratio, bound in _moments(compressor, d):
        x = _hardest(ratio, d, seed)
        ratios = ratio(x)
        place = _place_of_largest(np.round(ratios, 9))
        above, attained = largest(ratios) - bound, compressor.hardest(d)
        said = (
            f"{of} is {ratios[place]:.6g} |x|^2 at x = {_as_text(x[place])}, and {name} says at "
            f"most {bound:.6g}: look at {name.removeprefix('1 - ')} and at variance."
        )
        if attained is not None and name in ("omega", "1 - alpha"):
            there = ratio(attained[None, :, None]).item()
            if bound - there > above:
                above = bound - there
                said = (
                    f"{name} says {bound:.6g}, and at x = {_as_text(attained[:, None])}, where it "
                    f"should be attained, the variance is {there:.6g} |x|^2: look at "
                    f"{name.removeprefix('1 - ')}, at variance and at hardest."
                )
        if above > excess:
            excess, advice = above, said
        tried += len(ratios)
    if compressor.unbiased:
        n = len(x)
        joint = compressor.omega(d) if compressor.shared else compressor.omega(d) / n
        apart = joint - compressor.omega_av(d, n)
        if apart > excess:
            excess = apart
            advice = (
                f"omega_av of {n} clients is {joint - apart:.6g}, and the mean of messages has "
                f"{joint:.6g}: look at omega_av, and whether the clients share their draws."
            )
    return Verdict(
        "moments of C(x) - constants", excess, 1e-9, advice=advice, **searched(range(tried))
    )


Ratio = Callable[[Vectors], NDArray[np.float64]]
"""A moment of the error relative to |x|^2: (n, d, 1) to (n,)."""


def _moments(compressor: Compressor, d: int) -> Iterator[tuple[str, str, Ratio, float]]:
    """Yield the constants of a compressor: their names, what they bound, in words and in numbers.

    The alpha of one that is no contraction is left out.
    """

    def whole(x: Vectors) -> NDArray[np.float64]:
        return np.asarray(compressor.variance(x)[:, 0] / np.sum(x**2, axis=(1, 2)))

    def of_mean(x: Vectors) -> NDArray[np.float64]:
        return np.asarray(
            np.sum((compressor.mean(x) - x) ** 2, axis=(1, 2)) / np.sum(x**2, axis=(1, 2))
        )

    if compressor.unbiased:
        yield "omega", "The variance", whole, compressor.omega(d)
        return
    with suppress(Refusal):
        yield "1 - alpha", "The variance", whole, 1 - compressor.alpha(d)
    yield "bias^2", "The square of the bias", of_mean, compressor.bias(d) ** 2
    about = "The variance about the mean"
    yield (
        "relative_variance",
        about,
        lambda x: whole(x) - of_mean(x),
        compressor.relative_variance(d),
    )


def _hardest(ratio: Ratio, d: int, seed: int) -> Vectors:
    """Return vectors with a large relative moment: awkward ones, and what a search finds."""
    generator = np.random.default_rng(seed)
    spread = np.exp(generator.normal(scale=2.0, size=(_SEARCHED, d, 1)))
    x = np.concatenate([_awkward_vectors(d, seed), spread])
    x = x[np.any(x != 0, axis=(1, 2))]
    known = ratio(x)
    for step in range(_CLIMBS):
        trial = x * (1 + 0.5 * 0.9**step * generator.standard_normal(x.shape))
        found = ratio(trial)
        better = found > known * (1 + 1e-9)
        x = np.where(better[:, None, None], trial, x)
        known = np.where(better, found, known)
    return x


def _apart(compressor: Compressor, d: int, seed: int) -> Verdict:
    """Check that every client and run is compressed by itself, from its numbers alone."""
    x = np.concatenate([_awkward_vectors(d, seed)] * 3, axis=2) * np.array([1.0, 2.0, 0.25])
    n, _, runs = x.shape
    senders = 1 if compressor.shared else n
    uniforms = np.random.default_rng(seed).random((senders, compressor.uniforms(d), runs))
    kept, drawn = x.copy(), uniforms.copy()
    together = compressor.compress(x, uniforms)
    found = [
        (float(np.max(np.abs(x - kept))), "message changes x"),
        (float(np.max(np.abs(uniforms - drawn), initial=0.0)), "message changes the uniforms"),
    ]
    for client, run in product(range(n), range(runs)):
        own = slice(client, client + 1), slice(None), slice(run, run + 1)
        seeds = uniforms[:, :, own[2]] if compressor.shared else uniforms[own]
        off = np.max(np.abs(compressor.compress(x[own], seeds) - together[own]))
        found.append((float(off / (1 + np.max(np.abs(together[own])))), _BESIDE))
    with suppress(Refusal):
        drawn = np.random.default_rng(seed).random((1, uniforms.shape[1], _DRAWS))
        lost = compressor.compress(np.full((1, d, _DRAWS), np.nan), drawn)
        found.append((float(np.any(np.all(np.isfinite(lost), axis=1))), _HIDDEN))
    worst, what = worst_of(found)
    advice = f"C(x) is not that of a client alone: {what}."
    return Verdict("C(x) of every client alone", worst, 1e-12, advice=advice)


_SMALL, _UNDERFLOW = 1e-6, 1e-30
"""A scale of vectors late in a run; and a size below which 32-bit floats are inexact."""


def _bytes(compressor: Compressor, d: int, seed: int) -> Verdict:
    """Check that the bytes of a message give back its vector and are as many as its bits say."""
    layout, x = compressor.layout(d), _awkward_vectors(d, seed)
    x = np.concatenate([x, _SMALL * x])
    message, received = draw(compressor, x, seed, 50)
    bits, note = compressor.bits(d), f"{compressor.bits(d)} bits"
    try:
        payload = layout.encode(message)
        sent = np.asarray(compressor.vector(layout.transmit(message), d))
    except Refusal as refusal:
        advice = f"A message cannot be sent: {refusal}. Look at layout and at message."
        return Verdict("bytes of C(x)", float("inf"), 0.0, note, advice)
    sizes = np.max(np.abs(received), axis=(1, 2))
    off = np.max(np.abs(sent - received), axis=(1, 2)) / np.maximum(sizes, _UNDERFLOW)
    place, smallest = _place_of_largest(off), _least_bits(message, compressor)
    wrong = {
        f"the bytes of a message are {payload.shape[1]}, and bits says {bits}":
            abs(payload.shape[1] - -(-bits // 8)),
        f"the bytes of C(x) at x = {_as_text(x[place])} give another vector": largest(off) > 1e-6,
        f"the messages of one vector are too many for {bits} bits, they need {smallest}":
            max(0, smallest - bits),
    }  # fmt: skip
    what = max(wrong, key=lambda name: wrong[name])
    advice = f"On the wire {what}: look at layout, message and vector."
    return Verdict("bytes of C(x)", float(sum(wrong.values())), 0.0, note, advice)


def _least_bits(message: tuple[NDArray[Any], ...], compressor: Compressor) -> int:
    """Return log2 of the number of different messages that were seen of one vector."""
    if compressor.shared:
        return 0
    rows = np.concatenate([np.asarray(part, dtype=float) for part in message], axis=1)
    different = max(np.unique(row, axis=1).shape[1] for row in rows)
    return int(np.ceil(np.log2(different)))


def _drawn(compressor: Compressor, d: int, seed: int) -> Verdict:
    """Check that messages depend on uniform numbers, if any are drawn, for d or 2 d entries."""
    generator, fixed = np.random.default_rng(seed), compressor.uniforms(d) > 0
    for size in (d, 2 * d):
        with suppress(Refusal):
            compressor.check(size)
            x = np.repeat(generator.standard_normal((1, size, 1)), _DRAWS, axis=2)
            uniforms = generator.random((1, compressor.uniforms(size), _DRAWS))
            message = compressor.message(x, uniforms)
            fixed = fixed and not any(np.any(part != part[..., :1]) for part in message)
    advice = "No message depends on the uniform numbers that are drawn: let uniforms return 0."
    name = "uniform numbers that are drawn are used"
    return Verdict(name, float(fixed), 0.0, advice=advice, **searched([d]))


_EXACT: tuple[Check, ...] = (_constants, _apart, _bytes, _drawn)


def small_dimension(compressor: Compressor) -> int:
    """Return a small number of entries that a compressor can serve."""
    d = 5
    while True:
        try:
            compressor.check(d)
        except Refusal:
            d *= 2
        else:
            return d
