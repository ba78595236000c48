import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

import bitbound
from bitbound.cli import commands, main
from bitbound.data.errors import Refusal
from bitbound.figures.locodl.recipes import demonstration
from bitbound.figures.pool import FailedJobsError
from bitbound.theory.cards.catalogue import CARDS, CLIPPING, METHODS

FAST = ["--kappa", "50", "--seeds", "2", "--until", "1e-3"]
RUN = ["run", "breast-cancer@9", "locodl", "rand-k:2+natural", *FAST]
CASES = [
    ("locodl", "rand-k:2+natural", []),
    ("locodl", "natural", ["--parameters", "balanced"]),
    ("diana", "l1", ["--wire"]),
    ("gd", None, []),
]


@pytest.fixture(autouse=True)
def empty_folder(monkeypatch, tmp_path):
    """Be in an empty folder, into which commands write."""
    monkeypatch.chdir(tmp_path)


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def words(method, compressor, extra):
    return ["run", "breast-cancer@9", method, *([compressor] if compressor else []), *FAST, *extra]


@pytest.mark.parametrize(("method", "compressor", "extra"), CASES)
def test_json_is_the_trace_key_by_key(capsys, method, compressor, extra):
    assert main([*words(method, compressor, extra), "--json"]) == 0
    found = strict(capsys.readouterr().out)

    problem = bitbound.problem("breast-cancer@9", kappa=50)
    sent = bitbound.compressor(compressor) if compressor else None
    rule = extra[1] if "--parameters" in extra else None
    used = bitbound.parameters(method, problem, sent, rule)
    trace = bitbound.run(
        used, problem, sent, seeds=2, budget=bitbound.Budget(gap=1e-3), wire="--wire" in extra
    )
    view = problem.composite
    assert found["problem"] == {
        "name": "breast-cancer@9", "n": 9, "m": 63, "d": 30, "L": view.constants.L,
        "mu": view.constants.mu, "kappa": view.constants.kappa, "f_star": problem.f_star,
    }  # fmt: skip
    assert found["problem"]["kappa"] == pytest.approx(50, rel=1e-12)
    assert found["method"] == {"name": method, **asdict(used)}
    c = bitbound.compressor(compressor or "identity")
    assert found["compressor"] == {"name": c.name, "omega": c.omega(30), "bits": c.bits(30)}
    accuracies = {name: trace.bits_to(float(name)) for name in ("1e-1", "1e-2", "1e-3")}
    assert found["runs"] == [
        {
            "seed": seed,
            "bits_to": {name: bits[seed] for name, bits in accuracies.items()},
            "rounds": trace.final("rounds")[seed],
            "iterations": trace.final("iteration")[seed],
            "gradients": trace.final("gradients")[seed],
            "uplink_bits": trace.final("uplink_bits")[seed],
            "downlink_bits": trace.final("downlink_bits")[seed],
            "gap": trace.final("gap")[seed],
        }
        for seed in (0, 1)
    ]
    assert set(found) == {"problem", "method", "compressor", "runs"}


def test_json_has_null_where_an_accuracy_was_not_reached(capsys):
    assert main([*RUN[:4], "--bits", "2000", "--seeds", "2", "--json"]) == 0
    for run in strict(capsys.readouterr().out)["runs"]:
        assert run["bits_to"]["1e-6"] is None
        assert list(run["bits_to"]) == [f"1e-{digit}" for digit in range(1, 7)]
        assert 2000 <= run["uplink_bits"] < 2000 + 28


def test_json_of_runs_that_diverge_is_strict(capsys, reckless):
    assert main([*RUN[:4], *FAST, "--json"]) == 0
    out, err = capsys.readouterr()
    for run in strict(out)["runs"]:
        assert run["gap"] is None
        assert run["bits_to"]["1e-3"] is None
    assert "outside every theorem" in err


def test_a_quadratic_has_no_rows(capsys):
    assert main(["run", "quadratic:d=4@3", "gd", *FAST, "--json"]) == 0
    assert strict(capsys.readouterr().out)["problem"]["m"] is None


