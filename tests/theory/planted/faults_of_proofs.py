"""Planted faults of what judges: verdicts, the check of a certificate, and the long run."""

from planting import fault

VERDICT, PROOF = "theory.verdict", "theory.certificates.proof"

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
            "if min(signed, default=0.0) < 0 or min(multipliers.values(), default=0.0) < 0:",
            "if min(signed, default=0.0) < 0:",
        ),
        (
            "certificate: forms of any sign",
            PROOF,
            "return largest <= -margin",
            "return abs(largest) >= margin",
        ),
        (
            "certificate: the diagonal only",
            PROOF,
            "return largest <= -margin",
            "return bool(np.all(diagonal < 0))",
        ),
        (
            "long run: contractions that are too short only",
            "theory.worlds.symbolic.quadratics",
            "(1 + self._times(self.extreme.sign, errors))",
            "(1 + self._times(-1.0, errors))",
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
    ]
]
