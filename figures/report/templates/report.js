"use strict";
// Percentiles of what was sorted, linear between runs; what never arrives is infinite.
function percentile(sorted, part) {
  const place = part * (sorted.length - 1), low = sorted[Math.floor(place)], high = sorted[Math.ceil(place)];
  return low === high ? low : low + (high - low) * (place % 1);
}

// The ranking by bits sent + weight x bits received: medians over the seeds, "never" last.
function rank(weight) {
  for (const table of document.querySelectorAll(".ranking")) {
    const rows = [...table.tBodies[0].rows].map((row) => {
      const down = JSON.parse(row.dataset.down);
      const costs = JSON.parse(row.dataset.up).map((up, i) => (up === null ? Infinity : up + weight * down[i]));
      return { row, cost: percentile(costs.sort((a, b) => a - b), 0.5) };
    });
    rows.sort((a, b) => a.cost - b.cost || 0);
    const most = Math.max(...rows.map((r) => r.cost).filter(Number.isFinite));
    for (const { row, cost } of rows) {
      const arrives = Number.isFinite(cost);
      row.querySelector(".total").textContent = arrives ? Math.round(cost).toLocaleString("en") : "-";
      row.querySelector(".bar i").style.width = arrives ? `${Math.max(1, (100 * cost) / most)}%` : "0";
      table.tBodies[0].append(row);
    }
  }
}

const slider = document.getElementById("weight");
slider?.addEventListener("input", () => {
  const weight = +slider.value ? +(10 ** (-4 + +slider.value / 20)).toPrecision(2) : 0;
  document.getElementById("weight-text").textContent = weight;
  rank(weight);
});
if (slider) rank(+slider.dataset.weight);

// Filters: what is shown has the chosen value, of its outcome or of its severity.
for (const button of document.querySelectorAll(".filter button")) {
  button.addEventListener("click", () => {
    const { of, show } = button.dataset;
    for (const other of button.parentElement.children) other.setAttribute("aria-pressed", other === button);
    for (const item of document.querySelectorAll(`[data-is~="${of}"]`)) {
      item.hidden = show !== "all" && (of === "severity" ? item.dataset.severity : item.dataset.value) !== show;
    }
  });
}