@pytest.mark.parametrize(("method", "compressor", "extra"), CASES)
def test_tables_fit_a_terminal_and_progress_is_elsewhere(capsys, method, compressor, extra):
    assert main(words(method, compressor, extra)) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("problem     breast-cancer@9: n=9, m=63, d=30,")
    assert [line.split()[0] for line in lines[-3:]] == ["1e-1", "1e-2", "1e-3"]
    assert err == "", "there is no terminal to draw progress on"
    assert "%" not in out


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self):
        return True


def test_progress_is_drawn_on_a_terminal_unless_it_is_to_be_quiet(monkeypatch):
    for words, drawn in ((RUN, True), ([*RUN, "--quiet"], False), (["--quiet", *RUN], False)):
        monkeypatch.setattr(sys, "stderr", Terminal())
        assert main(words) == 0
        assert ("100%" in sys.stderr.getvalue()) is drawn


ORDERS = [
    ["run", "breast-cancer@9", "locodl", *FAST, "rand-k:2"],
    ["run", *FAST, "breast-cancer@9", "locodl", "rand-k:2"],
    ["run", "breast-cancer@9", *FAST[:2], "locodl", *FAST[2:], "rand-k:2"],
]


def test_words_stand_in_any_order(capsys):
    told = set()
    for words in ORDERS:
        assert main([*words, "--json"]) == 0
        told.add(capsys.readouterr().out)
    assert len(told) == 1
    assert main(["compare", "breast-cancer@9", "gd", "--kappa", "50", "agd", "--seeds", "1"]) == 0


