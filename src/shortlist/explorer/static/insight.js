// The panels around the model: staircase, alternatives, substitutes, stability, performance.

import { limitOf, setLadder, setLimit, snap } from "./controls.js";
import { byId, changes, contentOf, h, money, percent, plural, replaceKeepingFocus, table, worse } from "./dom.js";
import { calibrationPlot, rocCurve, staircase } from "./plot.js";
import { change, store } from "./store.js";

// A part that scrolls, which the keyboard can reach.
const scrolled = (name, kind = "") => ({ class: `${kind} scroll`, tabindex: 0, role: "region", "aria-label": name, "data-key": name });
let stairs = null; // the drawn staircase
let stairsAnswer = null;
let bought = [];

export function showStaircase(answer) {
  stairsAnswer = answer;
  const byBudget = answer.state.limit === "budget";
  byId("staircase-title").textContent = byBudget ? "Best model for every budget" : "Best model for every number of predictors";
  drawStaircase();
}

export function forgetStaircase() {
  stairs = null;
  stairsAnswer = null;
}

/** Let the buttons beside the slider go from step to step, if the steps belong to the settings. */
export function offerSteps(areCurrent) {
  setLadder(areCurrent && stairsAnswer !== null ? stairsAnswer.steps.map((step) => step.limit) : []);
}

/** Draw the staircase to the width that there is. */
export function drawStaircase() {
  if (stairsAnswer === null) return;
  const content = contentOf("staircase");
  const unit = stairsAnswer.state.limit === "budget" ? "budget" : "number of predictors";
  stairs = staircase(stairsAnswer, Math.max(280, content.clientWidth), unit);
  const pull = (event) => {
    if (stairsAnswer?.state.limit !== store.state.limit) return; // its axis is of another kind
    const rect = stairs.node.getBoundingClientRect();
    setLimit(snap(stairs.limitAt(((event.clientX - rect.left) / rect.width) * stairs.node.viewBox.baseVal.width)));
  };
  stairs.node.addEventListener("pointerdown", (event) => {
    stairs.node.setPointerCapture(event.pointerId);
    pull(event);
  });
  stairs.node.addEventListener("pointermove", (event) => event.buttons && pull(event));
  const wasOpen = content.querySelector("details")?.open;
  replaceKeepingFocus(content,
    stairs.node,
    h("p", { class: "caption" }, `${plural(stairsAnswer.steps.length, "step")}, ${stairsAnswer.is_proven ? "all proven" : "not all proven"}. Drag on the plot, or use ‹ and › beside the slider.`),
    h("details", { class: "more", open: wasOpen }, h("summary", { "data-key": "table" }, "As a table"),
      h("div", scrolled("The staircase as a table"), table("The staircase", [{ number: unit }, { number: "loss" }, { number: "AUC" }, "change"],
        stairsAnswer.steps.map((step) => ({ cells: [
          { number: money(step.limit) }, { number: step.objective.toFixed(2) }, { number: step.auc.toFixed(3) }, changes(step.gained, step.lost),
        ] }))))));
  moveOnStaircase();
}

export function moveOnStaircase() {
  if (stairs === null || stairsAnswer.state.limit !== store.state.limit) return;
  const limit = limitOf(store.state);
  stairs.moveTo(limit, store.state.limit === "budget" ? `budget ${money(limit)}` : `at most ${limit}`);
}

export function showAlternatives(answer) {
  const current = JSON.stringify(store.state.adopted ?? answer.models[0].predictors);
  const rows = answer.models.map((model, i) => {
    const isCurrent = JSON.stringify(model.predictors) === current;
    const word = isCurrent ? "Shown" : "Adopt";
    const what = i === 0 ? "the best model" : changes(model.gained, model.lost);
    const adopt = h("button", {
      type: "button", class: "quiet", "aria-disabled": isCurrent && "true", "data-key": JSON.stringify(model.predictors),
      "aria-label": `${word}: selection ${i + 1}, ${model.predictors.join(", ") || "nothing"}`,
      onclick: () => isCurrent || change({ adopted: i === 0 ? null : model.predictors }),
    }, word);
    return { class: isCurrent ? "current" : "", cells: [what, { number: money(model.cost) }, { number: i ? worse(model.excess, 2) : "" }, { number: adopt }] };
  });
  const n = answer.models.length - 1;
  const summary = !answer.is_complete ? `The best ${answer.models.length} found; there may be more.`
    : n === 0 ? `No other selection is within ${percent(answer.tolerance)}.`
      : `${plural(n, "other selection")}; no others are within ${percent(answer.tolerance)}.`;
  replaceKeepingFocus(contentOf("alternatives"),
    h("div", scrolled("Selections that are nearly as good"), table("Selections that are nearly as good", ["selection", { number: "cost" }, { number: "loss" }, { number: "" }], rows)),
    h("p", { class: "caption" }, summary));
}

