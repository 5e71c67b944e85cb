/**
 * Ranks first questions: `ranking.py` in the browser.
 *
 * @typedef {import("./question_slots.js").Forms} Forms
 * @typedef {import("./question_sentence.js").Clause} Clause
 * @typedef {import("./question_arguments.js").Arguments} Arguments
 * @typedef {{passive: boolean, asked: string, object: string, modal: boolean}} FirstQuestion
 */

import { endsNoun, hasPassive, isHelper, isMark, isName, isNumber, subjectOf, wordAt } from "./question_arguments.js";
import TABLE from "./question_table.js";
import LEARNT from "./question_weights.js";

const KNOWN = TABLE.sentence;
const ENDINGS = ["ly", "ing", "ed", "er", "or", "ist", "ian", "ion", "ment", "ity", "ness", "s"];
const TELLING = ["name", "0", "4", "5"];
const FARTHEST_TELLING = 11;
const LONGEST_OBJECT = 6;
const HELPERS = new Map(Object.entries(KNOWN.auxiliaries));
const PLAIN_WORDS = new Set([
  ...Object.keys(TABLE.groups.preposition),
  ...Object.keys(KNOWN.auxiliaries),
  ...KNOWN.negations,
  ...KNOWN.skipped,
  ...KNOWN.determiners,
  ...KNOWN.boundaries,
  ...KNOWN.pronouns,
  ...KNOWN.things,
  ...KNOWN.objectPeople,
  ...KNOWN.complements,
  ...KNOWN.notObjects,
  ...KNOWN.adverbs,
]);
/** @type {Map<string, number[]>} */
const WEIGHTS = new Map(Object.entries(LEARNT.weights));
/** How often each word answers “who” instead of “what”, from 0 (never) to 5 (always). */
const KINDS = new Map(
  LEARNT.kinds.flatMap((words, kind) => words.map((word) => /** @type {[string, string]} */ ([word, `${kind}`]))),
);
const PEOPLE_AND_THINGS = ["someone", "something"];
const OF_BE = ["be", "been", "being"];
/** @type {FirstQuestion[]} */
const FIRST_QUESTIONS = [false, true].flatMap((modal) =>
  [false, true].flatMap((passive) =>
    PEOPLE_AND_THINGS.flatMap((asked) =>
      (passive ? [""] : ["", ...PEOPLE_AND_THINGS]).map((object) => ({ passive, asked, object, modal })),
    ),
  ),
);

/** @param {string} tense @returns {boolean} whether it changes factuality */
export const isModal = (tense) => !["past", "present", "will"].includes(tense);

/** @param {FirstQuestion} question @returns {boolean[]} in the order of the table */
function properties({ passive, asked, object, modal }) {
  const who = asked === "someone";
  return [
    !passive,
    passive,
    !passive && who,
    !passive && object === "someone",
    !passive && object === "something",
    passive && who,
    !passive && who && object === "something",
    modal,
  ];
}

/**
 * @param {string[]} tokens
 * @param {number} verbIndex
 * @param {Forms} forms
 * @param {Clause} clause
 * @param {Arguments} guessed the output of the rules for the sentence
 * @returns {FirstQuestion} the likeliest first question
 */
export function likeliest(tokens, verbIndex, forms, clause, guessed) {
  const rows = cues(tokens, verbIndex, forms, clause, guessed).flatMap((cue) => [WEIGHTS.get(cue) ?? []]);
  /** @param {FirstQuestion} question */
  const score = (question) =>
    properties(question).reduce((sum, is, place) => (is ? rows.reduce((all, row) => all + (row[place] ?? 0), sum) : sum), 0);
  const isCertain = clause.passive && OF_BE.includes(helper(tokens, verbIndex));
  const allowed = FIRST_QUESTIONS.filter((question) => makesSense(question, forms, clause) && (question.passive || !isCertain));
  const scores = allowed.map(score);
  return allowed[scores.indexOf(Math.max(...scores))];
}

/** @param {FirstQuestion} question @param {Forms} forms @param {Clause} clause @returns {boolean} */
function makesSense(question, forms, clause) {
  const keepsTense = !["past", "present"].includes(clause.tense) || clause.perfect;
  if (keepsTense && question.modal !== isModal(clause.tense)) return false;
  if (question.passive) return hasPassive(forms);
  if (KNOWN.linking.includes(forms.stem)) return question.object === "something";
  if (question.object === "something" && KNOWN.toPeople.includes(forms.stem)) return false;
  return question.object === "" || !KNOWN.withoutObject.includes(forms.stem);
}

