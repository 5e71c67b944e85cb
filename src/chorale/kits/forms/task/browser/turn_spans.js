/** Words marked in the turns of a dialogue. */

import { Field, make } from "./field.js";
import { Spans } from "./spans.js";
import { isAsked } from "./turns.js";
import { say, sayCount, sayList } from "/static/say.js";

export default class TurnSpans extends Field {
  /**
   * @param {HTMLElement} element
   * @param {import("./field.js").Rules} rules
   * @param {import("./field.js").About} about
   */
  constructor(element, rules, { item, draft, changed }) {
    super(element, rules);
    /** @type {{speaker: string, text: string}[]} */
    const turns = item[rules.item] ?? [];
    /** @type {Map<number, Spans>} */
    this.turns = new Map();
    const list = /** @type {HTMLElement} */ (element.querySelector(".form-dialogue"));
    const labels = /** @type {HTMLElement} */ (element.querySelector(".form-labels") ?? element);
    turns.forEach((turn, number) => {
      const entry = make("li", { class: "form-turn", "data-turn": number }, make("p", { class: "form-speaker", text: turn.speaker }));
      list.append(entry);
      if (!isAsked(rules, turn)) {
        entry.append(make("p", { class: "form-said", dir: "auto", text: turn.text }));
        return;
      }
      const named = `${rules.ask} ${say("Turn {number}, {speaker}", { number: number + 1, speaker: turn.speaker })}`;
      entry.append(
        make("div", { class: "form-tokens", role: "listbox", "aria-multiselectable": "true", "aria-orientation": "horizontal", "aria-label": named, dir: "auto" }),
        make("ul", { class: "form-marked", "aria-label": say("Marked in turn {number}", { number: number + 1 }) }),
        make("p", { class: "visually-hidden", role: "status" }),
      );
      const spans = new Spans(entry, item.pieces?.[rules.item]?.[number] ?? [], rules, changed, labels);
      const own = Array.isArray(draft) ? draft.filter((span) => span?.turn === number) : [];
      spans.restore(own.map(({ turn: _, ...span }) => span));
      this.turns.set(number, spans);
    });
  }

  /** @returns {any[]} */
  #list() {
    return [...this.turns].flatMap(([turn, spans]) => spans.list().map((span) => ({ turn, ...span })));
  }

  value() {
    const spans = this.#list();
    return spans.length > 0 || (this.rules.required && this.rules.min === 0) ? spans : undefined;
  }

  problem() {
    const count = this.#list().length;
    const { min = 0, max, required } = this.rules;
    const without = [...this.turns.values()].map((spans) => spans.unlabelled).find(Boolean);
    if (without) return say("Choose a label for {text}.", { text: without });
    if (count === 0 && !required) return null;
    if (count < min) return sayCount(min, "Mark the words first.", "Mark at least {count} parts of the text (you have marked {marked}).", { marked: count });
    return max && count > max ? sayCount(max, "Mark at most {count} part of the text (you have marked {marked}).", "Mark at most {count} parts of the text (you have marked {marked}).", { marked: count }) : null;
  }

  get focusTarget() {
    return [...this.turns.values()][0]?.focusTarget ?? null;
  }

  words() {
    const marked = [...this.turns].filter(([, spans]) => spans.list().length > 0);
    return sayList(marked.map(([turn, spans]) => `${turn + 1}: ${spans.inWords()}`));
  }

  close() {
    for (const spans of this.turns.values()) spans.close();
  }
}
