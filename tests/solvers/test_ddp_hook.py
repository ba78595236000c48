"""The hook for DistributedDataParallel, in two real processes, against the simulation."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certibit
from certibit import Budget, NeuralProblem, Refusal, compressor, ddp_hook, run
from certibit.solvers.deep.ddp_hook import ProcessChannel
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams

torch = pytest.importorskip("torch", reason="torch is not installed")
SCRIPT = Path(__file__).with_name("ddp_training.py")
PROCESSES, LR = 2, 0.5

CASES = {
    "ef21": {"compressor": "top-k:4"},
    "ef21 seed": {"compressor": "scaled(rand-k:9)", "seed": 3},
    "ef21 shared": {"compressor": "scaled(rand-k:9@shared)"},
    "ef": {"compressor": "top-k:4", "feedback": "ef"},
    "ef sign": {"compressor": "sign", "feedback": "ef"},
    "diana": {"compressor": "rand-k:9+natural", "feedback": "diana"},
    "none": {"compressor": "qsgd:4", "feedback": "none"},
    "momentum": {"compressor": "top-k:4", "method": ["EF21SGDM", {"gamma": 1, "eta": 0.25}]},
    "layers": {"compressor": "top-k:2", "layers": True},
    "buckets": {"compressor": "top-k:4", "bucket": 1e-5},
    "layers in buckets": {"compressor": "top-k:2", "layers": True, "bucket": 1e-5},
}
METHODS = {
    "ef21": certibit.EF21(gamma=1),
    "ef": certibit.EF(gamma=1),
    "none": certibit.CompressedGD(gamma=1),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Results of two processes, by case and rank."""
    folder = tmp_path_factory.mktemp("ddp")
    words = [str(PROCESSES), str(folder), json.dumps(CASES)]
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", str(SCRIPT), str(rank), *words],
            env=os.environ | {"GLOO_SOCKET_IFNAME": "lo"},
        )
        for rank in range(PROCESSES)
    ]
    try:
        assert [process.wait(timeout=120) for process in started] == [0] * PROCESSES
    finally:
        for process in started:
            process.kill()
    return {
        name: [dict(np.load(folder / f"{name} {rank}.npz")) for rank in range(PROCESSES)]
        for name in CASES
    }


@pytest.fixture(scope="module")
def problem():
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        from ddp_training import examples, network  # noqa: PLC0415
    finally:
        sys.path.pop(0)
    return NeuralProblem.of(network(), torch.nn.functional.cross_entropy, *examples(PROCESSES))


class Equals(Channel):
    """A simulated network whose processes compute the model themselves, without rounding it."""

    def broadcast(self, v, mask=None):
        return v


class Given:
    """An oracle with one answer."""

    n = PROCESSES

    def __init__(self, gradients):
        self.gradients = gradients

    def grad(self, x, active=None, sample=None):
        return self.gradients


def simulated(problem, options, steps):
    """Return the models and bits of the same training by the channel of simulations."""
    chosen, d = compressor(options["compressor"]), problem.d
    if "method" in options:
        name, values = options["method"]
        method = getattr(certibit, name)(**values)
    elif options.get("feedback") == "diana":
        method = certibit.DIANA(gamma=1, alpha=1 / (1 + chosen.omega(d)))
    else:
        method = METHODS[options.get("feedback", "ef21")]
    sizes = [np.prod(s, dtype=int) for s in problem.model.shapes.values()]
    ends = np.cumsum(sizes if options.get("layers") else [d])
    parts = [slice(end - size, end) for end, size in zip(ends, np.diff([0, *ends]), strict=True)]
    ledger, streams = Ledger(1), Streams([options.get("seed", 0)])
    channels = [
        Equals(PROCESSES, chosen, np.array([0]), streams, ledger, problem.x_0[:, part], wire=True)
        for part in parts
    ]
    states, x, points, bits = [None] * len(parts), problem.x_0, [], []
    for _ in range(steps):
        gradients, step = problem.grad(x), np.zeros_like(x)
        for k, (part, channel) in enumerate(zip(parts, channels, strict=True)):
            oracle, before = Given(gradients[:, part]), ledger.uplink_bits[0]
            if states[k] is None:
                states[k] = method.start(0 * x[:, part], oracle, channel)
            if ledger.uplink_bits[0] == before:
                states[k] = replace(states[k], x=0 * x[:, part])
                states[k] = method.communicate(states[k], oracle, channel)
            step[:, part] = getattr(states[k], "g_mean", -states[k].x)
        x = x - LR * step
        points.append(x[0, :, 0])
        bits.append(ledger.uplink_bits[0])
    return points, bits


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_processes_train_as_the_simulation_does(case, trained, problem):
    """Bit for bit the same messages, so that the models agree to the rounding of gradients."""
    found = trained[case]
    points, bits = simulated(problem, CASES[case], len(found[0]["bits"]))
    for one in found:
        np.testing.assert_allclose(one["points"], points, rtol=0, atol=1e-13)
        assert one["bits"].tolist() == bits
    assert (found[0]["points"] == found[1]["points"]).all()


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("case", CASES)
def test_the_bytes_sent_are_the_bits_counted(case, trained, problem):
    """Every message fills its last byte."""
    options = CASES[case]
    sizes = [problem.d]
    if options.get("layers"):
        sizes = [np.prod(shape, dtype=int) for shape in problem.model.shapes.values()]
    layouts = [compressor(options["compressor"]).layout(int(d)) for d in sizes]
    rounds = np.arange(1, 1 + len(trained[case][0]["bits"]))
    for one in trained[case]:
        assert (one["bits"] == rounds * PROCESSES * sum(one.bits for one in layouts)).all()
        assert (one["sent"] == rounds * sum(one.bytes for one in layouts)).all()


def test_a_run_of_the_engine_has_the_same_models_and_bits(trained, problem):
    """Its server rounds the model to 32 bits; its start is a message before the first round."""
    found = trained["ef21"][0]
    rounds = len(found["bits"]) - 1
    trace = run(certibit.EF21(gamma=LR), problem, "top-k:4", seeds=1, wire=True, keep_model=True,
                budget=Budget(rounds=rounds))  # fmt: skip
    np.testing.assert_allclose(trace.x[0, :, 0], found["points"][rounds - 1], atol=1e-6)
    assert trace.final("uplink_bits")[0] * PROCESSES == found["bits"][-1]


def test_it_trains(trained, problem):
    for found in trained.values():
        losses = problem.value(found[0]["points"].T[None])
        assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"compressor": "top-k:4", "feedback": "ef22"}, "'ef22' is unknown"),
        ({"compressor": "top-k:4", "feedback": "ef21-sgdm"}, "give a method such as EF21SGDM"),
        ({"compressor": "top-k:4", "feedback": certibit.EF21(gamma=0.1)}, "with gamma=1"),
        ({"compressor": "top-k:4", "feedback": certibit.GD(gamma=1)}, "cannot be used"),
        ({"compressor": "best-k:4"}, "no compressor is called"),
    ],
)
def test_wrong_feedback_is_refused(options, words):
    with pytest.raises(Refusal, match=words):
        ddp_hook(**options)


def test_a_mean_of_what_was_not_sent_is_refused():
    channel = ProcessChannel(compressor("top-k:1"), 0, 2, lambda payload: [payload, payload])
    v = np.ones((1, 3, 1))
    sent = channel.uplink(v)
    assert certibit.mean(sent).tolist() == sent.tolist()
    with pytest.raises(Refusal, match="not sent"):
        certibit.mean(sent + v)
