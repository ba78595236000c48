"""How many steps of central paths certificates take, and how long beside a fixed computation."""

from time import process_time

import pytest
from test_searches_and_theorems import at_a_point

from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.cones import central_path

FAR, ODD = (10**6, 1e5, 99.0), (3, 10.0, 99.0)
"""Points (n, kappa, omega) at which certificates take long."""

TAKEN = {
    "locodl": (FAR, (32, 0.15), (292, 1.69)),
    "adiana": (ODD, (27, 0.17), (219, 1.65)),
    "diana": (ODD, (15, 0.05), (126, 0.45)),
    "ef21p-diana": (ODD, (16, 0.06), (122, 0.49)),
    "locodl-both-ways": (ODD, (17, 0.07), (152, 0.96)),
    "5gcs-cc": (ODD, (23, 0.68), (108, 2.8)),
    "compressed-scaffnew": (FAR, (25, 0.1), (167, 0.57)),
    "gradskip": (FAR, (17, 1.5), (137, 2.4)),
    "scaffold": (ODD, (23, 0.19), (128, 1.32)),
    "tamuna": (FAR, (25, 0.1), (167, 0.61)),
    "scaffnew": (FAR, (17, 0.08), (195, 0.48)),
    "fedcomgate": (ODD, (22, 0.15), (155, 1.07)),
    "ef21": (FAR, (44, 0.16), (417, 1.05)),
    "econtrol": (ODD, (43, 0.17), (229, 1.25)),
    "marina": (FAR, (30, 0.12), (167, 0.78)),
    "dasha": (FAR, (30, 0.11), (180, 0.67)),
    "agd": (ODD, (18, 0.08), (117, 0.58)),
    "gd": (FAR, (20, 0.06), (90, 0.22)),
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
    method, where = at_a_point(name, n, kappa, sent)
    potential = "search" if search else None
    seconds = least_time(lambda: certify(method, where, potential=potential))
    most, longest = taken[search]
    assert len(steps) / 3 <= MORE_STEPS * most
    assert seconds <= MORE_TIME * longest * unit


def test_shorter_steps_are_seen(steps, monkeypatch):
    """The planted fault: steps that go half as far."""
    monkeypatch.setattr(central_path, "TOWARDS", central_path.TOWARDS / 2)
    point, (most, _), _ = TAKEN["diana"]
    certify(*at_a_point("diana", *point))
    assert len(steps) > MORE_STEPS * most
