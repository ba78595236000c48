"""Where runs start and end, what is kept of them, and how it leaves."""

import numpy as np
import pytest
from worlds import LIBRARIES

from certibit import (
    GD,
    Budget,
    LoCoDL,
    Quadratic,
    Quartics,
    Refusal,
    Store,
    Trace,
    certify,
    compressor,
    run,
)
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import CutWarning

PROBLEM = Quadratic.random(3, 4, mu=1.0, L=10.0)
METHOD = GD(gamma=0.1)
SHORT = Budget(rounds=20)


def test_runs_start_where_they_are_told():
    start = np.arange(4.0)
    trace = run(METHOD, PROBLEM, seeds=1, budget=SHORT, x_0=start)
    gap = PROBLEM.plain.gap(start.reshape(1, 4, 1))
    assert trace.columns["gap"][0] == pytest.approx(gap[0], rel=1e-12)
    assert trace.specification["problem"]["x_0"] == start.tolist()
    there = run(METHOD, PROBLEM, seeds=1, budget=SHORT, x_0=PROBLEM.x_star.ravel())
    assert there.columns["gap"].max() < 1e-28


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("library", ["numpy", *LIBRARIES])
def test_the_last_model_is_kept_on_request(library):
    method, sent = LoCoDL(gamma=0.1, chi=0.3, rho=0.3, p=0.5, omega=1.0), compressor("rand-k:2")
    options = {"seeds": 3, "budget": Budget(rounds=20, gap=1e-2), "library": library}
    trace = run(method, PROBLEM, sent, keep_model=True, **options)
    assert trace.x.shape == (1, 4, 3)
    np.testing.assert_allclose(PROBLEM.composite.gap(trace.x), trace.final("gap"), rtol=1e-12)
    assert run(method, PROBLEM, sent, **options).x is None


def test_models_are_saved(tmp_path):
    trace = run(METHOD, PROBLEM, seeds=2, budget=SHORT, keep_model=True)
    trace.save(tmp_path / "trace.npz")
    np.testing.assert_array_equal(Trace.load(tmp_path / "trace.npz").x, trace.x)
    experiment, store = Experiment.of(METHOD, PROBLEM), Store(tmp_path)
    paths = {store.path(experiment, budget=SHORT, keep_model=kept) for kept in (True, False)}
    assert len(paths) == 2


def test_a_budget_of_seconds_ends_and_is_not_kept(tmp_path):
    budget = Budget(seconds=1e-9)
    trace = Store(tmp_path).trace(Experiment.of(METHOD, PROBLEM), seeds=1, budget=budget)
    assert trace.ending == ("seconds",)
    assert not list(tmp_path.iterdir())
    long = Store(tmp_path).trace(
        Experiment.of(METHOD, PROBLEM), seeds=1, budget=Budget(seconds=1e6, rounds=2)
    )
    assert long.ending == ("rounds",)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_callback_sees_every_point_and_ends_runs():
    seen = []

    def stop(point):
        seen.append(point)
        return point["gap"].max() < 1e-3

    trace = run(METHOD, PROBLEM, seeds=2, budget=Budget(rounds=1000), callback=stop)
    assert trace.ending == ("callback",) * 2
    assert (trace.final("gap") < 1e-3).all()
    assert len(seen) == len(trace.run(0)["gap"])
    assert seen[-1]["x"].shape == (1, 4, 2)
    np.testing.assert_array_equal([point["gap"][0] for point in seen], trace.run(0)["gap"])


class Kept(LoCoDL):
    """LoCoDL whose model is a view of what its local steps leave alone."""

    def model(self, s):
        return s.u[:1]


def test_what_a_callback_keeps_does_not_change():
    problem = Quadratic.random(64, 200, mu=1.0, L=10.0)
    method, kept = Kept(gamma=0.1, chi=0.3, rho=0.3, p=0.5, omega=1.0), []

    def keep(point):
        kept.append((point["x"], point["x"].copy()))

    run(method, problem, compressor("natural"), seeds=4, budget=Budget(rounds=9), callback=keep)
    assert len(kept) > 9
    for model, copy in kept:
        np.testing.assert_array_equal(model, copy)


def test_a_data_frame_has_all_columns():
    trace = run(METHOD, PROBLEM, seeds=[5, 9], budget=SHORT)
    frame = trace.to_pandas()
    assert frame["seed"].unique().tolist() == [5, 9]
    for name, column in trace.columns.items():
        np.testing.assert_array_equal(frame[name], column)


