"""Planted faults of hypotheses: each asks for too little, and the rules stay well inside."""

from planting import fault

from certibit.theory.catalogue.catalogue import CARDS


def lax(method: str, statement: str, right: str, wrong: str, rule: str | None = None):
    """Return the fault that the right side of a hypothesis is another one."""
    module = type(CARDS[method].theorems[0]).__module__.removeprefix("certibit.")
    return fault(f"{method}: {statement} is lax", module, (right, wrong), on=method, rule=rule)


HYPOTHESIS_FAULTS = [
    lax("ef", "gamma <= 1.5 gamma*", "m.gamma, largest", "m.gamma, 1.5 * largest"),
    lax("ef21", "gamma <= 1.5 gamma*", "m.gamma, largest)", "m.gamma, 1.5 * largest)", "best"),
    lax(
        "diana",
        "1 + r for its square",
        "(1 + 1 / math.sqrt(1 - used)) ** 2 *",
        "(1 + 1 / math.sqrt(1 - used)) *",
        "best",
    ),
    lax(
        "gd",
        "gamma < 4/L_f",
        "2 / setting.constants.L_f, strict",
        "4 / setting.constants.L_f, strict",
    ),
    lax("agd", "gamma <= 2/L_f", "m.gamma, 1 / setting", "m.gamma, 2 / setting"),
    lax("agd", "q <= sqrt(2 gamma mu)", "m.q, math.sqrt(m", "m.q, math.sqrt(2 * m"),
    lax("diana", "alpha <= 2/(1 + omega)", "m.alpha, 1 / (1", "m.alpha, 2 / (1"),
    lax(
        "diana",
        "omega_av/2 for omega_av",
        "limit = 2 / ((setting.L + setting.mu) * (1 + 6",
        "limit = 2 / ((setting.L + setting.mu) * (1 + 3",
        "b",
    ),
    lax(
        "diana",
        "L without mu",
        "limit = 2 / ((setting.L + setting.mu)",
        "limit = 2 / (setting.L",
        "b",
    ),
    lax(
        "locodl",
        "gamma < 4/L",
        "m.gamma, 2 / setting.L, strict",
        "m.gamma, 4 / setting.L, strict",
        "balanced",
    ),
    lax(
        "locodl",
        "chi without omega_av",
        "m.rho**2 * (1 + setting.omega_av)",
        "m.rho**2",
        "paper",
    ),
    lax(
        "locodl",
        "a/2 for a with uneven weights",
        "m.rho**2 * a for a",
        "m.rho**2 * a / 2 for a",
        "balanced",
    ),
    lax(
        "locodl",
        "b/2 for b with uneven weights",
        "c * (1 + b) + m",
        "c * (1 + b / 2) + m",
        "balanced",
    ),
    lax(
        "locodl",
        "omega <= 2 omega",
        "setting.omega, m.omega)",
        "setting.omega, 2 * m.omega)",
        "paper",
    ),
    lax(
        "scaffnew",
        "gamma < 4/L",
        "m.gamma, 2 / setting.L, strict=True)\n        return step_conditions(m.gamma, m.p, limit)"
        "\n\n    def rate",
        "m.gamma, 4 / setting.L, strict=True)\n        return step_conditions(m.gamma, m.p, limit)"
        "\n\n    def rate",
        "best",
    ),
    lax(
        "scaffnew",
        "gamma <= 2/L for the published rate",
        '"gamma <= 1/L", m.gamma, 1 /',
        '"gamma <= 1/L", m.gamma, 2 /',
        "paper",
    ),
    lax("compressed-scaffnew", "eta twice", "m.eta, primal", "m.eta, 2 * primal", "paper"),
    lax("tamuna", "chi twice", "m.chi, primal", "m.chi, 2 * primal", "paper"),
    lax("gradskip", "gamma twice", "m.gamma, min(limits)", "m.gamma, 2 * min(limits)"),
    lax("adiana", "alpha <= 2/(1 + omega)", "m.alpha, 1 / (1", "m.alpha, 2 / (1", "best"),
    lax("5gcs-cc", "mu <= 2 mu of every f_i", "m.mu, setting.mu", "m.mu, 2 * setting.mu", "best"),
    lax(
        "ef21",
        "the step without noise",
        "_largest_step(setting),\n",
        "1 / setting.constants.L_f,\n",
    ),
    lax(
        "marina",
        "the step without noise",
        "_largest_step(m.p, setting),\n",
        "1 / setting.constants.L_f,\n",
    ),
    lax(
        "dasha",
        "the step without noise",
        "_largest_step(m.a, setting),\n",
        "1 / setting.constants.L_f,\n",
    ),
]
