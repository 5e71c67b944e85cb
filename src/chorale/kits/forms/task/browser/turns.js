/** The turns of a dialogue, and an option for each. */

import { Field, make } from "./field.js";
import { say, sayCount, sayList } from "/static/say.js";

/**
 * @param {{speaker: string, text: string}} turn
 * @param {number} number
 * @param {Node[]} below
 * @returns {HTMLElement} a turn on the page
 */
export function showTurn({ speaker, text }, number, ...below) {
  const said = make("p", { class: "form-said", dir: "auto", text });
  return make("li", { class: "form-turn", "data-turn": number }, make("p", { class: "form-speaker", text: speaker }), said, ...below);
}

/**
 * @param {import("./field.js").Rules} rules
 * @param {{speaker: string}} turn
 */
export const isAsked = ({ speakers }, turn) => !speakers || speakers.includes(turn.speaker);

export default class Turns extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { item, draft }) {
    super(element, rules);
    /** @type {{speaker: string, text: string}[]} */
    this.turns = item[rules.item] ?? [];
    const list = /** @type {HTMLElement} */ (element.querySelector(".form-dialogue"));
    list.append(...this.turns.map((turn, number) => showTurn(turn, number, ...(isAsked(rules, turn) ? [this.#options(turn, number)] : []))));
    const given = new Map(Array.isArray(draft) ? draft.map((each) => [each?.turn, each?.value]) : []);
    for (const input of this.inputs) input.checked = given.get(Number(input.dataset.of)) === input.value;
  }

  /** @param {{speaker: string}} turn @param {number} number */
  #options({ speaker }, number) {
    const group = make("fieldset", { class: "form-turn-options" });
    group.append(make("legend", { class: "visually-hidden", text: say("Turn {number}, {speaker}", { number: number + 1, speaker }) }));
    for (const [value, label] of this.rules.options) {
      const input = make("input", { type: "radio", name: `${this.rules.name}-${number}`, value, "data-of": number });
      group.append(make("label", {}, input, make("span", { text: label })));
    }
    return group;
  }

  /** @returns {HTMLInputElement[]} */
  get inputs() {
    return [...this.element.querySelectorAll("input")];
  }

  draft() {
    const chosen = this.inputs.filter((input) => input.checked);
    return chosen.length ? chosen.map((input) => ({ turn: Number(input.dataset.of), value: input.value })) : undefined;
  }

  value() {
    return this.draft();
  }

  /** @returns {number[]} turns without an answer */
  get #missing() {
    const given = new Set((this.draft() ?? []).map(({ turn }) => turn));
    return this.turns.flatMap((turn, number) => (isAsked(this.rules, turn) && !given.has(number) ? [number] : []));
  }

  problem() {
    const missing = this.#missing;
    if (!this.rules.required || missing.length === 0) return null;
    return sayCount(missing.length, "Choose an answer for turn {turn}.", "Choose an answer for {count} more turns.", { turn: missing[0] + 1 });
  }

  get focusTarget() {
    const [first] = this.#missing;
    return this.inputs.find((input) => Number(input.dataset.of) === first) ?? this.inputs[0] ?? null;
  }

  words() {
    const labels = new Map(this.rules.options);
    return sayList((this.draft() ?? []).map(({ turn, value }) => `${turn + 1}: ${labels.get(value)}`));
  }
}