export function showSubstitutes(answer) {
  const rows = answer.substitutes.map((entry) => ({ cells: [
    entry.without,
    entry.gained.length || entry.lost.length ? changes(entry.gained, entry.lost) : "nothing else",
    { number: money(entry.cost) },
    { number: `${worse(entry.excess)}${entry.is_proven ? "" : " ?"}` },
  ] }));
  contentOf("substitutes").replaceChildren(rows.length
    ? table("What to buy instead of each predictor", ["without", "buy instead", { number: "cost" }, { number: "loss" }], rows)
    : h("p", { class: "empty" }, "The best model has no optional predictor."));
}

export function showNotes(answer) {
  contentOf("notes").replaceChildren(answer.notes.length
    ? h("ul", { class: "notes" }, answer.notes.map(({ level, topic, text }) => h("li", { class: level }, h("strong", {}, `${topic}. `), text)))
    : h("p", { class: "empty" }, "No problems found in the data or the best model."));
}

export function setBought(names) {
  bought = names;
}

export function showStability(answer) {
  const shown = answer.inclusion.filter((entry) => entry.frequency > 0).sort((a, b) => b.frequency - a.frequency);
  const running = answer.done < answer.of;
  const label = `${answer.done} of ${answer.of} resamples`;
  replaceKeepingFocus(contentOf("stability"),
    ...(running ? [h("progress", { max: answer.of, value: answer.done, "aria-label": label })] : []),
    h("div", scrolled("How often each predictor is bought", "bars"), shown.flatMap((entry) => {
      const fill = h("span", { class: bought.includes(entry.predictor) ? "fill current" : "fill" });
      fill.style.width = `${100 * entry.frequency}%`;
      return [
        h("span", { class: "label" }, entry.predictor),
        h("span", { class: "track", title: `between ${percent(entry.lower, 0)} and ${percent(entry.upper, 0)}` }, fill),
        h("span", { class: "value" }, percent(entry.frequency, 0)),
      ];
    })),
    h("p", { class: "caption" }, running ? `${label}…`
      : `Share of ${answer.of} bootstrap resamples that buy each predictor; dark bars are in the best model.`
        + `${answer.stability === null ? "" : ` Stability ${answer.stability.toFixed(2)} of 1.`}`
        + `${answer.unproven ? ` ${answer.unproven} of the searches were not proven.` : ""}`),
    ...individualRisks(answer.risks));
}

function individualRisks(risks) {
  if (risks === null) return [];
  const rows = risks.groups.map((group) => ({ cells: [
    { number: percent(group.risk) },
    { number: group.lower === null ? "–" : `${percent(group.lower)} to ${percent(group.upper)}` },
    { number: (100 * group.difference).toFixed(1) },
  ] }));
  return [
    h("h3", {}, "Individual risks"),
    table("How much risks vary", [{ number: "mean risk" }, { number: "95 % range" }, { number: "difference" }], rows),
    h("p", { class: "caption" }, `A patient's risk by models of resamples differs from the best model's by ${(100 * risks.difference).toFixed(1)} percentage points on average. `
      + "Rows are groups of patients of about equal size, by risk."),
  ];
}

export function showOptimism(answer) {
  const score = (value) => ({ number: value === null ? "–" : value.toFixed(3) });
  const rows = answer.corrected.map((entry) => ({ cells: [
    entry.name, score(entry.apparent), score(entry.corrected), { number: String(entry.n_resamples) },
  ] }));
  contentOf("optimism").replaceChildren(
    table("Performance corrected for optimism", ["", { number: "apparent" }, { number: "corrected" }, { number: "resamples" }], rows),
    h("p", { class: "caption" }, `${answer.done < answer.of ? `${answer.done} of ${answer.of} resamples… ` : ""}`
      + "By the bootstrap: the selection is repeated on resamples, with this ridge. AUC and Brier score by the .632+ rule, the slope by Harrell's. A slope below 1 means that predictions are too extreme."));
}

export function showPerformance(answer) {
  const content = contentOf("performance");
  const wide = content.clientWidth > 420;
  const width = wide ? (content.clientWidth - 16) / 2 : content.clientWidth;
  content.replaceChildren(h("div", { class: "pair" },
    h("div", {}, h("h3", {}, `ROC, area ${answer.auc.toFixed(3)}`), rocCurve(answer.roc, answer.auc, width)),
    h("div", {}, h("h3", {}, "Calibration"), calibrationPlot(answer.calibration, width))),
  h("p", { class: "caption" }, "Apparent, so optimistic. Dots are groups of patients of about equal size, with 95 % intervals."));
}
