/**
 * The grammar of questions about a verb, for pages: parse what somebody wrote, or offer what can come next. The same
 * table and the same results as `chorale.kits.qasrl.grammar`.
 *
 * @typedef {import("./question_slots.js").Slots} Slots
 * @typedef {import("./question_slots.js").Forms} Forms
 * @typedef {import("./question_sentence.js").Clause} Clause
 * @typedef {{text: string, whole: boolean, slot: string}} Completion the question with one more piece
 * @typedef {{
 *   clause: Clause, subject: string, object: string, prepositions: string[], asked: Set<string>, keys: Set<string>,
 * }} Known what is likely of the verb
 */

import { LONGEST_QUESTION, Machine, wordsOf } from "./question_machine.js";
import { clauseIn, clauseOf, conjugated, objectIn, personBefore, prepositionsIn } from "./question_sentence.js";
import { asQuestion, askedFor, capital, has, isPassive, keyOf, render } from "./question_slots.js";
import TABLE from "./question_table.js";

const MOST_SUGGESTED = 3;
const PREPOSITIONS_ASKED = 3;
const BEFORE_PREPOSITIONS = 2;
const SUGGESTED = 1000;
const SAME_TENSE = 100;
const IN_SENTENCE = 60;
const END = 45;
const NOUNS = new Map([["who", "someone"], ["what", "something"]]);
const WH = new Map([["someone", "who"], ["something", "what"]]);
const FINITE = new Map([["past", "past"], ["present", "presentSingular3rd"]]);
const AUXILIARIES = /** @type {Record<string, {kind: string, tense: string, negated?: string}>} */ (TABLE.auxiliaries);

export class Grammar {
  /**
   * @param {Forms} forms
   * @param {string[]} [tokens] the sentence
   * @param {number} [verbIndex] where the verb stands in it; the first of its forms, if not given
   * @param {string[]} [prepositions] allowed besides the usual ones
   * @param {import("./question_slots.js").Variants} [variants] other spellings of the forms
   */
  constructor(forms, tokens = [], verbIndex = undefined, prepositions = [], variants = {}) {
    this.forms = forms;
    this.tokens = tokens;
    const spelt = Object.values(forms);
    this.verbIndex = verbIndex ?? tokens.findIndex((token) => spelt.includes(token.toLowerCase()));
    this.machine = new Machine(forms, prepositions, variants);
  }

  /** @param {string} question @returns {import("./question_machine.js").Parsed | import("./question_machine.js").NotAQuestion} */
  parse(question) {
    return this.machine.parse(question);
  }

  /** @param {string} prefix @param {string[]} [earlier] questions asked already @returns {Completion[]} likeliest first */
  complete(prefix, earlier = []) {
    if ([...prefix].length > LONGEST_QUESTION) return [];
    const likely = this.#likely(earlier);
    const wanted = wordsOf(prefix).map((word) => word.text).join(" ");
    const isReady = wanted === "" || " \t\r\n\u00a0".includes(prefix[prefix.length - 1]);
    const typed = wanted !== "" && isReady ? `${wanted} ` : wanted;
    const suggested = this.#suggested(likely).filter((text) => text.toLowerCase().startsWith(typed));
    const found = suggested.slice(0, MOST_SUGGESTED).map((text) => ({ text, whole: true, slot: "" }));
    const pieces = this.#pieces(wanted, "", likely, suggested);
    if (!isReady) {
      const space = wanted.lastIndexOf(" ");
      pieces.push(...this.#pieces(wanted.slice(0, Math.max(0, space)), wanted.slice(space + 1), likely, suggested));
    }
    const shown = new Set(found.map((completion) => completion.text));
    for (const completion of pieces) {
      if (!shown.has(completion.text)) {
        shown.add(completion.text);
        found.push(completion);
      }
    }
    return found;
  }

  /** @param {string[]} [earlier] @returns {string[]} likely questions that were not asked yet */
  suggest(earlier = []) {
    return this.#suggested(this.#likely(earlier));
  }

  /** @param {string} begun @param {string} partial @param {Known} likely @param {string[]} suggested */
  #pieces(begun, partial, likely, suggested) {
    const paths = this.machine.walk(begun === "" ? [] : begun.split(" "));
    /** @type {Map<string, {completion: Completion, score: number}>} */
    const scored = new Map();
    if (partial === "" && this.machine.ended(paths).length > 0) {
      scored.set("?", { completion: { text: asQuestion(begun), whole: true, slot: "" }, score: END });
    }
    for (const piece of this.machine.following(paths)) {
      if (piece.text === partial || !piece.text.startsWith(partial) || !isOffered(piece, partial)) continue;
      const text = begun === "" ? piece.text : `${begun} ${piece.text}`;
      const key = `${piece.slot} ${text}`;
      const score = Math.max(scored.get(key)?.score ?? 0, scoreOf(piece, text, likely, suggested));
      scored.set(key, { completion: { text: capital(text), whole: false, slot: piece.slot }, score });
    }
    return [...scored.values()].sort((one, other) => other.score - one.score).map((one) => one.completion);
  }

