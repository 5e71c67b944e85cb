/**
 * Guesses the subject, object and particle of a verb from the words of a sentence: `arguments.py` in the browser.
 *
 * @typedef {import("./question_slots.js").Forms} Forms
 * @typedef {{subject: string, object: string, particle: string, objectAfterParticle: boolean}} Arguments
 */

import { has } from "./question_slots.js";
import TABLE from "./question_table.js";

const MARKS = /^[^A-Za-z0-9]+$/;
const NAME = /^[A-Z]/;
const DIGIT = /^[0-9]/;
const FARTHEST_PARTICLE = 5;
const KNOWN = TABLE.sentence;
const HELPERS = new Set([...Object.keys(KNOWN.auxiliaries), ...KNOWN.negations, ...KNOWN.skipped]);

/** @param {string[]} tokens @param {number} place */
export const wordAt = (tokens, place) => (place >= 0 && place < tokens.length ? tokens[place].toLowerCase() : "");

/** @param {string} word */
export const isMark = (word) => MARKS.test(word);

/** @param {string} word */
const isPreposition = (word) => has(TABLE.groups.preposition, word);

/** @param {string} word @returns {boolean} whether it is an adverb by its ending */
export const isMadeAdverb = (word) => word.endsWith("ly") && !KNOWN.notAdverbs.includes(word);

/** @param {string} word */
export const isHelper = (word) => HELPERS.has(word) || isMadeAdverb(word);

/** @param {string} token @returns {boolean} */
export const isName = (token) => NAME.test(token);

/** @param {string} word @returns {boolean} */
export const isNumber = (word) => DIGIT.test(word);

/** @param {string} word @returns {boolean} whether a noun phrase ends before the word */
export const endsNoun = (word) =>
  isPreposition(word) || isMark(word) || KNOWN.boundaries.includes(word) || has(KNOWN.auxiliaries, word);

/** @param {string} word */
const isAdverb = (word) => isMadeAdverb(word) || KNOWN.adverbs.includes(word);

/** @param {string} word */
const single = (word) => (word.endsWith("s") ? word.slice(0, -1) : word);

/** @param {string} word */
function isPerson(word) {
  const one = single(word);
  if (KNOWN.people.includes(word) || KNOWN.people.includes(one)) return true;
  const isAgent = [...word].length > 4 && KNOWN.personEndings.some((ending) => one.endsWith(ending));
  return isAgent && !KNOWN.notPeople.includes(one);
}

/** @param {string} word @returns {string} empty for no word */
function kindOf(word) {
  if (word === "") return "";
  if (KNOWN.things.includes(word.toLowerCase())) return "something";
  return isPerson(word.toLowerCase()) || NAME.test(word) ? "someone" : "something";
}

/** @param {string[]} tokens @param {number} verbIndex @param {Forms} forms @returns {Arguments} of an active question */
export function argumentsIn(tokens, verbIndex, forms) {
  if (isBeforeNoun(tokens, verbIndex)) {
    return { subject: "something", object: "", particle: "", objectAfterParticle: false };
  }
  const subject = subjectKind(tokens, verbIndex, forms);
  const place = particlePlace(tokens, verbIndex);
  if (place === null) {
    return { subject, object: objectOf(tokens, verbIndex, forms), particle: "", objectAfterParticle: false };
  }
  const isNext = place === verbIndex + 1;
  const object = objectOf(tokens, isNext ? place : verbIndex, forms);
  return { subject, object, particle: tokens[place].toLowerCase(), objectAfterParticle: isNext };
}

/** @param {string[]} tokens @param {number} verbIndex @param {Forms} forms @returns {boolean} */
export function isPersonSubject(tokens, verbIndex, forms) {
  const subject = subjectOf(tokens, verbIndex).toLowerCase();
  return isPerson(subject) || (KNOWN.toPeople.includes(forms.stem) && !KNOWN.things.includes(subject));
}

/** @param {string[]} tokens @param {number} verbIndex @param {Forms} forms @returns {boolean} */
export function isPassiveAlone(tokens, verbIndex, forms) {
  if (wordAt(tokens, verbIndex + 1) === "by" || isBeforeNoun(tokens, verbIndex)) return true;
  const behind = particlePlace(tokens, verbIndex) === verbIndex + 1 ? verbIndex + 2 : verbIndex + 1;
  const subject = subjectOf(tokens, verbIndex);
  if (KNOWN.reporting.includes(forms.stem) || kindOf(subject) === "someone") return false;
  if (KNOWN.things.includes(subject.toLowerCase()) || beginsObject(tokens, behind)) return false;
  return subject === "" || followingObject(tokens, behind - 1, forms) === "";
}

/** @param {string[]} tokens @param {number} verbIndex @returns {boolean} */
function isBeforeNoun(tokens, verbIndex) {
  let at = verbIndex - 1;
  while (at > 0 && isMadeAdverb(tokens[at].toLowerCase())) at -= 1;
  return KNOWN.determiners.includes(wordAt(tokens, at)) && !KNOWN.determiners.includes(wordAt(tokens, verbIndex + 1));
}

/** @param {Forms} forms @returns {boolean} */
export const hasPassive = (forms) => ![KNOWN.linking, KNOWN.withoutObject, KNOWN.withoutPassive].some((stems) => stems.includes(forms.stem));

