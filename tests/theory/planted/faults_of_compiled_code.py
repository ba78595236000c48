"""Planted faults of compiled code, which only runs as a user gets them, or large ones, reach."""

from planting import fault

_ROWS = [
    ("gd", None, None, "data.passes.row_passes",
     ("gradients without the ridge", "own[q] += ridge * one[q]", "own[q] += 0.0 * one[q]"),
     ("gradients of the first rows for all", "base = row // m * step + r", "base = r")),
    ("diana", "b", "rand-k:2", "data.passes.message_passes",
     ("rand-k: a feature that is drawn again is kept", "if last[t] == who:", "if last[t] < 0:")),
    ("diana", "b", "natural", "data.passes.message_passes",
     ("natural: always rounded up", "(_MANTISSA - bits)", "_MANTISSA")),
]  # fmt: skip

COMPILED_FAULTS = [
    fault(name, module, (right, wrong), on=method, rule=rule, compressor=compressor)
    for method, rule, compressor, module, *rows in _ROWS
    for name, right, wrong in rows
]

REACHED_BY_COMPILED_CODE = [
    fault("runs: no round is counted after the 200th", "solvers.runs.loop",
          ("now.rounds[now.active[talking]] += 1",
           "now.rounds[now.active[talking]] += now.rounds[now.active[talking]] < 200"),
          on="locodl", rule="balanced", compressor="rand-k:2"),
]  # fmt: skip
"""Faults of code that is not compiled, in runs that are."""
