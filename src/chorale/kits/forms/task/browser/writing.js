/** A line or a longer text. */

import { Field } from "./field.js";

export default class Writing extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { draft }) {
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
