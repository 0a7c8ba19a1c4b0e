// Files in and out: data, prices, settings, and what is saved.

import { download, post, sendFile, sentenceOf } from "./client.js";
import { byId, h } from "./dom.js";
import { change, looksRight, onChange, store, writeAddress } from "./store.js";

export function notify(sentence) {
  byId("notice").textContent = sentence;
}

function offer(blob, name) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const NAMES = { model: "model.json", certificate: "certificate.json", report: "report.html", calculator: "calculator.html" };

async function save(what) {
  try {
    if (what === "report") notify("Writing the report: the selection is repeated on resamples…");
    offer(await download(what), NAMES[what]);
    notify("");
  } catch (error) {
    notify(sentenceOf(error));
  }
}

function showLoadError(sentence) {
  byId("load-error").textContent = sentence;
  byId("load-error").hidden = !sentence;
}

async function takeData(file, begin) {
  showLoadError("");
  byId("load-choices").replaceChildren(h("p", { class: "muted" }, `Reading ${file.name}…`));
  try {
    drawChoices(await sendFile("upload", file), begin);
  } catch (error) {
    byId("load-choices").replaceChildren();
    showLoadError(sentenceOf(error));
  }
}

/** Ask which column is the outcome, which of its values the event, and what the others are. */
function drawChoices(upload, begin) {
  const able = upload.columns.filter((column) => column.values?.length === 2 && column.complete);
  if (!able.length) {
    byId("load-choices").replaceChildren();
    showLoadError(`${upload.name}: no column can be the outcome: it needs exactly two values and none missing.`);
    return;
  }
  // Only a person knows which of several columns is the outcome, and which tells it afterwards.
  const outcome = h("select", { id: "outcome" }, able.length > 1 && h("option", { value: "" }, "choose…"),
    able.map(({ name }) => h("option", { value: name }, name)));
  const event = h("select", { id: "event" });
  const others = h("div", { class: "checks" });
  const codes = h("div", { class: "checks" });
  const codesPart = h("div", {}, h("p", { class: "muted" }, "Columns whose numbers are codes, not amounts:"), codes);
  const pick = () => {
    const column = able.find(({ name }) => name === outcome.value) ?? { event: null, values: [] };
    event.replaceChildren(...(column.event === null ? [h("option", { value: "" }, "choose…")] : []),
      ...column.values.map((value) => h("option", { value }, value)));
    event.value = column.event ?? "";
    const rest = upload.columns.filter(({ name }) => name !== outcome.value);
    const box = (name, checked) => h("label", {}, h("input", { type: "checkbox", value: name, checked }), name);
    others.replaceChildren(...rest.map(({ name }) => box(name, true)));
    const few = rest.filter(({ values }) => values && values.length > 2 && values.every((value) => Number.isInteger(Number(value))));
    codes.replaceChildren(...few.map(({ name }) => box(name, false)));
    codesPart.hidden = !few.length;
  };
  outcome.addEventListener("change", pick);
  pick();
  const checked = (node, is) => [...node.querySelectorAll("input")].filter((box) => box.checked === is).map((box) => box.value);
  const go = async () => {
    if (!outcome.value) {
      showLoadError("Choose the column that is the outcome to predict.");
      outcome.focus();
      return;
    }
    if (!event.value) {
      showLoadError(`Choose which value of ${outcome.value} is the event to predict.`);
      event.focus();
      return;
    }
    try {
      showLoadError("");
      const choice = { outcome: outcome.value, event: event.value, exclude: checked(others, false), categorical: checked(codes, true) };
      begin(await post("patients", choice));
      byId("tuning").textContent = "Not tuned yet: Tune finds the ridge that shortlist fit would choose.";
      byId("load-dialog").close();
    } catch (error) {
      showLoadError(sentenceOf(error));
    }
  };
  byId("load-choices").replaceChildren(
    h("p", {}, [`${upload.name}: ${upload.rows} rows, ${upload.columns.length} columns.`, ...upload.notes].join(" ")),
    h("label", {}, "Outcome ", outcome), h("label", {}, "Event ", event),
    h("div", {}, h("p", { class: "muted" }, "Predictors:"), others), codesPart,
    h("div", {}, h("button", { type: "button", class: "primary", id: "use-data", onclick: go }, "Use these data")));
}

async function takePrices(file) {
  try {
    const { costs } = await sendFile("prices", file);
    change({ costs: { ...store.state.costs, ...costs }, limit: "budget" });
    notify("");
    return true;
  } catch (error) {
    notify(sentenceOf(error));
    return false;
  }
}

async function takeSettings(file, restore) {
  const text = file.size < 1e6 ? await file.text() : "";
  let state = null;
  try {
    state = looksRight(JSON.parse(text));
  } catch { /* reported below */ }
  if (state === null) notify(`${file.name} is not a settings file of the explorer.`);
  else restore(state);
}

const onFile = (id, take) => byId(id).addEventListener("change", ({ target }) => {
  const [file] = target.files;
  target.value = ""; // so that the same file can be chosen again
  if (file) take(file);
});

/** begin(start): new data came; restore(state): settings came; redraw(): prices changed. */
export function wireFiles({ begin, restore, redraw }) {
  byId("open-load").addEventListener("click", () => byId("load-dialog").showModal());
  onFile("data-file", (file) => takeData(file, begin));
  onFile("price-file", async (file) => (await takePrices(file)) && redraw());
  onFile("open-settings", (file) => takeSettings(file, restore));
  const menu = byId("save-menu");
  for (const button of menu.querySelectorAll("[data-save]")) button.addEventListener("click", () => save(button.dataset.save));
  onChange(() => {
    const isAdopted = Boolean(store.state.adopted);
    menu.querySelector("[data-save=certificate]").disabled = isAdopted;
    byId("certificate-hint").textContent = isAdopted ? "only the best selection has a proof" : "the proof, for anyone to verify";
  });
  byId("save-settings").addEventListener("click", () =>
    offer(new Blob([JSON.stringify(store.state, null, 2)], { type: "application/json" }), "settings.json"));
  byId("copy-link").addEventListener("click", async () => {
    writeAddress();
    await navigator.clipboard.writeText(location.href).then(
      () => notify("Link copied. It is valid while the explorer runs."),
      () => notify("The browser did not allow copying; the link is in the address bar."));
  });
  menu.addEventListener("click", (event) => { if (event.target.closest(".menu-items")) menu.open = false; });
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") menu.open = false; });
}
