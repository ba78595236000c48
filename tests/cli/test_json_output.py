"""What `--json` prints is strict, documented, and the trace key by key."""

from dataclasses import asdict
from pathlib import Path

import pytest
from command_lines import CASES, FAST, RUN, keys, run_words, strict

import certibit
from certibit.cli import main


@pytest.mark.parametrize(("method", "compressor", "extra"), CASES)
def test_json_is_the_trace_key_by_key(capsys, method, compressor, extra):
    assert main([*run_words(method, compressor, extra), "--json"]) == 0
    found = strict(capsys.readouterr().out)

    problem = certibit.problem("breast-cancer@9", kappa=50)
    sent = certibit.compressor(compressor) if compressor else None
    rule = extra[1] if "--parameters" in extra else None
    used = certibit.parameters(method, problem, sent, rule)
    trace = certibit.run(
        used, problem, sent, seeds=2, budget=certibit.Budget(gap=1e-3), wire="--wire" in extra
    )
    view = problem.composite
    assert found["problem"] == {
        "name": "breast-cancer@9", "n": 9, "m": 63, "d": 30, "L": view.constants.L,
        "mu": view.constants.mu, "kappa": view.constants.kappa, "f_star": problem.f_star,
    }  # fmt: skip
    assert found["problem"]["kappa"] == pytest.approx(50, rel=1e-12)
    assert found["method"] == {"name": method, **asdict(used)}
    c = certibit.compressor(compressor or "identity")
    assert found["compressor"] == {"name": c.name, "omega": c.omega(30), "bits": c.bits(30)}
    accuracies = {name: trace.bits_to(float(name)) for name in ("1e-1", "1e-2", "1e-3")}
    assert found["runs"] == [
        {
            "seed": seed,
            "bits_to": {name: bits[seed] for name, bits in accuracies.items()},
            "ending": trace.ending[seed],
            "rounds": trace.final("rounds")[seed],
            "iterations": trace.final("iteration")[seed],
            "gradients": trace.final("gradients")[seed],
            "uplink_bits": trace.final("uplink_bits")[seed],
            "downlink_bits": trace.final("downlink_bits")[seed],
            "gap": trace.final("gap")[seed],
            "squared_gradient": None,
        }
        for seed in (0, 1)
    ]
    assert found["measure"] == "gap"
    assert set(found) == {"problem", "method", "compressor", "downlink_weight", "measure", "runs"}


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


SCHEMA = {
    "list": ["list"],
    "run": RUN,
    "compare": ["compare", "breast-cancer@9", "gd", "--network", "lte", *FAST],
    "plan": ["plan", "quadratic:d=9@3", "--kappa", "9", "--methods", "gd", "--until", "1e-3"],
    "check": ["check", "quadratic:d=4@3", "gd", "--kappa", "9", "--seeds", "2"],
}


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("command", SCHEMA)
def test_every_key_of_json_is_documented(capsys, command):
    assert main([*SCHEMA[command], "--json"]) == 0
    found = strict(capsys.readouterr().out)
    page = Path(__file__).parents[2].joinpath("docs/json.md").read_text(encoding="utf-8")
    rows = page.split(f"| `{command}` |")[1].split("\n| `")[0]
    if "as for `run`" in rows:
        rows += page.split("| `run` |")[1].split("\n| `")[0]
    data = {"gamma", "S", "chi", "rho", "p", "omega", "1e-1", "1e-2", "1e-3", "top-k:2 of 9",
            "bits", "busiest bits", "downlink bits", "rounds", "gradients",
            "total bits"}  # fmt: skip
    assert {key for key in keys(found) - data if f"`{key}`" not in rows} == set()
