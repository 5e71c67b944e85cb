/**
 * Base class of all fields of a form.
 *
 * @typedef {{
 *   name: string, kind: string, ask: string, required: boolean, shownIf?: {field: string, is: (string | number)[]},
 *   [setting: string]: any,
 * }} Rules the rules of the field, from the study file (`page.py` writes them)
 * @typedef {{item: Object<string, any>, order: string[] | null, draft: any, changed: () => void}} About the item, the
 *   order of shuffled parts, the earlier draft, and a function to call after changes outside of inputs
 */

/**
 * @param {string} tag
 * @param {Object<string, any>} [own] attributes; `text` is its text
 * @param {(Node | string)[]} inside
 * @returns {HTMLElement}
 */
export function make(tag, { text, ...own } = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(own)) if (value !== undefined) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  element.append(...inside);
  return element;
}

export class Field {
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

  /** @returns {HTMLElement | null} the control to correct the answer */
  get focusTarget() {
    return this.element.querySelector("input, textarea");
  }

  /** @returns {HTMLElement | null} the control to mark as invalid; null for radio buttons */
  get invalidTarget() {
    return null;
  }

  focus() {
    this.focusTarget?.focus();
  }

  noted() {}

  /** @returns {any} the draft of an incomplete answer */
  draft() {
    return this.value();
  }

  close() {}
}
