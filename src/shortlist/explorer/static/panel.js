// A panel: shows one answer about the settings, and knows when it is out of date.

import { ask, cancel, sentenceOf, Superseded } from "./client.js";
import { byId, h } from "./dom.js";
import { store } from "./store.js";

const MIN_INTERVAL = 90; // ms before a newer question is sent although the last is not answered

export class Panel {
  /**
   * topic: what to ask about; element: what shows the answer, by default the one with that id;
   * needs: the settings the answer depends on, by default all;
   * render(answer, isCurrent): draws it; delay: ms of rest before asking; extra(): what else to send;
   * follows: whether answers to slightly older settings are drawn too, marked as out of date.
   */
  constructor({
    topic, element = byId(topic), needs = (state) => state, render, delay = 150, extra = () => ({}), follows = false, run = ask,
  }) {
    Object.assign(this, { topic, element, needs, render, delay, extra, follows, run });
    this.shown = null; // the settings that the panel shows
    this.asked = null; // those that were asked for and are not answered
    this.askedAt = 0;
    this.timer = 0;
  }

  get wanted() {
    return JSON.stringify([store.patients.digest, this.needs(store.state), this.extra()]);
  }

  /** Settings changed: mark the panel out of date if it is, and ask. */
  refresh() {
    clearTimeout(this.timer);
    const wanted = this.wanted;
    if (wanted === this.shown) {
      this.controller?.abort();
      this.asked = null;
      this.setBusy(false);
      return;
    }
    this.setBusy(true);
    if (wanted === this.asked) return;
    if (!this.follows && this.asked !== null) {
      this.controller.abort();
      this.asked = null;
    }
    const wait = this.asked === null ? 0 : MIN_INTERVAL - (performance.now() - this.askedAt);
    this.timer = setTimeout(() => this.send(), Math.max(this.delay, wait));
  }

  async send() {
    this.controller?.abort();
    this.controller = new AbortController();
    const wanted = this.wanted;
    this.asked = wanted;
    this.askedAt = performance.now();
    let answer;
    try {
      answer = await this.run(this.topic, this.extra(), this.controller.signal);
    } catch (error) {
      if (this.asked !== wanted) return;
      this.asked = null;
      if (error instanceof Superseded || wanted !== this.wanted) this.refresh();
      else this.giveUp(wanted, error);
      return;
    }
    if (this.asked !== wanted) return; // a newer question is on its way
    this.asked = null;
    const isCurrent = wanted === this.wanted;
    try {
      if (isCurrent) this.shown = wanted;
      if (isCurrent || this.follows) this.render(answer, isCurrent);
    } catch (error) {
      this.giveUp(wanted, error);
      return;
    }
    if (isCurrent) this.setBusy(false);
    else this.refresh();
  }

  /** Say that there is no answer to show, and why. */
  giveUp(wanted, error) {
    this.shown = wanted;
    this.fail(sentenceOf(error, "This panel failed; reload the page."));
    this.setBusy(false);
  }

  /** End what is being asked, on the server too; `again` asks it after all. */
  async cancel() {
    clearTimeout(this.timer);
    this.controller?.abort();
    this.asked = null;
    this.shown = this.wanted;
    const again = () => {
      this.shown = null;
      this.refresh();
    };
    this.content.replaceChildren(h("p", { class: "empty" }, "Cancelled. ", h("button", { type: "button", class: "quiet", onclick: again }, "Ask again")));
    this.setBusy(false);
    await cancel(this.topic, this.extra());
  }

  get content() {
    return this.element.querySelector(".content");
  }

  fail(sentence) {
    this.content.replaceChildren(h("p", { class: "error" }, sentence));
  }

  setBusy(busy) {
    this.element.setAttribute("aria-busy", String(busy));
  }
}
