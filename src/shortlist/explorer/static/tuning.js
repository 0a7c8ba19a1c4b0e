// The ridge that `shortlist fit` would choose for the settings, at the press of a button.

import { ask, cancel, sentenceOf, Superseded } from "./client.js";
import { byId, short } from "./dom.js";
import { change, onChange, store } from "./store.js";

let controller = null; // of the search that runs
let tuned = ""; // the settings that the sentence beside the button is about

const settings = () => JSON.stringify({ ...store.state, adopted: null });

function say(sentence, isBusy) {
  byId("tuning").textContent = sentence;
  byId("tune").textContent = isBusy ? "Cancel" : "Tune";
}

function stop() {
  controller?.abort();
  controller = null;
}

/** redraw(): shows settings that were changed here. */
export function wireTuning(redraw) {
  byId("tune").addEventListener("click", async () => {
    if (controller !== null) {
      stop();
      say("", false);
      cancel("tune", {});
      return;
    }
    controller = new AbortController();
    const { signal } = controller;
    tuned = settings();
    say("Choosing the ridge by cross-validation…", true);
    try {
      const { ridge, tried, by } = await ask("tune", {}, signal);
      if (signal.aborted) return;
      controller = null;
      tuned = JSON.stringify({ ...store.state, adopted: null, ridge });
      change({ ridge });
      redraw();
      say(`Ridge ${short(ridge)}: the best of ${tried.map((value) => short(value)).join(", ")} by ${by}, for these settings.`, false);
    } catch (error) {
      if (signal.aborted) return;
      stop();
      say(error instanceof Superseded ? "" : sentenceOf(error), false);
    }
  });
  onChange(() => {
    if (settings() === tuned) return;
    stop(); // it was for other settings
    say("", false);
  });
}
