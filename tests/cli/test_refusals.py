"""What does not fit, fails or is interrupted: one sentence, and an exit code that says which."""

import pytest
from command_lines import CASES, COMPARE, RUN, refusal, run_words

from certibit.cli import main
from certibit.data.errors import FailedJobsError, Refusal

BREAST = "run breast-cancer@9"
SMALL = f"{BREAST} locodl rand-k:2+natural"
COMPARED = "compare breast-cancer@9"
MODEL = "breast-cancer@9:nonconvex"
TOY, DEEP, LONG = "run quadratic:d=5@3 diana", 1500, 5000 * "9"
NONE = "is no whole number of at least 1"
TWICE = "has a way that goes both ways already"
REFUSALS = {
    "": "required: COMMAND",
    "walk": "invalid choice: 'walk' (choose from",
    "rnu": "invalid choice: 'rnu'; did you mean run? (see certibit --help)",
    "certifed": "did you mean certify or figures certified?",
    "completion fish": "invalid choice: 'fish'",
    "figures 5": "there is no figure '5'; choose some of 1, 2, 3, 4, all",
    "figures 1 --jobs 0": f"--jobs: '0' {NONE}",
    "demo --jobs two": f"--jobs: 'two' {NONE}",
    "export gd a\0b.json": "a word has the character NUL; leave it out",
    BREAST: "required: METHOD",
    f"{BREAST} gd --kapa 9": "--kapa 9; did you mean --kappa?",
    "run breast-cancer gd": "'breast-cancer' cannot be read; expected <data>@<clients>",
    "run breast-cancer@0 gd": "0",
    "run breast-cancer@1000 gd": "1000",
    "run brest-cancer@9 gd": "breast-cancer",
    "run /no/such/file@9 gd": "/no/such/file",
    f"run breast-cancer@{LONG} gd": "cannot be read; expected <data>@<clients>",
    f"run quadratic:d={LONG}@3 gd": "cannot be read; expected quadratic:d=",
    "run quadratic:d=999999@99 gd": "a quadratic of 99 clients and 999999 features would",
    f"{BREAST} gd --until 1e-40": "finer than 64-bit numbers are",
    f"run {MODEL} gd --until-gradient 1e-40": "|grad f|^2 = 1e-40 is finer than",
    f"{BREAST} gdd": "'gdd' is unknown; did you mean gd",
    f"{BREAST} episod": "'episod' is unknown; did you mean episode",
    f"{BREAST} celgc": "does not state; give eta, gamma with --set",
    f"{BREAST} celgc --set eta=1 --set gamma=-1": "gamma = -1 of",
    f"{BREAST} gd --set gamma=0": "gamma = 0 of gd; give a number above",
    f"run {MODEL} agd": f"agd needs a strongly convex problem and {MODEL}",
    f"run {MODEL} locodl rand-k:2": "locodl needs a strongly convex problem and",
    f"run {MODEL} l-svrg": "l-svrg has no rule for functions that are not",
    f"run {MODEL} l-svrg --strict --set gamma=1 --set p=0.5":
        "the theorems of l-svrg are about strongly convex functions",
    f"run {MODEL} gd --strict --set gamma=9":
        "the parameters of gd are outside every theorem of the method: gamma",
    f"{BREAST} locodl rand-q:2": "no compressor is called 'rand-q:2'",
    f"{BREAST} locodl rand-k:{LONG}": "take at most 12 digits",
    f"{BREAST} gd natural": "cannot use natural",
    f"{BREAST} ef21 {3000 * 'scaled('}natural{3000 * ')'}": "scales more",
    f"{TOY} {DEEP * 'two-way('}": TWICE,
    f"{TOY} '{DEEP * 'two-way(natural;'}natural{DEEP * ')'}'": TWICE,
    f"{TOY} '{DEEP * 'two-way('}natural{DEEP * ';natural)'}'": TWICE,
    f"{SMALL} --kappa much": "invalid float value: 'much'",
    **{f"{SMALL} --kappa {value}": value for value in ("1", "nan", "inf")},
    **{f"{SMALL} --seeds {value}": f"--seeds: '{value}' {NONE}" for value in ("0", "-2", "1.5")},
    f"{SMALL} --seeds {LONG}": NONE,
    f"{SMALL} --seeds 99999999999": "a batch of 99999999999 runs would take about",
    f"{SMALL} --bits -5": "a budget of -5 bits is not possible",
    f"{SMALL} --bits 10 --until 1": "not allowed with",
    f"{SMALL} --fast": "unrecognized arguments: --fast",
    f"{SMALL} --set p={LONG}": "must be a finite float",
    f"{SMALL} --set gamma=1{400 * '0'}": "must be a finite float",
    COMPARED: "required: METHOD[+COMPRESSOR]",
    f"{COMPARED} locodl+rand-q:2": "no compressor is called 'rand-q:2'",
    f"compare {MODEL} gd --until-gradient 9": "the target |grad f|^2 = 9 is not",
    f"compare {MODEL} gd --until 0.1 --until-gradient 0.1": "not allowed with argument --until",
    f"{COMPARED} gd --network ''": "the network '' is unknown",
    f"{COMPARED} gd --network lt": "'lt' is unknown; did you mean lte",
    f"{COMPARED} gd --network lte --downlink-weight 1": "they rank in two ways, give one",
    f"{COMPARED} gd --report ''": "'' is no name for the report",
    f"{COMPARED} gd --plot a.tif": "a.tif is no figure",
    f"{COMPARED} gd --width 3": "give its file by --plot",
}  # fmt: skip


@pytest.mark.long(keep=15)
@pytest.mark.parametrize("words", REFUSALS, ids=lambda words: words[-40:])
def test_wrong_input_is_one_sentence_and_exit_code_2(capsys, words):
    assert REFUSALS[words] in refusal(capsys, [word.strip("'") for word in words.split()])


def test_parameters_outside_every_theorem_are_told_once(capsys, reckless):
    assert main(RUN) == 0
    out, err = capsys.readouterr()
    assert err.count("outside every theorem of the method: gamma < 2/L fails with") == 1
    assert out.splitlines()[-1] == "2 of 2 runs diverged"


def test_parameters_outside_every_theorem_are_refused_if_strict(capsys, reckless):
    for words in (RUN, COMPARE):
        sentence = refusal(capsys, [*words, "--strict"])
        assert sentence.startswith("the parameters of locodl are outside every theorem")


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
