"""Compressors and error feedback for ``torch.nn.parallel.DistributedDataParallel``.

The hook takes the gradient of this process and returns the vector that the optimiser uses in its
place, the same in all processes. To compute it, a method class does one round in the world of a
process: EF21 with gamma = 1 sends C(grad - g_i), and the mean of the g_i is returned.

There is no server in this world. Every process is one client and has its own row (1, d, 1) of each
array (n, d, 1). It receives the messages of all others and computes their mean, in the same order
everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.deep.torch_library import torch_library
from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor as compressor_named
from certibit.solvers.compressors.wire import Shared
from certibit.solvers.method import Method
from certibit.solvers.methods.compressed_gd import CompressedGD
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef import EF
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.ef21_sgdm import EF21SGDM
from certibit.solvers.simulation.experiment import fitted_compressor
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import generator

_METHODS = {"none": CompressedGD, "ef": EF, "ef21": EF21, "ef21-sgdm": EF21SGDM, "diana": DIANA}

ByLength = Callable[[int], Compressor]
"""Of the length of a vector: its compressor."""


_Exchange = Callable[[NDArray[np.uint8]], list[NDArray[np.uint8]]]
"""Gives the bytes of this process to all, and returns those of all processes, by their rank."""
_RUN = np.zeros(1, dtype=np.intp)


class _Gathered(np.ndarray):
    """The own message as it was received, (1, d, 1), with the mean of those of all processes.

    A sum over the clients is that mean: a process has one row. What is computed from such an array
    is known of the own client only, so that its sum is refused.
    """

    mean_of_all: NDArray[np.float64] | None

    def __array_finalize__(self, origin: Any) -> None:
        self.mean_of_all = None

    def sum(self, axis: Any = None, *parts: Any, **options: Any) -> Any:
        """Return the mean over all processes, (1, d, 1)."""
        if axis != 0 or self.mean_of_all is None:
            raise Refusal(
                "the mean over the clients of vectors that were not sent; a process knows only "
                "what it has received: send them by the channel first"
            )
        return self.mean_of_all


@dataclass
class ProcessChannel:
    """The network of one process: its messages as bytes to all others.

    Parameters
    ----------
    compressor : Compressor
        Of every process.
    rank, size : int
        The place of this process, and the number of all.
    exchange : callable
        Sends bytes.
    seed : int
        Of the random numbers of compressors: those of a run with this seed.
    purpose : str
        The name of their stream.
    """

    compressor: Compressor
    rank: int
    size: int
    exchange: _Exchange
    seed: int = 0
    purpose: str = "compressor"
    ledger: Ledger = field(default_factory=lambda: Ledger(1))
    bytes_sent: int = 0
    _drawn: int = 0

    def uplink(self, v: Array) -> _Gathered:
        """Send C(v), (1, d, 1), to all; what was received of it, and the mean of all messages."""
        d, compressor = v.shape[1], self.compressor
        layout = compressor.layout(d)
        message = compressor.message(np.asarray(v), self._uniforms(d))
        encoded = layout.encode(message)[0, :, 0]
        payloads = np.stack(self.exchange(encoded))[:, :, None]
        self.bytes_sent += encoded.size
        self.ledger.up(_RUN, self.size * layout.bits, layout.bits)
        self.ledger.down(_RUN, self.size * (self.size - 1) * layout.bits)
        pairs = zip(layout.fields, message, strict=True)
        known = tuple(np.asarray(x) for (kind, _), x in pairs if isinstance(kind, Shared))
        total, own = np.zeros((1, d, 1)), np.zeros((1, d, 1))
        for rank in range(self.size):  # one after the other: d numbers at a time
            received = compressor.vector(layout.decode(payloads[rank : rank + 1], known), d)
            total += received
            own = received if rank == self.rank else own
        found = np.asarray(own).view(_Gathered)
        found.mean_of_all = total / self.size
        return found

    def broadcast(self, v: Array) -> Array:
        """Return v: every process has computed it."""
        return np.asarray(v)

    def _uniforms(self, d: int) -> NDArray[np.float64]:
        """Return the numbers of this client that a simulated run would draw for it."""
        count = self.compressor.uniforms(d)
        shared = self.compressor.shared
        first = self._drawn + (0 if shared else self.rank * count)
        self._drawn += count if shared else self.size * count
        return generator(self.seed, self.purpose, first).random(count).reshape(1, count, 1)


@dataclass(frozen=True)
class _OwnGradient:
    """The gradient oracle of one process: the gradient that its backward pass has left."""

    gradient: Array

    n = 1

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.gradient.shape[1])

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        """Return the gradient, (1, d, 1), wherever it is asked for."""
        return self.gradient

    def sample(self, slot: int | str) -> NoReturn:
        """Refused: a backward pass leaves the gradient at one point.

        Raises
        ------
        Refusal
            Always.
        """
        raise Refusal(
            "a sample is taken at two points, and a backward pass leaves its gradient at one; "
            "choose another method"
        )


@dataclass
class _FeedbackLoop:
    """A method that does one round for every gradient of one vector."""

    method: Method
    channel: ProcessChannel
    state: Any = None

    def direction(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Do the round of a gradient, (d,); the direction for the optimiser, (d,).

        That is the estimate g_mean, or for a method without one the step that it takes from 0 with
        gamma = 1.
        """
        oracle: Any = _OwnGradient(gradient.reshape(1, -1, 1))
        channel: Any = self.channel
        nothing = np.zeros((1, gradient.size, 1))
        sent = self.channel.bytes_sent
        if self.state is None:
            self.state = self.method.start(nothing, oracle, channel)
        if self.channel.bytes_sent == sent:  # the start of a method may be its first round
            self.state = self.method.communicate(replace(self.state, x=nothing), oracle, channel)
        found: Array = getattr(self.state, "g_mean", -self.state.x)
        return np.ravel(np.asarray(found))


