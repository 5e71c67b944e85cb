/**
 * Writing questions about a verb: the current question is at the top with the sentence, finished questions are below.
 *
 * @typedef {import("./qa_pieces.js").Asked} Asked
 */

import { say, sayCount } from "/static/say.js";
import { make } from "/static/show.js";
import { Editor } from "./qa_editor.js";
import { answerList, button, compared, recapOf, spansIn } from "./qa_pieces.js";

/** @type {WeakMap<HTMLElement, Page>} */
const pages = new WeakMap();

class Page {
  /**
   * @param {HTMLElement} root
   * @param {Object<string, any>} item
   * @param {import("/static/form.js").TaskApi} api
   */
  constructor(root, item, api) {
    this.api = api;
    this.part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (root.querySelector(`[data-part=${name}]`));
    /** @type {Asked[]} the questions that are done */
    this.done = [];
    /** @type {number | null} the place of the current question among them, if it was finished before */
    this.place = null;
    /** whether the worker chose “Nothing to ask” */
    this.nothing = false;
    this.nothingButton = button(say("Nothing to ask"), say("Nothing to ask: not a verb, or no question has an answer here"), () => this.#toggleNothing(), {
      class: "button button-small qa-keep",
      key: "Alt+N",
    });
    this.part("nothing").replaceChildren(this.nothingButton, make("span", { class: "hint", text: say("Not a verb, or no question about it has an answer here.") }));
    this.listening = new AbortController();
    document.addEventListener("keydown", (event) => this.#key(event), { signal: this.listening.signal });
    this.editor = new Editor(this.part, item, say("A question with “{verb}”", { verb: item.verb }), {
      others: () => this.done,
      keep: (asked) => this.#keep(asked),
      changed: () => this.#changed(),
    });
    this.#restore(api.draft ?? suggested(api.suggestion), item.tokens.length);
    this.#draw();
  }

  /**
   * @param {any} draft
   * @param {number} tokens
   */
  #restore(draft, tokens) {
    this.nothing = draft?.nothing === true;
    if (!Array.isArray(draft)) return;
    for (const one of draft) {
      if (typeof one?.question !== "string") continue;
      const asked = { question: one.question, answers: spansIn(one.answers, tokens) };
      if (this.editor.isWhole(asked)) this.done.push(asked);
      else this.editor.open(asked);
    }
  }

  /** @returns {Asked[]} with the current question, if there is one, in its place */
  all() {
    const { asked } = this.editor;
    return asked === null ? this.done : this.#with(asked);
  }

  /** @param {Asked} asked */
  #with(asked) {
    const all = [...this.done];
    all.splice(this.place ?? all.length, 0, asked);
    return all;
  }

  /** The draft also stores whether an empty list is intended. */
  draft() {
    return this.nothing ? { nothing: true } : this.all();
  }

  /** @returns {string | null} */
  problem() {
    const empty = this.all().length === 0 && !this.nothing;
    return this.editor.problem() ?? (empty ? say("Write a question and mark its answer first, or choose “Nothing to ask”.") : null);
  }

  close() {
    this.listening.abort();
    this.editor.close();
  }

  /** @param {KeyboardEvent} event identified by `code`, because with Alt some systems type a different character */
  #key(event) {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== "KeyN") return;
    event.preventDefault();
    this.#toggleNothing();
  }

  /** Questions must be deleted first: a single key must not discard them. */
  #toggleNothing() {
    if (this.all().length > 0) {
      this.editor.tell(say("Delete your questions first."));
      return;
    }
    this.nothing = !this.nothing;
    this.editor.tell(this.nothing ? say("Nothing to ask. Submit, or write a question instead.") : say("Write a question."));
    this.api.changed();
    this.#draw();
    if (this.nothing) document.getElementById("submit")?.focus();
    else this.editor.field.focus();
  }

  #changed() {
    if (this.all().length > 0) this.nothing = false;
    this.#draw();
    this.api.changed();
  }

  /** @param {Asked} asked */
  #keep(asked) {
    const { question } = asked;
    const edited = this.place !== null;
    this.done = this.#with(asked);
    const number = this.done.indexOf(asked) + 1;
    this.place = null;
    this.editor.tell(edited ? say("Question {number} changed: {question}", { number, question }) : say("Question {number} added: {question}", { number, question }));
    this.#changed();
    this.editor.field.focus();
  }

  /** @param {Asked} one */
  #edit(one) {
    const { asked } = this.editor;
    // The current question may have been finished before: keep it when another one is opened.
    if (this.editor.problem() !== null) {
      this.editor.point();
      return;
    }
    if (asked !== null) this.done = this.#with(asked);
    this.place = this.done.indexOf(one);
    this.done = this.done.filter((each) => each !== one);
    this.editor.open(one);
    this.#changed();
    this.editor.field.focus();
  }

  /** @param {Asked} one */
  #remove(one) {
    const number = this.done.indexOf(one);
    if (this.place !== null && this.place > number) this.place -= 1;
    this.done = this.done.filter((each) => each !== one);
    this.editor.tell(say("Deleted: {question}", { question: one.question }));
    this.#changed();
    this.editor.field.focus();
  }

  #draw() {
    this.editor.draw();
    this.part("list").replaceChildren(...this.done.map((one) => this.#makeEntry(one)));
    this.part("asked").hidden = this.done.length === 0;
    const whole = this.editor.problem() === null ? this.all() : this.done;
    const count = whole.length;
    const bonus = this.api.bonuses[Math.min(this.editor.roles(whole), this.api.bonuses.length - 1)];
    this.part("nothing").hidden = this.all().length > 0;
    this.nothingButton.setAttribute("aria-pressed", String(this.nothing));
    const questions = sayCount(count, "{count} question", "{count} questions");
    const asked = bonus ? [questions, say("bonus {amount}", { amount: bonus })].join(" · ") : questions;
    const status = this.nothing ? say("Nothing to ask") : asked;
    if (this.part("count").textContent !== status) this.part("count").textContent = status;
  }

  /** @param {Asked} one */
  #makeEntry(one) {
    return make("li", { class: "qa-entry" }, [
      make("div", {}, [make("p", { text: one.question }), answerList(this.editor.sentence, one.answers, null)]),
      make("p", { class: "qa-entry-actions" }, [
        button(say("Edit"), say("Edit {question}", { question: one.question }), () => this.#edit(one)),
        button(say("Delete"), say("Delete {question}", { question: one.question }), () => this.#remove(one)),
      ]),
    ]);
  }
}

/** @param {any} suggestion of a model; an empty list means “nothing to ask” */
const suggested = (suggestion) => (Array.isArray(suggestion) && suggestion.length === 0 ? { nothing: true } : suggestion);

/** @type {import("/static/form.js").TaskModule["mount"]} */
export function mount(root, item, api) {
  pages.set(root, new Page(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => pages.get(root)?.all() ?? [];

/** @param {HTMLElement} root */
export const draft = (root) => pages.get(root)?.draft() ?? null;

/** @param {HTMLElement} root */
export const problem = (root) => pages.get(root)?.problem() ?? null;

/** @param {HTMLElement} root */
export const point = (root) => pages.get(root)?.editor.point();

/** @param {HTMLElement} root */
export function recap(root) {
  const page = pages.get(root);
  return page ? recapOf(page.editor.sentence, page.all()) : { lines: [], answer: "" };
}

/** @param {any} details */
export const compare = (details) => compared(details);

/** @param {HTMLElement} root */
export function unmount(root) {
  pages.get(root)?.close();
  pages.delete(root);
}
