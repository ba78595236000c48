"""The processes of a run, and the bytes between them."""

import json
import os
import sys
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.solvers.processes.rank_array import Share

Bytes = NDArray[np.uint8]

_UP, _DOWN, _ROWS = 1, 2, 3
_STARTED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
"""Where launchers tell the number of processes that they have started."""


class Command(IntEnum):
    """What rank 0 has the others do next."""

    END = 0
    RUN = 1
    STEP = 2
    NARROW = 3
    STATE = 4
    GRADIENTS = 5
    RESUME = 6
    FINISHED = 7


class TrafficError(RuntimeError):
    """The bytes that arrived are not those that were counted."""


@dataclass
class Traffic:
    """What this rank has received as messages of the method, counted where it arrives.

    Attributes
    ----------
    uplink_bytes : bytes that the server has received from the clients
    downlink_bytes : bytes that this rank has received from the server, for all of its clients
    """

    uplink_bytes: int = 0
    downlink_bytes: int = 0


@dataclass(frozen=True)
class Ranks:
    """The processes of MPI, of which rank 0 is the server and all have clients.

    Messages of the method travel as bytes: ``Send`` of a buffer, ``Mprobe``, ``Get_count``, and
    ``Recv`` of so many. Nothing is pickled or summed on the way. Commands, the state for
    checkpoints and the gradient counts go through a communicator of their own, and are not counted.
    """

    mpi: Any
    messages: Any
    control: Any
    traffic: Traffic = field(default_factory=Traffic)

    @staticmethod
    def start() -> "Ranks":
        """Return the ranks that ``mpirun`` has started; one without it.

        Raises
        ------
        Refusal
            If mpi4py is missing, or is linked to another MPI than that of ``mpirun``.
        """
        if _STARTED[0] in os.environ:  # of two libraries that are installed, that of mpirun
            os.environ.setdefault("MPI4PY_MPIABI", "openmpi")
        try:
            import mpi4py  # noqa: PLC0415  (an optional extra)

            mpi4py.rc.thread_level = "funneled"  # one thread calls
            from mpi4py import MPI  # noqa: PLC0415
        except (ImportError, RuntimeError) as error:
            raise Refusal(
                f"MPI does not start ({error}); install certibit[mpi] and an MPI library, such as "
                "the package mpich"
            ) from None
        world = MPI.COMM_WORLD
        started = max((int(os.environ.get(name, "1")) for name in _STARTED), default=1)
        if started > world.size == 1:
            raise Refusal(
                f"{started} processes were started and each sees one; give the mpirun of the "
                f"library of mpi4py, {MPI.Get_library_version().splitlines()[0].strip(chr(0))}"
            )
        return Ranks(MPI, world, world.Dup())

    def silence(self) -> None:
        """Let only rank 0 print."""
        if self.rank:
            sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    @property
    def rank(self) -> int:
        """The number of this process."""
        return int(self.messages.rank)

    @property
    def size(self) -> int:
        """How many processes there are."""
        return int(self.messages.size)

    def share(self, n: int, rank: int | None = None) -> Share:
        """Return the clients of a rank, by default of this one."""
        return Share.of(n, self.rank if rank is None else rank, self.size)

    def to_server(self, payload: Bytes, sizes: list[int]) -> Bytes | None:
        """Send the bytes of this rank's clients; at the server, those of all ranks in order.

        ``sizes`` are the bytes that each rank sends, by what is counted.

        Raises
        ------
        TrafficError
            If other numbers of bytes arrive.
        """
        request = self.messages.Isend([payload, self.mpi.BYTE], 0, _UP) if payload.size else None
        if self.rank:
            if request:
                request.Wait()
            return None
        arrived = [self._receive(self.messages, source, _UP, size)
                   for source, size in enumerate(sizes) if size]  # fmt: skip
        if request:
            request.Wait()
        self.traffic.uplink_bytes += sum(sizes)
        return np.concatenate(arrived) if arrived else np.empty(0, np.uint8)

    def from_server(self, payload: Bytes, size: int) -> Bytes:
        """Send bytes from the server to every rank, itself included; return what arrives.

        The arguments of the other ranks are ignored.
        """
        requests = []
        if not self.rank:
            requests = [self.messages.Isend([payload, self.mpi.BYTE], rank, _DOWN)
                        for rank in range(self.size)]  # fmt: skip
        arrived = self._receive(self.messages, 0, _DOWN, size)
        self.mpi.Request.Waitall(requests)
        self.traffic.downlink_bytes += size
        return arrived

    def tell(self, command: Command, **what: Any) -> None:
        """Have the other ranks do something, with JSON values."""
        data = np.frombuffer(json.dumps(what).encode() if what else b"", np.uint8)
        self.control.Bcast(np.array([command, data.size]), 0)
        if data.size:
            self.control.Bcast([data.copy(), self.mpi.BYTE], 0)

    def hear(self) -> tuple[Command, dict[str, Any]]:
        """Wait for what rank 0 tells."""
        head = np.empty(2, np.int64)
        self.control.Bcast(head, 0)
        data = np.empty(head[1], np.uint8)
        if data.size:
            self.control.Bcast([data, self.mpi.BYTE], 0)
        return Command(int(head[0])), json.loads(data.tobytes()) if data.size else {}

    def gathered(self, rows: NDArray[Any], n: int) -> NDArray[Any]:
        """Return the rows of all clients at rank 0; the others send theirs."""
        rows = np.ascontiguousarray(rows)
        if self.rank:
            self.control.Send([rows.view(np.uint8), self.mpi.BYTE], 0, _ROWS)
            return rows
        whole = np.empty((n, *rows.shape[1:]), rows.dtype)
        whole[self.share(n).clients] = rows
        for rank in range(1, self.size):
            part = whole[self.share(n, rank).clients]
            self.control.Recv([part.view(np.uint8), self.mpi.BYTE], rank, _ROWS)
        return whole

    def scattered(self, whole: NDArray[Any], n: int) -> NDArray[Any]:
        """Return this rank's rows of an array of rank 0; others give one of its shape and type."""
        if self.rank:
            mine = np.empty((self.share(n).own, *whole.shape[1:]), whole.dtype)
            self.control.Recv([mine.view(np.uint8), self.mpi.BYTE], 0, _ROWS)
            return mine
        for rank in range(1, self.size):
            part = np.ascontiguousarray(whole[self.share(n, rank).clients])
            self.control.Send([part.view(np.uint8), self.mpi.BYTE], rank, _ROWS)
        return whole[self.share(n).clients].copy()

    def shared(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return an array of rank 0 on all ranks; the others give one of its shape and type."""
        x = np.ascontiguousarray(x)
        self.control.Bcast([x.view(np.uint8), self.mpi.BYTE], 0)
        return x

    def summed(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum over ranks of whole numbers, at rank 0."""
        total = np.zeros_like(counts)
        self.control.Reduce(counts, total, op=self.mpi.SUM, root=0)
        return total

    def abort(self, code: int) -> None:
        """End all processes at once."""
        self.messages.Abort(code)

    def _receive(self, communicator: Any, source: int, tag: int, size: int) -> Bytes:
        status = self.mpi.Status()
        message = communicator.Mprobe(source, tag, status)
        count = status.Get_count(self.mpi.BYTE)
        buffer = np.empty(count, np.uint8)
        message.Recv([buffer, self.mpi.BYTE])
        if count != size:
            raise TrafficError(
                f"{count} bytes have arrived from rank {source} where {size} are counted"
            )
        return buffer
