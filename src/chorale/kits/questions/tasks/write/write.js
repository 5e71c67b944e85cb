/**
 * The writing page: questions with options, and hints while workers write, which never block submission.
 *
 * @typedef {{question: string, options: string[], right: string | null, why: string | null}} Written
 * @typedef {{
 *   draft: any, changed: () => void, submit: () => void,
 *   memory: {get: (name: string) => any, set: (name: string, value: any) => void},
 * }} Api
 */

import { hintsFor } from "./hints.js";
import { say } from "/static/say.js";

const LETTERS = "abcdefgh";
const PAUSE_MS = 500;
const MOST_REMEMBERED = 300;
const MEMORY = "mcq-written";

/** @type {WeakMap<HTMLElement, Page>} */
const pages = new WeakMap();

/**
 * @param {HTMLElement} root
 * @param {Object<string, any>} item
 * @param {Api} api
 */
export function mount(root, item, api) {
  pages.set(root, new Page(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => pages.get(root)?.answer() ?? {};

/** @param {HTMLElement} root */
export const problem = (root) => pages.get(root)?.gap()?.words ?? null;

/** @param {HTMLElement} root */
export function point(root) {
  const field = pages.get(root)?.gap()?.field;
  if (field?.type !== "radio") field?.setAttribute("aria-invalid", "true");
  field?.focus();
}

/** @param {HTMLElement} root */
export const recap = (root) => pages.get(root)?.recap() ?? { lines: [], answer: "" };

/** @param {HTMLElement} root */
export const submitted = (root) => pages.get(root)?.remember();

/** @param {HTMLElement} root */
export function unmount(root) {
  pages.get(root)?.close();
  pages.delete(root);
}

class Page {
  /**
   * @param {HTMLElement} root
   * @param {Object<string, any>} item
   * @param {Api} api
   */
  constructor(root, item, { draft, memory }) {
    this.root = root;
    this.passage = item.passage;
    this.memory = memory;
    /** @type {HTMLElement[]} */
    this.blocks = [...root.querySelectorAll(".mcq-written")];
    this.earlier = /** @type {{question: string, why: string | null}[]} */ (memory.get(MEMORY) ?? []);
    this.listening = new AbortController();
    this.waiting = 0;
    for (const field of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-letter]"))) {
      const letter = field.dataset.letter ?? "";
      field.setAttribute("aria-label", field.matches("textarea") ? say("Option {letter}", { letter }) : say("Option {letter} is correct", { letter }));
    }
    if (draft) this.#restore(draft);
    const { signal } = this.listening;
    root.addEventListener("input", (event) => this.#typed(event), { signal });
    root.addEventListener("change", (event) => this.#typed(event), { signal });
    for (const area of root.querySelectorAll(".mcq-line")) {
      // A question is one line, and so is an option: Enter leads to the next.
      area.addEventListener("keydown", (event) => this.#enter(event), { signal });
    }
    this.#rove();
    this.#hint();
  }

  /** Tab stops at only one radio button per question. Text fields between the buttons break the browser's own grouping. */
  #rove() {
    for (const block of this.blocks) {
      const marks = [...block.querySelectorAll("input[type=radio]")];
      const stop = marks.find((mark) => mark.checked) ?? marks[0];
      for (const mark of marks) mark.tabIndex = mark === stop ? 0 : -1;
    }
  }

  /** @param {KeyboardEvent} event */
  #enter(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    const lines = [...this.root.querySelectorAll("textarea")];
    lines[lines.indexOf(event.target) + 1]?.focus();
  }

  /** @param {Event} event */
  #typed(event) {
    /** @type {HTMLElement} */ (event.target).removeAttribute("aria-invalid");
    this.#rove();
    window.clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => this.#hint(), PAUSE_MS);
  }

  /** @param {Object<string, any>} draft */
  #restore(draft) {
    for (const block of this.blocks) {
      const number = block.dataset.number;
      block.querySelector(`[name=question_${number}]`).value = draft[`question_${number}`] ?? "";
      const why = block.querySelector(`[name=why_${number}]`);
      if (why) why.value = draft[`why_${number}`] ?? "";
      this.#options(block).forEach((input, place) => {
        input.value = draft[`options_${number}`]?.[place] ?? "";
      });
      for (const mark of block.querySelectorAll("input[type=radio]")) mark.checked = mark.value === draft[`right_${number}`];
    }
  }

  /**
   * @param {HTMLElement} block
   * @returns {HTMLTextAreaElement[]}
   */
  #options(block) {
    return [...block.querySelectorAll(".mcq-option")];
  }

  /**
   * @param {HTMLElement} block
   * @returns {Written}
   */
  #written(block) {
    const why = block.querySelector(".field textarea:not(.mcq-line)");
    return {
      question: tidy(block.querySelector(".mcq-question").value),
      options: this.#options(block).map((input) => tidy(input.value)),
      right: block.querySelector("input[type=radio]:checked")?.value ?? null,
      why: why ? tidy(why.value) : null,
    };
  }

  /** @returns {Object<string, any>} what is written so far, complete or not */
  answer() {
    /** @type {Object<string, any>} */
    const answer = {};
    for (const block of this.blocks) {
      const number = block.dataset.number;
      const { question, options, right, why } = this.#written(block);
      answer[`question_${number}`] = question;
      answer[`options_${number}`] = options;
      answer[`right_${number}`] = right;
      if (why !== null) answer[`why_${number}`] = why;
    }
    return answer;
  }

  /** @returns {{words: string, field: HTMLInputElement | HTMLTextAreaElement} | null} the first thing that is missing */
  gap() {
    for (const [place, block] of this.blocks.entries()) {
      const numbered = (/** @type {string} */ words) => (this.blocks.length > 1 ? say("Question {number}: {problem}", { number: place + 1, problem: words }) : words);
      const { question, options, right, why } = this.#written(block);
      if (question === "") return { words: numbered(say("Write the question first.")), field: block.querySelector(".mcq-question") };
      const inputs = this.#options(block);
      const empty = options.indexOf("");
      if (empty >= 0) return { words: numbered(say("Fill in option {letter}.", { letter: LETTERS[empty] })), field: inputs[empty] };
      const twice = options.findIndex((option, at) => options.findIndex((other) => same(option, other)) < at);
      if (twice >= 0) return { words: numbered(say("Option {letter} is the same as another option. Change one of them.", { letter: LETTERS[twice] })), field: inputs[twice] };
      if (right === null) return { words: numbered(say("Mark the correct option.")), field: block.querySelector("input[type=radio]") };
      if (why === "") return { words: numbered(say("Explain the answer.")), field: block.querySelector("textarea:not(.mcq-line)") };
    }
    return null;
  }

  /** Show hints below each question, unless the study turns hints off. */
  #hint() {
    if (!this.root.querySelector(".mcq-hints")) return;
    const written = this.blocks.map((block) => this.#written(block));
    this.blocks.forEach((block, place) => {
      const others = [...this.earlier, ...written.slice(0, place)];
      const hints = hintsFor(written[place], this.passage, others);
      const list = block.querySelector(".mcq-hints");
      const shown = [...list.children].map((line) => line.textContent);
      if (shown.join("\n") === hints.join("\n")) return;
      list.replaceChildren(
        ...hints.map((hint) => {
          const line = document.createElement("p");
          line.textContent = hint;
          return line;
        }),
      );
    });
  }

  /** Store submitted questions on this device, to warn the writer about repeating one later. */
  remember() {
    const sent = this.blocks.map((block) => this.#written(block)).map(({ question, why }) => ({ question, why }));
    this.memory.set(MEMORY, [...(this.memory.get(MEMORY) ?? []), ...sent].slice(-MOST_REMEMBERED));
  }

  recap() {
    const questions = this.blocks.map((block) => this.#written(block));
    return {
      lines: [{ kind: "quote", text: this.passage }],
      answer: questions.map(({ question, options }) => `${question} (${options.join(" / ")})`).join(" · "),
    };
  }

  close() {
    window.clearTimeout(this.waiting);
    this.listening.abort();
  }
}

/** @param {string} text as the server will store it */
const tidy = (text) => text.trim().replace(/\s+/g, " ");

/**
 * @param {string} left
 * @param {string} right
 */
const same = (left, right) => left.toLowerCase() === right.toLowerCase();
