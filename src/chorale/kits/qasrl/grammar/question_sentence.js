/**
 * Properties of a verb, derived from the words next to it: `sentence.py` in the browser.
 *
 * @typedef {import("./question_slots.js").Slots} Slots
 * @typedef {import("./question_slots.js").Forms} Forms
 * @typedef {{tense: string, perfect: boolean, progressive: boolean, negated: boolean, passive: boolean}} Clause
 */

import { hasPassive, isMadeAdverb, isMark, isPassiveAlone } from "./question_arguments.js";
import { CONTRACTIONS, has, isNegated, isPassive, isPerfect, isProgressive, tenseOf } from "./question_slots.js";
import TABLE from "./question_table.js";

const WINDOW = 4;
/** The kind of *had* in *had to give*, which does not form a perfect. */
const OBLIGED = "have to";
const KNOWN = TABLE.sentence;
const HELPERS = new Map(Object.entries(KNOWN.auxiliaries));
/** @type {Clause} */
const UNKNOWN = { tense: "past", perfect: false, progressive: false, negated: false, passive: false };
const FORMS_OF_BE = /** @type {Record<string, string>} */ ({
  stem: "be",
  pastParticiple: "been",
  presentParticiple: "being",
});

/** @param {Slots} slots @returns {Clause} */
export const clauseOf = (slots) => ({
  tense: tenseOf(slots),
  perfect: isPerfect(slots),
  progressive: isProgressive(slots),
  negated: isNegated(slots),
  passive: isPassive(slots),
});

/** @param {string[]} tokens @param {number} verbIndex */
const isInside = (tokens, verbIndex) => verbIndex >= 0 && verbIndex < tokens.length;

/** @param {string[]} tokens @param {number} verbIndex @param {Forms} forms @returns {Clause} */
export function clauseIn(tokens, verbIndex, forms) {
  if (!isInside(tokens, verbIndex)) return UNKNOWN;
  /** @type {Map<string, string>} */
  const helpers = new Map();
  let nearest = "";
  let negated = false;
  let following = "";
  for (const token of tokens.slice(Math.max(0, verbIndex - WINDOW), verbIndex).reverse()) {
    const word = token.toLowerCase();
    const helper = HELPERS.get(word);
    const isNegation = KNOWN.negations.includes(word);
    negated ||= isNegation;
    if (helper) {
      const kind = helper[0] === "have" && following === "to" ? OBLIGED : helper[0];
      nearest ||= kind;
      if (!helpers.has(kind)) helpers.set(kind, helper[1]);
    } else if (!isNegation && !KNOWN.skipped.includes(word) && !isMadeAdverb(word)) {
      break;
    }
    following = word;
  }
  const word = tokens[verbIndex].toLowerCase();
  const isCertain = word !== forms.past && word !== forms.stem;
  const alone = nearest === "" && (isCertain || isPassiveAlone(tokens, verbIndex, forms));
  return clause(word, nearest, helpers, negated, forms, alone);
}

/**
 * @param {string} word
 * @param {string} nearest
 * @param {Map<string, string>} helpers
 * @param {boolean} negated
 * @param {Forms} forms
 * @param {boolean} alone whether the form is a participle although no auxiliary shows it
 * @returns {Clause}
 */
function clause(word, nearest, helpers, negated, forms, alone) {
  const ofBe = ["be", "been", "being"].includes(nearest);
  const shape = { ...UNKNOWN, negated, perfect: helpers.has("have") };
  if (word === forms.presentParticiple) {
    shape.progressive = ofBe;
  } else if (hasPassive(forms) && word === forms.pastParticiple && (ofBe || alone)) {
    shape.passive = true;
    shape.progressive = nearest === "being";
  }
  const tenses = [...helpers.values()].filter((tense) => tense);
  const isPresent = nearest === "" && [forms.stem, forms.presentSingular3rd].includes(word) && word !== forms.past;
  const tense = helpers.get("modal") ?? tenses[tenses.length - 1] ?? (isPresent ? "present" : "past");
  return { ...shape, tense };
}

/**
 * @param {string[]} tokens
 * @param {number} verbIndex
 * @param {Record<string, number>} more additional words that count as prepositions
 * @returns {string[]} prepositions after the verb in its clause, nearest first; all in the sentence if the verb's position
 *   is unknown
 */
export function prepositionsIn(tokens, verbIndex, more) {
  const words = tokens.map((token) => token.toLowerCase());
  const inside = isInside(tokens, verbIndex);
  const after = inside ? words.slice(verbIndex + 1) : words;
  const end = inside ? after.findIndex(endsClause) : -1;
  const own = end < 0 ? after : after.slice(0, end);
  return [...new Set(own.filter((word) => has(TABLE.groups.preposition, word) || has(more, word)))];
}

/** @param {string} word @returns {boolean} whether it is punctuation or a word like “and” or “than”, but not “as” */
const endsClause = (word) => isMark(word) || (word !== "as" && KNOWN.boundaries.includes(word));

/** @param {string} kind @param {string} tense @returns {string} */
const finite = (kind, tense) =>
  Object.entries(TABLE.auxiliaries).find(
    ([, one]) => one.kind === kind && one.tense === tense && !("negated" in one),
  )?.[0] ?? "";

/** @param {Clause} clause @param {boolean} inverted @returns {[string, string]} the auxiliary and the verb slot */
export function conjugated(clause, inverted) {
  const isModal = clause.tense !== "present" && clause.tense !== "past";
  const progressive = clause.progressive && !(clause.passive && (isModal || clause.perfect));
  const helpers = [clause.perfect && "have", progressive && "be", clause.passive && "be"].filter((each) => each);
  let needs = [
    clause.perfect && "pastParticiple",
    progressive && "presentParticiple",
    clause.passive && "pastParticiple",
  ].filter((each) => each !== false);
  let aux = clause.tense;
  let rest = helpers;
  if (isModal) {
    needs = ["stem", ...needs];
  } else if (helpers.length > 0) {
    aux = finite(/** @type {string} */ (helpers[0]), clause.tense);
    rest = helpers.slice(1);
  } else if (inverted || clause.negated) {
    aux = finite("do", clause.tense);
    needs = ["stem"];
  } else {
    return ["", clause.tense === "past" ? "past" : "presentSingular3rd"];
  }
  let words = rest.map((helper, number) => (helper === "have" ? "have" : FORMS_OF_BE[needs[number]]));
  const contracted = CONTRACTIONS.get(aux);
  if (clause.negated && contracted) aux = contracted;
  else if (clause.negated) words = ["not", ...words];
  return [aux, [...words, needs[needs.length - 1]].join(" ")];
}
