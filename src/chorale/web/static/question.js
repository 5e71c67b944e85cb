/**
 * One question on the screen, from display until the worker has finished it.
 *
 * @typedef {import("./form.js").TaskModule} TaskModule
 * @typedef {import("./form.js").Recap} Recap
 * @typedef {{
 *   id: string, item: Object<string, any>, arrangement?: Object<string, any> | null, expires_at: number, server_now: number,
 *   first?: import("./form.js").FirstStep | null,
 * }} Assignment
 * @typedef {(answer: Object<string, any>) => Promise<{first: Object<string, any>, item: Object<string, any>} | {problem: string}>} SendFirst
 * @typedef {{kind: "answered", key: string, answer: any, durationMs: number, writing: import("./writing.js").WritingNumbers | null, recap: Recap}
 *   | {kind: "skip"} | {kind: "elsewhere"} | {kind: "expired"}} Outcome
 */

import * as form from "./form.js";
import { isWriting } from "./shortcuts.js";
import { uuid } from "./storage.js";
import { LeaseClock, VisibleTimer } from "./timer.js";
import { say } from "./say.js";
import { takeFocus } from "./show.js";
import { Writing } from "./writing.js";

const NEAR_END_MS = 120_000;

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

export class Question {
  /**
   * @param {Assignment} assignment
   * @param {import("./storage.js").DeviceStore} store
   * @param {TaskModule | null} module
   * @param {SendFirst} sendFirst
   */
  constructor(assignment, store, module, sendFirst) {
    this.assignment = assignment;
    this.sendFirst = sendFirst;
    this.store = store;
    this.module = module;
    this.root = byId("task-root");
    this.form = /** @type {HTMLFormElement} */ (byId("task-form"));
    this.listening = new AbortController();
    this.shown = 0;
    const draft = store.get("draft", assignment.id);
    /** Whether somebody has worked on it. A draft is from a question that they have seen. */
    this.begun = Boolean(draft);
    /** Made once for the assignment on this device: other tabs find it in the draft. */
    this.key = draft?.key ?? uuid();
    this.timer = new VisibleTimer(draft?.durationMs ?? 0);
    this.outcome = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.#render(draft?.fields);
    /** Only if the study records how answers are written. */
    this.writing = byId("work").dataset.writing ? new Writing(this.root, draft?.writing ?? null, this.listening.signal) : null;
    this.#listen();
    this.saveDraft();
    this.lease = new LeaseClock(assignment, NEAR_END_MS, (left) => this.#showTimeLeft(left));
  }

  /**
   * Show the question, and wait for the outcome.
   *
   * @param {string} [problem] why the answer given before was not accepted
   * @returns {Promise<Outcome>}
   */
  async ask(problem) {
    this.shown = performance.now();
    const panel = byId("panel-item");
    takeFocus(panel, { preventScroll: true });
    if (panel.getBoundingClientRect().top < 0) panel.scrollIntoView({ block: "start" });
    if (problem) {
      this.#complain(problem);
      // On a phone, the reason would be below the buttons, which stay at the bottom of the screen.
      byId("form-error").scrollIntoView({ block: "nearest" });
    }
    const outcome = await this.outcome;
    this.#close();
    return outcome;
  }

  /**
   * @param {string} key
   * @returns {boolean} whether the key stands for an option
   */
  press(key) {
    const option = this.busy ? null : form.optionFor(this.root, key);
    option?.focus();
    option?.click();
    return option !== null;
  }

  saveDraft() {
    const { id } = this.assignment;
    const fields = this.module ? (this.module.draft ?? this.module.collect)(this.root) : form.readDraft(this.root);
    this.store.set("draft", id, { id, key: this.key, fields, durationMs: this.timer.elapsed, writing: this.writing?.counts ?? null, at: Date.now() });
  }

  /** Handle a request to submit. A form that decides itself when it is complete calls `submit` later. */
  request() {
    if (this.busy) return;
    if (this.assignment.first?.answer === null) this.#answerFirst(this.assignment.first);
    else if (this.module?.request) this.module.request(this.root);
    else this.submit();
  }

  submit() {
    if (this.busy) return;
    // Ignore the second half of a double click or double Enter, which was meant for the previous question: this one may
    // be complete already, if it is filled in or all of it is optional.
    if (!this.begun && performance.now() - this.shown < 500) return;
    const own = this.module?.problem?.(this.root);
    const problem = own ? { message: own } : form.firstProblem(this.root);
    if (problem) {
      this.#complain(problem.message, problem.control);
      if (own) this.module?.point?.(this.root);
      return;
    }
    this.saveDraft();
    this.module?.submitted?.(this.root);
    this.#finish({
      kind: "answered",
      key: this.key,
      answer: this.module ? this.module.collect(this.root) : form.collect(this.root),
      durationMs: this.timer.elapsed,
      writing: this.writing?.numbers() ?? null,
      recap: (this.module?.recap ?? form.recap)(this.root),
    });
  }

  /**
   * Store the first answer, and show the rest of the item.
   *
   * @param {import("./form.js").FirstStep} step
   */
  async #answerFirst(step) {
    const problem = form.firstProblem(this.root);
    if (problem) {
      this.#complain(problem.message, problem.control);
      return;
    }
    this.saveDraft();
    this.setBusy(true);
    const answer = (this.module?.collect ?? form.collect)(this.root);
    const reply = await this.sendFirst(Object.fromEntries(step.fields.map((name) => [name, answer[name] ?? null])));
    this.setBusy(false);
    if ("problem" in reply) {
      this.#complain(reply.problem);
      return;
    }
    this.assignment.first = { ...step, answer: reply.first };
    this.assignment.item = reply.item;
    form.fill(this.root, reply.item);
    this.#showStep();
    this.module?.revealed?.(this.root, reply.item);
    this.saveDraft();
    // Ignore the second half of a double click, which was not meant for the new content.
    this.begun = false;
    this.shown = performance.now();
    const part = /** @type {HTMLElement | null} */ (this.root.querySelector("[data-reveal]"));
    part?.setAttribute("tabindex", "-1");
    part?.focus({ preventScroll: true });
    part?.scrollIntoView({ block: "start" });
    announce(say("Your answer is saved. The rest of the question is shown now."));
  }

  #showStep() {
    const step = this.assignment.first;
    byId("submit-label").textContent = step?.answer === null ? say("Continue") : say("Submit");
    if (step) form.showStep(this.root, step);
  }

  /** @param {any} fields of a draft */
  #render(fields) {
    const template = /** @type {HTMLTemplateElement} */ (byId("task-template"));
    this.root.replaceChildren(template.content.cloneNode(true));
    form.fill(this.root, this.assignment.item);
    byId("submit").hidden = false;
    if (this.module) {
      this.module.mount(this.root, this.assignment.item, {
        id: this.assignment.id,
        draft: fields ?? null,
        suggestion: this.assignment.suggestion ?? null,
        arrangement: this.assignment.arrangement ?? null,
        changed: () => this.#changed(),
        submit: () => this.submit(),
        complain: (message) => this.#complain(message),
        ownButton: (own) => {
          byId("submit").hidden = own;
        },
        bonuses: JSON.parse(byId("work").dataset.bonuses || "[]"),
        memory: {
          get: (name) => this.store.get("memory", name),
          set: (name, value) => this.store.set("memory", name, value),
        },
      });
    } else if (fields) {
      form.restoreDraft(this.root, fields);
    } else {
      form.suggest(this.root, this.assignment.suggestion ?? null);
    }
    byId("suggested").hidden = (this.assignment.suggestion ?? null) === null;
    this.#showStep();
    form.addKeyHints(this.root); // a module may have put options in another order
    byId("form-error").textContent = "";
    byId("lease").hidden = true;
    this.setBusy(false);
  }

  #listen() {
    const { signal } = this.listening;
    this.root.addEventListener("input", () => this.#changed(), { signal });
    this.root.addEventListener("change", () => this.#changed(), { signal });
    this.form.addEventListener("submit", () => this.request(), { signal });
    byId("skip").addEventListener("click", () => !this.busy && this.#finish({ kind: "skip" }), { signal });
    byId("lease-next").addEventListener("click", () => !this.busy && this.#finish({ kind: "expired" }), { signal });
    document.addEventListener("visibilitychange", () => this.saveDraft(), { signal });
    window.addEventListener("pagehide", () => this.saveDraft(), { signal });
    document.addEventListener("keydown", (event) => this.#enter(event), { signal });
    document.addEventListener("focusin", (event) => this.#hint(/** @type {Element} */ (event.target)), { signal });
    document.addEventListener("focusout", () => this.#hint(null), { signal });
    window.addEventListener("storage", (event) => this.#otherTab(event), { signal });
  }

  #changed() {
    this.begun = true;
    this.#hint(document.activeElement);
    byId("form-error").textContent = "";
    for (const field of this.root.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    if (!this.busy) this.saveDraft();
  }

  /**
   * Enter submits where it has no other meaning; with Ctrl or Cmd also while typing, on the question's own controls and
   * on the submit button.
   *
   * @param {KeyboardEvent} event
   */
  #enter(event) {
    if (event.key !== "Enter" || event.defaultPrevented || event.isComposing) return;
    if (event.repeat) {
      event.preventDefault(); // a held key must affect only one question
      return;
    }
    const target = /** @type {Element} */ (event.target);
    if (target.closest("dialog")) return;
    const commanded = event.ctrlKey || event.metaKey;
    const ownMeaning = target.closest("a, button, summary, select") || (isWriting(target) && target.matches("textarea"));
    const submits = isWriting(target) || this.#ownControl(target) || target.closest("#submit");
    if (ownMeaning && !(commanded && submits)) return;
    event.preventDefault();
    this.request();
  }

  /** A control of the question on which Enter has another meaning. @param {Element | null} target */
  #ownControl(target) {
    const control = target?.closest("button, summary, select") ?? null;
    return this.root.contains(control);
  }

  /**
   * Show the submit keys on the button: where Enter starts a new line or has another meaning (`data-own-enter`), it needs
   * another key with it.
   *
   * @param {Element | null} focused
   */
  #hint(focused) {
    const hint = document.querySelector("#submit .key-hint");
    const taken = focused?.closest("textarea, [data-own-enter]") || this.#ownControl(focused);
    if (hint) hint.textContent = taken ? "Ctrl+Enter" : "Enter";
  }

  /** @param {StorageEvent} event */
  #otherTab(event) {
    const { id } = this.assignment;
    const answered = event.key === this.store.key("outbox", id) && event.newValue !== null;
    const finished = event.key === this.store.key("draft", id) && event.newValue === null;
    if (answered || finished) {
      if (!this.busy) this.#finish({ kind: "elsewhere" });
    } else if (event.key === this.store.key("draft", id) && !this.module && !this.busy) {
      form.restoreDraft(this.root, this.store.get("draft", id)?.fields);
    }
  }

  /** @param {number} left milliseconds */
  #showTimeLeft(left) {
    if (this.busy) return;
    const box = byId("lease");
    const seconds = Math.ceil(left / 1000);
    const canExtend = this.form.closest("[data-extend-url]")?.getAttribute("data-extend-url") !== "";
    if (box.hidden) announce(say("Less than two minutes are left for this question."));
    box.hidden = false;
    byId("lease-text").textContent =
      seconds > 0
        ? say("{time} left for this question.", { time: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` })
        : say("The time for this question is up. Someone else may get this question. You can still try to submit your answer.");
    byId("lease-extend").hidden = !canExtend || seconds === 0;
    byId("lease-next").hidden = seconds > 0;
    byId("lease-actions").hidden = byId("lease-extend").hidden && byId("lease-next").hidden;
    if (seconds === 0) announce(say("The time for this question is up."));
  }

  /** @param {{expires_at: number, server_now: number}} lease */
  renew(lease) {
    byId("lease").hidden = true;
    byId("panel-item").focus({ preventScroll: true });
    this.lease.renew(lease);
  }

  /**
   * @param {string} message
   * @param {import("./form.js").Control} [control]
   */
  #complain(message, control) {
    byId("form-error").textContent = message;
    control?.setAttribute("aria-invalid", "true");
    control?.focus();
  }

  /** @param {Outcome} outcome */
  #finish(outcome) {
    this.setBusy(true);
    this.resolve?.(outcome);
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    this.busy = busy;
    this.form.dataset.busy = String(busy);
    this.form.inert = busy;
  }

  #close() {
    this.listening.abort();
    this.timer.stop();
    this.lease.stop();
    this.module?.unmount?.(this.root);
  }
}

/** @param {string} text for screen readers */
export function announce(text) {
  byId("announce").textContent = text;
}
