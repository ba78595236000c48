"""The names that the file of a method imports."""

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.backend import copies, everyone, masked, mean, squared_norm, total, where
from certibit.solvers.method import (
    Every,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    Varying,
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
    "Varying",
    "WithProbability",
    "copies",
    "everyone",
    "masked",
    "mean",
    "squared_norm",
    "total",
    "where",
]
