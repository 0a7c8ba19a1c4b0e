// One patient: values in, risk and contributions out.

import { byId, contentOf, h, numberIn, percent, short, signed } from "./dom.js";
import { store } from "./store.js";

const values = new Map(); // what was entered, by column; it outlives the model that asked for it

/** Ask for the predictors of the model, with what was entered before. */
export function drawPatientForm(predictors, refresh) {
  const form = byId("patient-form");
  const columns = store.patients.predictors.filter(({ name }) => predictors.includes(name));
  const wanted = JSON.stringify(columns);
  if (form.dataset.columns === wanted) return;
  form.dataset.columns = wanted;
  form.replaceChildren(...(columns.length ? columns.map((column) => h("label", {}, column.name, field(column, refresh)))
    : [h("p", { class: "empty" }, "The model has no predictors.")]));
}

function field(column, refresh) {
  const entered = values.get(column.name) ?? "";
  const keep = ({ target }) => {
    values.set(column.name, target.value);
    refresh();
  };
  if (column.kind === "numeric") {
    const complaint = h("small", { class: "error", role: "alert" });
    const take = ({ target }) => {
      const isWrong = target.value.trim() !== "" && Number.isNaN(numberIn(target.value));
      complaint.textContent = isWrong ? "This is not a number; it counts as not measured." : "";
      target.toggleAttribute("aria-invalid", isWrong);
      keep({ target: { value: isWrong ? "" : target.value } });
    };
    return [h("input", { type: "text", class: "amount", inputmode: "decimal", placeholder: `median ${short(column.median)}`, value: entered, oninput: take }), complaint];
  }
  const options = column.kind === "boolean" ? [["1", "yes (1)"], ["0", "no (0)"]] : column.levels.map((level) => [level, level]);
  return h("select", { onchange: keep }, h("option", { value: "" }, "not measured"),
    options.map(([value, text]) => {
      const option = h("option", { value }, text);
      option.selected = value === entered;
      return option;
    }));
}

/** The values as the server takes them; what is empty is missing. */
export function patientValues() {
  const kinds = new Map(store.patients.predictors.map(({ name, kind }) => [name, kind]));
  return Object.fromEntries([...values].filter(([name, value]) => value.trim() !== "" && kinds.has(name))
    .map(([name, value]) => [name, kinds.get(name) === "categorical" ? value : numberIn(value)]));
}

export function forgetPatient() {
  values.clear();
  byId("patient-form").dataset.columns = "";
}

export function showPatient(answer) {
  const { event, name } = store.patients.outcome;
  const largest = Math.max(0.5, ...answer.parts.map((part) => Math.abs(part.contribution)));
  const parts = [...answer.parts].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  const content = contentOf("patient");
  if (answer.risk === null) {
    content.replaceChildren(h("p", { class: "empty", role: "status" }, "Enter the patient's values; leave what was not measured empty."));
    return;
  }
  content.replaceChildren(
    h("p", { class: "risk", role: "status" }, percent(answer.risk),
      h("small", {}, ` risk of ${name ?? "the outcome"} = ${event}; a patient with average log-odds has ${percent(answer.average)}`)),
    h("div", { class: "bars diverging" }, parts.flatMap((part) => {
      const up = part.contribution > 0;
      const fill = h("span", { class: `fill ${up ? "up" : "down"}` });
      const share = (50 * Math.abs(part.contribution)) / largest;
      fill.style.left = `${up ? 50 : 50 - share}%`;
      fill.style.width = `${share}%`;
      const note = part.missing ? "not measured" : part.outside ? "outside the range of the data" : "";
      return [
        h("span", { class: "label" }, part.name, note && h("small", {}, note)),
        h("span", { class: "track" }, fill, h("span", { class: "zero" })),
        h("span", { class: "value" }, signed(part.contribution, 2)),
      ];
    })),
    h("p", { class: "caption" }, "Contribution of each value to the log-odds, relative to the average patient. A missing value is imputed from the others, or by the median or the most frequent value."));
}
