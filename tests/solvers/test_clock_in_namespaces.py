"""Predicted seconds against processes in network namespaces, whose links the kernel shapes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_clock_reality import CLOSE, require_calm_machine

SCRIPT = Path(__file__).with_name("namespaces.py")


def missing():
    """Return what keeps namespaces with shaped links from being made here, or ""."""
    for program in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(program) is None:
            return f"{program} is not here: apt-get install iproute2 util-linux"
    tried = "ip link set lo up && tc qdisc add dev lo root tbf rate 1mbit burst 3kb limit 9kb"
    made = subprocess.run(
        ["unshare", "--net", "sh", "-c", tried], capture_output=True, text=True, check=False
    )
    told = made.stderr.strip()
    return f"no namespaces with shaped links here: {told}" if made.returncode else ""


def seconds(name, factor=1.0):
    words = ["unshare", "--net", sys.executable, str(SCRIPT), name, str(factor)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.parametrize("name", ["gd", "locodl"])
def test_seconds_are_those_predicted(name):
    if reason := missing():
        pytest.skip(reason)
    require_calm_machine()
    found = seconds(name)
    print(f"{name}: predicted {found['predicted']:.3f} s, measured {found['measured']:.3f} s")
    if found["measured"] > (1 + CLOSE) * found["predicted"]:
        require_calm_machine()
    assert found["measured"] == pytest.approx(found["predicted"], rel=CLOSE)


@pytest.mark.long
def test_planted_links_of_half_the_rate_are_seen():
    if reason := missing():
        pytest.skip(reason)
    found = seconds("gd", 0.5)
    assert found["measured"] > (1 + CLOSE) * found["predicted"]
