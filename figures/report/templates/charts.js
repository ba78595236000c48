"use strict";
// A chart is JSON of Bokeh inside the element where it is drawn, when it comes into view.
const views = new Map();
async function draw(place) {
  if (views.has(place)) return;
  views.set(place, null);
  const item = JSON.parse(place.querySelector("script").textContent);
  place.id = item.target_id = `chart-${views.size}`;
  const manager = await Bokeh.embed.embed_item(item, place.id);
  const plot = manager.roots[0].model;
  plot.below.find((each) => "ncols" in each).ncols = Math.max(1, Math.floor(place.clientWidth / 230));
  views.set(place, plot);
  place.dispatchEvent(new Event("drawn", { bubbles: true }));
}
const charts = () => document.querySelectorAll(".chart");
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) draw(target);
}, { rootMargin: "400px" });
for (const place of charts()) seen.observe(place);
addEventListener("beforeprint", () => charts().forEach(draw));
