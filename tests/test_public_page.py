"""Every public name has an example that runs, and the page that lists them is light."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import certibit
from certibit import CARDS, Method
from certibit.solvers import authoring

PAGE = ast.parse(Path(certibit.__file__).read_text(encoding="utf-8"))
TYPED = next(node for node in PAGE.body if isinstance(node, ast.If))
IMPORTED = [a.name for node in TYPED.body if isinstance(node, ast.ImportFrom) for a in node.names]
CONSTANTS = {"Array", "CARDS", "METHODS"}
"""Names without a docstring; a string below them says what they are."""
HEAVY = (
    *("matplotlib", "scipy.stats", "sympy", "sklearn", "pooch", "torch", "distributed", "cupy"),
    *("cvxpy", "certibit.theory.audit"),
)
QUADRATIC = certibit.Quadratic.random(3, 4, mu=1.0, L=10.0)


def faults(name, text):
    """Return what is wrong with the examples of a docstring, run as if typed at a prompt."""
    if "\nExamples\n--------\n>>> " not in inspect.cleandoc(text):
        return "there is no section Examples"
    test = doctest.DocTestParser().get_doctest(text, {"__name__": name}, name, None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    return "".join(said)


def test_all_that_is_imported_is_public():
    assert len(set(IMPORTED)) == len(IMPORTED)
    assert sorted(IMPORTED) == sorted(certibit.__all__)


def test_what_methods_are_written_with_is_public():
    assert set(authoring.__all__) - set(certibit.__all__) == set()


def test_all_public_methods_are_in_the_catalogue():
    """A new one is found by its name there; a public name is one more line."""
    classes = {card.method for card in CARDS.values()}
    public = {thing for name in certibit.__all__ if is_method(thing := getattr(certibit, name))}
    assert len(public) > 20
    assert public <= classes


def is_method(thing):
    return inspect.isclass(thing) and issubclass(thing, Method) and not inspect.isabstract(thing)


@pytest.mark.long(keep=8)
@pytest.mark.parametrize("name", ["certibit", *sorted({*certibit.__all__} - CONSTANTS)])
def test_examples_run(name):
    described = certibit if name == "certibit" else getattr(certibit, name)
    if ".deep." in getattr(described, "__module__", ""):
        pytest.importorskip("torch", reason="torch is not installed")
    assert faults(name, described.__doc__ or "") == ""


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("Return 1.", "there is no section Examples"),
        ("Return 1.\n\n    Examples\n    --------\n    >>> 1 + 1\n    3\n    ", "Expected:\n    3"),
        ("Return 1.\n\n    Examples\n    --------\n    >>> GD(gamma=1)\n    ", "NameError"),
    ],
)
def test_a_missing_or_wrong_example_is_caught(planted, found):
    assert found in faults("planted", planted)


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_nothing_is_loaded_before_it_is_used():
    asked = "import sys, certibit; print('numpy' in sys.modules); certibit.Refusal, dir(certibit)"
    assert run_python(f"{asked}; print('numpy' in sys.modules)") == "False\nFalse"


def test_all_of_it_is_light():
    asked = f"import sys\nfrom certibit import *\nprint([m for m in {HEAVY} if m in sys.modules])"
    assert run_python(asked) == "[]"


def test_what_is_not_there_is_missed_as_in_any_module():
    with pytest.raises(
        AttributeError, match="module 'certibit' has no attribute 'LoCoDl'"
    ) as found:
        certibit.LoCoDl  # noqa: B018
    assert (found.value.name, found.value.obj) == ("LoCoDl", certibit), "for 'Did you mean'"
    assert {*certibit.__all__} <= {*dir(certibit)}


@pytest.mark.parametrize("function", [certibit.run, certibit.check])
def test_an_editor_sees_the_options(function):
    options = inspect.signature(function).parameters
    assert {"seeds", "card", "strict"} <= options.keys()
    kinds = {option.kind for option in options.values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


def test_what_is_found_is_told_in_a_few_lines():
    found = certibit.check(certibit.GD(gamma=0.5), QUADRATIC, seeds=2)
    failing = [f"FAILS: {v.check}. {v.advice}" for v in found.verdicts if not v.holds]
    told = str(found).splitlines()
    assert told[1] == "gradient descent, classical: not met, gamma < 2/L_f"
    assert failing
    assert told[4:] == failing


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(certibit.Refusal, match="episode-quartics has mu = 0"):
        certibit.check(certibit.Scaffnew(gamma=0.1, p=0.5), certibit.Quartics.of(H=8))
    with pytest.raises(certibit.Refusal, match="outside every theorem"):
        certibit.check(certibit.GD(gamma=0.5), QUADRATIC, strict=True)
