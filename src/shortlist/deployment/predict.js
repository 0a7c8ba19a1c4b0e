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

function contribution(term, value) {
  const found = { logOdds: 0, imputed: isMissing(value), outside: false };
  if (term.kind === "categorical") {
    const level = found.imputed ? null : term.levels.find(([name]) => name === readLevel(value));
    found.imputed = !level;
    found.logOdds = level ? level[1] : 0;
  } else {
    const x = found.imputed ? term.fill : readNumber(term, value);
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
  for (const term of model.terms) {
    const found = contribution(term, patient[term.name]);
    result.logOdds += found.logOdds;
    if (found.imputed) result.imputed.push(term.name);
    if (found.outside) result.outside.push(term.name);
  }
  result.risk = 1 / (1 + Math.exp(-result.logOdds));
  return result;
}