@dataclass
class _DDPHook:
    """A communication hook with compression; made by :func:`ddp_hook`."""

    feedback: str | Method
    compressor: Compressor | ByLength
    layers: bool
    seed: int
    group: Any
    __name__: str = "ddp_hook"
    __qualname__: str = "ddp_hook"
    _parts: dict[int, _FeedbackLoop] = field(default_factory=dict, repr=False)
    _order: list[int] = field(default_factory=list, repr=False)
    _waiting: list[Any] = field(default_factory=list, repr=False)

    @property
    def uplink_bits(self) -> int:
        """Bits of the messages of all processes so far, as the ledger of a run counts them."""
        return sum(int(part.channel.ledger.uplink_bits[0]) for part in self._parts.values())

    @property
    def bytes_sent(self) -> int:
        """Bytes of messages that this process has given to the network."""
        return sum(part.channel.bytes_sent for part in self._parts.values())

    def __call__(self, state, bucket):  # type: ignore[no-untyped-def]  # torch reads annotations
        """Answer a bucket of gradients by a future of what takes its place."""
        answer = torch_library().futures.Future()
        gradients = dict(zip(map(id, bucket.parameters()), bucket.gradients(), strict=True))
        if self.layers:
            for number, gradient in gradients.items():
                self._replace(number, [gradient])
            answer.set_result(bucket.buffer())
            return answer
        self._waiting.append((answer, bucket.buffer(), gradients))
        if bucket.is_last():
            self._replace_all()
        return answer

    def _replace_all(self) -> None:
        """Take the gradients of all buckets as one vector, in the order of the parameters.

        The last parameters are in the first bucket, until torch arranges the buckets anew.
        """
        every: dict[int, Any] = {}
        for _, _, gradients in reversed(self._waiting):
            every |= gradients
        self._order = self._order or list(every)
        if sorted(self._order) != sorted(every):
            raise Refusal(
                "the parameters that have gradients have changed; leave find_unused_parameters "
                "off, or compress every layer by itself (layers=True)"
            )
        self._replace(0, [every[number] for number in self._order])
        for answer, buffer, _ in self._waiting:
            answer.set_result(buffer)
        self._waiting.clear()

    def _replace(self, number: int, gradients: list[Any]) -> None:
        """Put the direction of a vector in the place of its gradients."""
        torch = torch_library()
        vector = torch.cat([g.detach().reshape(-1) for g in gradients])
        if number not in self._parts:
            self._parts[number] = self._part(vector.numel(), len(self._parts))
        found = self._parts[number].direction(vector.cpu().double().numpy())
        moved = torch.from_numpy(found).to(vector)
        for gradient, part in zip(
            gradients, moved.split([g.numel() for g in gradients]), strict=True
        ):
            gradient.copy_(part.view_as(gradient))

    def _part(self, d: int, number: int) -> _FeedbackLoop:
        distributed = torch_library().distributed
        chosen = self.compressor
        compressor = chosen if isinstance(chosen, Compressor) else chosen(d)
        compressor.check(d)
        method = _method(self.feedback, compressor, d)
        if not isinstance(method, CompressedGD):  # which takes unbiased ones of any variance here
            fitted_compressor(method, compressor, d)
        purpose = f"compressor {number}" if number else "compressor"
        rank, size = (f(self.group) for f in (distributed.get_rank, distributed.get_world_size))
        exchange = _exchange_by(distributed, self.group, size)
        return _FeedbackLoop(
            method, ProcessChannel(compressor, rank, size, exchange, self.seed, purpose)
        )


