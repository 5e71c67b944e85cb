/** Rankings, best first: by tapping in order, by dragging, or with the keyboard. */

import { Field } from "./field.js";
import { say, sayCount, sayList } from "/static/say.js";

export default class Ranking extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { order, draft, changed }) {
    super(element, rules);
    this.changed = changed;
    this.list = /** @type {HTMLElement} */ (element.querySelector(".form-ranks"));
    this.status = /** @type {HTMLElement} */ (element.querySelector("[role=status]"));
    /** @type {Map<string, HTMLElement>} */
    this.entries = new Map([...this.list.children].map((entry) => [entry.dataset.value, entry]));
    const all = order ?? [...this.entries.keys()];
    /** @type {string[]} the ranked values, best first */
    this.ranked = [...new Set(Array.isArray(draft) ? draft : [])].filter((value) => this.entries.has(value));
    this.first = all;
    /** @type {{value: string, pointer: number} | null} */
    this.dragged = null;
    this.list.addEventListener("click", (event) => this.#click(event));
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("pointerdown", (event) => this.#press(event));
    this.list.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of ["pointerup", "pointercancel"]) this.list.addEventListener(name, () => this.#release());
    element.querySelector(".form-again")?.addEventListener("click", () => this.#startOver());
    this.#draw();
  }

  /** @returns {string[]} everything in the order it is shown */
  get #shown() {
    return [...this.ranked, ...this.first.filter((value) => !this.ranked.includes(value))];
  }

  /** @param {Event} event @returns {string | null} */
  #valueAt(event) {
    const entry = event.target instanceof Element ? event.target.closest("li") : null;
    return entry instanceof HTMLElement ? (entry.dataset.value ?? null) : null;
  }

  /** @param {Event} event */
  #click(event) {
    const value = this.#valueAt(event);
    if (value === null || !(event.target instanceof Element) || !event.target.closest(".form-rank")) return;
    if (!this.ranked.includes(value)) this.#place(value, this.ranked.length);
    // Only one rank is left for the last one.
    const left = this.first.filter((each) => !this.ranked.includes(each));
    if (left.length === 1) this.#place(left[0], this.ranked.length);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const value = this.#valueAt(event);
    if (!step || value === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const place = this.ranked.indexOf(value);
    if (place >= 0) this.#place(value, Math.max(0, Math.min(this.ranked.length - 1, place + step)));
    this.entries.get(value)?.querySelector("button")?.focus();
  }

  /** @param {PointerEvent} event */
  #press(event) {
    const value = this.#valueAt(event);
    if (value === null || !event.isPrimary || event.button !== 0) return;
    if (!(event.target instanceof Element) || !event.target.closest(".form-handle")) return;
    event.preventDefault();
    this.list.setPointerCapture(event.pointerId);
    this.dragged = { value, pointer: event.pointerId };
    this.entries.get(value)?.classList.add("form-dragged");
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    if (!this.dragged || event.pointerId !== this.dragged.pointer) return;
    const { value } = this.dragged;
    const others = this.#shown.filter((each) => each !== value);
    const above = others.filter((each) => {
      const box = /** @type {HTMLElement} */ (this.entries.get(each)).getBoundingClientRect();
      return box.top + box.height / 2 < event.clientY;
    }).length;
    const ranked = this.ranked.filter((each) => each !== value).length;
    const place = Math.min(above, ranked);
    if (this.ranked[place] !== value) this.#place(value, place);
  }

  #release() {
    if (!this.dragged) return;
    const { value } = this.dragged;
    this.entries.get(value)?.classList.remove("form-dragged");
    this.dragged = null;
    if (!this.ranked.includes(value)) this.#place(value, this.ranked.length);
  }

  /** @param {string} value @param {number} place */
  #place(value, place) {
    const others = this.ranked.filter((each) => each !== value);
    this.ranked = [...others.slice(0, place), value, ...others.slice(place)];
    this.#draw();
    this.status.textContent = say("{place} of {total}: {text}", { place: place + 1, total: this.first.length, text: this.#text(value) });
    this.changed();
  }

  #startOver() {
    this.ranked = [];
    this.#draw();
    this.status.textContent = say("No ranks given yet");
    this.changed();
  }

  #draw() {
    const focused = this.list.contains(document.activeElement) ? document.activeElement : null;
    const shown = this.#shown;
    // Move only elements whose place changes: an element under a finger must stay in the page.
    shown.forEach((value, number) => {
      const entry = /** @type {HTMLElement} */ (this.entries.get(value));
      if (this.list.children[number] !== entry) this.list.insertBefore(entry, this.list.children[number] ?? null);
      const place = this.ranked.indexOf(value);
      const badge = /** @type {HTMLElement} */ (entry.querySelector(".form-place"));
      badge.textContent = place < 0 ? "–" : String(place + 1);
      entry.classList.toggle("form-placed", place >= 0);
      const rank = place < 0 ? say("no rank yet") : say("rank {number}", { number: place + 1 });
      entry.querySelector("button")?.setAttribute("aria-label", `${this.#text(value)}, ${rank}`);
    });
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }

  /** @param {string} value */
  #text(value) {
    return this.entries.get(value)?.querySelector(".form-side")?.textContent.trim() ?? value;
  }

  draft() {
    return this.ranked.length ? [...this.ranked] : undefined;
  }

  value() {
    return this.draft();
  }

  problem() {
    const left = this.first.length - this.ranked.length;
    if (left === 0 || (left === this.first.length && !this.rules.required)) return null;
    return left === this.first.length ? say("Rank them first.") : sayCount(left, "Rank the last one too.", "Rank the other {count} too.");
  }

  get focusTarget() {
    const next = this.#shown[this.ranked.length] ?? this.#shown[0];
    return this.entries.get(next)?.querySelector("button") ?? null;
  }

  words() {
    return sayList(this.ranked.map((value, number) => `${number + 1}. ${this.#text(value)}`));
  }
}
