"""The search for methods: screen all sentences, tune and certify the best, say which are known."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import one_thread
from certibit.solvers.method import Method
from certibit.theory.discover.grammar import Sentence
from certibit.theory.discover.kept_results import KeptResults
from certibit.theory.discover.recognition import moves_alike, recognised
from certibit.theory.discover.task import ProvedStep, Task
from certibit.theory.discover.tuning import Candidate, screened, tuned

WORTH = 0.02
"""Relative gain in cost that one more free constant must bring."""

Progress = Callable[[float, str], None]
Job = Callable[[], "Candidate | None"]
AtOnce = Callable[[Sequence[Job]], Iterator[tuple[int, "Candidate | None"]]]
"""A function that does jobs, and yields the index of each job with its result."""


@dataclass(frozen=True, eq=False)
class Discovery:
    """A method that was found.

    Attributes
    ----------
    candidate : Candidate
        Its structure and constants, with the certified cost.
    screened : float or None
        The cost on quadratics, a lower bound on the certified one; None for more clients than are
        screened.
    certificate : ProvedStep
        The proof of what an iteration gains.
    known : Method or None
        The method of the package that it is the same as.
    """

    candidate: Candidate
    screened: float | None
    certificate: ProvedStep
    known: Method | None


@dataclass(frozen=True, eq=False)
class Search:
    """The result of a search, and how large it was.

    Attributes
    ----------
    task : Task
        The task of the search.
    found : tuple of Discovery
        The certified methods, the least cost first, each method once.
    sentences : int
        Structures that were screened.
    convergent : int
        Structures that converge on quadratics with some constants.
    uncertified : int
        Structures among the best that were not certified.
    """

    task: Task
    found: tuple[Discovery, ...]
    sentences: int
    convergent: int
    uncertified: int


@one_thread()
def discover(
    task: Task,
    sentences: Iterable[Sentence],
    *,
    best: int = 3,
    certificates: int = 30,
    seed: int = 0,
    kept: KeptResults | None = None,
    progress: Progress = lambda fraction, text: None,
    at_once: AtOnce | None = None,
) -> Search:
    """Search among sentences for the methods with the least certified cost of a task.

    All sentences are screened on quadratics, where the constants are tuned; the best few of every
    kind are tuned again on certificates and then proved.

    Parameters
    ----------
    best : int
        Number of methods of every kind (compression, local steps) and number of constants.
    certificates : int
        Largest number of certificates for the constants of each.
    seed : int
        Seed of the constants at which the tuning starts.
    kept : KeptResults, optional
        Results of an interrupted search.
    at_once : callable, optional
        A function that does many jobs, perhaps in several processes, and yields the index of each
        with its result when it is done; by default one after the other.

    Raises
    ------
    Refusal
        If nothing that converges is found.
    """
    kept, at_once = kept or KeptResults(task, seed), at_once or one_after_the_other
    everything = list(sentences)
    screening = {one: partial(_screened, one, task, seed) for one in everything}
    passed = _remembered(
        kept, "screened", screening, at_once, lambda part: progress(0.7 * part, "screening")
    )
    chosen = _best_of_every_kind(passed, best)
    if not chosen:
        raise Refusal(
            f"none of {len(everything)} structures converges; allow more constants or kinds"
        )
    tuning = {one.sentence: partial(tuned, one, task, certificates) for one in chosen}
    better = _remembered(
        kept,
        f"tuned {certificates}",
        tuning,
        at_once,
        lambda part: progress(0.7 + 0.3 * part, "certifying"),
    )
    screened_cost = {one.sentence: one.cost for one in chosen}
    found = [
        proved
        for one in better
        for proved in _proved(one, screened_cost[one.sentence] if task.bounded else None, task)
    ]
    progress(1.0, "done")
    uncertified = len(chosen) - len(found)
    return Search(task, each_once(found), len(everything), len(passed), uncertified)


def _screened(one: Sentence, task: Task, seed: int) -> Candidate | None:
    """Screen a sentence with random numbers that depend on it only."""
    spelled = [ord(letter) for letter in repr(one)]
    return screened(one, task, np.random.default_rng([seed, *spelled]))


def _remembered(
    kept: KeptResults,
    what: str,
    searches: Mapping[Sentence, Job],
    at_once: AtOnce,
    progress: Callable[[float], None],
) -> list[Candidate]:
    """Return the results of searches in their order; kept results are not computed again."""
    found: dict[Sentence, Candidate | None] = {}
    for one in searches:
        there, values = kept.get(what, one.to_json())
        if there:
            found[one] = values and Candidate(
                one, tuple(values["values"]), values["decrease"], values["cost"]
            )
    missing = [one for one in searches if one not in found]
    for place, candidate in at_once([searches[one] for one in missing]):
        one = missing[place]
        values = candidate and {
            key: asdict(candidate)[key] for key in ("values", "decrease", "cost")
        }
        kept.put(values, what, one.to_json())
        found[one] = candidate
        progress(len(found) / len(searches))
    return [candidate for one in searches if (candidate := found[one])]


def one_after_the_other(jobs: Sequence[Job]) -> Iterator[tuple[int, Candidate | None]]:
    """Do jobs in this process; yield the index of each with its result."""
    for place, job in enumerate(jobs):
        yield place, job()


def _best_of_every_kind(passed: list[Candidate], best: int) -> list[Candidate]:
    """Return the best few of every kind and number of constants, each method once.

    A structure with more constants than another of its kind must be better by more than ``WORTH``.
    Two structures whose models move alike are one method.
    """
    chosen: list[Candidate] = []
    for candidate in sorted(passed, key=_rank):
        kind, size = candidate.sentence.kind, len(candidate.values)
        rivals = [one for one in chosen if one.sentence.kind == kind]
        alike = [one for one in rivals if len(one.values) == size]
        if len(alike) == best or any(
            moves_alike(candidate.method(1.0), one.method(1.0)) for one in rivals
        ):
            continue
        simpler = min((one.cost for one in rivals if len(one.values) < size), default=math.inf)
        if candidate.cost * (1 + WORTH) < simpler:
            chosen.append(candidate)
    return chosen


def each_once(found: Sequence[Discovery]) -> tuple[Discovery, ...]:
    """Return what was found, the least cost first, without methods that are there already.

    Two structures may be one method after the second tuning: the same known one with any
    constants, or one that moves alike.
    """
    kept: list[Discovery] = []
    for one in sorted(found, key=lambda one: one.candidate.cost):
        if not any(_one_method(one, other) for other in kept):
            kept.append(one)
    return tuple(kept)


def _one_method(one: Discovery, other: Discovery) -> bool:
    if one.known or other.known:
        return type(one.known) is type(other.known)
    return moves_alike(one.candidate.method(1.0), other.candidate.method(1.0))


def _rank(candidate: Candidate) -> tuple[int, int, int]:
    """Return the sort key: number of constants, cost rounded to a percent, number of words."""
    one = candidate.sentence
    words = [*one.x, *one.h, *one.y, *[1] * one.reference, *[1] * one.correction]
    return len(candidate.values), round(100 * math.log(candidate.cost)), len(words)


def _proved(candidate: Candidate, bound: float | None, task: Task) -> list[Discovery]:
    """Return the discovery with its proof, if there is one."""
    one = candidate.sentence
    try:
        proof, decrease = task.proof(candidate.method(task.smoothness), task.functions(one))
    except Refusal:
        return []
    if decrease <= 0:
        return []
    cost = task.cost(one, proof.method, decrease)
    proved = Candidate(one, candidate.values, decrease, cost)
    return [Discovery(proved, bound, proof, recognised(candidate.method(1.0)))]
