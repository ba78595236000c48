"""Compressors and error feedback for ``torch.nn.parallel.DistributedDataParallel``.

The hook takes the gradient of this process and returns the vector that the optimiser uses in its
place, the same in all processes. To compute it, a method class does one round in the world of a
process: EF21 with gamma = 1 sends C(grad - g_i), and the mean of the g_i is returned.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.deep.torch_library import torch_library
from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor as compressor_named
from certibit.solvers.deep.process_world import Exchange, OwnGradient, ProcessChannel
from certibit.solvers.method import Method
from certibit.solvers.methods.compressed_gd import CompressedGD
from certibit.solvers.methods.diana import DIANA
from certibit.solvers.methods.ef import EF
from certibit.solvers.methods.ef21 import EF21
from certibit.solvers.methods.ef21_sgdm import EF21SGDM
from certibit.solvers.simulation.experiment import fitted_compressor

_METHODS = {"none": CompressedGD, "ef": EF, "ef21": EF21, "ef21-sgdm": EF21SGDM, "diana": DIANA}

ByLength = Callable[[int], Compressor]
"""Of the length of a vector: its compressor."""


@dataclass
class FeedbackLoop:
    """A method that does one round for every gradient of one vector."""

    method: Method
    channel: ProcessChannel
    state: Any = None

    def direction(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Do the round of a gradient, (d,); the direction for the optimiser, (d,).

        That is the estimate g_mean, or for a method without one the step that it takes from 0 with
        gamma = 1.
        """
        oracle: Any = OwnGradient(gradient.reshape(1, -1, 1))
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
class DDPHook:
    """A communication hook with compression; made by :func:`ddp_hook`."""

    feedback: str | Method
    compressor: Compressor | ByLength
    layers: bool
    seed: int
    group: Any
    __name__: str = "ddp_hook"
    __qualname__: str = "ddp_hook"
    _parts: dict[int, FeedbackLoop] = field(default_factory=dict, repr=False)
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

    def _part(self, d: int, number: int) -> FeedbackLoop:
        distributed = torch_library().distributed
        chosen = self.compressor
        compressor = chosen if isinstance(chosen, Compressor) else chosen(d)
        compressor.check(d)
        method = _method(self.feedback, compressor, d)
        if not isinstance(method, CompressedGD):  # which takes unbiased ones of any variance here
            fitted_compressor(method, compressor, d)
        purpose = f"compressor {number}" if number else "compressor"
        rank, size = (f(self.group) for f in (distributed.get_rank, distributed.get_world_size))
        exchange = exchange_by(distributed, self.group, size)
        return FeedbackLoop(
            method, ProcessChannel(compressor, rank, size, exchange, self.seed, purpose)
        )


def ddp_hook(
    compressor: Compressor | ByLength | str,
    feedback: str | Method = "ef21",
    *,
    layers: bool = False,
    seed: int = 0,
    group: Any = None,
) -> DDPHook:
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
    DDPHook
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
    return DDPHook(feedback, compressor, layers, seed, group)


def _method(feedback: str | Method, compressor: Compressor, d: int) -> Method:
    """Return the method of a name; the alpha of DIANA is the largest that its theorem allows."""
    if isinstance(feedback, Method):
        return feedback
    if feedback == "diana":
        return DIANA(gamma=1, alpha=1 / (1 + compressor.omega(d)))
    named = {"none": CompressedGD(gamma=1), "ef": EF(gamma=1), "ef21": EF21(gamma=1)}
    return named[feedback]


def exchange_by(distributed: Any, group: Any, size: int) -> Exchange:
    """Return what gives bytes to all processes of a group, by ``torch.distributed``."""

    def exchange(payload: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        sent = torch_library().from_numpy(payload.copy())
        received = [sent.new_empty(sent.shape) for _ in range(size)]
        distributed.all_gather(received, sent, group=group)
        return [tensor.numpy() for tensor in received]

    return exchange
