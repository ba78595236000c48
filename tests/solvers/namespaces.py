"""Predicted against measured seconds in network namespaces, whose links the kernel shapes.

``unshare --net python namespaces.py METHOD 1`` is the server: every client is a process in a
network namespace of its own, with a veth pair and a token bucket filter (``tc tbf``) at both ends,
which vanish with the processes. A bit of a run stands for ``TIMES`` bits on links that are as many
times as fast, so that messages are long beside headers and bursts.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from test_clock_reality import CONVEX, NETWORK, Recording, replay

from certibit import Budget, compressor, parameters
from certibit.solvers.clock import timed_world
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment

TIMES, TRIES, CLOSE = 1000, 4, 0.10
BURST = "3kb"


def done(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def shaped(device, rate, *inside):
    """Let a device send so many bits per second."""
    bucket = ("rate", f"{rate:.0f}bit", "burst", BURST, "limit", "64mb")
    done(*inside, "tc", "qdisc", "add", "dev", device, "root", "tbf", *bucket)


def in_namespace(client, words, clients):
    """Start a client in a namespace with a link of its own; the kernel shapes both directions."""
    ours, theirs, net = f"s{client}", f"c{client}", f"10.77.{client}"
    subprocess.run(["ip", "link", "del", ours], capture_output=True, check=False)
    process = subprocess.Popen(["unshare", "--net", *words[:3], f"{net}.1", *words[3:]])
    inside = ("nsenter", f"--target={process.pid}", "--net")
    done("ip", "link", "add", ours, "type", "veth", "peer", "name", theirs)
    until_apart(process.pid)
    done("ip", "link", "set", theirs, "netns", str(process.pid))
    done("ip", "addr", "add", f"{net}.1/30", "dev", ours)
    done("ip", "link", "set", ours, "up")
    done(*inside, "ip", "addr", "add", f"{net}.2/30", "dev", theirs)
    done(*inside, "ip", "link", "set", theirs, "up")
    shaped(ours, TIMES * clients.downlink[client])
    shaped(theirs, TIMES * clients.uplink[client], *inside)
    return process, None, None


def until_apart(process):
    """Wait until a process is in a namespace of its own."""
    here = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{process}/ns/net").readlink() == here:
        pass


def synchronous(name, sent):
    """Return the predicted seconds of a run, and what measures them."""
    timed_world.TimedLedger, Recording.steps = Recording, []
    used = sent and compressor(sent)
    experiment = Experiment.of(parameters(name, CONVEX, used), CONVEX, used)
    trace = simulate(experiment, seeds=1, budget=Budget(rounds=12), network=NETWORK)
    steps = [(kind, amount * (1 if kind == "work" else TIMES)) for kind, amount in Recording.steps]
    clients = NETWORK.clients(CONVEX.n)
    return trace.final("seconds").item(), lambda: replay(steps, clients, start=in_namespace)


METHODS = {
    "gd": lambda: synchronous("gd", None),
    "locodl": lambda: synchronous("locodl", "rand-k:6"),
}

if __name__ == "__main__":
    name, factor = sys.argv[1], float(sys.argv[2])
    done("ip", "link", "set", "lo", "up")
    predicted, measure = METHODS[name]()
    TIMES *= factor  # a planted fault: links of another rate
    taken = []
    while len(taken) < TRIES and not (taken and min(taken) <= (1 + CLOSE) * predicted):
        taken.append(measure())
    print(json.dumps({"predicted": predicted, "measured": min(taken)}))
