"""Losses by one string, such as ``huber:1``."""

from dataclasses import fields
from difflib import get_close_matches

from certibit.data.errors import Refusal
from certibit.data.losses.base import Loss
from certibit.data.losses.logistic_loss import Logistic
from certibit.data.losses.losses import Huber, LeastSquares, Poisson, SmoothedHinge
from certibit.data.losses.robust_losses import Tukey, Welsch
from certibit.data.own.own_file import is_own, own_instance

_CONVEX = (Logistic, LeastSquares, SmoothedHinge, Huber, Poisson)
_LOSSES: tuple[type[Loss], ...] = (*_CONVEX, Welsch, Tukey)
_BY_NAME = {loss.name: loss for loss in _LOSSES}
LOSSES = tuple(_BY_NAME)
"""The names of the losses of one prediction a row."""


def loss_named(selector: str) -> Loss:
    """Return the loss of a name; a parameter follows after a colon.

    One of your own is ``path/to/file.py:Name``, or ``path/to/file.py:Name:0.5`` with values for
    its fields.

    Raises
    ------
    Refusal
        If the name is unknown, with the nearest ones, or the parameter cannot be read.

    Examples
    --------
    >>> loss_named("huber:2")
    Huber(delta=2.0)
    """
    if is_own(selector):
        return own_instance(selector, Loss, "loss")  # type: ignore[type-abstract]
    name, colon, parameter = selector.partition(":")
    if name not in _BY_NAME:
        near = get_close_matches(name, LOSSES, n=2, cutoff=0.5)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(LOSSES)}"
        )
        raise Refusal(f"the loss {name!r} is unknown; {hint}")
    loss = _BY_NAME[name]
    if not colon:
        return loss()
    taken = [field.name for field in fields(loss)]
    try:
        (only,), value = taken, float(parameter)
    except ValueError:
        expected = f"{name}:{taken[0].upper()}, with a number" if taken else f"{name} alone"
        raise Refusal(f"the loss {selector!r} cannot be read; expected {expected}") from None
    return loss(**{only: value})
