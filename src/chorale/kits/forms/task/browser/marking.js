/** Words marked in a text. */

import { Field } from "./field.js";
import { Spans } from "./spans.js";
import { say, sayCount } from "/static/say.js";

export default class Marking extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
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
    const without = this.spans.unlabelled;
    if (without) return say("Choose a label for {text}.", { text: without });
    if (count < min) return sayCount(min, "Mark the words first.", "Mark at least {count} parts of the text (you have marked {marked}).", { marked: count });
    return max && count > max ? sayCount(max, "Mark at most {count} part of the text (you have marked {marked}).", "Mark at most {count} parts of the text (you have marked {marked}).", { marked: count }) : null;
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