def ddp_hook(
    compressor: Compressor | ByLength | str,
    feedback: str | Method = "ef21",
    *,
    layers: bool = False,
    seed: int = 0,
    group: Any = None,
) -> _DDPHook:
    """Return a hook for ``DistributedDataParallel.register_comm_hook``: compressed gradients.

    Every process sends the bytes of its compressed message to all others, by the backend of the
    process group (gloo works everywhere). The bits of a message are those that a simulated run
    counts, and the last byte of each is filled.

    Parameters
    ----------
    compressor : Compressor, str or callable
        Of every process, or its name; or a function that gives one for the length of a vector.
    feedback : str or Method
        ``ef21``, ``ef``, ``diana``, ``none``, or one of these methods with gamma = 1 (the step
        size is the optimiser's), such as ``EF21SGDM(gamma=1, eta=0.1)``.
    layers : bool
        Whether every parameter tensor is a vector of its own; by default the whole model is one.
    seed : int
        Of random compressors.
    group : optional
        The process group; by default that of all processes.

    Returns
    -------
    _DDPHook
        With ``uplink_bits``, those of all processes, and ``bytes_sent`` by this one.

    Raises
    ------
    Refusal
        If the feedback is unknown; at the first gradient, if it does not fit the compressor.

    Notes
    -----
    Every process keeps as many vectors of the model's length as the method has in its state. The
    exchange waits for all processes and does not overlap with the backward pass.

    Examples
    --------
    >>> from certibit import ddp_hook
    >>> hook = ddp_hook("top-k:100", feedback="ef21")
    >>> hook.uplink_bits
    0
    """
    if isinstance(compressor, str):
        compressor = compressor_named(compressor)
    if isinstance(feedback, Method):
        known = isinstance(feedback, tuple(_METHODS.values()))
        if not known or getattr(feedback, "gamma", None) != 1:
            raise Refusal(
                f"{feedback} cannot be used as feedback; give EF21, EF, EF21SGDM, DIANA or "
                "CompressedGD with gamma=1: the optimiser has the step size"
            )
    elif feedback not in _METHODS or feedback == "ef21-sgdm":
        raise Refusal(
            f"the feedback {feedback!r} is unknown; choose none, ef, ef21 or diana, or give a "
            "method such as EF21SGDM(gamma=1, eta=0.1)"
        )
    return _DDPHook(feedback, compressor, layers, seed, group)


def _method(feedback: str | Method, compressor: Compressor, d: int) -> Method:
    """Return the method of a name; the alpha of DIANA is the largest that its theorem allows."""
    if isinstance(feedback, Method):
        return feedback
    if feedback == "diana":
        return DIANA(gamma=1, alpha=1 / (1 + compressor.omega(d)))
    named = {"none": CompressedGD(gamma=1), "ef": EF(gamma=1), "ef21": EF21(gamma=1)}
    return named[feedback]


def _exchange_by(distributed: Any, group: Any, size: int) -> _Exchange:
    """Return what gives bytes to all processes of a group, by ``torch.distributed``."""

    def exchange(payload: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        sent = torch_library().from_numpy(payload.copy())
        received = [sent.new_empty(sent.shape) for _ in range(size)]
        distributed.all_gather(received, sent, group=group)
        return [tensor.numpy() for tensor in received]

    return exchange
