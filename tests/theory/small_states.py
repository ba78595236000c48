"""States of small methods that tests write."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Model:
    x: Any  # (1, d, R)


@dataclass(frozen=True)
class Memory:
    x: Any  # (1, d, R), the model; or (n, d, R), those of the clients
    h: Any  # (n, d, R), a vector of each client, such as a gradient or a shift


@dataclass(frozen=True)
class Pair:
    x: Any  # (1, d, R), the model
    v: Any  # (1, d, R), another vector of the server
