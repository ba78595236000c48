"""The transcript in the documentation is what happens, by public names and commands alone."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from certibit.cli import main

WALK = (Path(__file__).parents[1] / "docs/walk-through.md").read_text(encoding="utf-8")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


def follow(text, capsys):
    """Write the files of a transcript and type its commands; return what each of them printed."""
    printed = {}
    for kind, block in re.findall(r"```(python|console)\n(.*?)```", text, flags=re.DOTALL):
        if kind == "python":
            name = re.match(r"# (\w+\.py)\n", block)[1]
            Path(name).write_text(block, encoding="utf-8")
            continue
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = step.partition("\n")
            printed[command] = typed(shlex.split(command), capsys)
            found = printed[command]
            assert agrees(found, expected), f"$ {command}\n{found}"
    return printed


def agrees(found, expected):
    """Say whether words are those that are expected, with any others where ``...`` stands."""
    parts = [re.escape(" ".join(part.split())) for part in expected.split("...")]
    return bool(re.fullmatch(".*".join(parts), " ".join(found.split())))


def typed(words, capsys):
    """Return what a command prints."""
    if words[0] != "certibit":
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    try:
        failed = main(words[1:]) == 2
    except SystemExit as end:
        failed = bool(end.code)
    out, err = capsys.readouterr()
    assert not failed, err
    assert "%|" not in err, "there is no terminal to draw progress on"
    return out


@pytest.mark.long
def test_what_is_typed_prints_what_stands_there(capsys, tmp_path, monkeypatch):
    """And the page that is written at the end opens in a browser, with the method in it."""
    monkeypatch.chdir(tmp_path)
    printed = follow(WALK, capsys)
    typed_commands = {"plan", "compare", "check", "certify", "report"}
    assert {command.split()[1] for command in printed} >= typed_commands
    page = Path("results/report.html")
    assert "econtrol (gamma=0.1,eta=0.05), top-k:2" in page.read_text(encoding="utf-8")
    if BROWSER:
        opened = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
             "--enable-logging=stderr", f"--user-data-dir={tmp_path}", page.resolve().as_uri()],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        console = [line for line in opened.stderr.splitlines() if "CONSOLE" in line]
        assert all("document idle" in line for line in console), console
        assert "own data@9" in opened.stdout


def test_no_step_needs_a_private_name():
    imported = re.findall(r"^ *(?:from|import) (\S+)", WALK, flags=re.MULTILINE)
    assert set(imported) == {"certibit", "dataclasses", "numpy"}


def test_another_output_is_noticed(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = "```console\n$ certibit --version\ncertibit 0.0.0\n```"
    with pytest.raises(AssertionError, match=r"\$ certibit --version"):
        follow(wrong, capsys)
