"""Stored traces and solutions with damage: one documented error, or something usable.

Solutions are tried 10,000 times: 1,000 times as a file whose bytes are damaged before it is sealed,
and 9,000 times as arrays of which some are others than were written.
"""

import hashlib

import numpy as np
import pytest
from fuzzing import answer, flipped, generators, mutated

from certibit import GD, Budget, DamagedFileError, Experiment, Quadratic, Trace
from certibit.data.problems import solution as solution_module
from certibit.data.problems.ridge_problem import mean_gradient
from certibit.data.problems.solution import cached_solution
from certibit.solvers.runs.engine import simulate

PROBLEM = Quadratic.random(3, 4, mu=1.0, L=10.0)
TRACE = simulate(Experiment.of(GD(gamma=0.1), PROBLEM), seeds=2, budget=Budget(rounds=4))
DIGEST = 64
PIECES = [b"PK\x01\x02", b"PK\x05\x06", b"\x93NUMPY", b"'shape': (9", b"<f8", b"|O", b"[", b'{"']


def sealed(body):
    """Return a file whose digest fits, as if it had been written like that."""
    return body + hashlib.sha256(body).hexdigest().encode()


def stored(arrays, path):
    """Return the content of a file without compression, so that damage gets far, and its digest."""
    np.savez(path, **arrays)
    content = path.read_bytes()[:-2] + DIGEST.to_bytes(2, "little")
    path.write_bytes(sealed(content))
    return content


def changed(arrays, rng):
    """Return named arrays of which one or two are gone, or others than they were."""
    arrays = dict(arrays)
    for name in rng.permutation(sorted(arrays))[: rng.integers(1, 3)].tolist():
        x = arrays[name]
        match rng.integers(6):
            case 0:
                del arrays[name]
            case 1:
                arrays[name] = arrays[str(rng.choice(sorted(arrays)))]
            case 2:
                kind = str(rng.choice(["f4", "f8", "i8", "u1", "?", "U3", "c16"]))
                with np.errstate(all="ignore"):
                    arrays[name] = np.zeros(x.shape, kind) if rng.integers(2) else x.astype("U9")
            case 3:
                shape = tuple(rng.integers(0, 4, rng.integers(0, 4)).tolist())
                arrays[name] = np.zeros(shape, x.dtype)
            case 4 if x.size:
                arrays[name] = np.delete(x.ravel(), rng.integers(x.size))
            case _ if x.dtype.kind in "fiu" and x.size:
                arrays[name] = x.copy()
                numbers = [np.nan, np.inf, -1.0, 1e300] if x.dtype.kind == "f" else [0, 2, 2**40]
                arrays[name].flat[rng.integers(x.size)] = rng.choice(numbers)
    return arrays


def read_as(monkeypatch, module, arrays):
    """Let a module read these arrays, whatever is in the file."""
    monkeypatch.setattr(module, "load_arrays", lambda path: dict(arrays))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.npz"


@pytest.mark.long
def test_damaged_traces_are_refused(path):
    TRACE.save(path)
    good = path.read_bytes()
    for rng in generators(1000):
        damaged = (
            mutated(good, PIECES, rng)
            if rng.integers(2)
            else flipped(good, int(rng.integers(8 * len(good))))
        )
        path.write_bytes(damaged)
        trace, _ = answer(DamagedFileError, Trace.load, path)
        assert (trace is not None) == (damaged == good)


@pytest.mark.long
@pytest.mark.filterwarnings(r"ignore:.* is damaged \(.*\); it is set aside as")
def test_solutions_written_with_any_content(tmp_path, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
    solved = cached_solution(PROBLEM, lambda problem: problem.x_star)
    (path,) = (tmp_path / "solutions").iterdir()
    good = stored({"x_star": solved.ravel()}, path)
    start = np.linalg.norm(mean_gradient(PROBLEM, PROBLEM.x_0))
    for number, rng in enumerate(generators(10_000)):
        content = flipped(good, int(rng.integers(8 * len(good))))
        path.write_bytes(sealed(content) if rng.integers(2) else content)
        if number % 10:
            read_as(monkeypatch, solution_module, changed({"x_star": solved.ravel()}, rng))
        found = cached_solution(PROBLEM, lambda problem: problem.x_star)
        monkeypatch.undo()
        monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
        assert np.linalg.norm(mean_gradient(PROBLEM, found)) <= 1e-12 * start
        path.with_name(f"{path.name}.damaged").unlink(missing_ok=True)
