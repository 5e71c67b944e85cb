/**
 * Hints for improving a question, in plain words. Empty fields get no hints.
 *
 * @typedef {{question: string, options: string[], right: string | null, why: string | null}} Written
 */

import { say, sayCount, sayList } from "/static/say.js";

const LETTERS = "abcdefgh";
const COPIED = 0.7;
const SAME = 0.7;
const FAR = 2;
const MOST_SENTENCES = 3;
const SMALL = new Set(
  ("a an and are as at be been but by can did do does for from had has have he her his how i if in into is it its me my no not " +
    "of on or our out she so some than that the their them then there these they this those to too up was we were what when " +
    "where which who whom whose why will with would you your").split(" "),
);
const EMPTY = new Set(
  ("answer answers answered carefully choose closely correct deep difficult easy find good hard knowledge must need needed needs " +
    "option options paragraph passage question questions read reading right sentence sentences text think true understand whole " +
    "words wrong complete one").split(" "),
);

/**
 * @param {Written} written
 * @param {string} passage
 * @param {{question: string, why: string | null}[]} earlier what the same person wrote before
 * @returns {string[]}
 */
export function hintsFor({ question, options, right, why }, passage, earlier) {
  const inPassage = new Set(wordsOf(passage));
  const hints = [...copied(options, inPassage), ...lengths(options, right)];
  if (earlier.some((other) => alike(question, other.question))) {
    hints.push(say("You have asked nearly the same question before."));
  }
  if (why) hints.push(...explanation(why, question, options, inPassage, earlier));
  return hints;
}

/**
 * @param {string[]} options
 * @param {Set<string>} inPassage
 */
function copied(options, inPassage) {
  const named = options.map((option, place) => {
    const words = wordsOf(option).filter((word) => !SMALL.has(word));
    const shared = words.filter((word) => inPassage.has(word)).length;
    return words.length > 0 && shared / words.length >= COPIED ? LETTERS[place] : "";
  });
  const letters = named.filter((letter) => letter !== "");
  if (letters.length === 0) return [];
  return [sayCount(letters.length, "Option {letters} mostly uses words from the text. Your own words make the question harder.", "Options {letters} mostly use words from the text. Your own words make the question harder.", { letters: sayList(letters) })];
}

/**
 * @param {string[]} options
 * @param {string | null} right
 */
function lengths(options, right) {
  const counts = options.map((option) => wordsOf(option).length);
  const hints = [];
  const short = counts.flatMap((count, place) => (count === 1 ? [LETTERS[place]] : []));
  if (short.length > 0) {
    hints.push(sayCount(short.length, "Option {letters} is a single word. A whole phrase is harder to rule out.", "Options {letters} are single words. A whole phrase is harder to rule out.", { letters: sayList(short) }));
  }
  if (counts.some((count) => count === 0)) return hints;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (most >= FAR * least && most - least >= 3) {
    const longest = right === `option${counts.indexOf(most) + 1}` && counts.filter((count) => count === most).length === 1;
    hints.push(
      longest
        ? say("The correct option is much longer than the others. People guess by length, so make them similar.")
        : say("The options differ a lot in length. People guess by length, so make them similar."),
    );
  }
  return hints;
}

/**
 * @param {string} why
 * @param {string} question
 * @param {string[]} options
 * @param {Set<string>} inPassage
 * @param {{why: string | null}[]} earlier
 */
function explanation(why, question, options, inPassage, earlier) {
  const hints = [];
  if (earlier.some((other) => other.why && alike(why, other.why))) {
    hints.push(say("You have written nearly the same explanation before. Write one for this question."));
  }
  const words = wordsOf(why);
  const said = words.filter((word) => !SMALL.has(word) && !EMPTY.has(word));
  const about = new Set([...inPassage, ...wordsOf([question, ...options].join(" "))]);
  if (words.length >= 4 && !said.some((word) => about.has(word))) {
    hints.push(say("This explanation would fit any question. Name the part of the text it is about."));
  }
  if (why.split(/[.!?]+(?:\s|$)/).filter((sentence) => sentence.trim() !== "").length > MOST_SENTENCES) {
    hints.push(say("Three sentences of explanation are enough."));
  }
  return hints;
}

/**
 * @param {string} left
 * @param {string} right
 */
function alike(left, right) {
  const [one, other] = [new Set(wordsOf(left)), new Set(wordsOf(right))];
  if (one.size < 3 || other.size < 3) return one.size > 0 && [...one].join(" ") === [...other].join(" ");
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared / (one.size + other.size - shared) >= SAME;
}

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu) ?? [];
}
