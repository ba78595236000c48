"""Planted faults of random choices, the engine, budgets and what is recorded."""

from planting import fault

RUN_FAULTS = [
    fault(
        "coins of probability p^2",
        "solvers.simulation.channel",
        ('self._shared("coin", 1) < p)', 'self._shared("coin", 1) < p * p)'),
        on="marina",
    ),
    fault(
        "cohorts of one client more",
        "solvers.simulation.channel",
        ("(ranks < m)[:, None, :]", "(ranks <= m)[:, None, :]"),
        on="tamuna",
        m=2,
        s=2,
    ),
    fault(
        "all clients draw the same subset",
        "solvers.simulation.channel",
        ("1 if compressor.shared else senders", "1"),
        on="diana",
    ),
    fault(
        "masks not permuted",
        "solvers.simulation.channel",
        (
            "chosen = rows[ranks]",
            "chosen = rows[np.sort(ranks, axis=0)]",
        ),
        on="compressed-scaffnew",
        rule="best",
    ),
    fault(
        "owners: an entry has one too many",
        "solvers.simulation.ownership",
        ("(place - s * entry) % m < s,", "(place - s * entry) % m <= s,"),
        on="compressed-scaffnew",
        rule="best",
    ),
    fault(
        "engine: communicates with p^2",
        "solvers.simulation.randomness",
        ("(1, 1))[0, 0] < p)", "(1, 1))[0, 0] < p**2)"),
        on="scaffnew",
        rule="paper",
    ),
    fault(
        "engine: finished runs are put back in the wrong place",
        "solvers.state",
        ("changed[:, :, runs] = new", "changed[:, :, runs] = new[:, :, ::-1]"),
        on="locodl",
        rule="balanced",
    ),
    fault(
        "engine: gradients of another batch position",
        "solvers.simulation.channel",
        (
            "return replace(self, runs=some_of(self.runs, runs))",
            "return replace(self, runs=self.runs[: len(runs)])",
        ),
        on="locodl",
        rule="balanced",
    ),
    fault(
        "Psi: f - f* at twice the point",
        "theory.potential",
        (
            "result = result + term.weight * problem.gap(term.point)",
            "result = result + term.weight * problem.gap(2 * term.point)",
        ),
        on="agd",
    ),
    # Independence, and what is recorded
    fault(
        "one coin for all clients",
        "solvers.simulation.channel",
        (
            'self._shared("client coins", self.n)',
            'np.broadcast_to(self._shared("client coins", 1), (self.n, 1, len(self.runs)))',
        ),
        on="gradskip",
    ),
    fault(
        "f - f* replaced by its running minimum",
        "solvers.runs.points",
        (
            '"gap": gap,',
            '"gap": np.minimum(gap, (self.now.rows or [{"gap": gap}])[-1]["gap"][: gap.size]),',
        ),
        on="agd",
    ),
    fault(
        "rounds counted in every run",
        "solvers.runs.loop",
        ("now.rounds[now.active[talking]] += 1", "now.rounds[now.active] += 1"),
        on="scaffnew",
        rule="best",
    ),
    fault(
        "bits sent recorded as bits received",
        "solvers.runs.points",
        ('spent["downlink_bits"] / n', 'spent["uplink_bits"] / n'),
        on="diana",
        rule="b",
    ),
    fault(
        "every run ends by the same word",
        "solvers.runs.points",
        ("now.ending[run] = ending", 'now.ending[run] = "rounds"'),
        on="gd",
    ),
    fault(
        "a rate without (1 - gamma L)^2",
        "theory.formulas.gradient_step",
        ("max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2)", "(1 - gamma * mu) ** 2"),
        on="scaffnew",
        rule="paper",
    ),
]

LOOP, POINTS, BUDGET = "solvers.runs.loop", "solvers.runs.points", "solvers.runs.budget"

_ON_DIANA = [
    ("trace: the smallest gap so far", POINTS, "gap = host(problem.gap(x))",
     'gap = np.minimum(host(problem.gap(x)), (self.now.rows or [{"gap": np.inf}])[-1]["gap"])'),
    ("trace: distance of the start", POINTS, "squared_norm(x - problem.x_star)",
     "squared_norm(x - 0.999 * problem.x_star)"),
    ("trace: a round for every run", LOOP, "now.rounds[now.active[talking]] += 1",
     "now.rounds[now.active] += 1"),
    ("trace: synchronisations as rounds", POINTS,
     '"synchronisations": spent["synchronisations"]',
     '"synchronisations": found["rounds"]'),
    ("budget: always the same ending", POINTS, "now.ending[run] = ending",
     'now.ending[run] = "iterations"'),
    ("budget: one round more", BUDGET, 'point["rounds"] / self.rounds',
     'point["rounds"] / (self.rounds + 1)'),
    ("budget: bits by what is received", BUDGET, 'point["uplink_bits"] / self.bits',
     'point["downlink_bits"] / self.bits'),
    ("budget: ten times the gap", BUDGET, "np.where(now <= self.accuracy,",
     "np.where(now <= 10 * self.accuracy,"),
    ("trace: Psi halved after the start", POINTS, "host(point.lyapunov)[point.positions],",
     "host(point.lyapunov)[point.positions] / (1 + (point.iteration > 0)),"),
    ("trace: saved as single floats", "solvers.runs.trace", "**models, **self.columns}",
     "**models, **{n: x.astype('f4') if x.dtype.kind == 'f' else x for n, x in"
     " self.columns.items()}}"),
    *((f"budget: that of {what} ends a record late", POINTS, f"if budget.{what} is not None:",
       f"if budget.{what} is not None and False:") for what in ("bits", "gradients", "rounds")),
    ("record: every other round", BUDGET, "np.maximum(rounds + self.every",
     "np.maximum(rounds + 2 * self.every"),
]  # fmt: skip

RUN_FAULTS += [
    fault(name, module, (right, wrong), on="diana", rule="b", compressor="rand-k:2")
    for name, module, right, wrong in _ON_DIANA
]
