// Brings the parts together: settings change, and every part that depends on them asks anew.

import { ask, follow, post, sentenceOf, Superseded } from "./client.js";
import { drawPredictors, limitOf, setLimit, showLimit, wireControls } from "./controls.js";
import { byId, contentOf, money, percent, plural } from "./dom.js";
import { notify, wireFiles } from "./files.js";
import {
  drawStaircase, forgetStaircase, moveOnStaircase, offerSteps, setBought, showAlternatives, showNotes, showOptimism,
  showPerformance, showStability, showStaircase, showSubstitutes,
} from "./insight.js";
import { showModel, showNoModel, showSolving } from "./model.js";
import { Panel } from "./panel.js";
import { drawPatientForm, forgetPatient, patientValues, showPatient } from "./patient.js";
import { onChange, readAddress, start, store } from "./store.js";
import { wireTuning } from "./tuning.js";

const SESSION = "shortlist-session";
let waiting = null; // settings that came before their data

// What an answer is about, beside the answer: settings may have changed on the way.
const askWithState = async (topic, extra, signal) => {
  const { state } = store;
  return { ...(await ask(topic, extra, signal)), state };
};

const withoutAdoption = ({ adopted, ...rest }) => rest;
// The staircase is the same at every limit.
const withoutLimit = ({ adopted, budget, count, ...rest }) => rest;

class ModelPanel extends Panel {
  fail(sentence) {
    showNoModel(sentence);
  }

  setBusy(busy) {
    super.setBusy(busy);
    byId("predictors").setAttribute("aria-busy", String(busy));
    if (!busy) return;
    this.shown = null; // the claims are taken back, so only a new answer can make them again
    showSolving();
  }
}

class StaircasePanel extends Panel {
  fail(sentence) {
    forgetStaircase();
    super.fail(sentence);
  }

  setBusy(busy) {
    super.setBusy(busy);
    offerSteps(!busy);
  }
}

/** One run of resamples answers two questions: how stable the choice is, and how optimistic its scores. */
class ResamplePanel extends Panel {
  fail(sentence) {
    super.fail(sentence);
    contentOf("optimism").replaceChildren();
  }

  setBusy(busy) {
    super.setBusy(busy);
    byId("optimism").setAttribute("aria-busy", String(busy));
  }
}

const showResamples = (answer) => {
  showStability(answer);
  showOptimism(answer);
};

const model = new ModelPanel({
  topic: "solve", element: byId("model"), delay: 0, follows: true, run: askWithState,
  render: (answer, isCurrent) => {
    showModel(answer, isCurrent);
    setBought(answer.best.predictors);
    if (isCurrent) drawPatientForm(answer.predictors, () => patient.refresh());
  },
});
const patient = new Panel({ topic: "patient", extra: () => ({ values: patientValues() }), render: showPatient });
const alternatives = new Panel({
  topic: "alternatives", extra: () => ({ tolerance: Number(byId("tolerance").value) }), render: showAlternatives,
});
const performancePanel = new Panel({ topic: "performance", render: showPerformance });
const panels = [
  model,
  new StaircasePanel({ topic: "staircase", needs: withoutLimit, delay: 100, run: askWithState, render: showStaircase }),
  alternatives,
  new Panel({ topic: "substitutes", needs: withoutAdoption, delay: 250, render: showSubstitutes }),
  new Panel({ topic: "notes", needs: withoutAdoption, delay: 400, render: showNotes }),
  performancePanel,
  patient,
  new ResamplePanel({
    topic: "stability", needs: withoutAdoption, delay: 900, render: showResamples,
    run: async (topic, extra, signal) => {
      let last = null;
      await follow(topic, (answer) => {
        if (!signal.aborted) showResamples(answer);
        last = answer;
      }, signal);
      if (last === null || last.done < last.of) throw new Superseded();
      return last;
    },
  }),
];

onChange(() => {
  showLimit();
  moveOnStaircase();
  for (const panel of panels) panel.refresh();
});

/** Take over data that the server holds, and settings for them if there are any. */
function begin({ patients, state }, settings = waiting) {
  const { name, rows, events, outcome, predictors, left_out: leftOut } = patients;
  const without = leftOut.length ? ` (without ${leftOut.join(", ")})` : "";
  byId("data-line").textContent = `${name}: ${plural(rows, "patient")}, ${events} with ${outcome.name ?? "the outcome"} = ${outcome.event}, ${plural(predictors.length, "predictor")}${without}`;
  forgetPatient();
  const fits = settings !== null && settings.data === patients.digest
    && predictors.every((predictor) => Number.isFinite(settings.costs[predictor.name]));
  notify(settings !== null && !fits ? "The link or file is for other data. Load those, and its settings are restored." : "");
  waiting = fits ? null : settings;
  start(patients, fits ? settings : state);
  drawPredictors();
}

/** Lower the limit to the cost of the cheapest selection within the tolerance of the best. */
async function takeCheapest() {
  const tolerance = Number(byId("tolerance").value);
  const button = byId("cheapest");
  button.disabled = true;
  notify("Looking for the cheapest selection…");
  try {
    const { limit, excess, is_proven: isProven } = await ask("cheapest", { tolerance });
    setLimit(limit);
    notify(isProven ? `${money(limit)} buys the cheapest selection within ${percent(tolerance)} of the best, ${percent(excess, 2)} worse: proven, none is cheaper.`
      : `${money(limit)} buys a selection within ${percent(tolerance)} of the best, ${percent(excess, 2)} worse. A limit was reached: a cheaper one may exist.`);
  } catch (error) {
    notify(error instanceof Superseded ? "" : sentenceOf(error));
  } finally {
    button.disabled = false;
  }
}

/** Lower the limit to the least that predicts as well as the present one, by cross-validation. */
async function takeEnough() {
  const button = byId("enough");
  button.disabled = true;
  notify("Cross-validating every limit…");
  try {
    const { limit } = await ask("enough", {});
    const isLess = limit < limitOf(store.state);
    if (isLess) setLimit(limit);
    notify(isLess ? `${money(limit)} predicts as well as any limit up to yours: its cross-validated log loss is within a standard error of the least.`
      : "Less would predict worse: no lower limit has a cross-validated log loss within a standard error of the least.");
  } catch (error) {
    notify(error instanceof Superseded ? "" : sentenceOf(error));
  } finally {
    button.disabled = false;
  }
}

function restore(settings) {
  begin({ patients: store.patients, state: store.state }, settings);
}

async function open() {
  wireControls();
  wireFiles({ begin, restore, redraw: drawPredictors });
  wireTuning(drawPredictors);
  byId("tolerance").addEventListener("change", () => alternatives.refresh());
  byId("cheapest").addEventListener("click", takeCheapest);
  byId("enough").addEventListener("click", takeEnough);
  byId("cancel-alternatives").addEventListener("click", () => alternatives.cancel());
  addEventListener("hashchange", () => {
    const settings = readAddress();
    if (settings !== null) restore(settings);
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawStaircase();
    performancePanel.shown = null;
    performancePanel.refresh();
  });
  try {
    const opened = await post("session", { earlier: sessionStorage.getItem(SESSION) });
    store.session = opened.session;
    sessionStorage.setItem(SESSION, opened.session);
    begin(opened, readAddress());
  } catch (error) {
    notify(error.message);
  }
}

open();
