"""Words and files that nobody thinks of are answered in one sentence, soon."""

import subprocess
import sys

import pytest
from command_lines import refusal

from certibit.data.errors import Refusal
from certibit.data.own import own_file
from certibit.data.own.own_file import load_file

PROBLEM = "quadratic:d=5@3"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("class Stop(BaseException): pass\nraise Stop('enough')", "cannot be run: Stop: enough"),
        (
            "import os\nos._exit(3)",
            r"cannot be run: Refusal: .*, line 2, calls os._exit\(3\)",
        ),
        ("raise GeneratorExit", "cannot be run: GeneratorExit"),
    ],
)
def test_a_file_that_ends_everything_is_named(text, sentence, tmp_path):
    file = tmp_path / "ends.py"
    file.write_text(text)
    with pytest.raises(Refusal, match=rf"ends\.py {sentence}"):
        load_file(file, "a method")


def test_a_child_of_a_file_ends_as_it_likes(tmp_path):
    file = tmp_path / "forks.py"
    file.write_text("import os\nchild = os.fork()\nif not child: os._exit(7)\n"
                    "ENDED = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])")  # fmt: skip
    assert load_file(file, "a method").ENDED == 7


def test_a_file_that_is_interrupted_or_takes_long_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(own_file, "_PATIENCE", 0.05)
    file = tmp_path / "slow.py"
    file.write_text("import time\ntime.sleep(0.5)\nraise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt, match=r"while .*slow\.py was run"):
        load_file(file, "a method")
    assert f"{file} has been running for 0.05 s; Ctrl-C ends it" in capsys.readouterr().err


def test_a_base_exception_of_a_method_is_told_in_a_sentence(tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    sentence = refusal(capsys, ["run", PROBLEM, f"{file}:Own", "--set", "gamma=0.01"])
    assert sentence == (
        f"something unforeseen went wrong (Stop: enough in {file}, line 14); --debug shows where"
    )


ENDINGS = {
    "import os; os._exit(0)": "line 14, calls os._exit(0), which would end certibit",
    "from os import _exit; _exit(0)": "line 14, calls os._exit(0), which would end certibit",
    "import sys; sys.exit(0)": "line 14); --debug shows where",
}


@pytest.mark.parametrize("line", ENDINGS)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_step_that_ends_the_process_is_told_with_its_file(line, command, tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(OWN.replace('raise Stop("enough")', line))
    method = [f"{file}:Own", "--set", "gamma=0.01"] if command == "run" else [f"{file}[gamma=0.01]"]
    sentence = refusal(capsys, [command, PROBLEM, *method])
    assert f"{file}, {ENDINGS[line]}" in sentence


def test_others_end_the_process_as_they_like(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("")
    code = "import os, sys, pathlib; from certibit.data.own.own_file import load_file\n"
    code += "load_file(pathlib.Path(sys.argv[1]), 'a method'); os._exit(7)"
    assert subprocess.run([sys.executable, "-c", code, str(file)], check=False).returncode == 7


OWN = """
from dataclasses import dataclass
from certibit import GD

class Stop(BaseException):
    pass

@dataclass(frozen=True)
class Own(GD):
    gamma: float = 0.1
    name = "own"

    def communicate(self, s, problem, channel):
        raise Stop("enough")
"""

COMMAND = [sys.executable, "-X", "importtime", "-m", "certibit", "list"]


LISTENING = """
import _signal, sys

_signal.signal(_signal.SIGINT, _signal.default_int_handler)  # a job in the background ignores it

class Look:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("certibit."):
            print(name, _signal.getsignal(_signal.SIGINT).__name__)

sys.argv[0] = "certibit"
sys.meta_path.insert(0, Look())
import certibit
"""


def test_an_interrupt_is_answered_from_our_first_module_on():
    done = subprocess.run(
        [sys.executable, "-c", LISTENING], capture_output=True, text=True, check=True
    )
    told = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, handler in told if handler == "default_int_handler"] == [
        "certibit.data",
        "certibit.data.interrupts",
    ]
    assert len(told) > 2


def test_little_is_imported_before_an_interrupt_ends_in_one_line():
    """What comes before is Python's own start, where nobody of ours can catch anything."""
    told = subprocess.run(COMMAND, capture_output=True, text=True, check=True).stderr
    imported = [line.rpartition("|")[2].strip() for line in told.splitlines()]
    before = imported[: imported.index("certibit.data.interrupts")]
    ours = before[before.index("site") + 1 :] if "site" in before else before
    assert not {"typing", "enum", "signal", "re", "numpy"} & set(ours)
