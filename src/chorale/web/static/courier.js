/**
 * Sends everything in the outbox, however long it takes, and shows its progress to the worker.
 *
 * @typedef {import("./outbox.js").Entry} Entry
 * @typedef {import("./outbox.js").Refused} Refused
 * @typedef {import("./outbox.js").Sent} Sent
 */

import { make, makeButton, makeRecap } from "./show.js";
import { Backoff, pause } from "./timer.js";
import { say } from "./say.js";

export const RETRY = { firstMs: 1000, mostMs: 15_000 };

/** Codes of ended sessions, for which pages show their own messages. */
const ENDED = new Set(["participation_lost", "revoked"]);

export class Courier {
  /**
   * @param {import("./outbox.js").Outbox} outbox
   * @param {import("./show.js").Notices} notices
   * @param {{
   *   onSent: (sent: Sent) => Promise<void>,
   *   onRefused?: (refused: Refused) => void,
   *   onWaiting?: () => void,
   * }} events `onSent` resolves when the worker has seen what came back
   */
  constructor(outbox, notices, events) {
    this.outbox = outbox;
    this.notices = notices;
    this.events = events;
    window.addEventListener("beforeunload", (event) => {
      if (outbox.pending().length === 0) return;
      event.preventDefault();
      event.returnValue = true; // for browsers of before 2024
    });
    window.addEventListener("storage", (event) => {
      if (event.key?.startsWith(outbox.store.key("refused"))) this.showRefused();
    });
  }

  /** Show feedback that was not confirmed when the page was left. Called once, when a page opens. */
  async catchUp() {
    for (const sent of this.outbox.unseen()) await this.#tell(sent);
  }

  /** @param {Sent} sent */
  async #tell(sent) {
    await this.events.onSent(sent);
    this.outbox.seen(sent.id);
  }

  /** Resolves when nothing is left to send. */
  async deliverAll() {
    const backoff = new Backoff(RETRY.firstMs, RETRY.mostMs);
    this.showRefused();
    while (this.outbox.pending().length > 0) {
      const delivery = await this.outbox.flush();
      if (delivery.stopped === null) this.#connected();
      for (const refused of delivery.refused) {
        this.events.onRefused?.(refused);
      }
      this.showRefused();
      for (const sent of delivery.sent) await this.#tell(sent);
      const wake = { storageKeys: (/** @type {string} */ key) => key.startsWith(this.outbox.store.key("outbox")) };
      if (delivery.stopped === "other_tab") {
        await pause(1000, wake);
      } else if (delivery.stopped !== null) {
        const button = this.#waiting(delivery.stopped, delivery.message);
        const ms = delivery.stopped === "signed_out" ? 60_000 : backoff.step();
        await pause(Math.max(ms, delivery.retryAfterMs), { button, ...wake });
      }
    }
    this.#connected();
  }

  /** Show rejected answers until the worker has dismissed them. */
  showRefused() {
    const refused = this.outbox.refused();
    for (const name of [...this.notices.shown.keys()]) {
      const id = name.startsWith("refused:") ? name.slice("refused:".length) : null;
      if (id !== null && !refused.some((entry) => entry.id === id)) this.notices.hide(name);
    }
    for (const entry of refused) {
      const button = makeButton(say("OK"), "button button-small");
      const details = make("details", {}, [make("summary", { text: say("Show this answer") }), makeRecap(entry.recap)]);
      this.notices.show(`refused:${entry.id}`, {
        tone: "danger",
        title: say("One answer was not accepted."),
        text: ENDED.has(entry.code)
          ? say("It belongs to a session that has ended and does not count. Copy it if you need it.")
          : entry.message || say("You can continue with the next question."),
        more: [details],
        buttons: [button],
      });
      button.addEventListener("click", () => {
        this.outbox.dismiss(entry.id);
        this.notices.hide(`refused:${entry.id}`);
      });
    }
  }

  /**
   * @param {"unreachable" | "signed_out"} why
   * @param {string} message the server's message
   * @returns {HTMLButtonElement}
   */
  #waiting(why, message) {
    if (this.tryNow && this.why !== why) this.#connected();
    if (!this.tryNow) {
      const lasting = this.outbox.store.lasting;
      this.tryNow = makeButton(say("Try now"), "button button-small");
      this.why = why;
      this.notices.show("unsent", {
        tone: "warn",
        ...(why === "signed_out"
          ? {
              title: say("You are signed out."),
              text: [
                document.querySelector("[data-ended]") ? "" : message,
                say("Your answer is saved on this device. It will be sent when you sign in again in this browser."),
              ].join(" "),
            }
          : {
              title: lasting ? say("Saved on this device.") : say("Not sent yet. Please keep this page open."),
              text: say("Your answer will be sent when you are back online."),
            }),
        buttons: [this.tryNow],
      });
    }
    this.events.onWaiting?.();
    return this.tryNow;
  }

  #connected() {
    this.notices.hide("unsent");
    this.tryNow = undefined;
  }
}
