"""Planted faults of theorems and rules."""

from planting import fault

THEOREM_FAULTS = [
    fault(
        "ef-bv theorem: 3 gamma mu",
        "theory.cards.ef_bv",
        ("max(1 - m.gamma * setting.mu", "max(1 - 3 * m.gamma * setting.mu"),
        on="ef-bv",
    ),
    fault(
        "ef-bv: the step without noise is lax",
        "theory.cards.ef_bv",
        ("L_tilde * lost)", "L_tilde * 0)"),
        on="ef-bv",
    ),
    fault(
        "ef-bv rule: lambda_ = nu = 1",
        "theory.cards.ef_bv",
        ("(1.0 if own > 1 - SLACK else own for own in best)", "(1.0 for own in best)"),
        on="ef-bv",
        compressor="rand-k:2",
    ),
    fault(
        "gd theorem: factor (1 - gamma mu)^4",
        "theory.formulas.gradient_step",
        ("max((1 - gamma * mu) ** 2,", "max((1 - gamma * mu) ** 4,"),
        on="gd",
    ),
    fault(
        "gd rule: gamma = 3/L_f",
        "theory.cards.gd",
        ("GD(gamma=1 / setting.constants.L_f)", "GD(gamma=3 / setting.constants.L_f)"),
        on="gd",
    ),
    fault(
        "agd theorem: 1 - 2 q",
        "theory.cards.agd",
        ("return 1 - m.q", "return 1 - 2 * m.q"),
        on="agd",
    ),
    fault(
        "agd rule: q = sqrt(kappa)",
        "theory.cards.agd",
        ("math.sqrt(setting.mu / L_f))", "math.sqrt(2 * setting.mu / L_f))"),
        on="agd",
    ),
    fault(
        "diana rule: alpha twice too large",
        "theory.cards.diana",
        ("= 1 / (1 + setting.omega)\n    gamma", "= 2 / (1 + setting.omega)\n    gamma"),
        on="diana",
        rule="b",
    ),
    fault(
        "diana theorem B: 1 for (1 + 6 omega_av)",
        "theory.cards.diana",
        (
            "limit = 2 / ((setting.L + setting.mu) * (1 + 6 * setting.omega_av))",
            "limit = 2 / ((setting.L + setting.mu) * (1 + 0 * setting.omega_av))",
        ),
        (
            "gamma = 2 / ((setting.L + setting.mu) * (1 + 6 * setting.omega_av))",
            "gamma = 2 / ((setting.L + setting.mu) * (1 + 0 * setting.omega_av))",
        ),
        on="diana",
        rule="b",
    ),
    fault(
        "diana theorem B: 4 gamma mu L/(mu + L)",
        "theory.cards.diana",
        ("2 * m.gamma * setting.mu * setting.L /", "4 * m.gamma * setting.mu * setting.L /"),
        on="diana",
        rule="b",
    ),
    fault(
        "diana theorem A: 1 - 3 gamma mu",
        "theory.cards.diana",
        (
            "max(1 - m.gamma * setting.mu, 1 - m.alpha / 2)",
            "max(1 - 3 * m.gamma * setting.mu, 1 - m.alpha / 2)",
        ),
        on="diana",
        rule="a",
    ),
    fault(
        "adiana rule: eta twice too large",
        "theory.cards.adiana",
        ("/ b), 1 / (2 * setting.L))", "/ b), 1 / setting.L)"),
        on="adiana",
        rule="best",
        compressor="natural",
    ),
    fault(
        "adiana theorem II with the weights of I (field)",
        "theory.cards.adiana",
        ('first = m.variant == "I"\n        reference', "first = True\n        reference"),
        on="adiana",
        rule="paper",
        variant="II",
    ),
    *(
        fault(
            f"locodl-both-ways theorem: {what}",
            "theory.cards.locodl_both_ways",
            (old, new),
            on="locodl-both-ways",
            compressor="two-way(rand-k:2;rand-k:2)",
        )
        for what, old, new in (
            ("noise left out", "m.rho * (1 + a + noise)", "m.rho"),
            ("error left out of Psi", "Squares(error * setting.n / 2, s.e)", "Squares(0.0, s.e)"),
            ("noise without that of the error", "(omega_down + h**2) / (1 - h)", "omega_down"),
            ("1 - 2 p^2 chi/(1 + 2 omega)", "1 - m.p**2", "1 - 2 * m.p**2"),
        )
    ),
    *(
        fault(
            f"ef21p-diana theorem: {what}",
            "theory.cards.ef21p_diana",
            (old, new),
            on="ef21p-diana",
            compressor="two-way(rand-k:2;scaled(rand-k:2))",
        )
        for what, old, new in (
            ("1 - 4 gamma mu L/(L + mu)", "contraction = m.gamma", "contraction = 4 * m.gamma"),
            ("error of the server left out of Psi", "Squares(1.0, s.x - s.w)", "Squares(0.0, s.x)"),
            (
                "no limit by the server",
                "min(_largest_steps(setting))",
                "max(1 / setting.L,)",
            ),
        )
    ),
    fault(
        "ef21 rule: smoothness of the clients left out",
        "theory.cards.ef21",
        ("constants.L_f + constants.L_tilde * noise / _theta(setting.alpha)", "constants.L_f"),
        on="ef21",
    ),
    fault(
        "econtrol theorem: 1 - 8 gamma mu",
        "theory.cards.econtrol",
        ("return 1 - m.gamma * setting.mu", "return 1 - 8 * m.gamma * setting.mu"),
        on="econtrol",
    ),
    fault(
        "econtrol theorem: errors left out of Psi",
        "theory.cards.econtrol",
        ("Squares(weight * errors.v * m.b, s.e)", "Squares(0.0, s.e)"),
        on="econtrol",
    ),
    fault(
        "ef21 theorem: 1 - 4 gamma mu",
        "theory.cards.ef21",
        ("return 1 - m.gamma * setting.mu", "return 1 - 4 * m.gamma * setting.mu"),
        on="ef21",
    ),
    fault(
        "ef theorem: twice as fast",
        "theory.formulas.error_feedback",
        ("return 1 - share * (1", "return 1 - 2 * share * (1"),
        on="ef",
    ),
    fault(
        "ef theorem: virtual model on the wrong side",
        "theory.cards.ef",
        ("s.x - star.x - mean(s.e)", "s.x - star.x + mean(s.e)"),
        on="ef",
    ),
    fault(
        "ef theorem: errors weighted by s",
        "theory.cards.ef",
        ("1 / (errors * setting.n) if errors else 0.0", "errors / setting.n"),
        on="ef",
    ),
    fault(
        "compressed-gd theorem: 4 times as fast",
        "theory.cards.compressed_gd",
        ("return 1 - m.gamma * (a + b) / 2", "return 1 - m.gamma * (a + b) * 2"),
        on="compressed-gd",
    ),
    fault(
        "marina theorem: 1 - 3 gamma mu",
        "theory.cards.marina",
        ("return 1 - m.gamma * setting.mu", "return 1 - 3 * m.gamma * setting.mu"),
        on="marina",
    ),
    fault(
        "dasha theorem: 1 - 4 gamma mu",
        "theory.cards.dasha",
        ("return 1 - m.gamma * setting.mu", "return 1 - 4 * m.gamma * setting.mu"),
        on="dasha",
    ),
    fault(
        "locodl theorem: (1 + omega) for (1 + 2 omega)",
        "theory.cards.locodl",
        (
            "return max(gradient, 1 - m.p**2 * m.chi / (1 + 2 * m.omega))",
            "return max(gradient, 1 - m.p**2 * m.chi / (1 + m.omega))",
        ),
        on="locodl",
        rule="paper",
    ),
    fault(
        "locodl rule: rho = 1",
        "theory.cards.locodl",
        ("chi=chi, rho=1 / (1 + a),", "chi=1.0, rho=1.0,"),
        on="locodl",
        rule="balanced",
    ),
    *(
        fault(
            f"locodl theorem: {what}",
            f"theory.{module}",
            (old, new),
            on="locodl",
            rule="balanced",
            compressor="rand-k:2+natural",
        )
        for what, module, old, new in (
            ("2 omega - 2 omega_av", "formulas.message_noise", "omega - a) /", "omega - 2 * a) /"),
            (
                "lambda twice as large",
                "formulas.message_noise",
                "share = eta /",
                "share = 2 * eta /",
            ),
            ("the weights of Theorem 3.1", "cards.locodl", "(1 - nu) * u.weight", "u.weight"),
        )
    ),
    fault(
        "scaffnew theorem: 1 - p for 1 - p^2",
        "theory.cards.scaffnew",
        ("min(m.gamma * setting.mu, m.p**2)", "min(2 * m.gamma * setting.mu, m.p)"),
        on="scaffnew",
        rule="paper",
    ),
    fault(
        "compressed-scaffnew: nu = 1",
        "theory.cards.compressed_scaffnew",
        ("return n * (s - 1) / (s * (n - 1))", "return 1.0"),
        on="compressed-scaffnew",
        rule="best",
    ),
    fault(
        "compressed-scaffnew: c = (s - 1)/(n - 1) without - 1",
        "theory.cards.compressed_scaffnew",
        ("return (s - 1) / (n - 1)", "return s / n"),
        on="compressed-scaffnew",
        rule="best",
        s=2,
    ),
    fault(
        "tamuna: nu with the cohort instead of n",
        "theory.cards.tamuna",
        ("m.chi, primal_gain(setting.n, m.s)", "m.chi, primal_gain(m.m, m.s)"),
        ("chi=full.eta, s=full.s, m=m)", "chi=primal_gain(m, full.s), s=full.s, m=m)"),
        on="tamuna",
        rule="best",
        s=2,
        m=2,
    ),
    fault(
        "gradskip rule: gamma = 2/L",
        "theory.cards.gradskip",
        ("GradSkip(gamma=1 / setting.L,", "GradSkip(gamma=2 / setting.L,"),
        on="gradskip",
    ),
    fault(
        "gradskip theorem: twice the progress",
        "theory.cards.gradskip",
        ("1 - min(m.gamma * setting.mu,", "1 - 2 * min(m.gamma * setting.mu,"),
        on="gradskip",
    ),
    fault(
        "scaffold theorem: 1 - 2 eta mu (not / 2)",
        "theory.cards.scaffold",
        ("max(1 - step * setting.mu / 2,", "max(1 - step * setting.mu * 2,"),
        on="scaffold",
        rule="best",
    ),
    fault(
        "fedcomgate rule: undamped (field)",
        "theory.cards.fedcomgate",
        ("gamma_s=1.0, alpha=1 / (1 + setting.omega))", "gamma_s=1.0, alpha=1.0)"),
        on="fedcomgate",
    ),
    fault(
        "fedcomgate theorem: 1 - 2 eta_s mu (not / 2)",
        "theory.cards.fedcomgate",
        ("m.K * m.eta * m.gamma_s * setting.mu / 2", "m.K * m.eta * m.gamma_s * setting.mu * 4"),
        on="fedcomgate",
        compressor="natural",
    ),
    fault(
        "5gcs-cc rule: no local steps",
        "theory.cards.five_gcs_cc",
        ("return max(0, math.ceil(needed))", "return 0"),
        on="5gcs-cc",
        rule="paper",
    ),
    fault(
        "5gcs-cc theorem: cohort noise left out",
        "theory.cards.five_gcs_cc",
        ("return 1 + setting.compressor.omega_av(setting.d, cohort)", "return 0.1"),
        on="5gcs-cc",
        rule="paper",
    ),
    fault(
        "agd theorem: z without 1/q in Psi",
        "theory.cards.agd",
        ("(s.y - s.x) / m.q", "(s.y - s.x)"),
        on="agd",
    ),
    fault(
        "diana theorems: weight of the shifts a quarter",
        "theory.cards.diana",
        ("4 * setting.omega_av / m.alpha", "setting.omega_av / m.alpha"),
        on="diana",
        rule="b",
    ),
    fault(
        "adiana theorem: weight of w without 1/p",
        "theory.cards.adiana",
        ("Gap(reference / m.p, s.w)", "Gap(reference, s.w)"),
        on="adiana",
        rule="best",
    ),
    fault(
        "ef21 theorem: theta = alpha",
        "theory.cards.ef21",
        ("return 1 - math.sqrt(1 - alpha)", "return alpha"),
        on="ef21",
    ),
    fault(
        "dasha theorem: errors of the estimates left out of Psi",
        "theory.cards.dasha",
        ("Squares(4 * m.gamma", "Squares(0 * m.gamma"),
        on="dasha",
    ),
    fault(
        "locodl theorem: weight of y without n",
        "theory.cards.locodl",
        ("Squares(primal * setting.n, s.y - star.y)", "Squares(primal, s.y - star.y)"),
        on="locodl",
        rule="balanced",
    ),
    fault(
        "locodl theorem: (1 + omega) for (1 + 2 omega) in Psi",
        "theory.cards.locodl",
        ("dual = m.gamma * (1 + 2 * m.omega)", "dual = m.gamma * (1 + m.omega)"),
        on="locodl",
        rule="balanced",
    ),
    fault(
        "scaffnew theorem: gamma/p unsquared in Psi",
        "theory.cards.scaffnew",
        ("dual = (m.gamma / m.p) ** 2", "dual = m.gamma / m.p"),
        on="scaffnew",
        rule="best",
    ),
    fault(
        "compressed-scaffnew theorem: Psi without the owners",
        "theory.cards.compressed_scaffnew",
        ("(m.p**2 * m.eta * dual_gain(setting.n, m.s))", "(m.p**2 * m.eta)"),
        on="compressed-scaffnew",
        rule="paper",
    ),
]

