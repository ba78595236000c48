"""Planted faults of problems: gradients, constants, solutions, views, rows, relaxed smoothness."""

from planting import fault

LOGISTIC, RIDGE, ROWS, QUADRATIC = (
    f"data.problems.{name}" for name in ("logistic", "ridge_problem", "rows", "quadratic")
)
BATCHES, BATCH_ROWS = "data.mini_batch", "data.batch_rows"
LOSS, ROBUST = "data.losses.logistic_loss", "data.losses.robust_losses"
MODEL, SADDLES = (f"data.problems.nonconvex_{name}" for name in ("model", "quadratic"))
TILTED, LOSSES, QUARTICS, PHASES = (
    f"data.relaxed.{name}"
    for name in ("families", "relaxed_logistic", "polynomials", "phase_retrieval")
)

_ROWS = [
    ("logistic: gradient over m + 1", LOGISTIC, "(-1.0 / self.m)", "(-1.0 / (self.m + 1))"),
    ("logistic: value with the margins added", LOGISTIC, "- xp.minimum(z, 0.0)",
     "+ xp.minimum(z, 0.0)"),
    ("logistic: L_i twice", LOGISTIC, ") / (4 * m) for i in", ") / (2 * m) for i in"),
    ("logistic: L_i too small by a tenth", LOGISTIC, ") / (4 * m) for i in",
     ") / (4.4 * m) for i in"),
    ("logistic: L_f as of the sum", LOGISTIC, "/ (4 * m * n)),", "/ (4 * m)),"),
    ("logistic: Hessian of the sum", LOGISTIC, "/ (z.shape[0] * z.shape[1])", "/ z.shape[1]"),
    ("logistic: product with the Hessian without ridge", LOGISTIC, " + self.ridge * v", ""),
    ("logistic: third cumulant twice, near x*", LOSS, "third, fourth = skew / 6,",
     "third, fourth = skew / 3,"),
    ("logistic: p and 1 - p not changed with the sign", LOSS,
     "xp.where(z < 0, xp.ones_like(z), -xp.ones_like(z))", "-xp.ones_like(z)"),
    ("ridge: L_i without it", RIDGE, "bare.L_i + shift", "bare.L_i"),
    ("ridge: mu with that of g", RIDGE, "Constants(bare.mu + shift",
     "Constants(bare.mu + self.ridge"),
    ("ridge: twice in the gradient of g", RIDGE, "return self.ridge_g * y",
     "return 2 * self.ridge_g * y"),
    ("ridge: not in the gap", RIDGE, "self._bare_gap(step) + self._ridge_value(step)",
     "self._bare_gap(step)"),
    ("ridge: value without 1/2", RIDGE, "(self.ridge / 2) * array", "self.ridge * array"),
    ("ridge: Hessian without that of g", RIDGE, "return bare + self.ridge *",
     "return bare + self.ridge_f *"),
    ("rows: only the first client's point above n = 50, sparse", ROWS,
     "        runs = x.shape[2]\n        matrix", "        runs, x = x.shape[2], x if n <= 50 else"
     " x[:1] + 0 * x\n        matrix"),
    ("rows: ridge of the first client's point above n = 50, sparse", ROWS,
     "(n, d, runs))\n        return products if x is None else add_scaled(products, a, x)",
     "(n, d, runs))\n        return products if x is None else"
     " add_scaled(products, a, x if n <= 50 else x[:1])"),
    ("rows: points of all clients as the first's, dense", ROWS, "return self.stack @ x",
     "return self.stack @ x[:1]"),
    ("quadratic: centres left out", QUADRATIC, "self.H @ (x - self.c), ridge, x",
     "self.H @ x, ridge, x"),
    ("quadratic: value without 1/2", QUADRATIC,
     "        step = x - self.c\n        return array_namespace(x).sum(step * (self.H @ step),"
     " axis=(0, 1)) / (2 * self.n)",
     "        step = x - self.c\n        return array_namespace(x).sum(step * (self.H @ step),"
     " axis=(0, 1)) / self.n"),
    ("quadratic: mu twice", QUADRATIC, "bare=Constants(mu, L_i,",
     "bare=Constants(2 * mu, L_i,"),
    ("quadratic: L_f as the largest L_i", QUADRATIC,
     "L_i, float(np.linalg.eigvalsh(average)[-1])", "L_i, float(L_i.max())"),
    ("quadratic: x* of the plain mean of the centres", QUADRATIC, "x_star=x_star.reshape(1, -1, 1)",
     "x_star=c.mean(axis=0).reshape(1, -1, 1)"),
    ("nonconvex: the regulariser's gradient of the other sign", MODEL,
     "(self.row_slopes(x)) + self._regulariser", "(self.row_slopes(x)) - self._regulariser"),
    ("nonconvex: its gradient over 1 + x^2 once", MODEL, "x / (square * square)", "x / square"),
    ("nonconvex: L_i without the regulariser", MODEL, "bare.L_i + most, bare", "bare.L_i, bare"),
    ("nonconvex: L_i with lam for 2 lam", MODEL, "most = self.bare, 2 * self.lam",
     "most = self.bare, self.lam"),
    ("nonconvex: L_f without the regulariser", MODEL, "bare.L_f + most)", "bare.L_f)"),
    ("nonconvex: the regulariser not in the value", MODEL, " + self.lam * regulariser", ""),
    ("nonconvex: mu of the regulariser left out", MODEL, "bare.mu - self.lam / 2", "bare.mu"),
    ("welsch: slope of half the width", ROBUST, "return (z - b) * array_namespace(z).exp(-r * r)",
     "return (z - b) * array_namespace(z).exp(-2 * r * r)"),
    ("tukey: slope without its square", ROBUST, "(1 - self._ratio(z, b)) ** 2",
     "(1 - self._ratio(z, b))"),
    ("tukey: twice the weak convexity", ROBUST, "return 0.8", "return 1.6"),
    ("logistic: twice the steepness", LOSS, "        return 1.0\n\n    def value",
     "        return 2.0\n\n    def value"),
    ("ridge: starts at half of what it is told", RIDGE, "start=given.reshape(1",
     "start=0.5 * given.reshape(1"),
    ("saddles: L_i without negative eigenvalues", SADDLES, "np.abs(eigenvalues).max(axis=1)",
     "eigenvalues.max(axis=1)"),
    ("saddles: half of mu", SADDLES, "Constants(float(eigenvalues.min()),",
     "Constants(float(eigenvalues.min()) / 2,"),
    ("saddles: gradient of the other sign of b", SADDLES, "self.H @ x - self.b",
     "self.H @ x + self.b"),
    ("saddles: gap twice", SADDLES, "@ step), axis=(0, 1)) / 2", "@ step), axis=(0, 1))"),
    ("tilted: kappa as the mean", TILTED, "kappa = float(np.max(np.lin",
     "kappa = float(np.mean(np.lin"),
    ("multiples: rho as the mean", TILTED, "rho = float(array_namespace(self.c).max(",
     "rho = float(array_namespace(self.c).mean("),
    ("margin: sigmoid of the other sign", LOSSES, "p = _sigmoid(-(self.rows @ x))",
     "p = _sigmoid(self.rows @ x)"),
    ("robust: the slope in e without its mean", LOSSES,
     "self.G * (1 - xp.mean(slopes, axis=1, keepdims=True))",
     "self.G * (1 - xp.max(slopes, axis=1, keepdims=True))"),
    ("quartics: f_2 with H for 2 H", QUARTICS, "-4 * self.H], axis=0", "-2 * self.H], axis=0"),
    ("quartics: gap with half the cubic term", QUARTICS, "(4 * star - 3) * s + s * s",
     "(2 * star - 3) * s + s * s"),
    ("quartics: kappa of H for 3 H", QUARTICS, "kappa = 3 * H * float", "kappa = H * float"),
    ("mini-batches: variance as with replacement", BATCHES,
     "(sizes - self.b) / (self.b * np.maximum(sizes - 1, 1))", "1 / (self.b + 0 * sizes)"),
    ("mini-batches: not times m/b", BATCHES, "problem.row_counts / self.b)",
     "problem.row_counts / self.b**0)"),
    ("mini-batches: the same rows in every round", BATCHES, "keys = uniforms[:, :m, :]",
     "keys = 0 * uniforms[:, :m, :]"),
    ("mini-batches: rows of the next client", BATCH_ROWS,
     "[:, None, None] * m", "[:, None, None] * (m - 1)"),
    ("mini-batches: l with the smoothness once", BATCHES, "(spread * L**2)", "(spread * L**4)"),
    ("phases: gradient over 2 m", PHASES, "(2 / self.rows.shape[1]) *",
     "(1 / self.rows.shape[1]) *"),
]  # fmt: skip

PROBLEM_FAULTS = [
    fault(name, module, (right, wrong), on="gd") for name, module, right, wrong in _ROWS
]
