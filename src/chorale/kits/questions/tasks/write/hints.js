/**
 * What could be better about a question, in plain words. Hints are about what is there: nothing is said of empty fields.
 *
 * @typedef {{question: string, options: string[], right: string | null, why: string | null}} Written
 */

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
    hints.push("You have asked nearly the same question before.");
  }
  if (why) hints.push(...explanation(why, question, options, inPassage, earlier));
  return hints;
}

/**
 * @param {string[]} options
 * @param {Set<string>} inPassage
 */
function copied(options, inPassage) {
  const found = options.map((option, place) => {
    const words = wordsOf(option).filter((word) => !SMALL.has(word));
    const shared = words.filter((word) => inPassage.has(word)).length;
    return words.length > 0 && shared / words.length >= COPIED ? LETTERS[place] : "";
  });
  const letters = found.filter((letter) => letter !== "");
  if (letters.length === 0) return [];
  return [`${named(letters)} mostly ${letters.length === 1 ? "uses" : "use"} words of the text. Your own words make it harder.`];
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
    hints.push(`${named(short)} ${short.length === 1 ? "has" : "have"} a single word. A whole phrase is harder to rule out.`);
  }
  if (counts.some((count) => count === 0)) return hints;
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (most >= FAR * least && most - least >= 3) {
    const longest = right === `option${counts.indexOf(most) + 1}` && counts.filter((count) => count === most).length === 1;
    hints.push(
      longest
        ? "The right option is much longer than others. People guess by length: make them alike."
        : "The options are of very different length. People guess by length: make them alike.",
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
    hints.push("You have written nearly the same explanation before. Write one for this question.");
  }
  const words = wordsOf(why);
  const said = words.filter((word) => !SMALL.has(word) && !EMPTY.has(word));
  const about = new Set([...inPassage, ...wordsOf([question, ...options].join(" "))]);
  if (words.length >= 4 && !said.some((word) => about.has(word))) {
    hints.push("The explanation would fit any question. Name what in the text it is about.");
  }
  if (why.split(/[.!?]+(?:\s|$)/).filter((sentence) => sentence.trim() !== "").length > MOST_SENTENCES) {
    hints.push("Three sentences of explanation are enough.");
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

/** @param {string[]} letters */
function named(letters) {
  if (letters.length === 1) return `Option ${letters[0]}`;
  return `Options ${letters.slice(0, -1).join(", ")} and ${letters[letters.length - 1]}`;
}

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu) ?? [];
}
