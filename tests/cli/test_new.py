"""Files to begin with: they work, and nothing that stands is overwritten."""

import pytest

from certibit.cli import main

KINDS = ["method", "compressor", "loss"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_has_the_name_and_is_written_once(kind, tmp_path, capsys):
    assert main(["new", kind, "of-mine"]) == 0
    text = (tmp_path / "of_mine.py").read_text(encoding="utf-8")
    assert '"of-mine"' in text
    assert "class OfMine(" in text
    assert main(["new", kind, "of-mine"]) == 2
    assert "of_mine.py exists; choose another name" in capsys.readouterr().err
    assert (tmp_path / "of_mine.py").read_text(encoding="utf-8") == text


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_the_commands_that_are_printed_succeed(kind, capsys):
    main(["new", kind, "of-mine"])
    commands = [
        line.split()[1:] for line in capsys.readouterr().out.splitlines() if line[:4] == "    "
    ]
    assert {words[0] for words in commands} >= {"run", "check"}
    assert [main(words) for words in commands] == [0] * len(commands)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Mine", "'Mine' is no name of a loss; give small letters"),
        ("numpy", "numpy is a module that Python finds; choose another name"),
    ],
)
def test_other_names_are_refused(name, sentence, tmp_path, capsys):
    assert main(["new", "loss", name]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
