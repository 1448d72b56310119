// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::report {

/// The one script of a page. It shows one curve at a time, larger, with a switch between them, and tells the numbers of
/// the iteration that is nearest to the pointer, or that the arrow keys are at. Without it both curves are there, and
/// say numbers at some of their places. It reads what the page holds and writes text alone.
inline constexpr const char* script = R"(
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const curves = document.querySelector(".curves");
  if (!curves || data.history.length === 0) return;
  const figures = [...curves.querySelectorAll("figure")];
  const of = (name, parent, attributes) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) one.setAttribute(key, attributes[key]);
    return parent.appendChild(one);
  };
  const html = (name, parent) => parent.appendChild(document.createElement(name));
  const time = s => s < 1e-3 ? (1e6 * s).toPrecision(3) + " us" : s < 1 ? (1e3 * s).toPrecision(3) + " ms"
    : s.toPrecision(4) + " s";

  const aside = html("div", curves);
  aside.className = "aside";
  const choice = html("div", aside);
  const told = document.createElement("output");
  told.textContent = "Rest on the curve to see its numbers.";
  aside.append(told);

  const plots = figures.map(figure => {
    const [left, right, top, bottom, low, high, least, most] = figure.dataset.box.split(" ").map(Number);
    const svg = figure.querySelector("svg");
    for (const hint of svg.querySelectorAll("circle[fill-opacity='0']")) hint.remove(); // this tells all of them
    const mark = of("g", svg, {"class": "mark", visibility: "hidden"});
    const line = of("line", mark, {y1: top, y2: bottom, "stroke-width": 1, "stroke-opacity": 0.5});
    const dot = of("circle", mark, {r: 4});
    const values = figure.dataset.by === "second" ? data.history_seconds : data.history_iterations;
    return {
      values,
      /// Which value a place of the screen is nearest to.
      nearest(event) {
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
        const wanted = low + (high - low) * (at - left) / (right - left);
        let best = 0;
        values.forEach((v, k) => { if (Math.abs(v - wanted) < Math.abs(values[best] - wanted)) best = k; });
        return best;
      },
      show(k) {
        const x = left + (right - left) * (values[k] - low) / (high - low), r = data.history[k];
        const y = r > 0 ? bottom - (bottom - top) * Math.log(r / least) / Math.log(most / least) : bottom;
        line.setAttribute("x1", x), line.setAttribute("x2", x);
        dot.setAttribute("cx", x), dot.setAttribute("cy", Math.min(Math.max(y, top), bottom));
        mark.setAttribute("visibility", "visible");
      },
    };
  });

  let shown = 0, at = -1;
  const tell = k => {
    at = k;
    plots.forEach(p => p.show(k));
    const r = data.history[k], seconds = data.history_seconds[k];
    told.textContent = "iteration " + data.history_iterations[k].toLocaleString("en") +
      "\nresidual " + (r === null ? "not a number" : r.toExponential(3)) +
      (seconds === undefined ? "" : "\nafter " + time(seconds));
  };
  const show = k => {
    shown = k;
    figures.forEach((figure, n) => { figure.hidden = n !== k; });
  };
  const keys = {ArrowLeft: k => k - 1, ArrowRight: k => k + 1, Home: () => 0, End: () => data.history.length - 1};

  figures.forEach((figure, n) => {
    figure.tabIndex = 0;
    for (const event of ["pointermove", "pointerdown"])
      figure.addEventListener(event, e => tell(plots[n].nearest(e)));
    figure.addEventListener("keydown", e => {
      if (!(e.key in keys)) return;
      e.preventDefault();
      tell(Math.min(Math.max(keys[e.key](at), 0), data.history.length - 1));
    });
    if (figures.length === 1) return;
    const label = html("label", choice), button = html("input", label);
    button.type = "radio", button.name = "by", button.value = figure.dataset.by, button.checked = n === shown;
    button.addEventListener("change", () => show(n));
    label.append(" by " + figure.dataset.by);
  });
  curves.className = "curves one";
  show(0);
})();
)";

/// What a browser may do for the page: use its styles, and run this script. A test compares the hash.
inline constexpr const char* policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-vVPOzS8LVJnqhPiCJifUxH7HrlanZZrKuR94xp1gwcQ='";

} // namespace furrow::report
