"""Planted faults of wire formats, accounts and what clients draw together."""

from planting import fault

MESSAGE_FAULTS = [
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
            "[..., 64 - width :]\n    return bits.reshape",
            "[..., :63 - width:-1]\n    return bits.reshape",
        ),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "accounts: ADIANA charged for one message (field)",
        "solvers.simulation.ledger",
        ("self.uplink_bits[runs] += bits", "self.uplink_bits[runs] += bits * ~self._waiting[runs]"),
        on="adiana",
        rule="paper",
    ),
    fault(
        "accounts: uplink of one client",
        "solvers.simulation.channel",
        ("self.ledger.up(self.runs, n * bits)", "self.ledger.up(self.runs, bits)"),
        on="diana",
    ),
    fault(
        "accounts: masked vectors at full price",
        "solvers.simulation.channel",
        (
            "return masked(mask, received), entries * (layout.bits // d)",
            "return masked(mask, received), 0 * entries + senders * layout.bits",
        ),
        on="compressed-scaffnew",
    ),
    fault(
        "accounts: outside the mask arrives",
        "solvers.simulation.channel",
        (
            "return masked(mask, received), entries * (layout.bits // d)",
            "return received, entries * (layout.bits // d)",
        ),
        on="compressed-scaffnew",
    ),
    fault(
        "accounts: broadcast to one client",
        "solvers.simulation.channel",
        ("self.ledger.down(self.runs, bits * self.n)", "self.ledger.down(self.runs, bits)"),
        on="gd",
    ),
    fault(
        "accounts: gradients of skipping clients counted",
        "solvers.simulation.oracle",
        ("self.count(active, sampled", "self.count(self.n, sampled"),
        on="gradskip",
    ),
]

CHANNEL, LEDGER = "solvers.simulation.channel", "solvers.simulation.ledger"

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
    ("coins: the schedule by the stream of the coin", "solvers.simulation.randomness",
     'self.uniform("round", runs, (1, 1))', 'self.uniform("coin", runs, (1, 1))'),
    ("coins: the third client tosses what the first two agree on", CHANNEL,
     'return self._known(self._shared("client coins", self.n) <',
     'u = self._shared("client coins", self.n); u[2:3] = abs(u[:1] - (u[1:2] >= 0.5) * (1 - 1e-9)'
     "); return self._known(u <"),
    ("compressors: the clients share their draws", CHANNEL,
     "1 if compressor.shared else senders", "1"),
    ("ledger: 32-bit counters up", LEDGER, "self.uplink_bits = np.zeros(runs, dtype=np.int64)",
     "self.uplink_bits = np.zeros(runs, dtype=np.int32)"),
    ("ledger: 32-bit counters down", LEDGER, "self.downlink_bits = np.zeros(runs, dtype=np.int64)",
     "self.downlink_bits = np.zeros(runs, dtype=np.int32)"),
    ("ledger: counters that round", LEDGER, "self.gradients = np.zeros(runs, dtype=np.int64)",
     "self.gradients = np.zeros(runs, dtype=np.float64)"),
    ("ledger: 32-bit counters of gradients", LEDGER,
     "self.gradients = np.zeros(runs, dtype=np.int64)",
     "self.gradients = np.zeros(runs, dtype=np.int32)"),
    ("ledger: 32-bit counters of synchronisations", LEDGER,
     "self.synchronisations = np.zeros(runs, dtype=np.int64)",
     "self.synchronisations = np.zeros(runs, dtype=np.int32)"),
    ("ledger: every message synchronises", LEDGER, "+= sent & ~waiting", "+= sent"),
    ("ledger: an answer to one run ends the wait of all", LEDGER,
     "self._waiting[runs] &= np.asarray(bits) == 0", "self._waiting[runs] = False"),
    ("ledger: the first message alone synchronises", LEDGER,
     "self._waiting[runs] &= np.asarray(bits) == 0",
     "self._waiting[runs] &= np.asarray(bits) >= 0"),
]  # fmt: skip

MESSAGE_FAULTS += [
    fault(name, module, (right, wrong), on="diana", rule="b", compressor="rand-k:2")
    for name, module, right, wrong in _ON_DIANA
]
