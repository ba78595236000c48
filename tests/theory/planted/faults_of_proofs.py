"""Planted faults of what judges: verdicts, the check of a certificate, and the long run."""

from planting import fault

VERDICT, PROOF, ALGEBRA = (
    "theory.verdict",
    "theory.proofs.descent",
    "theory.proofs.rational_algebra",
)

PROOF_FAULTS = [
    fault(f"{what}", module, (right, wrong), on="gd")
    for what, module, right, wrong in [
        (
            "verdict: NaN passed over by the largest",
            VERDICT,
            "return max(math.inf if math.isnan(value) else float(value) for value in values)",
            "return max(float(value) for value in values)",
        ),
        (
            "verdict: NaN passed over by the worst of pairs",
            VERDICT,
            "((math.inf if math.isnan(value) else float(value), text) for value, text in found)",
            "((float(value), text) for value, text in found)",
        ),
        (
            "verdict: NaN holds",
            VERDICT,
            "return self.value <= self.limit + ROUNDING * abs(self.limit)",
            "return not self.value > self.limit + ROUNDING * abs(self.limit)",
        ),
        (
            "certificate: multipliers of any sign",
            PROOF,
            "return min(signs, default=ZERO) >= 0 and all(",
            "return all(",
        ),
        (
            "certificate: forms of any sign",
            ALGEBRA,
            "if pivot < 0 or (pivot == 0 and any(column)):",
            "if pivot == 0 and any(column):",
        ),
        (
            "certificate: the diagonal only",
            PROOF,
            "all(ldl(block) is not None for block in form.blocks)",
            "all(x >= 0 for block in form.blocks for x in block.diagonal())",
        ),
        (
            "mean of a form: half the variance of clients' noise",
            "theory.worlds.symbolic.expectation",
            "frame.diagonal(gram, number) * omega)",
            "frame.diagonal(gram, number) * omega / 2)",
        ),
        (
            "mean of a form: half the variance of the server's noise",
            "theory.worlds.symbolic.expectation",
            "gram[0, number, number] * functions.omega_down *",
            "gram[0, number, number] * functions.omega_down / 2 *",
        ),
        (
            "long run: contractions that are too short only",
            "theory.worlds.symbolic.quadratics",
            "v + self._times(self.extreme.sign, errors, v)",
            "v + self._times(-1.0, errors, v)",
        ),
        (
            "long run: means divided by one client too many",
            "theory.exact.second_moments",
            "shares.append(inside / inside.sum())",
            "shares.append(inside / (inside.sum() + 1))",
        ),
        (
            "long run: states that violate invariants",
            "theory.exact.second_moments",
            "kept = invariants(method, state, problem)",
            "kept = ()",
        ),
        (
            "clipping: the growth of f along any step against the gradient",
            "theory.relaxed.growth_bounds",
            "(*conditions, u - y, u - turned, straight)",
            "conditions",
        ),
        (
            "clipping: half of the growth of f in any direction",
            "theory.relaxed.growth_bounds",
            "Fraction(1, factorial(k))) for k in range(2, TERMS + 1)",
            "Fraction(1, 2 * factorial(k))) for k in range(2, TERMS + 1)",
        ),
        (
            "clipping: clients that clip all point along the gradient",
            "theory.relaxed.slope_parts",
            "(mean * 2 - most + tau)",
            "(mean * 2 + most + tau)",
        ),
        (
            "clipping: gradients that do not change within a round",
            "theory.relaxed.growth_bounds",
            "return 1 + T + largest_ratio(T) * T**2",
            "return rational(1)",
        ),
    ]
]
