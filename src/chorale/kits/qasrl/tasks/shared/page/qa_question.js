/**
 * The field for a question: a combobox that suggests the next words, and explains why a text is not a question.
 *
 * @typedef {{text: string, key: string}} Understood the question as it should be written; `key` is equal for questions
 *   that ask for the same role
 * @typedef {{
 *   changed: () => void,
 *   done: () => void,
 * }} FieldEvents `done`: the question is complete, and the writer wants to continue
 */

import { say } from "/static/say.js";
import { make } from "/static/show.js";
import { Grammar } from "./question_grammar.js";

const MOST_OFFERED = 8;

export class QuestionField {
  /**
   * @param {HTMLElement} place for the field
   * @param {{forms: any, tokens: string[], verb_index: number, prepositions?: string[], variants?: any, suggested?:
   *   string[]}} item
   * @param {string} label
   * @param {() => string[]} earlier questions asked already
   * @param {FieldEvents} events
   */
  constructor(place, item, label, earlier, events) {
    this.grammar = new Grammar(item.forms, item.tokens, item.verb_index, item.prepositions, item.variants, item.suggested);
    this.earlier = earlier;
    this.events = events;
    this.listening = new AbortController();
    const id = `qa-${Math.random().toString(36).slice(2, 9)}`;
    this.input = /** @type {HTMLInputElement} */ (make("input", { id }));
    this.list = make("ul", { class: "qa-offers", id: `${id}-list` });
    this.note = make("p", { class: "hint qa-reason", id: `${id}-note` });
    const caption = make("label", { text: label });
    caption.setAttribute("for", id);
    Object.assign(this.input, { type: "text", autocomplete: "off", spellcheck: false, maxLength: 200, placeholder: "Who …? What …? When …?" });
    for (const [name, value] of Object.entries({
      role: "combobox",
      autocapitalize: "sentences",
      enterkeyhint: "next",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": this.list.id,
      "aria-describedby": this.note.id,
    })) {
      this.input.setAttribute(name, value);
    }
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", say("Possible next words"));
    this.list.hidden = true;
    place.replaceChildren(make("div", { class: "field qa-field" }, [caption, make("div", { class: "qa-combo" }, [this.input, this.list]), this.note]));
    /** @type {{text: string, whole: boolean}[]} */
    this.offers = [];
    this.active = -1;
    this.#listen();
  }

  get value() {
    return this.input.value.trim();
  }

  /** @param {string} text */
  set value(text) {
    this.input.value = text;
    this.closeOffers();
    this.explain("");
  }

  /** @returns {Understood | {reason: string}} */
  understood() {
    return this.grammar.parse(this.value);
  }

  focus() {
    this.input.focus({ preventScroll: true });
  }

  /** @param {string} why the question is not right; empty if it is */
  explain(why) {
    this.note.textContent = why;
    this.note.classList.toggle("error", why !== "");
    if (why) this.input.setAttribute("aria-invalid", "true");
    else this.input.removeAttribute("aria-invalid");
  }

  close() {
    this.listening.abort();
  }

  #listen() {
    const { signal } = this.listening;
    this.input.addEventListener("input", () => this.#typed(), { signal });
    this.input.addEventListener("keydown", (event) => this.#key(event), { signal });
    this.input.addEventListener("click", () => this.list.hidden && this.#offer(), { signal });
    // Leaving the field changes nothing: the text was already handled, and a message may just have moved the focus.
    this.input.addEventListener("change", (event) => event.stopPropagation(), { signal });
    this.input.addEventListener("blur", () => this.#left(), { signal });
    // A tap on the list must not take the focus from the field.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault(), { signal });
    this.list.addEventListener("click", (event) => this.#clicked(event), { signal });
  }

  #typed() {
    this.explain("");
    this.#offer();
    this.events.changed();
  }

  #left() {
    this.closeOffers();
    const understood = this.value ? this.understood() : null;
    if (understood && "reason" in understood) this.explain(understood.reason);
    else if (understood) this.input.value = understood.text;
  }

  #offer() {
    const understood = this.value === "" ? null : this.understood();
    const whole = understood !== null && "text" in understood;
    const offered = this.grammar.complete(this.input.value, this.earlier());
    // Do not suggest the text that is already there.
    this.offers = offered.filter((offer) => !whole || offer.text !== understood.text);
    if (whole && this.value !== understood.text) {
      // On a phone, tapping the complete question finishes it. Only a likelier question comes before it: for “who has”,
      // “Who has something?” and not “Who has?”.
      const isLikeliest = offered[0]?.text === understood.text || !offered[0]?.whole;
      this.offers.splice(isLikeliest ? 0 : 1, 0, { text: understood.text, whole: true });
    }
    this.offers = this.offers.slice(0, MOST_OFFERED);
    // A complete question continues only if the writer chooses a suggestion.
    this.active = this.offers.length > 0 && this.value !== "" && !whole ? 0 : -1;
    this.#draw();
  }

  /** Hide the suggestions until somebody types or taps the field again. */
  closeOffers() {
    this.offers = [];
    this.active = -1;
    this.#draw();
  }

  #draw() {
    this.input.toggleAttribute("data-own-enter", this.value !== "");
    this.list.replaceChildren(
      ...this.offers.map((offer, number) => {
        const option = make("li", { id: `${this.list.id}-${number}`, text: offer.text });
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", String(number === this.active));
        option.dataset.offer = String(number);
        return option;
      }),
    );
    const open = this.offers.length > 0;
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    if (this.active >= 0) {
      this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.active}`);
      this.list.children[this.active].scrollIntoView({ block: "nearest" });
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === "ArrowDown" || key === "ArrowUp") {
      if (this.list.hidden) this.#offer();
      else this.#move(key === "ArrowDown" ? 1 : -1);
    } else if (key === "Escape" && !this.list.hidden) {
      this.closeOffers();
    } else if (key === "Tab" && !event.shiftKey && this.active >= 0) {
      this.#take(this.active);
    } else if (key === "Enter" && !event.repeat) {
      // With nothing written, Enter submits, as the button says.
      if (this.value === "" && this.active < 0) return;
      if (this.active >= 0) this.#take(this.active);
      else this.#finish();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {1 | -1} step */
  #move(step) {
    const count = this.offers.length + 1;
    this.active = ((this.active + 1 + step + count) % count) - 1;
    this.#draw();
  }

  /** @param {Event} event */
  #clicked(event) {
    const option = /** @type {Element} */ (event.target).closest("[data-offer]");
    if (option instanceof HTMLElement) this.#take(Number(option.dataset.offer));
  }

  /** @param {number} number */
  #take(number) {
    const { text, whole } = this.offers[number];
    this.input.value = whole ? text : `${text} `;
    this.explain("");
    if (whole) this.closeOffers();
    else this.#offer();
    this.events.changed();
    if (whole) this.#finish();
  }

  #finish() {
    if (this.value === "") return;
    const understood = this.understood();
    this.closeOffers();
    if ("reason" in understood) {
      this.explain(understood.reason);
      return;
    }
    this.input.value = understood.text;
    this.explain("");
    this.events.done();
  }
}
