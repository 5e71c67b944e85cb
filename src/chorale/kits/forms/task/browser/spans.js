/**
 * Marking words in a text, with labels if the form has some. A span goes from one token up to another.
 *
 * @typedef {{start: number, end: number, label?: string}} Span
 */

import { Words } from "/static/words.js";
import { say, sayList, sayQuoted } from "/static/say.js";

/** @param {Span} left @param {Span} right */
const sameSpan = (left, right) => left.start === right.start && left.end === right.end && left.label === right.label;

export class Spans {
  /**
   * @param {HTMLElement} element
   * @param {string[]} pieces token, gap, token, gap and so on
   * @param {{overlap?: boolean, max?: number | null, labels?: [string, string][]}} rules
   * @param {() => void} changed
   * @param {HTMLElement} [labels] where the labels to choose from are, if several texts share them
   */
  constructor(element, pieces, rules, changed, labels = element) {
    this.element = element;
    this.labelsAt = labels;
    this.rules = rules;
    this.changed = changed;
    this.box = /** @type {HTMLElement} */ (element.querySelector(".form-tokens"));
    this.marked = /** @type {HTMLElement} */ (element.querySelector(".form-marked"));
    this.status = /** @type {HTMLElement} */ (element.querySelector("[role=status]"));
    /** @type {Span[]} */
    this.spans = [];
    /** @type {Span | null} the one made last, which a tap beside it makes longer */
    this.latest = null;
    this.words = new Words(this.box, pieces, "form", {
      tapped: (token) => this.#tap(token),
      toggled: (token) => this.#toggle(token),
      chosen: (start, end) => this.#mark(start, end),
      draw: () => this.#colour(),
      key: (event) => /^[1-9]$/.test(event.key) && this.#chooseLabel(Number(event.key) - 1),
    });
    const { signal } = this.words.listening;
    for (const name of ["input", "change"]) {
      this.marked.addEventListener(name, (event) => this.#relabel(event), { signal });
    }
    this.marked.addEventListener("click", (event) => this.#removeClicked(event), { signal });
    for (const input of this.#choices) input.addEventListener("change", () => this.#labelWaiting(input.value), { signal });
    this.#draw();
  }

  /** @returns {Span[]} in the order of the text */
  list() {
    return [...this.spans].sort((left, right) => left.start - right.start || left.end - right.end);
  }

  /** @param {any[]} draft possibly from an older form: spans that do not fit are ignored */
  restore(draft) {
    this.spans = draft.filter((span) => this.#isSpan(span ?? {})).map((span) => ({ ...span }));
    this.#draw();
  }

  /** @param {any} span */
  #isSpan({ start, end, label }) {
    const labelled = label === undefined || this.#labels.some(([value]) => value === label);
    return Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start < end && end <= this.words.count && labelled;
  }

  /** @returns {string} the first span that still needs a label, in words; empty if none does */
  get unlabelled() {
    const span = this.#labels.length > 0 ? this.list().find((each) => each.label === undefined) : undefined;
    return span ? sayQuoted(this.#text(span)) : "";
  }

  /** The word that has, or gets, the focus. */
  get focusTarget() {
    return this.words.all[this.words.current] ?? null;
  }

  /** @returns {string} */
  inWords() {
    const name = (span) => (this.#labelText(span) ? ` (${this.#labelText(span)})` : "");
    return sayList(this.list().map((span) => `${sayQuoted(this.#text(span))}${name(span)}`));
  }

  close() {
    this.words.close();
  }

  get #labels() {
    return this.rules.labels ?? [];
  }

  /** @returns {HTMLInputElement[]} the labels to choose from */
  get #choices() {
    return [...this.labelsAt.querySelectorAll("input[name^=label-of-]")];
  }

  /** The label of a new span; undefined if none is chosen yet. */
  get #label() {
    return this.#choices.find((input) => input.checked)?.value;
  }

  /** @param {string} label the label just chosen, for a span that was marked before it */
  #labelWaiting(label) {
    const waiting = this.spans.filter((span) => span.label === undefined);
    for (const span of waiting) span.label = label;
    if (waiting.length > 0) this.#announce(`${this.#labelText(waiting[0])}: ${this.#text(waiting[0])}`);
  }

  /** @param {Span} span @returns {string} the class of its colour */
  #tone(span) {
    const place = this.#labels.findIndex(([value]) => value === span.label);
    return this.#labels.length === 0 || place < 0 ? "" : String(place % 8);
  }

