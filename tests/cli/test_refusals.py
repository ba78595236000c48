"""What does not fit, fails or is interrupted: one sentence, and an exit code that says which."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_lines import CASES, RUN, run_words

from certibit.cli import main
from certibit.data.errors import FailedJobsError, Refusal

REFUSALS = [
    ([], "required: COMMAND"),
    (["walk"], "invalid choice: 'walk' (choose from"),
    (["rnu"], "invalid choice: 'rnu'; did you mean run? (see certibit --help)"),
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
    (["run", "breast-cancer@9", "gd", "--set", "gamma=0"], "gamma = 0 of gd; give a number above"),
    (["certify", "gd", "--class", "nonconvex", "--set", "gamma=-1"], "gamma = -1 of gd; give a"),
    (["compare", "breast-cancer@9", "gd[gamma=-1]"], "gamma = -1 of gd; give a number above 0"),
    (["run", "breast-cancer@9", "locodl", ""], "no compressor is called ''"),
    (["compare", "breast-cancer@9", "gd", "--network", ""], "the network '' is unknown"),
    (["compare", "breast-cancer@9", "gd", "--report", ""], "'' is no name for the report"),
    (["chain", "gd"], "nothing is asked for; give --steps T"),
    (["chain", "gd", "--target", "0"], "--target is the f - f* of a run; give --problem"),
    *(
        (["chain", "gd", "--problem", "breast-cancer@9", f"--target={target}"], "f - f* = ")
        for target in ("0", "-1", "nan", "inf")
    ),
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
    (["compare", "breast-cancer@9", "gd", "--plot", "a.tif"], "a.tif is no figure"),
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


@pytest.mark.long(keep=15)
@pytest.mark.parametrize(("arguments", "fragment"), REFUSALS, ids=lambda x: str(x)[-40:])
def test_wrong_input_is_one_sentence_and_exit_code_2(capsys, arguments, fragment):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    sentences = [line for line in err.replace("\r", "\n").splitlines() if "%|" not in line]
    (sentence,) = [line for line in sentences if line.strip()]
    assert sentence.startswith("certibit: ")
    assert fragment in sentence


def test_parameters_outside_every_theorem_are_told_once(capsys, reckless):
    assert main(RUN) == 0
    out, err = capsys.readouterr()
    assert err.count("outside every theorem of the method: gamma < 2/L fails with") == 1
    assert out.splitlines()[-1] == "2 of 2 runs diverged"


def test_parameters_outside_every_theorem_are_refused_if_strict(capsys, reckless):
    assert main([*RUN, "--strict"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("certibit: the parameters of locodl are outside every theorem")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("method", "compressor", "extra"), CASES)
def test_rules_of_the_catalogue_are_inside_a_theorem(capsys, method, compressor, extra):
    assert main([*run_words(method, compressor, extra), "--strict"]) == 0
    assert "theorem" not in capsys.readouterr().err


def test_interrupt_is_130_and_a_short_message(capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("certibit.cli.commands.run.simulate", interrupted)
    assert main(RUN) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "certibit: interrupted"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    "command", [["-m", "certibit"], [str(Path(sys.executable).with_name("certibit"))]]
)
def test_an_interrupt_during_the_imports_is_one_line(command):
    # a shell has its background jobs ignore interrupts, and a child inherits that
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(
        [sys.executable, "-X", "importtime", *command, "list"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, inherited)
    while "certibit.data.errors" not in run.stderr.readline():
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=300)
    assert run.returncode == 130
    assert out == ""
    told = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert told == ["certibit: interrupted"]


UNFORESEEN = [
    (
        RuntimeError("two\nlines"),
        "something unforeseen went wrong (RuntimeError: two lines); --debug",
    ),
    (AssertionError(), "something unforeseen went wrong (AssertionError); --debug shows where"),
    (RecursionError("too deep"), "(RecursionError: too deep)"),
    (MemoryError(), "the memory of this machine does not suffice; choose smaller numbers"),
    (ZeroDivisionError("division"), "these parameters lead to a division by zero"),
    (ValueError("math domain error"), "these parameters lead to a root, or a logarithm, that is"),
    (ValueError("expected a nonnegative input, got -1.0"), "these parameters lead to a root, or"),
    (FailedJobsError("1 of 2 curves failed: gd: why"), "certibit: 1 of 2 curves failed: gd: why"),
    (Refusal(1000 * "x"), f"certibit: {60 * 'x'}...{20 * 'x'}\n"),
]


@pytest.mark.parametrize(("error", "told"), UNFORESEEN, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_whatever_goes_wrong_is_one_sentence(capsys, monkeypatch, error, told, debug):
    """And shows where it comes from only if that is asked for, before or behind the command."""

    def failing(*arguments, **options):
        raise error

    monkeypatch.setattr("certibit.cli.commands.run.simulate", failing)
    for words in ([*RUN, *debug], [*debug, *RUN]):
        assert main(words) == 2
        err = capsys.readouterr().err
        assert told in err
        lines = [line for line in err.replace("\r", "\n").splitlines() if "%|" not in line]
        assert ("Traceback (most recent call last):" in lines) == bool(debug)
        assert debug or len([line for line in lines if line.strip()]) == 1
