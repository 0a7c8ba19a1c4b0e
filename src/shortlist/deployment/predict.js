// The risk of a patient, from a model in plain form. A value that is missing, blank or a level that
// the model does not know is replaced as the model says; a value that is no number is refused.
"use strict";

function isMissing(value) {
  return value === null || value === undefined || Number.isNaN(value)
    || (typeof value === "string" && value.trim() === "");
}

function readNumber(term, value) {
  const words = term.kind === "boolean" ? { true: 1, false: 0 } : {};
  const text = String(value).trim().toLowerCase();
  const number = Object.hasOwn(words, text) ? words[text] : Number(text);
  if (!(Math.abs(number) <= 1e100) || (term.kind === "boolean" && number !== 0 && number !== 1)) {
    throw new Error(`${term.name}: ${value} is not ${term.kind === "boolean" ? "0 or 1" : "a number"}`);
  }
  return number;
}

function readLevel(value) {
  return typeof value === "boolean" ? (value ? "True" : "False") : String(value).trim();
}

// The curves of a natural cubic spline at x; straight lines beyond the last knot.
function splineCurves(x, knots) {
  const last = knots[knots.length - 1], before = knots[knots.length - 2];
  const inside = Math.min(x, last), beyond = Math.max(x - last, 0);
  const late = Math.max(inside - before, 0) ** 3 / (last - before);
  return knots.slice(0, -2).map((knot) => {
    const cubic = Math.max(inside - knot, 0) ** 3 - (last - knot) * late;
    return (cubic + 3 * (last - knot) * (before - knot) * beyond) / (last - knots[0]) ** 2;
  });
}

// A value as the model takes it: codes for missing values are null, synonyms what they stand for.
function mended(term, value) {
  if (isMissing(value)) return null;
  const text = readLevel(value);
  if (term.codes.includes(text)) return null;
  const alias = term.aliases.find(([spelling]) => spelling === text);
  if (!alias) return value;
  return term.kind === "categorical" ? term.levels[alias[1]][0] : alias[1];
}

function folded(text) {
  const low = text.toLowerCase();
  return /\p{L}/u.test(low) ? low.replace(/[\s_.-]+/gu, "") : low;
}

// The name and the log-odds of a level, as it is spelt or but for case and blanks; or undefined.
function findLevel(term, value) {
  if (value === null) return undefined;
  const text = readLevel(value);
  return term.levels.find(([name]) => name === text)
    || term.levels.findLast(([name]) => folded(name) === folded(text));
}

// What is expected of a predictor that was not measured, from the others, typical ones where missing.
function standIn(model, term, values) {
  if (!term.imputation) return term.fill;
  let total = term.imputation.intercept;
  for (const { predictor, level, weight } of term.imputation.weights) {
    const place = model.terms.findIndex((other) => other.name === predictor);
    const other = model.terms[place], value = values[place];
    if (other.kind === "categorical") {
      const found = findLevel(other, value);
      total += weight * ((found ? found[0] : other.reference) === level ? 1 : 0);
    } else {
      total += weight * (value === null ? other.fill : readNumber(other, value));
    }
  }
  const [low, high] = term.imputation.range;
  return Math.min(Math.max(total, low), high);
}

function contribution(model, term, values) {
  const value = values[model.terms.indexOf(term)];
  const found = { logOdds: 0, imputed: value === null, outside: false };
  if (term.kind === "categorical") {
    const level = findLevel(term, value);
    found.imputed = !level;
    found.logOdds = level ? level[1] : 0;
  } else {
    const x = found.imputed ? standIn(model, term, values) : readNumber(term, value);
    found.logOdds = term.coefficients[0] * x;
    if (term.kind === "numeric") {
      found.outside = !found.imputed && (x < term.range[0] || x > term.range[1]);
      if (term.knots.length) {
        splineCurves(x, term.knots).forEach((curve, j) => {
          found.logOdds += term.coefficients[j + 1] * curve;
        });
      }
    }
  }
  if (found.imputed) found.logOdds += term.missing;
  return found;
}

// Returns the risk, the log-odds, and the names of predictors that were imputed or are outside the
// range of the development data.
function predict(model, patient) {
  const result = { risk: 0, logOdds: model.intercept, imputed: [], outside: [] };
  const values = model.terms.map((term) => mended(term, patient[term.name]));
  for (const term of model.terms) {
    const found = contribution(model, term, values);
    result.logOdds += found.logOdds;
    if (found.imputed) result.imputed.push(term.name);
    if (found.outside) result.outside.push(term.name);
  }
  result.risk = 1 / (1 + Math.exp(-result.logOdds));
  return result;
}
