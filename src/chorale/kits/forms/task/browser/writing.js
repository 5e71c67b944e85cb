/** A line or a longer text. */

import { Field } from "./field.js";
import { say, sayCount } from "/static/say.js";

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

  /** The text as the server stores it. */
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
    if (this.text === "") return required ? say("Write an answer first.") : null;
    const [length, words] = [[...this.text].length, countWords(this.text)];
    if (length < min) return sayCount(min, "Please write at least {count} character (you have written {written}).", "Please write at least {count} characters (you have written {written}).", { written: length });
    if (max && length > max) return sayCount(max, "Please write at most {count} character (you have written {written}).", "Please write at most {count} characters (you have written {written}).", { written: length });
    if (words < minWords) return sayCount(minWords, "Please write at least {count} word (you have written {written}).", "Please write at least {count} words (you have written {written}).", { written: words });
    return maxWords && words > maxWords ? sayCount(maxWords, "Please write at most {count} word (you have written {written}).", "Please write at most {count} words (you have written {written}).", { written: words }) : null;
  }

  /** Show a counter if the field has a minimum or maximum length. */
  noted() {
    const { min = 1, minWords = 0, maxWords } = this.rules;
    if (!this.count || (min <= 1 && minWords === 0 && !maxWords)) return;
    const byWords = minWords > 0 || Boolean(maxWords);
    const written = byWords
      ? sayCount(countWords(this.text), "{count} word", "{count} words")
      : sayCount([...this.text].length, "{count} character", "{count} characters");
    const least = byWords ? minWords : min;
    this.count.textContent = [
      written,
      least > 1 ? say("at least {number}", { number: least }) : "",
      maxWords ? say("at most {number}", { number: maxWords }) : "",
    ]
      .filter(Boolean)
      .join(say(", "));
    this.count.hidden = false;
  }

  words() {
    return this.text;
  }
}

const UNSPACED =
  /(?=[\p{L}\p{N}])[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/gu;

/**
 * The number of words, as the server counts them: in scripts without spaces, every character is one.
 *
 * @param {string} text
 */
function countWords(text) {
  const characters = text.match(UNSPACED)?.length ?? 0;
  const others = text.replace(UNSPACED, " ").split(/\s+/).filter(Boolean);
  return characters + others.filter((word) => characters === 0 || /[\p{L}\p{N}]/u.test(word)).length;
}