/** @param {string[]} tokens @param {number} verbIndex @param {Forms} forms @returns {string} */
function subjectKind(tokens, verbIndex, forms) {
  const head = subjectOf(tokens, verbIndex);
  if (KNOWN.ofThings.includes(forms.stem) && !isPerson(head.toLowerCase())) return "something";
  if (KNOWN.ofPeople.includes(forms.stem) && !KNOWN.things.includes(head.toLowerCase())) return "someone";
  return kindOf(head) || earlierKind(tokens, verbIndex);
}

/** @param {string[]} tokens @param {number} verbIndex @returns {string} empty if it seems to have none */
export function subjectOf(tokens, verbIndex) {
  if (wordAt(tokens, verbIndex - 1) === "to") return "";
  let place = verbIndex - 1;
  while (place >= 0 && isHelper(tokens[place].toLowerCase())) place -= 1;
  const last = wordAt(tokens, place);
  if (last === "that" && place > 0) return tokens[place - 1];
  if (KNOWN.pronouns.includes(last) || KNOWN.things.includes(last)) return last;
  if (last === "" || isMark(last) || KNOWN.boundaries.includes(last) || isPreposition(last)) return "";
  let start = place;
  while (start > 0 && !isMark(tokens[start - 1]) && !KNOWN.boundaries.includes(tokens[start - 1].toLowerCase())) start -= 1;
  let head = place;
  for (let at = start + 1; at < place; at += 1) {
    if (tokens[at].toLowerCase() === "of") {
      head = at - 1;
      break;
    }
  }
  return head === 0 && tokens[head].endsWith("s") ? tokens[head].toLowerCase() : tokens[head];
}

/** @param {string[]} tokens @param {number} verbIndex @returns {string} the kind of the nearest informative word before the verb */
function earlierKind(tokens, verbIndex) {
  const before = tokens.slice(0, Math.max(0, verbIndex));
  for (const token of [...before].reverse()) {
    if (isPerson(token.toLowerCase())) return "someone";
    if (["it", "which"].includes(token.toLowerCase())) return "something";
  }
  return before.slice(1).some((token) => NAME.test(token)) || tokens.length === 0 ? "someone" : "something";
}

/** @param {string[]} tokens @param {number} place @returns {boolean} */
function beginsObject(tokens, place) {
  const word = wordAt(tokens, place);
  const lists = [KNOWN.determiners, KNOWN.objectPeople, KNOWN.complements, KNOWN.quotes];
  return word !== "" && (lists.some((list) => list.includes(word)) || NAME.test(tokens[place]) || DIGIT.test(word));
}

/** @param {string[]} tokens @param {number} behind @param {Forms} forms @returns {string} */
function objectOf(tokens, behind, forms) {
  // “take” always has an object, but “take off” may have none.
  const always = KNOWN.withObject.includes(forms.stem) && !KNOWN.particles.includes(wordAt(tokens, behind));
  const object = followingObject(tokens, behind, forms) || (always ? "something" : "");
  return object !== "" && KNOWN.toPeople.includes(forms.stem) ? "someone" : object;
}

/** @param {string[]} tokens @param {number} behind @param {Forms} forms @returns {string} the probable object after the word */
function followingObject(tokens, behind, forms) {
  if (KNOWN.withoutObject.includes(forms.stem)) return "";
  let place = behind;
  while (isAdverb(wordAt(tokens, place + 1))) place += 1;
  const word = wordAt(tokens, place + 1);
  if (KNOWN.objectPeople.includes(word)) return "someone";
  if (KNOWN.reporting.includes(forms.stem) || KNOWN.linking.includes(forms.stem)) return "something";
  const isOther = word === "" || KNOWN.notObjects.includes(word) || isHelper(word) || isPreposition(word) || isMark(word);
  if (isOther && !beginsObject(tokens, place + 1)) return "";
  if (NAME.test(tokens[place + 1])) {
    let after = place + 2;
    while (after < tokens.length && NAME.test(tokens[after])) after += 1;
    return after - place > 2 ? "someone" : "something";
  }
  return "something";
}

/** @param {string[]} tokens @param {number} verbIndex @returns {number | null} */
function particlePlace(tokens, verbIndex) {
  if (verbIndex < 0 || verbIndex >= tokens.length) return null;
  const following = wordAt(tokens, verbIndex + 1);
  if (KNOWN.particles.includes(following)) return verbIndex + 1;
  if (KNOWN.particlesAtEnd.includes(following) && closes(tokens, verbIndex + 2)) return verbIndex + 1;
  for (let place = verbIndex + 1; place < Math.min(tokens.length, verbIndex + 1 + FARTHEST_PARTICLE); place += 1) {
    const word = wordAt(tokens, place);
    if (KNOWN.particles.includes(word) && closes(tokens, place + 1)) return place;
    if (isMark(word) || KNOWN.boundaries.includes(word) || isPreposition(word)) return null;
  }
  return null;
}

/** @param {string[]} tokens @param {number} place @returns {boolean} */
function closes(tokens, place) {
  const word = wordAt(tokens, place);
  return word === "" || isMark(word) || KNOWN.boundaries.includes(word) || isPreposition(word);
}
