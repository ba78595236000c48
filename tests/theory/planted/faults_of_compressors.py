"""Planted faults of compressors."""

from planting import fault

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
    ("sign: a random number that is not used", QUANTISATION, "return 0\n", "return 1\n", "sign"),
    ("rand-k: the name of the other kind", "solvers.compressors.selection",
     '("@shared" if self.shared else "")', '("" if self.shared else "@shared")', "rand-k:2"),
    ("l1: the rest of the last block is drawn", "solvers.compressors.selection",
     "rest = xp.zeros(", "rest = xp.ones(", "l1"),
    ("l1: one entry too few in the last block", "solvers.compressors.selection",
     "rest = xp.zeros((n, count * width - d,", "rest = xp.zeros((n, count * width - d - 1,", "l1"),
]  # fmt: skip

COMPRESSOR_FAULTS = [
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
        "data.noise",
        ("== t, axis=0), last, t)", "== t, axis=0), t, t)"),
        on="diana",
        compressor="rand-k:2",
    ),
    fault(
        "rand-k: last feature never chosen",
        "data.noise",
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
            "powers_near(values, uniforms[:, self.k :, :])",
            "powers_near(values, uniforms[:, : self.k, :])",
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
            f"downlink: {what}, {selector}",
            f"solvers.simulation.{module}",
            (old, new),
            on="ef21p-diana",
            compressor=selector,
        )
        for selector in (
            "two-way(natural;scaled(rand-k:2))",
            "two-way(rand-k:2;natural)",
        )
        for what, module, old, new in (
            ("one client pays", "channel", "self.runs, self.n * bits)", "self.runs, bits)"),
            ("32 bits an entry", "channel", "self.n * bits)", "self.n * 32 * v.shape[1])"),
            ("the clients' stream", "channel", '"downlink")\n', '"compressor")\n'),
            (
                "the clients' compressor",
                "channel",
                "downward(self.compressor), ",
                "self.compressor, ",
            ),
            (
                "the clients' numbers",
                "randomness",
                "crc32(purpose.encode())",
                'crc32(purpose.replace("downlink", "compressor").encode())',
            ),
        )
    ),
]

COMPRESSOR_FAULTS += [
    fault(
        name,
        module,
        (right, wrong),
        on="ef21" if selector.startswith(("scaled", "sign")) else "diana",
        compressor=selector,
    )
    for name, module, right, wrong, selector in _CONSTANTS
]