_BEST = [
    ("adiana: a search that is not refined", "adiana", "for _ in range(6):", "for _ in range(1):"),
    ("adiana: the worst parameters of the grid", "adiana", "np.argmax(rho)", "np.argmin(rho)"),
    ("scaffnew: gamma = 1/L", "scaffnew", "gamma=2 / (setting.L + setting.mu), p=2 * math",
     "gamma=1 / setting.L, p=2 * math"),
]  # fmt: skip

THEOREM_FAULTS += [
    fault(f"best rule, {what}", f"theory.cards.{name}", (right, wrong), on=name, rule="best")
    for what, name, right, wrong in _BEST
]

_CONVEX = [
    ("gd: 2.2 gamma", "cards.gd", "gd", "1/L", "return 2 * m.gamma", "return 2.2 * m.gamma"),
    ("gd: last iterate, 4.4 gamma T", "cards.gd", "gd", "1/L", "L_f, 4 * m.gamma",
     "L_f, 4.4 * m.gamma"),
    ("gd: last iterate, 3/L_f", "cards.gd", "gd", "1/L", "return 2 / setting.constants.L_f, 4",
     "return 3 / setting.constants.L_f, 4"),
    ("gd: gamma <= 1.5/L_f", "cards.gd", "gd", "1/L",
     'Condition("gamma <= 1/L_f", m.gamma, 1 / setting',
     'Condition("gamma", m.gamma, 1.5 / setting'),
    ("diana: 2.2 gamma", "cards.diana", "diana", "convex", "return 2 * m.gamma",
     "return 2.2 * m.gamma"),
    ("diana: half of the shifts", "cards.diana", "diana", "convex",
     "shifts = 2 * setting.omega_av / m.alpha", "shifts = setting.omega_av / m.alpha"),
    ("diana: 2 omega_av for 4 omega_av", "cards.diana", "diana", "convex",
     "limit = 1 / (setting.L * (1 + 4 * setting.omega_av))",
     "limit = 1 / (setting.L * (1 + 2 * setting.omega_av))"),
    ("a run: a power of T too many", "theorem", "gd", "1/L", "w * steps**k for",
     "w * steps ** (k + 1) for"),
]  # fmt: skip

THEOREM_FAULTS += [
    fault(f"convex, {what}", f"theory.{module}", (right, wrong), on=name, rule=rule)
    for what, module, name, rule, right, wrong in _CONVEX
]
