"""A compiled pass gives what plain arrays give."""

import pytest
from tool.compiled import compiled_as_plain

from certibit.data.passes import fused
from certibit.data.problems.selector import problem
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.fast import fast_world

LOGISTIC = problem("breast-cancer@5", kappa=30)


def test_compiled_passes_agree():
    verdict = compiled_as_plain(LOGISTIC)
    assert verdict.holds
    assert verdict.points == 4


def changed(name, change):
    right = getattr(fused.FusedGradients, name)
    return fused.FusedGradients, name, lambda self, *words: change(right(self, *words))


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        changed("at", lambda x: x * (1 + 1e-6)),
        changed("at", lambda x: x[::-1]),
        (fast_world, "_WAYS", {RandK: lambda sent, x, uniforms: 0 * x}),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_a_wrong_pass_is_seen(owner, name, wrong, monkeypatch):
    monkeypatch.setattr(owner, name, wrong)
    assert not compiled_as_plain(LOGISTIC).holds


def test_without_a_compiler_there_is_nothing_to_compare(monkeypatch):
    monkeypatch.setenv("CERTIBIT_FAST", "0")
    assert compiled_as_plain(LOGISTIC) is None
