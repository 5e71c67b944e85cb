/**
 * The seven slots of a question, and the properties of the verb that follow from them: `slots.py` in the browser.
 *
 * @typedef {{wh: string, aux: string, subj: string, verb: string, obj: string, prep: string, misc: string}} Slots
 * @typedef {{stem: string, presentSingular3rd: string, presentParticiple: string, past: string, pastParticiple: string}} Forms
 * @typedef {Partial<Record<keyof Forms, string[]>>} Variants other spellings of the forms
 */

import TABLE from "./question_table.js";

export const SLOTS = ["wh", "aux", "subj", "verb", "obj", "prep", "misc"];

/** @type {(object: object, name: string) => boolean} whether the table has the name; safe for any word, such as “constructor” */
export const has = (object, name) => Object.hasOwn(object, name);

const AUXILIARIES = /** @type {Record<string, {kind: string, tense: string, negated?: string}>} */ (TABLE.auxiliaries);

/** Maps “has” to “hasn't”. */
export const CONTRACTIONS = new Map(
  Object.entries(AUXILIARIES).flatMap(([aux, one]) => (one.negated ? [[one.negated, aux]] : [])),
);

/** @param {Slots} slots */
const kindOf = (slots) => (slots.aux ? AUXILIARIES[slots.aux].kind : "");

/** @param {Slots} slots @returns {string} `present`, `past`, or the modal */
export function tenseOf(slots) {
  if (slots.aux) return AUXILIARIES[slots.aux].tense;
  return slots.verb === "past" ? "past" : "present";
}

/** @param {Slots} slots */
export const isPerfect = (slots) => kindOf(slots) === "have" || slots.verb.split(" ").includes("have");

/** @param {Slots} slots */
export const isProgressive = (slots) =>
  slots.verb.split(" ").some((word) => word === "presentParticiple" || word === "being");

/** @param {Slots} slots */
export const isNegated = (slots) =>
  slots.verb.split(" ").includes("not") || (slots.aux !== "" && "negated" in AUXILIARIES[slots.aux]);

/** @param {Slots} slots */
export function isPassive(slots) {
  const words = slots.verb.split(" ").filter((word) => word !== "not");
  if (words[words.length - 1] !== "pastParticiple") return false;
  return words.length > 1 ? ["be", "been", "being"].includes(words[words.length - 2]) : kindOf(slots) === "be";
}

/** @param {Slots} slots @returns {string} the role the question asks for; the subject is the agent */
export function askedFor(slots) {
  if (!has(TABLE.groups.argument, slots.wh)) return slots.wh;
  if (!slots.subj) return isPassive(slots) ? "object" : "subject";
  if (has(TABLE.groups["open act"], slots.misc)) return `act ${slots.prep}`.trim();
  if (slots.prep && !slots.misc) {
    return isPassive(slots) && slots.prep === "by" ? "subject" : `prep ${slots.prep}`;
  }
  return isPassive(slots) ? "second object" : "object";
}

/** @param {Slots} slots @returns {string} the role, which is paid once, however often it is asked for */
export function roleOf(slots) {
  const bare = has(TABLE.groups.argument, slots.wh) || !slots.prep || isPassive(slots);
  return bare ? askedFor(slots) : `${askedFor(slots)} ${slots.prep}`;
}

/** @param {Slots} slots @returns {string} equal for questions that ask for the same role */
export function keyOf(slots) {
  const role = askedFor(slots);
  const passive = isPassive(slots);
  const agent = passive && slots.prep === "by";
  const patient = passive && role !== "object" ? slots.subj : slots.obj;
  const negated = isNegated(slots) ? "not" : "";
  return [slots.wh, role, patient, agent ? "" : slots.prep, agent ? "" : slots.misc, negated].join("|");
}

/** @param {string} verb the verb slot @param {Forms} forms @returns {string} with the form itself in place of its name */
export const spelt = (verb, forms) =>
  verb
    .split(" ")
    .map((word) => (TABLE.forms.includes(word) ? forms[/** @type {keyof Forms} */ (word)] : word))
    .join(" ");

/** @param {string} verb @param {Forms} forms @param {Variants} variants @returns {string[]} with the form, then with each variant of it */
export function allSpelt(verb, forms, variants) {
  const words = verb.split(" ");
  const form = words[words.length - 1];
  const others = has(variants, form) ? variants[/** @type {keyof Forms} */ (form)] ?? [] : [];
  return [spelt(verb, forms), ...others.map((spelling) => [...words.slice(0, -1), spelling].join(" "))];
}

/** @param {string} text */
export function capital(text) {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length);
}

/** @param {string} words */
export const asQuestion = (words) => `${capital(words)}?`;

/** @param {Slots} slots @param {Forms} forms */
export const render = (slots, forms) =>
  asQuestion(
    SLOTS.map((slot) => {
      const value = slots[/** @type {keyof Slots} */ (slot)];
      return slot === "verb" ? spelt(value, forms) : value;
    })
      .filter((text) => text)
      .join(" "),
  );
