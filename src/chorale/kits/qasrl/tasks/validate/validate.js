/**
 * Validates a writer's questions about a verb: workers answer them or mark them as not answerable.
 *
 * One question is active at a time: words marked in the sentence answer it.
 *
 * @typedef {import("./qa_pieces.js").Span} Span
 * @typedef {{question: string, valid: boolean, answers: Span[]}} Verdict
 */

import { say, sayList, sayQuoted } from "/static/say.js";
import { make } from "/static/show.js";
import { answerList, button, isSame, spansIn } from "./qa_pieces.js";
import { Sentence } from "./qa_sentence.js";

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
    /** @type {Verdict[]} */
    this.verdicts = item.questions.map((/** @type {string} */ question, /** @type {number} */ number) => {
      const before = Array.isArray(api.draft) ? api.draft[number] : null;
      return { question, valid: before?.valid !== false, answers: spansIn(before?.answers, item.tokens.length) };
    });
    this.current = Math.max(0, this.verdicts.findIndex((verdict) => !isDone(verdict)));
    this.sentence = new Sentence(this.part("sentence"), item.pieces, item.verb_index, {
      changed: (spans, said) => this.#marked(spans, said),
      confirmed: () => this.#next(),
      left: () => this.#focusQuestion(),
    });
    this.listening = new AbortController();
    this.part("questions").addEventListener("keydown", (event) => this.#key(event), { signal: this.listening.signal });
    this.#draw();
  }

  /** @returns {string | null} */
  problem() {
    const open = this.verdicts.findIndex((verdict) => !isDone(verdict));
    return open < 0 ? null : say("Mark the answer to question {number}, or say that it can’t be answered.", { number: open + 1 });
  }

  point() {
    this.#choose(Math.max(0, this.verdicts.findIndex((verdict) => !isDone(verdict))));
    this.#focusQuestion();
  }

  close() {
    this.listening.abort();
    this.sentence.close();
  }

  /** @param {number} number */
  #choose(number) {
    this.current = number;
    this.#draw();
  }

  #focusQuestion() {
    /** @type {HTMLElement | null} */ (this.part("questions").querySelector('[aria-current="true"] .qa-choose'))?.focus();
  }

  /**
   * @param {Span[]} spans
   * @param {string} said
   */
  #marked(spans, said) {
    this.verdicts[this.current] = { ...this.verdicts[this.current], valid: true, answers: spans };
    this.#changed(said);
  }

  /** @param {number} number */
  #toggleInvalid(number) {
    const verdict = this.verdicts[number];
    this.verdicts[number] = { ...verdict, valid: !verdict.valid, answers: [] };
    this.current = number;
    this.#changed(verdict.valid ? say("Can’t be answered.") : say("Can be answered."));
    if (verdict.valid) this.#next();
    else this.#focusQuestion();
  }

  /** Go to the next open question, or to the button below the questions. */
  #next() {
    const open = this.verdicts.findIndex((verdict, number) => number > this.current && !isDone(verdict));
    const any = open >= 0 ? open : this.verdicts.findIndex((verdict) => !isDone(verdict));
    if (any < 0) {
      document.getElementById("submit")?.focus();
      return;
    }
    this.#choose(any);
    this.#focusQuestion();
  }

  /** @param {string} said */
  #changed(said) {
    this.part("status").textContent = said;
    this.#draw();
    this.api.changed();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const entry = /** @type {Element} */ (event.target).closest("li[data-question]");
    if (!(entry instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.altKey) return;
    const number = Number(entry.dataset.question);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.#choose((number + step + this.verdicts.length) % this.verdicts.length);
      this.#focusQuestion();
    } else if (event.key.toLowerCase() === "x") {
      this.#toggleInvalid(number);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #draw() {
    const { valid, answers } = this.verdicts[this.current];
    const others = this.verdicts.filter((_, number) => number !== this.current).flatMap((verdict) => verdict.answers);
    this.sentence.show(answers, others, valid);
    const focused = document.activeElement?.closest(".qa-choose") ? this.current : null;
    this.part("questions").replaceChildren(...this.verdicts.map((verdict, number) => this.#makeEntry(verdict, number)));
    if (focused !== null) this.#focusQuestion();
  }

  /**
   * @param {Verdict} verdict
   * @param {number} number
   */
  #makeEntry(verdict, number) {
    const choose = button(verdict.question, verdict.question, () => this.#answer(number), { class: "qa-choose" });
    const invalid = button(say("Can’t be answered"), say("Can’t be answered: {question}", { question: verdict.question }), () => this.#toggleInvalid(number), {
      key: "X",
      class: "button button-small qa-keep",
    });
    invalid.setAttribute("aria-pressed", String(!verdict.valid));
    const remove = (/** @type {Span} */ span) => {
      this.verdicts[number] = { ...verdict, answers: verdict.answers.filter((each) => !isSame(each, span)) };
      this.current = number;
      this.#changed(say("No longer marked: {text}", { text: this.sentence.text(span) }));
      this.#focusQuestion();
    };
    const entry = make("li", { class: verdict.valid ? "qa-entry" : "qa-entry qa-redundant" }, [
      make("div", {}, [
        choose,
        answerList(this.sentence, verdict.answers, remove),
        ...(number === this.current && verdict.valid && verdict.answers.length === 0
          ? [make("p", { class: "hint", text: say("Mark the answer in the sentence: drag over the words, or tap them.") })]
          : []),
      ]),
      make("p", { class: "qa-entry-actions" }, [invalid]),
    ]);
    entry.dataset.question = String(number);
    if (number === this.current) entry.setAttribute("aria-current", "true");
    return entry;
  }

  /** @param {number} number */
  #answer(number) {
    this.#choose(number);
    if (this.verdicts[number].valid) this.sentence.focus();
  }
}

/** @param {Verdict} verdict */
const isDone = (verdict) => !verdict.valid || verdict.answers.length > 0;

/** @type {import("/static/form.js").TaskModule["mount"]} */
export function mount(root, item, api) {
  pages.set(root, new Page(root, item, api));
}

/** @param {HTMLElement} root */
export const collect = (root) => pages.get(root)?.verdicts ?? [];

/** @param {HTMLElement} root */
export const problem = (root) => pages.get(root)?.problem() ?? null;

/** @param {HTMLElement} root */
export const point = (root) => pages.get(root)?.point();

/** @param {HTMLElement} root */
export function recap(root) {
  const page = pages.get(root);
  if (!page) return { lines: [], answer: "" };
  const answers = page.verdicts.map(
    ({ question, valid, answers }) =>
      [question, valid ? sayList(answers.map((span) => sayQuoted(page.sentence.text(span)))) : say("can’t be answered")].join(" "),
  );
  return { lines: [{ kind: /** @type {const} */ ("quote"), text: page.sentence.pieces.join("") }], answer: answers.join("; ") };
}

/** @param {HTMLElement} root */
export function unmount(root) {
  pages.get(root)?.close();
  pages.delete(root);
}
