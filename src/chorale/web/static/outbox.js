/**
 * The outbox: submitted answers that the server has not accepted yet.
 *
 * An answer is stored here before it is sent, and removed only when the server has accepted or rejected it;
 * a rejected answer moves to `refused`, which the worker sees and dismisses.
 *
 * @typedef {import("./form.js").Recap} Recap
 * @typedef {{id: string, url: string, key: string, answer: any, durationMs: number, writing?: import("./writing.js").WritingNumbers | null, recap: Recap, at: number, tab: string}} Entry
 * @typedef {Entry & {code: string, message: string}} Refused
 * @typedef {{id: string, entry: Entry, data: Object<string, any>, at: number}} Sent
 * @typedef {{sent: Sent[], refused: Refused[], stopped: null | "unreachable" | "signed_out" | "other_tab", retryAfterMs: number, message: string}} Delivery
 */

import { post } from "./api.js";
import { uuid } from "./storage.js";

const LOCK_PATIENCE_MS = 20_000;
const OTHER_TAB_MS = 3000;

export class Outbox {
  /** @param {import("./storage.js").DeviceStore} store */
  constructor(store) {
    this.store = store;
    this.tab = uuid();
  }

  /**
   * @param {Omit<Entry, "at" | "tab">} answer
   * @returns {boolean} whether it is kept beyond this page
   */
  put(answer) {
    return this.store.set("outbox", answer.id, { ...answer, at: Date.now(), tab: this.tab });
  }

  /** @returns {Entry[]} */
  pending() {
    return this.store.all("outbox");
  }

  /** @returns {Refused[]} */
  refused() {
    return this.store.all("refused");
  }

  /** @returns {Sent[]} feedback that came back and that the worker has not yet confirmed */
  unseen() {
    return this.store.all("unseen");
  }

  /** @param {string} id */
  seen(id) {
    this.store.remove("unseen", id);
  }

  /** @param {string} id */
  dismiss(id) {
    this.store.remove("refused", id);
  }

  /**
   * Send everything, oldest first, until it is all sent or the server can't be reached. One tab at a time.
   *
   * @returns {Promise<Delivery>}
   */
  flush() {
    return alone(this.store.key("flush"), () => this.#sendAll());
  }

  /** @returns {Promise<Delivery>} */
  async #sendAll() {
    /** @type {Delivery} */
    const delivery = { sent: [], refused: [], stopped: null, retryAfterMs: 0, message: "" };
    for (const { id } of this.pending()) {
      const entry = /** @type {Entry | null} */ (this.store.get("outbox", id));
      if (entry === null) continue; // another tab was quicker
      if (this.#leftToOther(entry)) {
        delivery.stopped ??= "other_tab";
        continue;
      }
      const body = { key: entry.key, answer: entry.answer, duration_ms: entry.durationMs, writing: entry.writing ?? null };
      const reply = await post(entry.url, body, { keepalive: true });
      if (reply.kind === "ok") {
        const sent = { id, entry, data: reply.data, at: Date.now() };
        if (reply.data.feedback) this.store.set("unseen", id, sent); // the page may be closed at any moment
        this.store.remove("outbox", id);
        this.store.remove("draft", id);
        delivery.sent.push(sent);
      } else if (reply.kind === "refused") {
        delivery.refused.push(this.#refuse(entry, reply));
      } else {
        delivery.stopped = reply.kind;
        delivery.retryAfterMs = reply.kind === "unreachable" ? reply.retryAfterMs : 0;
        delivery.message = reply.kind === "signed_out" ? reply.message : "";
        break;
      }
    }
    return delivery;
  }

  /**
   * The tab of the answer sends it, because the worker sees the reply there. Others send it only if
   * it seems to be gone.
   *
   * @param {Entry} entry
   */
  #leftToOther(entry) {
    const age = Date.now() - entry.at;
    return entry.tab !== this.tab && (document.visibilityState !== "visible" || (age >= 0 && age < OTHER_TAB_MS));
  }

  /**
   * @param {Entry} entry
   * @param {{code: string, message: string}} reply
   * @returns {Refused}
   */
  #refuse(entry, { code, message }) {
    const refused = { ...entry, code, message };
    if (code !== "invalid_answer") {
      this.store.set("refused", entry.id, refused);
      this.store.remove("draft", entry.id);
    } // else the draft stays, and the worker corrects it in the form
    this.store.remove("outbox", entry.id);
    return refused;
  }
}

/**
 * Run while no other tab does. If locks are unavailable or held by a sleeping tab, continue anyway: the key
 * of each answer makes sending it twice harmless.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function alone(name, work) {
  if (!navigator.locks) return work();
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), LOCK_PATIENCE_MS);
  let started = false;
  try {
    return await navigator.locks.request(name, { signal: patience.signal }, () => {
      started = true;
      clearTimeout(timer);
      return work();
    });
  } catch (error) {
    if (started) throw error;
    return work();
  } finally {
    clearTimeout(timer);
  }
}
