// The controls: limit, prices, fees, required and unavailable predictors.

import { byId, h, money, numberIn } from "./dom.js";
import { change, chosenWord, priceOfEverything, store } from "./store.js";

const slider = byId("limit-slider");
const exact = byId("limit-number");
const MOST = 1e9; // the server takes no larger amount
let ladder = []; // the limits at which the best selection changes

/** A step of the slider: fine enough to drag, coarse enough for arrow keys. */
function sliderStep(highest, prices) {
  const finest = highest / 400;
  if (prices.every(Number.isInteger) && finest <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(finest || 1));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= finest) ?? 1;
}

export function limitOf(state) {
  return state.limit === "budget" ? state.budget : state.count;
}

/** Set the limit, on a step of the slider if it came from there. */
export function setLimit(value) {
  const limit = Math.min(MOST, Math.max(0, value));
  change(store.state.limit === "budget" ? { budget: limit } : { count: Math.round(limit) });
}

export const snap = (value) => {
  const step = Number(slider.step);
  return Number((Math.round(value / step) * step).toPrecision(12));
};

/** Learn at which limits the selection changes, for the buttons beside the slider. */
export function setLadder(limits) {
  ladder = limits;
  showLimit();
}

function neighbours() {
  const limit = limitOf(store.state);
  const slack = 1e-9 * (1 + limit);
  return {
    below: ladder.filter((step) => step <= limit + slack).slice(-2, -1)[0],
    above: ladder.find((step) => step > limit + slack),
  };
}

export function showLimit() {
  const { state, patients } = store;
  const byBudget = state.limit === "budget";
  const limit = limitOf(state);
  const prices = [...Object.values(state.costs), ...state.fees.map((fee) => fee.amount)];
  const highest = byBudget ? Math.max(priceOfEverything(), 1) : patients.predictors.length;
  const step = byBudget ? sliderStep(highest, prices) : 1;
  slider.step = step;
  slider.max = Math.min(MOST, Math.max(Math.ceil(highest / step) * step, limit));
  slider.value = limit;
  const label = byBudget ? "Budget" : "Number of predictors";
  slider.setAttribute("aria-label", label);
  exact.setAttribute("aria-label", `${label}, exactly`);
  if (document.activeElement !== exact) exact.value = money(limit);
  for (const radio of byId("limit-kind").querySelectorAll("input")) radio.checked = radio.value === state.limit;
  const { below, above } = neighbours();
  for (const [id, value, word] of [["step-down", below, "previous"], ["step-up", above, "next"]]) {
    const button = byId(id);
    button.disabled = value === undefined;
    const hint = value === undefined ? `No ${word} step` : `Go to the ${word} step, at ${money(value)}`;
    button.setAttribute("aria-label", hint);
    button.title = hint;
  }
}

const CHOICES = [
  ["free", "Optional", "may be bought"],
  ["must", "Required", "must be bought"],
  ["never", "Unavailable", "cannot be measured"],
];

const choiceOf = (state, name) =>
  state.must.includes(name) ? "must" : state.never.includes(name) ? "never" : "free";

function choose(name, choice) {
  const without = (names) => names.filter((other) => other !== name);
  const must = without(store.state.must);
  const never = without(store.state.never);
  if (choice === "must") must.push(name);
  if (choice === "never") never.push(name);
  change({ must, never });
}

/**
 * Let an input set a number once it is entered: by Enter, or by leaving the field. A wrong one stays
 * to be corrected, and a sentence says so. what: its name; kept(): the number that counts meanwhile;
 * set(number): takes it; isWhole(): whether it must be whole.
 */
function takesNumber(input, what, kept, set, { least = 0, most = MOST, isWhole = () => false } = {}) {
  const complaint = h("small", { class: "error wrong", role: "alert" });
  input.addEventListener("input", () => {
    input.removeAttribute("aria-invalid");
    complaint.remove();
  });
  input.addEventListener("change", () => {
    const number = numberIn(input.value);
    if (number >= least && number <= most && (!isWhole() || Number.isInteger(number))) {
      if (number !== kept()) set(number);
      input.value = money(kept());
      return;
    }
    input.setAttribute("aria-invalid", "true");
    complaint.textContent = `${what} must be a ${isWhole() ? "whole " : ""}number from ${money(least)} to ${most.toLocaleString("en")}; ${money(kept())} is still used.`;
    (input.closest(".predictor, .fee") ?? input.closest("label, .limit-row")).append(complaint);
  });
  return input;
}

const amountField = (value, label) =>
  h("input", { type: "text", class: "amount", inputmode: "decimal", value: money(value), "aria-label": label });

