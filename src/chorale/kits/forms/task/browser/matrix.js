/** A table of ratings: a level for every row. */

import { Field } from "./field.js";
import { say, sayList, sayQuoted } from "/static/say.js";

export default class Matrix extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { draft }) {
    super(element, rules);
    for (const input of this.inputs) input.checked = draft?.[input.dataset.row ?? ""] === Number(input.value);
  }

  /** @returns {HTMLInputElement[]} */
  get inputs() {
    return [...this.element.querySelectorAll("input")];
  }

  draft() {
    const chosen = this.inputs.filter((input) => input.checked);
    return chosen.length ? Object.fromEntries(chosen.map((input) => [input.dataset.row, Number(input.value)])) : undefined;
  }

  value() {
    return this.draft();
  }

  /** @returns {[string, string][]} the rows without a level */
  get #missing() {
    const given = this.draft() ?? {};
    return this.rules.rows.filter(([row]) => given[row] === undefined);
  }

  problem() {
    const missing = this.#missing;
    if (missing.length === 0 || (!this.rules.required && missing.length === this.rules.rows.length)) return null;
    return say("Choose a level for {rows}.", { rows: sayList(missing.map(([, label]) => sayQuoted(label))) });
  }

  get focusTarget() {
    const [row] = this.#missing[0] ?? [];
    return this.inputs.find((input) => input.dataset.row === row) ?? this.inputs[0];
  }

  words() {
    const given = this.draft() ?? {};
    const rated = this.rules.rows.filter(([row]) => given[row] !== undefined);
    return sayList(rated.map(([row, label]) => `${label}: ${given[row]}`));
  }
}
