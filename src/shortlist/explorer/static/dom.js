// Elements from data: text is only ever text, so no name can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

export const byId = (id) => document.getElementById(id);

/** The part of a panel that shows its answer. */
export const contentOf = (id) => byId(id).querySelector(".content");

export const h = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const s = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Replace the children; the focus stays on the element with the same data-key, or nearby. */
export function replaceKeepingFocus(node, ...children) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  node.replaceChildren(...children);
  if (focused === null) return;
  const same = [...node.querySelectorAll("[data-key]")].find((other) => other.dataset.key === focused.dataset.key);
  (same ?? node.closest("[tabindex]"))?.focus({ preventScroll: true });
}

/** How much worse a loss is. */
export const worse = (share, digits = 1) =>
  share < 0.5 * 10 ** (-digits - 2) ? `< ${10 ** -digits} %` : `+ ${percent(share, digits)}`;

/** A table with a caption for those who do not see it; a cell is text, a node or {number}. */
export function table(caption, header, rows) {
  const cell = (tag, value) => {
    const isNumber = value !== null && typeof value === "object" && "number" in value;
    return h(tag, { class: isNumber && "number" }, isNumber ? value.number : value);
  };
  return h("div", { class: "table" }, h("table", {},
    h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, header.map((value) => {
      const node = cell("th", value);
      node.scope = "col";
      return node;
    }))),
    h("tbody", {}, rows.map((row) =>
      h("tr", { class: row.class }, row.cells.map((value) => cell("td", value)))))));
}

/** An odds ratio with two decimals, small ones with two digits. */
export function ratio(number) {
  if (number >= 1e6 || number < 0.1) return short(number, 2);
  return number.toFixed(2);
}

/** A number for people: as many digits as matter, and none that are noise. */
export function short(number, digits = 4) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return number.toExponential(2);
  return String(Number(number.toPrecision(size >= 1000 ? 6 : digits)));
}

/** The number in a text, which may have a decimal comma; NaN if there is none, or two meanings. */
export function numberIn(text) {
  const entry = text.trim().replace("−", "-");
  if (/^[+-]?\d{1,3}(,\d{3})+$/.test(entry)) return NaN; // thousands, or a decimal comma
  const point = /^[+-]?\d+,\d+$/.test(entry) ? entry.replace(",", ".") : entry;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(point) ? Number(point) : NaN;
}

export const money = (number) => String(Math.round(number * 1e6) / 1e6);

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;

/** A difference with its sign. */
export const signed = (number, digits) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(digits)}`;

export const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** "+ gained" and "− lost", coloured and readable without colour. */
export function changes(gained, lost) {
  const parts = [
    ...gained.map((name) => h("span", { class: "plus" }, `+ ${name}`)),
    ...lost.map((name) => h("span", { class: "minus" }, `− ${name}`)),
  ];
  const node = h("span", { class: "changes" });
  parts.forEach((part, i) => node.append(i ? ", " : "", part));
  return node;
}
