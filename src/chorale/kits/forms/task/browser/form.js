/**
 * The form task's page, with fields that appear after an answer or have a different order for each worker. The HTML
 * comes from the server; `data-rules` has the rules of each field. Every kind of field has a module, and a form loads
 * only the modules that it needs.
 *
 * @typedef {import("./field.js").Rules} Rules
 * @typedef {{draft: any, suggestion?: any, arrangement: Object<string, string[]> | null, changed: () => void, submit:
 *   () => void}} Api
 */

import { say, sayCount } from "/static/say.js";

/** @type {Object<string, string>} the module of every kind whose module has another name */
const MODULES = {
  choice: "choosing",
  choices: "choosing",
  likert: "choosing",
  pair: "choosing",
  text: "writing",
  long_text: "writing",
  spans: "marking",
  slider: "numbers",
  number: "numbers",
  date: "numbers",
  turn_choice: "turns",
  boxes: "regions",
  polygons: "regions",
};
/** Modules of plain text forms, which need no more than the form's own style sheet. */
const PLAIN = new Set(["choosing", "writing", "marking"]);

/** @type {Map<string, any>} the classes of the kinds on this page */
const kinds = new Map();
/** @type {((root: HTMLElement, item: Object<string, any>) => void) | null} shows parts other than plain text */
let showLooks = null;
/** @type {typeof import("./answers.js") | null} shows reviewers the answers to an item */
let sideBySide = null;
await loadNeeded();

async function loadNeeded() {
  const template = /** @type {HTMLTemplateElement | null} */ (document.getElementById("task-template"));
  const fields = [...(template?.content.querySelectorAll("[data-rules]") ?? [])];
  const needed = [...new Set(fields.map((element) => JSON.parse(element.dataset.rules).kind))];
  const looks = Boolean(template?.content.querySelector("[data-look]"));
  const reviews = Boolean(template?.content.querySelector("[data-answers]"));
  const more = looks || reviews || Boolean(template?.content.querySelector(".form-columns, .form-code"));
  const styled = more || needed.some((kind) => !PLAIN.has(MODULES[kind] ?? kind));
  await Promise.all([...needed.map(loadKind), looks ? loadLooks() : null, reviews ? loadAnswers() : null, styled ? loadStyle("kinds.css") : null]);
}

/** @param {string} kind */
async function loadKind(kind) {
  kinds.set(kind, (await import(`./${MODULES[kind] ?? kind}.js`)).default);
}

async function loadLooks() {
  ({ showLooks } = await import("./parts.js"));
}

async function loadAnswers() {
  sideBySide = await import("./answers.js");
}

/** @param {string} file */
function loadStyle(file) {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL(file, import.meta.url).href;
  return new Promise((resolve) => {
    link.onload = resolve;
    link.onerror = resolve; // without its style sheet, the form is still usable
    document.head.append(link);
  });
}

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
export const draft = (root) => forms.get(root)?.draft() ?? {};

/** @param {HTMLElement} root */
export const problem = (root) => forms.get(root)?.summary() ?? null;

/** @param {HTMLElement} root */
export const point = (root) => forms.get(root)?.point();

/** @param {HTMLElement} root */
export const recap = (root) => forms.get(root)?.recap() ?? { lines: [], answer: "" };

/**
 * The wrong answers of a training item next to the correct ones.
 *
 * @param {{shown: {label: string, text?: any, look?: string, media?: string, alt?: string}[], wrong: {ask: string, own:
 *   string, right: string}[]}} details
 * @returns {Promise<Node>}
 */
