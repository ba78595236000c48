"""How many steps of central paths certificates take, and how long beside a fixed computation."""

from time import process_time

import pytest
from by_rule import by_rule

from certibit import METHODS, certify
from certibit.theory.cones import central_path

FAR, ODD = (10**6, 1e5, 99.0), (3, 10.0, 99.0)
"""Points (n, kappa, omega) at which certificates take long."""

TAKEN = {
    "locodl": (FAR, (32, 0.27), (292, 4.37)),
    "adiana": (ODD, (27, 0.44), (219, 4.27)),
    "diana": (ODD, (15, 0.11), (126, 1.05)),
    "ef21p-diana": (ODD, (16, 0.1), (122, 0.995)),
    "locodl-both-ways": (ODD, (17, 0.16), (152, 1.78)),
    "5gcs-cc": (ODD, (23, 1), (108, 5.09)),
    "compressed-scaffnew": (FAR, (25, 0.22), (167, 1.07)),
    "gradskip": (FAR, (17, 2.5), (137, 5.43)),
    "scaffold": (ODD, (23, 0.37), (128, 2.88)),
    "tamuna": (FAR, (25, 0.25), (167, 1.22)),
    "scaffnew": (FAR, (17, 0.18), (195, 1.84)),
    "fedcomgate": (ODD, (22, 0.26), (155, 2.43)),
    "ef21": (FAR, (44, 0.26), (417, 2.66)),
    "econtrol": (ODD, (43, 0.32), (229, 1.77)),
    "marina": (FAR, (30, 0.23), (167, 1.12)),
    "dasha": (FAR, (30, 0.18), (180, 1.33)),
    "agd": (ODD, (18, 0.12), (117, 1.11)),
    "gd": (FAR, (20, 0.11), (90, 0.608)),
}
"""The point, then steps and time of a certificate with the first theorem's potential, and of one
that searches for it. Times are in units of two 60 x 60 matrices of fractions multiplied."""

MORE_STEPS, MORE_TIME = 1.3, 4.0
"""Room for other last bits, and for other machines and what else they do: a busy machine alone
makes 1.5 of a time."""


def least_time(computation):
    """Return the seconds of the processor that the quickest of three takes."""
    seconds = []
    for _ in range(3):
        start = process_time()
        computation()
        seconds.append(process_time() - start)
    return min(seconds)


@pytest.fixture
def steps(monkeypatch):
    """The steps that are taken, one entry for each."""
    taken, step = [], central_path._step

    def counted(*given):
        taken.append(1)
        return step(*given)

    monkeypatch.setattr(central_path, "_step", counted)
    return taken


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("search", [False, True], ids=["stated", "searched"])
@pytest.mark.parametrize("name", sorted(TAKEN, key=lambda name: TAKEN[name][2]))
def test_a_certificate_takes_no_longer_than_it_did(name, search, steps, unit):
    (n, kappa, omega), *taken = TAKEN[name]
    sent = omega if METHODS[name].method.needs.compressor else None
    method, where = by_rule(name, n, kappa, sent)
    potential = "search" if search else None
    seconds = least_time(lambda: certify(method, where, potential=potential))
    most, longest = taken[search]
    assert len(steps) / 3 <= MORE_STEPS * most
    assert seconds <= MORE_TIME * longest * unit


def test_shorter_steps_are_seen(steps, monkeypatch):
    """The planted fault: steps that go half as far."""
    monkeypatch.setattr(central_path, "TOWARDS", central_path.TOWARDS / 2)
    point, (most, _), _ = TAKEN["diana"]
    certify(*by_rule("diana", *point))
    assert len(steps) > MORE_STEPS * most