@pytest.mark.parametrize("command", ["run", "compare", "plan", "check", "certify", "demo"])
def test_every_help_shows_the_defaults(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert "(default: " in " ".join(capsys.readouterr().out.split())


SCHEMA = {
    "run": RUN,
    "compare": ["compare", "breast-cancer@9", "gd", "--network", "lte", *FAST],
    "plan": ["plan", "quadratic:d=9@3", "--kappa", "9", "--methods", "gd", "--until", "1e-3"],
    "count": ["count", "top-k:2 of 9"],
    "check": ["check", "quadratic:d=4@3", "gd", "--kappa", "9", "--seeds", "2"],
    "certify": ["certify", "gd", "--kappa", "9", "--optimise", "rounds"],
    "discover": [
        "discover",
        "--n",
        "1",
        "--kappa",
        "4",
        "--up",
        "none",
        "--down",
        "none",
        "--local",
        "no",
        "--constants",
        "1",
    ],
}


def keys(value):
    """All keys of JSON that name something, not those that are data."""
    if isinstance(value, list):
        return set().union(*map(keys, value))
    if not isinstance(value, dict):
        return set()
    return set(value).union(*map(keys, value.values()))


@pytest.mark.parametrize("command", SCHEMA)
def test_every_key_of_json_is_documented(capsys, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    assert main([*SCHEMA[command], "--json"]) == 0
    found = strict(capsys.readouterr().out)
    page = Path(__file__).parents[1].joinpath("docs/json.md").read_text(encoding="utf-8")
    rows = page.split(f"| `{command}` |")[1].split("\n| `")[0]
    if "as for `run`" in rows:
        rows += page.split("| `run` |")[1].split("\n| `")[0]
    found.pop("multipliers", None)  # data: the names of inequalities
    data = {"gamma", "chi", "rho", "p", "omega", "1e-1", "1e-2", "1e-3", "top-k:2 of 9", "bits",
            "downlink bits", "rounds", "gradients", "total bits"}  # fmt: skip
    assert {key for key in keys(found) - data if f"`{key}`" not in rows} == set()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(capsys, shell):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    for word in ("compare", "--kappa", "--quiet"):
        assert word in out


def test_default_accuracy_is_1e_6(capsys):
    assert main(["run", "breast-cancer@9", "gd", "--kappa", "10", "--seeds", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("1e-6")


def test_another_loss_and_another_split(capsys):
    chosen = ["--split", "dirichlet:0.5", "--loss", "smoothed-hinge:0.5"]
    assert main(["run", "breast-cancer@9", "gd", *FAST, *chosen]) == 0
    out = capsys.readouterr().out
    assert "569 rows over 9 clients" in out
    assert "zeta^2 = " in out
    assert max(map(len, out.splitlines())) <= 80


def test_list_names_what_there_is(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    others = ("eta, gamma, I=1, S=None", "paper, balanced", "rand-k:K+natural", "a5a")
    for name in (*CARDS, *others, "breast-cancer"):
        assert name in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("name", CLIPPING)
def test_clipping_methods_run_with_given_parameters(capsys, name):
    values = {"eta": 0.2, "gamma": 1, "beta": 1, "tau": 1, "I": 2}
    if CLIPPING[name].step_size == "gamma":
        values["gamma"] = 0.01
    known = {field.name for field in fields(CLIPPING[name].method)}
    chosen = [word for k, v in values.items() if k in known for word in ("--set", f"{k}={v}")]
    assert main(["run", "breast-cancer@9", name, *FAST, *chosen]) == 0
    assert "2 of 2" in capsys.readouterr().out.splitlines()[-1]


REFUSALS = [
    ([], "required: COMMAND"),
    (["walk"], "invalid choice: 'walk' (choose from"),
    (["rnu"], "invalid choice: 'rnu'; did you mean run? (see bitbound --help)"),
    (["certifed"], "did you mean certified or certify?"),
    (["run", "breast-cancer@9"], "required: METHOD"),
    (["run", "breast-cancer@9", "gd", "--kapa", "9"], "--kapa 9; did you mean --kappa?"),
    (["completion", "fish"], "invalid choice: 'fish'"),
    (["run", "breast-cancer@9", "gd", "--loss", "hubber"], "'hubber' is unknown; did you mean"),
    (["run", "breast-cancer@9", "gd", "--split", "even"], "the split 'even' is unknown; choose"),
    (["run", "breast-cancer", "gd"], "'breast-cancer' cannot be read; expected <data>@<clients>"),
    (["run", "breast-cancer@0", "gd"], "0"),
    (["run", "breast-cancer@1000", "gd"], "1000"),
    (["run", "brest-cancer@9", "gd"], "breast-cancer"),
    (["run", "/no/such/file@9", "gd"], "/no/such/file"),
    (["run", "breast-cancer@9", "gd", "--until", "1e-40"], "finer than 64-bit numbers are"),
    (["run", "breast-cancer@9", "gdd"], "'gdd' is unknown; did you mean gd"),
    (["run", "breast-cancer@9", "episod"], "'episod' is unknown; did you mean episode"),
    (
        ["run", "breast-cancer@9", "celgc"],
        "rules for its parameters; give eta, gamma with --set",
    ),
    (["run", "breast-cancer@9", "celgc", "--set", "eta=1", "--set", "gamma=-1"], "gamma = -1 of"),
    (["run", "breast-cancer@9", "locodl", "rand-q:2"], "no compressor is called 'rand-q:2'"),
    (["run", "breast-cancer@9", "locodl", "rand-k:0"], "at least 1"),
    (["run", "breast-cancer@9", "locodl", "rand-k:31"], "31"),
    (["run", "breast-cancer@9", "locodl", "top-k:2"], "needs an unbiased compressor"),
    (["run", "breast-cancer@9", "gd", "natural"], "cannot use natural"),
    ([*RUN, "--parameters", "best"], "no parameter rule 'best'; choose one of paper, balanced"),
    ([*RUN, "--kappa", "much"], "invalid float value: 'much'"),
    ([*RUN, "--kappa", "1"], "kappa"),
    ([*RUN, "--kappa", "nan"], "nan"),
    ([*RUN, "--kappa", "inf"], "inf"),
    ([*RUN, "--seeds", "0"], "--seeds: '0' is no whole number of at least 1"),
    ([*RUN, "--seeds", "-2"], "--seeds: '-2' is no whole number of at least 1"),
    ([*RUN, "--seeds", "1.5"], "--seeds: '1.5' is no whole number of at least 1"),
    ([*RUN, "--until", "0"], "a budget of 0 gap is not possible; give a positive number"),
    ([*RUN, "--until", "nan"], "a budget of nan gap is not possible"),
    ([*RUN[:4], "--bits", "-5"], "a budget of -5 bits is not possible"),
    ([*RUN[:4], "--bits", "inf"], "a budget of inf bits is not possible"),
    ([*RUN, "--bits", "10"], "not allowed with"),
    ([*RUN, "--fast"], "unrecognized arguments: --fast"),
    (["figures", "5"], "there is no figure '5'; choose some of 1, 2, 3, 4, all"),
    (["figures", "1", "--jobs", "0"], "--jobs: '0' is no whole number of at least 1"),
    (["compare", "breast-cancer@9"], "required: METHOD[+COMPRESSOR]"),
    (["compare", "breast-cancer@9", "gdd"], "'gdd' is unknown; did you mean gd"),
    (["compare", "breast-cancer@9", "locodl+rand-q:2"], "no compressor is called 'rand-q:2'"),
    (["compare", "breast-cancer@9", "gd", "gd"], "gd takes part twice"),
    (["compare", "breast-cancer@9", "gd", "--until", "0"], "f - f* = 0 is not possible"),
    (
        ["compare", "breast-cancer@9", "gd", "--downlink-weight", "-1"],
        "the weight -1 of the downlink",
    ),
    (["compare", "breast-cancer@9", "gd", "--downlink", "0.5"], "expected a number with its unit"),
    (["compare", "breast-cancer@9", "gd", "--network", "lt"], "'lt' is unknown; did you mean lte"),
    (
        ["compare", "breast-cancer@9", "gd", "--network", "lte", "--downlink-weight", "1"],
        "they rank in two ways, give one",
    ),
    (["compare", "breast-cancer@9", "gd", "--plot", "a.pdf"], "a.pdf is no figure"),
    ([*RUN, "--seeds", "99999999999"], "a batch of 99999999999 runs would take about"),
    ([*RUN, "--seeds", 5000 * "9"], "is no whole number of at least 1"),
    (["run", f"breast-cancer@{5000 * '9'}", "gd"], "cannot be read; expected <data>@<clients>"),
    (["run", f"quadratic:d={5000 * '9'}@3", "gd"], "cannot be read; expected quadratic:d="),
    (["run", "quadratic:d=999999@99", "gd"], "a quadratic of 99 clients and 999999 features would"),
    (["run", "breast-cancer@9", "locodl", f"rand-k:{5000 * '9'}"], "take at most 12 digits"),
    (["run", "breast-cancer@9", "ef21", 3000 * "scaled(" + "natural" + 3000 * ")"], "scales more"),
    ([*RUN, "--set", f"p={5000 * '9'}"], "must be a finite float"),
    ([*RUN, "--set", f"p={5000 * '('}"], "must be a finite float"),
    ([*RUN, "--set", f"gamma=1{400 * '0'}"], "must be a finite float"),
    (["demo", "--jobs", "two"], "--jobs: 'two' is no whole number of at least 1"),
    (["demo", "--seeds", "0"], "--seeds: '0' is no whole number of at least 1"),
]


@pytest.mark.parametrize(("arguments", "fragment"), REFUSALS, ids=lambda x: str(x)[-40:])
def test_wrong_input_is_one_sentence_and_exit_code_2(capsys, arguments, fragment):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    sentences = [line for line in err.replace("\r", "\n").splitlines() if "%|" not in line]
    (sentence,) = [line for line in sentences if line.strip()]
    assert sentence.startswith("bitbound: ")
    assert fragment in sentence


@pytest.fixture
def reckless(monkeypatch):
    """A default rule of LoCoDL whose step size is beyond the theorem's limit and diverges."""
    entry = METHODS["locodl"]
    rule = entry.rules["paper"]

    def too_long(setting):
        return replace(rule(setting), gamma=300 / setting.L)

    monkeypatch.setitem(CARDS, "locodl", replace(entry, rules={"reckless": too_long}))


def test_parameters_outside_every_theorem_are_told_once(capsys, reckless):
    assert main(RUN) == 0
    out, err = capsys.readouterr()
    assert err.count("outside every theorem of the method: gamma < 2/L fails with") == 1
    assert out.splitlines()[-1] == "2 of 2 runs diverged"


def test_parameters_outside_every_theorem_are_refused_if_strict(capsys, reckless):
    assert main([*RUN, "--strict"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bitbound: the parameters of locodl are outside every theorem")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("method", "compressor", "extra"), CASES)
def test_rules_of_the_catalogue_are_inside_a_theorem(capsys, method, compressor, extra):
    assert main([*words(method, compressor, extra), "--strict"]) == 0
    assert "theorem" not in capsys.readouterr().err


def test_interrupt_is_130_and_a_short_message(capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("bitbound.cli.commands.run.simulate", interrupted)
    assert main(RUN) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "bitbound: interrupted"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    "command", [["-m", "bitbound"], [str(Path(sys.executable).with_name("bitbound"))]]
)
def test_an_interrupt_during_the_imports_is_one_line(command):
    # a shell has its background jobs ignore interrupts, and a child inherits that
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(
        [sys.executable, "-X", "importtime", *command, "list"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, inherited)
    while "bitbound.data.errors" not in run.stderr.readline():
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert out == ""
    told = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert told == ["bitbound: interrupted"]


UNFORESEEN = [
    (
        RuntimeError("two\nlines"),
        "something unforeseen went wrong (RuntimeError: two lines); --debug",
    ),
    (AssertionError(), "something unforeseen went wrong (AssertionError); --debug shows where"),
    (RecursionError("too deep"), "(RecursionError: too deep)"),
    (MemoryError(), "the memory of this machine does not suffice; choose smaller numbers"),
    (ZeroDivisionError("division"), "these parameters lead to a division by zero"),
    (FailedJobsError("1 of 2 curves failed: gd: why"), "bitbound: 1 of 2 curves failed: gd: why"),
    (Refusal(1000 * "x"), f"bitbound: {60 * 'x'}...{20 * 'x'}\n"),
]


@pytest.mark.parametrize(("error", "told"), UNFORESEEN, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_whatever_goes_wrong_is_one_sentence(capsys, monkeypatch, error, told, debug):
    """And shows where it comes from only if that is asked for, before or behind the command."""

    def failing(*arguments, **options):
        raise error

    monkeypatch.setattr("bitbound.cli.commands.run.simulate", failing)
    for words in ([*RUN, *debug], [*debug, *RUN]):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert told in err
        lines = [line for line in err.replace("\r", "\n").splitlines() if "%|" not in line]
        assert ("Traceback (most recent call last):" in lines) == bool(debug)
        assert debug or len([line for line in lines if line.strip()]) == 1


COMPARE = ["compare", "breast-cancer@9", "locodl+rand-k:2+natural", "agd", *FAST]


def test_compare_prints_the_table_and_draws(capsys, tmp_path):
    picture = tmp_path / "figure.svg"
    assert main([*COMPARE, "--downlink-weight", "0.5", "--plot", str(picture)]) == 0
    found = bitbound.compare(
        bitbound.problem("breast-cancer@9", kappa=50),
        [("locodl", "rand-k:2+natural"), "agd"],
        target=1e-3,
        seeds=2,
    )
    assert capsys.readouterr().out == f"{found.table(0.5)}\n"
    found.save(tmp_path / "again.svg", "total bits", downlink=0.5)
    assert picture.read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_compare_as_json(capsys):
    assert main([*COMPARE, "--json"]) == 0
    found = strict(capsys.readouterr().out)
    assert [each["name"] for each in found["contestants"]] == COMPARE[2:4]
    assert main([*RUN, "--json"]) == 0
    runs = strict(capsys.readouterr().out)["runs"]
    bits = found["contestants"][0]["costs"]["1e-3"]["bits"]["runs"]
    assert bits == [run["bits_to"]["1e-3"] for run in runs]


def test_compare_models_seconds_on_a_network(capsys):
    words = ["--uplink", "10kbit", "--latency", "0s", "--downlink", "1Gbit", "--gradient", "0s"]
    assert main([*COMPARE, *words, "--json"]) == 0
    found = strict(capsys.readouterr().out)
    assert found["network"]["uplink"] == 1e4
    for each in found["contestants"]:
        costs = each["costs"]["1e-3"]
        assert costs["seconds"]["median"] == pytest.approx(costs["bits"]["median"] / 1e4, rel=0.01)
    assert main([*COMPARE, "--network", "lan"]) == 0
    out = capsys.readouterr().out
    assert "seconds are modelled on 1 Gbit/s up" in " ".join(out.split())
    ranked = [line.split()[0] for line in out.splitlines()[-3:]]
    assert ranked == ["agd", "locodl", "+rand-k:2+natural"]
    assert max(map(len, out.splitlines())) <= 80


def test_compare_computes_nothing_twice(capsys, monkeypatch):
    assert main(COMPARE) == 0
    first = capsys.readouterr().out

    def again(*arguments, **options):
        raise AssertionError("it is run again")

    monkeypatch.setattr("bitbound.solvers.runs.store.simulate", again)
    assert main([*COMPARE, "--network", "lte"]) == 0
    capsys.readouterr()
    assert main(COMPARE) == 0
    assert capsys.readouterr().out == first


def test_compare_refuses_what_no_theorem_covers_if_strict(capsys, reckless):
    assert main([*COMPARE, "--strict"]) == 2
    assert "the parameters of locodl are outside every theorem" in capsys.readouterr().err


OWN = """
from dataclasses import dataclass

import numpy as np

import bitbound


@dataclass(frozen=True)
class Mine(bitbound.GD):
    name = "mine"


@dataclass(frozen=True)
class Other(bitbound.GD):
    name = "other"


OTHER = bitbound.Card(Other, rules={"1/L": lambda setting: Other(1 / setting.L)})


@dataclass(frozen=True)
class Half(bitbound.Huber):
    name = "half"


def problem():
    X = np.random.default_rng(0).standard_normal((30, 3))
    return bitbound.problem(X, X[:, 0], clients=3, loss="least-squares", kappa=9)


solved = problem()
number = 1
"""


@pytest.mark.parametrize(
    "words",
    [
        ["compare", "own.py:solved", "own.py:Mine[gamma=0.1]", "own.py:OTHER", "gd"],
        ["run", "own.py:problem", "own.py:Mine", "--set", "gamma=0.1", "--seeds", "1"],
        ["run", "own.py:problem", "own.py:Other", "--seeds", "1"],
        ["run", "breast-cancer@9", "gd", "--loss", "own.py:Half:0.5", *FAST],
        ["certify", "own.py:Mine", "--set", "gamma=0.1", "--kappa", "9"],
        ["plan", "own.py:problem", "--methods", "gd"],
    ],
)  # fmt: skip
def test_what_is_named_may_stand_in_a_file(capsys, words):
    Path("own.py").write_text(OWN, encoding="utf-8")
    assert main(words) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "own.py:solved", "own.py"], "2 methods and no CARD; name it own.py:NAME, there"),
        (["run", "own.py:solved", "own.py:My"], "defines no method My; name it own.py:NAME"),
        (["run", "own.py:number", "gd"], "number of own.py is no problem; name a problem, or a"),
        (["run", "own.py", "gd"], "own.py defines no problem ''"),
        (["run", "own.py:solved", "gd", "--kappa", "9"], "own.py:solved is complete; leave out"),
        (["run", "breast-cancer@9", "gd", "--loss", "own.py:Mine"], "own.py defines no loss Mine"),
    ],
)
def test_what_a_file_does_not_have_is_refused(capsys, words, told):
    Path("own.py").write_text(OWN, encoding="utf-8")
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_compare_takes_a_method_from_a_file(capsys, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from dataclasses import dataclass\nfrom bitbound import GD\n\n"
        "@dataclass(frozen=True)\nclass Mine(GD):\n    name = 'mine'\n"
    )
    words = ["compare", "quadratic:d=4@3", "--kappa", "9", "--seeds", "2", "gd"]
    assert main([*words, f"{file}[gamma=0.1]"]) == 0
    assert "mine[gamma=0.1]" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"bitbound {bitbound.__version__}\n"


COMMAND_FILES = sorted(Path(commands.__file__).parent.glob("[!_]*.py"))
COMMANDS = [file.stem for file in COMMAND_FILES]


def test_every_command_has_a_file(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    named = re.findall(r"^    (\w+)", capsys.readouterr().out, flags=re.MULTILINE)
    assert sorted(named) == COMMANDS


WRITING = [file.stem for file in COMMAND_FILES if "add_output(parser, " in file.read_text()]


@pytest.mark.parametrize("command", WRITING)
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(capsys, tmp_path, command):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "results"
    words = ["breast-cancer@9", "gd"] if command == "compare" else []
    assert main([command, *words, "--output", str(folder)]) == 2
    assert capsys.readouterr() == (
        "",
        f"bitbound: the folder {folder} cannot be written (Not a directory);"
        " choose another with --output\n",
    )


def test_all_commands_that_write_are_tried():
    assert set(WRITING) == {
        "audit", "certified", "compare", "demo", "discover", "episode", "figures", "report",
        "scaling", "theory",
    }  # fmt: skip


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_is_no_error(capsys, command):
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    assert "usage: bitbound" in capsys.readouterr().out


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **options
    )


def test_python_m_bitbound():
    done = python("-m", "bitbound", "run", "breast-cancer@9", "gd", "natural")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_a_reader_that_has_left_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bitbound", "list"]
    with os.fdopen(writer) as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_is_light():
    code = "import sys, bitbound, bitbound.cli; print(*sys.modules)"
    loaded = python("-W", "error", "-c", code).stdout.split()
    assert "bitbound.cli" in loaded
    assert not {"matplotlib", "distributed", "cupy", "cvxpy", "scipy.stats"} & set(loaded)


def test_public_names_are_sorted_and_there():
    assert all(hasattr(bitbound, name) for name in bitbound.__all__)
    assert len(set(bitbound.__all__)) == len(bitbound.__all__)


def test_demo_end_to_end(tmp_path, monkeypatch, capsys):
    """As far as f - f* = 1e-3, which takes a tenth of the time."""
    figure = demonstration()
    short = replace(figure, panels=tuple(replace(panel, floor=1e-3) for panel in figure.panels))
    monkeypatch.setattr("bitbound.figures.locodl.recipes.demonstration", lambda: short)
    assert main(["demo", "--seeds", "1", "--jobs", "2", "--output", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in METHODS]
    assert {row[0] for row in rows} == set(METHODS)
    rows = [row for row in rows if row[0] in ("locodl", "diana")]
    bits = {(row[0], row[1]): float(row[3].replace(",", "")) for row in rows}
    for compressor in ("rand-k:2+natural", "rand-k:2", "natural", "l1"):
        assert 5 * bits["locodl", compressor] < bits["diana", compressor]
    assert (tmp_path / "demo.svg").read_text().startswith("<?xml")
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_runs_by_its_name(name, capsys):
    need = METHODS[name].method.needs.compressor
    sent = {"unbiased": ["rand-k:2"], "contractive": ["top-k:2"], None: []}[need]
    words = ["run", "quadratic:d=4@3", name, *sent, "--kappa", "10", "--seeds", "1"]
    assert main([*words, "--until", "1e-1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["method"]["name"] == name
    assert printed["runs"][0]["gap"] <= 1e-1
