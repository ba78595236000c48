"""Words and files that nobody thinks of are answered in one sentence, soon."""

import pytest
from command_lines import refusal

from certibit.data.errors import Refusal
from certibit.data.own.own_file import load_file

PROBLEM = "quadratic:d=5@3"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("class Stop(BaseException): pass\nraise Stop('enough')", "cannot be run: Stop: enough"),
        ("raise GeneratorExit", "cannot be run: GeneratorExit"),
    ],
)
def test_a_file_that_ends_everything_is_named(text, sentence, tmp_path):
    file = tmp_path / "ends.py"
    file.write_text(text)
    with pytest.raises(Refusal, match=rf"ends\.py {sentence}"):
        load_file(file, "a method")


def test_a_file_that_is_interrupted_is_named(tmp_path):
    file = tmp_path / "slow.py"
    file.write_text("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt, match=r"while .*slow\.py was run"):
        load_file(file, "a method")


def test_a_base_exception_of_a_method_is_told_in_a_sentence(tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    sentence = refusal(capsys, ["run", PROBLEM, f"{file}:Own", "--set", "gamma=0.01"])
    assert sentence == (
        f"something unforeseen went wrong (Stop: enough in {file}, line 14); --debug shows where"
    )


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_step_that_ends_the_process_is_told_with_its_file(command, tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(OWN.replace('raise Stop("enough")', "import sys; sys.exit(0)"))
    method = [f"{file}:Own", "--set", "gamma=0.01"] if command == "run" else [f"{file}[gamma=0.01]"]
    sentence = refusal(capsys, [command, PROBLEM, *method])
    assert f"{file}, line 14); --debug shows where" in sentence


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
