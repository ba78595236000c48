"""How much memory there is: of the machine, or less in a container."""

import psutil
import pytest

from certibit.data import memory as module
from certibit.data.errors import Refusal
from certibit.data.memory import memory, require_memory

TOTAL = 8 << 30


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Return a function that puts control groups and their limits in place of the machine's."""

    def put(told, limits):
        (tmp_path / "cgroup").write_text(told)
        for file, limit in limits.items():
            path = tmp_path / "fs" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{limit}\n")

    class Machine:
        total = TOTAL

    monkeypatch.setattr(psutil, "virtual_memory", Machine)
    monkeypatch.setattr(module, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(module, "_LIMITS", tmp_path / "fs")
    return put


SECOND = "0::/jobs/one\n"
FIRST = "9:name=systemd:/\n4:cpu,memory:/jobs/one\n0::/\n"
CASES = {
    "no groups": ("", {}, TOTAL),
    "no limit": (SECOND, {"jobs/one/memory.max": "max"}, TOTAL),
    "v2": (SECOND, {"jobs/one/memory.max": 1000}, 1000),
    "v2 around": (SECOND, {"jobs/memory.max": 1000, "jobs/one/memory.max": 2000}, 1000),
    "v2 as a container sees it": ("0::/\n", {"memory.max": 1000}, 1000),
    "v2 above the machine": (SECOND, {"memory.max": 2 * TOTAL}, TOTAL),
    "v1": (FIRST, {"memory/jobs/one/memory.limit_in_bytes": 1000}, 1000),
    "v1 as a container sees it": (FIRST, {"memory/memory.limit_in_bytes": 1000}, 1000),
    "v1 without limit": (FIRST, {"memory/memory.limit_in_bytes": 2**63 - 4096}, TOTAL),
    "v1 of another kind": ("3:cpu:/jobs\n", {"memory/jobs/memory.limit_in_bytes": 9}, TOTAL),
}


@pytest.mark.parametrize(("told", "limits", "expected"), CASES.values(), ids=CASES)
def test_the_limit_of_a_container_counts(groups, told, limits, expected):
    groups(told, limits)
    assert memory() == expected


def test_a_machine_without_control_groups_has_its_memory(tmp_path, groups):
    assert memory() == TOTAL


def test_more_than_the_container_has_is_refused(groups):
    groups(SECOND, {"jobs/one/memory.max": 10**9})
    require_memory(1.2e8, "a vector")
    with pytest.raises(
        Refusal, match=r"a vector would take about 1.04 GB .* this machine has 1 GB"
    ):
        require_memory(1.3e8, "a vector")