  /** @param {number} token */
  #tap(token) {
    const { latest } = this;
    const beside = latest && latest.label === this.#label && (latest.end === token || latest.start === token + 1);
    const isMarked = this.#spanAt(token) && !this.rules.overlap;
    if (beside && !isMarked && this.spans.includes(latest)) {
      // The same span, only longer: its relations stay.
      latest.start = Math.min(latest.start, token);
      latest.end = Math.max(latest.end, token + 1);
      this.spans = this.spans.filter((each) => each === latest || !sameSpan(each, latest));
      this.#announce(say("Marked: {text}", { text: this.#text(latest) }));
    } else {
      this.#toggle(token);
    }
  }

  /**
   * Where spans may overlap, a word of a longer span may get a span of its own: only that span is then unmarked.
   *
   * @param {number} token to mark, or to unmark together with its span
   */
  #toggle(token) {
    const own = { start: token, end: token + 1, label: this.#label };
    const there = this.rules.overlap ? this.spans.find((each) => sameSpan(each, own)) : this.#spanAt(token);
    if (there) this.#remove(there);
    else this.#mark(token, token + 1);
  }

  /**
   * @param {number} start
   * @param {number} end
   */
  #mark(start, end) {
    const label = this.#label;
    const span = label === undefined ? { start, end } : { start, end, label };
    if (!this.spans.some((each) => sameSpan(each, span))) {
      // A new span replaces the spans it overlaps, and the only one if the form allows just one.
      if (!this.rules.overlap) this.spans = this.spans.filter((each) => each.end <= start || each.start >= end);
      if (this.rules.max === 1) this.spans = [];
      this.spans.push(span);
      this.latest = span;
    }
    this.#announce(say("Marked: {text}", { text: this.#text(span) }));
  }

  /** @param {Span} span */
  #remove(span) {
    this.spans = this.spans.filter((each) => each !== span);
    this.#announce(say("No longer marked: {text}", { text: this.#text(span) }));
  }

  /** @param {string} text */
  #announce(text) {
    this.status.textContent = text;
    this.#draw();
    this.changed();
  }

  /** @param {number} token */
  #spanAt(token) {
    return this.spans.find((span) => span.start <= token && token < span.end);
  }

  /** @param {Span} span */
  #text({ start, end }) {
    return this.words.text([start, end]);
  }

  /** @param {Span} span */
  #labelText(span) {
    return this.#labels.find(([value]) => value === span.label)?.[1] ?? "";
  }

  /**
   * @param {number} number
   * @returns {boolean} whether there is such a label
   */
  #chooseLabel(number) {
    const input = this.#choices[number];
    if (!input) return false;
    input.checked = true;
    this.#labelWaiting(input.value);
    // Where spans may overlap, the label is for the next span: the list changes the labels of the others.
    const span = this.rules.overlap ? undefined : this.#spanAt(this.words.current);
    if (span) span.label = input.value;
    this.#announce(span ? `${this.#labelText(span)}: ${this.#text(span)}` : say("Marking as {label}", { label: this.#labels[number][1] }));
    return true;
  }

  /** @param {Event} event a choice in the list of what is marked */
  #relabel(event) {
    const choice = /** @type {HTMLSelectElement} */ (event.target);
    const span = this.list()[Number(choice.closest("li")?.dataset.span)];
    if (!span || span.label === choice.value) return;
    span.label = choice.value;
    const entry = /** @type {HTMLElement} */ (choice.closest("li"));
    entry.dataset.tone = this.#tone(span);
    choice.querySelector("option[value='']")?.remove();
    this.#colour();
    this.changed();
  }

  /** @param {Event} event */
  #removeClicked(event) {
    const button = /** @type {Element} */ (event.target).closest("button");
    const span = button && this.list()[Number(button.closest("li")?.dataset.span)];
    if (!span) return;
    this.words.current = span.start;
    this.#remove(span);
    this.focusTarget?.focus();
  }

  #draw() {
    this.#colour();
    this.marked.replaceChildren(...this.list().map((span, number) => this.#makeEntry(span, number)));
    this.marked.hidden = this.spans.length === 0;
  }

  /** Show which tokens are marked, and which are being selected. */
  #colour() {
    const ends = new Set(this.spans.map((span) => span.end));
    this.words.show(
      this.spans.map(({ start, end }) => [start, end]),
      (token, number) => {
        token.classList.toggle("form-apart", ends.has(number) && this.spans.some((span) => span.start === number));
        const own = this.spans.findLast((span) => span.start <= number && number < span.end);
        for (const element of [token, token.nextElementSibling]) {
          if (own && this.#tone(own)) element.dataset.tone = this.#tone(own);
          else delete element.dataset.tone;
        }
        const ending = this.spans.filter((span) => span.end - 1 === number).map((span) => this.#labelText(span));
        if (ending.some(Boolean)) token.dataset.label = sayList(ending);
        else delete token.dataset.label;
      },
    );
  }

  /**
   * @param {Span} span
   * @param {number} number
   */
  #makeEntry(span, number) {
    const entry = document.createElement("li");
    entry.dataset.span = String(number);
    const text = document.createElement("span");
    text.className = "form-excerpt";
    const quoted = document.createElement("bdi");
    quoted.textContent = sayQuoted(this.#text(span));
    text.append(quoted);
    if (this.#tone(span)) entry.dataset.tone = this.#tone(span);
    entry.append(text);
    if (this.#labels.length > 0) entry.append(this.#makeLabels(span));
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button button-small button-quiet";
    button.textContent = say("Remove");
    button.setAttribute("aria-label", say("Remove {name}", { name: text.textContent }));
    entry.append(button);
    return entry;
  }

  /** @param {Span} span */
  #makeLabels(span) {
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", say("Label of “{text}”", { text: this.#text(span) }));
    const missing = /** @type {[string, string][]} */ (span.label === undefined ? [["", say("Choose a label")]] : []);
    for (const [value, label] of [...missing, ...this.#labels]) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = label;
      option.selected = value === span.label;
      choice.append(option);
    }
    return choice;
  }
}
