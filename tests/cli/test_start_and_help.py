"""How the command starts, and what its helps say."""

import argparse
import errno
import io
import json
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
from command_lines import FAST

import certibit
from certibit import Refusal, Store
from certibit.cli import commands, main
from certibit.cli.application import _parser
from certibit.cli.words import plain_options
from certibit.cli.words.parser import Parser
from certibit.cli.words.plain_options import KINDS, add_options

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


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(capsys, shell):
    assert main(["completion", shell]) == 0
    out = capsys.readouterr().out
    for word in ("compare", "--kappa", "--quiet"):
        assert word in out


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"certibit {certibit.__version__}\n"


PARSERS = next(action.choices for action in _parser().complete()._actions if action.choices)
COMMANDS = sorted(PARSERS)


def having(option):
    """Return the commands that have an option."""
    return [name for name in COMMANDS if option in PARSERS[name]._option_string_actions]


def test_every_command_is_listed_with_its_module(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    named = re.findall(r"^    (\w+)", capsys.readouterr().out, flags=re.MULTILINE)
    files = {file.stem for file in Path(commands.__file__).parent.glob("[!_]*.py")}
    assert named == [name for name in COMMANDS if " " not in name]
    assert {module for module, _ in commands.SUMMARIES.values()} == files


CAPS = dict.fromkeys(
    ["run", "compare", "plan", "demo", "figures", "figures episode"], "10,000,000"
) | {
    "figures certified": "100,000",
    "figures theory": "5,000",
    "check": "20,000",
}


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_help_fits_80_columns_and_names_defaults_and_caps(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: certibit")
    assert max(map(len, text.splitlines())) <= 80
    told = " ".join(text.split())
    actions = PARSERS[command]._actions if command else []
    defaults = [one for one in actions if one.default not in (None, False, [], argparse.SUPPRESS)]
    assert told.count("(default") >= len(defaults)
    if command in CAPS:
        assert {"--rounds", "--iterations", "--gradients", "--seconds"} <= {*told.split()}
        assert f"(default: {CAPS[command]})" in told
        assert "from 100,000 iterations or gradients on" in told


OPTIONS = """\
WORD?  a word
--until GAP:float  a number
--kind :plain|wide=plain  a choice,
    on two lines
--noise [B=0]  a value that may be left out
--set NAME=VALUE:list  some values
[limits] of runs
--seeds :count=5  a whole number

[either]
--class  a flag
--other  another
"""


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", [None, None, "plain", None, [], 5, False]),
        ("w --until 1 --kind wide --noise --set a=1 --seeds 2 --class",
         ["w", 1.0, "wide", "0", ["a=1"], 2, True]),
        ("--noise 3 --class --other", "not allowed with argument --class"),
        ("--kind tall", "invalid choice: 'tall'"),
    ],
)  # fmt: skip
def test_options_are_lines_of_a_text(words, found):
    parser = Parser(fill=lambda parser: add_options(parser, OPTIONS))
    if isinstance(found, str):
        with pytest.raises(Refusal, match=re.escape(found)):
            parser.parse_args(words.split())
        return
    chosen = vars(parser.parse_args(words.split()))
    names = ("word", "until", "kind", "noise", "set", "seeds", "of_class")
    assert [chosen[name] for name in names] == found
    assert "a choice, on two lines (default: plain)" in " ".join(parser.format_help().split())


@pytest.mark.parametrize("line", ["--one space", "--kind :nobody  text", "--odd"])
def test_a_line_that_is_no_option_is_an_error(line):
    with pytest.raises((ValueError, KeyError)):
        add_options(Parser(), line)


WRITING = having("--output")


@pytest.mark.parametrize("command", WRITING)
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(capsys, tmp_path, command):
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "results"
    words = ["breast-cancer@9", "gd"] if command == "compare" else []
    assert main([*command.split(), *words, "--output", str(folder)]) == 2
    assert capsys.readouterr() == (
        "",
        f"certibit: the folder {folder} cannot be written (Not a directory);"
        " choose another with --output\n",
    )


def test_a_folder_without_room_is_refused_before_the_work(capsys, tmp_path, monkeypatch):
    class Full(io.BytesIO):
        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(plain_options, "TemporaryFile", lambda **how: Full())
    assert main(["figures", "theory", "--output", str(tmp_path)]) == 2
    assert "cannot be written (No space left on device)" in capsys.readouterr().err