export async function compare({ shown, wrong }) {
  const parts = shown.some(({ media, text }) => media !== undefined || Array.isArray(text)) ? await import("./parts.js") : null;
  const box = make("div", "recap form-compared");
  for (const { label, text, look, media, alt } of shown) {
    if (label) box.append(make("p", "pair-label", label));
    if (parts && media !== undefined) box.append(...parts.showMedia(look ?? "", media, alt ?? "", label));
    else if (parts && Array.isArray(text)) box.append(...text.map((turn, number) => parts.showTurn(turn, number)));
    else box.append(make("blockquote", "phrase", text));
  }
  for (const { ask, own, right } of wrong) {
    const line = make("dl", "form-beside");
    line.append(make("dt", "", say("Your answer")), make("dd", "recap-answer", own || say("none")));
    line.append(make("dt", "", say("The correct answer")), make("dd", "recap-answer", right || say("none")));
    const asked = make("p", "form-asked");
    asked.append(make("bdi", "", ask));
    box.append(asked, line);
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
    this.item = item;
    this.api = api;
    this.listening = new AbortController();
    const places = [...root.querySelectorAll("[data-field]")];
    /** @type {Map<string, Node>} every field as it was before anything was filled in */
    this.blank = new Map(places.map((element) => [element.dataset.field, element.cloneNode(true)]));
    this.fields = places.map((element) => {
      const name = element.dataset.field;
      // The saved draft; if there is none, the suggestion of a model or of the item's column.
      const suggested = { [name]: item[JSON.parse(element.dataset.rules).prefill ?? ""] };
      // Only some items may have a suggestion; an empty field must not claim to be filled in.
      if (suggested[name] === undefined) element.querySelector(".form-suggested")?.remove();
      return this.#field(element, (api.draft ?? api.suggestion ?? suggested)[name]);
    });
    this.answers = root.querySelector("[data-answers]");
    if (this.answers && item.answers_given) {
      sideBySide?.showAnswers(this.answers, item.answers_given, (name) => this.blank.has(name), (name, value) => this.#take(name, value));
    }
    showParts(root, item);
    showLooks?.(root, item);
    const { signal } = this.listening;
    for (const name of ["input", "change"]) {
      root.addEventListener(name, (event) => this.#update(event.target), { signal });
    }
    this.#update(null);
  }

  /**
   * @param {HTMLElement} element
   * @param {any} draft the value to fill in
   */
  #field(element, draft) {
    const rules = JSON.parse(element.dataset.rules);
    const order = this.api.arrangement?.[rules.name] ?? null;
    const Kind = kinds.get(rules.kind);
    return new Kind(element, rules, { item: this.item, order, draft, changed: () => this.#changed(element) });
  }

  /** @param {HTMLElement} element */
  #changed(element) {
    this.#update(element);
    this.api.changed();
  }

  /**
   * Fill a field with another value.
   *
   * @param {string} name
   * @param {any} value
   */
  #take(name, value) {
    const place = this.fields.findIndex((field) => field.rules.name === name);
    const old = this.fields[place];
    const fresh = this.blank.get(name).cloneNode(true);
    old.close();
    old.element.replaceWith(fresh);
    this.fields[place] = this.#field(fresh, value);
    this.#update(null);
    this.api.changed();
  }

  /**
   * Show the fields that apply now, and clear the problem of the changed field.
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
        if (this.answers) sideBySide?.forgetChoice(this.answers, field.rules.name);
      }
      const { shownIf } = field.rules;
      const given = shownIf ? [answers.get(shownIf.field)].flat() : [];
      field.show(!shownIf || given.some((value) => shownIf.is.includes(value)));
      if (field.shown) answers.set(field.rules.name, field.value());
    }
  }

  /** @returns {Object<string, any>} the answer; fields without an answer are left out */
  answer() {
    const given = this.fields.filter((field) => field.shown).map((field) => [field.rules.name, field.value()]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }

  /** @returns {Object<string, any>} the draft, complete or not */
  draft() {
    const given = this.fields.filter((field) => field.shown).map((field) => [field.rules.name, field.draft()]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  }

  /** @returns {string | null} why the answer cannot be sent */
  summary() {
    const wrong = this.#wrong();
    if (wrong.length === 0) return null;
    // Each field shows its own problem.
    return sayCount(
      wrong.length,
      "Not submitted yet: check the answer marked above.",
      "Not submitted yet: check the {count} answers marked above.",
    );
  }

  /** Show the problem of every field, and focus the first field with one. */
  point() {
    for (const field of this.fields) field.complain(field.shown ? field.problem() : null);
    this.#wrong()[0]?.focus();
  }

  #wrong() {
    return this.fields.filter((field) => field.shown && field.problem() !== null);
  }

  /** The questions and answers, in words. */
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
 * Hide parts that the item leaves empty, and highlight the marked text.
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
