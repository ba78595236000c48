"""The search for methods: what it finds again, what it screens, recognises, keeps and writes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import Method
from certibit.solvers.methods.dasha import DASHA
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.ef21p_diana import EF21PDIANA
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.scaffnew import Scaffnew
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store import program_text
from certibit.solvers.store.program_text import NotKeptWarning
from certibit.theory.catalogue.from_file import find_card
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.search import setting
from certibit.theory.discover import discovery, kept_results, tuning
from certibit.theory.discover.discovery import discover
from certibit.theory.discover.grammar import VOCABULARY, Sentence, Term, sentences, updates
from certibit.theory.discover.kept_results import KeptResults
from certibit.theory.discover.method_file import method_class, method_file
from certibit.theory.discover.recognition import moves_alike, recognised
from certibit.theory.discover.saved_method import saved_method
from certibit.theory.discover.screen import Screen, Steps
from certibit.theory.discover.task import FactorTask
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.function_class import FunctionClass

ESTIMATE, ALL = (Term("estimate"),), (Term("message"),)
SAID = {
    "diana": Sentence(
        "gradient", "unbiased", None, True, True, ESTIMATE, (Term("message", free=True),)
    ),
    "ef21": Sentence("gradient", "contractive", None, True, True, ESTIMATE, ALL),
    "dasha": Sentence(
        "gradient", "unbiased", None, True, True, (Term("memory"),), ALL, change=True
    ),
    "scaffnew": Sentence("model", memory=True, x=(Term("pull"),), h=(Term("apart"),)),
    "gd": Sentence("gradient", x=ALL),
    "ef21p-diana": Sentence(
        "gradient", "unbiased", "contractive", True, True, ESTIMATE, (Term("message", free=True),)
    ),
}
"""What the grammar calls known methods."""
KNOWN = {
    "diana": DIANA(0.3, 0.2),
    "ef21": EF21(0.3),
    "dasha": DASHA(0.3, 0.2),
    "scaffnew": Scaffnew(0.7, 0.4),
    "gd": GD(0.9),
    "ef21p-diana": EF21PDIANA(0.1, 0.2),
}
TASK = FactorTask(2, 10, compressor("rand-k:5"), compressor("top-k:5"), kappa=10.0)


def of_kind(kind, most_constants):
    return [one for one in sentences(most_constants) if one.kind == kind]


@pytest.fixture
def counted(monkeypatch):
    """Count the certificates that a search asks for."""
    asked = []

    def ask(*arguments):
        asked.append(1)
        return tuning_certified(*arguments)

    tuning_certified = tuning.certified_decrease
    monkeypatch.setattr(tuning, "certified_decrease", ask)
    return asked


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "constants", "best", "known"),
    [
        ("unbiased up", 2, 2, DIANA),
        ("contractive up", 1, 2, EF21),
        ("local steps, uncompressed", 2, 1, Scaffnew),
    ],
)
@pytest.mark.parametrize("kappa", [TASK.kappa, 1000.0])
def test_known_methods_are_found_again(counted, kind, constants, best, known, kappa):
    """They are the best of their kind, from a blank grammar and a few certificates."""
    task = replace(TASK, kappa=kappa)
    search = discover(task, of_kind(kind, constants), best=best, certificates=4, seed=1)
    first = search.found[0]
    assert type(first.known) is known
    assert len(counted) <= 4 * best
    assert first.certificate.verify() == first.certificate.factor < 1
    assert first.screened <= first.candidate.cost * (1 + 1e-6)


def test_without_its_terms_a_method_is_not_found():
    """The plant: a grammar in which memories do not learn, and one with no memory at all."""
    deaf = [one for one in of_kind("unbiased up", 2) if "message" not in {t.name for t in one.h}]
    with pytest.raises(Refusal, match="none of 1 structures converges"):
        discover(TASK, deaf)
    blind = [one for one in of_kind("local steps, uncompressed", 2) if not one.memory]
    with pytest.raises(Refusal, match="converges"):
        discover(TASK, blind)


BOTH = Sentence(
    "model",
    "unbiased",
    "unbiased",
    reference=True,
    memory=True,
    x=(Term("pull"),),
    h=(Term("apart", free=True),),
    y=(Term("mean"),),
    correction=True,
)
"""Compression both ways with local steps."""


def test_the_method_of_the_page_is_certified():
    """No constants of Scaffnew need so few bits there."""
    natural = compressor("natural")
    task = FactorTask(3, 122, natural, natural, weight=1.0, kappa=20.0)
    method = method_class(BOTH)(0.6848 / 20, 0.3303, 0.3598, 1.161)
    proved = certify(method, task.functions(BOTH), potential="search")
    assert proved.verify() == proved.factor <= 1 - 0.062
    scaffnew = SAID["scaffnew"]
    best = Scaffnew(1.903 / 20, 0.4257)
    attained = 1 - task.screen(scaffnew).steps(best).factor()
    assert task.cost(BOTH, method, proved.decrease) < 0.7 * task.cost(scaffnew, best, attained)


@pytest.mark.parametrize(("source", "field"), VOCABULARY)
def test_updates_with_free_coefficients_are_not_repeated(source, field):
    vocabulary = VOCABULARY[source, field]
    spans = []
    for terms in updates(source, field):
        rows = np.array([vocabulary[term.name] for term in terms])
        if len(terms) == 2:
            spans.append(rows.T @ np.linalg.inv(rows @ rows.T) @ rows)
    for place, span in enumerate(spans):
        assert all(np.abs(span - other).max() > 1e-9 for other in spans[:place])


def test_sentences_are_different_also_as_json():
    found = list(sentences(4))
    assert len({*found}) == len(found) > 1000
    assert all(len(one.constants) <= 4 for one in found)
    assert len({json.dumps(one.to_json()) for one in found}) == len(found)


@pytest.mark.parametrize("name", SAID)
def test_a_sentence_runs_as_the_method_that_it_says(name):
    known, one = KNOWN[name], SAID[name]
    scale = Quadratic.random(3, 6, mu=1.0, L=8.0)
    values = [getattr(known, field) for field in vars(known)]
    own, theirs = (kind(values[0] / 8, *values[1:]) for kind in (method_class(one), type(known)))
    sent = {"unbiased": "rand-k:3", "contractive": "top-k:3", None: None}
    up, down = sent[one.up], sent[one.down]
    text = f"two-way({up};{down})" if down else up
    traces = [
        simulate(
            Experiment.of(method, scale, text and compressor(text)),
            seeds=2,
            budget=Budget(iterations=30),
        )
        for method in (own, theirs)
    ]
    gaps = [trace.final("gap") for trace in traces]
    np.testing.assert_allclose(gaps[0], gaps[1], rtol=1e-9)
    up_bits = [trace.final("uplink_bits") for trace in traces]
    first_message = 3 * (32 + 3) if name == "ef21" else 0
    np.testing.assert_array_equal(up_bits[0] + first_message, up_bits[1])


@pytest.mark.parametrize("name", SAID)
def test_known_methods_are_recognised(name):
    """The same constants are found, and with another structure or another one, none."""
    known = KNOWN[name]
    own = method_class(SAID[name])(*vars(known).values())
    found = recognised(own)
    assert type(found) is type(known)
    assert list(vars(found).values()) == pytest.approx([*vars(known).values()])
    others = [type(one) for key, one in KNOWN.items() if key not in {name, "gd"}]
    as_other = recognised(own, others)  # gradient descent is Scaffnew with p = 1
    assert type(as_other) is (Scaffnew if name == "gd" else type(None))
    if as_other is not None:
        assert list(vars(as_other).values()) == pytest.approx([0.9, 1.0])


def test_what_moves_alike_is_the_same_whatever_its_structure():
    """DIANA with a separate weight of the memory is DIANA at weight 1 only."""
    loose = Sentence(
        "gradient",
        "unbiased",
        None,
        True,
        True,
        (Term("message"), Term("memory", free=True)),
        (Term("message", free=True),),
    )
    assert moves_alike(method_class(loose)(0.3, 1.0, 0.2), KNOWN["diana"])
    assert not moves_alike(method_class(loose)(0.3, 0.99, 0.2), KNOWN["diana"])
    assert recognised(method_class(loose)(0.3, 0.9, 0.2)) is None


@pytest.mark.parametrize(
    ("method", "ways"),
    [
        (DIANA(0.01, 0.2), ("unbiased", None)),
        (Scaffnew(0.05, 0.3), (None, None)),
        (
            method_class(
                Sentence("gradient", "unbiased", "unbiased", True, True, ESTIMATE, ALL, damped=True)
            )(0.01, 0.3),
            ("unbiased", "unbiased"),
        ),
    ],
)
def test_the_screen_is_the_long_run(method, ways):
    """In one batch what is enumerated outcome by outcome elsewhere."""
    up, down = (3.0 if way else 0.0 for way in ways)
    functions = FunctionClass(2, 1.0, 20.0, omega=up, omega_down=down)
    screen = Screen.extreme(2, 20.0, (ways[0], up**0.5), (ways[1], down**0.5))
    expected = 1 - slowest_decrease(method, functions)
    assert screen.steps(method).factor() == pytest.approx(expected, rel=1e-11)


@pytest.mark.long
def test_steps_that_are_too_long_for_certificates_are_shortened():
    """At kappa = 1000 nothing was certified: constants good on quadratics were far from it."""
    natural = compressor("natural")
    task = FactorTask(3, 122, natural, natural, weight=1.0, kappa=1000.0)
    values = 0.6848, 1.477 / 1000**0.5, 0.3598, 1.161
    start = tuning.Candidate(BOTH, values, 1.3657e-3, 1e5)
    found = tuning.tuned(start, task, 8)
    assert found is not None
    assert found.values[0] < 0.2 * values[0]
    proved = certify(found.method(1000.0), task.functions(BOTH), potential="search")
    assert proved.verify() == proved.factor < 1


def test_no_certificate_undercuts_the_screen():
    method, functions = EF21(0.01), FunctionClass(2, 1.0, 20.0, alpha=0.5)
    screen = Screen.extreme(2, 20.0, ("contractive", 0.5**0.5), (None, 0.0))
    attained = screen.steps(method).factor()
    assert attained <= certify(method, functions, potential="search").factor <= attained + 1e-4


def test_a_step_that_leaves_the_solution_is_seen():
    """Compressed gradients or models: their error is not 0 at the solution."""
    one = Sentence("gradient", "unbiased", x=ALL)
    assert TASK.screen(one).steps(method_class(one)(0.01)) is None
    whole = replace(SAID["scaffnew"], up="unbiased")  # models themselves, not differences
    assert TASK.screen(whole).steps(method_class(whole)(0.01, 0.5)) is None


def test_every_sentence_is_a_short_file():
    every = list(sentences(9))
    for one in np.random.default_rng(0).permutation(len(every))[:200]:
        text = method_file(every[one])
        assert 30 <= len(text.splitlines()) <= 110
        assert max(map(len, text.splitlines())) <= 100
        assert issubclass(method_class(every[one]), Method)


def test_a_saved_method_is_one_of_a_file(tmp_path):
    search = discover(TASK, [SAID["diana"]], certificates=2)
    path = tmp_path / "found.py"
    path.write_text(saved_method(search.found[0], search, "Again"), encoding="utf-8")
    assert "It is DIANA(gamma=" in path.read_text(encoding="utf-8")
    card = find_card(f"{path}:Again")
    method = card.at(setting(TASK.n, 1.0, TASK.kappa, TASK.d, TASK.unbiased))
    certificate = search.found[0].certificate
    assert vars(method) == pytest.approx(vars(certificate.method), rel=1e-5)
    again = certify(method, TASK.functions(SAID["diana"]), potential=certificate.potential)
    assert again.decrease == pytest.approx(certificate.decrease, rel=1e-3)


def test_an_interrupted_search_goes_on(tmp_path, monkeypatch):
    wanted = [SAID["diana"], *of_kind("unbiased up", 2)]

    class StopError(Exception): ...

    def stop(*arguments):
        raise StopError

    with monkeypatch.context() as patched:
        patched.setattr(discovery, "tuned", stop)
        with pytest.raises(StopError):
            discover(TASK, wanted, kept=KeptResults(TASK, 0, tmp_path))
    (file,) = tmp_path.iterdir()
    whole = file.read_text(encoding="utf-8")
    with monkeypatch.context() as patched:
        patched.setattr(discovery, "screened", stop)
        first = discover(TASK, wanted, best=1, kept=KeptResults(TASK, 0, tmp_path))
        assert type(first.found[0].known) is DIANA
        file.write_text(whole[:-30], encoding="utf-8")  # a line that was cut
        with pytest.raises(StopError), pytest.warns(UserWarning, match="lines of .* are damaged"):
            discover(TASK, wanted, best=1, kept=KeptResults(TASK, 0, tmp_path))
        with pytest.raises(StopError):  # another seed has nothing to go on from
            discover(TASK, wanted, best=1, seed=1, kept=KeptResults(TASK, 1, tmp_path))


def test_another_program_does_not_take_the_results_of_this_one(tmp_path, monkeypatch):
    KeptResults(TASK, 0, tmp_path).put(None, "a result")
    assert KeptResults(TASK, 0, tmp_path).get("a result") == (True, None)
    monkeypatch.setattr(kept_results, "program", lambda *values, **rooms: "another text")
    assert KeptResults(TASK, 0, tmp_path).get("a result") == (False, None)


def test_what_is_kept_is_found_again_if_it_is_to_be_fresh(tmp_path):
    KeptResults(TASK, 0, tmp_path).put(1, "a result")
    fresh = KeptResults(TASK, 0, tmp_path, fresh=True)
    assert fresh.get("a result") == (False, None)
    fresh.put(2, "a result")
    assert KeptResults(TASK, 0, tmp_path).get("a result") == (True, 2)


def test_a_program_whose_text_is_not_known_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(program_text, "STARTED", 0.0)
    with pytest.warns(NotKeptWarning, match="this search is not kept: .* was written after"):
        KeptResults(TASK, 0, tmp_path).put(1, "a result")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kappa", "1"], "kappa = 1 is no condition number"),
        (["--downlink-weight", "-1"], "is not possible"),
        (["--unbiased", "top-k:2"], "biased"),
        (["--d", "1"], "rand-k:2"),
        (["--save", "found.txt"], "found.txt is no file of Python"),
        (["--name", "State"], "'State' is no name for a class"),
        (["--seed", "-1"], "seed"),
        (["--up", "unbiased", "--local", "no", "--constants", "1"], "converges"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_a_line(capsys, tmp_path, words, told):
    assert main(["discover", "--kappa", "9", "--output", str(tmp_path), *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert told in said.err


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_one_moment_that_is_no_number_makes_a_step_worthless(wrong):
    """Of two cases: in the other one it is a contraction."""
    alone = np.array([[[0.5]], [[wrong]]])
    steps = Steps(alone, np.zeros((2, 1, 1, 1)), 0.0, np.ones((2, 1)), np.eye(1))
    with np.errstate(all="ignore"):
        assert steps.factor() == np.inf
    right = Steps(alone[:1], np.zeros((1, 1, 1, 1)), 0.0, np.ones((1, 1)), np.eye(1))
    assert right.factor() == pytest.approx(0.25)
