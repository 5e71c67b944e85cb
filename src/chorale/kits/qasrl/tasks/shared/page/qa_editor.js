/**
 * The current question: its field, the sentence, and the answers marked so far.
 *
 * @typedef {import("./qa_pieces.js").Asked} Asked
 * @typedef {import("./qa_pieces.js").Span} Span
 * @typedef {{
 *   others: () => Asked[],
 *   keep: (asked: Asked) => void,
 *   changed: () => void,
 * }} Host the page: its finished questions, and functions to call when a question is finished or changed
 */

import { say } from "/static/say.js";
import { make } from "/static/show.js";
import { answerList, button, isSame } from "./qa_pieces.js";
import { QuestionField } from "./qa_question.js";
import { Sentence } from "./qa_sentence.js";
import { roleOf } from "./question_slots.js";

export class Editor {
  /**
   * @param {(name: string) => HTMLElement} part of the page
   * @param {Object<string, any>} item
   * @param {string} label of the field
   * @param {Host} host
   */
  constructor(part, item, label, host) {
    this.part = part;
    this.host = host;
    /** @type {Span[]} */
    this.answers = [];
    this.sentence = new Sentence(part("sentence"), item.pieces, item.verb_index, {
      changed: (spans, said) => this.#marked(spans, said),
      confirmed: () => this.#sentenceDone(),
      left: () => this.field.focus(),
    });
    this.field = new QuestionField(part("question"), item, label, () => host.others().map((one) => one.question), {
      changed: () => host.changed(),
      done: () => this.#questionDone(),
    });
  }

  /** @returns {Asked | null} the current question, finished or not */
  get asked() {
    const understood = this.field.understood();
    const question = "text" in understood ? understood.text : this.field.value;
    return question === "" && this.answers.length === 0 ? null : { question, answers: this.answers };
  }

  /** @param {Asked | null} asked the question to edit; null for none */
  open(asked) {
    this.field.value = asked?.question ?? "";
    this.answers = asked?.answers ?? [];
  }

  /** @param {Asked} asked */
  isWhole(asked) {
    return asked.answers.length > 0 && "text" in this.field.grammar.parse(asked.question);
  }

  /** @returns {string | null} why the current question is not finished */
  problem() {
    if (this.field.value === "") return this.answers.length > 0 ? say("Write the question that the marked words answer.") : null;
    const understood = this.field.understood();
    if ("reason" in understood) return understood.reason;
    const others = this.host.others();
    const same = others.findIndex((one) => one.question === understood.text);
    if (same >= 0) return say("This is the same question as question {number}.", { number: same + 1 });
    const alike = others.findIndex((one) => this.#keyOf(one.question) === understood.key);
    if (alike >= 0) {
      return say(
        "This asks the same as question {number} (“{question}”). Edit question {number} if this one is better, or ask about something else.",
        { number: alike + 1, question: others[alike].question },
      );
    }
    return this.answers.length === 0 ? say("Mark the answer in the sentence.") : null;
  }

  /** @param {Asked[]} asked @returns {number} how many different roles they ask for, which is the unit of payment */
  roles(asked) {
    const parsed = asked.map((one) => this.field.grammar.parse(one.question));
    return new Set(parsed.map((each, number) => ("slots" in each ? roleOf(each.slots) : asked[number].question))).size;
  }

  /** @param {string} question */
  #keyOf(question) {
    const parsed = this.field.grammar.parse(question);
    return "key" in parsed ? parsed.key : null;
  }

  /** Show where the problem is. */
  point() {
    const onlyAnswers = this.field.value !== "" && this.answers.length === 0 && "text" in this.field.understood();
    if (onlyAnswers && this.problem() === say("Mark the answer in the sentence.")) {
      this.tell(say("Mark the answer in the sentence."));
      this.sentence.focus();
    } else {
      this.field.explain(this.problem() ?? "");
      this.field.focus();
    }
  }

  draw() {
    const others = this.host.others();
    this.sentence.show(
      this.answers,
      others.flatMap((one) => one.answers),
    );
    const used = this.#used();
    const isNext = this.problem() === say("Mark the answer in the sentence.");
    const hint = used || (isNext ? say("Now mark the answer: drag over the words, or tap them.") : "");
    const done = button(say("Done"), say("Done with this question"), () => this.#finish(), { class: "button button-small" });
    done.hidden = this.asked === null;
    this.part("answers").replaceChildren(
      answerList(this.sentence, this.answers, (span) => this.#remove(span)),
      make("p", { class: used ? "hint qa-used" : "hint", text: hint }),
      done,
    );
  }

  /** @param {string} text */
  tell(text) {
    this.part("status").textContent = text;
  }

  close() {
    this.sentence.close();
    this.field.close();
  }

  /** @param {Span} span */
  #remove(span) {
    this.answers = this.answers.filter((each) => !isSame(each, span));
    this.host.changed();
    this.sentence.focus();
  }

  /**
   * @param {Span[]} spans
   * @param {string} said
   */
  #marked(spans, said) {
    this.answers = spans;
    // On a phone, the field keeps the focus after a tap on a word. Its suggestions would cover the answer and its button.
    this.field.closeOffers();
    const used = this.#used();
    this.tell(used ? `${said}. ${used}` : said);
    this.host.changed();
  }

  /** @returns {string} names another question with one of the answers; empty if there is none */
  #used() {
    const others = this.host.others();
    for (const span of this.answers) {
      const number = others.findIndex((one) => one.answers.some((other) => isSame(span, other)));
      if (number < 0) continue;
      return say("“{text}” answers question {number} too. Does the question you are writing ask for something else?", {
        text: this.sentence.text(span),
        number: number + 1,
      });
    }
    return "";
  }

  #questionDone() {
    const problem = this.problem();
    if (problem === null) this.#finish();
    else this.point();
  }

  #sentenceDone() {
    if (this.answers.length === 0) this.tell(say("Mark an answer first. Press Space to mark a word, or Shift and an arrow key to select several words."));
    else this.#finish();
  }

  #finish() {
    const { asked } = this;
    if (this.problem() !== null || asked === null) {
      this.point();
      return;
    }
    this.open(null);
    this.host.keep(asked);
  }
}
