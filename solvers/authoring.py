"""What a method is written with: one short list of names for its author."""

from bitbound.data.arrays import Array
from bitbound.data.errors import Refusal
from bitbound.solvers.backend import copies, everyone, masked, mean, squared_norm, total, where
from bitbound.solvers.method import (
    Every,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    WithProbability,
)

__all__ = [
    "Array",
    "Every",
    "Functions",
    "Gradients",
    "Messages",
    "Method",
    "Needs",
    "Refusal",
    "Solution",
    "WithProbability",
    "copies",
    "everyone",
    "masked",
    "mean",
    "squared_norm",
    "total",
    "where",
]
