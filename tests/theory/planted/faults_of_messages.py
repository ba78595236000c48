"""Planted faults of compressors, wire formats, accounts, random choices and the engine."""

from planting import fault

MESSAGE_FAULTS = [
    # Compressors
    fault(
        "natural: a dithering that returns its input (field)",
        "solvers.backend",
        ('rounded = scale * _viewed(scaled, "f")', "rounded = 1.0 * x"),
        on="diana",
        compressor="natural",
    ),
    fault(
        "natural: rounds to nearest, biased",
        "solvers.backend",
        ("((1 << _RANDOM_BITS) - 1 - bits)", "((1 << _RANDOM_BITS - 1) + 0 * bits)"),
        on="diana",
        compressor="natural",
    ),
    fault(
        "natural: sign lost",
        "solvers.backend",
        ('scale * _viewed(scaled, "f")', 'xp.abs(scale * _viewed(scaled, "f"))'),
        on="diana",
        compressor="natural",
    ),
    fault(
        "natural: a mantissa short of bits, biased",
        "solvers.compressors.natural",
        ("uniforms * 2.0**_BITS", "uniforms * 2.0 ** (_BITS - 1)"),
        on="diana",
        compressor="natural",
    ),
    fault(
        "dithering: levels of s + 1",
        "solvers.compressors.quantisation",
        ("return norm / self.s * levels", "return norm / (self.s + 1) * levels"),
        on="diana",
        compressor="dithering:3",
    ),
    fault(
        "dithering: always rounds down",
        "solvers.compressors.quantisation",
        ("uniforms < levels - whole", "uniforms > 2 + levels - whole"),
        on="diana",
        compressor="dithering:3",
    ),
    fault(
        "dithering: omega of the square root alone",
        "solvers.compressors.quantisation",
        ("return min(d / (4 * self.s**2), sqrt(d) / self.s)", "return 0.5 / self.s**2"),
        on="diana",
        compressor="dithering:3",
    ),
    fault(
        "ternary: probability squared",
        "solvers.compressors.quantisation",
        ("uniforms * largest < size", "uniforms**0.5 * largest < size"),
        on="diana",
        compressor="ternary",
    ),
    fault(
        "sign: scale without 1/d",
        "solvers.compressors.quantisation",
        (
            "return feature_sum(xp.abs(x)) / x.shape[1], xp.copysign(xp.ones_like(x), x)",
            "return feature_sum(xp.abs(x)), xp.copysign(xp.ones_like(x), x)",
        ),
        on="ef21",
        compressor="sign",
    ),
    fault(
        "rand-k: not scaled by d/k",
        "solvers.compressors.selection",
        ("values * (d / self.k)", "values"),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "rand-k: omega = d/k",
        "solvers.compressors.selection",
        ("return d / self.k - 1", "return d / self.k"),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "rand-k: omega too small by 1/2",
        "solvers.compressors.selection",
        ("return d / self.k - 1", "return d / self.k - 1.5"),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "rand-k: indices drawn with replacement",
        "solvers.compressors.selection",
        ("== t, axis=0), j, t)", "== t, axis=0), t, t)"),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "rand-k: last feature never chosen",
        "solvers.compressors.selection",
        ("uniforms[:, i, :] * (j + 1)", "uniforms[:, i, :] * j"),
        on="diana",
        compressor="rand-k:1",
    ),
    fault(
        "top-k: keeps the smallest (field)",
        "solvers.compressors.selection",
        ("xp.argsort(-xp.abs(x), axis=1", "xp.argsort(xp.abs(x), axis=1"),
        on="ef21",
        compressor="top-k:2",
    ),
    fault(
        "top-k: keeps the largest with their signs",
        "solvers.compressors.selection",
        ("xp.argsort(-xp.abs(x), axis=1", "xp.argsort(-x, axis=1"),
        on="ef21",
        compressor="top-k:2",
    ),
    fault(
        "l1: sign lost",
        "solvers.compressors.selection",
        ("xp.sign(xp.take_along_axis(x, index, axis=1)) * norm", "norm"),
        on="diana",
        compressor="l1",
    ),
    fault(
        "l1: drawn by the squares",
        "solvers.compressors.selection",
        ("_drawn(xp.abs(x), uniforms)", "_drawn(x * x, uniforms)"),
        on="diana",
        compressor="l1",
    ),
    fault(
        "rand-k+natural: omegas added",
        "solvers.compressors.composition",
        ("return 9 * d / (8 * self.k) - 1", "return d / self.k - 1 + 1 / 8"),
        on="diana",
        compressor="rand-k:2+natural",
    ),
    fault(
        "rand-k+natural: one draw for two purposes",
        "solvers.compressors.composition",
        (
            "random_bits(uniforms[:, self.k :, :])",
            "random_bits(uniforms[:, : self.k, :])",
        ),
        on="diana",
        compressor="rand-k:2+natural",
    ),
    fault(
        "scaled: not scaled",
        "solvers.compressors.composition",
        ("self.inner.vector(message, d) * self.alpha(d)", "self.inner.vector(message, d)"),
        on="ef21",
        compressor="scaled(rand-k:2)",
    ),
    fault(
        "shared mask with omega_av = omega/n",
        "solvers.compressors.base",
        ("return self.omega(d) if self.shared else self.omega(d) / n", "return self.omega(d) / n"),
        on="locodl",
        rule="balanced",
        compressor="rand-k:1@shared",
    ),
    *(
        fault(
            f"downlink: {what}",
            "solvers.world.channel",
            (old, new),
            on="ef21p-diana",
            compressor="two-way(natural;scaled(rand-k:2))",
        )
        for what, old, new in (
            ("one client pays", "self.runs, self.n * bits)", "self.runs, bits)"),
            ("from the stream of the clients", '"downlink")\n', '"compressor")\n'),
            ("compressor of the clients", "downward(self.compressor), ", "self.compressor, "),
        )
    ),
    # Wire and accounts
    fault(
        "wire: indices not counted",
        "solvers.compressors.wire",
        (
            "sum(field.width * count for field, count in self.fields)",
            "sum(field.width * count for field, count in self.fields[-1:])",
        ),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "wire: floor(log2 d) bits for an index",
        "solvers.compressors.wire",
        ("return (self.d - 1).bit_length()", "return self.d.bit_length() - 1"),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "wire: sign of a level lost",
        "solvers.compressors.wire",
        ("return 1 + self.s.bit_length()", "return self.s.bit_length()"),
        on="diana",
        compressor="dithering:3",
    ),
    fault(
        "wire: signs turned",
        "solvers.compressors.wire",
        ("return 1.0 - 2.0 * codes", "return 2.0 * codes - 1.0"),
        on="ef21",
        compressor="sign",
    ),
    fault(
        "wire: natural without its sign",
        "solvers.compressors.wire",
        (
            "codes = _single(values) >> np.uint32(23)",
            "codes = _single(np.abs(values)) >> np.uint32(23)",
        ),
        on="diana",
        compressor="natural",
    ),
    fault(
        "wire: lowest bit first",
        "solvers.compressors.wire",
        (
            "[..., 64 - width :]\n    return bits.reshape(*bits.shape[:2], -1)",
            "[..., :63 - width:-1]\n    return bits.reshape(*bits.shape[:2], -1)",
        ),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "accounts: ADIANA charged for one message (field)",
        "solvers.world.channel",
        ("self.uplink_bits[runs] += bits", "self.uplink_bits[runs] += bits * ~self._waiting[runs]"),
        on="adiana",
        rule="paper",
    ),
    fault(
        "accounts: uplink of one client",
        "solvers.world.channel",
        ("self.ledger.up(self.runs, n * bits)", "self.ledger.up(self.runs, bits)"),
        on="diana",
    ),
    fault(
        "accounts: masked vectors at full price",
        "solvers.world.channel",
        (
            "return masked(mask, received), entries * (layout.bits // d)",
            "return masked(mask, received), 0 * entries + senders * layout.bits",
        ),
        on="compressed-scaffnew",
    ),
    fault(
        "accounts: outside the mask arrives",
        "solvers.world.channel",
        (
            "return masked(mask, received), entries * (layout.bits // d)",
            "return received, entries * (layout.bits // d)",
        ),
        on="compressed-scaffnew",
    ),
    fault(
        "accounts: broadcast to one client",
        "solvers.world.channel",
        ("self.ledger.down(self.runs, bits * self.n)", "self.ledger.down(self.runs, bits)"),
        on="gd",
    ),
    fault(
        "accounts: gradients of skipping clients counted",
        "solvers.world.channel",
        (
            "self.ledger.evaluate(self.runs, active, self.problem.n)",
            "self.ledger.evaluate(self.runs, self.n, self.problem.n)",
        ),
        on="gradskip",
    ),
    # Random choices and the engine
    fault(
        "coins of probability p^2",
        "solvers.world.channel",
        ('return self._shared("coin", 1) < p', 'return self._shared("coin", 1) < p * p'),
        on="marina",
    ),
    fault(
        "cohorts of one client more",
        "solvers.world.channel",
        ("(ranks < m)[:, None, :]", "(ranks <= m)[:, None, :]"),
        on="tamuna",
        m=2,
        s=2,
    ),
    fault(
        "all clients draw the same subset",
        "solvers.world.channel",
        ("1 if compressor.shared else v.shape[0]", "1"),
        on="diana",
    ),
    fault(
        "masks not permuted",
        "solvers.world.channel",
        (
            "np.moveaxis(rows[ranks], 2, 1)",
            "np.moveaxis(rows[np.sort(ranks, axis=0)], 2, 1)",
        ),
        on="compressed-scaffnew",
        rule="best",
    ),
    fault(
        "owners: an entry has one too many",
        "solvers.world.ownership",
        ("(place - s * entry) % m < s,", "(place - s * entry) % m <= s,"),
        on="compressed-scaffnew",
        rule="best",
    ),
    fault(
        "engine: communicates with p^2",
        "solvers.world.channel",
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
        "solvers.world.channel",
        (
            "return replace(self, runs=_some(self.runs, runs))",
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
        "solvers.world.channel",
        (
            'self._shared("client coins", self.n)',
            'np.broadcast_to(self._shared("client coins", 1), (self.n, 1, len(self.runs)))',
        ),
        on="gradskip",
    ),
    fault(
        "f - f* replaced by its running minimum",
        "solvers.runs.engine",
        (
            '"gap": gap,',
            '"gap": np.minimum(gap, (self.now.rows or [{"gap": gap}])[-1]["gap"][: gap.size]),',
        ),
        on="agd",
    ),
    fault(
        "rounds counted in every run",
        "solvers.runs.engine",
        ("now.rounds[now.active[talking]] += 1", "now.rounds[now.active] += 1"),
        on="scaffnew",
        rule="best",
    ),
    fault(
        "bits sent recorded as bits received",
        "solvers.runs.engine",
        ('spent["downlink_bits"] / n', 'spent["uplink_bits"] / n'),
        on="diana",
        rule="b",
    ),
    fault(
        "every run ends by the same word",
        "solvers.runs.engine",
        ("now.ending[run] = ending", 'now.ending[run] = "rounds"'),
        on="gd",
    ),
    fault(
        "a rate without (1 - gamma L)^2",
        "theory.gradient_step",
        ("max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2)", "(1 - gamma * mu) ** 2"),
        on="scaffnew",
        rule="paper",
    ),
]

CHANNEL, ENGINE, BUDGET = "solvers.world.channel", "solvers.runs.engine", "solvers.runs.budget"

_ON_DIANA = [
    ("wire: left out above 1000 entries", CHANNEL, "        if self.wire:\n            message",
     "        if self.wire and d < 1000:\n            message"),
    ("wire: left out above 100,000 entries", CHANNEL, "        if self.wire:\n            message",
     "        if self.wire and d < 100_000:\n            message"),
    ("wire: left out of sends and broadcasts", CHANNEL,
     "layout.transmit((v,)) if self.wire else (v,)", "(v,)"),
    ("wire: left out of sends of many clients", CHANNEL,
     "layout.transmit((v,)) if self.wire else (v,)",
     "layout.transmit((v,)) if self.wire and len(v) < 50 else (v,)"),
    ("ledger: bits of a broadcast to one client above 50", CHANNEL,
     "self.ledger.down(self.runs, bits * self.n)",
     "self.ledger.down(self.runs, bits * min(self.n, 50))"),
    ("coins: those of the clients from the stream of the coin", CHANNEL,
     'self._shared("client coins", self.n)', 'self._shared("coin", self.n)'),
    ("coins: the same in the cohort and for the owners", CHANNEL,
     'self._ranks("ownership", outside)', 'self._ranks("cohort", outside)'),
    ("coins: the schedule by the stream of the coin", CHANNEL,
     'self.streams.uniform("round", self.runs', 'self.streams.uniform("coin", self.runs'),
    ("coins: the third client tosses what the first two agree on", CHANNEL,
     'return self._shared("client coins", self.n) < self._once(',
     'u = self._shared("client coins", self.n); u[2:3] = abs(u[:1] - (u[1:2] >= 0.5) * (1 - 1e-9)'
     "); return u < self._once("),
    ("compressors: the clients share their draws", CHANNEL,
     "1 if compressor.shared else v.shape[0]", "1"),
    ("ledger: 32-bit counters up", CHANNEL, "self.uplink_bits = np.zeros(runs, dtype=np.int64)",
     "self.uplink_bits = np.zeros(runs, dtype=np.int32)"),
    ("ledger: 32-bit counters down", CHANNEL, "self.downlink_bits = np.zeros(runs, dtype=np.int64)",
     "self.downlink_bits = np.zeros(runs, dtype=np.int32)"),
    ("ledger: counters that round", CHANNEL, "self.gradients = np.zeros(runs, dtype=np.int64)",
     "self.gradients = np.zeros(runs, dtype=np.float64)"),
    ("ledger: 32-bit counters of gradients", CHANNEL,
     "self.gradients = np.zeros(runs, dtype=np.int64)",
     "self.gradients = np.zeros(runs, dtype=np.int32)"),
    ("ledger: 32-bit counters of synchronisations", CHANNEL,
     "self.synchronisations = np.zeros(runs, dtype=np.int64)",
     "self.synchronisations = np.zeros(runs, dtype=np.int32)"),
    ("ledger: every message synchronises", CHANNEL, "+= sent & ~waiting", "+= sent"),
    ("ledger: an answer to one run ends the wait of all", CHANNEL,
     "self._waiting[runs] &= np.asarray(bits) == 0", "self._waiting[runs] = False"),
    ("ledger: the first message alone synchronises", CHANNEL,
     "self._waiting[runs] &= np.asarray(bits) == 0",
     "self._waiting[runs] &= np.asarray(bits) >= 0"),
    ("trace: the smallest gap so far", ENGINE, "gap = host(problem.gap(x))",
     'gap = np.minimum(host(problem.gap(x)), (self.now.rows or [{"gap": np.inf}])[-1]["gap"])'),
    ("trace: distance of the start", ENGINE, "squared_norm(x - problem.x_star)",
     "squared_norm(x - 0.999 * problem.x_star)"),
    ("trace: a round for every run", ENGINE, "now.rounds[now.active[talking]] += 1",
     "now.rounds[now.active] += 1"),
    ("trace: synchronisations as rounds", ENGINE,
     '"synchronisations": spent["synchronisations"]',
     '"synchronisations": self.now.rounds[runs]'),
    ("budget: always the same ending", ENGINE, "now.ending[run] = ending",
     'now.ending[run] = "iterations"'),
    ("budget: one round more", BUDGET, 'point["rounds"] / self.rounds',
     'point["rounds"] / (self.rounds + 1)'),
    ("budget: bits by what is received", BUDGET, 'point["uplink_bits"] / self.bits',
     'point["downlink_bits"] / self.bits'),
    ("budget: ten times the gap", BUDGET, "np.where(gap <= self.gap,",
     "np.where(gap <= 10 * self.gap,"),
    ("record: every other round", BUDGET, "np.maximum(rounds + self.every",
     "np.maximum(rounds + 2 * self.every"),
]  # fmt: skip

QUANTISATION = "solvers.compressors.quantisation"

_CONSTANTS = [
    ("ternary: twice the omega", QUANTISATION, "return (sqrt(d) - 1) / 2", "return sqrt(d) - 1",
     "ternary"),
    ("dithering: omega as published, d / s^2", QUANTISATION, "d / (4 * self.s**2)",
     "d / self.s**2", "dithering:3"),
    ("dithering: omega of s = 1 without - 1", QUANTISATION,
     "return sqrt(d) - 1\n        return min", "return sqrt(d)\n        return min",
     "dithering:1"),
    ("scaled: alpha of twice the omega", "solvers.compressors.composition",
     "return 1 / (1 + self.inner.omega(d))", "return 1 / (1 + 2 * self.inner.omega(d))",
     "scaled(rand-k:2)"),
    ("l1: the rest of the last block is drawn", "solvers.compressors.selection",
     "rest = xp.zeros(", "rest = xp.ones(", "l1"),
    ("l1: one entry too few in the last block", "solvers.compressors.selection",
     "rest = xp.zeros((n, count * width - d,", "rest = xp.zeros((n, count * width - d - 1,", "l1"),
]  # fmt: skip

MESSAGE_FAULTS += [
    fault(
        name,
        module,
        (right, wrong),
        on="ef21" if selector.startswith("scaled") else "diana",
        compressor=selector,
    )
    for name, module, right, wrong, selector in _CONSTANTS
]

MESSAGE_FAULTS += [
    fault(name, module, (right, wrong), on="diana", rule="b", compressor="rand-k:2")
    for name, module, right, wrong in _ON_DIANA
]
