/**
 * Small pieces that the pages about questions and answers have in common.
 *
 * @typedef {[number, number]} Span
 * @typedef {{question: string, answers: Span[]}} Asked
 */

import { say, sayList, sayQuoted } from "/static/say.js";
import { make, makeButton } from "/static/show.js";

/**
 * @param {string} text
 * @param {string} label for assistive technology, if the text alone is not clear
 * @param {() => void} act
 * @param {{key?: string, class?: string}} [about] `key`: the keyboard shortcut, if any
 */
export function button(text, label, act, about = {}) {
  const made = makeButton(text, about.class ?? "button button-small button-quiet");
  if (label !== text) made.setAttribute("aria-label", label);
  if (about.key) {
    const hint = make("kbd", { class: "key-hint", text: about.key });
    hint.setAttribute("aria-hidden", "true");
    made.append(hint);
    made.setAttribute("aria-keyshortcuts", about.key);
  }
  made.addEventListener("click", act);
  return made;
}

/**
 * Answers as a list of chips, each with a button that removes it.
 *
 * @param {import("./qa_sentence.js").Sentence} sentence
 * @param {Span[]} spans
 * @param {((span: Span) => void) | null} remove
 */
export function answerList(sentence, spans, remove) {
  const list = make("ul", { class: "qa-answers" });
  for (const span of spans) {
    const text = sayQuoted(sentence.text(span));
    const entry = make("li", {}, [make("span", { text })]);
    if (remove) {
      const taken = button("×", say("Remove {text}", { text }), () => remove(span), { class: "qa-remove" });
      entry.append(taken);
    }
    list.append(entry);
  }
  return list;
}

/**
 * @param {Span} one
 * @param {Span} other
 */
export const isSame = (one, other) => one[0] === other[0] && one[1] === other[1];

/**
 * @param {any} value from a draft, which an older version may have saved
 * @param {number} tokens
 * @returns {Span[]} the valid spans
 */
export function spansIn(value, tokens) {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (span) =>
      Array.isArray(span) && span.length === 2 && span.every(Number.isInteger) && 0 <= span[0] && span[0] < span[1] && span[1] <= tokens,
  );
}

/**
 * The sentence again, with one span marked.
 *
 * @param {string[]} pieces
 * @param {number} verb
 * @param {Span} span
 * @param {string} kind
 */
function marked(pieces, verb, [start, end], kind) {
  const line = make("p", { class: "qa-shown" });
  for (let token = 0; token < pieces.length / 2; token += 1) {
    const classes = [token === verb ? "qa-verb" : "", start <= token && token < end ? `qa-shown-${kind}` : ""].join(" ").trim();
    line.append(make("span", { class: classes, text: pieces[2 * token] }));
    const inner = start <= token && token < end - 1;
    line.append(make("span", { class: inner ? `qa-shown-${kind}` : "", text: pieces[2 * token + 1] }));
  }
  return line;
}

/** @type {Object<string, () => string>} */
const STATUSES = {
  matched: () => say("Found"),
  missed: () => say("Missed"),
  spurious: () => say("Not among the expert’s answers"),
  redundant: () => say("You gave this answer twice"),
  asked: () => say("Different question"),
  inexact: () => say("Inexact: not the same words"),
};

/**
 * An answer next to the expert's, argument by argument, in the sentence.
 *
 * @param {any} details
 * @returns {HTMLElement}
 */
export function compared(details) {
  const expected = details.arguments.some((/** @type {any} */ one) => one.expert.questions.length > 0);
  const order = ["missed", "spurious", "asked", "inexact", "redundant", "matched"];
  const listed = [...details.arguments].sort((one, other) => order.indexOf(one.status) - order.indexOf(other.status));
  const entries = listed.map((one) => {
    const exact = one.yours.answer === one.expert.answer;
    const status = one.status === "asked" && exact ? say("Right words, different question") : STATUSES[one.status]();
    const lines = [make("p", { class: `qa-status qa-status-${one.status}`, text: status })];
    lines.push(marked(details.pieces, details.verb_index, one.span, one.status));
    for (const question of one.expert.questions) lines.push(make("p", { text: say("Expert: {question} “{answer}”", { question, answer: one.expert.answer }) }));
    for (const question of one.yours.questions) lines.push(make("p", { text: say("You: {question} “{answer}”", { question, answer: one.yours.answer }) }));
    return make("li", {}, lines);
  });
  return make("div", {}, [
    make("p", { class: "overline", text: say("Your answers next to the expert’s") }),
    ...(expected ? [] : [make("p", { class: "qa-status", text: say("Expert: nothing to ask about this word.") })]),
    make("ol", { class: "qa-compared" }, entries),
  ]);
}

/**
 * @param {import("./qa_sentence.js").Sentence} sentence
 * @param {Asked[]} all
 * @returns {import("/static/form.js").Recap}
 */
export function recapOf(sentence, all) {
  const qas = all.map((one) => `${one.question} ${sayList(one.answers.map((span) => sayQuoted(sentence.text(span))))}`);
  return { lines: [{ kind: "quote", text: sentence.pieces.join("") }], answer: qas.join("; ") || say("Nothing to ask") };
}
