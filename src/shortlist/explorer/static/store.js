// The settings of this page. They live in the address, so that a link restores them.

export const store = { patients: null, state: null, session: null };
const listeners = [];
let writing = 0;

export const onChange = (listener) => listeners.push(listener);

/** Change settings. A selection that was adopted is for the old ones, so it goes. */
export function change(patch) {
  store.state = { ...store.state, adopted: null, ...patch };
  clearTimeout(writing);
  writing = setTimeout(writeAddress, 200); // browsers object to a history that changes too often
  for (const listener of listeners) listener();
}

/** Take over data and settings from the server, from a link or from a file. */
export function start(patients, state) {
  store.patients = patients;
  change(state);
}

export function writeAddress() {
  history.replaceState(null, "", `#${encode(store.state)}`);
}

function encode(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The settings in the address, or null; the server checks what is in them. */
export function readAddress() {
  const text = location.hash.slice(1);
  if (!text) return null;
  try {
    const raw = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(raw, (character) => character.charCodeAt(0));
    return looksRight(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    return null;
  }
}

/** The value if it has the form of settings, else null. */
export function looksRight(value) {
  const good = value && typeof value === "object" && value.version === 1
    && typeof value.data === "string" && Number.isFinite(value.budget) && Number.isInteger(value.count)
    && Array.isArray(value.must) && Array.isArray(value.never) && Array.isArray(value.fees)
    && value.costs && typeof value.costs === "object" && value.fees.every((fee) => Array.isArray(fee.members));
  return good ? value : null;
}

/** Whether anything has a price; every predictor costs 1 until one is given. */
export const hasPrices = (state = store.state) =>
  state.limit === "budget" || state.fees.length > 0 || Object.values(state.costs).some((cost) => cost !== 1);

export const chosenWord = () => (hasPrices() ? "bought" : "selected");

/** What everything that can be measured costs. */
export function priceOfEverything(state = store.state) {
  const names = Object.keys(state.costs).filter((name) => !state.never.includes(name));
  const prices = names.reduce((sum, name) => sum + state.costs[name], 0);
  const fees = state.fees.filter((fee) => fee.members.some((name) => names.includes(name)));
  return Math.round((prices + fees.reduce((sum, fee) => sum + fee.amount, 0)) * 1e6) / 1e6;
}
