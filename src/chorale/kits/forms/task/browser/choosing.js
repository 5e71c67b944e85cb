/** Radio buttons and checkboxes: a choice, several, a level of a labelled scale, a side of a pair. */

import { Field } from "./field.js";
import { say, sayCount, sayList } from "/static/say.js";

export default class Choosing extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
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

  /** @param {string[]} order the order of the values; other values follow in their own order */
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
    if (value === undefined) return this.rules.required ? say("Choose an answer first.") : null;
    if (!Array.isArray(value) || value.length === 0) return null;
    const { min = 0, max } = this.rules;
    if (value.length < min) return sayCount(min, "Choose at least {count}.", "Choose at least {count}.");
    return max && value.length > max ? sayCount(max, "Choose at most {count}.", "Choose at most {count}.") : null;
  }

  get focusTarget() {
    return this.inputs.find((input) => input.checked) ?? this.inputs[0] ?? null;
  }

  words() {
    const chosen = this.inputs.filter((input) => input.checked);
    return sayList(chosen.map((input) => input.closest("label").querySelector("span").textContent.trim().replace(/\s+/g, " ")));
  }
}
