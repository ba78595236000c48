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

// The lines of charts of costs, from the bits of every seed: percentiles 10, 50 and 90.
function count(plot, weight) {
  for (const source of new Set(plot.renderers.map((each) => each.data_source))) {
    const { up, down } = source.data, columns = { low: [], x: [], high: [] };
    if (!up) return;
    up.forEach((sent, level) => {
      const costs = sent.map((bits, run) => (bits === null ? Infinity : bits + weight * down[level][run]));
      costs.sort((a, b) => a - b);
      ["low", "x", "high"].forEach((name, at) => {
        const cost = percentile(costs, [0.1, 0.5, 0.9][at]);
        columns[name].push(cost > 0 && Number.isFinite(cost) ? cost : NaN);
      });
    });
    source.data = { ...source.data, ...columns };
  }
  plot.below.find((each) => "axis_label" in each).axis_label =
    weight ? `bits sent + ${weight} × bits received, per client` : "bits sent per client";
}
const slider = document.getElementById("weight");
let weight = slider ? +slider.dataset.weight : 0, moved = false;
slider?.addEventListener("input", () => {
  weight = +slider.value ? +(10 ** (-4 + +slider.value / 20)).toPrecision(2) : 0;
  moved = true;
  document.getElementById("weight-text").textContent = weight;
  rank(weight);
  for (const plot of views.values()) if (plot) count(plot, weight);
});
addEventListener("drawn", (event) => moved && count(views.get(event.target), weight));
if (slider) rank(weight);

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
