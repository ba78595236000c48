"""One run over the processes of MPI is that of one process, bit for bit."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from certibit.data.arrays import is_common
from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import problem
from certibit.data.relaxed.polynomials import Quartics
from certibit.solvers.backend import copies, masked, mean, squared_norm, where
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.parts import part_of
from certibit.solvers.processes.rank_array import Share
from certibit.solvers.runs.trace import Trace
from certibit.theory.catalogue.catalogue import METHODS

SCRIPT = Path(__file__).with_name("over_processes.py")
ROOT = SCRIPT.parents[2]


def launchers():
    """Return the mpirun of every library that is here, of the environment or of the system."""
    found = {
        "environment": Path(sys.executable).with_name("mpirun"),
        "system": Path(shutil.which("mpirun", path="/usr/bin:/usr/local/bin") or "none"),
    }
    return {name: path for name, path in found.items() if path.exists()}


LAUNCHERS = launchers()
needs_mpi = pytest.mark.skipif(
    not LAUNCHERS or importlib.util.find_spec("mpi4py") is None,
    reason="MPI is not here: pip install mpi4py mpich, or apt-get install openmpi-bin",
)


def command(launcher, ranks):
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=True)
    more = ["--oversubscribe", "--allow-run-as-root"] if "Open MPI" in version.stdout else []
    return [str(launcher), *more, "-n", str(ranks)]


def over(ranks, *words, launcher=None):
    """Run the script over ranks; its exit code, and what it says of every case."""
    launcher = launcher or next(iter(LAUNCHERS.values()))
    done = subprocess.run(
        [*command(launcher, ranks), sys.executable, str(SCRIPT), *words],
        capture_output=True, text=True, check=False, timeout=300, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    lines = [line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line]
    return done.returncode, dict(lines), done.stderr


def moved(selector, sent, bits):
    """Return the bytes of the messages of so many bits, each rounded up."""
    one = compressor(sent).bits(problem(selector, kappa=30).d)
    assert bits % one == 0
    return bits // one * -(-one // 8)


SHORT = "quadratic:d=5@9"


@pytest.mark.long
@needs_mpi
def test_the_run_is_that_of_one_process_and_all_counted_bytes_have_moved():
    case, of_rows = f"locodl,{SHORT},rand-k:2+natural", "gradskip,breast-cancer@9:batch=4,"
    code, told, errors = over(3, "true", case, of_rows)
    assert code == 0, errors
    same, *numbers = told[case].split()
    assert same == told[of_rows].split()[0] == "same"
    found, bits = map(int, numbers)
    assert found == moved(SHORT, "rand-k:2+natural", bits)


@needs_mpi
@pytest.mark.long
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_every_method_runs_over_processes(launcher):
    cases = []
    for name, card in METHODS.items():
        needs = card.method.needs
        if needs.shared_minimiser or not needs.strongly_convex or not card.rules:
            continue
        sent = {None: "", "unbiased": "rand-k:2+natural", "contractive": "top-k:2"}[
            needs.compressor
        ]
        if needs.downlink:
            down = "natural" if needs.downlink == "unbiased" else "top-k:3"
            sent = f"two-way({sent};{down})"
        cases += [f"{name},{selector},{sent}" for selector in (SHORT, "breast-cancer@9")]
    noisy = "quadratic:d=5@9:nonconvex:noise=0.1"
    cases += [
        f"sgd,{noisy},",
        f"ef21-sgdm,{noisy},top-k:2",
        "ef21,breast-cancer@9:nonconvex,top-k:2",
        "page,breast-cancer@9:nonconvex:batch=4,",
        "vr-marina,breast-cancer@9:nonconvex:batch=4:replacement,rand-k:2",
        f"ef21,{noisy},top-k:2",
        "locodl,breast-cancer@9:batch=4,rand-k:2",
    ]
    assert len(cases) > 33
    code, told, errors = over(4, "true", *cases, launcher=LAUNCHERS[launcher])
    assert code == 0, errors
    assert {case: told[case].split()[0] for case in cases} == dict.fromkeys(cases, "same")
    for case in cases:
        found, bits = map(int, told[case].split()[1:])
        assert 8 * found == bits if case.endswith(",") else 8 * found >= bits, case


@needs_mpi
@pytest.mark.long
@pytest.mark.parametrize("sent", ["identity", "natural", "l1", "ternary", "rand-k:2@shared",
                                  "dithering:3", "qsgd:4", "two-way(l1;identity)"])  # fmt: skip
def test_every_message_travels(sent):
    case = f"diana,{SHORT},{sent}"
    code, told, errors = over(2, "true", case.replace("diana", "locodl-both-ways")
                              if ";" in sent else case)  # fmt: skip
    assert code == 0, errors
    ((_, verdict),) = told.items()
    assert verdict.split()[0] == "same"


@needs_mpi
@pytest.mark.long
def test_planted_faults_are_seen():
    """A method that uses what was not broadcast, one that averages what was not sent."""
    whispered = f"whispered,{SHORT},rand-k:2"
    unsent = f"unsent,{SHORT},"
    code, told, errors = over(2, "true", whispered, unsent)
    assert code == 0, errors
    assert told[whispered].startswith("other")
    assert "vectors that were not sent" in told[unsent]


@needs_mpi
@pytest.mark.long
def test_a_byte_that_is_counted_and_not_sent_ends_the_run():
    code, told, errors = over(2, "shorter", f"locodl,{SHORT},rand-k:2")
    assert code != 0
    assert not told
    assert "bytes have arrived from rank 1 where" in errors


WORDS = ["run", "quadratic:d=40@12", "locodl", "rand-k:2+natural", "--kappa", "1e5", "--json"]


@needs_mpi
@pytest.mark.long
def test_the_command_line_is_that_of_one_process(tmp_path):
    short = [*WORDS, "--rounds", "30", "--seeds", "2"]
    start = command(next(iter(LAUNCHERS.values())), 3)
    environment = os.environ | {"CERTIBIT_FAST": "0"}
    run = [sys.executable, "-m", "certibit", *short]
    over_three = subprocess.run(
        [*start, *run, "--mpi"], capture_output=True, text=True, check=True, env=environment
    )
    alone = subprocess.run(
        [*run, "--wire"], capture_output=True, text=True, check=True, env=environment
    )
    found, expected = json.loads(over_three.stdout), json.loads(alone.stdout)
    assert found.pop("mpi")["processes"] == 3
    assert found == expected
    refused = subprocess.run(
        [*start, *run, "--mpi", "--kappa", "-1"], capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert refused.stderr.count("certibit: ") == 1


@needs_mpi
@pytest.mark.long
def test_a_process_that_is_killed_costs_seconds(tmp_path):
    """The run goes on from the checkpoint with other numbers of processes, and without MPI."""
    words = [sys.executable, "-m", "certibit", *WORDS, "--seeds", "2", "--until", "1e-20"]
    words += ["--iterations", "60000"]
    launcher = next(iter(LAUNCHERS.values()))
    environment = os.environ | {"CERTIBIT_FAST": "0"}
    kept = tmp_path / "kept"
    run = [*words, "--mpi", "--store", str(kept)]
    with subprocess.Popen(
        [*command(launcher, 3), *run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as going:
        deadline = time.monotonic() + 120
        while not list(kept.glob("*.unfinished")):
            assert going.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        ranks = [p for p in psutil.Process(going.pid).children(recursive=True)
                 if "--store" in p.cmdline() and "python" in p.name()]  # fmt: skip
        os.kill(ranks[-1].pid, signal.SIGKILL)
        assert going.wait(timeout=60) != 0
    assert not list(kept.glob("*.npz"))
    subprocess.run([*command(launcher, 2), *run], check=True, capture_output=True, timeout=300)
    (path,) = kept.glob("*.npz")
    assert not list(kept.glob("*.unfinished"))
    alone = [*words, "--wire", "--library", "numpy", "--store", str(tmp_path / "alone")]
    subprocess.run(alone, check=True, capture_output=True, timeout=300, env=environment)
    found, expected = Trace.load(path), Trace.load(tmp_path / "alone" / path.name)
    assert found.ending == expected.ending
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(found.columns[name], column)


def two():
    """The shares of seven clients on two ranks."""
    return Share.of(7, 0, 2), Share.of(7, 1, 2)


def test_every_client_is_on_one_rank():
    for n, ranks in ((7, 2), (8, 4), (87, 4), (5, 1)):
        clients = [Share.of(n, rank, ranks).clients for rank in range(ranks)]
        assert sorted(i for some in clients for i in range(n)[some]) == list(range(n))
        assert max(s.stop - s.start for s in clients) - min(s.stop - s.start for s in clients) <= 1


def test_too_many_ranks_are_refused():
    with pytest.raises(Refusal, match="4 processes for 7 clients; start at most 3"):
        Share.of(7, 0, 4)


def test_arithmetic_is_that_of_the_rows_of_the_rank():
    rng = np.random.default_rng(0)
    local, whole, model = rng.normal(size=(7, 4, 2)), rng.normal(size=(7, 4, 2)), rng.normal(
        size=(1, 4, 2)
    )  # fmt: skip
    mask = rng.random((7, 1, 2)) < 0.5
    for share in two():
        own = share.array(local[share.clients])
        got = share.array(whole if share.serves else whole[share.clients], received=True)
        drawn, x = share.array(mask, received=True), share.array(model)
        expected = where(mask, local - 2 * whole, model + 0 * whole)[share.clients]
        found = where(drawn, own - 2 * got, x + 0 * got)
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert copies(x, 7).shape == own.shape  # zeros of n clients give the rank's own
        assert (own + np.zeros((7, 1, 1))).shape == own.shape
        np.testing.assert_array_equal(
            np.asarray(squared_norm(own)), squared_norm(local)[share.clients]
        )
        assert np.asarray(masked(drawn, own)).shape == own.shape


def test_what_is_computed_of_drawn_masks_alone_is_known_to_all():
    rng = np.random.default_rng(0)
    vector, mask = rng.normal(size=(7, 1, 2)), rng.random((7, 1, 2)) < 0.5
    for share in two():
        drawn = share.array(mask, received=True, common=True)
        other = share.array(vector if share.serves else vector[share.clients], received=True)
        for known in (~drawn, drawn & ~drawn, 1 * drawn, np.where(drawn, 1.0, 0.0), drawn.copy()):
            assert is_common(known)
        for own in (other > 0, drawn & (other > 0), np.where(drawn, other, 0.0)):
            assert not is_common(own)
        written = drawn.copy()
        written[:] = False
        assert not is_common(written)


def test_only_the_server_sums_and_only_what_it_has_received():
    rng = np.random.default_rng(0)
    whole, model = rng.normal(size=(7, 4, 2)), rng.normal(size=(1, 4, 2))
    server, client = two()
    at_server = server.array(whole, received=True)
    at_client = client.array(whole[client.clients], received=True)
    np.testing.assert_array_equal(np.asarray(mean(at_server)), mean(whole))
    np.testing.assert_array_equal(np.asarray(mean(model - 2 * at_server)), mean(model - 2 * whole))
    assert np.isnan(np.asarray(mean(model - 2 * at_client))).all()
    for share, got in ((server, at_server), (client, at_client)):
        own = share.array(whole[share.clients])
        for unsent in (own, own - got):
            with pytest.raises(Refusal, match="vectors that were not sent"):
                mean(unsent)


@pytest.mark.parametrize("selector", ["breast-cancer@9", "quadratic:d=5@9"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_the_share_of_a_problem_has_the_gradients_of_its_clients(selector, storage):
    options = {} if "quadratic" in selector else {"storage": storage}
    whole = problem(selector, kappa=30, **options)
    part = part_of(whole, slice(3, 7))
    x = np.random.default_rng(0).normal(size=(9, whole.d, 2))
    np.testing.assert_array_equal(part.grad(x[3:7]), whole.grad(x)[3:7])
    assert part.n == 4


def test_a_problem_that_cannot_be_divided_is_refused():
    class Coupled(Quadratic):
        def grad(self, x):
            return super().grad(x) + self.n

    coupled = Coupled(**vars(Quadratic.random(4, 3, mu=1.0, L=10.0)))
    for some in (coupled, Quartics.of(H=1)):
        with pytest.raises(Refusal, match="cannot be divided over its clients"):
            part_of(some, slice(0, 1))
