"use strict";
const tip = document.getElementById("tip");

// Values on hover: the nearest point of the nearest line, read back from its path.
function value(place, from, to, low, high, logarithmic) {
  const part = (place - from) / (to - from);
  return logarithmic ? low * (high / low) ** part : low + part * (high - low);
}
const short = (x) => (x >= 1e-2 && x < 1e6 ? x.toLocaleString("en", { maximumSignificantDigits: 4 }) : x.toExponential(2));
for (const chart of document.querySelectorAll(".chart[data-frame]")) {
  const [left, right, top, bottom, x0, x1, y0, y1] = chart.dataset.frame.split(" ").map(Number);
  const lines = [...chart.querySelectorAll(".series")].filter((g) => g.querySelector(".line")).map((g) => ({
    g, points: [...g.querySelector(".line").getAttribute("d").matchAll(/([\d.]+),([\d.]+)/g)].map((p) => [+p[1], +p[2]]),
  }));
  const leave = () => { tip.hidden = true; chart.querySelector(".near")?.classList.remove("near"); };
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("pointermove", (event) => {
    const here = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
    let best = { far: 900 };
    for (const { g, points } of lines) {
      for (const [x, y] of points) {
        const far = (x - here.x) ** 2 + (y - here.y) ** 2;
        if (far < best.far) best = { far, g, x, y };
      }
    }
    leave();
    if (!best.g) return;
    best.g.classList.add("near");
    const across = value(best.x, left, right, x0, x1, chart.dataset.log[0] === "1");
    const up = value(best.y, bottom, top, y0, y1, chart.dataset.log[1] === "1");
    tip.textContent = `${best.g.dataset.name} · at ${short(across)}: ${short(up)}`;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 240)}px`;
    tip.style.top = `${event.clientY + 14}px`;
    tip.hidden = false;
  });
}

// The ranking by bits sent + weight x bits received: medians over the seeds, "never" last.
const middle = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  const [a, b] = [sorted[Math.floor(half)], sorted[Math.ceil(half)]];
  return a === b ? a : (a + b) / 2;
};
function rank(weight) {
  for (const table of document.querySelectorAll(".ranking")) {
    const rows = [...table.tBodies[0].rows].map((row) => {
      const down = JSON.parse(row.dataset.down);
      const costs = JSON.parse(row.dataset.up).map((up, i) => (up === null ? Infinity : up + weight * down[i]));
      return { row, cost: middle(costs) };
    });
    rows.sort((a, b) => a.cost - b.cost || 0);
    const most = Math.max(...rows.map((r) => r.cost).filter(Number.isFinite));
    for (const { row, cost } of rows) {
      const arrives = Number.isFinite(cost);
      row.querySelector(".total").textContent = arrives ? Math.round(cost).toLocaleString("en") : "-";
      row.querySelector("i").style.width = arrives ? `${Math.max(1, (100 * cost) / most)}%` : "0";
      table.tBodies[0].append(row);
    }
  }
}
const slider = document.getElementById("weight");
slider?.addEventListener("input", () => {
  const weight = +slider.value ? 10 ** (-4 + +slider.value / 20) : 0;
  document.getElementById("weight-text").textContent = weight ? String(+weight.toPrecision(2)) : "0";
  rank(weight);
  for (const panel of document.querySelectorAll(".panel")) panel.classList.toggle("stale", Math.abs(weight - panel.dataset.weight) > 1e-9);
});
if (slider) rank(0);

// Switches: a curve and its name are drawn or not.
for (const box of document.querySelectorAll("[data-shows]")) {
  box.addEventListener("change", () => {
    const of = CSS.escape(box.dataset.shows);
    for (const part of document.querySelectorAll(`#${of}, [data-of="${of}"]`)) part.toggleAttribute("hidden", !box.checked);
  });
}

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
