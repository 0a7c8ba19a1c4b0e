// The model: predictors, odds ratios, equation and proof.

import { markPredictors } from "./controls.js";
import { byId, changes, h, money, percent, plural, ratio, replaceKeepingFocus, short, signed, table } from "./dom.js";
import { change, chosenWord, hasPrices } from "./store.js";

const REASONS = {
  time_limit: "the time limit was reached",
  node_limit: "the node limit was reached",
  stalled: "rounding left a gap",
};

function figures(answer) {
  const entry = (name, value, note) => h("div", {}, h("dt", {}, name), h("dd", {}, value, note && h("small", {}, ` ${note}`)));
  const { limit, budget, count } = answer.state;
  return h("dl", { class: "figures" },
    entry("predictors", String(answer.predictors.length), limit === "count" ? `of ${count}` : ""),
    hasPrices(answer.state) && entry("cost", money(answer.cost), limit === "budget" ? `of ${money(budget)}` : ""),
    entry("penalised loss", answer.objective.toFixed(2)),
    entry("AUC", answer.auc.toFixed(3), "apparent"));
}

function purchases(answer) {
  const { costs } = answer.state;
  const priced = (...cells) => (hasPrices(answer.state) ? cells : []);
  const rows = [];
  for (const name of answer.predictors) {
    // Units are arbitrary: where quartiles are compared, the slope is left to the equation.
    const own = answer.effects.filter((effect) => effect.predictor === name);
    const effects = own.length > 1 ? own.filter((effect) => !effect.contrast.startsWith("per ")) : own;
    effects.forEach((effect, i) => rows.push({ cells: [
      i ? "" : name,
      ...priced({ number: i ? "" : money(costs[name]) }),
      effect.contrast,
      { number: effect.odds_ratio === null ? "very large" : ratio(effect.odds_ratio) },
    ] }));
  }
  for (const fee of answer.fees) {
    rows.push({ cells: ["fee", { number: money(fee.amount) }, `for ${fee.members.join(", ")}`, { number: "" }] });
  }
  if (hasPrices(answer.state)) rows.push({ class: "total", cells: ["total", { number: money(answer.cost) }, "", { number: "" }] });
  return table("The predictors of the model, and the odds ratios", ["predictor", ...priced({ number: "price" }), "difference", { number: "odds ratio" }], rows);
}

const FACTORS = {
  times: ({ predictor }) => predictor,
  curve: ({ predictor, level }) => `curve ${level} of ${predictor}`,
  is: ({ predictor, level }) => `[${predictor} = ${level}]`,
  missing: ({ predictor }) => `[${predictor} is missing]`,
};

function equation(answer, open) {
  const { intercept, parts } = answer.equation;
  const terms = parts.filter((part) => part.what !== "reference").map((part) =>
    `${part.coefficient < 0 ? " − " : " + "}${short(Math.abs(part.coefficient))} · ${FACTORS[part.what](part)}`);
  return h("details", { class: "more", open }, h("summary", { "data-key": "equation" }, "The equation"),
    h("p", { class: "equation" }, `log-odds = ${short(intercept)}${terms.join("")}`),
    h("p", { class: "caption" }, "In the units of the table; […] is 1 if true, else 0. Risk = 1 / (1 + exp(−log-odds))."));
}

function proofLine({ best, objective, excess, state }) {
  if (state.adopted) {
    return `Your selection: its loss ${objective.toFixed(4)} is ${percent(excess, 2)} above the best, ${best.objective.toFixed(4)}.`;
  }
  if (best.is_proven) {
    return `Proven: no ${hasPrices(state) ? "affordable " : "other "}selection has a penalised loss below ${best.lower_bound.toFixed(4)}; this one has ${objective.toFixed(4)}. `
      + `${plural(best.nodes, "node")}, ${(1000 * best.seconds).toFixed(0)} ms.`;
  }
  return `Not proven, because ${REASONS[best.status] ?? best.status}: this selection has ${objective.toFixed(4)}, and none can be below `
    + `${best.lower_bound.toFixed(4)}, ${percent(best.gap, 2)} less.`;
}