/**
 * @param {string[]} tokens
 * @param {number} verbIndex
 * @param {Forms} forms
 * @param {Clause} clause
 * @param {Arguments} guessed
 * @returns {string[]} the features of the model
 */
function cues(tokens, verbIndex, forms, clause, guessed) {
  const word = wordAt(tokens, verbIndex);
  const spelt = /** @type {(keyof Forms)[]} */ (TABLE.forms).filter((name) => forms[name] === word);
  const form = spelt.join("+");
  const voice = clause.passive ? "passive" : "active";
  const head = subjectOf(tokens, verbIndex);
  const [secondBefore, before] = [near(tokens, verbIndex - 2), near(tokens, verbIndex - 1)];
  const [after, secondAfter] = [near(tokens, verbIndex + 1), near(tokens, verbIndex + 2)];
  const found = [
    "any",
    `form:${form}`,
    `form:${form}:${helper(tokens, verbIndex)}`,
    `rules:${voice}:${guessed.subject}:${guessed.object}`,
    `voice:${voice}`,
    `subject:${guessed.subject}`,
    `object:${voice}:${guessed.object}`,
    `tense:${clause.tense}`,
    `before:${before}`,
    `before:${before}:${form}`,
    `after:${after}`,
    `after:${after}:${form}`,
    `second:after:${secondAfter}`,
    `second:before:${secondBefore}`,
    `both:before:${secondBefore}:${before}`,
    `both:after:${after}:${secondAfter}`,
    `verb:${forms.stem}`,
    `verb:${forms.stem}:${voice}`,
    `head:kind:${kindOfWord(head)}:${voice}`,
    `object:kind:${kindOfWord(objectHead(tokens, verbIndex))}:${voice}`,
    `telling:${telling(tokens, verbIndex)}:${head ? "head" : "alone"}`,
  ];
  if (wordAt(tokens, verbIndex + 1) === "to") found.push(`verb:${forms.stem}:to`);
  if (head) return [...found, `head:${shape(head)}:${voice}`, `word:${head.toLowerCase()}`];
  found.push(`no:head:${voice}:${guessed.subject}`);
  if (wordAt(tokens, verbIndex - 1) === "to") {
    found.push(`to:${wordAt(tokens, verbIndex - 2)}`, `no:head:to:${near(tokens, verbIndex - 2)}`);
  }
  return found;
}

/** @param {string[]} tokens @param {number} place @returns {string} function words unchanged; other words by their shape */
function near(tokens, place) {
  const word = wordAt(tokens, place);
  return PLAIN_WORDS.has(word) ? word : shape(word ? tokens[place] : "");
}

/** @param {string} token @returns {string} */
function shape(token) {
  const word = token.toLowerCase();
  if (word === "" || isMark(word)) return word;
  if (isNumber(word)) return "number";
  if (isName(token)) return word.endsWith("s") ? "names" : "name";
  const ending = ENDINGS.find((one) => word.endsWith(one));
  return ending ? `-${ending}` : "word";
}

/** @param {string[]} tokens @param {number} verbIndex @returns {string} the kind of the nearest auxiliary */
function helper(tokens, verbIndex) {
  for (let place = verbIndex - 1; place >= 0 && isHelper(wordAt(tokens, place)); place -= 1) {
    const found = HELPERS.get(wordAt(tokens, place));
    if (found) return found[0];
  }
  return "";
}

/** @param {string} token @returns {string} */
function kindOfWord(token) {
  if (token === "") return "none";
  return KINDS.get(token.toLowerCase()) ?? (isName(token) ? "name" : "unknown");
}

/** @param {string[]} tokens @param {number} verbIndex @returns {string} the kind of the nearest word that is clearly a person, a name or a thing */
function telling(tokens, verbIndex) {
  for (let place = verbIndex - 1; place >= Math.max(0, verbIndex - FARTHEST_TELLING); place -= 1) {
    const word = wordAt(tokens, place);
    if (KNOWN.pronouns.includes(word)) return "pronoun";
    const kind = kindOfWord(tokens[place]);
    if (TELLING.includes(kind) && !PLAIN_WORDS.has(word)) return kind;
  }
  return "none";
}

/** @param {string[]} tokens @param {number} verbIndex @returns {string} the last word of the object */
function objectHead(tokens, verbIndex) {
  let head = "";
  for (const token of tokens.slice(verbIndex + 1, verbIndex + 1 + LONGEST_OBJECT)) {
    if (endsNoun(token.toLowerCase())) break;
    head = token;
  }
  return head;
}
