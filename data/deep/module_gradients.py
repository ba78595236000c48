"""Losses and gradients of a torch module for all clients and runs at once.

The parameters of a module are one vector of R^d, in the order of ``named_parameters``. The loss of
one client at one point is a function of this vector; ``torch.func.vmap`` maps it over clients and
over runs.
"""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal


def torch_library() -> Any:
    """Import torch.

    Raises
    ------
    Refusal
        If it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise Refusal("torch is not installed; install certibit[torch]") from None


Tensor = Any
"""A tensor of torch."""
TorchModule = Any
"""A ``torch.nn.Module``."""
LossFunction = Callable[[Tensor, Tensor], Tensor]
"""Of outputs and labels of some examples: their mean loss, a tensor without axes."""


@dataclass(frozen=True, eq=False)
class ModuleGradients:
    """Losses and gradients of a module with a loss, at points given as numpy arrays.

    Parameters
    ----------
    module : torch.nn.Module
        It is called with the inputs of some examples, (m, ...).
    loss : callable
        Of the outputs and the labels, (m, ...): the mean loss.
    """

    module: TorchModule
    loss: LossFunction

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters, in their order in the vector."""
        return {name: tuple(p.shape) for name, p in self.module.named_parameters()}

    @cached_property
    def start(self) -> NDArray[np.float64]:
        """The present parameters of the module, (d,)."""
        parts = [p.detach().cpu().double().numpy().ravel() for p in self.module.parameters()]
        return np.concatenate(parts)

    @property
    def dtype(self) -> Any:
        """The floating type of the module's parameters, in which everything is computed."""
        return next(self.module.parameters()).dtype

    def tensors(self, inputs: Any, labels: Any) -> tuple[Tensor, Tensor]:
        """Return examples as tensors, inputs that are floats in the type of the module."""
        torch = torch_library()
        examples = torch.as_tensor(inputs)
        if examples.is_floating_point():
            examples = examples.to(self.dtype)
        return examples, torch.as_tensor(labels)

    def named(self, x: Tensor) -> dict[str, Tensor]:
        """Return a vector (d,) as the parameters by name."""
        found, first = {}, 0
        for name, shape in self.shapes.items():
            last = first + int(np.prod(shape, dtype=int))
            found[name] = x[first:last].reshape(shape)
            first = last
        return found

    def outputs(self, x: Tensor, inputs: Tensor) -> Tensor:
        """Return the outputs of the module with the parameters x, (d,)."""
        return torch_library().func.functional_call(self.module, self.named(x), (inputs,))

    def client_loss(
        self, x: Tensor, inputs: Tensor, labels: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """Return the loss of one client at one point (d,), of examples (m, ...).

        With weights (m,) it is the sum of the losses of the single examples with these.
        """
        outputs = self.outputs(x, inputs)
        if weights is None:
            return self.loss(outputs, labels)

        def of_one(output: Tensor, label: Tensor) -> Tensor:
            return self.loss(output[None], label[None])

        return weights @ torch_library().func.vmap(of_one)(outputs, labels)

    def grad(self, x: Array, *examples: Tensor) -> Array:
        """Return the gradient of every client in every run: (n, d, R).

        Points are (n, d, R) or (1, d, R); examples are those of :meth:`client_loss`, (n, m, ...).
        """
        return self._by_run(torch_library().func.grad(self.client_loss), x, *examples)

    def sampled_grad(self, x: Array, inputs: Tensor, labels: Tensor) -> Array:
        """Return gradients on examples of every client and run, (n, R, m, ...): (n, d, R)."""
        torch = torch_library()
        n, runs = inputs.shape[:2]
        points = self.points(x).expand(n, -1, -1).flatten(0, 1)
        mapped = torch.func.vmap(torch.func.grad(self.client_loss))
        with _plain_attention():
            found = mapped(points, inputs.flatten(0, 1), labels.flatten(0, 1))
        return _as_in(x, found.reshape(n, runs, -1).movedim(1, -1))

    def losses(self, x: Array, *examples: Tensor) -> Array:
        """Return the loss of every client in every run: (n, R)."""

        def value(point: Tensor, *of_client: Tensor) -> Tensor:
            # vmap has rules for the parts of a recurrent layer, into which only a derivative
            # takes it apart
            return torch_library().func.vjp(lambda at: self.client_loss(at, *of_client), point)[0]

        return self._by_run(value, x, *examples)

    def _by_run(self, function: Callable[..., Tensor], x: Array, *examples: Tensor) -> Array:
        """Map a function of a point and examples over the clients, one run after the other."""
        points = self.points(x).expand(len(examples[0]), -1, -1)
        mapped = torch_library().func.vmap(function)
        runs = range(points.shape[1])
        with _plain_attention():
            found = [mapped(points[:, run], *examples).detach() for run in runs]
        return _as_in(x, torch_library().stack(found, dim=-1))

    def points(self, x: Array) -> Tensor:
        """Return points (., d, R) of numpy or torch as a tensor (., R, d) of the module's type.

        Raises
        ------
        Refusal
            If they are of another library.
        """
        torch = torch_library()
        if isinstance(x, torch.Tensor):
            return x.movedim(1, 2).to(self.dtype)
        if not isinstance(x, np.ndarray):
            raise Refusal(
                f"a network takes points of numpy or torch, not of {type(x).__module__}; run it "
                'with library="numpy"'
            )
        moved = np.ascontiguousarray(np.moveaxis(x, 1, 2))
        return torch.from_numpy(moved).to(self.dtype)


def _plain_attention() -> AbstractContextManager[None]:
    """Compute attention by products and a softmax, which vmap has rules for."""
    attention = importlib.import_module("torch.nn.attention")
    found: AbstractContextManager[None] = attention.sdpa_kernel(attention.SDPBackend.MATH)
    return found


def _as_in(x: Array, values: Tensor) -> Array:
    """Return a tensor as 64-bit floats of numpy, or as a tensor if x is one, in its type."""
    if isinstance(x, torch_library().Tensor):
        return values.detach().to(x.dtype)
    return values.detach().double().numpy()