const SOLVING = "solving…";
let last = null; // the answer drawn last, and the one before with another selection
let before = null;

/** What is different from the selection before: what was bought, what it costs, what it gains. */
function difference(answer) {
  const same = last !== null && JSON.stringify(last.predictors) === JSON.stringify(answer.predictors);
  if (!same || last.state.data !== answer.state.data) before = last;
  last = answer;
  if (before === null || before.state.data !== answer.state.data) return null;
  const gained = answer.predictors.filter((name) => !before.predictors.includes(name));
  const lost = before.predictors.filter((name) => !answer.predictors.includes(name));
  if (!gained.length && !lost.length) return null;
  const parts = hasPrices(answer.state) ? [`cost ${signed(answer.cost - before.cost, 2)}`] : [];
  // With another ridge the penalised loss is another one.
  if (before.state.ridge === answer.state.ridge) parts.push(`loss ${signed(100 * (answer.objective / before.objective - 1), 1)} %`);
  parts.push(`AUC ${signed(answer.auc - before.auc, 3)}`);
  return h("p", { class: "difference" }, "vs previous selection: ", changes(gained, lost), `; ${parts.join(", ")}.`);
}

function setBadge(kind, text) {
  byId("proof").className = `badge ${kind}`;
  byId("proof").textContent = text;
}

export function showSolving() {
  setBadge("", "Solving…");
  const claim = byId("verdict").querySelector(".claim");
  if (claim === null) byId("verdict").textContent = SOLVING;
  else if (claim.textContent !== SOLVING) claim.textContent = SOLVING; // a change is read out
}

export function showModel(answer, isCurrent) {
  const { best, state } = answer;
  byId("model-title").textContent = state.adopted ? "Your model" : best.is_proven ? "The best model" : "The best model so far";
  if (isCurrent) {
    if (state.adopted) setBadge("unproven", `${percent(answer.excess, 2)} worse than the best`);
    else if (best.is_proven) setBadge("proven", `✓ Proven best, ridge ${short(state.ridge)}`);
    else setBadge("unproven", `Not proven, gap ${percent(best.gap, 2)}, ridge ${short(state.ridge)}`);
  }
  const content = byId("model-content");
  const equationOpen = content.querySelector("details")?.open;
  replaceKeepingFocus(content,
    ...(state.adopted ? [h("div", { class: "adopted" }, "Your selection, not the best one.",
      h("button", { type: "button", onclick: () => change({ adopted: null }) }, "Return to the best"))] : []),
    figures(answer),
    difference(answer) ?? "",
    answer.predictors.length ? purchases(answer)
      : h("p", { class: "empty" }, `No predictor is ${chosenWord()}, so every patient has the average risk. Raise the limit to have one.`),
    h("p", { class: "proof-line" }, proofLine(answer)),
    equation(answer, equationOpen));
  markPredictors(answer.predictors);
  const verdict = byId("verdict");
  const claim = state.adopted ? "your selection" : best.is_proven ? "proven best" : "not proven";
  verdict.replaceChildren(
    h("strong", {}, plural(answer.predictors.length, "predictor") + (hasPrices(state) ? ` for ${money(answer.cost)}` : "")),
    ` with ${state.limit === "budget" ? `a budget of ${money(state.budget)}` : `at most ${state.count}`}`
      + ` · AUC ${answer.auc.toFixed(3)} · `,
    h("span", { class: "claim" }, isCurrent ? claim : SOLVING));
}

export function showNoModel(sentence) {
  setBadge("failed", "No model");
  byId("model-title").textContent = "No model";
  byId("model-content").replaceChildren(h("p", { class: "error" }, sentence));
  byId("verdict").replaceChildren(h("span", { class: "error" }, sentence));
  markPredictors([]);
}
