"""A torch module with a loss and the data of n clients as a problem."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array, array_namespace
from certibit.data.deep.module_gradients import (
    LossFunction,
    ModuleGradients,
    Tensor,
    TorchModule,
    torch_library,
)
from certibit.data.errors import Refusal
from certibit.data.files.splits import split
from certibit.data.own.description import description
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import NonconvexProblem, start_at

UNKNOWN = (
    "neither the constants nor the minimum of a network are known: no theorem speaks about these "
    "parameters, no rule gives them, and gap is the loss above a lower bound, not above the minimum"
)
"""Which promises mean nothing."""


def _padded(inputs: Any, labels: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return inputs and labels (n, m, ...), and how many of the m are a client's own, (n,).

    m is the number of the largest client; the first example of the others stands again and again
    behind their own.

    Raises
    ------
    Refusal
        Unless every client has an example, as many labels as inputs, and examples of one shape.
    """
    torch = torch_library()
    sizes = _lengths(labels)
    for client, (given, answers) in enumerate(zip_longest(_lengths(inputs), sizes, fillvalue=0)):
        if given != answers or not given:
            raise Refusal(
                f"client {client} has {given} inputs and {answers} labels; give every client at "
                "least one example, and one label for every input"
            )
    places = torch.arange(max(sizes))
    filled = []
    for parts in (inputs, labels):
        tensors = [torch.as_tensor(part) for part in parts]
        shapes = {tuple(part.shape[1:]) for part in tensors}
        if len(shapes) > 1:
            raise Refusal(f"examples have the shapes {sorted(shapes)}; give all the same")
        filled.append(
            torch.stack(
                [part[places * (places < size)] for part, size in zip(tensors, sizes, strict=True)]
            )
        )
    return filled[0], filled[1], torch.tensor(sizes)


def _lengths(parts: Any) -> list[int]:
    """Return the lengths of the parts of a list; [] for anything else."""
    try:
        return list(map(len, parts)) if isinstance(parts, list | tuple) else []
    except TypeError:
        return []