  /** @param {string[]} earlier @returns {Known} */
  #likely(earlier) {
    const { tokens, verbIndex } = this;
    const asked = earlier.map((question) => this.parse(question)).flatMap((one) => ("slots" in one ? [one.slots] : []));
    const latestFirst = [...asked].reverse();
    const clause = asked.length > 0 ? clauseOf(latestFirst[0]) : clauseIn(tokens, verbIndex, this.forms);
    const guessed = clause.passive || tokens.length === 0 || objectIn(tokens, verbIndex) ? "something" : "";
    const person = personBefore(tokens, verbIndex) || tokens.length === 0 ? "someone" : "";
    const subject = latestFirst.map(actor).find((noun) => noun) ?? person;
    const object = asked.length > 0 ? latestFirst.map(patient).find((noun) => noun) ?? "" : guessed;
    return {
      clause,
      subject: subject || "someone",
      object,
      prepositions: prepositionsIn(tokens, verbIndex, this.machine.more),
      asked: new Set(asked.map(askedFor)),
      keys: new Set(asked.map(keyOf)),
    };
  }

  /** @param {Known} likely @returns {string[]} */
  #suggested(likely) {
    const fresh = candidates(likely).filter(
      (slots) => !likely.asked.has(askedFor(slots)) && !likely.keys.has(keyOf(slots)),
    );
    return [...new Set(fresh.map((slots) => render(slots, this.forms)))];
  }
}

/** @param {import("./question_machine.js").Next} piece @param {string} partial */
function isOffered(piece, partial) {
  const there = piece.after.slots.prep;
  return piece.slot !== "prep" || !there || partial !== "" || TABLE.pairs.includes(`${there} ${piece.value}`);
}

/** @param {import("./question_machine.js").Next} piece @param {string} text @param {Known} likely @param {string[]} suggested */
function scoreOf(piece, text, likely, suggested) {
  let score = piece.weight;
  if (piece.slot === "prep" && likely.prepositions.includes(piece.value)) {
    score += IN_SENTENCE - likely.prepositions.indexOf(piece.value);
  }
  if (piece.slot === "aux") {
    const aux = AUXILIARIES[piece.value];
    if (aux.tense === likely.clause.tense && "negated" in aux === likely.clause.negated) score += SAME_TENSE;
  }
  if (piece.slot === "verb" && piece.value === FINITE.get(likely.clause.tense)) score += SAME_TENSE;
  const number = suggested.findIndex((whole) => {
    const lower = whole.toLowerCase();
    return lower.startsWith(`${text} `) || lower.startsWith(`${text}?`);
  });
  return number < 0 ? score : score + SUGGESTED - number;
}

/** @param {Slots} slots @returns {string} who or what does it, as far as a question tells */
function actor(slots) {
  if (askedFor(slots) === "subject") return NOUNS.get(slots.wh) ?? "";
  if (isPassive(slots)) return slots.prep === "by" && WH.has(slots.misc) ? slots.misc : "";
  return WH.has(slots.subj) ? slots.subj : "";
}

/** @param {Slots} slots @returns {string} whom or what it is done to */
function patient(slots) {
  if (askedFor(slots) === "object") return NOUNS.get(slots.wh) ?? "";
  const noun = isPassive(slots) ? slots.subj : slots.obj;
  return WH.has(noun) ? noun : "";
}

/** @param {Known} likely @returns {Slots[]} the questions one can ask of any verb, with what is known of this one */
function candidates(likely) {
  const active = { ...likely.clause, passive: false };
  const passive = { ...likely.clause, passive: true };
  const bySubject = [asking(active, WH.get(likely.subject) ?? "", "", likely.object)];
  const wh = WH.get(likely.object) ?? "";
  const byObject = likely.object ? [asking(passive, wh, "", ""), asking(active, wh, likely.subject, "")] : [];
  const rest = likely.clause.passive
    ? asking(passive, "when", likely.object || "something", "")
    : asking(active, "when", likely.subject, likely.object);
  const circumstances = TABLE.suggested.map((word) => ({ ...rest, wh: word }));
  const prepositions = likely.prepositions.slice(0, PREPOSITIONS_ASKED);
  return [
    ...(likely.clause.passive ? [...byObject, ...bySubject] : [...bySubject, ...byObject]),
    ...circumstances.slice(0, BEFORE_PREPOSITIONS),
    ...prepositions.map((prep) => ({ ...rest, wh: "what", prep })),
    ...circumstances.slice(BEFORE_PREPOSITIONS),
  ];
}

/** @param {Clause} clause @param {string} wh @param {string} subj @param {string} obj @returns {Slots} */
function asking(clause, wh, subj, obj) {
  const [aux, verb] = conjugated(clause, subj !== "" || !has(TABLE.groups.argument, wh));
  return { wh, aux, subj, verb, obj, prep: "", misc: "" };
}
