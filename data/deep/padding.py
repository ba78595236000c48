"""Clients with unequally many examples, filled up to the largest of them."""

from itertools import zip_longest
from typing import Any

from certibit.data.deep.module_gradients import Tensor
from certibit.data.deep.torch_library import torch_library
from certibit.data.errors import Refusal


def unequal(inputs: Any, labels: Any) -> bool:
    """Return whether examples are lists of one part for every client, not all of one length."""
    return len({*_lengths(inputs), *_lengths(labels)}) > 1


def padded(inputs: Any, labels: Any) -> tuple[Tensor, Tensor, Tensor]:
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