@dataclass(frozen=True)
class ExampleBatch:
    """Stochastic gradients from b examples of every client, drawn with replacement.

    Gradients of such a problem are counted in examples: b for a stochastic one, and for an exact
    one those of the largest client.

    Parameters
    ----------
    b : int
        Number of examples.

    Raises
    ------
    Refusal
        Unless b is a whole number of at least 1.
    """

    b: int

    def __post_init__(self) -> None:
        if not isinstance(self.b, int) or isinstance(self.b, bool) or self.b < 1:
            raise Refusal(f"a batch of {self.b!r} examples is not possible; give a whole number")

    def numbers(self, problem: "NeuralProblem") -> int:
        """Return how many uniform numbers a batch of a client takes: b."""
        return self.b

    def gradient(
        self,
        problem: "NeuralProblem",
        x: Array,
        uniforms: Array,
        exact: Callable[[Array], Array],
    ) -> Array:
        """Return the gradients of batches at points, (n, d, R), from (n, b, R) uniform numbers."""
        xp = array_namespace(uniforms)
        m = problem.m if problem.sizes is None else xp.asarray(problem.sizes)[:, None, None]
        return problem.grad_of_examples(x, xp.astype(uniforms * m, xp.int64))

    def counted(self, problem: "NeuralProblem", sampled: bool) -> int:
        """Return what a gradient of a client counts: b examples, or m."""
        return self.b if sampled else problem.m

    def largest_variance(self, problem: "NeuralProblem") -> float:
        """Return infinity: no bound is known."""
        return math.inf


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NeuralProblem(NonconvexProblem):
    """f_i(x) = loss(module with parameters x on the inputs of client i, the labels of client i).

    The parameters of the module are the vector x of R^d. Neither smoothness constants nor the
    minimum are known. ``gap`` is f(x) minus a lower bound of the loss: a budget ``gap=0.1`` stops
    at a loss of 0.1 above it, and ``squared_gradient=`` at |grad f|^2. No theorem speaks about
    such a problem and no rule gives the parameters of a method; take them from a grid.

    Parameters
    ----------
    model : ModuleGradients
        The module with its loss.
    inputs, labels : torch tensors (n, m, ...)
        The m examples of every client.
    sizes : torch tensor (n,), optional
        How many of them count, the first ones, if not all.
    lower_bound : float
        Of the loss: 0 for cross-entropy and squares.
    title : str
        The name of the problem.
    test : pair of torch tensors, optional
        Inputs and labels that no client has.

    Examples
    --------
    >>> from torch import nn
    >>> from sklearn.datasets import load_iris
    >>> from certibit import NeuralProblem
    >>> rows, kinds = load_iris(return_X_y=True)
    >>> network = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    >>> NeuralProblem.of(network, nn.functional.cross_entropy, rows, kinds, clients=3)
    NeuralProblem('Sequential@3', n=3, d=43, m=50)
    """

    model: ModuleGradients
    inputs: Tensor
    labels: Tensor
    sizes: Tensor | None = None
    lower_bound: float = 0.0
    title: str = ""
    test: tuple[Tensor, Tensor] | None = None

    promises: ClassVar[str] = UNKNOWN

    @classmethod
    def of(
        cls, module: TorchModule, loss: LossFunction, inputs: Any, labels: Any, *,
        clients: int | None = None, rule: str = "shuffled", seed: int = 0,
        x_0: ArrayLike | None = None, batch: int | None = None,
        test: tuple[Any, Any] | None = None, lower_bound: float = 0.0, name: str = "",
    ) -> Self:  # fmt: skip
        """Make the problem of a module, a loss and data.

        Parameters
        ----------
        module : torch.nn.Module
            Called with inputs (m, ...) it gives outputs. Its parameters are where runs start, and
            are never changed.
        loss : callable
            Mean loss of outputs and labels, such as ``torch.nn.functional.cross_entropy``.
        inputs, labels : arrays or tensors
            (N, ...), which are dealt to the clients; or without ``clients`` those of every client,
            (n, m, ...), or as lists of n arrays (m_i, ...). Inputs that are floats get the type of
            the module's parameters.
        clients : int, optional
            Number of clients n; each gets N // n examples.
        rule : str
            How examples are dealt: ``shuffled``, or ``similarity:<percent>``.
        seed : int
            Of the split.
        x_0 : array (d,) or (1, d, R), optional
            Where runs start, if not at the parameters of the module.
        batch : int, optional
            Examples of a stochastic gradient of a client, drawn with replacement. Without it,
            gradients are exact.
        test : pair of arrays, optional
            Inputs and labels for :meth:`accuracy` that no client has.
        lower_bound : float
            Of the loss.
        name : str
            Of the problem; by default that of the module's class and n.

        Raises
        ------
        Refusal
            If torch is missing, shapes do not fit, the module has no parameters, or its output
            depends on chance or on other examples.
        """
        torch = torch_library()
        _require_plain(torch, module)
        model = ModuleGradients(module, loss)
        sizes = None
        if clients is None and len({*_lengths(inputs), *_lengths(labels)}) > 1:
            inputs, labels, sizes = _padded(inputs, labels)
        examples, answers = model.tensors(inputs, labels)
        if len(examples) != len(answers):
            raise Refusal(
                f"there are {len(examples)} inputs and {len(answers)} labels; give one label for "
                "every input"
            )
        if clients is not None:
            indices = torch.as_tensor(split(np.asarray(answers), clients, rule, seed))
            examples, answers = examples[indices], answers[indices]
        elif answers.ndim < 2 or examples.shape[:2] != answers.shape[:2]:
            raise Refusal(
                f"inputs of shape {tuple(examples.shape)} and labels of shape "
                f"{tuple(answers.shape)} are not those of every client; give (n, m, ...) each, or "
                "clients="
            )
        return cls(
            x_0=start_at(model.start if x_0 is None else x_0),
            model=model,
            inputs=examples,
            labels=answers,
            sizes=sizes,
            noise=None if batch is None else ExampleBatch(batch),
            lower_bound=lower_bound,
            test=None if test is None else model.tensors(*test),
            title=name or f"{type(module).__name__}@{len(examples)}",
        )

    @property
    def name(self) -> str:
        """The name of the problem."""
        return self.title

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.inputs.shape[0])

    @property
    def m(self) -> int:
        """Examples of every client, or of the largest one."""
        return int(self.inputs.shape[1])

    @property
    def counted(self) -> Tensor:
        """Whether an example is a client's own, and does not fill it up, (n, m)."""
        torch = torch_library()
        sizes = self.m if self.sizes is None else self.sizes[:, None]
        return torch.arange(self.m, device=self.inputs.device).expand(self.n, -1) < sizes

    @cached_property
    def examples(self) -> tuple[Tensor, ...]:
        """Inputs and labels of all clients, and the weights (n, m) of examples if sizes differ."""
        if self.sizes is None:
            return self.inputs, self.labels
        weights = self.counted.to(self.model.dtype) / self.sizes[:, None]
        return self.inputs, self.labels, weights

    @property
    def precision(self) -> float:
        """The relative rounding error of values and gradients, by the type of the module."""
        return float(torch_library().finfo(self.model.dtype).eps)

    @property
    def constants(self) -> RelaxedConstants:
        """NaN: no constant is known."""
        return RelaxedConstants(math.nan, math.nan, sigma=math.nan)

    @property
    def x_star(self) -> Array:
        """NaN: no minimiser is known."""
        return np.nan * self.x_0[:, :, :1]

    @property
    def grad_star(self) -> Array:
        """NaN: no minimiser is known."""
        return np.full((self.n, self.d, 1), np.nan)

    @property
    def f_star(self) -> float:
        """The lower bound of the loss."""
        return self.lower_bound

    def grad(self, x: Array) -> Array:
        """Gradients of all f_i at (n, d, R), or at one point (1, d, R), as (n, d, R)."""
        return self.model.grad(x, *self.examples)

    def grad_of_examples(self, x: Array, places: Array) -> Array:
        """Gradients on the examples at some places (n, b, R) of the clients, as (n, d, R)."""
        torch = torch_library()
        chosen = places if isinstance(places, torch.Tensor) else torch.tensor(places)
        chosen = chosen.movedim(1, 2)
        client = torch.arange(self.n, device=chosen.device)[:, None, None]
        return self.model.sampled_grad(x, self.inputs[client, chosen], self.labels[client, chosen])

    def value(self, x: Array) -> Array:
        """f(x), the mean loss of the clients, at shared points (1, d, R), as an array (R,)."""
        return self.client_values(x).mean(axis=0)

    def gap(self, x: Array) -> Array:
        """f(x) minus the lower bound, at shared points (1, d, R), as an array (R,)."""
        return self.value(x) - self.lower_bound

    def client_values(self, x: Array) -> Array:
        """f_i(x_i) of every client at (n, d, R) or (1, d, R), as (n, R)."""
        return self.model.losses(x, *self.examples)

    def accuracy(self, x: Array) -> Array:
        """Return the share of labels that have the largest output, at (1, d, R): (R,).

        The share of the test examples, or of the clients' examples if there are none for tests.
        """
        inputs, labels = self.test or (self.inputs[self.counted], self.labels[self.counted])
        found = [
            (self.model.outputs(point, inputs).argmax(dim=-1) == labels).double().mean().item()
            for point in self.model.points(x)[0]
        ]
        return np.array(found)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the module's structure and code, the loss, the data and the start."""
        parts = [
            type(self).__qualname__,
            repr(self.model.module),
            [description(type(part).forward) for part in self.model.module.modules()],
            [[k, description(v.numpy())] for k, v in self.model.module.named_buffers()],
            description(self.model.loss),
            [
                description(tensor.numpy())
                for tensor in (self.inputs, self.labels, *(self.test or ()))
            ],
            [description(self.x_0), str(self.model.dtype), self.lower_bound],
        ] + ([] if self.sizes is None else [self.sizes.tolist()])
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def specification(self) -> dict[str, object]:
        """The definition of the problem, ready for JSON, and which promises mean nothing."""
        return super().specification | {
            "m": self.m,
            "torch": torch_library().__version__,
            "promises": self.promises,
        }

    def __repr__(self) -> str:
        return f"NeuralProblem({self.name!r}, n={self.n}, d={self.d}, m={self.m})"


def _require_plain(torch: Any, module: TorchModule) -> None:
    """Refuse a module without parameters, or whose output is no function of one example."""
    if not isinstance(module, torch.nn.Module):
        raise Refusal(f"{module!r} is no module; give a torch.nn.Module")
    if not any(p.requires_grad for p in module.parameters()):
        raise Refusal(f"{type(module).__name__} has no parameters; give a module with some")
    types = {p.dtype for p in module.parameters()}
    if len(types) > 1:
        raise Refusal(
            f"{type(module).__name__} has parameters of {', '.join(sorted(map(str, types)))}; "
            "give them one type, as by module.float()"
        )
    normal = torch.nn.modules.batchnorm._BatchNorm
    dropout = torch.nn.modules.dropout._DropoutNd
    for part in module.modules():
        if part.training and (
            isinstance(part, normal | dropout) or getattr(part, "dropout", 0.0) not in (0.0, None)
        ):
            raise Refusal(
                f"{type(part).__name__} makes an output depend on chance or on other examples, so "
                "that there is no f_i; leave it out, or call module.eval() first"
            )
