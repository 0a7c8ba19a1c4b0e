// The page of the calculator: reads the fields, shows the risk.
const model = JSON.parse(document.getElementById("model").textContent);
const labels = new Map(model.labels);
const form = document.getElementById("form");
const show = (id, text) => { document.getElementById(id).textContent = text; };

function readField(field, term) {
  if (field.tagName === "FIELDSET" || field.tagName === "SELECT") {
    const choice = field.tagName === "SELECT" ? field : field.querySelector("input:checked");
    if (!choice || choice.value === "") return null;
    return term.kind === "categorical" ? term.levels[choice.value][0] : Number(choice.value);
  }
  const text = field.value.trim();
  // A comma is a decimal one, unless it could separate thousands.
  return /^[+-]?\d+,\d+$/.test(text) && !/^[+-]?\d{1,3},\d{3}$/.test(text) ? text.replace(",", ".") : text;
}

function noteField(field, text, isWrong) {
  const note = document.getElementById(`${field.id}-note`);
  if (note && note.textContent !== text) note.textContent = text;
  if (field.tagName === "INPUT") field.setAttribute("aria-invalid", String(isWrong));
}

function percent(risk) {
  if (risk > 0 && risk < 0.001) return "under 0.1%";
  if (risk < 1 && risk > 0.999) return "over 99.9%";
  return `${(100 * risk).toFixed(1)}%`;
}

// The share of development patients with a lower risk, from the percentiles of their risks.
function shareBelow(risk) {
  return model.percentiles.filter((value) => value < risk).length / model.percentiles.length;
}

function costOf(entered) {
  const fees = model.fees.filter(([, members]) => members.some((name) => entered.has(name)));
  const prices = model.costs.filter(([name]) => entered.has(name));
  return [...prices.map(([, cost]) => cost), ...fees.map(([amount]) => amount)].reduce((a, b) => a + b, 0);
}

function inWords(risk) {
  const chances = Math.round(risk * 100);
  const share = percent(model.event_share);
  const count = chances < 1 ? "Fewer than 1" : chances > 99 ? "More than 99" : `About ${chances}`;
  return `${count} of 100 patients like this one have the event; of all development patients it was ${share}.`;
}

function showPlace(risk) {
  document.getElementById("scale").toggleAttribute("hidden", !model.percentiles);
  if (!model.percentiles) return;
  const [low, high] = [model.percentiles[25], model.percentiles[75]];
  document.getElementById("half").setAttribute("x", 400 * low);
  document.getElementById("half").setAttribute("width", Math.max(2, 400 * (high - low)));
  document.getElementById("mark").setAttribute("transform", `translate(${400 * risk} 0)`);
  const below = Math.round(100 * shareBelow(risk));
  show("place", `Higher than the risk of ${below}% of the development patients; half of them were between `
    + `${percent(low)} and ${percent(high)} (the marked part of the line).`);
}

function update() {
  const patient = Object.create(null);
  let wrong = 0;
  for (const field of form.querySelectorAll("[data-term]")) {
    const term = model.terms[field.dataset.term];
    const value = mended(term, readField(field, term));
    try {
      const x = term.kind === "numeric" && value !== null ? readNumber(term, value) : null;
      const outside = x !== null && (x < term.range[0] || x > term.range[1]);
      noteField(field, outside ? "Outside the range of the development patients: the risk is an extrapolation." : "", false);
      if (value !== null) patient[term.name] = value;
    } catch {
      noteField(field, "This is not a number.", true);
      wrong += 1;
    }
  }
  const entered = new Set(Object.keys(patient));
  const cost = document.getElementById("cost");
  if (cost) cost.textContent = String(Number(costOf(entered).toPrecision(6)));
  const isReady = entered.size > 0 && !wrong;
  const result = predict(model, patient);
  const risk = document.getElementById("risk");
  risk.textContent = isReady ? percent(result.risk) : "–";
  show("bar", isReady ? `Risk ${risk.textContent}` : "");
  risk.dataset.risk = isReady ? String(result.risk) : "";
  show("sentence", isReady ? inWords(result.risk) : wrong ? "Correct the field that is marked." : "Enter at least one value.");
  show("outside", isReady && result.outside.length ? `Outside the development range: ${result.outside.map((name) => labels.get(name)).join(", ")}.` : "");
  show("imputed", isReady && result.imputed.length ? `Not measured, expected value assumed: ${result.imputed.map((name) => labels.get(name)).join(", ")}.` : "");
  if (isReady) showPlace(result.risk);
  else { show("place", ""); document.getElementById("scale").toggleAttribute("hidden", true); }
}

form.addEventListener("input", update);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const field = event.target.closest("[data-term]");
  if (!field) return;
  if (field.tagName === "FIELDSET") field.querySelector('input[value=""]').checked = true;
  else field.value = "";
  update();
});
document.getElementById("clear").addEventListener("click", () => { form.reset(); update(); form.querySelector("input, select").focus(); });
document.getElementById("print").addEventListener("click", () => window.print());
update();
