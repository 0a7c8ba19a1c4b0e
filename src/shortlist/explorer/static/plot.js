// Plots as SVG: each takes data and a width in pixels and returns a node. None computes results.

import { s, short, money } from "./dom.js";

function ticks(low, high, about) {
  const span = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(span / about));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= about);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9 * span; value += step) {
    found.push(Number(value.toPrecision(10)));
  }
  return found;
}

const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

function frame(x, y, xTicks, yTicks, box, labels) {
  return s("g", { "aria-hidden": "true" },
    yTicks.map((value) => [
      s("line", { class: "tick", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      s("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, labels.format(value)),
    ]),
    xTicks.map((value) => s("text", { x: x(value), y: box.bottom + 16, "text-anchor": "middle" }, labels.format(value))),
    s("line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    s("text", { x: box.right, y: box.bottom + 32, "text-anchor": "end" }, labels.x),
    s("text", { x: 0, y: 11 }, labels.y));
}

/** The order in which predictors are first bought. */
const entryOrder = (steps) => [...new Set(steps.flatMap((step) => step.gained))];

/** From where to where a predictor is bought without a break. */
function runs(steps, ends, name) {
  const found = [];
  steps.forEach((step, i) => {
    if (!step.predictors.includes(name)) return;
    if (found.length && found.at(-1)[1] === step.limit) found.at(-1)[1] = ends[i];
    else found.push([step.limit, ends[i]]);
  });
  return found;
}

/** Loss against the limit, and below it which predictors each step buys. */
export function staircase({ steps, highest }, width, unitName) {
  const names = entryOrder(steps);
  const longest = Math.max(0, ...names.map((name) => name.length));
  const left = Math.min(Math.max(46, 6.6 * Math.min(longest, 18) + 12), width * 0.34);
  const row = 15;
  const top = 40;
  const bottom = 208;
  const height = bottom + 44 + row * names.length;
  const end = Math.max(highest, steps.at(-1).limit) || 1;
  const box = { left, right: width - 12, top, bottom };
  const x = scale(0, end, box.left, box.right);
  const losses = steps.map((step) => step.objective);
  const low = Math.min(...losses);
  const high = Math.max(...losses);
  const pad = 0.06 * (high - low || 1);
  const y = scale(low - pad, high + pad, box.bottom, box.top);
  const ends = steps.map((step, i) => steps[i + 1]?.limit ?? end);
  const path = steps.map((step, i) =>
    `${i ? `V${y(step.objective)}` : `M${x(step.limit)},${y(step.objective)}`}H${x(ends[i])}`).join("");
  const bars = names.map((name, position) => {
    const at = bottom + 40 + position * row;
    const shown = name.length > 18 && left < 140 ? `${name.slice(0, 17)}…` : name;
    return s("g", { "data-name": name },
      s("text", { class: "name", x: left - 6, y: at + 10, "text-anchor": "end" }, shown),
      runs(steps, ends, name).map(([from, to]) =>
        s("rect", { class: "bar", x: x(from), y: at + 2, height: row - 5, width: Math.max(1.5, x(to) - x(from)) })),
      s("rect", { class: "bar current", y: at + 2, height: row - 5 }));
  });
  const here = s("g", { class: "position" },
    s("line", { class: "here", y1: top - 4, y2: height - 2 }),
    s("circle", { class: "here-dot", r: 6 }),
    s("text", { class: "here-text", y: top - 8 }));
  const node = s("svg", {
    class: "plot draggable", viewBox: `0 0 ${width} ${height}`, height, role: "img",
    "aria-label": `Staircase with ${steps.length} steps: the penalised loss of the best model falls from `
      + `${short(high)} to ${short(low)} as the ${unitName} rises to ${money(end)}.`,
  },
  frame(x, y, ticks(0, end, Math.max(3, width / 110)), ticks(low, high, 5), box,
    { x: unitName, y: "penalised loss, lower is better", format: short }),
  bars, s("path", { class: "line", d: path }),
  steps.length < 120 && steps.map((step) => s("circle", { class: "dot", cx: x(step.limit), cy: y(step.objective), r: 2.4 })),
  here);
  return {
    node,
    limitAt: (pixel) => Math.min(end, Math.max(0, ((pixel - box.left) / (box.right - box.left)) * end)),
    /** Show where the limit is now. */
    moveTo(limit, label) {
      const at = stepAt(steps, limit);
      const place = x(Math.min(limit, end));
      const [line, dot, text] = here.children;
      line.setAttribute("x1", place);
      line.setAttribute("x2", place);
      here.setAttribute("visibility", at < 0 ? "hidden" : "visible");
      dot.setAttribute("cx", place);
      dot.setAttribute("cy", at < 0 ? box.bottom : y(steps[at].objective));
      text.textContent = label;
      text.setAttribute("x", place);
      text.setAttribute("text-anchor", place > width * 0.7 ? "end" : place < width * 0.3 ? "start" : "middle");
      for (const group of node.querySelectorAll("g[data-name]")) {
        const isBought = at >= 0 && steps[at].predictors.includes(group.dataset.name);
        group.firstChild.classList.toggle("current", isBought);
        const bar = group.lastChild;
        bar.setAttribute("visibility", isBought ? "visible" : "hidden");
        if (!isBought) continue;
        bar.setAttribute("x", x(steps[at].limit));
        bar.setAttribute("width", Math.max(3, x(ends[at]) - x(steps[at].limit)));
      }
    },
  };
}

/** The step that a limit buys, -1 if none. */
function stepAt(steps, limit) {
  let at = -1;
  steps.forEach((step, i) => {
    if (step.limit <= limit * (1 + 1e-9)) at = i;
  });
  return at;
}

function square(width, labels) {
  const size = Math.min(width, 320);
  const box = { left: 40, right: size - 8, top: 26, bottom: size - 40 };
  const x = scale(0, 1, box.left, box.right);
  const y = scale(0, 1, box.bottom, box.top);
  const marks = [0, 0.25, 0.5, 0.75, 1];
  const base = [
    frame(x, y, marks, marks, box, { ...labels, format: (value) => String(value) }),
    s("path", { class: "ideal", d: `M${x(0)},${y(0)}L${x(1)},${y(1)}` }),
  ];
  return { size, x, y, base };
}

export function rocCurve(points, auc, width) {
  const { size, x, y, base } = square(width, { x: "false positive rate", y: "true positive rate" });
  const path = points.map((point, i) =>
    `${i ? "L" : "M"}${x(point.false_positive_rate).toFixed(1)},${y(point.true_positive_rate).toFixed(1)}`).join("");
  return s("svg", { class: "plot", viewBox: `0 0 ${size} ${size}`, height: size, role: "img",
    "aria-label": `ROC curve with an area of ${auc.toFixed(3)}.` }, base, s("path", { class: "line", d: path }));
}

export function calibrationPlot(groups, width) {
  const { size, x, y, base } = square(width, { x: "predicted risk", y: "observed share" });
  const described = groups.map((group) => `${group.predicted.toFixed(2)}: ${group.observed.toFixed(2)}`).join(", ");
  return s("svg", { class: "plot", viewBox: `0 0 ${size} ${size}`, height: size, role: "img",
    "aria-label": `Observed share by predicted risk, in groups of patients: ${described}.` }, base,
  groups.map((group) => [
    s("line", { class: "whisker", x1: x(group.predicted), x2: x(group.predicted), y1: y(group.lower), y2: y(group.upper) }),
    s("circle", { class: "dot", cx: x(group.predicted), cy: y(group.observed), r: 4 }),
  ]));
}