@pytest.mark.parametrize("x", ["uplink_bits", "rounds", "gradients"])
def test_a_plot_has_a_curve_for_every_run(x):
    trace = run(METHOD, PROBLEM, seeds=3, budget=SHORT)
    (axes,) = trace.plot(x).axes
    assert len(axes.lines) == 3
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), trace.run(1)[x])
    assert axes.get_yscale() == "log"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: run(METHOD, PROBLEM, budget=SHORT, x_0=[1.0]), "a start of shape (1,) for 4"),
        (lambda: run(METHOD, PROBLEM, budget=SHORT, x_0=[np.nan] * 4), "the numbers of the start"),
        (lambda: run(METHOD, Quartics.of(H=1), budget=SHORT, x_0=[1.0]), "episode-quartics has a"),
        (lambda: run("gdd", PROBLEM, budget=SHORT), "the method 'gdd' is unknown; did you mean gd"),
        (lambda: run(GD, PROBLEM, budget=SHORT), f"{GD} is no method with its parameters; give"),
        (lambda: Experiment.of(METHOD, "a5a@87"), "'a5a@87' is the name of a problem; give"),
        (lambda: certify("gd", None), "'gd' is no method with its parameters; give one, such as"),
        (lambda: run(METHOD, PROBLEM, "l1", budget=SHORT), "gd sends uncompressed vectors and"),
        (
            lambda: run("diana", PROBLEM, "l2", budget=SHORT),
            "no compressor is called 'l2'; did you",
        ),
        (lambda: Experiment.of(METHOD, PROBLEM, "l1"), "'l1' is no compressor; give one, such as"),
        (lambda: Budget(gradients=0), "a budget of 0 gradients is not possible"),
        (lambda: Budget(seconds=-1), "a budget of -1 seconds is not possible"),
        (lambda: run(METHOD, PROBLEM, budget=SHORT).plot("bits"), "a trace has no column 'bits'"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(Refusal) as refusal:
        call()
    assert str(refusal.value).startswith(sentence)


def test_a_budget_within_another_has_the_smaller_limits():
    whole, limits = Budget(gap=1e-3, rounds=9, iterations=70), Budget(rounds=20, gradients=5)
    assert whole.within(None) == whole
    assert whole.within(limits) == Budget(gap=1e-3, rounds=9, iterations=70, gradients=5)
    assert whole.lowered(limits) == {"gradients"}
    assert limits.within(whole) == Budget(rounds=9, iterations=70, gradients=5)


def test_a_store_with_limits_keeps_what_they_cut_apart(tmp_path):
    experiment, whole = Experiment.of(METHOD, PROBLEM), {"seeds": 2, "budget": Budget(rounds=9)}
    limited = Store(tmp_path, limits=Budget(rounds=4))
    for _ in range(2):  # what is kept is as cut as what is run
        with pytest.warns(CutWarning, match="2 of 2 runs of gd .* were cut at 4 rounds"):
            trace = limited.trace(experiment, **whole)
        assert trace.final("rounds").tolist() == [4, 4]
    assert limited.find(experiment, **whole).final("rounds").tolist() == [4, 4]
    assert Store(tmp_path).find(experiment, **whole) is None
    assert Store(tmp_path).trace(experiment, **whole).final("rounds").tolist() == [9, 9]
    assert Store(tmp_path, limits=Budget(rounds=99)).find(experiment, **whole) is not None
    with pytest.warns(CutWarning, match="were cut at 1e-09 seconds"):
        Store(tmp_path / "clock", limits=Budget(seconds=1e-9)).trace(experiment, **whole)
    assert not list(tmp_path.glob("clock/*"))


@pytest.mark.parametrize("library", LIBRARIES)
def test_bytes_and_32_bits_on_every_library(library):
    """Messages are encoded on the host and go back; a run of 32 bits stays in them."""
    method, sent = LoCoDL(gamma=0.1, chi=0.3, rho=0.3, p=0.5, omega=1.0), compressor("rand-k:2")
    options = {"seeds": 2, "budget": Budget(rounds=20), "wire": True, "dtype": "float32"}
    ours, theirs = (
        run(method, PROBLEM, sent, library=name, **options) for name in ("numpy", library)
    )
    np.testing.assert_array_equal(theirs.columns["uplink_bits"], ours.columns["uplink_bits"])
    np.testing.assert_allclose(theirs.columns["gap"], ours.columns["gap"], rtol=1e-3, atol=1e-6)
