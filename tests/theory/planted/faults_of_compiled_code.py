"""Planted faults of compiled code, which only runs as a user gets them, or large ones, reach."""

from planting import fault

SOLVES, ROWS, STEPS, MESSAGES, VECTORS = (
    "data.passes.solve_passes", "data.passes.row_passes", "data.passes.local_passes",
    "data.passes.selection_pass", "data.passes.column_pass",
)  # fmt: skip

_ROWS = [
    ("diana", "b", "rand-k:1", ROWS,
     ("single entries of gradients without b u", "out[i, k, r] = total + b * vectors",
      "out[i, k, r] = total + 0.0 * vectors")),
    ("locodl", "balanced", "rand-k:2", STEPS,
     ("local steps: slopes of earlier steps not shrunk", "sums[q] = a * sums[q] + s[q]",
      "sums[q] = sums[q] + s[q]"),
     ("local steps: those of the first run for all", "c[r], steps[r], z, w, sums)",
      "c[r], steps[0], z, w, sums)")),
    ("5gcs-cc", "best", "rand-k:2", SOLVES,
     ("local solves: momentum is never switched off", "momentum = 0.0 if again else hasty",
      "momentum = hasty"),
     ("local solves: who has ended is counted", "evaluated[r + w] += left[r + w]",
      "evaluated[r + w] += 1"),
     ("local solves: the accuracy is tested a step late",
      "if left[r + w] and enough:", "if left[r + w] and enough and number:")),
    ("diana", "b", "rand-k:2", MESSAGES,
     ("rand-k: a feature that is drawn again is kept", "if last[t] == who:", "if last[t] < 0:")),
    ("locodl", "balanced", "rand-k:2", VECTORS,
     ("vectors lent to a round: what is shared is added to all runs but the last",
      "x[i, j, run] = x[i, j, run] * factor + shared[0, j, t]",
      "x[i, j, run] = x[i, j, run] * factor + shared[0, j, t] * (run < last)")),
]  # fmt: skip

COMPILED_FAULTS = [
    fault(name, module, (right, wrong), on=method, rule=rule, compressor=compressor)
    for method, rule, compressor, module, *rows in _ROWS
    for name, right, wrong in rows
]

REACHED_BY_COMPILED_CODE = [
    fault("coins: the schedule by the stream of the coin, in rounds that are looked for",
          "solvers.fast.fast_world",
          ('streams.draw_until("round", self.runs', 'streams.draw_until("coin", self.runs'),
          on="locodl", rule="balanced", compressor="rand-k:2"),
    fault("runs: no round is counted after the 200th", "solvers.runs.loop",
          ("now.rounds[now.active[talking]] += 1",
           "now.rounds[now.active[talking]] += now.rounds[now.active[talking]] < 200"),
          on="locodl", rule="balanced", compressor="rand-k:2"),
]  # fmt: skip
"""Faults of code that is not compiled, and runs where local steps are."""