FRESH = having("--fresh")


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("command", FRESH)
def test_what_is_kept_is_ignored_if_asked(capsys, tmp_path, monkeypatch, command):
    names = signature(Store)

    def told(self, *given, **named):
        raise Refusal(f"fresh: {names.bind(*given, **named).arguments.get('fresh', False)}")

    monkeypatch.setattr(Store, "__init__", told)
    words = [*command.split(), *(["breast-cancer@9", "gd"] if command == "compare" else [])]
    for more, fresh in ((["--fresh"], True), ([], False)):
        assert main([*words, "--output", str(tmp_path), *more]) == 2
        assert capsys.readouterr().err.endswith(f"certibit: fresh: {fresh}\n")


def test_all_commands_that_read_what_is_kept_can_ignore_it():
    """The others that write compute all that they print."""
    assert set(WRITING) - set(FRESH) == {"audit", "figures theory"}


FILES = [
    (name, action.option_strings[0] if action.option_strings else "FILE")
    for name in COMMANDS
    for action in PARSERS[name]._actions
    if action.metavar == "FILE"
]


@pytest.mark.parametrize(("command", "option"), FILES)
@pytest.mark.parametrize("place", ["file/x.svg", "folder"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    capsys, tmp_path, command, option, place
):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    before = "gd" if option == "FILE" else option
    assert main([command, before, str(tmp_path / place)]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert re.fullmatch(
        rf"certibit: argument {option}: (the folder \S+ cannot be written \(.*\)|\S+ is a folder; "
        rf"give the name of a file) \(see certibit {command} --help\)\n",
        err,
    )


def test_all_commands_that_write_are_tried():
    """Another sign tells that none is missed: who reads a path, or the folder of results."""
    paths = {
        (name, action.dest)
        for name in COMMANDS
        for action in PARSERS[name]._actions
        if action.type in {KINDS["path"], KINDS["file"], KINDS["certificate"]}
    }
    assert paths == {(name, "output") for name in WRITING} | {
        (name, option.strip("-").lower()) for name, option in FILES
    }


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **options
    )


def test_the_first_help_is_light():
    code = """
import sys
from certibit.cli import main
try:
    main(["--help"])
except SystemExit:
    print("LOADED", *sys.modules)
"""
    _, loaded = python("-W", "error", "-c", code).stdout.split("LOADED")
    assert "certibit.cli.application" in loaded.split()
    assert not {"numpy", "scipy", "numba", "matplotlib"} & {*loaded.split()}


SLOW = {
    "list": {"scipy.linalg", "scipy.sparse", "sklearn", "matplotlib", "numba"},
    "plan breast-cancer@9 --methods gd": {"sklearn", "pandas", "scipy.stats", "matplotlib"},
    "certify gd": {"sklearn", "scipy.stats", "scipy.optimize", "matplotlib", "numba"},
}
"""What a command does without, since importing it takes longer than the rest."""


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("words", SLOW)
def test_a_command_imports_what_it_needs(words):
    code = f"import sys; from certibit.cli import main; main({words.split()}); print(*sys.modules)"
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
    assert not SLOW[words] & {*done.stdout.splitlines()[-1].split()}


def test_a_command_computes_on_one_thread():
    code = "from certibit.cli import main; main(['certify', 'gd']); from threadpoolctl import *; "
    code += "print([pool['num_threads'] for pool in threadpool_info()])"
    free = {name: value for name, value in os.environ.items() if "_NUM_THREADS" not in name}
    threads = json.loads(python("-c", code, env=free).stdout.splitlines()[-1])
    assert set(threads) == {1}


MODEL = "breast-cancer@9:nonconvex"


def test_run_prints_the_cost_of_each_squared_gradient(capsys):
    words = ["run", MODEL, "ef21", "top-k:4", "--seeds", "1", "--until-gradient", "1e-2"]
    assert main(words) == 0
    out = capsys.readouterr().out
    solved, sent = certibit.problem(MODEL), certibit.compressor("top-k:4")
    budget = certibit.Budget(squared_gradient=1e-2)
    trace = certibit.run("ef21", solved, sent, seeds=1, budget=budget)
    head, *rows = out.split("\n\n")[1].splitlines()
    assert head.startswith("|grad f|^2")
    assert rows[-1].split()[:2] == ["1e-2", f"{trace.bits_to(1e-2)[0]:,.0f}"]
    assert "mu=-0.05" in out
    assert "f_star" not in out  # no infimum is known


def test_a_strongly_convex_problem_by_its_gradient(capsys):
    words = ["breast-cancer@9", "--kappa", "50", "--until-gradient", "1e-2", "--seeds", "1"]
    assert main(["compare", words[0], "gd", "agd", *words[1:]]) == 0
    assert "|grad f|^2 <= 1e-2" in capsys.readouterr().out
