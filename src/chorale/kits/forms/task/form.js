/**
 * The form task's page: fields that exclude each other, appear after an answer or come in an order of their own, and
 * words marked in a text. The HTML comes from the server; `data-rules` says what may be sent.
 *
 * @typedef {{
 *   name: string, kind: string, ask: string, required: boolean, shownIf?: {field: string, is: (string | number)[]},
 *   min?: number, max?: number | null, minWords?: number, maxWords?: number | null,
 *   item?: string, overlap?: boolean, labels?: [string, string][],
 * }} Rules
 * @typedef {{draft: any, arrangement: Object<string, string[]> | null, changed: () => void, submit: () => void}} Api
 */

import { Spans } from "./spans.js";

/** @type {WeakMap<HTMLElement, Form>} */
const forms = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {Api} api
 */
export function mount(root, item, api) {
  forms.set(root, new Form(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => forms.get(root)?.answer() ?? {};

/** @param {HTMLElement} root */
export const problem = (root) => forms.get(root)?.summary() ?? null;

/** @param {HTMLElement} root */
export const point = (root) => forms.get(root)?.point();

/** @param {HTMLElement} root */
export const recap = (root) => forms.get(root)?.recap() ?? { lines: [], answer: "" };

/**
 * What was wrong in practice, beside what is right.
 *
 * @param {{shown: {label: string, text: string}[], wrong: {ask: string, own: string, right: string}[]}} details
 * @returns {Node}
 */
export function compare({ shown, wrong }) {
  const box = make("div", "recap form-compared");
  for (const { label, text } of shown) {
    if (label) box.append(make("p", "pair-label", label));
    box.append(make("blockquote", "phrase", text));
  }
  for (const { ask, own, right } of wrong) {
    const line = make("dl", "form-beside");
    line.append(make("dt", "", "Your answer"), make("dd", "recap-answer", own || "none"));
    line.append(make("dt", "", "The right answer"), make("dd", "recap-answer", right));
    box.append(make("p", "form-asked", ask), line);
  }
  return box;
}

/**
 * @param {string} tag
 * @param {string} classes
 * @param {string} [text]
 */
function make(tag, classes, text) {
  const element = document.createElement(tag);
  element.className = classes;
  if (text !== undefined) element.textContent = text;
  if (tag === "blockquote" || tag === "dd") element.dir = "auto";
  return element;
}

/** @param {HTMLElement} root */
export function unmount(root) {
  forms.get(root)?.close();
  forms.delete(root);
}

class Form {
  /**
   * @param {HTMLElement} root
   * @param {Object<string, any>} item
   * @param {Api} api
   */
  constructor(root, item, api) {
    this.root = root;
    this.listening = new AbortController();
    this.fields = [...root.querySelectorAll("[data-field]")].map((element) => {
      const rules = JSON.parse(element.dataset.rules);
      const order = api.arrangement?.[rules.name] ?? null;
      const draft = api.draft?.[rules.name];
      return makeField(element, rules, { item, order, draft, changed: () => this.#changed(element, api) });
    });
    showParts(root, item);
    const { signal } = this.listening;
    for (const name of ["input", "change"]) {
      root.addEventListener(name, (event) => this.#update(event.target), { signal });
    }
    this.#update(null);
  }

  /**
   * @param {HTMLElement} element
   * @param {Api} api
   */
  #changed(element, api) {
    this.#update(element);
    api.changed();
  }

  /**
   * Show the fields that are asked now, and forget what was wrong with the one that changed.
   *
   * @param {EventTarget | null} target
   */
  #update(target) {
    /** @type {Map<string, any>} */
    const answers = new Map();
    for (const field of this.fields) {
      if (target instanceof Node && field.element.contains(target)) {
        field.noted();
        field.complain(null);
      }
      const { shownIf } = field.rules;
      const given = shownIf ? [answers.get(shownIf.field)].flat() : [];
      field.show(!shownIf || given.some((value) => shownIf.is.includes(value)));
      if (field.shown) answers.set(field.rules.name, field.value());
    }
  }

  /** @returns {Object<string, any>} what was answered; fields without an answer are left out */
  answer() {
    const given = this.fields.filter((field) => field.shown).map((field) => [field.rules.name, field.value()]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }

  /** @returns {string | null} what keeps the answer from being sent */
  summary() {
    const wrong = this.#wrong();
    if (wrong.length === 0) return null;
    if (wrong.length === 1) return wrong[0].problem();
    return `${wrong.length} questions need another look: ${wrong.map((field) => `“${field.rules.ask}”`).join(", ")}`;
  }

  /** Say at every field what is wrong with it, and go to the first. */
  point() {
    for (const field of this.fields) field.complain(field.shown ? field.problem() : null);
    this.#wrong()[0]?.focus();
  }

  #wrong() {
    return this.fields.filter((field) => field.shown && field.problem() !== null);
  }

  /** What was asked and answered, in words. */
  recap() {
    const lines = [...this.root.querySelectorAll("[data-part]:not([hidden])")].flatMap((part) => [
      ...[...part.querySelectorAll(".pair-label")].map((label) => ({ kind: "text", text: label.textContent })),
      ...[...part.querySelectorAll("[data-text]")].map((text) => ({ kind: "quote", text: text.textContent })),
    ]);
    const answers = this.fields
      .filter((field) => field.shown)
      .map((field) => [field.rules.ask, field.words()])
      .filter(([, words]) => words !== "");
    return { lines, answer: answers.map(([ask, words]) => `${ask} ${words}`).join(" · ") };
  }

  close() {
    this.listening.abort();
    for (const field of this.fields) field.close();
  }
}

/**
 * Hide parts that the item does without, and mark what is to stand out.
 *
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 */
function showParts(root, item) {
  for (const part of root.querySelectorAll("[data-part]")) part.hidden = item[part.dataset.part] === undefined;
  for (const place of root.querySelectorAll("[data-highlight]")) {
    const text = place.textContent;
    const target = item[place.dataset.highlight] ?? "";
    const at = target === "" ? -1 : text.indexOf(target);
    if (at < 0) continue;
    const mark = document.createElement("mark");
    mark.textContent = target;
    place.replaceChildren(text.slice(0, at), mark, text.slice(at + target.length));
  }
}

/**
 * @param {HTMLElement} element
 * @param {Rules} rules
 * @param {{item: Object<string, any>, order: string[] | null, draft: any, changed: () => void}} about
 */
function makeField(element, rules, about) {
  if (rules.kind === "text" || rules.kind === "long_text") return new Writing(element, rules, about.draft);
  if (rules.kind === "spans") return new Marking(element, rules, about);
  return new Choosing(element, rules, about);
}

/** What all fields have. */
class Field {
  /**
   * @param {HTMLElement} element
   * @param {Rules} rules
   */
  constructor(element, rules) {
    this.element = element;
    this.rules = rules;
    this.shown = true;
    this.error = /** @type {HTMLElement} */ (element.querySelector(".form-error"));
  }

  /** @returns {HTMLElement[]} the controls that can be switched off */
  get controls() {
    return [...this.element.querySelectorAll("input, textarea, select, button")];
  }

  /** @param {boolean} shown */
  show(shown) {
    this.shown = shown;
    this.element.hidden = !shown;
    for (const control of this.controls) control.disabled = !shown;
  }

  /** @param {string | null} problem */
  complain(problem) {
    this.error.textContent = problem ?? "";
    this.error.hidden = problem === null;
    if (problem === null) this.invalidTarget?.removeAttribute("aria-invalid");
    else this.invalidTarget?.setAttribute("aria-invalid", "true");
    this.element.classList.toggle("form-wrong", problem !== null);
  }

  /** @returns {HTMLElement | null} where the answer is put right */
  get focusTarget() {
    return this.element.querySelector("input, textarea");
  }

  /** @returns {HTMLElement | null} what is told to be invalid; of radio buttons, none can be */
  get invalidTarget() {
    return null;
  }

  focus() {
    this.focusTarget?.focus();
  }

  noted() {}

  close() {}
}

/** Radio buttons and checkboxes. */
class Choosing extends Field {
  /**
   * @param {HTMLElement} element
   * @param {Rules} rules
   * @param {{order: string[] | null, draft: any}} about
   */
  constructor(element, rules, { order, draft }) {
    super(element, rules);
    if (order) this.#arrange(order);
    element.querySelectorAll("[data-side]").forEach((label, number) => {
      label.querySelector(".form-letter").textContent = "AB"[number];
    });
    const chosen = [draft].flat();
    for (const input of this.inputs) {
      input.checked = this.#isNone(input) ? Array.isArray(draft) && draft.length === 0 : chosen.includes(this.#valueOf(input));
    }
    for (const input of this.inputs) {
      input.addEventListener("change", () => input.checked && this.#exclude(input));
    }
  }

  /** @returns {HTMLInputElement[]} */
  get inputs() {
    return [...this.element.querySelectorAll("input")];
  }

  /** @param {string[]} order of values; what is not in it keeps its place after them */
  #arrange(order) {
    const labels = order.map((value) => this.inputs.find((input) => input.value === value)?.closest("label"));
    const first = this.element.querySelector("label");
    const place = document.createComment("options");
    first?.before(place);
    place.replaceWith(...labels.filter((label) => label !== undefined));
  }

  /** @param {HTMLInputElement} input */
  #isNone = (input) => input.dataset.none !== undefined;

  /** @param {HTMLInputElement} input */
  #valueOf(input) {
    return this.rules.kind === "likert" ? Number(input.value) : input.value;
  }

  /** @param {HTMLInputElement} chosen “none” and the others exclude each other */
  #exclude(chosen) {
    if (chosen.type !== "checkbox") return;
    for (const input of this.inputs) {
      if (this.#isNone(input) !== this.#isNone(chosen)) input.checked = false;
    }
  }

  value() {
    const chosen = this.inputs.filter((input) => input.checked);
    if (this.rules.kind !== "choices") return chosen.length ? this.#valueOf(chosen[0]) : undefined;
    if (chosen.length === 0) return this.rules.required && this.rules.min === 0 ? [] : undefined;
    return chosen.filter((input) => !this.#isNone(input)).map((input) => input.value);
  }

  problem() {
    const value = this.value();
    if (value === undefined) return this.rules.required ? "Choose an answer first." : null;
    if (!Array.isArray(value) || value.length === 0) return null;
    const { min = 0, max } = this.rules;
    if (value.length < min) return `Choose at least ${min}.`;
    return max && value.length > max ? `Choose at most ${max}.` : null;
  }

  get focusTarget() {
    return this.inputs.find((input) => input.checked) ?? this.inputs[0] ?? null;
  }

  words() {
    return this.inputs
      .filter((input) => input.checked)
      .map((input) => input.closest("label").querySelector("span").textContent.trim().replace(/\s+/g, " "))
      .join(", ");
  }
}

/** A line or a longer text. */
class Writing extends Field {
  /**
   * @param {HTMLElement} element
   * @param {Rules} rules
   * @param {any} draft
   */
  constructor(element, rules, draft) {
    super(element, rules);
    this.input = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (element.querySelector("input, textarea"));
    this.count = element.querySelector(".form-count");
    if (typeof draft === "string") this.input.value = draft;
    this.noted();
  }

  /** What the server will keep of it. */
  get text() {
    const text = this.input.value.trim();
    return this.rules.kind === "text" ? text.replace(/\s+/g, " ") : text;
  }

  get invalidTarget() {
    return this.input;
  }

  value() {
    return this.text === "" ? undefined : this.text;
  }

  problem() {
    const { required, min = 1, max, minWords = 0, maxWords } = this.rules;
    if (this.text === "") return required ? "Write an answer first." : null;
    const [length, words] = [[...this.text].length, countWords(this.text)];
    if (length < min) return `Write at least ${min} characters; these are ${length}.`;
    if (max && length > max) return `Write at most ${max} characters; these are ${length}.`;
    if (words < minWords) return `Write at least ${minWords} words; these are ${words}.`;
    return maxWords && words > maxWords ? `Write at most ${maxWords} words; these are ${words}.` : null;
  }

  /** Count along where a number is asked for. */
  noted() {
    const { min = 1, minWords = 0, maxWords } = this.rules;
    if (!this.count || (min <= 1 && minWords === 0 && !maxWords)) return;
    const byWords = minWords > 0 || Boolean(maxWords);
    const unit = byWords ? "words" : "characters";
    const so = byWords ? countWords(this.text) : [...this.text].length;
    const least = byWords ? minWords : min;
    this.count.textContent = [`${so} ${unit}`, least > 1 ? `at least ${least}` : "", maxWords ? `at most ${maxWords}` : ""]
      .filter(Boolean)
      .join(", ");
    this.count.hidden = false;
  }

  words() {
    return this.text;
  }
}

/** @param {string} text */
const countWords = (text) => text.split(/\s+/).filter(Boolean).length;

/** Words marked in a text. */
class Marking extends Field {
  /**
   * @param {HTMLElement} element
   * @param {Rules} rules
   * @param {{item: Object<string, any>, draft: any, changed: () => void}} about
   */
  constructor(element, rules, { item, draft, changed }) {
    super(element, rules);
    this.spans = new Spans(element, item.pieces?.[rules.item ?? ""] ?? [], rules, changed);
    if (Array.isArray(draft)) this.spans.restore(draft);
  }

  value() {
    const spans = this.spans.list();
    return spans.length > 0 || (this.rules.required && this.rules.min === 0) ? spans : undefined;
  }

  problem() {
    const count = this.spans.list().length;
    const { min = 0, max, required } = this.rules;
    if (count === 0 && !required) return null;
    if (count < min) return min === 1 ? "Mark the words first." : `Mark at least ${min} places; so far there are ${count}.`;
    return max && count > max ? `Mark at most ${max} places; there are ${count}.` : null;
  }

  get focusTarget() {
    return this.spans.focusTarget;
  }

  get invalidTarget() {
    return this.spans.box;
  }

  words() {
    return this.spans.inWords();
  }

  close() {
    this.spans.close();
  }
}
