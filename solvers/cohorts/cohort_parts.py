"""The part of a problem that the clients of a cohort need."""

import numpy as np

from certibit.data.problem import Problem
from certibit.solvers.cohorts.crowd import Clients
from certibit.solvers.parts import part_of


class CohortParts:
    """The parts of a problem; that of the last cohort is held, and the first one is checked."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._clients: Clients | None = None
        self._part = problem

    def of(self, clients: Clients) -> Problem:
        """Return the part of some clients.

        Raises
        ------
        Refusal
            If the problem cannot be divided.
        """
        if len(clients) == self._problem.n:
            return self._problem
        if self._clients is None or not np.array_equal(self._clients, clients):
            first = self._clients is None
            some: slice | Clients = clients
            if clients[-1] - clients[0] == len(clients) - 1:  # one after the other
                some = slice(int(clients[0]), int(clients[-1]) + 1)
            self._part = part_of(self._problem, some, compared=first, views=True)
            self._clients = clients
        return self._part