/** Draw the list of predictors anew: after other data or other settings from outside. */
export function drawPredictors() {
  const { state, patients } = store;
  byId("predictor-list").replaceChildren(...patients.predictors.map(({ name }, i) =>
    h("div", { class: "predictor", role: "group", "aria-label": name },
      h("span", { class: "dot" }, h("span", { class: "visually-hidden" })),
      h("span", { class: "name" }, name, h("small")),
      takesNumber(
        amountField(state.costs[name], `Price of ${name}`),
        `The price of ${name}`, () => store.state.costs[name], (price) => change({ costs: { ...store.state.costs, [name]: price } })),
      h("span", { class: "segments", role: "radiogroup", "aria-label": `Use of ${name}` },
        CHOICES.map(([value, word, meaning]) => h("label", { title: `${name} ${meaning}` },
          h("input", {
            type: "radio", name: `use-${i}`, value, checked: choiceOf(state, name) === value,
            "aria-label": `${word}: ${name} ${meaning}`, onchange: () => choose(name, value),
          }),
          h("span", {}, word)))))));
  drawFees();
  if (document.activeElement !== byId("ridge")) byId("ridge").value = state.ridge;
}

/** Show beside each predictor what the settings and the model say of it. */
export function markPredictors(bought) {
  const { state, patients } = store;
  [...byId("predictor-list").children].forEach((row, i) => {
    const { name } = patients.predictors[i];
    row.classList.toggle("bought", bought.includes(name));
    row.classList.toggle("never", state.never.includes(name));
    const fees = state.fees.filter((fee) => fee.members.includes(name)).map((fee) => money(fee.amount));
    row.querySelector(".visually-hidden").textContent = bought.includes(name) ? chosenWord() : "";
    row.querySelector("small").textContent = fees.length ? `shares a fee of ${fees.join(" and ")}` : "";
  });
  byId("bought-count").textContent = `${bought.length} of ${patients.predictors.length} ${chosenWord()}`;
}

function setFee(position, patch) {
  change({ fees: store.state.fees.map((fee, i) => (i === position ? { ...fee, ...patch } : fee)) });
}

const describeFee = ({ members }) => (members.length ? `for ${members.join(", ")}` : "shared by no predictor yet: choose some");

function drawFees() {
  const list = byId("fee-list");
  const { state, patients } = store;
  const open = [...list.querySelectorAll("details")].map((node) => node.open);
  const rows = state.fees.map((fee, i) =>
    h("div", { class: "fee", role: "group", "aria-label": `Shared fee ${i + 1}` },
      takesNumber(
        amountField(fee.amount, `Amount of fee ${i + 1}`),
        `Fee ${i + 1}`, () => store.state.fees[i].amount, (amount) => setFee(i, { amount })),
      h("details", { open: open[i] },
        h("summary", {}, describeFee(fee)),
        h("div", { class: "checks" }, patients.predictors.map(({ name }) => h("label", {},
          h("input", {
            type: "checkbox", checked: fee.members.includes(name),
            onchange: ({ target }) => {
              const others = store.state.fees[i].members.filter((member) => member !== name);
              setFee(i, { members: target.checked ? [...others, name] : others });
              target.closest("details").firstChild.textContent = describeFee(store.state.fees[i]);
            },
          }), name)))),
      h("button", {
        type: "button", class: "quiet", "aria-label": `Remove fee ${i + 1}`,
        onclick: () => {
          change({ fees: store.state.fees.filter((_, j) => j !== i) });
          drawFees();
          (list.querySelectorAll("button")[Math.max(0, i - 1)] ?? byId("add-fee")).focus();
        },
      }, "Remove")));
  list.replaceChildren(...(rows.length ? rows : [h("p", { class: "muted" }, "None.")]));
}

export function wireControls() {
  slider.addEventListener("input", () => setLimit(Number(slider.value)));
  takesNumber(exact, "The limit", () => limitOf(store.state), setLimit, { isWhole: () => store.state.limit === "count" });
  byId("step-down").addEventListener("click", () => setLimit(neighbours().below));
  byId("step-up").addEventListener("click", () => setLimit(neighbours().above));
  byId("limit-kind").addEventListener("change", ({ target }) => change({ limit: target.value }));
  takesNumber(byId("ridge"), "The ridge", () => store.state.ridge, (ridge) => change({ ridge }), { least: 1e-4, most: 1e4 });
  byId("add-fee").addEventListener("click", () => {
    change({ fees: [...store.state.fees, { amount: 0, members: [] }] });
    drawFees();
    byId("fee-list").lastElementChild.querySelector("input").focus();
  });
}
